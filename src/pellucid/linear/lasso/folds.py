r"""Cross-validation of whole lasso and elastic-net paths.

For every fold the whole path is fitted on the other folds, and the mean squared error on the fold
is noted: ``mse_path_``. The chosen alpha has the smallest mean over the folds, or, by the
one-standard-error rule, is the strongest whose mean is within one standard error of it.

With more rows than columns one pass over the data serves all folds: the moments of [X y] are kept
fold by fold; those of the training rows are the other folds merged (prefix with suffix, so nothing
is ever subtracted), and the errors on the fold follow from its own moments,

    sum (y - b - x'w)^2 = Syy - 2 w'Sxy + w'Sxx w + W (ybar - b - xbar'w)^2.

So files larger than memory are cross-validated in one read. Otherwise each fold is fitted from its
rows (``penalised_rows``), several folds at once.

References: Friedman, Hastie & Tibshirani (2010); Breiman et al. (1984), section 3.4.3.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.algebra.least_squares import joint_moments, leaf_moments
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Map
from pellucid.core.loops import numbered
from pellucid.core.loops.selection import one_standard_error
from pellucid.core.loops.statistics import Moments, Rows, Source, Statistic, merge_moments
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.linear.lasso.budget_search import Problem
from pellucid.linear.lasso.fit import MANY_COLUMNS
from pellucid.linear.lasso.paths import alpha_grid, solve_path
from pellucid.linear.lasso.rows import RowsProblem
from pellucid.linear.lasso.sums import SumsProblem
from pellucid.linear.sum_folds import sum_errors


def contiguous_moments(source: Source, map_: Map, k: int) -> list[Moments]:
    """Moments of k folds of neighbouring rows, in one pass over rows or blocks."""
    return numbered.fold_records(Statistic(leaf_moments, merge_moments), source, map_, k)


def others(parts: list[Moments]) -> list[Moments]:
    """Of each fold the moments of all other folds."""
    return numbered.others(merge_moments, parts)


class Fold(NamedTuple):
    """How to make the training problem, and what was held out."""

    train: Any  # Moments or Rows
    test: Any  # Moments or Rows


def is_partition(folds: list[tuple[IntArray, IntArray]], n: int) -> bool:
    """Whether every row is held out once and trained on otherwise."""
    held = np.concatenate([test for _, test in folds])
    whole = all(len(train) + len(test) == n for train, test in folds)
    return whole and len(held) == n and len(np.unique(held)) == n


def take(rows: Rows, index: IntArray) -> Rows:
    """Some rows; neighbours are not copied."""
    if len(index) and (np.diff(index) == 1).all():
        return rows.slice(int(index[0]), int(index[-1]) + 1)
    return Rows(rows.X[index], rows.y[index], rows.w[index])


def row_numbers(found: ArrayLike) -> IntArray:
    """Row numbers from a list of them, or from a mask."""
    index = np.asarray(found)
    return np.flatnonzero(index) if index.dtype == bool else index.astype(np.intp)


def make_folds(rows: Rows, splits: list[tuple[ArrayLike, ArrayLike]], p: int) -> list[Fold]:
    """Folds of rows in memory, by their moments where that is cheaper."""
    folds = [(row_numbers(train), row_numbers(test)) for train, test in splits]
    by_sums = p <= MANY_COLUMNS and all(len(train) > p for train, _ in folds)
    if not by_sums:
        return [Fold(take(rows, train), take(rows, test)) for train, test in folds]

    def sums(index: IntArray) -> Moments:
        return joint_moments(take(rows, index), map_threads)

    tests = list(map_threads(sums, [test for _, test in folds]))
    if is_partition(folds, rows.n_rows):
        return [Fold(a, b) for a, b in zip(others(tests), tests, strict=True)]
    trains = map_threads(sums, [train for train, _ in folds])
    return [Fold(a, b) for a, b in zip(trains, tests, strict=True)]


def make_problem(train: Moments | Rows, p: int, unknowns: str, positive: bool) -> Problem:
    """The problem of some training rows or of their moments."""
    weights, signs = np.ones(p), np.full(p, positive)
    if isinstance(train, Moments):
        return SumsProblem(train, p, unknowns=unknowns, weights=weights, positive=signs)
    Y = train.y[:, None]
    return RowsProblem(train.X, Y, train.w, unknowns=unknowns, weights=weights, positive=signs)


def fold_errors(fold: Fold, coef: Array, intercept: Array) -> Array:
    """Mean squared errors of coefficients (L, p) and intercepts (L,) on the rows held out."""
    if isinstance(fold.test, Moments):
        return sum_errors(fold.test, coef.T[:, None, :], intercept[None, :])[0]
    X, y, w = fold.test
    live = np.flatnonzero(coef.any(axis=0))
    E = X[:, live] @ coef[:, live].T + intercept - y[:, None]
    return w @ E**2 / w.sum()


class CrossValidated(NamedTuple):
    """All paths of all folds."""

    alphas: Array  # (R, L)
    errors: Array  # (R, K, L)


def cross_validate(
    folds: list[Fold],
    whole: Problem,
    ratios: Array,
    alphas: int | Array,
    *,
    eps: float,
    tol: float,
    max_iter: int,
    positive: bool,
) -> CrossValidated:
    """The errors of every fold, l1_ratio and alpha."""
    if isinstance(alphas, int):
        grid = np.array([alpha_grid(whole, 0, float(r), eps, alphas) for r in ratios])
    else:
        grid = np.tile(alphas, (len(ratios), 1))

    def errors(fold: Fold) -> list[Array]:
        problem = make_problem(fold.train, whole.p, whole.unknowns, positive)
        found = []
        for ratio, row in zip(ratios, grid, strict=True):
            fit = solve_path(problem, 0, row, float(ratio), tol=tol, max_iter=max_iter)
            found.append(fold_errors(fold, *problem.expand(0, fit.coefs)))
        return found

    with single_threaded_blas():
        table = list(map_threads(errors, folds))
    return CrossValidated(grid, np.moveaxis(np.array(table), 0, 1))


class Choice(NamedTuple):
    """Row and column of ``CrossValidated.alphas``."""

    ratio: int
    alpha: int


def choose(found: CrossValidated, rule: str) -> Choice:
    """The smallest mean error; or the strongest alpha within one standard error of it."""
    mean = found.errors.mean(axis=1)  # (R, L)
    ratio, alpha = (int(i) for i in np.unravel_index(np.argmin(mean), mean.shape))
    if rule == "one_standard_error":
        errors, order = found.errors[ratio], -found.alphas[ratio]  # (K, L)
        error = errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
        alpha = one_standard_error(mean[ratio], error, order, greater_is_better=False)
    return Choice(ratio, alpha)
