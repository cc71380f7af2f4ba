"""The best question of a node whose sums were added up elsewhere: the scans of ``growth``."""

import numpy as np

from pellucid.compiled.trees.growth import draw_column
from pellucid.core.runtime.jit import jit
from pellucid.ensemble.forest.kernels.growth import node_score, scan_packed, try_column


@jit
def drawn_columns(d, asked, key):
    """The first ``asked`` columns in the order in which a node looks at them."""
    order, out = np.arange(d), np.empty(asked, np.int64)
    for j in range(asked):
        out[j] = draw_column(order, j, key)
    return out


@jit
def best_given(task, table, columns, sums, w, key, room):
    """As ``growth.best_question`` less the score of the node; ``sums`` (columns, bins, K + 1).

    The last answer is whether a column varies; where none does, others must be looked at.
    """
    nothing = np.int64(-1)
    best, column, place, after, to, drawn_at = -np.inf, nothing, nothing, nothing, 0, 0.0
    varied, bins, width = False, sums.shape[1], sums.shape[2]
    for j in range(len(columns)):
        if j >= task.max_features and varied:
            break
        f = columns[j]
        for c in range(bins):
            if sums[j, c, width - 1] > 0:
                for k in range(width):
                    room.hist[c, k] = sums[j, c, k]
                room.marks[c >> 6] |= np.uint64(1) << np.uint64(c & 63)
        found, at, then, side, t, more = try_column(task, table, f, w, key, room, best)
        varied = varied or more
        if at >= 0:
            best, column, place, after, to, drawn_at = found, f, at, then, side, t
    return best - node_score(task, room, w), column, place, after, to, drawn_at, varied


@jit
def best_given_packed(task, columns, sums, w, room):
    """As ``growth.best_packed``."""
    nothing = np.int64(-1)
    best, column, place, after = -np.inf, nothing, nothing, nothing
    varied, hist, bins = False, room.flat, room.bins
    total, t = float(w), float(room.total[1])
    perfect, hurdle = t * (total - t), -1.0
    for j in range(len(columns)):
        if j >= task.max_features and varied:
            break
        f, q = columns[j], np.int64(0)
        for c in range(sums.shape[1]):
            if sums[j, c, 2] > 0:
                hist[c] = (sums[j, c, 0] << 32) | sums[j, c, 1]
                bins[q] = c
                q += 1
        if q > 1:
            varied = True
        found, at, then, hurdle = scan_packed(hist, bins, q, total, t, best, hurdle)
        if at >= 0:
            best, column, place, after = found, f, at, then
        if best >= perfect:
            break
    return best, column, place, after, 0, 0.0, varied
