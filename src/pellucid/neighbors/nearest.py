"""Searching without a target: the nearest rows, or all rows within a radius.

The search itself is in ``search`` and its kernels; this is the shell.
"""

from collections.abc import Callable
from typing import Literal, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.neighbors.neighbor_model import NeighborsModel
from pellucid.neighbors.search.lsh import LSHIndex
from pellucid.neighbors.search.nearest_search import kneighbors, kneighbors_graph
from pellucid.neighbors.search.radius_search import (
    check_radius,
    radius_neighbors,
    radius_neighbors_graph,
)


class NearestNeighbors(NeighborsModel):
    """Find the nearest training rows of any rows.

    Every ``algorithm`` and number of threads gives the same neighbours: rows at equal distance
    come in the order of the training table.

    Parameters
    ----------
    n_neighbors : int, default=5
        Neighbours that ``kneighbors`` gives; 'all': every row.
    radius : float, default=1.0
        What ``radius_neighbors`` looks within.
    algorithm : {'auto', 'brute', 'kd_tree', 'ball_tree'} or LSHIndex, default='auto'
        How to search. 'auto': a kd-tree for up to 15 columns and metrics of Minkowski's form,
        else all rows in blocks. 'ball_tree' is the kd-tree where there is one, else brute. An
        LSHIndex is approximate.
    leaf_size : int, default=30
        Rows in a leaf of the tree at most; it never holds more than 16. No answer depends on it.
    metric : str, callable, Minkowski, Mahalanobis or Gower, default='minkowski'
        A name (see ``pairwise_distances``), a function of two rows, or 'precomputed'.
    p : float, default=2
        The order of 'minkowski', ``> 0``.
    metric_params : dict, default=None
        Further keywords of the metric: w, V, VI, or those of a callable.
    n_jobs : int, default=None
        Threads; None and -1: all that the library may use. The answer is the same.

    Attributes
    ----------
    effective_metric_, effective_metric_params_ : the metric in use, as scikit-learn names it
    n_samples_fit_ : int
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from pellucid import NearestNeighbors
    >>> model = NearestNeighbors(n_neighbors=2).fit([[0.0], [1.0], [5.0]])
    >>> distance, index = model.kneighbors([[1.2]])
    >>> distance.round(2), index
    (array([[0.2, 1.2]]), array([[1, 0]]))
    """

    _lenient = True
    kneighbors = kneighbors
    kneighbors_graph = kneighbors_graph
    radius_neighbors = radius_neighbors
    radius_neighbors_graph = radius_neighbors_graph

    def __init__(
        self,
        *,
        n_neighbors: int | Literal["all"] = 5,
        radius: float | None = 1.0,
        algorithm: str | LSHIndex = "auto",
        leaf_size: int = 30,
        metric: str | Callable[..., float] | BaseEstimator = "minkowski",
        p: float | None = 2,
        metric_params: dict | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Keep the rows and prepare the search; ``y`` is ignored."""
        check_radius(self)
        rows = self._check_training(X)
        context = FitContext(self, X=rows.X)
        self._set_rows(rows.X)
        context.end()
        return self

    def card(self) -> Card:
        """How rows are found, with the numbers of this fit."""
        check_is_fitted(self)
        return Card(
            "the training rows themselves: a lazy, local, instance-based memory",
            f"nearness is {self.effective_metric_}; equal distances by the order of the rows",
            f"{self._fit_method}, exact" if self._fit_method != "lsh" else "hashing, approximate",
            {
                "rows": self.n_samples_fit_,
                "inputs": self.n_features_in_,
                "neighbours": self.n_neighbors,
                **self._spreads(),
            },
        )
