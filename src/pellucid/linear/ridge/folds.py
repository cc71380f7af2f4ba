r"""k-fold cross-validation of ridge for many penalties at once.

The moments of a training set are those of all rows minus those of its test fold (with g the gap
between the mean of the fold and that of all)

    W = W_all - W_f,   mean = mean_all - g W_f/W,   S = S_all - S_f - g g' W_f W_all/W,

so all folds together cost one pass; one eigendecomposition per fold then gives the coefficients of
every alpha, and one product with the test rows their predictions. Where a training set is a small
part of the rows the difference would lose digits, and its moments are summed afresh.
"""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.algebra.least_squares import Engine, dense_leaf, joint_moments, wide_system
from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.loops import statistics
from pellucid.core.loops.statistics import Moments, Rows, is_unit
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.linear.ridge.leave_one_out import ridge_map, spectrum_for
from pellucid.linear.ridge.ridge import Ridge, spectrum_of_rows

KEPT = 1e-6  # share of a column's squares that a difference must leave to be taken


class Fold(NamedTuple):
    train: IntArray
    test: IntArray


def take(rows: Rows, index: IntArray) -> Rows:
    """Some of the rows; a run of neighbours is not copied."""
    run = len(index) and index[-1] - index[0] == len(index) - 1 and (np.diff(index) == 1).all()
    at: Any = slice(int(index[0]), int(index[-1]) + 1) if run else index
    w = statistics.unit_weights(len(index)) if is_unit(rows.w) else rows.w[at]
    return Rows(rows.X[at], rows.y[at], w)


class LazyRows(NamedTuple):
    """Rows of a training set, gathered only if somebody reads them."""

    rows: Rows
    numbers: IntArray

    @property
    def n_rows(self) -> int:
        return len(self.numbers)

    def spans(self) -> list[statistics.MemorySpan]:
        return take(self.rows, self.numbers).spans()


def without(total: Moments, fold: Moments) -> Moments | None:
    """Moments of the rows outside the fold, or None where the difference would lose digits.

    >>> from pellucid.core.loops.statistics import moments
    >>> Z = np.array([[1.0], [3.0], [8.0]])
    >>> every, last = moments(Z, np.ones(3)), moments(Z[2:], np.ones(1))
    >>> without(every, last).mean, without(every, last).scatter.round(12)
    (array([2.]), array([[2.]]))
    """
    W = total.weight - fold.weight
    if not KEPT * total.weight < W:
        return None
    gap = fold.mean - total.mean
    scatter = total.scatter - fold.scatter
    scatter -= np.outer(gap, gap * (fold.weight * total.weight / W))
    if (np.diag(scatter) < KEPT * np.diag(total.scatter)).any():
        return None
    return Moments(W, total.mean - gap * (fold.weight / W), scatter)


def training_fits(
    rows: Rows, total: Moments | None, fold: Fold, alphas: Array, unknowns: str
) -> tuple[Array, Array]:
    """Coefficients (p, k, A) and intercepts (k, A) of every alpha on one training set."""
    if total is None:  # no more rows than columns
        with single_threaded_blas():
            wide = wide_system(take(rows, fold.train), unknowns)
            found = spectrum_of_rows(wide.Z, wide.V, max(wide.Z.shape) * EPS)
            at = ridge_map(found, alphas, unknowns, wide.mean, wide.y_mean, wide.weight)
    else:
        sums = None
        if len(fold.train) + len(fold.test) == rows.n_rows:
            sums = without(total, joint_moments(take(rows, fold.test), map_threads))
        sums = sums or joint_moments(take(rows, fold.train), map_threads)
        p = rows.X.shape[1]
        engine = Engine(LazyRows(rows, fold.train), map_threads, sums, p, unknowns=unknowns)
        found = spectrum_for(engine, float(alphas.min()))
        at = ridge_map(found, alphas, unknowns, engine.at.shift, engine.at.y_shift, sums.weight)
    with single_threaded_blas():
        r, k, A = at.weights.shape
        coef = (at.V @ at.weights.reshape(r, k * A)).reshape(-1, k, A)
        return coef, at.y_mean[:, None] - np.tensordot(at.mean, coef, 1)


def leaf_test_sums(coef: Array, intercept: Array, shift: Array, rows: Rows) -> Array:
    """Rows 0: weight, 1: sum of y - shift, 2: its squares, 3 on: residual squares; (3 + A, k)."""
    X, Y = dense_leaf(rows)
    p, k, A = coef.shape
    E = Y[:, :, None] - intercept - (X @ coef.reshape(p, k * A)).reshape(len(X), k, A)
    C, w = Y - shift, np.ascontiguousarray(rows.w)
    rss = np.tensordot(w, np.square(E, out=E), 1).T  # (A, k)
    return np.vstack([np.full(k, w.sum()), w @ C, w @ C**2, rss])


def explained(rows: Rows, coef: Array, intercept: Array) -> Array:
    """R^2 of every alpha on test rows, averaged over the targets: (A,)."""
    Y = np.atleast_2d(rows.y.T).T
    shift = Y[int(np.argmax(rows.w))]
    sums = statistics.Statistic(partial(leaf_test_sums, coef, intercept, shift), np.add)
    W, first, second, *rss = statistics.reduce_rows(sums, rows, map_threads)
    tss = np.maximum(second - first**2 / W, 0.0)
    share = np.divide(rss, tss, out=np.where(np.array(rss) > 0, 1.0, 0.0), where=tss > 0)
    return (1 - share).mean(axis=1)


def weighted_scorer(scorer: Callable[..., Any], weighted: bool) -> Callable[..., float]:
    """The scorer with the weights of the rows, if there are any and it knows what to do."""
    known = "sample_weight" in inspect.signature(scorer).parameters
    pass_on = weighted and (known or hasattr(scorer, "_score_func"))

    def score(model: BaseEstimator, X: np.ndarray, y: np.ndarray, w: Array) -> float:
        return float(scorer(model, X, y, sample_weight=w) if pass_on else scorer(model, X, y))

    return score


def fitted_ridge(coef: Array, intercept: Array, alpha: float, single: bool) -> Ridge:
    """A Ridge that predicts with given numbers, for a scorer to look at."""
    model = Ridge(alpha)
    model.coef_ = coef[:, 0] if single else np.ascontiguousarray(coef.T)
    model.intercept_ = float(intercept[0]) if single else intercept
    model.n_features_in_ = len(coef)
    return model


def fold_scores(
    rows: Rows,
    total: Moments | None,
    folds: list[Fold],
    alphas: Array,
    unknowns: str,
    scorer: Callable[..., Any] | None,
) -> Array:
    """Score of every alpha on every test fold, greater is better: (folds, A)."""
    score = None if scorer is None else weighted_scorer(scorer, not is_unit(rows.w))
    table = np.empty((len(folds), len(alphas)))
    for i, fold in enumerate(folds):
        coef, intercept = training_fits(rows, total, fold, alphas, unknowns)
        test = take(rows, fold.test)
        if score is None:
            table[i] = explained(test, coef, intercept)
            continue
        for j, alpha in enumerate(alphas):
            one = fitted_ridge(coef[:, :, j], intercept[:, j], float(alpha), rows.y.ndim == 1)
            table[i, j] = score(one, test.X, test.y, test.w)
    return table
