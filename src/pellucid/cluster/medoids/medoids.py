r"""k-medoids: k of the rows are centres; any distance, any objects.

Model        medoids m_1..m_k among the rows; a row belongs to the nearest (lowest number on ties)
Objective    J = sum_i d(x_i, m(l_i)), the plain sum of distances
Start        build: first the row with the least total distance, then always the row that saves most
Algorithm    swap a medoid for another row wherever that lowers J, the best medoid for each row,
             until no swap of any pair helps (FasterPAM: O(n^2) for one pass over all rows)
Memory       8 n^2 bytes, announced

The end is a local optimum over all swaps of one pair, which k-means-like alternation is not.

References: Kaufman & Rousseeuw (1990), PAM; Schubert & Rousseeuw (2021), FasterPAM.
"""

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator, with_callbacks
from pellucid.cluster import dissimilarity
from pellucid.cluster.dissimilarity import MetricLike
from pellucid.cluster.kmeans.passes import enough_rows
from pellucid.cluster.medoids.kernels import assign, next_medoid, savings, swap_pass
from pellucid.compiled.distances.brute import direct_distances
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Rng, Seed
from pellucid.core.functions.metrics import resolve, settled
from pellucid.core.loops.iterate import FitContext, came_to_rest
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads

SMALL = 1 << 20  # distances below which threads cost more than they save
ROWS = 128  # rows whose savings are computed together
NO_GAIN = 1e-12  # of J: less is rounding


class State(NamedTuple):
    """Medoids and what every row knows of them; arrays are never changed."""

    medoids: IntArray  # (k,)
    own: IntArray  # (n,) number of the nearest medoid
    other: IntArray  # (n,) of the second nearest
    d1: Array  # (n,) their distances
    d2: Array
    swaps: int

    @property
    def objective(self) -> float:
        return float(self.d1.sum())


def all_savings(D: Array, near: Array) -> Array:
    """What each row would save as a further medoid."""
    out = np.empty(len(D))

    def look(start: int) -> None:
        savings(D, near, start, min(start + ROWS, len(D)), out)

    list((map if D.size < SMALL else map_threads)(look, range(0, len(D), ROWS)))
    return out


def build_medoids(D: Array, k: int) -> IntArray:
    """PAM's start: greedy, ties to the lower row.

    >>> x = np.array([0.0, 1, 2, 10, 11])
    >>> build_medoids(abs(x[:, None] - x), 2)
    array([2, 3])
    """
    chosen = [int(np.argmin(D.sum(axis=1)))]
    near = D[chosen[0]].copy()
    bound = all_savings(D, near) if k > 1 else np.zeros(len(D))
    stale = np.zeros(len(D), np.bool_)
    while len(chosen) < k:
        bound[chosen], stale[chosen] = -1.0, False
        chosen.append(int(next_medoid(D, near, bound, stale)))
        near = np.minimum(near, D[chosen[-1]])
        stale[:] = True
    return np.array(chosen, np.int64)


def start_state(D: Array, medoids: IntArray) -> State:
    """Assign every row."""
    n = len(D)
    own, other = np.empty(n, np.int64), np.empty(n, np.int64)
    d1, d2 = np.empty(n), np.empty(n)
    assign(D, medoids, own, other, d1, d2)
    return State(medoids, own, other, d1, d2, 0)


def swap_step(D: Array, state: State) -> tuple[State, float]:
    """One pass over all rows; the gap is the number of swaps.

    >>> x = np.array([0.0, 1, 2, 10, 11])
    >>> D = abs(x[:, None] - x)
    >>> state, swaps = swap_step(D, start_state(D, np.array([0, 1])))
    >>> np.sort(state.medoids), state.objective
    (array([1, 3]), 3.0)
    """
    medoids, own, other = state.medoids.copy(), state.own.copy(), state.other.copy()
    d1, d2 = state.d1.copy(), state.d2.copy()
    if len(medoids) == 1:  # the best single medoid is that of the start rule
        best = start_state(D, build_medoids(D, 1))
        better = best.objective < state.objective * (1 - NO_GAIN)
        return (best._replace(swaps=1), 1.0) if better else (state._replace(swaps=0), 0.0)
    swaps = swap_pass(D, medoids, own, other, d1, d2, NO_GAIN * state.objective)
    new = start_state(D, medoids)._replace(swaps=swaps) if swaps else state._replace(swaps=0)
    return new, float(swaps)


def describe(state: State) -> dict[str, Any]:
    """The row of the history."""
    return {"objective": state.objective, "swaps": state.swaps}


def members(items: list[Any] | Array, chosen: IntArray) -> Any:
    """The chosen items, of a list or of a table."""
    return [items[i] for i in chosen] if isinstance(items, list) else items[chosen]


def as_if_stopped(state: State, items: list[Any] | Array) -> dict[str, Any]:
    """The fitted attributes as if the fit had ended with this pass."""
    found = {"medoid_indices_": state.medoids, "labels_": state.own, "inertia_": state.objective}
    return {**found, "medoids_": members(items, state.medoids), "n_iter_": 1}


class KMedoids(ClusterMixin, Estimator):
    """k-medoids clustering for any distance and any objects.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of medoids, at most the number of rows.
    metric : str or callable, default="euclidean"
        Any of ``pellucid.neighbors.pairwise_distances``, ``"precomputed"``, or a function of two
        items, which may be rows of a table or any objects in a list (then taken as symmetric).
    init : {"build", "random"} or array of n_clusters row numbers, default="build"
        Greedy (see the module), random rows, or these rows.
    max_iter : int, default=300
        Passes over all rows.
    random_state : int, RandomState, Generator or None
        Used by ``init="random"`` only.

    Attributes
    ----------
    medoid_indices_ : ndarray of shape (n_clusters,)
    labels_ : ndarray of shape (n_samples,)
    inertia_ : float
        The sum of the distances to the own medoid.
    medoids_ : ndarray of shape (n_clusters, n_features), or list
        The medoids themselves; their numbers again where the distances are given.
    n_iter_ : int
    history_ : History
        One row per pass: objective, swaps.

    Examples
    --------
    >>> from pellucid import KMedoids
    >>> model = KMedoids(2).fit([[0.0], [1.0], [2.0], [10.0], [11.0]])
    >>> model.inertia_, model.predict([[3.0], [9.0]])
    (3.0, array([0, 1]))
    >>> words = ["cat", "cut", "category", "catalogue"]
    >>> KMedoids(2, metric=lambda a, b: abs(len(a) - len(b))).fit(words).labels_
    array([0, 0, 1, 1])
    """

    _training_state = ("labels_",)

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: MetricLike = "euclidean",
        init: str | ArrayLike = "build",
        max_iter: int = 300,
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.init = init
        self.max_iter = max_iter
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = dissimilarity.is_given(self.metric)
        return tags

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the medoids of X."""
        self._check_parameters()
        items, D = self._open(X)
        D = np.require(D, np.float64, ["C", "W"])
        if not np.isfinite(D).all():
            raise ValueError("the distances of X overflow or are infinite: scale its columns down")
        state = start_state(D, self._start(D, generator(self.random_state)))
        self._settled = self._learnt(items)
        attributes = partial(as_if_stopped, items=items)
        context = FitContext(self, X=X, max_steps=self.max_iter, attributes=attributes)
        limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": 0.0, "context": context}
        state = self._iterate(partial(swap_step, D), state, record=describe, **limits).state
        self.medoid_indices_, self.labels_ = state.medoids, state.own
        self.inertia_, self.medoids_ = state.objective, members(items, state.medoids)
        return self

    def _learnt(self, X: Array) -> tuple[Any, ...]:
        """What the metric takes from the training rows, for those that come later."""
        if dissimilarity.is_given(self.metric) or self._of_items():
            return ()
        metric, keywords = settled(self.metric, X)
        return () if metric is self.metric and not keywords else (metric, keywords)

    def _check_parameters(self) -> None:
        check.whole(n_clusters=self.n_clusters, max_iter=self.max_iter)
        if isinstance(self.init, str):
            check.one_of(("build", "random"), init=self.init)

    def _of_items(self) -> bool:
        return callable(self.metric) and not hasattr(self.metric, "pairwise")

    def _open(self, X: np.ndarray) -> tuple[Any, Array]:
        """The items (rows, or objects in a list) and all their distances."""
        if self._of_items() and not hasattr(X, "shape"):
            items = list(X)
            enough_rows(self.n_clusters, len(items))
            return items, dissimilarity.matrix_of_items(items, self.metric)
        rows = self._check_training(X).X
        enough_rows(self.n_clusters, len(rows))
        if dissimilarity.is_given(self.metric):
            return np.arange(len(rows)), dissimilarity.checked_matrix(rows)
        if self._of_items():
            return rows, dissimilarity.matrix_of_items(rows, self.metric)
        return rows, dissimilarity.distances_of(rows, self.metric, type(self).__name__)

    def _start(self, D: Array, rng: Rng) -> IntArray:
        n, k = len(D), self.n_clusters
        if isinstance(self.init, str):
            if self.init == "build":
                return build_medoids(D, k)
            return rng.choice(n, k, replace=False).astype(np.int64)
        chosen = np.asarray(self.init)
        right = chosen.shape == (k,) and chosen.dtype.kind in "iu"
        if not right or len(set(chosen.tolist())) < k or chosen.min() < 0 or chosen.max() >= n:
            rows = f"{k} different row numbers from 0 to {n - 1}"
            raise ValueError(f"init must be 'build', 'random' or {rows}, got {self.init!r}")
        return chosen.astype(np.int64)

    def predict(self, X: Any) -> IntArray:
        """The nearest medoid of each row; under "precomputed" X holds distances to all rows."""
        check_is_fitted(self)
        if self._of_items() and not hasattr(X, "shape"):
            return self._nearest_items(list(X))
        rows = self._check_input(X)
        if dissimilarity.is_given(self.metric):
            return np.argmin(rows[:, self.medoid_indices_], axis=1)
        if self._of_items():
            return self._nearest_items(rows)
        return np.argmin(self._distances(rows), axis=1)

    def _nearest_items(self, items: list[Any] | Array) -> IntArray:
        metric: Any = self.metric
        found = [int(np.argmin([metric(item, m) for m in self.medoids_])) for item in items]
        return np.array(found, np.intp)

    def _distances(self, X: Array) -> Array:
        metric, keywords = self._settled if self._settled else (self.metric, {})
        found = resolve(metric, self.medoids_, 2, keywords)
        if found.order is None:
            assert found.pairwise is not None
            return found.pairwise(X, self.medoids_)
        E, F = (dissimilarity.mapped_rows(found, rows) for rows in (X, self.medoids_))
        D = np.empty((len(E), len(F)))
        direct_distances(
            np.array(F.T, order="C"), E, 0, len(E), *dissimilarity.kernel_order(found), D
        )
        return found.finish(D)

    def _check_state(self) -> None:
        super()._check_state()
        if (
            not hasattr(self, "medoids_")
            or dissimilarity.is_given(self.metric)
            or isinstance(self.medoids_, list)
        ):
            return
        shape = (self.n_clusters, self.n_features_in_)
        if self.medoids_.shape != shape:
            raise ValueError(f"medoids_ must have shape {shape}, got {self.medoids_.shape}")

    def card(self) -> Card:
        """What was minimised, how, and how far it got."""
        check_is_fitted(self)
        start = "given rows" if not isinstance(self.init, str) else self.init
        resting = came_to_rest(self.history_, 0.0)
        end = ": a local optimum over all single swaps" if resting else ""
        return Card(
            f"{self.n_clusters} medoids, rows of the data; an item belongs to the nearest",
            f"J = sum of the distances to the own medoid = {self.inertia_:.6g}",
            f"start: {start}; then swaps of a medoid for another row, the best medoid for each row "
            f"(FasterPAM), until none lowers J, at most {self.max_iter} passes{end}",
            {"inertia": self.inertia_, "passes": self.n_iter_, "clusters": self.n_clusters},
            warnings=() if resting else ("the passes ended by max_iter",),
        )
