r"""Divisive clustering (DIANA): one cluster is split, and split again, until every row is alone.

Model        a tree; cutting it leaves k clusters, for any k
Evaluation   the cluster of largest diameter, max d(x, y), is split next (ties: the earlier one)
Split        a splinter group starts with the member of largest mean distance to the others; the
             member that is nearer on average to the splinter than to the rest, by the most, joins
             it, until there is none. Ties go to the lower row
Coefficient  mean over rows of 1 - d_i / d, d_i the diameter of the cluster that the row leaves to
             be alone, d that of all rows: near 1 where there are clear groups
Cost         O(m^2) to split m rows: O(n^2) times the depth of the tree; 8 n^2 bytes, announced

A part never has a larger diameter than the whole, so heights fall from split to split.

References: Kaufman & Rousseeuw (1990), chapter 6; Macnaughton-Smith et al. (1964).
"""

from functools import partial
from typing import NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.cluster.dissimilarity import MetricLike, attributes_of, distances_of
from pellucid.cluster.hierarchy.cuts import Hierarchical, cophenetic_correlation, sampled_rows
from pellucid.cluster.hierarchy.kernels.divisive import split_all
from pellucid.cluster.hierarchy.linkage import MergeTree
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, MaybeArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card


class DivisiveFit(NamedTuple):
    """The splits backwards, as merges; the coefficient."""

    tree: MergeTree
    coefficient: float


def fit_divisive(D: Array) -> DivisiveFit:
    """Split the rows of a distance matrix.

    >>> x = np.array([0.0, 1, 2, 10, 11, 20])
    >>> fit_divisive(abs(x[:, None] - x)).tree.heights[::-1]
    array([20., 11.,  2.,  1.,  1.])
    """
    n = len(D)
    bounds, splits = np.zeros((2 * n - 1, 2), np.int64), np.zeros((n - 1, 3), np.int64)
    heights, members = np.zeros(n - 1), np.arange(n)
    split_all(np.require(D, np.float64, ["C", "W"]), bounds, heights, splits, members)
    node = node_numbers(bounds, splits, members)
    children = np.sort(node[splits[::-1, 1:]], axis=1)
    sizes = (bounds[:, 1] - bounds[:, 0])[splits[::-1, 0]]
    tree = MergeTree(np.ascontiguousarray(children), heights[::-1].copy(), sizes)
    return DivisiveFit(tree, coefficient_of(tree))


def node_numbers(bounds: IntArray, splits: IntArray, members: IntArray) -> IntArray:
    """Which node each cluster is: a row, or n + k for the k-th merge (the last split is first)."""
    n = len(members)
    node = np.empty(2 * n - 1, np.int64)
    alone = bounds[:, 1] - bounds[:, 0] == 1
    node[alone] = members[bounds[alone, 0]]
    node[splits[:, 0]] = 2 * n - 2 - np.arange(n - 1)
    return node


def coefficient_of(tree: MergeTree) -> float:
    """Mean of 1 - (diameter that a row leaves to be alone) / (diameter of all); 0 if that is 0.

    >>> tree = MergeTree(np.array([[0, 1], [2, 3]]), np.array([1.0, 4.0]), np.array([2, 3]))
    >>> coefficient_of(tree)
    0.5
    """
    n, top = len(tree.heights) + 1, float(tree.heights.max())
    left = np.empty(2 * n - 1)
    left[tree.children] = tree.heights[:, None]
    return float(np.mean(1.0 - left[:n] / top)) if top > 0 else 0.0


class DivisiveClustering(Hierarchical):
    """Clusters by splitting (DIANA), with the whole tree of splits.

    Parameters
    ----------
    n_clusters : int or None, default=2
        None where ``distance_threshold`` is given.
    metric : str or callable, default="euclidean"
        Any of ``pellucid.neighbors.pairwise_distances``, ``"precomputed"``, a function of two rows
        or of the whole table.
    distance_threshold : float, default=None
        Clusters of this diameter or more are split.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Numbered by first row.
    heights_ : ndarray of shape (n_samples - 1,)
        Diameters of the clusters, in the order in which they were split: falling.
    children_ : ndarray of shape (n_samples - 1, 2)
        The splits backwards, as merges: merge k joins these nodes to node n_samples + k.
    distances_ : ndarray of shape (n_samples - 1,)
        ``heights_`` backwards, one per merge.
    linkage_matrix_ : ndarray of shape (n_samples - 1, 4)
        The same as SciPy writes trees.
    divisive_coefficient_ : float
    n_clusters_, n_leaves_ : int
    cophenetic_correlation_ : float

    Examples
    --------
    >>> from pellucid import DivisiveClustering
    >>> model = DivisiveClustering(3).fit([[0], [1], [2], [10], [11], [20]])
    >>> model.heights_, model.labels_
    (array([20., 11.,  2.,  1.,  1.]), array([0, 0, 0, 1, 1, 2]))
    """

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        metric: MetricLike = "euclidean",
        distance_threshold: float | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.distance_threshold = distance_threshold

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None) -> Self:
        """Split X down to its rows, and cut the tree."""
        self._check_cut()
        rows = self._table(X)
        context = FitContext(self, X=X, attributes=partial(attributes_of, self))
        D = distances_of(rows, self.metric, type(self).__name__)
        if not np.isfinite(D).all():
            raise ValueError("the distances of X overflow or are infinite: scale its columns down")
        tree, self.divisive_coefficient_ = fit_divisive(D)
        self.children_, self.distances_, self.n_leaves_ = tree.children, tree.heights, len(rows)
        self.heights_ = tree.heights[::-1].copy()
        self.labels_ = self._labels()
        self.n_clusters_ = int(self.labels_.max()) + 1
        chosen = sampled_rows(len(rows))
        between = D[np.ix_(chosen, chosen)]
        self.cophenetic_correlation_ = cophenetic_correlation(tree, chosen, between)
        context.end()
        return self

    def card(self) -> Card:
        """What was split, by what rule, and how clear the groups are."""
        check_is_fitted(self)
        k = self.n_clusters_
        below = float(self.heights_[k - 1]) if k <= len(self.heights_) else 0.0
        return Card(
            f"a tree of {self.n_leaves_} rows, cut into {k} clusters",
            "the cluster of largest diameter is split next (greedy: no split is undone)",
            "DIANA: a splinter group from the most distant member takes those that are nearer to "
            "it than to the rest; ties go to the lower row",
            {
                "clusters": k,
                "diameter of all": float(self.heights_[0]),
                "largest diameter left": below,
                "divisive coefficient": self.divisive_coefficient_,
                "cophenetic correlation": self.cophenetic_correlation_,
            },
        )
