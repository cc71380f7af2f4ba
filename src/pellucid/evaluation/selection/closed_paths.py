r"""Fold scores of every penalty at once, where the estimator offers a path.

Ridge: one decomposition per training set gives the coefficients of every alpha
(``linear.ridge.folds``). Lasso and elastic net: one path per training set, each point started from
the ones before it (``linear.lasso.folds``). The scores are those of fitting every alpha by itself,
to the last digits (ridge) or to the tolerance of the solver.
"""

from collections.abc import Sequence
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from pellucid.core.arrays.typing import Array
from pellucid.core.loops.statistics import Rows, Statistic, reduce_rows
from pellucid.core.runtime.threads import map_threads
from pellucid.evaluation.splits.folds import Split
from pellucid.evaluation.validation.cv_scores import FoldJob
from pellucid.linear.lasso.elastic_net import ElasticNet
from pellucid.linear.lasso.folds import cross_validate, make_folds, make_problem
from pellucid.linear.lasso.lasso import Lasso
from pellucid.linear.ridge.folds import Fold, leaf_test_sums, take, training_fits
from pellucid.linear.ridge.ridge import Ridge

METRICS = ("mse", "r2")
PLAIN = {"solver": "auto", "shrink_intercept": False, "warm_start": False}


def closed_scores(
    job: FoldJob, candidates: list[dict[str, Any]], splits: Sequence[Split]
) -> Array | None:
    """Scores (candidates, folds), or None where every candidate must be fitted by itself."""
    estimator, X, y, metric = job[:4]
    if metric.name not in METRICS or metric.definition is None or issparse(X) or y is None:
        return None
    if type(estimator) not in (Ridge, Lasso, ElasticNet) or hasattr(estimator, "_skl_callbacks"):
        return None
    if not all(_is_path(estimator, one) for one in candidates) or not _cleanly(splits, len(y)):
        return None
    if type(estimator) is Ridge:
        return _ridge(job, candidates, splits)
    return _lasso(job, candidates, splits)


def _is_path(estimator: BaseEstimator, candidate: dict[str, Any]) -> bool:
    """Whether only the penalty varies, and the rest is what the path computes."""
    free = {"alpha"} if not isinstance(estimator, ElasticNet) else {"alpha", "l1_ratio"}
    if not candidate or not candidate.keys() <= free:
        return False
    values = {**{name: getattr(estimator, name) for name in free}, **candidate}
    numbers = all(isinstance(v, Real) and not isinstance(v, bool) for v in values.values())
    if not numbers or not 0 < values["alpha"] < np.inf or not 0 <= values.get("l1_ratio", 1) <= 1:
        return False
    if values.get("l1_ratio", 1) == 0:
        return False
    options = estimator.get_params(deep=False)
    if isinstance(estimator, Ridge):
        shrunk = options["fit_intercept"] and options["shrink_intercept"]
        return options["solver"] == "auto" and not options["positive"] and not shrunk
    plain = all(options[name] == value for name, value in PLAIN.items())
    return plain and options["max_iter"] is not None


def _cleanly(splits: Sequence[Split], n: int) -> bool:
    """Folds whose training rows are distinct, with two rows or more to test on."""
    whole = all(np.unique(train).size == len(train) for train, _ in splits)
    return whole and all(len(test) > 1 and len(train) > 1 for train, test in splits)


def _score(rss: Array, tss: Array, weight: float, name: str) -> Array | None:
    """(A,) from residual squares (A, k), squares about the mean (k,) and the weight of the rows."""
    if name == "mse":
        return (rss / weight).mean(axis=1)
    return (1 - rss / tss).mean(axis=1) if (tss > 0).all() else None


def _ridge(job: FoldJob, candidates: list[dict[str, Any]], splits: Sequence[Split]) -> Array | None:
    model = Ridge(**job.estimator.get_params(deep=False))
    rows = model._open(job.X, job.y, job.weight)
    alphas = np.array([float(one["alpha"]) for one in candidates])
    unknowns = "centred" if model.fit_intercept else "slopes"
    total = model._sums(rows, map_threads) if rows.n_rows > model.n_features_in_ else None
    table = np.empty((len(candidates), len(splits)))
    for i, (train, test) in enumerate(splits):
        if not rows.w[train].any() or not rows.w[test].any():
            return None
        coef, intercept = training_fits(rows, total, Fold(train, test), alphas, unknowns)
        held = take(rows, test)
        shift = np.atleast_2d(held.y.T).T[0]
        summarise = partial(leaf_test_sums, coef, intercept, shift)
        W, first, second, *rss = reduce_rows(Statistic(summarise, np.add), held, map_threads)
        found = _score(np.array(rss), _squares(first, second, W), float(W[0]), job.metric.name)
        if found is None:
            return None
        table[:, i] = found
    return table


def _squares(first: Array, second: Array, W: Array) -> Array:
    """Squares about the mean from sums of a shifted target; rounding is 0."""
    tss = second - first**2 / W
    return np.where(tss > 1e-12 * second, tss, 0.0)


def _lasso(job: FoldJob, candidates: list[dict[str, Any]], splits: Sequence[Split]) -> Array | None:
    estimator, X, y, metric = job[:4]
    model = type(estimator)(**estimator.get_params(deep=False))
    default = float(getattr(estimator, "l1_ratio", 1.0)), estimator.alpha
    named = [(one.get("l1_ratio", default[0]), one.get("alpha", default[1])) for one in candidates]
    pairs = [(float(ratio), float(alpha)) for ratio, alpha in named]
    ratios = np.array(sorted({ratio for ratio, _ in pairs}))
    alphas = np.array(sorted({alpha for _, alpha in pairs}, reverse=True))
    if np.ndim(y) != 1 or 2 * len(set(pairs)) < len(ratios) * len(alphas):
        return None  # scattered draws: paths through all combinations would cost more
    rows = model._open(X, y, job.weight)
    p = model.n_features_in_
    if rows.n_rows > p:
        model._sums(rows, map_threads)  # names a cell that is no finite number
    folds = make_folds(rows, list(splits), p)
    unknowns = "centred" if model.fit_intercept else "slopes"
    shape = make_problem(folds[0].train, p, unknowns, model.positive)  # the grid is given
    limits = {"eps": 1e-3, "tol": model.tol, "max_iter": model.max_iter}
    found = cross_validate(folds, shape, ratios, alphas, positive=model.positive, **limits)
    errors = np.moveaxis(found.errors, 1, 2)  # (R, L, K)
    at = [(np.searchsorted(ratios, r), np.searchsorted(-alphas, -a)) for r, a in pairs]
    table = np.array([errors[i] for i in at])
    return table if metric.name == "mse" else _explained(table, rows, splits)


def _explained(mse: Array, rows: Rows, splits: Sequence[Split]) -> Array | None:
    variance = np.empty(len(splits))
    for i, (_, test) in enumerate(splits):
        y, w = rows.y[test], rows.w[test]
        if not w.any():
            return None
        variance[i] = np.average((y - np.average(y, weights=w)) ** 2, weights=w)
    return 1 - mse / variance if (variance > 0).all() else None
