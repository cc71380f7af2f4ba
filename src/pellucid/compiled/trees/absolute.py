r"""The best question by absolute error: the least sums of |y - c| for every prefix of a column.

The rows of a node are numbered by target. A Fenwick tree over these numbers holds weights and
weighted targets of the rows added so far; a descent finds the (lower) median c and what lies
below it, so that with totals W, S and parts W_<, S_< below c

    sum w |y - c| = (S - S_<) - c (W - W_<) + c W_< - S_<.

One pass from the left and one from the right give both sides of every border: O(m log m) for a
column of m rows. Targets and weights are whole numbers, so that ties are exact.
"""

import numpy as np

from pellucid.compiled.trees.search import (
    CONSTANT,
    NOTHING,
    known_end,
    last_below,
    mix,
    random_threshold,
    respects,
    row_of,
    threshold_at,
)
from pellucid.core.runtime.jit import jit


@jit
def weight_of(weight, row):
    return np.int64(1) if len(weight) == 0 else weight[row]


@jit
def rank_targets(P, s, e):
    """Number the node's rows by target, for each output; the sorted targets beside them."""
    d = P.X.shape[1]
    for o in range(P.y_rank.shape[0]):
        for i in range(s, e):
            row = row_of(P, P.keys[d + o, i])
            P.y_rank[o, row] = i - s
            P.y_sorted[o, i] = P.stat[row, o]


@jit
def node_medians(P, s, e, w, median):
    """The medians of the node; returns the least sum of absolute errors, whole and true."""
    d = P.X.shape[1]
    total, true = np.int64(0), 0.0
    for o in range(P.y_rank.shape[0]):
        keys, stat, weight = P.keys[d + o], P.stat, P.weight
        bits, mask = P.code_bits, (np.int64(1) << P.row_bits) - 1
        below = np.int64(0)
        i = s
        while 2 * (below + weight_of(P.weight, row_of(P, keys[i]))) < w:
            below += weight_of(P.weight, row_of(P, keys[i]))
            i += 1
        row = row_of(P, keys[i])
        c = P.stat[row, o]
        median[o] = P.target[row, o]
        if (
            2 * (below + weight_of(P.weight, row)) == w and i + 1 < e
        ):  # half on each side: the midpoint
            median[o] = 0.5 * (median[o] + P.target[row_of(P, keys[i + 1]), o])
        for i in range(s, e):
            row = (keys[i] >> bits) & mask
            total += weight_of(weight, row) * abs(stat[row, o] - c)
            true += P.true_weight[row] * abs(P.target[row, o] - median[o])
    return total, true


@jit
def prefix_errors(P, f, s, e, o, known, backward, lost_first, out, median, W, S):
    """Add to out[i] the least error of the rows listed up to i (``backward``: from i on).

    Rows with missing cells (known..e) come first if ``lost_first``; the error of them alone goes
    to out[known - s]. W and S have room for e - s + 1 numbers.
    """
    m = e - s
    keys, stat, weight, y_rank, y_sorted = P.keys, P.stat, P.weight, P.y_rank, P.y_sorted
    bits, mask = P.code_bits, (np.int64(1) << P.row_bits) - 1
    W[: m + 1] = 0
    S[: m + 1] = 0
    top = 1
    while 2 * top <= m:
        top *= 2
    total_w, total_s = np.int64(0), np.int64(0)
    first = e - known if lost_first else 0
    for j in range(first + known - s):
        i = known + j
        if j >= first:
            i = known - 1 - (j - first) if backward else s + j - first
        row = (keys[f, i] >> bits) & mask
        w = weight_of(weight, row)
        v = stat[row, o] * w
        total_w += w
        total_s += v
        r = y_rank[o, row] + 1
        while r <= m:
            W[r] += w
            S[r] += v
            r += r & -r
        if j < first - 1:
            continue
        at, below_w, below_s = 0, np.int64(0), np.int64(0)
        jump = top
        while jump > 0:
            if at + jump <= m and 2 * (below_w + W[at + jump]) < total_w:
                at += jump
                below_w += W[at]
                below_s += S[at]
            jump //= 2
        c = y_sorted[o, s + at]
        to = known - s if j < first else i - s
        out[to] += (total_s - below_s) - c * (total_w - below_w) + c * below_w - below_s
        median[to] = c


@jit
def scan_absolute(P, lim, f, s, e, w, lower, upper, key, work):
    """(score, place, missing left?, threshold) of the best question; ``work`` (6, m + 1)."""
    shift = P.code_bits + P.row_bits
    keys = P.keys[f]
    known = known_end(P.keys, f, s, e, shift, P.missing[f])
    lost = e - known
    if known == s or (lost == 0 and keys[s] >> shift == keys[known - 1] >> shift):
        return -np.inf, CONSTANT, 0, 0.0
    only, t = np.int64(-1), 0.0
    if P.random:
        low = P.X[row_of(P, keys[s]), f]
        t = random_threshold(low, P.X[row_of(P, keys[known - 1]), f], mix(key, f + 1))
        only = last_below(P, f, s, known, t)
    ahead, behind, left, right, W, S = work[0], work[1], work[2], work[3], work[4], work[5]
    best, place, best_side = -np.inf, NOTHING, 0
    for side in range(2 if lost else 1):
        ahead[: e - s + 1] = 0
        behind[: e - s + 1] = 0
        for o in range(P.y_rank.shape[0]):
            prefix_errors(P, f, s, e, o, known, False, side == 1, ahead, left, W, S)
            prefix_errors(P, f, s, e, o, known, True, side == 0, behind, right, W, S)
        wl = np.int64(0)
        if side == 1:
            for i in range(known, e):
                wl += weight_of(P.weight, row_of(P, keys[i]))
        for i in range(s, known):
            wl += weight_of(P.weight, row_of(P, keys[i]))
            nl = i + 1 - s + side * lost
            if only >= 0 and i != only:
                continue
            if i + 1 == known and (side == 1 or lost == 0):
                continue
            if i + 1 < known and keys[i] >> shift == keys[i + 1] >> shift:
                continue
            if min(nl, e - s - nl) < lim.min_leaf or min(wl, w - wl) < max(lim.min_weight, 1):
                continue
            if len(P.monotone) and P.monotone[f] != 0:
                a, b = left[i - s] * P.stat_unit, right[i + 1 - s] * P.stat_unit
                if not respects(P.monotone[f], a, b, lower, upper):
                    continue
            found = -float(ahead[i - s] + behind[i + 1 - s])
            if found > best:
                best, place, best_side = found, i, side
    if place == NOTHING:
        return -np.inf, NOTHING, 0, 0.0
    if P.random and place + 1 < known:
        return best, place, best_side, t
    return best, place, best_side, threshold_at(P, f, place, known)
