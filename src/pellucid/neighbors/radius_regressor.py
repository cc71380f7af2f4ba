r"""Regression by the average of all training rows within a radius.

Model        E[y | x] is nearly constant within a distance r; no form is assumed
Prediction   sum_{i: d(x, x_i) <= r} w_i y_i / sum w_i     (squared loss), or their weighted
             median (absolute loss); with weights K(d) this is Nadaraya and Watson's estimate
Spread       sqrt(sum w_i (y_i - mean)^2 / sum w_i) of the neighbours' y
Outliers     a row without neighbours of positive weight is answered NaN, with a warning

References: Nadaraya (1964); Watson (1964).
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn
from pellucid.neighbors.averaging import AveragingModel
from pellucid.neighbors.neighbor_model import METHODS
from pellucid.neighbors.search.radius_search import (
    Found,
    check_radius,
    find,
    pair_weights,
    radius_neighbors,
    radius_neighbors_graph,
)


def local_means(values: Array, weights: Array | None, found: Found) -> Array:
    """Weighted means (m, outputs) of values (pairs, outputs); NaN without neighbours.

    >>> pairs = Found(2, np.array([0, 0]), np.ones(2), np.arange(2))
    >>> local_means(np.array([[1.0], [4.0]]), np.array([2.0, 1.0]), pairs)
    array([[ 2.],
           [nan]])
    """
    mass = found.total(weights)
    mass = np.where(mass > 0, mass, np.nan)
    parts = (v if weights is None else weights * v for v in values.T)
    return np.column_stack([found.total(v) / mass for v in parts])


def local_medians(values: Array, weights: Array | None, found: Found) -> Array:
    """Weighted medians (m, outputs); the midpoint where half is met exactly.

    >>> pairs = Found(1, np.zeros(4, int), np.ones(4), np.arange(4))
    >>> local_medians(np.array([[1.0], [3.0], [2.0], [8.0]]), None, pairs)
    array([[2.5]])
    """
    w = np.ones(len(found.query)) if weights is None else weights
    mass, first = found.total(w), found.first
    half, q = 0.5 * mass, found.query
    out = np.full((found.n_queries, values.shape[1]), np.nan)
    there = mass > 0
    for j, v in enumerate(values.T):
        order = np.lexsort((v, q))
        passed = np.cumsum(w[order], dtype=np.longdouble)  # over all queries: digits to spare
        passed -= np.append(np.longdouble(0), passed)[first[:-1]][q]  # summed within the query
        low = first[:-1] + found.total(passed < half[q] * (1 - 1e-12)).astype(np.intp)
        high = first[:-1] + found.total(passed <= half[q] * (1 + 1e-12)).astype(np.intp)
        high = np.minimum(high, first[1:] - 1)
        out[there, j] = 0.5 * (v[order][low[there]] + v[order][high[there]])
    return out


class PairValues(NamedTuple):
    """The numbers of the rows near each of m queries."""

    values: Array  # (pairs, outputs)
    weights: Array | None  # (pairs,)
    found: Found

    def mean(self) -> Array:
        return local_means(self.values, self.weights, self.found)

    def median(self) -> Array:
        return local_medians(self.values, self.weights, self.found)

    def spread(self) -> Array:
        away = self.values - self.mean()[self.found.query]
        return np.sqrt(local_means(away**2, self.weights, self.found))


class RadiusNeighborsRegressor(AveragingModel):
    """Regression by the average of all training rows within a radius.

    Every ``algorithm`` and number of threads gives the same answer. y may have several columns.
    A row without neighbours is answered NaN, with a warning.

    Parameters
    ----------
    radius : float, default=1.0
        How far a row may be to count, ``>= 0``.
    weights : str, callable or None, default='uniform'
        'uniform' (None); 'distance': 1/d; 'similarity' and the names of similarities as in
        KNeighborsClassifier; or a function of the array of distances of one query's neighbours.
    algorithm : {'auto', 'brute', 'kd_tree', 'ball_tree'}, default='auto'
        How to search; see NearestNeighbors.
    leaf_size : int, default=30
        Rows in a leaf of the tree at most; it never holds more than 16.
    p : float, default=2
        The order of 'minkowski', ``> 0``.
    metric : str, callable, Minkowski, Mahalanobis or Gower, default='minkowski'
        A name (see ``pairwise_distances``), a function of two rows, or 'precomputed'.
    metric_params : dict, default=None
        Further keywords of the metric: w, V, VI, or those of a callable.
    n_jobs : int, default=None
        Threads; None and -1: all that the library may use. The answer is the same.
    average : {'mean', 'median'}, default='mean'
        What is best for squared loss, or for absolute loss.

    Attributes
    ----------
    effective_metric_, effective_metric_params_ : the metric in use, as scikit-learn names it
    n_samples_fit_ : int
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from pellucid import RadiusNeighborsRegressor
    >>> model = RadiusNeighborsRegressor(1.0).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> model.predict([[1.5]])
    array([0.5])
    """

    _answers_nonfinite = True  # where no row is near; it warns itself

    radius_neighbors = radius_neighbors
    radius_neighbors_graph = radius_neighbors_graph

    def __init__(
        self,
        radius: float = 1.0,
        *,
        weights: str | Callable[[Array], Array] | None = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float | None = 2,
        metric: str | Callable[..., float] | BaseEstimator = "minkowski",
        metric_params: dict | None = None,
        n_jobs: int | None = None,
        average: str = "mean",
    ) -> None:
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.average = average

    def _check_question(self) -> None:
        check.one_of(METHODS, algorithm=self.algorithm)
        check_radius(self)
        check.non_negative(radius=self.radius)

    def _local(self, X: ArrayLike, y: Array) -> Iterator[PairValues]:
        for Q, found in find(self, X):
            w = pair_weights(self.weights, self.metric, Q, self._fit_X, found)
            yield PairValues(y.take(found.row, axis=0), w, found)

    def _warn_alone(self, answer: Array) -> None:
        alone = np.isnan(answer[:, 0])
        if alone.any():
            warn(
                "One or more samples have no neighbors within specified radius; predicting NaN. "
                f"{int(alone.sum())} rows, the first is row {int(alone.argmax())}, have none "
                f"within radius={self.radius:g}"
            )

    def card(self) -> Card:
        """What decides a prediction, with the numbers of this fit."""
        check_is_fitted(self)
        loss = "squared" if self.average == "mean" else "absolute"
        return self._card(
            f"the {self.average} of those within {self.radius:g} (lazy, instance-based, local; no "
            "form assumed)",
            f"{loss} loss near each row,",
            "without neighbours: NaN, with a warning",
            "exact",
            {"radius": self.radius, **self._spreads()},
        )
