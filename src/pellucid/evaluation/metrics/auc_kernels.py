"""Areas under ranking curves of many bootstrap resamples: one sort, then one sweep for each.

The rows lie in the order of falling score. A resample only changes the weight of each row, so its
curve is a running sum over the same order; nothing is sorted again.
"""

import numpy as np

from pellucid.core.runtime.jit import jit
from pellucid.evaluation.intervals.kernels import draw_counts, draw_weighted, stream_start


@jit
def auc_resamples(seed, first, positive, tie_end, ties, cdf, table, out):
    """AUC of resamples first, first + 1, ... of n rows that count once; whole numbers throughout.

    positive, tie_end (n,) are 0/1 in the order of falling score; tie_end marks the last row of
    equal scores. A resample with one class only is NaN.
    """
    n = len(positive)
    counts = np.empty(n, np.int32)
    for b in range(len(out)):
        draw_counts(stream_start(seed, first + b), cdf, table, counts)
        tp, pairs = np.int64(0), np.int64(0)  # pairs: twice the number of ordered pairs
        if ties:
            before = np.int64(0)
            negatives = np.int64(0)
            for i in range(n):
                c = np.int64(counts[i])
                p = c * positive[i]
                tp += p
                negatives += c - p
                if tie_end[i]:
                    pairs += negatives * (tp + before)
                    before = tp
                    negatives = np.int64(0)
        else:
            for i in range(n):
                c = np.int64(counts[i])
                p = c * positive[i]
                tp += p
                pairs += (c - p) * tp
            pairs *= 2
        both = 2.0 * np.float64(tp) * np.float64(n - tp)
        out[b] = np.float64(pairs) / both if both > 0.0 else np.nan


@jit
def curve_areas(weight, positive, tie_end, out):
    """out = (roc, average precision, trapezoid) of rows with weights, in falling score."""
    tp, fp, before_tp, before_fp = 0.0, 0.0, 0.0, 0.0
    roc, step, slope, height = 0.0, 0.0, 0.0, 1.0
    for i in range(len(weight)):
        if positive[i]:
            tp += weight[i]
        else:
            fp += weight[i]
        if tie_end[i] and tp + fp > before_tp + before_fp:
            now = tp / (tp + fp)
            roc += (fp - before_fp) * (tp + before_tp)
            step += (tp - before_tp) * now
            slope += (tp - before_tp) * (now + height)
            before_tp, before_fp, height = tp, fp, now
    out[0] = roc / (2.0 * tp * fp) if tp > 0.0 and fp > 0.0 else np.nan
    out[1] = step / tp if tp > 0.0 else np.nan
    out[2] = slope / (2.0 * tp) if tp > 0.0 else np.nan


@jit
def area_resamples(
    seed, first, positive, tie_end, unit, w, n_units, cdf, table, threshold, alias, draws, out
):
    """The three areas of resamples of units: row i weighs counts[unit[i]] * w[i]. out (B, 3)."""
    counts = np.empty(n_units, np.int32)
    weight = np.empty(len(positive))
    for b in range(out.shape[0]):
        state = stream_start(seed, first + b)
        if len(alias) > 0:
            draw_weighted(state, threshold, alias, draws, counts)
        else:
            draw_counts(state, cdf, table, counts)
        for i in range(len(weight)):
            weight[i] = counts[unit[i]] * w[i]
        curve_areas(weight, positive, tie_end, out[b])


@jit
def areas_without(first, positive, tie_end, block, w, out):
    """The three areas without block first, first + 1, ... of the rows. out (B, 3)."""
    weight = np.empty(len(positive))
    for b in range(out.shape[0]):
        for i in range(len(weight)):
            weight[i] = 0.0 if block[i] == first + b else w[i]
        curve_areas(weight, positive, tie_end, out[b])


@jit
def order_statistics(values, counts, unit, w, out):
    """out[b] = (median, maximum) of rising values, repeated counts[b, unit[i]] * w[i] times."""
    n = len(values)
    for b in range(counts.shape[0]):
        total = 0.0
        for i in range(n):
            weight = counts[b, unit[i]] * w[i]
            total += weight
            if weight > 0.0:
                out[b, 1] = values[i]
        half, running = 0.5 * total, 0.0
        low, found = 0.0, False
        for i in range(n):
            running += counts[b, unit[i]] * w[i]
            if not found and running >= half:
                low, found = values[i], True
            if running > half:
                out[b, 0] = 0.5 * (low + values[i])
                break


@jit
def placements(positive, tie_end, w, out):
    """Share-free placements for DeLong: rows in falling score, out (n,).

    For a positive row: the weight of negatives below it, equals counting one half; for a negative
    row: the weight of positives above it, equals counting one half. Returns (P, N).
    """
    n = len(positive)
    P, N = 0.0, 0.0
    for i in range(n):
        if positive[i]:
            P += w[i]
        else:
            N += w[i]
    tp, fp, start = 0.0, 0.0, 0
    tie_tp, tie_fp = 0.0, 0.0
    for i in range(n):
        if positive[i]:
            tie_tp += w[i]
        else:
            tie_fp += w[i]
        if tie_end[i]:
            above, below = tp + 0.5 * tie_tp, N - fp - 0.5 * tie_fp
            for j in range(start, i + 1):
                out[j] = below if positive[j] else above
            tp, fp, start = tp + tie_tp, fp + tie_fp, i + 1
            tie_tp, tie_fp = 0.0, 0.0
    return P, N


@jit
def merged_placements(x, z, v10, v01):
    """DeLong placements of rising positives x and rising negatives z, by one merge.

    v10[i] = share of z below x[i], v01[j] = share of x above z[j]; equal scores count one half.
    """
    m, n = len(x), len(z)
    low, high = 0, 0  # z[:low] < x[i] and z[:high] <= x[i]
    for i in range(m):
        while low < n and z[low] < x[i]:
            low += 1
        high = max(high, low)
        while high < n and z[high] <= x[i]:
            high += 1
        v10[i] = 0.5 * (low + high) / n
    low, high = 0, 0
    for j in range(n):
        while low < m and x[low] < z[j]:
            low += 1
        high = max(high, low)
        while high < m and x[high] <= z[j]:
            high += 1
        v01[j] = 1.0 - 0.5 * (low + high) / m
