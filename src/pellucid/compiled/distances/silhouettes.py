"""Sums of distances from every row to every cluster, one tile of row pairs at a time."""

import numpy as np

from pellucid.core.runtime.jit import jit

TILE = 128  # rows of the inner tile: its distances stay in the first cache


@jit(reassociate=True)
def direct_tile(columns, w, label, i0, i1, j0, j1, diagonal, total):
    """Add w_j |x_i - x_j| to total[i, label_j], and the same from j to i, for one block pair.

    columns (p, n): the data by columns, so that the inner loop runs along rows j side by side.
    Rows are sorted by cluster; ``diagonal`` when both blocks are the same (i < j only).
    """
    p = columns.shape[0]
    d = np.empty(TILE)
    for a in range(j0, j1, TILE):
        b = min(a + TILE, j1)
        for i in range(i0, i1):
            first = max(a, i + 1) if diagonal else a
            if first >= b:
                continue
            m = b - first
            x = columns[0, i]
            for j in range(m):
                t = columns[0, first + j] - x
                d[j] = t * t
            for k in range(1, p):
                x = columns[k, i]
                for j in range(m):
                    t = columns[k, first + j] - x
                    d[j] += t * t
            for j in range(m):
                d[j] = np.sqrt(d[j])
            add_row(d, m, first, i, w, label, total)


@jit(reassociate=True)
def absolute_tile(columns, w, label, i0, i1, j0, j1, diagonal, total):
    """The same with sums of absolute differences."""
    p = columns.shape[0]
    d = np.empty(TILE)
    for a in range(j0, j1, TILE):
        b = min(a + TILE, j1)
        for i in range(i0, i1):
            first = max(a, i + 1) if diagonal else a
            if first >= b:
                continue
            m = b - first
            for j in range(m):
                d[j] = 0.0
            for k in range(p):
                x = columns[k, i]
                for j in range(m):
                    d[j] += abs(columns[k, first + j] - x)
            add_row(d, m, first, i, w, label, total)


@jit
def product_tile(X, inner, norm, w, label, i0, i1, j0, j1, diagonal, total):
    """The same from inner[i - i0, j - j0] = x_i'x_j, for rows with many columns.

    |x|^2 + |y|^2 - 2 x'y loses digits for close rows: those few are computed again from X.
    """
    m = j1 - j0
    d = np.empty(m)
    for i in range(i0, i1):
        first = i + 1 if diagonal else j0
        for j in range(first, j1):
            both = norm[i] + norm[j]
            square = both - 2.0 * inner[i - i0, j - j0]
            if square < 1e-4 * both:
                square = 0.0
                for k in range(X.shape[1]):
                    t = X[i, k] - X[j, k]
                    square += t * t
            d[j - first] = square
        for j in range(j1 - first):
            d[j] = np.sqrt(d[j])
        add_row(d, j1 - first, first, i, w, label, total)


@jit(reassociate=True)
def add_row(d, m, first, i, w, label, total):
    """d[j] is the distance from row i to row first + j; labels come in runs."""
    own, weight = label[i], w[i]
    j = 0
    while j < m:
        c = label[first + j]
        end = j
        if label[first + m - 1] == c:
            end = m
        else:
            while end < m and label[first + end] == c:
                end += 1
        s = 0.0
        for q in range(j, end):
            s += w[first + q] * d[q]
        total[i, c] += s
        j = end
    for j in range(m):
        total[first + j, own] += weight * d[j]


@jit
def silhouette_values(total, label, size, out):
    """s = (b - a) / max(a, b); a cluster of one row has s = 0."""
    k = total.shape[1]
    for i in range(len(label)):
        own = label[i]
        b = np.inf
        for c in range(k):
            if c != own and size[c] > 0.0:
                b = min(b, total[i, c] / size[c])
        if size[own] <= 1.0:
            out[i] = 0.0
            continue
        a = total[i, own] / (size[own] - 1.0)
        largest = max(a, b)
        out[i] = (b - a) / largest if largest > 0.0 else 0.0
