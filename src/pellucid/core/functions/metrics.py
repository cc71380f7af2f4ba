r"""Metrics as a search sees them: rows are mapped so that a Minkowski sum decides who is nearer.

    d(a, b) = finish( sum_t |f(a)_t - f(b)_t|^order )

    minkowski(p, w)   f(a) = w^(1/p) a            order p      finish = p-th root
    seuclidean        f(a) = a / sqrt(V)          order 2      root
    mahalanobis       f(a) = L'a, S^-1 = LL'      order 2      root (none if ``squared``)
    cosine            f(a) = a / |a|              order 2      half
    correlation       the same after centring each row by its own mean

Others (hamming, jaccard, canberra, gower, ...; callables; precomputed) are computed pair by pair.
A row of zeros has no direction: its cosine distance to every row is 1, with a warning.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, MaybeArray
from pellucid.core.functions.dissimilarities import BINARY, FURTHER, pairwise_binary
from pellucid.core.functions.distances import pairwise_canberra, pairwise_hamming
from pellucid.core.functions.gower import Gower, column_mask, known_ranges, pairwise_gower
from pellucid.core.runtime.warn import warn

ALIASES = {"l1": "manhattan", "cityblock": "manhattan", "l2": "euclidean", "p": "minkowski"}
ALIASES["infinity"] = "chebyshev"
ORDERS = {"euclidean": 2.0, "sqeuclidean": 2.0, "manhattan": 1.0, "chebyshev": np.inf}
MAPPED = ("minkowski", "seuclidean", "mahalanobis", "cosine", "correlation", *ORDERS)
LEAST_EXPONENT = -1074  # of a power of 2 that is a number
MOST_ORDER = 20  # up to which |a - b|^order keeps what is an epsilon of the largest difference
NAMES = (*MAPPED, "hamming", "canberra", "gower", *BINARY, *FURTHER, "precomputed")


class Minkowski(BaseEstimator):
    """(sum_t w_t |a_t - b_t|^p)^(1/p), a value for ``metric=``.

    Parameters
    ----------
    p : float, default=2
        The order, ``> 0``; infinity is the largest difference. Below 1 it is no metric.
    w : array of shape (n_features,), default=None
        Weights of the columns, ``>= 0``; None: all 1.

    Examples
    --------
    >>> from pellucid.neighbors import Minkowski, pairwise_distances
    >>> pairwise_distances([[0.0, 0.0]], [[3.0, 4.0]], metric=Minkowski(1, w=[2, 1]))
    array([[10.]])
    """

    def __init__(self, p: float = 2, w: MaybeArray = None) -> None:
        self.p = p
        self.w = w


class Mahalanobis(BaseEstimator):
    """sqrt((a - b)' S^-1 (a - b)), a value for ``metric=``.

    Parameters
    ----------
    covariance : array of shape (n_features, n_features), default=None
        S; None: the covariance of the training rows, with 1 / (n - 1). Where S is singular its
        pseudo-inverse is taken, with a warning.
    squared : bool, default=False
        Leave the root away, as some courses do; that is not a metric.

    Examples
    --------
    >>> from pellucid.neighbors import Mahalanobis, pairwise_distances
    >>> pairwise_distances([[0.0, 0.0]], [[3.0, 4.0]], metric=Mahalanobis([[9.0, 0], [0, 4.0]]))
    array([[2.23606798]])
    """

    def __init__(self, covariance: MaybeArray = None, squared: bool = False) -> None:
        self.covariance = covariance
        self.squared = squared


class Metric(NamedTuple):
    """What a search needs to know; ``order`` is None where only ``pairwise`` exists."""

    name: str
    order: float | None
    embed: Callable[[Array], Array] | None = None  # None: the rows as they are
    power: float = 1.0  # distance = factor * reduced ** power
    factor: float = 1.0
    pairwise: Callable[[Array, Array], Array] | None = None
    directions: bool = False  # rows of zeros have distance 1 to every row

    def finish(self, values: Array) -> Array:
        """Distances from reduced ones."""
        if self.power == 0.5:
            values = np.sqrt(values)
        elif self.power != 1.0:
            values = values**self.power
        return values if self.factor == 1.0 else self.factor * values


def scale_columns(X: Array, *, scale: Array) -> Array:
    return X * scale


def rotate_rows(X: Array, *, L: Array) -> Array:
    """X @ L, every row by itself, so that equal rows stay equal whoever stands beside them."""
    out = np.zeros((len(X), L.shape[1]))
    for t in range(L.shape[0]):
        out += X[:, t : t + 1] * L[t]
    return out


def directions(X: Array, *, centre: bool) -> Array:
    """Rows of length 1, centred first if asked; rows of zeros stay zero."""
    if centre:
        X = X - X.mean(axis=1, keepdims=True)
        X = np.where(np.abs(X) <= 1e-15 * np.abs(X).max(axis=1, keepdims=True), 0.0, X)
    largest = np.abs(X).max(axis=1, keepdims=True)
    X = X / np.where(largest > 0, largest, 1.0)
    length = np.sqrt((X * X).sum(axis=1, keepdims=True))
    return X / np.where(length > 0, length, 1.0)


def column_weights(w: MaybeArray, d: int) -> Array:
    w = np.asarray(w, dtype=np.float64)
    if w.shape != (d,) or not (w >= 0).all() or not np.isfinite(w).all():
        raise ValueError(f"w must hold {d} finite numbers >= 0, one per column, got {w.tolist()}")
    return w


def minkowski(p: float, w: MaybeArray = None, X: Any = None) -> Metric:
    """The metric of order p with column weights w; X are the training rows.

    Powers beyond squares would overflow or vanish in many a unit: rows are measured in one, a power
    of 2, in which the largest difference in a column of X is about 1.

    >>> minkowski(2).power, minkowski(3, X=np.array([[0.0], [1000.0]])).factor
    (0.5, 1024.0)
    """
    check.positive(p=p)
    if w is not None:
        w = column_weights(w, X.shape[1])
        w = w if np.isinf(p) else w ** (1 / p)
    if p in (1, 2, np.inf):
        embed = None if w is None else partial(scale_columns, scale=w)
        return Metric("minkowski", float(p), embed, 1.0 if np.isinf(p) else 1.0 / p)
    factor = 1.0 if X is None else unit_of(X)
    if p > MOST_ORDER:
        lost = f"below {2 ** (LEAST_EXPONENT / p):.2g} of the largest count as 0"
        warn(f"Minkowski's order is {p:g}: differences {lost}; order inf takes the largest alone")
    scale = np.asarray(1.0 if w is None else w) / factor
    embed = partial(scale_columns, scale=scale)
    return Metric("minkowski", float(p), embed, 1.0 / p, factor)


def unit_of(X: Any) -> float:
    """The power of 2 just above the largest difference in a column; 1 where there is none.

    >>> unit_of(np.array([[1.0, 5.0], [4.0, 5.0]]))
    4.0
    """
    high, low = X.max(axis=0), X.min(axis=0)
    if issparse(X):
        high, low = high.toarray(), low.toarray()
    half = float((0.5 * high - 0.5 * low).max())
    return float(2.0 ** np.clip(np.frexp(half)[1] + 1, -1000, 1000)) if half else 1.0


def inverse_root(S: Array) -> Array:
    """L with LL' = S^-1; the pseudo-inverse, warned, where S is singular."""
    values, vectors = np.linalg.eigh(0.5 * (S + S.T))
    keep = values > 1e-12 * max(values.max(), 0.0)
    if values.min() < -1e-8 * abs(values).max():
        least = f"an eigenvalue {values.min():.6g}"
        raise ValueError(f"covariance must be positive semi-definite, got {least}")
    if not keep.all():
        rank = f"rank {int(keep.sum())} of {len(S)}"
        warn(f"the covariance is singular ({rank}): mahalanobis uses its pseudo-inverse")
    return vectors[:, keep] / np.sqrt(values[keep])


def mahalanobis(S: MaybeArray, d: int, squared: bool = False) -> Metric:
    """The metric of a covariance matrix.

    >>> mahalanobis(np.eye(2), 2).order
    2.0
    """
    S = np.atleast_2d(np.asarray(S, dtype=np.float64))
    if S.shape != (d, d) or not np.isfinite(S).all():
        raise ValueError(f"covariance must be a finite {d} x {d} matrix, got shape {S.shape}")
    check.boolean(squared=squared)
    embed = partial(rotate_rows, L=inverse_root(S))
    return Metric("mahalanobis", 2.0, embed, 1.0 if squared else 0.5)


def by_callable(A: Array, B: Array, *, function: Callable[..., float], keywords: dict) -> Array:
    out = np.empty((len(A), len(B)))
    for i, a in enumerate(A):
        for j, b in enumerate(B):
            out[i, j] = function(a, b, **keywords)
    if np.isnan(out).any():
        raise ValueError("the metric gave NaN; a callable metric must return a number")
    return out


def training_covariance(X: Array, w: Array | None = None) -> Array:
    """The covariance of the rows with 1 / (n - 1); a weight is a number of repetitions."""
    w = np.ones(len(X)) if w is None else w
    if w.sum() <= 1:
        raise ValueError("mahalanobis needs a covariance, or at least 2 rows to estimate one")
    C = X - w @ X / w.sum()
    return (C.T * w) @ C / (w.sum() - 1)


def training_variance(X: Array, w: Array | None = None) -> Array:
    if len(X) < 2:
        raise ValueError("seuclidean needs V, or at least 2 rows to estimate the variances")
    if w is None:
        return X.var(axis=0, ddof=1)
    C = X - w @ X / w.sum()
    return w @ (C * C) / (w.sum() - 1)


def settled(metric: object, X: Array, w: Array | None = None) -> tuple[Any, dict[str, Any]]:
    """The metric with what it takes from the training rows filled in, for use on fewer rows.

    >>> settled("euclidean", np.zeros((2, 1)))
    ('euclidean', {})
    """
    if isinstance(metric, str) and metric == "seuclidean":
        return metric, {"V": training_variance(X, w)}
    if isinstance(metric, str) and metric == "mahalanobis":
        return Mahalanobis(training_covariance(X, w)), {}
    if isinstance(metric, Mahalanobis) and metric.covariance is None:
        return Mahalanobis(training_covariance(X, w), metric.squared), {}
    if isinstance(metric, str) and metric == "gower":
        return Gower(ranges=known_ranges(None, X)), {}
    if isinstance(metric, Gower):
        return Gower(metric.categorical, known_ranges(metric.ranges, X), metric.w), {}
    return metric, {}


def warn_of_two_orders(p: float | None, keywords: dict | None) -> None:
    """Say which order counts where a model has one and its ``metric_params`` another."""
    if keywords and "p" in keywords and p is not None:
        what = "Parameter p is found in metric_params"
        warn(f"{what}. The corresponding parameter from __init__ is ignored.", SyntaxWarning)


def resolve(metric: Any, X: Array, p: Any = 2, keywords: dict | None = None) -> Metric:
    """The Metric of a ``metric=`` parameter; X are the training rows.

    >>> resolve("cityblock", np.zeros((1, 2))).order
    1.0
    """
    keywords = dict(keywords or {})
    d = X.shape[1]
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, Minkowski):
        return minkowski(metric.p, metric.w, X)
    if isinstance(metric, Mahalanobis):
        S = training_covariance(X) if metric.covariance is None else metric.covariance
        return mahalanobis(S, d, metric.squared)
    if isinstance(metric, Gower):
        return gower(metric, X)
    if not isinstance(metric, str):
        return foreign(metric, keywords)
    name = ALIASES.get(metric, metric)
    check.one_of(NAMES, metric=name)
    if name == "minkowski":
        order = keywords.get("p", 2 if p is None else p)
        return minkowski(order, keywords.get("w"), X)
    if name in ORDERS:
        power = 0.5 if name == "euclidean" else 1.0
        return Metric(name, ORDERS[name], None, power)
    if name == "seuclidean":
        return standardised(keywords.get("V"), X)
    if name == "mahalanobis":
        return by_inverse(keywords, X)
    if name == "gower":
        return gower(Gower(**{k: v for k, v in keywords.items() if k != "p"}), X)
    return of_name(name)


def gower(metric: Gower, X: Array) -> Metric:
    """Gower's distance with the ranges of the training rows."""
    d = X.shape[1]
    kinds = {"categorical": column_mask(metric.categorical, d)}
    kinds["ranges"] = known_ranges(metric.ranges, X)
    w = np.ones(d) if metric.w is None else column_weights(metric.w, d)
    if not w.any():
        raise ValueError("gower needs a column of positive weight, all of w are 0")
    return Metric("gower", None, pairwise=partial(pairwise_gower, **kinds, w=w))


def foreign(metric: object, keywords: dict) -> Metric:
    """A callable of two rows, or an object with ``pairwise(A, B)`` (scikit-learn's)."""
    if hasattr(metric, "pairwise"):
        return Metric(type(metric).__name__, None, pairwise=metric.pairwise)
    if not callable(metric):
        raise ValueError(f"metric must be a name, a function or a record, got {metric!r}")
    pairwise = partial(by_callable, function=metric, keywords=keywords)
    return Metric(getattr(metric, "__name__", "callable"), None, pairwise=pairwise)


def standardised(V: MaybeArray, X: Array) -> Metric:
    V = training_variance(X) if V is None else np.asarray(V, dtype=np.float64)
    if V.shape != (X.shape[1],) or not (V > 0).all():
        given = np.round(V, 6).tolist()
        raise ValueError(f"seuclidean needs {X.shape[1]} variances > 0, got {given}")
    return Metric("seuclidean", 2.0, partial(scale_columns, scale=1 / np.sqrt(V)), 0.5)


def by_inverse(keywords: dict, X: Array) -> Metric:
    """scikit-learn's keywords: VI is the inverse of the covariance V."""
    if keywords.get("VI") is None:
        V = keywords.get("V")
        return mahalanobis(training_covariance(X) if V is None else V, X.shape[1])
    VI = np.asarray(keywords["VI"], dtype=np.float64)
    if VI.shape != (X.shape[1], X.shape[1]):
        raise ValueError(f"VI must be {X.shape[1]} x {X.shape[1]}, got shape {VI.shape}")
    values, vectors = np.linalg.eigh(0.5 * (VI + VI.T))
    if values.min() < -1e-10 * abs(values).max():
        raise ValueError(f"VI must be positive semi-definite, got eigenvalue {values.min():.6g}")
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return Metric("mahalanobis", 2.0, partial(rotate_rows, L=root), 0.5)


def of_name(name: str) -> Metric:
    """Metrics without parameters."""
    if name in ("cosine", "correlation"):
        embed = partial(directions, centre=name == "correlation")
        return Metric(name, 2.0, embed, 1.0, 0.5, directions=True)
    if name in BINARY:
        return Metric(name, None, pairwise=partial(pairwise_binary, name=name))
    further = {**FURTHER, "hamming": pairwise_hamming, "canberra": pairwise_canberra}
    return Metric(name, None, pairwise=further.get(name))


def warn_zero_rows(count: int, name: str) -> None:
    """Say that some rows have no direction."""
    what = "constant" if name == "correlation" else "zero"
    warn(f"{count} row(s) are {what} and have no direction: their {name} distance is taken as 1")
