r"""DIANA: split the cluster of largest diameter, again and again, on a matrix of distances.

A cluster is a range of ``members``. Splitting it:

    s_i   sum of the distances of i to the members that stay, itself left out
    t_i   sum of its distances to the splinter group
    gain  s_i / (stay - 1) - t_i / splinter

The splinter starts with the member of largest s_i and takes the one of largest gain while that is
positive; every move costs one row of D. O(m^2) a split.
"""

import numpy as np

from pellucid.core.runtime.jit import jit

ROUNDING = 1e-12  # of the largest distance: a smaller gain is none


@jit
def diameter(D, members, start, stop):
    """The largest distance of two members."""
    high = 0.0
    for a in range(start, stop):
        row = D[members[a]]
        for b in range(start, a):
            high = max(high, row[members[b]])
    return high


@jit
def splinter(D, members, start, stop, s, t, least):
    """Put the members that leave at the end of the range; where they begin."""
    for a in range(start, stop):
        row = D[members[a]]
        s[a], t[a] = 0.0, 0.0
        for b in range(start, stop):
            if a != b:
                s[a] += row[members[b]]
    stay = stop
    best = start
    for a in range(start + 1, stop):
        if s[a] > s[best] or (s[a] == s[best] and members[a] < members[best]):
            best = a
    while True:
        stay -= 1
        gone = members[best]
        members[best], members[stay] = members[stay], gone
        s[best], s[stay] = s[stay], s[best]
        t[best], t[stay] = t[stay], t[best]
        row = D[gone]
        left = stay - start
        if left < 2:
            return stay
        high, best = -np.inf, start
        for a in range(start, stay):
            d = row[members[a]]
            s[a] -= d
            t[a] += d
            gain = s[a] / (left - 1) - t[a] / (stop - stay)
            if gain > high or (gain == high and members[a] < members[best]):
                high, best = gain, a
        if not high > least:
            return stay


@jit
def split_all(D, bounds, heights, splits, members):
    """Split until every cluster is one row.

    Cluster c is members[bounds[c, 0]:bounds[c, 1]] (its rows before it was split) and split k cuts
    cluster splits[k, 0] at heights[k] into splits[k, 1] and splits[k, 2]. Cluster 0 is everything.
    """
    n = len(D)
    s, t = np.empty(n), np.empty(n)
    size = np.full(2 * n - 1, -1.0)  # diameters of the clusters that can be split
    bounds[0, 0], bounds[0, 1] = 0, n
    size[0] = diameter(D, members, 0, n)
    least = ROUNDING * size[0]
    made = 1
    for k in range(n - 1):
        c = -1
        for x in range(made):
            if bounds[x, 1] - bounds[x, 0] > 1 and size[x] >= 0 and (c < 0 or size[x] > size[c]):
                c = x
        start, stop = bounds[c, 0], bounds[c, 1]
        middle = splinter(D, members, start, stop, s, t, least)
        splits[k, 0], splits[k, 1], splits[k, 2] = c, made, made + 1
        heights[k] = size[c]
        size[c] = -1.0
        bounds[made, 0], bounds[made, 1] = start, middle
        bounds[made + 1, 0], bounds[made + 1, 1] = middle, stop
        size[made] = diameter(D, members, start, middle)
        size[made + 1] = diameter(D, members, middle, stop)
        made += 2
