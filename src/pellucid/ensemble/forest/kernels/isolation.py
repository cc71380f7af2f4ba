"""Trees that divide rows at random until each is alone."""

import numpy as np

from pellucid.compiled.trees.growth import draw_column
from pellucid.compiled.trees.search import mix, random_threshold
from pellucid.core.runtime.jit import jit


@jit
def column_range(X, rows, s, e, f):
    """(least, largest, missing cells) of the known cells of a column in a node."""
    low, high, lost = np.inf, -np.inf, 0
    for i in range(s, e):
        x = X[rows[i], f]
        if x != x:
            lost += 1
        else:
            low, high = min(low, x), max(high, x)
    return low, high, lost


@jit
def isolate(
    X,
    rows,
    columns,
    max_depth,
    seed,
    order,
    stack,
    keys,
    right,
    feature,
    threshold,
    missing_left,
    size,
    depth,
):
    """Grow one tree in preorder on ``rows``; returns the number of its nodes.

    At each node a column is drawn that varies, then a threshold uniform between its extremes.
    Missing cells go left or right as a whole, by chance.
    """
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, len(rows), 0, -1
    keys[0] = seed
    top, n, moved = 1, 0, np.empty(len(rows), rows.dtype)
    while top > 0:
        top -= 1
        s, e, level, parent = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        key, node = keys[top], n
        n += 1
        if parent >= 0:
            right[parent] = node
        right[node], feature[node], threshold[node], missing_left[node] = -1, -2, -2.0, 0
        size[node], depth[node] = e - s, level
        if e - s < 2 or level >= max_depth:
            continue
        f = np.int64(-1)
        low, high, lost = 0.0, 0.0, 0
        for j in range(len(columns)):
            c = draw_column(order, j, key)
            low, high, lost = column_range(X, rows, s, e, columns[c])
            if low < high or (low == high and lost > 0):
                f = np.int64(columns[c])
                break
        if f < 0:
            continue
        t = random_threshold(low, high, mix(key, f + 1)) if low < high else np.inf
        to = mix(key, 0x1057) & 1 if t < np.inf else 0
        at, n_moved = s, 0
        for i in range(s, e):
            r = rows[i]
            x = X[r, f]
            stay = x <= t or (x != x and to == 1)
            if stay:
                rows[at] = r
                at += 1
            else:
                moved[n_moved] = r
                n_moved += 1
        for i in range(n_moved):
            rows[at + i] = moved[i]
        feature[node], threshold[node] = f, t
        missing_left[node] = to
        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = at, e, level + 1, node
        stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2] = s, at, level + 1
        stack[top + 1, 3] = -1
        keys[top], keys[top + 1] = mix(key, 1), mix(key, 0)
        top += 2
    return n
