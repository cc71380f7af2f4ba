"""Sweeps of isotonic regression: equal x become one point, points that violate the order a block.

Both write over their arguments, so that a fit needs no room beside the sorted rows.
"""

from pellucid.core.runtime.jit import jit


@jit
def merge_ties(x, y, w, width):
    """Points of sorted x closer than ``width`` become one with the weighted mean of y.

    Returns the number m of points left; x[:m], y[:m], w[:m] hold them.
    """
    m = 0
    first, total, mass = x[0], y[0] * w[0], w[0]
    for i in range(1, len(x)):
        if x[i] - first > width:
            x[m], y[m], w[m] = first, total / mass, mass
            m += 1
            first, total, mass = x[i], y[i] * w[i], w[i]
        else:
            total += y[i] * w[i]
            mass += w[i]
    x[m], y[m], w[m] = first, total / mass, mass
    return m + 1


@jit
def pool_adjacent(y, w, start):
    """Non-decreasing least squares fit, in place: blocks that violate the order are pooled.

    A pool takes in what follows while it lies lower, then what went before while it lies higher
    (Busing, 2022). Each point is pooled at most once. ``start`` (n,) gets the first point of each
    block; w is used as room. Returns the number of blocks.
    """
    n = len(y)
    m = 0  # blocks so far: y[:m], w[:m] are their means and weights, m <= i
    i = 0
    while i < n:
        first, value, mass = i, y[i], w[i]
        if m > 0 and y[m - 1] >= value:
            m -= 1
            first = start[m]
            total = w[m] * y[m] + mass * value
            mass += w[m]
            value = total / mass
            while i + 1 < n and value >= y[i + 1]:
                i += 1
                total += w[i] * y[i]
                mass += w[i]
                value = total / mass
            while m > 0 and y[m - 1] >= value:
                m -= 1
                first = start[m]
                total += w[m] * y[m]
                mass += w[m]
                value = total / mass
        y[m], w[m], start[m] = value, mass, first
        m += 1
        i += 1
    end = n
    for b in range(m - 1, -1, -1):
        value = y[b]
        for j in range(start[b], end):
            y[j] = value
        end = start[b]
    return m
