r"""Bisecting k-means: one cluster is split in two by k-means, again and again.

Model        a tree of centres; a row goes down to the nearer of two centres at every node
Objective    J = sum_i w_i |x_i - c(l_i)|^2, as in k-means; every split lowers it
Algorithm    split the leaf of largest inertia (or of most rows) by 2-means, until k are left; rows
             that are all alike are not split
Cost         O(n p log k) a round for splits of even size, against O(n p k) of k-means

The first j - 1 splits are the answer for j clusters, so that ``cut`` needs no second fit.

References: Steinbach, Karypis & Kumar (2000); Savaresi & Boley (2001).
"""

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator, check_weights, with_callbacks
from pellucid.cluster.kmeans import kmeans, passes
from pellucid.cluster.kmeans.kmeans import RAW, Init, Problem, problem_of
from pellucid.cluster.kmeans.lloyd import Limits, run_lloyd
from pellucid.cluster.kmeans.passes import Box
from pellucid.cluster.kmeans.two_means import Halved, Halves, run_two_means
from pellucid.core.arrays import check
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, MaybeArray, Rng, Seed
from pellucid.core.functions.distances import distance
from pellucid.core.loops.iterate import ConvergenceWarning, FitContext
from pellucid.core.loops.statistics import LEAF_ROWS, Rows
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn

STRATEGIES = ("biggest_inertia", "largest_cluster")
KEEP_NO_LABELS = 10**12  # so many rows that the rounds of one split keep no labels


class Tree(NamedTuple):
    """The nodes so far: node 0 is all rows, split s made nodes 2 s + 1 and 2 s + 2."""

    children: list[tuple[int, int]]  # of each node; (-1, -1) for a leaf
    centers: list[Array]
    inertia: list[float]
    weight: list[float]
    rows: list[Any]  # (m,) the rows of a leaf, None for an inner node
    last: tuple[int, int, bool] | None  # node that was split, rounds it took, converged


def node_inertias(rows: Rows, centers: Array, labels: NDArray[np.int32]) -> tuple[Array, Array]:
    """J and the weight of each part.

    >>> rows = Rows(np.array([[0.0], [2.0], [9.0]]), None, np.ones(3))
    >>> node_inertias(rows, np.array([[1.0], [9.0]]), np.array([0, 0, 1], np.int32))
    (array([2., 0.]), array([2., 1.]))
    """

    def leaf(start: int) -> tuple[Array, Array]:
        X, w = passes.dense_rows(RAW, rows.slice(start, start + LEAF_ROWS))
        own = labels[start : start + LEAF_ROWS]
        k = len(centers)
        terms = w * passes.own_terms(RAW, X, centers, own)
        both = np.bincount(own, terms, k), np.bincount(own, w, k)
        return both[0].astype(np.float64), both[1].astype(np.float64)

    parts = list(map_threads(leaf, range(0, rows.n_rows, LEAF_ROWS)))
    zero = np.zeros(len(centers))
    return sum((part[0] for part in parts), zero), sum((part[1] for part in parts), zero)


def bisect(rows: Rows, box: Box, rng: Rng, init: Init, n_init: int, limits: Limits) -> Halved:
    """The best of ``n_init`` runs of 2-means; box is of these rows or of more."""
    if issparse(rows.X):
        problem = problem_of(rows, map_threads, RAW)
    else:
        problem = Problem(rows, map_threads, RAW, box, passes.dense_rows(RAW, rows))
    dense = problem.dense
    halves = None if dense is None else Halves(*dense, passes.limb_grid(problem.box))

    def run(start: Array) -> Halved:
        found = None if halves is None else run_two_means(halves, start, limits)
        if found is not None:
            return found  # else the rows are sparse, or one centre has none
        return general_run(problem, start, limits)

    starts = problem.starts(init, 2, n_init, rng)
    together = halves is not None and halves.small
    best: Halved | None = None
    for one in map_threads(run, starts) if together else map(run, starts):
        if best is None or one.inertia.sum() < best.inertia.sum() * (1 - 1e-12):
            best = one
    assert best is not None
    return best._replace(inertia=exact_zeros(rows, best.side, best[:3], box.reach))


def general_run(problem: Problem, start: Array, limits: Limits) -> Halved:
    """2-means by the rounds of k-means, which fill an empty centre and read any kind of rows."""
    run = run_lloyd(problem.passes(), start, limits, n=KEEP_NO_LABELS)
    assert isinstance(problem.source, Rows)
    inertia, weight = node_inertias(problem.source, run.centers, run.labels)
    return Halved(run.centers, inertia, weight, run.labels, run.iteration)


def exact_zeros(
    rows: Rows, labels: NDArray[np.int32], parts: tuple[Array, Array, Array], reach: float
) -> Array:
    """J of the parts (centres, J, weights): 0 where all rows of one are equal.

    (The mean of equal numbers need not be that number to the last bit. It stays the centre: a row
    between two centres must go the same way in ``predict`` as it went here.)
    """
    inertia, weight = parts[1].copy(), parts[2]
    for j in np.flatnonzero(inertia <= 1e-24 * weight * reach**2):
        mine = np.flatnonzero((labels == j) & (rows.w > 0))
        A = passes.dense_rows(RAW, Rows(rows.X[mine], None, rows.w[mine]))[0]
        if len(A) and (A[0] == A).all():
            inertia[j] = 0.0
    return inertia


def taken(rows: Rows, mine: IntArray) -> Rows:
    """Some of the rows, copied one after the other so that the rounds stream over them."""
    if len(mine) == rows.n_rows:
        return rows
    if issparse(rows.X):
        return Rows(rows.X[mine], None, rows.w[mine])
    X = np.empty((len(mine), rows.X.shape[1]))

    def copy(start: int) -> None:
        at = slice(start, start + LEAF_ROWS)
        np.take(rows.X, mine[at], axis=0, out=X[at], mode="clip")  # "raise" copies twice

    list(map_threads(copy, range(0, len(mine), LEAF_ROWS)))
    return Rows(X, None, rows.w[mine])


def grown(tree: Tree, node: int, split: Halved) -> Tree:
    """The tree after one split; the old one is left as it is."""
    rows, first = tree.rows[node], len(tree.children)
    children, members = list(tree.children), list(tree.rows)
    children[node], members[node] = (first, first + 1), None
    return Tree(
        [*children, (-1, -1), (-1, -1)],
        [*tree.centers, *split.centers],
        [*tree.inertia, *split.inertia.tolist()],
        [*tree.weight, *split.weight.tolist()],
        [*members, rows[split.side == 0], rows[split.side == 1]],
        (node, split.iteration.n_iter, split.iteration.reason != "max_iter"),
    )


def leaves_of(children: IntArray, first: int | None = None) -> IntArray:
    """The leaves from left to right; nodes from ``first`` on count as not there.

    >>> leaves_of(np.array([[1, 2], [3, 4], [-1, -1], [-1, -1], [-1, -1]]))
    array([3, 4, 2])
    """
    found, stack = [], [0]
    while stack:
        node = stack.pop()
        left, right = children[node]
        if left < 0 or (first is not None and left >= first):
            found.append(node)
        else:
            stack += [right, left]
    return np.array(found, dtype=np.intp)


class BisectingKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Estimator):
    """k-means from the top: split the worst cluster in two, until there are enough.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most the number of rows.
    random_state : int, RandomState, Generator or None
        Seed of the starts.
    init : {"k-means++", "random"} or callable, default="random"
        Start of every split; a function ``init(X, n_clusters, random_state)`` returns 2 centres.
    n_init : int, default=1
        Starts per split; the best counts.
    max_iter : int, default=300
        Most rounds of one split.
    verbose : int, default=0
        Above 0 prints the steps and the time of the fit.
    copy_x : ignored
        X is never changed.
    algorithm : {"lloyd", "elkan"}, default="lloyd"
        Without effect: bounds that skip needless distances are always used.
    tol : float, default=1e-4
        A split is done when the squared moves of its centres sum to at most ``tol`` times the
        mean variance of the columns.
    bisecting_strategy : {"biggest_inertia", "largest_cluster"}, default="biggest_inertia"
        Which cluster is split next; the largest is the one of most weight.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    labels_ : ndarray of shape (n_samples,)
        Clusters are numbered from left to right in the tree.
    inertia_ : float
    children_ : ndarray of shape (2 n_clusters - 1, 2)
        The tree: node 0 is all rows, split s made nodes 2 s + 1 and 2 s + 2; -1 for a leaf.
    node_centers_, node_inertia_, node_weight_ : ndarray
        Of every node.
    n_iter_ : int
        Splits.
    history_ : History
        One row per split: objective (J after it), node, rounds.

    Examples
    --------
    >>> from pellucid import BisectingKMeans
    >>> X = [[1, 1], [10, 1], [3, 1], [10, 0], [2, 1], [10, 2], [10, 8], [10, 9], [10, 10]]
    >>> model = BisectingKMeans(3, random_state=0).fit(X)
    >>> model.labels_.tolist(), model.inertia_, model.predict([[0, 0], [12, 3]]).tolist()
    ([0, 1, 0, 1, 0, 1, 2, 2, 2], 6.0, [0, 1])
    """

    _accepts_sparse = True
    _training_state = ("labels_",)

    fit_predict, fit_transform = kmeans.fit_predict, kmeans.fit_transform

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Init = "random",
        n_init: int = 1,
        random_state: Seed = None,
        max_iter: int = 300,
        verbose: int = 0,
        tol: float = 1e-4,
        copy_x: bool = True,
        algorithm: str = "lloyd",
        bisecting_strategy: str = "biggest_inertia",
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.random_state = random_state
        self.max_iter = max_iter
        self.verbose = verbose
        self.tol = tol
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.bisecting_strategy = bisecting_strategy

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None, sample_weight: MaybeArray = None) -> Self:
        """Split X until there are ``n_clusters`` clusters."""
        self._check_parameters()
        rows = self._check_training(X, None, sample_weight)
        passes.enough_rows(self.n_clusters, rows.n_rows)
        problem = problem_of(rows, map_threads, RAW)
        assert isinstance(problem.source, Rows)
        rows = problem.source
        attributes = partial(_as_if_stopped, rows.n_rows)
        data: dict[str, Any] = {"X": X, "sample_weight": sample_weight}
        data["max_steps"] = self.n_clusters - 1
        context = FitContext(self, **data, attributes=attributes)
        rng, tol = generator(self.random_state), self.tol * problem.box.variance
        limits: dict[str, Any] = {"max_iter": self.n_clusters - 1, "tol": None, "record": _row_of}
        limits["stop"] = lambda history: history[-1]["divisible"] == 0
        step = partial(self._split, rows, problem.box, rng, tol)
        run = self._iterate(step, _root(rows, problem.box), context=context, **limits)
        found = attributes(run.state)
        self.children_, self.node_centers_ = found["children_"], found["node_centers_"]
        self.node_inertia_, self.node_weight_ = found["node_inertia_"], found["node_weight_"]
        self.cluster_centers_, self.labels_ = found["cluster_centers_"], found["labels_"]
        self.inertia_, self._n_features_out = found["inertia_"], len(self.cluster_centers_)
        self._say()
        return self

    def _split(self, rows: Rows, box: Box, rng: Rng, tol: float, tree: Tree) -> tuple[Tree, float]:
        node = self._next(tree)
        if node is None:
            return tree._replace(last=None), 0.0
        mine, limits = taken(rows, tree.rows[node]), Limits(self.max_iter, tol)
        split = bisect(mine, box, rng, self.init, self.n_init, limits)
        return grown(tree, node, split), 0.0

    def _next(self, tree: Tree) -> int | None:
        """The leaf to split: of most inertia or weight, the leftmost of equals."""
        leaves = [i for i in leaves_of(np.array(tree.children)) if tree.inertia[i] > 0]
        by = tree.inertia if self.bisecting_strategy == "biggest_inertia" else tree.weight
        return max(leaves, key=by.__getitem__, default=None)

    def _check_parameters(self) -> None:
        check.whole(n_clusters=self.n_clusters, max_iter=self.max_iter, n_init=self.n_init)
        check.non_negative(tol=self.tol)
        check.one_of(("lloyd", "elkan"), algorithm=self.algorithm)
        check.one_of(STRATEGIES, bisecting_strategy=self.bisecting_strategy)
        check.boolean(copy_x=self.copy_x)
        if not callable(self.init):
            check.one_of(("k-means++", "random"), init=self.init)

    def _say(self) -> None:
        if self.history_[-1]["divisible"] == 0:
            kmeans.warn_of_fewer(len(self.cluster_centers_), self.n_clusters)
        if short := int((~self.history_["converged"].astype(bool)).sum()):
            say = f"{short} split(s) did not converge in max_iter={self.max_iter} rounds"
            warn(f"BisectingKMeans: {say}", ConvergenceWarning)

    def cut(self, n_clusters: int) -> IntArray:
        """The labels of the training rows after the first ``n_clusters - 1`` splits.

        >>> X = [[0.0], [1.0], [10.0], [11.0], [90.0]]
        >>> BisectingKMeans(4, n_init=5, random_state=0).fit(X).cut(2)
        array([0, 0, 0, 0, 1])
        """
        check_is_fitted(self)
        check.whole(n_clusters=n_clusters)
        k = len(self.cluster_centers_)
        if n_clusters > k:
            raise ValueError(f"n_clusters must be at most {k}, those of the fit, got {n_clusters}")
        return self._merged(n_clusters)[self.labels_]

    def _merged(self, n_clusters: int) -> IntArray:
        """(k,) the cluster of the first ``n_clusters`` in which each of the last ones lies."""
        parent = np.full(len(self.children_), -1)
        for node, (left, right) in enumerate(self.children_):
            if left >= 0:
                parent[[left, right]] = node
        first = 2 * n_clusters - 1
        kept = {int(node): j for j, node in enumerate(leaves_of(self.children_, first))}
        out = np.empty(len(self.cluster_centers_), dtype=np.intp)
        for j, node in enumerate(leaves_of(self.children_)):
            while node not in kept:
                node = parent[node]
            out[j] = kept[int(node)]
        return out

    def predict(self, X: ArrayLike) -> IntArray:
        """Down the tree, to the nearer of two centres at every node."""
        rows = self._check_input(X)
        labels = np.empty(rows.shape[0], dtype=np.int32)
        number = {int(node): j for j, node in enumerate(leaves_of(self.children_))}
        stack = [(0, np.arange(rows.shape[0]))]
        while stack:
            node, mine = stack.pop()
            if node in number:
                labels[mine] = number[node]
            elif len(mine):
                left, right = (int(child) for child in self.children_[node])
                side = self._nearest(rows[mine], self.node_centers_[[left, right]])
                stack += [(left, mine[side == 0]), (right, mine[side == 1])]
        return labels

    def _nearest(self, rows: np.ndarray, C: Array) -> IntArray:
        def leaf(start: int) -> Any:
            part = rows[start : start + LEAF_ROWS]
            ones = Rows(part, None, np.ones(part.shape[0]))
            return passes.nearest(RAW, *passes.dense_rows(RAW, ones), C).labels

        return np.concatenate(list(map_threads(leaf, range(0, rows.shape[0], LEAF_ROWS))))

    def transform(self, X: ArrayLike) -> Array:
        """The distance of each row to each centre."""
        rows = self._check_input(X)
        dense = to_dense(rows)
        return distance("euclidean").pairwise(dense, self.cluster_centers_)

    def score(self, X: ArrayLike, y: MaybeArray = None, sample_weight: MaybeArray = None) -> float:
        """Minus J of X, every row with the nearest of all centres."""
        rows = self._check_input(X)
        w = check_weights(sample_weight, rows)
        dense, w = passes.dense_rows(RAW, Rows(rows, None, w))
        return -float((w * passes.nearest(RAW, dense, w, self.cluster_centers_).terms).sum())

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        k, p = (len(self.children_) + 1) // 2, self.n_features_in_
        return {"cluster_centers_": (k, p), "node_centers_": (2 * k - 1, p)}

    def _check_state(self) -> None:
        super()._check_state()
        if hasattr(self, "children_"):
            C, m = self.children_, len(self.children_)
            made = [pair for pair in C.tolist() if pair != [-1, -1]] if C.ndim == 2 else [[0]]
            if sorted(v for pair in made for v in pair) != list(range(1, m)) or m % 2 == 0:
                raise ValueError("children_ is no tree: every node but the first needs one parent")

    def card(self) -> Card:
        """What was split, by what rule, and how far J fell."""
        check_is_fitted(self)
        k = len(self.cluster_centers_)
        which = "inertia" if self.bisecting_strategy == "biggest_inertia" else "weight"
        total = float(self.node_inertia_[0])
        late = int((~self.history_["converged"].astype(bool)).sum())
        notes = (f"{late} split(s) did not converge in max_iter={self.max_iter} rounds",)
        return Card(
            f"a tree with {k} leaves; a row goes to the nearer of two centres at every node",
            f"J = sum of w |x - c|^2 to the own centre = {self.inertia_:.6g}",
            f"the cluster of largest {which} is split by 2-means, {k - 1} time(s), best of "
            f"{self.n_init} start(s) each (greedy: no split is undone)",
            {
                "clusters": k,
                "inertia": self.inertia_,
                "share of J explained": 1.0 - self.inertia_ / total if total > 0 else 1.0,
                "rounds of all splits": int(self.history_["rounds"].sum()),
            },
            warnings=notes if late else (),
        )


def _root(rows: Rows, box: Box) -> Tree:
    labels = np.zeros(rows.n_rows, dtype=np.int32)
    mean = np.ascontiguousarray(box.mean[None])
    _, weight = found = node_inertias(rows, mean, labels)
    inertia = exact_zeros(rows, labels, (mean, *found), box.reach)
    members = [np.arange(rows.n_rows)]
    return Tree([(-1, -1)], list(mean), inertia.tolist(), weight.tolist(), members, None)


def _row_of(tree: Tree) -> dict[str, Any]:
    leaves = [tree.inertia[i] for i, rows in enumerate(tree.rows) if rows is not None]
    node, rounds, converged = tree.last or (-1, 0, True)
    found: dict[str, Any] = {"objective": float(sum(leaves)), "clusters": len(leaves), "node": node}
    found |= {"rounds": rounds, "converged": converged}
    return {**found, "divisible": sum(value > 0 for value in leaves)}


def _as_if_stopped(n: int, tree: Tree) -> dict[str, Any]:
    """The fitted attributes of a tree."""
    children, centers = np.array(tree.children, dtype=np.intp), np.array(tree.centers)
    leaves, inertia = leaves_of(children), np.array(tree.inertia)
    labels = np.empty(n, dtype=np.int32)
    for j, node in enumerate(leaves):
        labels[tree.rows[node]] = j
    nodes = {"children_": children, "node_centers_": centers, "node_inertia_": inertia}
    nodes |= {"node_weight_": np.array(tree.weight), "labels_": labels}
    total = float(inertia[leaves].sum())
    return {**nodes, "cluster_centers_": centers[leaves], "inertia_": total}
