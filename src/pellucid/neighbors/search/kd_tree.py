r"""A kd-tree to ask directly, without a model around it.

Each node cuts its rows at the median of the widest column; a search descends to the query's leaf,
then looks at another branch only if the bound on its distance does not exceed the k-th best so
far (branch and bound). Built in O(n log n), asked in about O(log n) while columns are few.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.compiled.distances.search import Index
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.readable import readable
from pellucid.neighbors.search.metrics import resolve
from pellucid.neighbors.search.radius_search import ragged
from pellucid.neighbors.search.similarities import matrix


@readable
class TreeStats(NamedTuple):
    """The size of a tree, and what the last query looked at.

    >>> from pellucid.neighbors import KDTree
    >>> KDTree([[0.0], [1.0], [5.0]], leaf_size=1).stats().nodes
    7
    """

    rows: int  # stored
    nodes: int  # inner nodes and leaves
    leaves: int  # of at most ``leaf_size`` rows
    depth: int  # levels
    leaves_visited: int  # by the last query
    points_visited: int  # by the last query


class KDTree:
    """A tree over rows that finds the nearest ones.

    Parameters
    ----------
    X : array of shape (n, p)
        The rows to search.
    leaf_size : int, default=40
        Rows in a leaf at most; it never holds more than 16.
    metric : str, Minkowski or Mahalanobis, default='minkowski'
        Of Minkowski's form after a map of the rows; not hamming, jaccard and the like.
    p : float, default=2
        The order of 'minkowski'.

    Examples
    --------
    >>> from pellucid.neighbors import KDTree
    >>> tree = KDTree([[0.0, 0.0], [3.0, 4.0], [1.0, 1.0]], leaf_size=1)
    >>> tree.query([[0.0, 0.0]], k=2)
    (array([[0.        , 1.41421356]]), array([[0, 2]]))
    """

    def __init__(
        self,
        X: ArrayLike,
        *,
        leaf_size: int = 40,
        metric: str | BaseEstimator = "minkowski",
        p: float = 2,
    ) -> None:
        check.whole(leaf_size=leaf_size)
        rows = matrix(X, "X")
        if not len(rows):
            raise ValueError("X has no rows: at least one is needed")
        found = resolve(metric, rows, p)
        if found.order is None:
            raise ValueError(f"a kd-tree needs a metric of Minkowski's form, got {metric!r}")
        self.n_features = rows.shape[1]
        self._index = Index(rows, found, "kd_tree", leaf_size)

    def _queries(self, X: ArrayLike) -> Array:
        Q = matrix(X, "X")
        if Q.shape[1] != self.n_features:
            raise ValueError(f"X has {Q.shape[1]} columns, the tree {self.n_features}")
        return Q

    def query(self, X: ArrayLike, k: int = 1) -> tuple[Array, IntArray]:
        """Distances and indices of the k nearest rows, nearest first, ties by lower index."""
        check.whole(k=k)
        if k > self._index.n_rows:
            raise ValueError(f"k must be at most {self._index.n_rows}, the number of rows, got {k}")
        return self._index.nearest(self._queries(X), k)

    def query_radius(self, X: ArrayLike, r: ArrayLike) -> tuple[Any, Any]:
        """Distances and indices of all rows within r (a number, or one per query), by index.

        >>> KDTree([[0.0], [1.0], [5.0]]).query_radius([[0.2]], 1.0)[1][0]
        array([0, 1])
        """
        Q = self._queries(X)
        radius = np.asarray(r, dtype=np.float64)
        if radius.shape not in ((), (len(Q),)) or not (radius >= 0).all():
            raise ValueError(f"r must be one number >= 0, or one for each of {len(Q)} queries")
        first, distance, index = self._index.within(Q, np.broadcast_to(radius, len(Q)).copy())
        return ragged(distance, first), ragged(index, first)

    def stats(self) -> TreeStats:
        """Nodes of the tree, and leaves and rows that the last ``query`` looked at."""
        leaves = len(self._index.tree.axis)
        visited = self._index.visited
        rows = round(visited * self._index.n_rows / leaves)  # leaves differ by one row at most
        n, depth = self._index.n_rows, leaves.bit_length()
        return TreeStats(n, 2 * leaves - 1, leaves, depth, visited, rows)
