"""Sweeps over numbers with missing cells: sums of what is there, filling, nearest donors."""

import numpy as np

from pellucid.core.runtime.jit import jit

TILE = 512  # donors whose distances are held at once


@jit
def observed_sums(X, sums, counts):
    """Add the cells of each column that are not NaN, and their number."""
    n, p = X.shape
    for i in range(n):
        for j in range(p):
            x = X[i, j]
            there = x == x
            sums[j] += x if there else 0.0
            counts[j] += 1.0 if there else 0.0


@jit
def fill_missing(X, values, begin, end, out):
    """Copy rows; NaN in column j becomes values_j."""
    p = X.shape[1]
    for i in range(begin, end):
        for j in range(p):
            x = X[i, j]
            out[i, j] = x if x == x else values[j]


@jit
def tile_distances(x, seen, F, M, full, a, b, total, weight):
    """Mean squared difference over the coordinates that x and a donor share; NaN if none.

    x (p,); seen: its coordinates that are there; F (p, m) donors by column with 0 for NaN; M
    (p, m) 1 where there; full (p,) columns without NaN. Donors a..b-1 go to total[: b - a].
    """
    size = b - a
    common = 0.0
    for j in range(size):
        total[j] = 0.0
        weight[j] = 0.0
    for f in seen:
        row, v = F[f, a:b], x[f]
        if full[f]:
            common += 1.0
            for j in range(size):
                e = v - row[j]
                total[j] += e * e
        else:
            there = M[f, a:b]
            for j in range(size):
                e = v - row[j]
                total[j] += there[j] * e * e
                weight[j] += there[j]
    for j in range(size):
        total[j] /= weight[j] + common  # 0/0 is NaN: nothing in common


@jit
def nearest_donors(X, F, M, full, wanted, begin, end, offsets, distance, donor):
    """The nearest donors of every missing cell of rows begin..end-1 of X.

    ``wanted`` (p,) marks the columns to fill. The cells are numbered row by row from offsets_i;
    distance and donor (cells, k) are filled in rising order, the lower row first among equals.
    """
    p, m = F.shape
    k = donor.shape[1]
    total, weight = np.empty(TILE), np.empty(TILE)
    columns = np.arange(p)
    for i in range(begin, end):
        x = X[i]
        there = x == x
        seen, gaps = columns[there], columns[~there & wanted]
        first = offsets[i]
        for c in range(len(gaps)):
            distance[first + c] = np.inf
            donor[first + c] = -1
        for a in range(0, m, TILE):
            b = min(a + TILE, m)
            tile_distances(x, seen, F, M, full, a, b, total, weight)
            for c in range(len(gaps)):
                near, who = distance[first + c], donor[first + c]
                has = M[gaps[c], a:b]
                worst = near[k - 1]
                for j in range(b - a):
                    d = total[j]
                    if d < worst and has[j] > 0:
                        t = k - 1
                        while t > 0 and near[t - 1] > d:
                            near[t] = near[t - 1]
                            who[t] = who[t - 1]
                            t -= 1
                        near[t] = d
                        who[t] = a + j
                        worst = near[k - 1]
