r"""Means of the rows within a ball, by a kd-tree with the box, mean and spread of every node.

A node whose box lies inside the ball is taken whole, one that lies outside is passed over:

    sum (x - q)    = c (m - q)                 c rows, m their mean
    sum |x - q|^2  = s + c |m - q|^2           s = sum |x - m|^2

Gaps to the nearest and the farthest corner round as reduced distances do and term by term no higher
and no lower, so a row is inside exactly if its own distance says so. Every ball is summed by itself
in the order of the tree, whatever thread it falls to.
"""

import numpy as np

from pellucid.cluster.density.kernels import row_gap
from pellucid.compiled.distances.kd_tree import DEPTH, WIDTH, leaf_distances
from pellucid.core.runtime.jit import jit


@jit
def node_moments(tiles, slots, n, low, high, mean, spread, count):
    """Mean, spread and number of the rows of every node, from the leaves up."""
    bottom, d = tiles.shape[0], tiles.shape[1]
    for v in range(2 * bottom - 1, 0, -1):
        count[v], spread[v] = 0, 0.0
        mean[v] = 0.0
        if v >= bottom:
            for j in range(WIDTH):
                count[v] += slots[v - bottom, j] < n
        else:
            count[v] = count[2 * v] + count[2 * v + 1]
        if count[v] == 0:
            continue
        for t in range(d):
            if v >= bottom:
                for j in range(count[v]):  # places beyond the rows are at the end of a leaf
                    mean[v, t] += (tiles[v - bottom, t, j] - low[v, t]) / count[v]
                mean[v, t] += low[v, t]
            else:
                share = count[2 * v + 1] / count[v]
                mean[v, t] = mean[2 * v, t] + share * (mean[2 * v + 1, t] - mean[2 * v, t])
            mean[v, t] = min(max(mean[v, t], low[v, t]), high[v, t])
            if v >= bottom:
                for j in range(count[v]):
                    e = tiles[v - bottom, t, j] - mean[v, t]
                    spread[v] += e * e
            else:
                for child in range(2 * v, 2 * v + 2):
                    e = mean[child, t] - mean[v, t]
                    spread[v] += count[child] * e * e
        if v < bottom:
            spread[v] += spread[2 * v] + spread[2 * v + 1]


@jit
def far_gap(q, low, high, v):
    """The squared distance of q to the farthest corner of a node."""
    total = 0.0
    for t in range(len(q)):
        gap = max(abs(low[v, t] - q[t]), abs(high[v, t] - q[t]))
        total += gap * gap
    return total


@jit
def move_seeds(tiles, slots, n, low, high, mean, spread, count, limit, seeds, which, a, b, out):
    """Move the seeds which[a:b] to the means of the rows within the squared radius ``limit``.

    out (m, 3): rows of the ball, their sum of squares about the seed, the squared move. A seed
    without rows stays.
    """
    bottom, d = tiles.shape[0], tiles.shape[1]
    nodes, q, values = np.empty(DEPTH, np.int64), np.empty(d), np.empty(WIDTH)
    shift = np.empty(d)
    for o in range(a, b):
        i = which[o]
        inside, square = 0, 0.0
        for t in range(d):
            q[t], shift[t] = seeds[i, t], 0.0
        depth = 1
        nodes[0] = 1
        while depth > 0:
            depth -= 1
            v = nodes[depth]
            if count[v] == 0 or row_gap(q, low, high, v, 2, 2.0) > limit:
                continue
            if far_gap(q, low, high, v) <= limit:
                inside += count[v]
                square += spread[v]
                for t in range(d):
                    e = mean[v, t] - q[t]
                    shift[t] += count[v] * e
                    square += count[v] * e * e
            elif v < bottom:
                nodes[depth], nodes[depth + 1] = 2 * v + 1, 2 * v
                depth += 2
            else:
                leaf_distances(tiles, v - bottom, q, 2, 2.0, values)
                for j in range(count[v]):
                    if values[j] <= limit:
                        inside += 1
                        square += values[j]
                        for t in range(d):
                            shift[t] += tiles[v - bottom, t, j] - q[t]
        moved = 0.0
        for t in range(d):
            if inside > 0:
                seeds[i, t] = q[t] + shift[t] / inside
                moved += (seeds[i, t] - q[t]) ** 2
        out[i, 0], out[i, 1], out[i, 2] = inside, square, moved


@jit
def keep_apart(centers, limit, kept):
    """Places of the centres that are farther from every kept one before; how many there are."""
    found = 0
    for i in range(len(centers)):
        alone = True
        for k in range(found):
            total = 0.0
            for t in range(centers.shape[1]):
                e = centers[kept[k], t] - centers[i, t]
                total += e * e
            if total <= limit:
                alone = False
                break
        if alone:
            kept[found] = i
            found += 1
    return found
