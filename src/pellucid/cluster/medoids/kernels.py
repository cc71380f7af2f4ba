r"""Sweeps of k-medoids over a matrix of distances D (n, n).

For row o let d1 and d2 be its distances to the nearest and second nearest medoid. Replacing medoid
m by row x changes the sum of distances by

    sum_o min(d_xo - d1, 0)                                     x is nearer than any medoid
  + sum_{o of m}  min(max(d_xo, d1), d2) - d1                   o loses m, and turns to x or d2

The second sum is R_m + sum_{o of m} min(max(d_xo, d1), d2) - d2 with the removal loss
R_m = sum_{o of m} d2 - d1, so one pass over a row of D gives the change for every m at once
(FasterPAM). The best swap of a row is made as soon as it helps.

References: Kaufman & Rousseeuw (1990); Schubert & Rousseeuw (2021).
"""

import numpy as np

from pellucid.core.runtime.jit import jit

CHUNK = 64  # rows that are looked at together: most chunks hold none that would move


@jit(reassociate=True)
def saving(row, near):
    """What a further medoid with these distances would save."""
    total = 0.0
    for o in range(len(near)):
        gain = near[o] - row[o]
        total += gain if gain > 0.0 else 0.0
    return total


@jit
def savings(D, near, a, b, out):
    """``saving`` of rows a to b."""
    for x in range(a, b):
        out[x] = saving(D[x], near)


@jit
def next_medoid(D, near, bound, stale):
    """The row that saves most, ties to the lower one.

    Savings only fall as medoids are added, so old ones are bounds: only the largest are renewed.
    """
    while True:
        best = 0
        for x in range(1, len(bound)):
            if bound[x] > bound[best]:
                best = x
        if not stale[best]:
            return best
        bound[best] = saving(D[best], near)
        stale[best] = False


@jit
def assign(D, medoids, own, other, d1, d2):
    """Nearest and second nearest medoid of every row, lowest number on ties; D is symmetric."""
    for o in range(len(D)):
        d1[o] = d2[o] = np.inf
        own[o] = other[o] = -1
    for m in range(len(medoids)):
        row = D[medoids[m]]
        for o in range(len(D)):
            if row[o] < d1[o]:
                d2[o], other[o] = d1[o], own[o]
                d1[o], own[o] = row[o], m
            elif row[o] < d2[o]:
                d2[o], other[o] = row[o], m


@jit
def removal_losses(own, d1, d2, loss):
    loss[:] = 0.0
    for o in range(len(own)):
        loss[own[o]] += d2[o] - d1[o]


@jit
def second_nearest(D, medoids, o, own):
    low, at = np.inf, -1
    for m in range(len(medoids)):
        d = D[medoids[m], o]
        if m != own and d < low:
            low, at = d, m
    return at, low


@jit
def swap(D, medoids, m, x, own, other, d1, d2):
    """Let row x take the place of medoid m and bring the assignments up to date."""
    medoids[m] = x
    row = D[x]
    for o in range(len(D)):
        d = row[o]
        if own[o] == m:
            if d < d2[o]:
                d1[o] = d
            else:
                own[o], d1[o] = other[o], d2[o]
                other[o], d2[o] = second_nearest(D, medoids, o, own[o])
        elif d < d1[o]:
            d2[o], other[o] = d1[o], own[o]
            d1[o], own[o] = d, m
        elif other[o] == m:
            other[o], d2[o] = second_nearest(D, medoids, o, own[o])
        elif d < d2[o]:
            other[o], d2[o] = m, d


@jit
def moved(row, d2, start, stop):
    """Whether any of the rows would care for a medoid at these distances."""
    count = 0
    for o in range(start, stop):
        count += row[o] < d2[o]
    return count > 0


@jit
def changes(row, own, d1, d2, change):
    """Add to change[m] what rows of m do; what all the others gain is returned."""
    gain = 0.0
    n = len(own)
    for start in range(0, n, CHUNK):
        stop = min(start + CHUNK, n)
        if not moved(row, d2, start, stop):
            continue
        for o in range(start, stop):
            d = row[o]
            if d < d1[o]:
                gain += d - d1[o]
                change[own[o]] += d1[o] - d2[o]
            elif d < d2[o]:
                change[own[o]] += d - d2[o]
    return gain


@jit
def swap_pass(D, medoids, own, other, d1, d2, tol):
    """Offer every row as a medoid once, and take it where that helps; how many swaps."""
    n, k = len(D), len(medoids)
    chosen = np.zeros(n, np.bool_)
    for m in range(k):
        chosen[medoids[m]] = True
    loss, change = np.empty(k), np.empty(k)
    removal_losses(own, d1, d2, loss)
    swaps = 0
    for x in range(n):
        if chosen[x]:
            continue
        for m in range(k):
            change[m] = loss[m]
        gain = changes(D[x], own, d1, d2, change)
        best = 0
        for m in range(1, k):
            if change[m] < change[best]:
                best = m
        if change[best] + gain < -tol:
            chosen[medoids[best]] = False
            chosen[x] = True
            swap(D, medoids, best, x, own, other, d1, d2)
            removal_losses(own, d1, d2, loss)
            swaps += 1
    return swaps
