r"""Possibilistic c-means: how typical a row is of each centre, whatever the others say.

Model        k centres v; typicalities 0 <= t_ik <= 1 whose rows need not sum to 1
Objective    J = sum_i w_i sum_k [ t_ik^m D_ik + eta_k (1 - t_ik)^m ],   D_ik = |x_i - v_k|^2
Algorithm    t_ik = 1 / (1 + (D_ik / eta_k)^(1/(m-1)))
             v_k  = sum_i w_i t_ik^m x_i / sum_i w_i t_ik^m
             Each step minimises J with the other part fixed, so J never rises.    O(n k p) a round
Scale        eta_k is the squared distance at which a row is half typical; from a fuzzy fit,
             eta_k = sum_i w_i u_ik^m D_ik / sum_i w_i u_ik^m
Outliers     a far row has small t for every centre: it belongs nowhere and pulls nothing
Coincidence  the centres do not push each other away; two may meet in one dense group

The rounds are in ``rounds.py``, the kernels in ``kernels.py``.

References: Krishnapuram & Keller (1993, 1996).
"""

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator, check_weights, fit_blocks, with_callbacks
from pellucid.cluster.kmeans.kmeans import RAW, Problem, fit_predict, problem_of
from pellucid.cluster.kmeans.lloyd import Limits
from pellucid.cluster.kmeans.passes import enough_rows
from pellucid.cluster.soft import rounds
from pellucid.cluster.soft.fuzzy import check_exponent
from pellucid.cluster.soft.rounds import FUZZY, Weights, run_soft, sweeps_of, values_of
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Map, MaybeArray, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows, Source
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn

SAME_PLACE = 0.05  # centres nearer than this share of their scale's root count as one


class CoincidentCentersWarning(UserWarning):
    """Two or more centres have met in one place: there are fewer groups than centres."""


class PossibilisticStart(NamedTuple):
    """Where the rounds begin."""

    centers: Array  # (k, p)
    scale: Array  # (k,)


def coincident(C: Array, eta: Array) -> list[list[int]]:
    """Groups of centres that lie in one place, by index.

    >>> coincident(np.array([[0.0], [5.0], [0.01]]), np.ones(3))
    [[0, 2]]
    """
    gap = ((C[:, None, :] - C[None, :, :]) ** 2).sum(axis=2)
    near = gap <= SAME_PLACE**2 * np.minimum(eta[:, None], eta[None, :])
    groups: list[list[int]] = []
    taken: set[int] = set()
    for i in range(len(C)):
        group = [j for j in np.flatnonzero(near[i]).tolist() if j not in taken]
        if len(group) > 1 and i not in taken:
            groups.append(group)
            taken.update(group)
    return groups


class PossibilisticCMeans(ClusterMixin, Estimator):
    """Possibilistic c-means clustering.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of centres, at most the number of rows.
    max_iter : int, default=300
        Most rounds.
    tol : float, default=1e-6
        Stop when no coordinate of a centre moves by ``tol`` times the root of the mean variance of
        the columns.
    m : float, default=2.0
        Exponent, m > 1; near 1 a row is either typical or not at all.
    scale : "fuzzy", float or array-like of shape (n_clusters,), default="fuzzy"
        The squared distance at which a row is half typical; ``"fuzzy"`` measures it by a fuzzy
        fit with the same m.
    init : "fuzzy" or array-like of shape (n_clusters, n_features), default="fuzzy"
        Starting centres; ``"fuzzy"`` takes those of a fuzzy fit.
    random_state : int, RandomState, Generator or None
        For the start of the fuzzy fit.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    typicality_ : ndarray of shape (n_samples, n_clusters)
        At ``cluster_centers_`` (after ``fit``; use ``typicality`` over blocks).
    scale_ : ndarray of shape (n_clusters,)
    labels_ : ndarray of shape (n_samples,)
        The centre of which a row is most typical.
    objective_ : float
    n_iter_ : int
    history_ : History
        One row per round: objective, before, centers.

    Examples
    --------
    >>> from pellucid import PossibilisticCMeans
    >>> X = [[1.0], [2.0], [3.0], [10.0], [11.0], [12.0], [40.0]]
    >>> model = PossibilisticCMeans(2, scale=1.0, init=[[2.0], [11.0]]).fit(X)
    >>> model.cluster_centers_.ravel().round(4)
    array([ 2.0085, 10.9917])
    >>> model.typicality_[-1].round(4)
    array([0.0007, 0.0012])
    """

    _training_state = ("labels_", "typicality_")

    fit_blocks, fit_predict = fit_blocks, fit_predict

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        m: float = 2.0,
        scale: str | float | ArrayLike = "fuzzy",
        init: str | ArrayLike = "fuzzy",
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.m = m
        self.scale = scale
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None, sample_weight: MaybeArray = None) -> Self:
        """Find the centres and typicalities of X."""
        self._check_parameters()
        rows = self._check_training(X, None, sample_weight)
        self._fit_problem(rows, map_threads, X=X, sample_weight=sample_weight)
        self.typicality_ = self._typicalities(rows.X)
        self.labels_ = np.argmax(self.typicality_, axis=1).astype(np.int32)
        return self

    @with_callbacks
    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        self._fit_problem(rows, map_)
        for name in self._training_state:
            self.__dict__.pop(name, None)

    def _check_parameters(self) -> None:
        check.whole(n_clusters=self.n_clusters, max_iter=self.max_iter)
        check.non_negative(tol=self.tol)
        check_exponent(self.m)
        if isinstance(self.init, str):
            check.one_of(("fuzzy",), init=self.init)
        if isinstance(self.scale, str):
            check.one_of(("fuzzy",), scale=self.scale)

    def _given_scale(self) -> Array:
        eta = np.asarray(self.scale)
        numbers = eta.dtype.kind in "fiu" and eta.ndim <= 1 and eta.size in (1, self.n_clusters)
        if not (numbers and np.isfinite(eta).all() and (eta > 0).all()):
            known = f"'fuzzy', a number > 0 or one for each of the {self.n_clusters} centres"
            raise ValueError(f"scale must be {known}, got {self.scale!r}")
        return np.full(self.n_clusters, eta, dtype=np.float64) if eta.size == 1 else eta * 1.0

    def _start(self, problem: Problem) -> PossibilisticStart:
        """Centres and scales, from a fuzzy fit where they are not given."""
        given = None if isinstance(self.init, str) else self.init
        eta = None if isinstance(self.scale, str) else self._given_scale()
        rng = generator(self.random_state)
        init = "k-means++" if given is None else given
        centers = next(problem.starts(init, self.n_clusters, 1, rng))
        if given is not None and eta is not None:
            return PossibilisticStart(centers, eta)
        tol = max(self.tol, 1e-4) * float(np.sqrt(problem.box.variance))  # a start needs no more
        limits = Limits(self.max_iter, tol, "fuzzy start")
        fuzzy = run_soft(sweeps_of(problem), centers, Weights(float(self.m), FUZZY), limits)
        if eta is None:
            weight = fuzzy.sums.total[:, -1]
            eta = fuzzy.sums.spread / np.where(weight > 0, weight, 1.0)
        return PossibilisticStart(fuzzy.centers if given is None else centers, eta)

    def _fit_problem(self, source: Source, map_: Map, **data: Any) -> None:
        enough_rows(self.n_clusters, source.n_rows)
        problem = problem_of(source, map_, RAW)
        start = self._start(problem)
        attributes = partial(rounds.as_if_stopped, scale_=start.scale)
        context = FitContext(self, max_steps=self.max_iter, attributes=attributes, **data)
        tol = self.tol * float(np.sqrt(problem.box.variance))
        limits = Limits(self.max_iter, tol, type(self).__name__, context)
        weights = Weights(float(self.m), start.scale)
        run = run_soft(sweeps_of(problem), start.centers, weights, limits)
        self.cluster_centers_, self.scale_ = run.centers, start.scale
        self.objective_ = run.sums.cost
        self.n_iter_, self.history_ = run.iteration.n_iter, run.iteration.history
        self._end = run.iteration.reason
        self._say()
        context.end(run.iteration.state)

    def _say(self) -> None:
        """Warn of what the user should know."""
        rounds.warn_of_limit(self)
        if groups := coincident(self.cluster_centers_, self.scale_):
            words = "; ".join(" and ".join(map(str, group)) for group in groups)
            cure = "fewer clusters, or a smaller scale, would keep them apart"
            warn(f"centres lie in one place: {words}; {cure}", CoincidentCentersWarning)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        k = self.n_clusters
        return {"cluster_centers_": (k, self.n_features_in_), "scale_": (k,)}

    def _typicalities(self, X: ArrayLike) -> Array:
        return values_of(RAW, X, self.cluster_centers_, Weights(float(self.m), self.scale_))

    def typicality(self, X: ArrayLike) -> Array:
        """How typical each row is of each centre."""
        return self._typicalities(self._check_input(X))

    def predict(self, X: ArrayLike) -> IntArray:
        """The centre of which each row is most typical."""
        return np.argmax(self.typicality(X), axis=1).astype(np.int32)

    def score_samples(self, X: ArrayLike) -> Array:
        """The largest typicality of each row: small for an outlier."""
        return self.typicality(X).max(axis=1)

    def score(self, X: ArrayLike, y: MaybeArray = None, sample_weight: MaybeArray = None) -> float:
        """Minus the objective of X at the fitted centres and scales."""
        A = self._check_input(X)
        problem = problem_of(Rows(A, None, check_weights(sample_weight, A)), map_threads, RAW)
        weights = Weights(float(self.m), self.scale_)
        return -sweeps_of(problem).sums(self.cluster_centers_, weights).cost

    def card(self) -> Card:
        """What was minimised, how, and how far it got."""
        check_is_fitted(self)
        notes = []
        if groups := coincident(self.cluster_centers_, self.scale_):
            notes.append(f"centres lie in one place: {groups}")
        if self._end != "converged":
            notes.append(f"the rounds ended by {self._end}, not by the stopping rule")
        source = "a fuzzy fit" if isinstance(self.scale, str) else "the user"
        return Card(
            f"{self.n_clusters} centres; typicalities between 0 and 1, each on its own",
            f"J = sum of w (t^{self.m:g} D + eta (1 - t)^{self.m:g}) = {self.objective_:.6g}",
            "in turn: the best typicalities for the centres, the best centres for the "
            f"typicalities; scales eta from {source}; stops when no coordinate of a centre moves "
            f"by {self.tol:g} of the rows' spread, or after {self.max_iter} rounds",
            {
                "objective": self.objective_,
                "rounds": self.n_iter_,
                "smallest scale": float(self.scale_.min()),
                "largest scale": float(self.scale_.max()),
                "steps in which J rose": rounds.rises(self.history_),
            },
            warnings=tuple(notes),
        )
