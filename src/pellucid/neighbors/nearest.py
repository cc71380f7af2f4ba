"""Searching without a target: the nearest rows, or all rows within a radius.

The search itself is in ``search`` and its kernels; this is the shell.
"""

from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.core import check
from pellucid.core.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.typing import Array, IntArray
from pellucid.neighbors.base import NeighborsModel, jobs


def ragged(values: Any, first: IntArray) -> Any:
    """An array of arrays: values cut at ``first``."""
    out = np.empty(len(first) - 1, dtype=object)
    for i in range(len(out)):
        out[i] = values[first[i] : first[i + 1]]
    return out


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
    metric : str, callable, Minkowski or Mahalanobis, default='minkowski'
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

    def __init__(
        self,
        *,
        n_neighbors: Any = 5,
        radius: float | None = 1.0,
        algorithm: Any = "auto",
        leaf_size: int = 30,
        metric: Any = "minkowski",
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
    def fit(self, X: Any, y: Any = None) -> Self:
        self._check_parameters()
        if self.radius is not None:
            check.non_negative(radius=self.radius)
        rows = self._check_training(X)
        context = FitContext(self, X=rows.X)
        self._set_rows(rows.X)
        context.end()
        return self

    def radius_neighbors(
        self, X: Any = None, radius: Any = None, return_distance: bool = True,
        sort_results: bool = False,
    ) -> Any:  # fmt: skip
        """Arrays of distances and indices of all rows within the radius, one pair per query.

        They come by index, or nearest first with ``sort_results``; X None: the training rows, a
        row not being its own neighbour.
        """
        check_is_fitted(self)
        radius = self.radius if radius is None else radius
        check.non_negative(radius=radius)
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True")
        first, distance, index = self._within(X, float(radius))
        if sort_results:
            row = np.repeat(np.arange(len(first) - 1), np.diff(first))
            order = np.lexsort((index, distance, row))
            distance, index = distance[order], index[order]
        if not return_distance:
            return ragged(index, first)
        return ragged(distance, first), ragged(index, first)

    def _within(self, X: Any, radius: float) -> tuple[IntArray, Array, IntArray]:
        Q = self._fit_X if X is None else self._check_questions(X)
        with jobs(self.n_jobs):
            first, distance, index = self._index.within(Q, np.full(Q.shape[0], radius))
        if X is None:
            row = np.repeat(np.arange(len(first) - 1), np.diff(first))
            other = index != row
            count = np.bincount(row[other], minlength=len(first) - 1)
            first = np.append(0, np.cumsum(count))
            distance, index = distance[other], index[other]
        return first, distance, index

    def radius_neighbors_graph(
        self, X: Any = None, radius: Any = None, mode: str = "connectivity",
        sort_results: bool = False,
    ) -> csr_matrix:  # fmt: skip
        """A sparse matrix (queries, training rows) of ones, or of distances."""
        check.one_of(("connectivity", "distance"), mode=mode)
        distance, index = self.radius_neighbors(X, radius, sort_results=sort_results)
        first = np.append(0, np.cumsum([len(row) for row in index]))
        columns = np.concatenate(list(index))
        values = np.concatenate(list(distance)) if mode == "distance" else np.ones(len(columns))
        return csr_matrix((values, columns, first), shape=(len(index), self.n_samples_fit_))

    def card(self) -> Card:
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
