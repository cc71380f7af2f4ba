r"""Criteria for the number of clusters: what each says of every k, and which k it prefers.

    elbow                  where J stops falling (``elbow_rule``); None without an elbow
    silhouette             largest mean silhouette
    calinski_harabasz      largest ratio
    stability              the largest k whose subsamples agree as well as any (within 0.02); None
                           if no k reaches 0.75: few clusters are always stable
    aic, bic               smallest; of the estimator's own likelihood where it has one, else of the
                           hard spherical likelihood of its labels (k-means as a model):
                             s2 = J/(n p),   l = sum_k n_k log(n_k/n) - n p/2 (log(2 pi s2) + 1),
                             k p + k parameters
    heldout_log_likelihood largest mean log density of rows left out, fresh fits per fold
    heldout_inertia        mean squared distance of rows left out to the nearest centre; it falls
                           for ever, so the smallest k within one standard error of the best
    gap                    smallest k with gap(k) >= gap(k+1) - s(k+1): log J of rows without
                           clusters (even in the box of the principal axes) minus log J

Only elbow and stability can say None; only aic, bic, the held-out ones and gap can say 1.

References: Rousseeuw (1987); Calinski & Harabasz (1974); Tibshirani, Walther & Hastie (2001).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import check_cv

from pellucid.cluster.choosing.elbow_rule import ElbowResult, elbow
from pellucid.cluster.choosing.measures import calinski_harabasz_score, distortion, silhouette_score
from pellucid.cluster.choosing.stability import cluster_stability, labels_of, with_settings
from pellucid.core.arrays.typing import Array, IntArray, Rng
from pellucid.core.functions.distances import pairwise_sqeuclidean
from pellucid.core.loops.selection import one_standard_error

SILHOUETTE_ROWS = 10_000  # silhouettes are means over pairs: a sample of the rows is enough
GAP_ROWS, REFERENCES = 1000, 19  # 19: rows without clusters pass for clustered 1 time in 20
STABLE, AS_STABLE = 0.75, 0.02
GOOD = {"silhouette": 0.5, "calinski_harabasz": 0.0, "stability": 0.9}  # local maxima from here on


class Fitted(NamedTuple):
    """One k: the fitted model and its labels."""

    k: int
    model: Any
    labels: IntArray
    inertia: float


class Setting(NamedTuple):
    """What the criteria need besides the fits."""

    X: Array
    make: Callable[[int, int], Any]  # (k, seed) -> an estimator, not fitted
    n_runs: int
    cv: Any
    rng: Rng


def number_of(estimator: BaseEstimator, k: int, seed: int) -> Any:
    """A clone that looks for k clusters: the last step's ``n_clusters`` or ``n_components``.

    >>> from pellucid import KMeans
    >>> number_of(KMeans(), 3, 0)
    KMeans(n_clusters=3, random_state=0)
    """
    model = with_settings(estimator, random_state=seed)
    last = last_step(model)
    found = [name for name in ("n_clusters", "n_components") if hasattr(last, name)]
    if not found:
        raise TypeError(f"estimator needs n_clusters or n_components, got {type(last).__name__}")
    last.set_params(**{found[0]: k})
    return model


def fit_number(setting: Setting, k: int, seed: int) -> Fitted:
    """Fit k clusters to all rows."""
    model = setting.make(k, seed)
    labels = labels_of(model, setting.X)
    inertia = getattr(last_step(model), "inertia_", None)
    value = distortion(setting.X, labels) if inertia is None else float(inertia)
    return Fitted(k, model, labels, value)


def last_step(model: BaseEstimator) -> Any:
    """The estimator at the end of a pipeline, or the estimator itself."""
    return model.steps[-1][1] if hasattr(model, "steps") else model


def lacking(model: BaseEstimator, name: str, what: str) -> ValueError:
    """The error of a criterion that needs an estimator with something else."""
    found = type(last_step(model)).__name__
    return ValueError(f"criterion {name!r} needs an estimator with {what}, got {found}")


def several(labels: IntArray) -> bool:
    """Whether silhouettes and ratios are defined."""
    return 2 <= len(np.unique(labels)) < len(labels)


def silhouette_of(setting: Setting, fit: Fitted) -> float:
    """The mean silhouette, NaN where it is not defined."""
    X, labels = setting.X, fit.labels
    if len(X) > SILHOUETTE_ROWS:
        rows = np.random.default_rng(0).permutation(len(X))[:SILHOUETTE_ROWS]  # the same for all k
        X, labels = X[rows], labels[rows]
    return silhouette_score(X, labels) if several(labels) else float("nan")


def ratio_of(setting: Setting, fit: Fitted) -> float:
    """Calinski and Harabasz's ratio, NaN where it is not defined."""
    return calinski_harabasz_score(setting.X, fit.labels) if several(fit.labels) else float("nan")


def stability_of(setting: Setting, fit: Fitted) -> float:
    """Agreement of clusterings of subsamples, NaN for one cluster."""
    if fit.k < 2 or fit.k > 0.8 * len(setting.X):
        return float("nan")
    model, seed = setting.make(fit.k, 0), int(setting.rng.integers(2**31))
    how: dict[str, Any] = {"n_runs": setting.n_runs, "resample": "subsample", "random_state": seed}
    return cluster_stability(model, setting.X, **how).score


def spherical_criteria(X: Array, labels: IntArray, inertia: float) -> tuple[float, float]:
    """AIC and BIC of a hard clustering with one variance for all.

    >>> aic, bic = spherical_criteria(np.array([[0.0], [2.0], [9.0]]), np.array([0, 0, 1]), 2.0)
    >>> round(aic, 4), round(bic, 4)
    (19.1163, 15.5108)
    """
    n, p = X.shape
    size = np.bincount(np.unique(labels, return_inverse=True)[1])
    k = len(size)
    s2 = max(inertia / (n * p), np.finfo(float).tiny)
    value = float((size * np.log(size / n)).sum()) - n * p / 2 * (np.log(2 * np.pi * s2) + 1)
    return float(2 * (k * p + k) - 2 * value), float(np.log(n) * (k * p + k) - 2 * value)


def information_of(setting: Setting, fit: Fitted, name: str) -> float:
    """AIC or BIC: the estimator's own where it has one."""
    if hasattr(fit.model, name):
        return float(getattr(fit.model, name)(setting.X))
    if not hasattr(last_step(fit.model), "inertia_"):
        raise lacking(fit.model, name, f"a likelihood ({name}(X)) or with inertia_")
    return spherical_criteria(setting.X, fit.labels, fit.inertia)[name == "bic"]


def heldout_of(setting: Setting, k: int, name: str) -> tuple[float, float]:
    """Mean over folds, and its standard error, of what a fresh fit says of the rows left out."""
    scores = []
    folds = check_cv(setting.cv)
    if hasattr(folds, "shuffle") and isinstance(setting.cv, int):
        folds.shuffle, folds.random_state = True, 0  # the same folds for every k
    for i, (train, test) in enumerate(folds.split(setting.X)):
        if k > len(train):
            return float("nan"), float("nan")
        model = setting.make(k, i)
        labels_of(model, setting.X[train])
        scores.append(_heldout_score(model, setting.X[test], name))
    return float(np.mean(scores)), float(np.std(scores, ddof=1) / np.sqrt(len(scores)))


def _heldout_score(model: BaseEstimator, X: Array, name: str) -> float:
    if name == "heldout_log_likelihood":
        if not hasattr(model, "score_samples"):
            raise lacking(model, name, "score_samples, as mixtures have")
        return float(np.mean(model.score_samples(X)))
    C = getattr(model, "cluster_centers_", None)
    if C is None:
        raise lacking(model, name, "cluster_centers_")
    return float(pairwise_sqeuclidean(X, np.asarray(C)).min(axis=1).mean())


class Gap(NamedTuple):
    """The gap statistic for consecutive k, its errors, and the k it prefers."""

    gap: Array
    error: Array
    n_clusters: int
    clustered: bool  # more grouped than every set of rows without clusters


def gap_statistic(setting: Setting, counts: list[int]) -> Gap:
    """log J of rows without clusters minus log J of the rows; ``counts`` are consecutive from 1.

    The rows are clustered if ``max_k gap(k) - gap(1)`` is larger than for each of the references,
    put in their place: a rank test at the level 1/(REFERENCES + 1).
    """
    rng = setting.rng
    X = setting.X[np.sort(rng.permutation(len(setting.X))[:GAP_ROWS])]
    mean = X.mean(axis=0)
    V = np.linalg.svd(X - mean, full_matrices=False)[2]
    turned = (X - mean) @ V.T
    low, high = turned.min(axis=0), turned.max(axis=0)

    models = {k: setting.make(k, 0) for k in counts}

    def logs(rows: Array) -> list[float]:
        found = []
        for k in counts:
            one = np.zeros(len(rows), np.intp)
            labels = one if k == 1 else labels_of(with_settings(models[k], n_init=1), rows)
            found.append(float(np.log(max(distortion(rows, labels), np.finfo(float).tiny))))
        return found

    own = np.array(logs(X))
    even = np.array([logs(rng.uniform(low, high, turned.shape) @ V) for _ in range(REFERENCES)])
    error = even.std(axis=0) * np.sqrt(1 + 1 / REFERENCES)
    gap = even.mean(axis=0) - own
    good = [counts[i] for i in range(len(counts) - 1) if gap[i] >= gap[i + 1] - error[i + 1]]
    rest = (even.sum(axis=0) - even) / (REFERENCES - 1)  # mean of the other references
    rise = (gap[1:] - gap[0]).max()
    rises = ((rest - even)[:, 1:] - (rest - even)[:, :1]).max(axis=1)
    return Gap(gap, error, good[0] if good else counts[-1], bool(rise > rises.max()))


def best_of(counts: list[int], values: Array, *, largest: bool) -> int | None:
    """The k of the best value, the smaller one on ties; None if none is defined."""
    if np.isnan(values).all():
        return None
    return counts[int(np.nanargmax(values) if largest else np.nanargmin(values))]


def local_maxima(counts: Array, values: Array, least: float) -> list[int]:
    """The k of at least this value that beat k - 1 and k + 1; not the last, which may still rise.

    >>> local_maxima(np.arange(1, 6), np.array([np.nan, 0.8, 0.6, 0.7, 0.5]), 0.5)
    [2, 4]
    """
    v = np.where(np.isnan(values), -np.inf, values)
    peak = (v[1:-1] > v[:-2]) & (v[1:-1] > v[2:]) & (v[1:-1] >= least)
    first = len(v) > 1 and v[0] > v[1] and v[0] >= least
    return [int(k) for k in counts[np.append(first, np.append(peak, False))[: len(v)]]]


def most_stable(counts: list[int], values: Array) -> int | None:
    """The largest k as stable as any, None if none is.

    >>> most_stable([1, 2, 3, 4], np.array([np.nan, 0.99, 1.0, 0.6]))
    3
    """
    if np.isnan(values).all() or np.nanmax(values) < STABLE:
        return None
    good = np.flatnonzero(values >= np.nanmax(values) - AS_STABLE)
    return counts[int(good[-1])]


def within_one_error(counts: list[int], mean: Array, error: Array) -> int:
    """The smallest k whose held-out error is within one standard error of the least."""
    return counts[one_standard_error(mean, error, counts, greater_is_better=False)]


def elbow_of(fits: list[Fitted]) -> ElbowResult:
    """The elbow of J."""
    return elbow([fit.inertia for fit in fits], [fit.k for fit in fits])
