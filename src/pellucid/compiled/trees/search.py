r"""The best question "x_f <= t ?" for the rows of a node, exactly.

A node is a range of every column's sorted keys (``compiled.trees.presort``). A scan of one column
adds its rows to the left side one by one; where the value changes, the sides are scored by

    gini               sum_k L_k^2 / W_L + sum_k R_k^2 / W_R
    entropy            sum_k L_k log L_k - W_L log W_L + the same of R
    misclassification  max_k L_k + max_k R_k
    squared_error      S_L^2 / W_L + S_R^2 / W_R        (S about the mean of the node)
    poisson            S_L log(S_L / W_L) + S_R log(S_R / W_R)
    absolute_error     -(sum_L w |y - median_L| + sum_R w |y - median_R|)

summed over the outputs. The score minus that of the undivided node is the total decrease of
impurity. Missing cells go left as a whole or right as a whole, whichever scores higher, or are
divided from all known ones.

**Exact ties.** Weights and targets are whole numbers (``stat``, ``weight``: multiples of a unit
so small that only the last bits of a double are lost), so sums do not depend on the order of the
rows: the same division of the rows scores the same bits in every column, and the lowest column,
then the lowest threshold, wins by strict comparison. Nothing depends on threads, on the order of
the rows, or on whether a row is written twice or weighted by 2.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.splitmix import GOLDEN, splitmix64

GINI, ENTROPY, MISCLASSIFICATION, SQUARED, POISSON, ABSOLUTE = range(6)
MIDPOINT, OBSERVED, LABEL_CHANGE = range(3)
NOTHING = -1  # no place divides the column as the limits ask
CONSTANT = -2  # the column has one value in this node
TIE = 1e-12  # relative: scores this near to each other are equal up to rounding; the first wins
ALMOST = 1 - TIE  # candidates this near to the best are compared exactly


class Problem(NamedTuple):
    """What all nodes share; arrays and numbers only."""

    X: Any  # (n, d) float64
    keys: Any  # (d, m) int64; absolute_error: (d + o, m), the outputs sorted like columns
    row_bits: int
    code_bits: int  # 0: the class of a row is in ``stat`` only
    missing: Any  # (d,) int64  rank of NaN
    stat: Any  # (n, o) int64  classes: place in the counts; numbers: w y as a whole number
    weight: Any  # (n,) int64, or (0,) where all are 1
    offset: Any  # (o + 1,) int64  where the counts of each output begin; numbers: 0..o
    target: Any  # (n, o) float64  to tell equal targets
    monotone: Any  # (d,) int8, or (0,)
    levels: Any  # (d,) int64  how many levels a column of categories has, 0 for numbers; or (0,)
    paths: Any  # (states, d) int64  of ``tree.path_states``; (0, d): all columns may meet
    table: Any  # int64  x log2 x for x = 0..m in units of ``table_unit``, or (0,)
    table_unit: float
    criterion: int
    rule: int
    random: int  # 1: one random threshold for every column
    stat_unit: float
    weight_unit: float
    center: float  # what was taken from the (only) target before it was made whole
    counted: int  # 1: unit weights, one output, classes by gini or entropy, all thresholds
    fast: int  # 1: unit weights, one output, two classes by gini or numbers by squared error
    true_weight: Any  # (n,) float64 of absolute_error, else (0,)
    y_rank: Any  # (o, n) int64  scratch of absolute_error
    y_sorted: Any  # (o, m) int64  scratch of absolute_error


class Limits(NamedTuple):
    """When to stop."""

    max_depth: int
    min_split: int
    min_leaf: int
    min_weight: int  # in units of ``weight``
    max_features: int
    min_decrease: float  # of the score
    seed: int


@jit
def mix(a, b):
    """A random-looking 63-bit number of two others (splitmix64)."""
    z = splitmix64(np.uint64(a) * GOLDEN + np.uint64(b) + np.uint64(0xD1B54A32D192ED03))
    return np.int64(z >> np.uint64(1))


@jit
def row_of(P, key):
    return (key >> P.code_bits) & ((np.int64(1) << P.row_bits) - 1)


@jit
def above(best):
    """What a later question must exceed to be better than ``best`` by more than rounding."""
    return best + TIE * abs(best) if best > -np.inf else best


@jit
def add_row(classes, row, stat, weight, L):
    """Add one row to the sums L; returns its weight."""
    w = np.int64(1) if len(weight) == 0 else weight[row]
    for o in range(stat.shape[1]):
        if classes:
            L[stat[row, o]] += w
        else:
            L[o] += stat[row, o]
    return w


@jit
def same_target(target, a, b):
    for o in range(target.shape[1]):  # noqa: SIM110  compiled: no generators
        if target[a, o] != target[b, o]:
            return False
    return True


@jit
def totals(P, s, e, T):
    """Sums T and weight of the node's rows, and whether all have the same target."""
    T[:] = 0
    if P.fast == 1 and P.criterion == GINI:  # the classes are in the keys
        for i in range(s, e):
            T[1] += P.keys[0, i] & 1
        T[0] = e - s - T[1]
        return np.int64(e - s), T[0] == 0 or T[1] == 0
    keys, stat, weight, target = P.keys, P.stat, P.weight, P.target
    bits, mask = P.code_bits, (np.int64(1) << P.row_bits) - 1
    classes = P.criterion <= MISCLASSIFICATION
    first = (keys[0, s] >> bits) & mask
    w, pure = np.int64(0), True
    for i in range(s, e):
        row = (keys[0, i] >> bits) & mask
        w += add_row(classes, row, stat, weight, T)
        pure = pure and same_target(target, row, first)
    return w, pure


@jit
def all_same(P, f, s, e):
    """Whether the rows listed at s..e-1 of column f have one target."""
    keys, target = P.keys, P.target
    bits, mask = P.code_bits, (np.int64(1) << P.row_bits) - 1
    first = (keys[f, s] >> bits) & mask
    for i in range(s + 1, e):  # noqa: SIM110
        if not same_target(target, (keys[f, i] >> bits) & mask, first):
            return False
    return True


@jit
def x_log_x(x):
    return x * np.log2(float(x)) if x > 0 else 0.0


@jit
def class_score(criterion, offset, L, T, wl, wr):
    """Score of the sides L and T - L of weights wl and wr, summed over the outputs."""
    total = 0.0
    for o in range(len(offset) - 1):
        left, right = 0.0, 0.0
        for k in range(offset[o], offset[o + 1]):
            a, b = L[k], T[k] - L[k]
            if criterion == GINI:
                left += float(a) * float(a)
                right += float(b) * float(b)
            elif criterion == ENTROPY:
                left += x_log_x(a)
                right += x_log_x(b)
            else:
                left, right = max(left, float(a)), max(right, float(b))
        if criterion == GINI:
            left, right = left / wl, right / wr if wr > 0 else 0.0
        elif criterion == ENTROPY:
            left, right = left - x_log_x(wl), right - x_log_x(wr)
        total += left + right
    return total


@jit
def number_score(poisson, stat_unit, weight_unit, L, T, wl, wr):
    """The same for sums of numbers; about the mean of the node, so that no digits are lost."""
    total = 0.0
    for o in range(len(L)):
        if poisson:
            a, b = L[o] * stat_unit, (T[o] - L[o]) * stat_unit
            if a <= 0.0 or (b <= 0.0 and wr > 0):
                return -np.inf  # a side of zeros only has no Poisson mean
            right = b * np.log(b / (wr * weight_unit)) if wr > 0 else 0.0
            total += a * np.log(a / (wl * weight_unit)) + right
        else:
            shift = np.int64(np.round(T[o] / (wl + wr)))
            a, b = float(L[o] - shift * wl), float(T[o] - L[o] - shift * wr)
            total += a * a / wl + (b * b / wr if wr > 0 else 0.0)
    return total


@jit
def node_score(P, T, w):
    """The score of the undivided node."""
    if P.criterion > MISCLASSIFICATION:
        poisson = P.criterion == POISSON
        return number_score(poisson, P.stat_unit, P.weight_unit, T, T, w, np.int64(0))
    if len(P.table) and len(T) == P.offset[1]:
        total = -P.table[w]
        for k in range(len(T)):
            total += P.table[T[k]]
        return float(total)
    return class_score(P.criterion, P.offset, T, T, w, np.int64(0))


@jit
def respects(sign, left, right, lower, upper):
    """Whether the values of the sides are in the order asked and inside the node's bounds."""
    if left < lower or right < lower or left > upper or right > upper:
        return False
    return sign * (right - left) >= 0.0


@jit
def random_threshold(low, high, key):
    """A uniform number between two values, from the seed of the node."""
    t = low + mix(key, 0x5EED) / 9223372036854775808.0 * (high - low)
    return t if low <= t < high else low


@jit
def midpoint(a, b):
    t = 0.5 * a + 0.5 * b
    return t if a <= t < b else a


@jit
def threshold_at(P, f, i, known):
    """The number between the i-th and the next listed row; inf divides known from missing."""
    if i + 1 >= known:
        return np.inf
    a = P.X[row_of(P, P.keys[f, i]), f]
    return a if P.rule == OBSERVED else midpoint(a, P.X[row_of(P, P.keys[f, i + 1]), f])


@jit
def known_end(keys, f, s, e, shift, missing):
    """Where the missing cells of the node begin."""
    k = e
    while k > s and keys[f, k - 1] >> shift >= missing:
        k -= 1
    return k


@jit
def last_below(P, f, s, known, t):
    """The last listed row with a value of at most t."""
    low, high = s, known - 1
    while low < high:
        middle = (low + high + 1) // 2
        if P.X[row_of(P, P.keys[f, middle]), f] <= t:
            low = middle
        else:
            high = middle - 1
    return low


@jit
def count_scores(P, lim, f, s, e, known, T, L, out):
    """Scores after every row: one output, unit weights, any number of classes, all known.

    Whole numbers throughout: sums of squares, or of x log x from the table, change by the one
    class whose count changes, so that a row costs the same for 2 and for 1000 classes.
    """
    keys, stat, table = P.keys, P.stat, P.table
    bits, shift = P.code_bits, P.code_bits + P.row_bits
    mask = (np.int64(1) << P.row_bits) - 1
    gini = P.criterion == GINI
    left, right = np.int64(0), np.int64(0)
    for k in range(len(T)):
        L[k] = 0
        right += T[k] * T[k] if gini else table[T[k]]
    n, least = e - s, lim.min_leaf
    for i in range(s, known):
        k = stat[(keys[f, i] >> bits) & mask, 0]
        a, b = L[k], T[k] - L[k]
        L[k] = a + 1
        if gini:
            left += 2 * a + 1
            right -= 2 * b - 1
        else:
            left += table[a + 1] - table[a]
            right += table[b - 1] - table[b]
        nl = i + 1 - s
        if (
            i + 1 == known
            or keys[f, i] >> shift == keys[f, i + 1] >> shift
            or nl < least
            or n - nl < least
        ):
            out[i - s] = -np.inf
        elif gini:
            out[i - s] = left / nl + right / (n - nl)
        else:
            out[i - s] = float(left + right - table[nl] - table[n - nl])


@jit
def sum_scores(P, lim, f, s, e, known, side, only, T, w, L, lower, upper, out):
    """Scores after every row (or after row ``only``) for weights, missing cells and outputs."""
    keys, stat, weight = P.keys, P.stat, P.weight
    bits, shift = P.code_bits, P.code_bits + P.row_bits
    mask = (np.int64(1) << P.row_bits) - 1
    classes, poisson = P.criterion <= MISCLASSIFICATION, P.criterion == POISSON
    L[:] = 0
    wl = np.int64(0)
    if side == 1:
        for i in range(known, e):
            wl += add_row(classes, (keys[f, i] >> bits) & mask, stat, weight, L)
    extra = e - known if side == 1 else 0
    for i in range(s, known):
        wl += add_row(classes, (keys[f, i] >> bits) & mask, stat, weight, L)
        out[i - s] = -np.inf
        if only >= 0 and i != only:
            continue
        if i + 1 == known:
            if side == 1 or known == e:
                continue
        elif keys[f, i] >> shift == keys[f, i + 1] >> shift:
            continue
        nl, wr = i + 1 - s + extra, w - wl
        if min(nl, e - s - nl) < lim.min_leaf or min(wl, wr) < max(lim.min_weight, 1):
            continue
        if len(P.monotone) and P.monotone[f] != 0:
            factor = P.stat_unit / P.weight_unit
            a, b = factor * L[0] / wl, factor * (T[0] - L[0]) / wr
            if not respects(P.monotone[f], a, b, lower, upper):
                continue
        if classes:
            out[i - s] = class_score(P.criterion, P.offset, L, T, wl, wr)
        else:
            out[i - s] = number_score(poisson, P.stat_unit, P.weight_unit, L, T, wl, wr)


@jit
def keep_changes(P, f, s, known, out):
    """Strike out borders between groups of equal values that hold one and the same target."""
    shift = P.code_bits + P.row_bits
    keys, target = P.keys, P.target
    before, pure_before, border = np.int64(-1), False, s
    i = s
    while i < known:
        first, pure, j = row_of(P, keys[f, i]), True, i
        while j < known and keys[f, j] >> shift == keys[f, i] >> shift:
            pure = pure and same_target(target, row_of(P, keys[f, j]), first)
            j += 1
        if before >= 0 and pure and pure_before and same_target(target, first, before):
            out[border - s] = -np.inf
        before, pure_before, border = first, pure, j - 1
        i = j


@jit
def scan(P, lim, f, s, e, T, w, L, lower, upper, key, out):
    """(score, place, missing left?, threshold) of the best question about column f."""
    shift = P.code_bits + P.row_bits
    known = known_end(P.keys, f, s, e, shift, P.missing[f])
    lost = e - known
    if known == s or (lost == 0 and P.keys[f, s] >> shift == P.keys[f, known - 1] >> shift):
        return -np.inf, CONSTANT, 0, 0.0
    only, t = np.int64(-1), 0.0
    if P.random:
        low = P.X[row_of(P, P.keys[f, s]), f]
        t = random_threshold(low, P.X[row_of(P, P.keys[f, known - 1]), f], mix(key, f + 1))
        only = last_below(P, f, s, known, t)
    counted = P.counted and lost == 0
    best, place, best_side, hurdle = -np.inf, NOTHING, 0, -np.inf
    for side in range(2 if lost else 1):
        if counted:
            count_scores(P, lim, f, s, e, known, T, L, out)
        else:
            sum_scores(P, lim, f, s, e, known, side, only, T, w, L, lower, upper, out)
        if P.rule == LABEL_CHANGE:
            keep_changes(P, f, s, known, out)
        for i in range(s, known):
            if out[i - s] > hurdle:
                best, place, best_side = out[i - s], i, side
                hurdle = best + TIE * abs(best)
    if place == NOTHING:
        return -np.inf, NOTHING, 0, 0.0
    if P.random and place + 1 < known:
        return best, place, best_side, t
    return best, place, best_side, threshold_at(P, f, place, known)


@jit
def scan_two_classes(keys, f, s, e, shift, least, ones):
    """Gini, two classes, unit weights, nothing missing: (a n - t n_l)^2 / (n_l n_r)."""
    if keys[f, s] >> shift == keys[f, e - 1] >> shift:
        return -np.inf, CONSTANT
    n, total = float(e - s), float(ones)
    a = np.int64(0)
    first, last = s + least - 1, e - least - 1
    for i in range(s, min(first, e - 1)):
        a += keys[f, i] & 1
    best, place, hurdle = -1.0, NOTHING, -1.0
    now = keys[f, min(first, e - 1)]
    for i in range(first, min(last + 1, e - 1)):
        a += now & 1
        after = keys[f, i + 1]
        if (after ^ now) >> shift != 0:
            nl = float(i + 1 - s)
            u, both = a * n - total * nl, nl * (n - nl)
            if u * u > hurdle * both:  # only then is the division worth its time
                best, place = u * u / both, i
                hurdle = best * (1.0 + TIE)
        now = after
    return best, place


@jit
def scan_numbers(keys, stat, f, s, e, shift, least, total):
    """Squared error, unit weights, one output, nothing missing: S about the mean of the node."""
    if keys[f, s] >> shift == keys[f, e - 1] >> shift:
        return -np.inf, CONSTANT
    mask = (np.int64(1) << shift) - 1
    mean = np.int64(np.round(total / (e - s)))
    left, rest = np.int64(0), total - mean * (e - s)
    first, last = s + least - 1, e - least - 1
    for i in range(s, min(first, e - 1)):
        left += stat[keys[f, i] & mask, 0] - mean
    best, place, hurdle = -1.0, NOTHING, -1.0
    now = keys[f, min(first, e - 1)]
    for i in range(first, min(last + 1, e - 1)):
        left += stat[now & mask, 0] - mean
        after = keys[f, i + 1]
        if (after ^ now) >> shift != 0:
            nl, nr = float(i + 1 - s), float(e - i - 1)
            a, b = float(left), float(rest - left)
            top, both = a * a * nr + b * b * nl, nl * nr
            if top > hurdle * both:
                best, place = top / both, i
                hurdle = best * (1.0 + TIE)
        now = after
    return best, place
