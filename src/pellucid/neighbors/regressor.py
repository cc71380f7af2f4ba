r"""k-nearest-neighbour regression: the average of the closest examples.

Model        E[y | x] is nearly constant near x; no form is assumed
Prediction   sum_{i in N_k(x)} w_i y_i / sum w_i          (squared loss), or their weighted
             median (absolute loss); an even count of equal weights gives the midpoint
Spread       sqrt(sum w_i (y_i - mean)^2 / sum w_i) of the neighbours' y
Search       see ``search``.
"""

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.quantiles import weighted_median
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.records import Card
from pellucid.neighbors.averaging import AveragingModel
from pellucid.neighbors.search.lsh import LSHIndex
from pellucid.neighbors.search.nearest_search import answers, edge, kneighbors, kneighbors_graph
from pellucid.neighbors.search.weights import neighbour_weights


def weighted_mean(values: Array, weights: Array | None) -> Array:
    """Over axis 1 of values (m, k, outputs).

    >>> weighted_mean(np.array([[[1.0], [4.0]]]), np.array([[2.0, 1.0]]))
    array([[2.]])
    """
    if weights is None:
        return values.mean(axis=1)
    total = weights.sum(axis=1)[:, None]
    return np.einsum("mk,mko->mo", weights, values) / total


class NearValues(NamedTuple):
    """The numbers of the k nearest rows of m queries."""

    values: Array  # (m, k, outputs)
    weights: Array | None  # (m, k)

    def mean(self) -> Array:
        return weighted_mean(self.values, self.weights)

    def median(self) -> Array:
        return weighted_median(self.values, self.weights, axis=1)

    def spread(self) -> Array:
        away = self.values - self.mean()[:, None, :]
        return np.sqrt(weighted_mean(away**2, self.weights))


class KNeighborsRegressor(AveragingModel):
    """Regression by the average of the nearest training rows.

    Every ``algorithm`` and number of threads gives the same neighbours: rows at equal distance
    come in the order of the training table. y may have several columns.

    Parameters
    ----------
    n_neighbors : int or 'all', default=5
        Rows that are averaged; 'all': the whole training set (then weights matter).
    weights : str, callable or None, default='uniform'
        'uniform' (None); 'distance': 1/d; 'similarity' and the names of similarities as in
        KNeighborsClassifier; or a function of an array of distances.
    algorithm : {'auto', 'brute', 'kd_tree', 'ball_tree'} or LSHIndex, default='auto'
        How to search; see NearestNeighbors. An LSHIndex is approximate.
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
    >>> from pellucid import KNeighborsRegressor
    >>> X, y = [[1], [2], [4], [7]], [1, 3, 2, 8]
    >>> KNeighborsRegressor(2, weights="distance").fit(X, y).predict([[3.4]]).round(6)
    array([2.3])
    """

    kneighbors = kneighbors
    kneighbors_graph = kneighbors_graph

    def __init__(
        self,
        n_neighbors: int | Literal["all"] = 5,
        *,
        weights: str | Callable[[Array], Array] | None = "uniform",
        algorithm: str | LSHIndex = "auto",
        leaf_size: int = 30,
        p: float | None = 2,
        metric: str | Callable[..., float] | BaseEstimator = "minkowski",
        metric_params: dict | None = None,
        n_jobs: int | None = None,
        average: str = "mean",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.average = average

    def _check_question(self) -> None:
        self._check_parameters()

    def _local(self, X: ArrayLike, y: Array) -> Iterator[NearValues]:
        for Q, distance, index in answers(self, X):
            w = neighbour_weights(self.weights, self.metric, Q, self._fit_X, distance, index)
            yield NearValues(y.take(index, axis=0), w)

    def card(self) -> Card:
        """What decides a prediction, with the numbers of this fit."""
        check_is_fitted(self)
        loss = "squared" if self.average == "mean" else "absolute"
        return self._card(
            f"the {self.average} of its {self.n_neighbors} nearest (lazy, instance-based, local; "
            "no form assumed; consistent as k grows and k/n falls)",
            f"{loss} loss near each row,",
            "no weights of inputs are learned",
            "equal distances in row order",
            {"neighbours": self.n_neighbors, **self._spreads(), **edge(self)},
        )
