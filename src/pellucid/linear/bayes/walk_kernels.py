r"""Gaussian random walks over the posterior of logistic and softmax regression.

    log p(theta | data) = t.theta - sum_i w_i log(1 + e^(x_i.theta)) - |R (theta - m)|^2 / 2
    t = sum_i w_i y_i x_i once and for all, R'R = prior precision

A step costs one product of the rows with the proposal and one softplus per row. X is kept by
columns; BLOCK rows of it are taken at a time, for all chains of the call, so that they are read
from memory once and the scores stay in cache. Two savings per row:

* exp of BLOCK numbers <= 0 by 2^k p(r), r = x - k log 2, p of degree 13, which vectorises; the
  exponent is put in place as whole numbers.
* log(1 + e^a) = max(a, 0) + log(1 + e^-|a|), and the sum of logarithms of numbers in (1, 2] is
  the logarithm of their product: one logarithm for RUN rows where the weights are 1.

The arithmetic of a chain is the same whichever chains run beside it, so the draws do not depend
on how chains are dealt to threads.    O(n d) per step and chain
"""

import numpy as np

from pellucid.core.runtime.jit import jit

BLOCK = 512  # rows at a time
RUN = 512  # factors in (1, 2] whose product stays below 2^1024
MANY = 32  # factors in [1, K] whose product stays finite for any K that fits in memory

LOG2E = 1.4426950408889634
LN2_HIGH = 0.693147180369123816490  # its product with whole numbers up to 2^20 is exact
LN2_LOW = 1.90821492927058770002e-10
ROUND = 6755399441055744.0  # adding and taking off 1.5 2^52 rounds to a whole number
LEAST = -708.0  # below, e^x is taken as e^-708


@jit
def exp_block(x, m, shifted):
    """x[:m] = exp(x[:m]) for numbers <= 0; ``shifted`` is room for m numbers."""
    for i in range(m):
        z = max(x[i], LEAST)
        t = z * LOG2E + ROUND
        k = t - ROUND
        r = (z - k * LN2_HIGH) - k * LN2_LOW
        p = 1.6059043836821613e-10
        p = p * r + 2.08767569878681e-09
        p = p * r + 2.505210838544172e-08
        p = p * r + 2.755731922398589e-07
        p = p * r + 2.7557319223985893e-06
        p = p * r + 2.48015873015873e-05
        p = p * r + 0.0001984126984126984
        p = p * r + 0.001388888888888889
        p = p * r + 0.008333333333333333
        p = p * r + 0.041666666666666664
        p = p * r + 0.16666666666666666
        p = p * r + 0.5
        p = p * r + 1.0
        p = p * r + 1.0
        shifted[i] = t
        x[i] = p
    bits, power = x.view(np.int64), shifted.view(np.int64)
    for i in range(m):
        bits[i] += power[i] << 52


@jit(reassociate=True)
def score_block(XT, start, m, theta, a):
    """a[:m] = sum_j theta_j XT[j, start:start + m], four columns at a time."""
    d = len(theta)
    for i in range(m):
        a[i] = 0.0
    j = 0
    while j + 4 <= d:
        t0, t1, t2, t3 = theta[j], theta[j + 1], theta[j + 2], theta[j + 3]
        x0, x1 = XT[j, start : start + m], XT[j + 1, start : start + m]
        x2, x3 = XT[j + 2, start : start + m], XT[j + 3, start : start + m]
        for i in range(m):
            a[i] += (t0 * x0[i] + t1 * x1[i]) + (t2 * x2[i] + t3 * x3[i])
        j += 4
    while j < d:
        t0, x0 = theta[j], XT[j, start : start + m]
        for i in range(m):
            a[i] += t0 * x0[i]
        j += 1


@jit(reassociate=True)
def softplus_block(a, m, w, start, shifted):
    """sum_i w_i log(1 + e^a_i) of a block; an empty w is weights of 1. a is overwritten."""
    total = 0.0
    if len(w) > 0:
        for i in range(m):  # stores nothing: else where arrays lie decides the order of the sum
            total += w[start + i] * max(a[i], 0.0)
        for i in range(m):
            a[i] = -abs(a[i])
        exp_block(a, m, shifted)
        for i in range(m):
            total += w[start + i] * np.log1p(a[i])
        return total
    for i in range(m):
        total += max(a[i], 0.0)
        a[i] = -abs(a[i])
    exp_block(a, m, shifted)
    product = 1.0
    for i in range(m):
        product *= 1.0 + a[i]
    return total + np.log(product)


@jit(reassociate=True)
def penalty(theta, centre, root):
    """|R (theta - m)|^2 / 2 with R of shape (1, d) for a diagonal one, else (d, d)."""
    d = len(theta)
    total = 0.0
    if len(root) == 1 and d > 1:
        for j in range(d):
            u = root[0, j] * (theta[j] - centre[j])
            total += u * u
        return total / 2
    for i in range(d):
        u = 0.0
        for j in range(d):
            u += root[i, j] * (theta[j] - centre[j])
        total += u * u
    return total / 2


@jit
def logistic_values(XT, w, pull, centre, root, theta, out):
    """out[c] = log p(theta_c | data) up to a constant, for every row of theta (C, d)."""
    n = XT.shape[1]
    C = len(theta)
    a, shifted = np.empty(BLOCK), np.empty(BLOCK)
    for c in range(C):
        out[c] = 0.0
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        for c in range(C):
            score_block(XT, start, m, theta[c], a)
            out[c] -= softplus_block(a, m, w, start, shifted)
    for c in range(C):
        along = 0.0
        for j in range(theta.shape[1]):
            along += pull[j] * theta[c, j]
        out[c] += along - penalty(theta[c], centre, root)


@jit(reassociate=True)
def softmax_block(A, m, w, start, shifted):
    """sum_i w_i log sum_k e^A_ki of a block of scores A (K, BLOCK), which is overwritten."""
    K = len(A)
    total = 0.0
    top, sums = np.empty(BLOCK), np.empty(BLOCK)
    for i in range(m):
        top[i] = A[0, i]
        sums[i] = 0.0
    for k in range(1, K):
        for i in range(m):
            top[i] = max(top[i], A[k, i])
    for k in range(K):
        row = A[k]
        for i in range(m):
            row[i] -= top[i]
        exp_block(row, m, shifted)
        for i in range(m):
            sums[i] += row[i]
    if len(w) > 0:
        for i in range(m):
            total += w[start + i] * (top[i] + np.log(sums[i]))
        return total
    for first in range(0, m, MANY):
        product = 1.0
        for i in range(first, min(first + MANY, m)):
            total += top[i]
            product *= sums[i]
        total += np.log(product)
    return total


@jit
def softmax_values(XT, w, pull, centre, root, theta, out):
    """The same for K classes: theta (C, K d) holds the d coefficients of each class in turn."""
    d, n = XT.shape
    C = len(theta)
    K = theta.shape[1] // d
    A, shifted = np.empty((K, BLOCK)), np.empty(BLOCK)
    for c in range(C):
        out[c] = 0.0
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        for c in range(C):
            for k in range(K):
                score_block(XT, start, m, theta[c, k * d : (k + 1) * d], A[k])
            out[c] -= softmax_block(A, m, w, start, shifted)
    for c in range(C):
        along = 0.0
        for j in range(theta.shape[1]):
            along += pull[j] * theta[c, j]
        out[c] += along - penalty(theta[c], centre, root)


@jit
def walk_posterior(XT, w, pull, centre, root, softmax, state, value, moves, log_u, draws, accepted):
    """T steps of C chains from ``state`` (C, q), whose log densities are ``value`` (C,).

    moves (C, T, q) are the steps to try, log_u (C, T) the logarithms of the uniform numbers.
    Writes draws (C, T, q) and accepted (C, T); state and value end where the chains do.
    """
    C, T, q = moves.shape
    tried, new = np.empty((C, q)), np.empty(C)
    for t in range(T):
        for c in range(C):
            for j in range(q):
                tried[c, j] = state[c, j] + moves[c, t, j]
        if softmax:
            softmax_values(XT, w, pull, centre, root, tried, new)
        else:
            logistic_values(XT, w, pull, centre, root, tried, new)
        for c in range(C):
            yes = log_u[c, t] <= new[c] - value[c]
            accepted[c, t] = yes
            if yes:
                value[c] = new[c]
                for j in range(q):
                    state[c, j] = tried[c, j]
            for j in range(q):
                draws[c, t, j] = state[c, j]
