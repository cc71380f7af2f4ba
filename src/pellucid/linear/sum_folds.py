r"""Cross-validation of models that are solved from sums, in one pass over the rows.

Rows are dealt to the folds in turn, and the moments of [X y] are kept fold by fold. The training
rows of a fold are the other folds merged; the squared errors on the fold itself follow from its
own moments, for any intercept b and coefficients w:

    sum (y - b - x'w)^2 = Syy - 2 w'Sxy + w'Sxx w + W (ybar - b - xbar'w)^2.

So files larger than memory are cross-validated without being read again. Row i of every leaf of
4096 rows belongs to fold i mod k: the same folds for any block size. A splitter, or tables with no
more rows than columns, are split row by row.
"""

from collections.abc import Callable
from functools import partial, reduce
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import check_cv

from pellucid.core.algebra import least_squares
from pellucid.core.algebra.least_squares import Compact
from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays import check
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, Folds, IntArray, Map
from pellucid.core.loops import statistics
from pellucid.core.loops.statistics import Moments, Rows, Source, merge_moments
from pellucid.core.runtime.random import generator

# coefficients (p, k, M) and intercepts (k, M) of M candidates -> mean squared errors (k, M)
Errors = Callable[[Array, Array], Array]


class Fold(NamedTuple):
    """The compact rows to train on, and the mean squared errors on the rows held out."""

    train: Compact
    errors: Errors


def check_keywords(model: Any) -> None:
    """Check ``rule``, ``random_state``, ``n_jobs`` and ``cv`` of LassoCV and its like."""
    check.one_of(("best", "one_standard_error"), rule=model.rule)
    generator(model.random_state)
    if model.n_jobs is not None and not isinstance(model.n_jobs, int | np.integer):
        raise ValueError(f"n_jobs must be None or a whole number, got {model.n_jobs!r}")
    if isinstance(model.cv, Integral):
        check.whole(at_least=2, cv=model.cv)
    elif model.cv is not None and not hasattr(model.cv, "split") and not np.iterable(model.cv):
        raise ValueError(f"cv must be a number of folds >= 2 or a splitter, got {model.cv!r}")


def check_folds(cv: object) -> None:
    """Raise ValueError unless ``cv`` is a number of folds >= 2, a splitter or a list."""
    whole = isinstance(cv, Integral) and not isinstance(cv, bool) and int(cv) >= 2
    splitter = hasattr(cv, "split") and not isinstance(cv, str)
    if not whole and not splitter and not isinstance(cv, list | tuple):
        known = "a whole number of folds >= 2, a splitter or a list of splits"
        raise ValueError(f"cv must be {known}, got {cv!r}")


def folds(source: Source, map_: Map, p: int, cv: Folds, *, intercept: bool) -> list[Fold]:
    """One Fold per split: ``cv`` is a number of folds, a splitter or a list of splits."""
    check_folds(cv)
    if isinstance(cv, Integral):
        k = int(cv)
        if k > source.n_rows:
            raise ValueError(f"cv={k} folds need at least as many rows, got {source.n_rows}")
        if source.n_rows > 2 * p:
            return dealt_folds(source, map_, p, k, intercept)
        rows = least_squares.gather(source)
        turn = np.arange(len(rows.X)) % statistics.LEAF_ROWS % k
        splits = [(np.flatnonzero(turn != j), np.flatnonzero(turn == j)) for j in range(k)]
    else:
        if not isinstance(source, Rows):
            raise ValueError("fit_blocks needs cv as a number of folds, got a splitter")
        rows = source
        splits = list(check_cv(cv).split(rows.X, rows.y))
    return [row_fold(rows, train, test, map_, p, intercept) for train, test in splits]


def deal(k: int, rows: Rows) -> tuple[Moments, ...]:
    """Moments of the rows of one leaf, dealt to k folds in turn."""
    X = to_dense(rows.X)
    parts = [Rows(np.ascontiguousarray(X[j::k]), rows.y[j::k], rows.w[j::k]) for j in range(k)]
    d = X.shape[1] + (rows.y.shape[1] if rows.y.ndim == 2 else 1)
    nothing = Moments(0.0, np.zeros(d), np.zeros((d, d)))
    leaf = least_squares.leaf_moments
    return tuple(leaf(part) if len(part.w) else nothing for part in parts)


def merge_dealt(a: tuple[Moments, ...], b: tuple[Moments, ...]) -> tuple[Moments, ...]:
    """Fold by fold."""
    return tuple(merge_moments(x, y) for x, y in zip(a, b, strict=True))


def dealt_folds(source: Source, map_: Map, p: int, k: int, intercept: bool) -> list[Fold]:
    """All folds from one pass."""
    dealt = statistics.Statistic(partial(deal, k), merge_dealt)
    parts = statistics.reduce_rows(dealt, source, map_)
    found = []
    for j, test in enumerate(parts):
        train = reduce(merge_moments, [part for i, part in enumerate(parts) if i != j])
        if test.weight > 0 and train.weight > 0:
            found.append(Fold(compact_sums(train, p, intercept), partial(sum_errors, test)))
    if not found:
        raise ValueError("cross-validation needs two folds with positive weight")
    return found


def compact_sums(total: Moments, p: int, intercept: bool) -> Compact:
    """Compact rows by the eigenvectors of the unit-diagonal cross-products."""
    W, mean, S = total
    S = S if intercept else S + W * np.outer(mean, mean)
    scale = np.sqrt(np.diag(S)[:p])
    unit = np.where(scale > 0, scale, 1.0)
    squares, V = np.linalg.eigh(S[:p, :p] / np.outer(unit, unit))
    live = squares > max(p, 1) * EPS * squares.max(initial=0.0)
    root, V = np.sqrt(squares[live]), V[:, live]
    A = (V * root).T * scale
    c = (V.T @ (S[:p, p:] / unit[:, None])) / root[:, None]
    condition = float(root.max() / root.min()) if live.any() else 1.0
    centre = mean if intercept else np.zeros_like(mean)
    return Compact(A, c, S[p:, p:] - c.T @ c, centre[:p], centre[p:], W, condition)


def sum_errors(test: Moments, coef: Array, intercept: Array) -> Array:
    """Mean squared errors of coefficients (p, k, M) from the moments of the rows held out."""
    p, k = coef.shape[:2]
    W, mean, S = test
    cross = np.einsum("pk,pkm->km", S[:p, p:], coef)
    square = np.einsum("pkm,pkm->km", np.tensordot(S[:p, :p], coef, axes=1), coef)
    offset = mean[p:, None] - intercept - np.tensordot(mean[:p], coef, axes=1)
    total = np.diag(S)[p : p + k, None] - 2 * cross + square
    return np.maximum(total, 0.0) / W + offset**2


def row_fold(
    rows: Rows, train: IntArray, test: IntArray, map_: Map, p: int, intercept: bool
) -> Fold:
    """One split of rows in memory."""
    inside = Rows(rows.X[train], rows.y[train], rows.w[train])
    if not inside.w.any() or not rows.w[test].any():
        raise ValueError("every fold of the cross-validation needs rows with positive weight")
    total = least_squares.joint_moments(inside, map_) if inside.n_rows > p else None
    small = least_squares.compact_rows(inside, map_, total, p, intercept=intercept)
    return Fold(small, partial(row_errors, Rows(rows.X[test], rows.y[test], rows.w[test])))


def row_errors(test: Rows, coef: Array, intercept: Array) -> Array:
    """Mean squared errors of coefficients (p, k, M) on the rows held out."""
    y = test.y if test.y.ndim == 2 else test.y[:, None]
    X = to_dense(test.X)
    error = y[:, :, None] - intercept - np.tensordot(X, coef, axes=1)
    return np.einsum("n,nkm->km", test.w, error**2) / test.w.sum()
