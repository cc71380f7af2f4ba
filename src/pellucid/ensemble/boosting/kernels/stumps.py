r"""The best stump for weighted classes, from columns that were sorted once.

A stump asks one question "x_f <= t ?" and each side says its heaviest class. Questions are
compared by Gini's index,

    score = sum_k L_k^2 / W_L + sum_k R_k^2 / W_R,

L_k and R_k being the weights of class k on both sides. Weights are whole numbers with a total of
at most 2^53, so that their sums as doubles are exact: the same division of the rows scores the
same bits in every column, and the lowest column, then the lowest threshold, wins.
"""

import numpy as np

from pellucid.compiled.trees.search import ALMOST, NOTHING
from pellucid.core.runtime.jit import jit


@jit
def scan_signed(order, rank, v, total, ones):
    """Two classes: v (n,) is the weight, negative for class 0; returns (score, place)."""
    best, place, hurdle = -1.0, NOTHING, -1.0
    wl, a = 0.0, 0.0
    for i in range(len(order) - 1):
        x = v[order[i]]
        wl += abs(x)
        a += max(x, 0.0)
        if rank[i] != rank[i + 1]:
            b, c, wr = wl - a, ones - a, total - wl
            d = wr - c
            top, both = (a * a + b * b) * wr + (c * c + d * d) * wl, wl * wr
            if top > hurdle * both:  # only then is the division worth its time
                found = top / both
                if found > best:
                    best, place, hurdle = found, i, found * ALMOST
    return best, place


@jit
def scan_classes(order, rank, v, codes, T, L):
    """Any number of classes: weights v (n,) > 0, their totals T (K,); returns (score, place)."""
    best, place = -1.0, NOTHING
    total = 0.0
    for k in range(len(T)):
        L[k] = 0.0
        total += T[k]
    wl = 0.0
    for i in range(len(order) - 1):
        row = order[i]
        L[codes[row]] += v[row]
        wl += v[row]
        if rank[i] != rank[i + 1]:
            left, right = 0.0, 0.0
            for k in range(len(T)):
                rest = T[k] - L[k]
                left += L[k] * L[k]
                right += rest * rest
            found = left / wl + right / (total - wl)
            if found > best:
                best, place = found, i
    return best, place


@jit
def best_stump(order, rank, v, codes, T, first, last):
    """(score, column, place) of the best question about columns first..last-1."""
    best, column, place = -1.0, NOTHING, NOTHING
    L = np.empty(len(T))
    for f in range(first, last):
        if len(T) == 2:
            found, at = scan_signed(order[f], rank[f], v, T[0] + T[1], T[1])
        else:
            found, at = scan_classes(order[f], rank[f], v, codes, T, L)
        if at >= 0 and found > best:
            best, column, place = found, f, at
    return best, column, place
