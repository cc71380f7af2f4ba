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
from pellucid.cluster.kmeans.kmeans import STARTS, Init, Metric, Problem, problem_of, space_of
from pellucid.cluster.kmeans.passes import enough_rows
from pellucid.cluster.soft.rounds import FUZZY, Run, State, Weights, run_soft, sweeps_of, values_of
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Map, Seed
from pellucid.core.loops.iterate import ConvergenceWarning, FitContext
from pellucid.core.loops.statistics import Rows, Source
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn


def check_exponent(m: float) -> None:
    """Refuse an exponent that is not above 1."""
    check.positive(m=m)
    if not 1 < m < np.inf:
        raise ValueError(
            f"m must be a finite number > 1 (2 is usual, near 1 is k-means), got {m!r}"
        )


class FuzzyCMeans(ClusterMixin, Estimator):
    """Fuzzy c-means clustering.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of centres, at most the number of rows.
    m : float, default=2.0
        Fuzziness, m > 1; near 1 the memberships become hard, as in k-means.
    init : str, array-like of shape (n_clusters, n_features) or callable, default="k-means++"
        As for ``KMeans``.
    n_init : int, default=1
        Number of starts, of which the one with the least objective is kept.
    max_iter : int, default=300
        Most rounds of one start.
    tol : float, default=1e-6
        Stop when no coordinate of any centre moves by ``tol``.
    metric : {"euclidean", "manhattan", "cosine"} or Metric, default="euclidean"
        As for ``KMeans``; the objective takes the squared Euclidean distance, the sum of absolute
        differences, or one minus the cosine.
    random_state : int, RandomState, Generator or None
        Seed of the starts.

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

    fit_blocks = fit_blocks

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
    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
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
        n_init = self._n_starts()
        steps = self.max_iter if n_init == 1 else n_init
        context = FitContext(self, max_steps=steps, attributes=_as_if_stopped, **data)
        best, values = self._best_run(problem, n_init, context)
        self.cluster_centers_, self.objective_ = best.centers, best.sums.cost
        self.partition_coefficient_ = best.sums.square / best.sums.weight
        self.runs_ = np.array(values)
        self.n_iter_, self.history_ = best.iteration.n_iter, best.iteration.history
        self._end = best.iteration.reason
        self._warn_of_the_end()
        context.end(best.iteration.state)

    def _n_starts(self) -> int:
        given = not isinstance(self.init, str) and not callable(self.init)
        if given and self.n_init != 1:
            warn(
                f"the starting centres are given, so there is one run, not n_init={self.n_init}",
                RuntimeWarning,
            )
        return 1 if given else self.n_init

    def _best_run(
        self, problem: Problem, n_init: int, context: FitContext
    ) -> tuple[Run, list[float]]:
        rng, sweeps = generator(self.random_state), sweeps_of(problem)
        best: Run | None = None
        values: list[float] = []
        for i, start in enumerate(problem.starts(self.init, self.n_clusters, n_init, rng)):
            task = context if n_init == 1 else context.subtask(f"start {i}", self.max_iter)
            run = run_soft(
                sweeps,
                start,
                Weights(float(self.m), FUZZY),
                max_iter=self.max_iter,
                tol=self.tol,
                name=type(self).__name__,
                context=task,
            )
            values.append(run.sums.cost)
            if best is None or run.sums.cost < best.sums.cost * (1 - 1e-12):
                best = run
            if n_init > 1 and task.end(run.iteration.state):
                break
        assert best is not None
        return best, values

    def _warn_of_the_end(self) -> None:
        if self._end == "max_iter":
            warn(
                f"FuzzyCMeans: no convergence in max_iter={self.max_iter} rounds: a centre last "
                f"moved by {self.history_[-1]['gap']:.3g} (tol={self.tol:g})",
                ConvergenceWarning,
            )

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"cluster_centers_": (self.n_clusters, self.n_features_in_)}

    def _memberships(self, X: ArrayLike) -> Array:
        weights = Weights(float(self.m), FUZZY)
        return values_of(space_of(self.metric), X, self.cluster_centers_, weights)

    def predict_proba(self, X: ArrayLike) -> Array:
        """The memberships of each row."""
        return self._memberships(self._check_input(X))

    def predict(self, X: ArrayLike) -> IntArray:
        """The centre of the largest membership of each row, which is the nearest one."""
        return np.argmax(self.predict_proba(X), axis=1).astype(np.int32)

    def fit_predict(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> IntArray:
        """``fit(X).labels_``."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def score(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Minus the objective of X at the fitted centres."""
        A = self._check_input(X)
        problem = problem_of(
            Rows(A, None, check_weights(sample_weight, A)), map_threads, space_of(self.metric)
        )
        weights = Weights(float(self.m), FUZZY)
        return -sweeps_of(problem).sums(self.cluster_centers_, weights).cost

    def card(self) -> Card:
        """What was minimised, how, and how far it got."""
        check_is_fitted(self)
        space, history = space_of(self.metric), self.history_
        notes = []
        if not space.descends:
            notes.append(
                f"the {space.center} does not minimise {space.distance.name}: descent is not sure"
            )
        if self._end != "converged":
            notes.append(f"the best run ended by {self._end}, not by the stopping rule")
        values = np.column_stack([history["before"], history["objective"]]).ravel()
        reached = int((self.runs_ <= self.objective_ * (1 + 1e-9)).sum())
        return Card(
            f"{self.n_clusters} centres; memberships of a row are >= 0 and sum to 1",
            f"J = sum of w u^{self.m:g} D(x, v) = {self.objective_:.6g}, D {space.distance.name}",
            "in turn: the best memberships for the centres, the best centres for the memberships; "
            f"stops when no coordinate of a centre moves by {self.tol:g}, or after {self.max_iter} "
            f"rounds; {reached} of {len(self.runs_)} start(s) reached this J",
            {
                "objective": self.objective_,
                "partition coefficient": self.partition_coefficient_,
                "its least value 1/k": 1.0 / self.n_clusters,
                "rounds": self.n_iter_,
                "steps in which J rose": int((np.diff(values) > 1e-12 * values[0]).sum()),
            },
            (),
            tuple(notes),
        )


def _as_if_stopped(state: State) -> dict[str, Any]:
    """The fitted attributes as if the fit had ended with this round."""
    move = state.move
    return {
        "cluster_centers_": state.centers,
        "objective_": None if move is None else move.after,
        "n_iter_": state.step,
    }
