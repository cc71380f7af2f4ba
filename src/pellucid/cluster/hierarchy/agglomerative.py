r"""Agglomerative clustering: every row is a cluster, and the nearest two merge, again and again.

Model        a tree; cutting it leaves k clusters, for any k
Evaluation   the linkage, a distance of clusters (``linkage.py``), least at every merge: greedy
Algorithm    spanning tree, nearest-neighbour chain or least of nearest, by linkage; the same
             merges as by looking at all pairs again and again, in O(n^2) or less

References: Ward (1963); Lance & Williams (1967); Müllner (2011).
"""

from collections.abc import Callable
from functools import partial
from typing import Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.cluster import dissimilarity
from pellucid.cluster.dissimilarity import MetricLike
from pellucid.cluster.hierarchy import cuts
from pellucid.cluster.hierarchy import linkage as trees
from pellucid.cluster.hierarchy.cuts import Hierarchical
from pellucid.cluster.hierarchy.linkage import MergeTree
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, MaybeArray
from pellucid.core.functions.metrics import resolve
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn

RULES = {"single": "least distance", "complete": "largest distance", "average": "mean distance"}
RULES |= {"weighted": "mean of the parts' distances", "median": "distance of the midpoints"}
RULES |= {"ward": "rise of the sum of squares about the centres"}
RULES |= {"centroid": "distance of the centroids"}
WAYS = {"single": "minimum spanning tree", "ward": "nearest-neighbour chain on centres"}
WAYS |= dict.fromkeys(("centroid", "median"), "least of the nearest centres")


class AgglomerativeClustering(Hierarchical):
    """Clusters by merging, with the whole tree of merges.

    Parameters
    ----------
    n_clusters : int or None, default=2
        None where ``distance_threshold`` is given.
    metric : str or callable, default="euclidean"
        Any of ``pellucid.neighbors.pairwise_distances``, ``"precomputed"``, a function of two rows
        or, as in scikit-learn, of the whole table. ward, centroid and median take "euclidean".
    connectivity : array-like, sparse matrix or callable of X, default=None
        A graph; only neighbours in it may merge (ward, complete, average, single).
    linkage : {"ward", "complete", "average", "single", "weighted", "centroid", "median"}
        Default ``"ward"``.
    distance_threshold : float, default=None
        Clusters at this distance or farther apart are not merged.
    memory, compute_full_tree, compute_distances : ignored
        For compatibility with scikit-learn: the tree is always whole and kept, with distances.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Numbered by first row.
    n_clusters_, n_leaves_, n_connected_components_ : int
    children_ : ndarray of shape (n_samples - 1, 2)
        Merge k joins these two nodes to node n_samples + k.
    distances_ : ndarray of shape (n_samples - 1,)
        Heights of the merges.
    linkage_matrix_ : ndarray of shape (n_samples - 1, 4)
        The same as SciPy writes it.
    cophenetic_correlation_ : float
        Of distances and heights at which rows meet (up to 500 rows); NaN if either is constant.

    Examples
    --------
    >>> from pellucid import AgglomerativeClustering
    >>> model = AgglomerativeClustering(2, linkage="single").fit([[0], [1], [5], [6.5], [20]])
    >>> model.distances_, model.labels_, model.cut(3)
    (array([ 1. ,  1.5,  4. , 13.5]), array([0, 0, 0, 0, 1]), array([0, 0, 1, 1, 2]))
    """

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        metric: MetricLike = "euclidean",
        memory: object = None,
        connectivity: ArrayLike | Callable[[Array], ArrayLike] | None = None,
        compute_full_tree: bool | str = "auto",
        linkage: str = "ward",
        distance_threshold: float | None = None,
        compute_distances: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.memory = memory
        self.connectivity = connectivity
        self.compute_full_tree = compute_full_tree
        self.linkage = linkage
        self.distance_threshold = distance_threshold
        self.compute_distances = compute_distances

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None) -> Self:
        """Build the tree of X and cut it."""
        self._check_parameters()
        rows = self._table(X)
        context = FitContext(self, X=X, attributes=partial(dissimilarity.attributes_of, self))
        self.n_connected_components_ = 1
        tree = self._grown(rows)
        self.children_, self.distances_, self.n_leaves_ = tree.children, tree.heights, len(rows)
        self.labels_ = self._labels()
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.cophenetic_correlation_ = self._correlation(rows, tree)
        if self.linkage in ("centroid", "median") and (falls := self._falls()):
            what = f"inversions, usual with linkage={self.linkage!r}"
            warn(f"{falls} merge(s) are lower than the one before ({what}): cuts follow the order")
        context.end()
        return self

    def _check_parameters(self) -> None:
        check.one_of(trees.LINKAGES, linkage=self.linkage)
        self._check_cut()
        check.boolean(compute_distances=self.compute_distances)
        if self.compute_full_tree != "auto":
            if isinstance(self.compute_full_tree, str):
                check.one_of(("auto",), compute_full_tree=self.compute_full_tree)
            check.boolean(compute_full_tree=self.compute_full_tree)
            if self.distance_threshold is not None and not self.compute_full_tree:
                raise ValueError("compute_full_tree must be True if distance_threshold is set")
        if self.linkage in trees.FROM_CENTRES:
            trees.euclidean_only(self.metric, self.linkage)
        if self.connectivity is not None and self.linkage not in trees.ON_GRAPHS:
            raise ValueError(f"connectivity needs linkage {trees.ON_GRAPHS}, got {self.linkage!r}")

    def _grown(self, X: Array) -> MergeTree:
        if self.connectivity is not None:
            return self._on_graph(X)
        if self._by_pairs():
            D = dissimilarity.distances_of(X, self.metric, type(self).__name__)
            made = callable(self.metric) and not dissimilarity.takes_whole_table(self.metric)
            return trees.tree_of_distances(D, self.linkage, own=made and D is not X)
        return trees.tree_of_rows(X, self.linkage, resolve(self.metric, X))

    def _by_pairs(self) -> bool:
        """Whether the distances are given, or by a function."""
        by_function = callable(self.metric) and not hasattr(self.metric, "pairwise")
        return by_function or dissimilarity.is_given(self.metric)

    def _on_graph(self, X: Array) -> MergeTree:
        graph_matrix = self.connectivity(X) if callable(self.connectivity) else self.connectivity
        if dissimilarity.is_given(self.metric):
            dissimilarity.checked_matrix(X)
        graph = trees.graph_of(graph_matrix, len(X), lambda a, b: self._between(X, a, b))
        self.n_connected_components_ = graph.n_components
        lengths = dissimilarity.pair_distances(X, graph.a, graph.b, self.metric)
        if self.linkage == "ward":
            lengths = lengths**2
        return trees.tree_on_graph(graph, lengths, X, self.linkage)

    def _between(self, X: Array, a: IntArray, b: IntArray) -> Array:
        """Distances of rows a to rows b."""
        if not self._by_pairs():
            return dissimilarity.cross_distances(X[a], X[b], self.metric)
        i, j = np.repeat(a, len(b)), np.tile(b, len(a))
        return dissimilarity.pair_distances(X, i, j, self.metric).reshape(len(a), len(b))

    def _correlation(self, X: Array, tree: MergeTree) -> float:
        chosen = cuts.sampled_rows(len(X))
        if dissimilarity.is_given(self.metric):
            return cuts.cophenetic_correlation(tree, chosen, X[np.ix_(chosen, chosen)])
        return cuts.cophenetic_correlation(tree, chosen, self._between(X, chosen, chosen))

    def _falls(self) -> int:
        """How many merges are lower than the one before."""
        d = self.distances_
        return int((np.diff(d) < -1e-12 * d[:-1]).sum())

    def card(self) -> Card:
        """What was merged, by what rule, and how well the tree tells the distances."""
        check_is_fitted(self)
        rule = RULES[self.linkage]
        way = WAYS.get(self.linkage, "nearest-neighbour chain on the distance matrix")
        notes = []
        if self._falls():
            notes.append(f"{self._falls()} inversions: a merge lower than the one before")
        if self.connectivity is not None:
            way = "heap of the edges of the connectivity graph"
            notes.append(f"the graph had {self.n_connected_components_} connected part(s)")
        if self.n_leaves_ > cuts.SAMPLE:
            notes.append(f"the cophenetic correlation is that of {cuts.SAMPLE} of the rows")
        return Card(
            f"a tree of {self.n_leaves_} rows, cut into {self.n_clusters_} clusters",
            f"{self.linkage} linkage: the {rule} between two clusters is least at every merge "
            "(greedy: no merge is undone)",
            f"{way}; ties go to the lower row",
            {
                "clusters": self.n_clusters_,
                "last height": float(self.distances_[-1]),
                "height below the cut": self._height(self.n_clusters_),
                "height above the cut": self._height(self.n_clusters_ - 1),
                "cophenetic correlation": self.cophenetic_correlation_,
            },
            warnings=tuple(notes),
        )

    def _height(self, k: int) -> float | None:
        """The height of the merge that left k clusters."""
        at = self.n_leaves_ - k - 1
        return float(self.distances_[at]) if 0 <= at < len(self.distances_) else None
