"""Hidden Markov chains over many sequences: densities, forward, backward and the best path.

Rows of all sequences lie one after the other; sequence s has the rows first[s] .. first[s+1]-1.
B holds log p(x_t | z_t = k). Each step divides by its own sum, so nothing underflows however long
the chain; the largest B of a state that can be reached is taken out of the exponent first.

    predicted_t(k) = sum_j filtered_{t-1}(j) A_jk            filtered_t(k) ~ predicted_t(k) e^{B_tk}
    smoothed_t(j)  = filtered_t(j) sum_k A_jk smoothed_{t+1}(k) / predicted_{t+1}(k)

The terms of the last sum are the posterior of the move j -> k.
"""

import math

import numpy as np

from pellucid.core.runtime.jit import jit


@jit
def diagonal_density(X, means, shift, half, out):
    """out[t, k] = sum_j shift_kj - half_kj (x_tj - m_kj)^2; a missing cell says nothing."""
    n, p = X.shape
    for t in range(n):
        for k in range(len(means)):
            total = 0.0
            for j in range(p):
                d = X[t, j] - means[k, j]
                if d == d:
                    total += shift[k, j] - half[k, j] * d * d
            out[t, k] = total


@jit
def diagonal_sums(X, R, centre, sums):
    """sums[0..2, k, j]: of r_tk, r_tk d and r_tk d^2 with d = x_tj - c_kj, over the cells seen."""
    n, p = X.shape
    for t in range(n):
        for k in range(len(centre)):
            r = R[t, k]
            for j in range(p):
                d = X[t, j] - centre[k, j]
                if d == d:
                    sums[0, k, j] += r
                    sums[1, k, j] += r * d
                    sums[2, k, j] += r * d * d


@jit
def forward(first, initial, A, B, predicted, filtered, log_p):
    """Fill p(z_t | x before t), p(z_t | x up to t) and log p of every sequence."""
    K = len(initial)
    for s in range(len(first) - 1):
        log_p[s] = 0.0
        for t in range(first[s], first[s + 1]):
            top = -np.inf
            for k in range(K):
                p = initial[k]
                if t > first[s]:
                    p = 0.0
                    for j in range(K):
                        p += filtered[t - 1, j] * A[j, k]
                predicted[t, k] = p
                if p > 0.0 and B[t, k] > top:
                    top = B[t, k]
            total = 0.0
            for k in range(K):
                possible = predicted[t, k] > 0.0 and top > -np.inf
                filtered[t, k] = predicted[t, k] * math.exp(B[t, k] - top) if possible else 0.0
                total += filtered[t, k]
            if total == 0.0:
                log_p[s] = -np.inf
                break
            for k in range(K):
                filtered[t, k] /= total
            log_p[s] += math.log(total) + top


@jit
def backward(first, A, w, predicted, smoothed, moves):
    """``smoothed`` holds the filtered shares and becomes the smoothed ones, times the weight of
    its sequence; ``moves`` collects the expected moves.
    """
    K = len(A)
    ratio = np.empty(K)
    for s in range(len(first) - 1):
        for t in range(first[s + 1] - 2, first[s] - 1, -1):
            for k in range(K):
                p = predicted[t + 1, k]
                ratio[k] = smoothed[t + 1, k] / p if p > 0.0 else 0.0
            for j in range(K):
                total = 0.0
                for k in range(K):
                    move = smoothed[t, j] * A[j, k] * ratio[k]
                    moves[j, k] += w[s] * move
                    total += move
                smoothed[t, j] = total
        for t in range(first[s], first[s + 1]):
            for k in range(K):
                smoothed[t, k] *= w[s]


@jit
def best_paths(first, log_initial, log_A, B, back, path):
    """The most probable states of every sequence (Viterbi); ties go to the smaller number."""
    K = len(log_initial)
    score, new = np.empty(K), np.empty(K)
    for s in range(len(first) - 1):
        for t in range(first[s], first[s + 1]):
            for k in range(K):
                best, at = log_initial[k], 0
                if t > first[s]:
                    best = -np.inf
                    for j in range(K):
                        value = score[j] + log_A[j, k]
                        if value > best:
                            best, at = value, j
                back[t, k] = at
                new[k] = best + B[t, k]
            for k in range(K):
                score[k] = new[k]
        k = 0
        for j in range(K):
            if score[j] > score[k]:
                k = j
        for t in range(first[s + 1] - 1, first[s] - 1, -1):
            path[t] = k
            k = back[t, k]
