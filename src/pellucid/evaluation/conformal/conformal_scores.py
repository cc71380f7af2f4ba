r"""Conformal prediction: intervals and sets that cover, whatever the model and the law.

If the n calibration rows and the new one are exchangeable, the score s of the new row is no more
extreme than theirs, and

    P( s_new <= q ) >= confidence,     q = the ceil((n + 1) confidence)-th smallest score

Scores for numbers, with f fitted on other rows:

    split        |y - f(x)|                      interval f(x) -+ q
    normalised   |y - f(x)| / sigma(x)           f(x) -+ q sigma(x)
    quantile     max(lo(x) - y, y - hi(x))       [lo(x) - q, hi(x) + q]

Leave-out methods use every row for both purposes: with f_-i fitted without (the fold of) row i and
R_i = |y_i - f_-i(x_i)|, a = 1 - confidence,

    [ the floor(a (n + 1))-th smallest of f_-i(x) - R_i,
      the ceil((1 - a)(n + 1))-th smallest of f_-i(x) + R_i ]         covers at least 1 - 2a

Scores for labels, from probabilities p(k | x): ``lac`` and ``class`` 1 - p(y | x), ``aps`` the mass
of the labels at least as likely as y, in descending order. A set holds the labels whose score is at
most q; with ``class`` every label has its own q, so that every class is covered.

References: Vovk, Gammerman & Shafer (2005); Lei et al. (2018); Romano, Patterson & Candès (2019);
Sadinle, Lei & Wasserman (2019); Romano, Sesia & Candès (2020); Barber et al. (2021).
"""

import math

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.evaluation.conformal.shifted_order import shifted_rank

CELLS = 2**21  # of the (new rows, calibration rows) table at a time
ROUNDING = 1e-9  # (n + 1) confidence is not raised by one because its last digit was rounded up


def conformal_quantile(scores: ArrayLike, confidence: float) -> float:
    """The ceil((n + 1) confidence)-th smallest score; infinity, with a warning, beyond n.

    ``scores`` (n,) are of the calibration rows, larger is stranger; ``confidence`` is in (0, 1).

    >>> conformal_quantile([0.1, 0.5, 0.3, 0.9, 0.7, 0.2, 0.4, 0.8, 0.6], 0.8)
    0.8
    """
    check.fraction(confidence=confidence)
    s = np.asarray(scores, dtype=np.float64)
    if s.ndim != 1:
        raise ValueError(f"scores must be one number per row, got an array of shape {s.shape}")
    if np.isnan(s).any():
        raise ValueError(f"scores must be numbers, got NaN in row {int(np.argmax(np.isnan(s)))}")
    rank = rank_of(len(s), confidence)
    if rank > len(s):
        warn_few(len(s), confidence)
        return math.inf
    return float(np.partition(s, rank - 1)[rank - 1])


def rank_of(n: int, confidence: float) -> int:
    """ceil((n + 1) confidence)."""
    return math.ceil((n + 1) * confidence - ROUNDING)


def warn_few(n: int, confidence: float, where: str = "") -> None:
    """Say that the calibration rows cannot support the confidence."""
    need = math.ceil(confidence / (1 - confidence) - ROUNDING)
    rows = f"{n} calibration rows{where} cannot support a confidence of {confidence:g}"
    warn(f"{rows}: at least {need} are needed, so the limit is infinite")


def leave_out_interval(
    predictions: Array, fold: IntArray, residuals: Array, confidence: float
) -> Array:
    """CV+ intervals (m, 2) from predictions (m, folds) and the held-out residuals of n rows.

    >>> leave_out_interval(np.array([[1.0, 2.0]]), np.array([0, 1, 1]), np.array([0.5, 1, 2]), 0.5)
    array([[0.5, 3. ]])
    """
    n, a = len(residuals), 1 - confidence
    low, high = math.floor(a * (n + 1) + ROUNDING), rank_of(n, confidence)
    if low < 1 or high > n:
        warn_few(n, confidence)
        return np.tile([-np.inf, np.inf], (len(predictions), 1))
    size = np.abs(residuals)
    if predictions.shape[1] ** 2 < n:  # few folds: no table of (rows, n) is needed
        return _sorted_folds(predictions, fold, size, low, high)
    step = max(1, CELLS // n)

    def block(start: int) -> Array:
        without = predictions[start : start + step][:, fold]  # (rows, n)
        below = np.partition(without - size, low - 1, axis=1)[:, low - 1]
        without += size
        without.partition(high - 1, axis=1)
        return np.column_stack([below, without[:, high - 1]])

    return np.concatenate(list(map_threads(block, range(0, len(predictions), step))))


def _sorted_folds(predictions: Array, fold: IntArray, size: Array, low: int, high: int) -> Array:
    """The same order statistics from the sorted residuals of every fold."""
    starts = np.append(0, np.cumsum(np.bincount(fold, minlength=predictions.shape[1])))
    up, down = size[np.lexsort((size, fold))], -size[np.lexsort((-size, fold))]
    lower = shifted_rank(predictions, down, starts, low)
    return np.column_stack([lower, shifted_rank(predictions, up, starts, high)])


def adaptive_masses(P: Array) -> Array:
    """For every label the mass of the labels at least as likely: (n, K).

    >>> adaptive_masses(np.array([[0.2, 0.5, 0.3]]))
    array([[1. , 0.5, 0.8]])
    """
    order = np.argsort(-P, axis=1, kind="stable")
    masses = np.empty_like(P)
    np.put_along_axis(masses, order, np.cumsum(np.take_along_axis(P, order, 1), axis=1), axis=1)
    return masses


def label_scores(P: Array, method: str) -> Array:
    """The score of every label of every row: (n, K)."""
    return adaptive_masses(P) if method == "aps" else 1 - P


def label_sets(scores: Array, limits: float | Array, P: Array, method: str) -> BoolArray:
    """The labels whose score is within the limit; ``aps`` always keeps the likeliest one."""
    inside = scores <= limits
    if method == "aps":
        inside[np.arange(len(P)), P.argmax(axis=1)] = True
    return inside


def split_rows(
    n: int, calibration_size: float, rng: np.random.Generator, least: int = 1
) -> tuple[IntArray, IntArray]:
    """(fit, calibrate): a random share (rounded up) or number of rows is kept to calibrate.

    >>> fit, calibrate = split_rows(10, 0.25, np.random.default_rng(0))
    >>> len(fit), len(calibrate)
    (7, 3)
    """
    whole = isinstance(calibration_size, int | np.integer) and calibration_size >= 1
    size = int(calibration_size) if whole else math.ceil(n * calibration_size - ROUNDING)
    if size < 1 or n - size < least:
        asked = f"calibration_size={calibration_size!r} of n_samples={n} rows leaves"
        parts = f"{n - size} to fit and {size} to calibrate"
        raise ValueError(f"{asked} {parts}; at least {least} and 1 are needed")
    order = rng.permutation(n)
    return np.sort(order[size:]), np.sort(order[:size])


def check_calibration_size(value: float) -> None:
    """A share between 0 and 1, or a number of rows."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 1:
        return
    check.fraction(calibration_size=value)
