r"""Fuzzy c-means: every row belongs to every centre, to a degree.

Model        k centres v; memberships u_ik >= 0, sum_k u_ik = 1
Objective    J = sum_i w_i sum_k u_ik^m D_ik,      D_ik = |x_i - v_k|^2,  m > 1
Algorithm    u_ik = 1 / sum_j (D_ik / D_ij)^(1/(m-1))
             v_k  = sum_i w_i u_ik^m x_i / sum_i w_i u_ik^m
             Each step minimises J with the other part fixed, so J never rises; it ends in a
             stationary point, and several starts look for a better one.    O(n k p) per round
Limits       m -> 1: memberships become 0 or 1, which is k-means; m -> infinity: all become 1/k
On a centre  D_ik = 0 gives u_ik = 1 (shared equally by centres that coincide there)
Variants     cosine: D = 1 - cos(x, v), rows of length 1, v_k the unit mean direction;
             manhattan: D = |x - v|_1, v_k the weighted coordinate median

The rounds are in ``rounds.py``, the kernels in ``kernels.py``.

References: Dunn (1973); Bezdek (1981), Pattern Recognition with Fuzzy Objective Functions.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator, check_weights, fit_blocks, with_callbacks
from pellucid.cluster.kmeans import kmeans
from pellucid.cluster.kmeans.kmeans import STARTS, Init, Metric, Problem, problem_of, space_of
from pellucid.cluster.kmeans.lloyd import Limits
from pellucid.cluster.kmeans.passes import enough_rows
from pellucid.cluster.soft import rounds
from pellucid.cluster.soft.rounds import FUZZY, Run, Weights, run_soft, sweeps_of, values_of
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Map, MaybeArray, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows, Source
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads


def check_exponent(m: float) -> None:
    """Refuse an exponent that is not above 1."""
    check.positive(m=m)
    if not 1 < m < np.inf:
        raise ValueError(f"m must be a finite number > 1 (2 is usual), got {m!r}")


class FuzzyCMeans(ClusterMixin, Estimator):
    """Fuzzy c-means clustering.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of centres, at most the number of rows.
    init : str, array-like of shape (n_clusters, n_features) or callable, default="k-means++"
        As for ``KMeans``.
    random_state : int, RandomState, Generator or None
        Seed of the starts.
    m : float, default=2.0
        Fuzziness, m > 1; near 1 the memberships become hard, as in k-means.
    n_init : int, default=1
        Number of starts, of which the one with the least objective is kept.
    max_iter : int, default=300
        Most rounds of one start.
    tol : float, default=1e-6
        Stop when no coordinate of a centre moves by ``tol`` times the root of the mean variance of
        the columns.
    metric : {"euclidean", "manhattan", "cosine"} or Metric, default="euclidean"
        As for ``KMeans``; the objective takes the squared Euclidean distance, the sum of absolute
        differences, or one minus the cosine.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    membership_ : ndarray of shape (n_samples, n_clusters)
        Rows sum to 1 (after ``fit``; use ``predict_proba`` over blocks).
    labels_ : ndarray of shape (n_samples,)
        The centre of the largest membership.
    objective_ : float
    partition_coefficient_ : float
        Mean over the rows of ``sum_k u_ik^2``: 1 if all are hard, 1/k if all are equal.
    runs_ : ndarray of shape (n_init,)
        The objective of every start.
    n_iter_ : int
    history_ : History
        One row per round of the best run: objective (after the centres moved), before, centers.

    Examples
    --------
    >>> from pellucid import FuzzyCMeans
    >>> X = [[1.0], [2.0], [3.0], [10.0], [11.0], [12.0]]
    >>> model = FuzzyCMeans(2, init=[[1.0], [12.0]]).fit(X)
    >>> model.cluster_centers_.ravel().round(4)
    array([ 1.9972, 11.0028])
    >>> model.membership_[:2].round(4)
    array([[0.9902, 0.0098],
           [1.    , 0.    ]])
    """

    _training_state = ("labels_", "membership_")

    fit_blocks, fit_predict = fit_blocks, kmeans.fit_predict

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        m: float = 2.0,
        init: Init = "k-means++",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-6,
        metric: str | Metric = "euclidean",
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.m = m
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.metric = metric
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None, sample_weight: MaybeArray = None) -> Self:
        """Find the centres and memberships of X."""
        self._check_parameters()
        rows = self._check_training(X, None, sample_weight)
        self._fit_problem(rows, map_threads, X=X, sample_weight=sample_weight)
        self.membership_ = self._memberships(rows.X)
        self.labels_ = np.argmax(self.membership_, axis=1).astype(np.int32)
        return self

    @with_callbacks
    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        self._fit_problem(rows, map_)
        for name in self._training_state:
            self.__dict__.pop(name, None)

    def _check_parameters(self) -> None:
        check.whole(n_clusters=self.n_clusters, max_iter=self.max_iter, n_init=self.n_init)
        check.non_negative(tol=self.tol)
        check_exponent(self.m)
        if isinstance(self.init, str):
            check.one_of(STARTS, init=self.init)
        space_of(self.metric)

    def _fit_problem(self, source: Source, map_: Map, **data: Any) -> None:
        enough_rows(self.n_clusters, source.n_rows)
        problem = problem_of(source, map_, space_of(self.metric))
        n_init = kmeans.number_of_starts(self.init, self.n_init)
        steps = self.max_iter if n_init == 1 else n_init
        context = FitContext(self, max_steps=steps, attributes=rounds.as_if_stopped, **data)
        best, values = self._best_run(problem, n_init, context)
        self.cluster_centers_, self.objective_ = best.centers, best.sums.cost
        self.partition_coefficient_ = best.sums.square / best.sums.weight
        self.runs_ = np.array(values)
        self.n_iter_, self.history_ = best.iteration.n_iter, best.iteration.history
        self._end = best.iteration.reason
        rounds.warn_of_limit(self)
        context.end(best.iteration.state)

    def _best_run(
        self, problem: Problem, n_init: int, context: FitContext
    ) -> tuple[Run, list[float]]:
        rng, sweeps = generator(self.random_state), sweeps_of(problem)
        unit = float(np.sqrt(problem.box.variance))
        starts, weights = problem.starts(self.init, self.n_clusters, n_init, rng), self._weights()

        def run(start: Array, task: FitContext) -> Run:
            limits = Limits(self.max_iter, self.tol * unit, type(self).__name__, task)
            return run_soft(sweeps, start, weights, limits)

        return kmeans.best_of(
            starts, run, lambda one: one.sums.cost, n_init, context, self.max_iter
        )

    def _weights(self) -> Weights:
        return Weights(float(self.m), FUZZY)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"cluster_centers_": (self.n_clusters, self.n_features_in_)}

    def _memberships(self, X: ArrayLike) -> Array:
        return values_of(space_of(self.metric), X, self.cluster_centers_, self._weights())

    def predict_proba(self, X: ArrayLike) -> Array:
        """The memberships of each row."""
        return self._memberships(self._check_input(X))

    def predict(self, X: ArrayLike) -> IntArray:
        """The centre of the largest membership of each row, which is the nearest one."""
        return np.argmax(self.predict_proba(X), axis=1).astype(np.int32)

    def score(self, X: ArrayLike, y: MaybeArray = None, sample_weight: MaybeArray = None) -> float:
        """Minus the objective of X at the fitted centres."""
        A = self._check_input(X)
        rows = Rows(A, None, check_weights(sample_weight, A))
        sweeps = sweeps_of(problem_of(rows, map_threads, space_of(self.metric)))
        return -sweeps.sums(self.cluster_centers_, self._weights()).cost

    def card(self) -> Card:
        """What was minimised, how, and how far it got."""
        check_is_fitted(self)
        space = space_of(self.metric)
        notes = []
        if not space.descends:
            what = f"the {space.center} does not minimise {space.distance.name}"
            notes.append(f"{what}: descent is not sure")
        if self._end != "converged":
            notes.append(f"the best run ended by {self._end}, not by the stopping rule")
        reached = int((self.runs_ <= self.objective_ * (1 + 1e-9)).sum())
        return Card(
            f"{self.n_clusters} centres; memberships of a row are >= 0 and sum to 1",
            f"J = sum of w u^{self.m:g} D(x, v) = {self.objective_:.6g}, D {space.distance.name}",
            "in turn: the best memberships for the centres, the best centres for the memberships; "
            f"stops when no coordinate of a centre moves by {self.tol:g} of the rows' spread, or "
            f"after {self.max_iter} rounds; {reached} of {len(self.runs_)} start(s) reached this J",
            {
                "objective": self.objective_,
                "partition coefficient": self.partition_coefficient_,
                "its least value 1/k": 1.0 / self.n_clusters,
                "rounds": self.n_iter_,
                "steps in which J rose": rounds.rises(self.history_),
            },
            warnings=tuple(notes),
        )
