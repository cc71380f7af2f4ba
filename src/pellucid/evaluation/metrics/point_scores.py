r"""The plain numbers behind every metric: pure functions of arrays that are already checked.

Confusion counts C[i, j] = weight of rows of class i called j (row = truth, column = prediction).
With one class as the positive one:  tp, fn, fp, tn;  P = tp + fn, N = fp + tn.

    precision = tp / (tp + fp)        recall = tp / P          specificity = tn / N
    F_beta    = (1 + b^2) tp / ((1 + b^2) tp + b^2 fn + fp)    the same as (1+b^2)PR/(b^2 P + R)
    mcc       = (tp tn - fp fn) / sqrt((tp + fp) P N (tn + fn))
    kappa     = (accuracy - chance) / (1 - chance),  chance = sum_i row_i column_i / total^2

A number that is undefined (0/0) is NaN here; who calls these functions warns about it.
Weights are repetitions everywhere: a row of weight 2 counts as two equal rows.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray


def ratio(a: Array | float, b: Array | float) -> Array:
    """a / b, NaN where b is zero."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    return np.divide(a, b, out=np.full(np.broadcast(a, b).shape, np.nan), where=b != 0)


def confusion_counts(truth: IntArray, predicted: IntArray, k: int, w: Array | None) -> Any:
    """(k, k) counts of codes; whole numbers when there are no weights."""
    flat = np.bincount(truth * k + predicted, weights=w, minlength=k * k)
    return flat.reshape(k, k)


class ClassCounts(NamedTuple):
    """True and false positives and negatives of every class, each of shape (k,)."""

    tp: Array
    fn: Array
    fp: Array
    tn: Array


def class_counts(C: Array) -> ClassCounts:
    """FN_i = the rest of row i, FP_j = the rest of column j."""
    tp = np.diag(C).copy()
    fn, fp = C.sum(axis=1) - tp, C.sum(axis=0) - tp
    return ClassCounts(tp, fn, fp, C.sum() - tp - fn - fp)


def accuracy(C: Array) -> float:
    return float(np.trace(C) / C.sum())


def precision(c: ClassCounts) -> Array:
    return ratio(c.tp, c.tp + c.fp)


def recall(c: ClassCounts) -> Array:
    return ratio(c.tp, c.tp + c.fn)


def specificity(c: ClassCounts) -> Array:
    return ratio(c.tn, c.tn + c.fp)


def f_beta(c: ClassCounts, beta: float = 1.0) -> Array:
    b2 = beta * beta
    return ratio((1 + b2) * c.tp, (1 + b2) * c.tp + b2 * c.fn + c.fp)


def balanced_accuracy(C: Array) -> float:
    """The mean recall of the classes that occur."""
    rows = C.sum(axis=1)
    seen = rows > 0
    return float((np.diag(C)[seen] / rows[seen]).mean())


def mcc(C: Array) -> float:
    """Matthews' correlation; for more than two classes Gorodkin's R_k."""
    total, right = C.sum(), np.trace(C)
    row, column = C.sum(axis=1).astype(np.float64), C.sum(axis=0).astype(np.float64)
    spread = (total**2 - column @ column) * (total**2 - row @ row)
    return float((total * right - row @ column) / np.sqrt(spread)) if spread > 0 else np.nan


def kappa(C: Array) -> float:
    """Cohen's kappa: the accuracy above chance, as a share of what is above chance."""
    total = C.sum()
    chance = float(C.sum(axis=1) @ C.sum(axis=0)) / total**2
    return (accuracy(C) - chance) / (1 - chance) if chance < 1 else np.nan


class Cumulative(NamedTuple):
    """Weight of positives and negatives at or above each distinct score, descending."""

    threshold: Array
    tp: Array
    fp: Array


def cumulative_counts(positive: Array, score: Array, w: Array | None) -> Cumulative:
    """One sort; ``positive`` is 1.0 or 0.0 per row."""
    order = np.argsort(-score)  # the order within ties does not matter
    s, y = score[order], positive[order]
    last = np.append(np.flatnonzero(s[1:] != s[:-1]), len(s) - 1)  # last row of each tie
    if w is None:
        tp = np.cumsum(y)[last]
        return Cumulative(s[last], tp, last + 1.0 - tp)
    w = w[order]
    return Cumulative(s[last], np.cumsum(w * y)[last], np.cumsum(w * (1 - y))[last])


def roc_area(c: Cumulative) -> float:
    """P(score of a positive > score of a negative) + P(equal) / 2."""
    P, N = c.tp[-1], c.fp[-1]
    tp, fp = np.append(0.0, c.tp), np.append(0.0, c.fp)
    return float(np.sum((fp[1:] - fp[:-1]) * (tp[1:] + tp[:-1])) / (2 * P * N))


def step_area(c: Cumulative) -> float:
    """Average precision: the step sum of (R_i - R_{i-1}) P_i."""
    gained = np.diff(c.tp, prepend=0.0)
    return float(np.sum(gained * ratio(c.tp, c.tp + c.fp)) / c.tp[-1])


def trapezoid_area(c: Cumulative) -> float:
    """Area under the straight lines between the points of the curve, begun at (0, 1)."""
    height = np.append(1.0, ratio(c.tp, c.tp + c.fp))
    gained = np.diff(c.tp, prepend=0.0)
    return float(np.sum(gained * (height[1:] + height[:-1])) / (2 * c.tp[-1]))


def log_losses(truth: IntArray, probability: Array) -> Array:
    """-ln of the probability of what happened; a certain mistake costs 36, not infinity."""
    eps = np.finfo(np.float64).eps
    p = np.take_along_axis(probability, truth[:, None], axis=1)[:, 0]
    return -np.log(np.clip(p, eps, 1 - eps))


def brier_losses(truth: IntArray, probability: Array) -> Array:
    """Two classes: (p - y)^2; more: the sum over the classes."""
    if probability.shape[1] == 2:
        return (probability[:, 1] - truth) ** 2
    miss = probability.copy()
    miss[np.arange(len(truth)), truth] -= 1.0
    return np.einsum("ij,ij->i", miss, miss)


def weighted_mean(values: Array, w: Array | None) -> Array:
    """The mean over rows; (n,) gives a number, (n, k) one for every column."""
    return values.mean(axis=0) if w is None else w @ values / w.sum()


def target_variance(y: Array, w: Array | None) -> Array:
    """The 1/n variance of every output."""
    return weighted_mean((y - weighted_mean(y, w)) ** 2, w)
