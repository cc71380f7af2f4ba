r"""k-means.

Model        k centres; a row belongs to the nearest one (lowest index on ties)
Objective    J = sum_i w_i d(x_i, c(l_i)),       d = |x - c|^2
Algorithm    E: l_i = argmin_k d(x_i, c_k)       M: c_k = sum_{l_i = k} w_i x_i / sum w_i
             Neither step can raise J and there are finitely many labellings, so it ends, in a
             local optimum; several starts look for a better one.    O(n k p) per round at most
Variants     manhattan: d = |x - c|_1, c_k = coordinate median
             cosine:    d = 1 - cos(x, c), rows scaled to length 1, c_k = unit mean direction
             Metric(distance, center) pairs any other two; then J may rise, and the card says so
Empty        a centre without rows takes the row farthest from its own centre

The rounds are in ``lloyd.py``, their passes over the rows in ``passes.py``, the starts in
``seeding.py``, the kernels in ``kernels.py``.

References: Lloyd (1982); Hamerly (2010); Arthur & Vassilvitskii (2007).
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator, check_weights, fit_blocks, with_callbacks
from pellucid.cluster.kmeans import passes as over_rows
from pellucid.cluster.kmeans.lloyd import Limits, Run, State, run_lloyd
from pellucid.cluster.kmeans.parallel_seeding import TRIES, parallel_centers, takes_parallel
from pellucid.cluster.kmeans.passes import Box, Space, dense_rows, nearest
from pellucid.cluster.kmeans.seeding import MemoryField, SourceField, choose_centers, default_trials
from pellucid.cluster.kmeans.sparse_rows import (
    Passes,
    SparseField,
    SparseRows,
    canonical,
    nearest_sparse,
    sparse_box,
    squared_distances,
    squared_norms,
)
from pellucid.core.arrays import check
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.tensors import like, namespace
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Map, MaybeArray, Rng, Seed
from pellucid.core.functions.distances import Distance, distance, sqeuclidean, unit_rows
from pellucid.core.loops import statistics
from pellucid.core.loops.device import DeviceRows
from pellucid.core.loops.iterate import ConvergenceWarning, FitContext
from pellucid.core.loops.statistics import Node, Rows, Source, Statistic
from pellucid.core.readable import readable
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn

DENSE_VALUES = 20_000_000  # a sparse X with no more cells is written out at once
LEAF_CELLS = 1 << 24  # of a leaf of new sparse rows that are written out
TOGETHER = 10  # starts that are drawn in the same passes over the rows
Init: TypeAlias = str | ArrayLike | Callable[..., ArrayLike]  # a rule, centres, or a function
STOPS = ("shift", "each", "labels")
STARTS = ("k-means++", "k-means++-distance", "random", "uniform", "farthest")


class EmptyClusterWarning(UserWarning):
    """A centre had lost all its rows and took the row farthest from its own centre."""


@readable
class Metric(NamedTuple):
    """A distance and a rule for the centre of a group, for ``KMeans(metric=...)``.

    ``distance``: a name (euclidean, manhattan, cosine, chebyshev, ...; euclidean counts squared
    in J) or a ``core.functions.distances.Distance``. ``center``: mean, median or direction.

    >>> Metric("manhattan", "mean")
    Metric(distance='manhattan', center='mean')
    """

    distance: str | Distance = "euclidean"
    center: str = "mean"


def space_of(metric: str | Metric) -> Space:
    """The space a metric stands for.

    >>> space_of("manhattan").center
    'median'
    """
    if not isinstance(metric, Metric):
        check.one_of(("euclidean", "manhattan", "cosine"), metric=metric)
        metric = Metric(metric, {"manhattan": "median", "cosine": "direction"}.get(metric, "mean"))
    check.one_of(("mean", "median", "direction"), center=metric.center)
    d = distance(metric.distance)
    d = sqeuclidean if d.name == "euclidean" else d
    if metric.center == "direction" and d.name != "cosine":
        raise ValueError(f"center='direction' needs distance='cosine', got {metric.distance!r}")
    return Space(d, metric.center)


class Problem(NamedTuple):
    """Rows ready for k-means: what is known of them, and how to pass over them."""

    source: Source
    map_: Map
    space: Space
    box: Box
    dense: tuple[Array, Array] | None  # rows and weights in memory, where the fast passes apply
    sparse: Rows | None = None  # rows that are too many to be written out

    def passes(self) -> Passes:
        if self.dense is not None:
            return over_rows.MemoryRows(*self.dense, self.space, self.box)
        if self.sparse is not None:
            return SparseRows(self.sparse, self.space, self.box)
        keep = isinstance(self.source, Rows)
        return over_rows.SourceRows(self.source, self.map_, self.space, self.box, keep_labels=keep)

    def starts(self, init: Init, k: int, n_init: int, rng: Rng) -> Iterator[Array]:
        """Starting centres, ``n_init`` times; each start has a stream of its own."""
        rngs = [np.random.default_rng(rng.integers(2**63, size=2)) for _ in range(n_init)]
        if callable(init):
            yield from (self._called(init, k, own) for own in rngs)
        elif not isinstance(init, str):
            yield from (self._given(init, k) for _ in rngs)
        elif init == "uniform":
            low, high = self.box.low, self.box.high
            yield from (self._scaled(own.uniform(low, high, (k, len(low)))) for own in rngs)
        else:
            yield from self._drawn(init, k, rngs)

    def _drawn(self, init: str, k: int, rngs: list[Rng]) -> Iterator[Array]:
        plain = 1.0 if self.space.distance.name == "sqeuclidean" else 2.0  # others are not squared
        power = {"k-means++": 2.0, "k-means++-distance": plain, "random": 0.0}.get(init, np.inf)
        trials = default_trials(k) if init == "k-means++" else 1
        if init == "k-means++" and self.drawn_at_once(k):
            given = self.source, self.map_, self.space, self.dense
            solve = partial(few_centers, self.space)
            for i in range(0, len(rngs), TOGETHER):
                yield from parallel_centers(*given, k, rngs[i : i + TOGETHER], solve)
            return
        field: Any = SourceField(self.source, self.map_, self.space, power)
        if self.dense is not None:
            field = MemoryField(*self.dense, power)
        elif self.sparse is not None:
            field = SparseField(self.sparse, power)
        for i in range(0, len(rngs), TOGETHER):
            for start in choose_centers(field, k, trials, rngs[i : i + TOGETHER]):
                yield start.centers

    def drawn_at_once(self, k: int) -> bool:
        """Whether k-means++ takes the form of few passes; it depends on the rows, not on blocks."""
        held = self.sparse is not None or isinstance(self.source, DeviceRows)
        return not held and takes_parallel(k, self.box.n_rows)

    def _called(self, init: Callable[..., Any], k: int, rng: Rng) -> Array:
        if not isinstance(self.source, Rows):
            raise ValueError("init must not be a function in fit_blocks: X is not in memory")
        old_style = np.random.RandomState(int(rng.integers(2**32)))  # what scikit-learn passes
        return self._given(init(self.source.X, k, random_state=old_style), k)

    def _given(self, init: ArrayLike, k: int) -> Array:
        C = check_array(init, dtype=np.float64, order="C", copy=True, input_name="init")
        p = len(self.box.mean)
        for i, there, what in ((0, k, "clusters"), (1, p, "features of the data")):
            if C.shape[i] != there:
                odd = f"The shape of the initial centers {C.shape}"
                raise ValueError(f"{odd} does not match the number of {what} {there}")
        if not np.abs(C).max() < over_rows.LARGEST:
            raise ValueError(
                f"init holds values beyond {over_rows.LARGEST:g}: squared distances overflow"
            )
        return self._scaled(C)

    def _scaled(self, C: Array) -> Array:
        return unit_rows(C) if self.space.unit else C


def problem_of(source: Source, map_: Map, space: Space) -> Problem:
    """Measure the rows, and bring them into the form the passes want."""
    if isinstance(source, Rows) and issparse(source.X) and not stays_sparse(source.X, space):
        source = source._replace(X=to_dense(source.X))
    if space.center == "median" and not isinstance(source, Rows):
        why = "a median is no sum over blocks"
        raise ValueError(f"fit_blocks needs center 'mean' or 'direction': {why}; use fit")
    dense = None
    if isinstance(source, Rows) and not issparse(source.X) and space.compiled:
        dense = dense_rows(space, source)
        source = Rows(dense[0], None, dense[1])
    if isinstance(source, Rows) and issparse(source.X) and space.compiled:
        source = source._replace(X=canonical(source.X, unit=space.unit))
        box = sparse_box(source.X, source.w)
        return Problem(source, map_, space, box, None, source)
    leaf = partial(over_rows.leaf_box, space if dense is None else RAW)
    box = statistics.reduce_rows(Statistic(leaf, over_rows.merge_boxes), source, map_)
    if not box.weight > 0:
        raise ValueError("the weights are zero for every row; at least one must be positive")
    return Problem(source, map_, space, box, dense)


def few_centers(space: Space, rows: Rows, k: int, rng: Rng) -> Array:
    """The best of some runs of k-means on a few weighted rows."""
    problem = problem_of(rows, map_threads, space)
    passes = problem.passes()
    limits = Limits(300, 1e-4 * problem.box.variance, "KMeans")
    starts = problem.starts("k-means++", k, TRIES, rng)
    runs = [run_lloyd(passes, start, limits, n=rows.n_rows) for start in starts]
    return min(runs, key=lambda run: run.inertia).centers


def stays_sparse(X: Any, space: Space) -> bool:
    """Whether X is sparse and too large to be written out."""
    return issparse(X) and X.shape[0] * X.shape[1] > DENSE_VALUES and space.compiled


def wide_leaves(X: Any, space: Space) -> bool:
    """Whether even a leaf of a sparse X is too large to be written out, for new rows."""
    rows = min(X.shape[0], statistics.LEAF_ROWS)
    return issparse(X) and rows * X.shape[1] > LEAF_CELLS and space.compiled


RAW = Space(sqeuclidean, "mean")  # rows as they are


def best_of(
    starts: Iterator[Array],
    run: Callable[[Array, FitContext], Any],
    objective: Callable[[Any], float],
    n_init: int,
    context: FitContext,
    max_iter: int,
) -> tuple[Any, list[float]]:
    """The run of least objective, one from each start, and the objectives of all."""
    best, values = None, []
    for i, start in enumerate(starts):
        task = context if n_init == 1 else context.subtask(f"start {i}", max_iter)
        found = run(start, task)
        values.append(objective(found))
        # equal up to rounding is the same clustering under other numbers: keep the first
        if best is None or values[-1] < objective(best) * (1 - 1e-12):
            best = found
        if n_init > 1 and task.end(found.iteration.state):
            break
    return best, values


def centers_given(init: Init) -> bool:
    """Whether ``init`` holds the starting centres themselves."""
    return not isinstance(init, str) and not callable(init)


def number_of_starts(init: Init, n_init: int) -> int:
    """``n_init``, or 1 with a warning where the starting centres are given."""
    if not centers_given(init) or n_init == 1:
        return int(n_init)
    one = "Explicit initial center position passed: performing only one init"
    warn(f"{one} instead of n_init={n_init}", RuntimeWarning)
    return 1


def warn_of_fewer(found: int, k: int) -> None:
    """Warn where fewer clusters were found than asked for."""
    if found < k:
        say = f"Number of distinct clusters ({found}) found smaller than n_clusters ({k})."
        warn(f"{say} Possibly due to duplicate points in X.", ConvergenceWarning)


def fit_predict(
    self: Any, X: ArrayLike, y: MaybeArray = None, sample_weight: MaybeArray = None
) -> IntArray:
    """``fit(X).labels_``."""
    return self.fit(X, sample_weight=sample_weight).labels_


def fit_transform(
    self: Any, X: ArrayLike, y: MaybeArray = None, sample_weight: MaybeArray = None
) -> Array:
    """``fit(X).transform(X)``."""
    return self.fit(X, sample_weight=sample_weight).transform(X)


class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Estimator):
    """k-means clustering.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of centres, at most the number of rows.
    init : str, array-like of shape (n_clusters, n_features) or callable, default="k-means++"
        ``"k-means++"`` (from 65,537 rows on in the form of 5 passes, k-means||),
        ``"k-means++-distance"`` (plain distance, one draw), ``"random"``
        (distinct rows), ``"uniform"`` (anywhere in the box of the data), ``"farthest"``, centres,
        or a function ``init(X, n_clusters, random_state)`` that returns them.
    n_init : "auto" or int, default="auto"
        Number of starts; auto is 1 for the ``k-means++`` ones and for given centres, else 10.
    max_iter : int, default=300
        Most rounds of one start.
    tol : float, default=1e-4
        See ``stop``.
    verbose : int, default=0
        Above 0 prints the steps and the time of the fit.
    random_state : int, RandomState, Generator or None
        Seed of the starts.
    copy_x : ignored
        X is never changed.
    algorithm : {"lloyd", "elkan"}, default="lloyd"
        Without effect: bounds that skip needless distances are always used.
    stop : {"shift", "each", "labels"}, default="shift"
        Stop when the squared moves of all centres sum to at most ``tol`` times the mean variance
        of the columns (scikit-learn's rule); when every centre moves less than ``tol``; or when
        no label changes, so that no centre moves at all. The last always stops.
    metric : {"euclidean", "manhattan", "cosine"} or Metric, default="euclidean"
        The distance and the rule for a centre, see the module.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    labels_ : ndarray of shape (n_samples,)
        Nearest of ``cluster_centers_`` (after ``fit``; use ``predict_blocks`` over blocks).
    inertia_ : float
        J of these labels and centres.
    n_iter_ : int
        Rounds of the best run.
    runs_ : ndarray of shape (n_init,)
        J of every start.
    history_ : History
        One row per round of the best run: objective, after_assignment, after_update, shift,
        changed, reseeded, and labels and centers while n x rounds <= 1e7.

    Examples
    --------
    >>> from pellucid import KMeans
    >>> model = KMeans(2, random_state=0).fit([[1.0], [2.0], [3.0], [10.0], [11.0], [12.0]])
    >>> sorted(model.cluster_centers_[:, 0].tolist()), model.inertia_
    ([2.0, 11.0], 4.0)
    """

    _accepts_sparse = True
    _training_state = ("labels_",)

    fit_blocks, fit_predict, fit_transform = fit_blocks, fit_predict, fit_transform

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Init = "k-means++",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int = 0,
        random_state: Seed = None,
        copy_x: bool = True,
        algorithm: str = "lloyd",
        stop: str = "shift",
        metric: str | Metric = "euclidean",
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.stop = stop
        self.metric = metric

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None, sample_weight: MaybeArray = None) -> Self:
        """Find the centres of X."""
        self._check_parameters()
        rows = self._check_training(X, None, sample_weight)
        self._fit_problem(rows, map_threads, X=X, sample_weight=sample_weight)
        return self

    @with_callbacks
    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        self._fit_problem(rows, map_)

    def _predict_tensor(self, X: Any) -> Any:
        space = space_of(self.metric)
        X = over_rows.tensor_rows(space, DeviceRows(X, None, None))
        C = like(self.cluster_centers_, X)
        return over_rows.tensor_nearest(X, C, namespace(X).mean(C, axis=0)).labels

    def _fit_problem(self, source: Source, map_: Map, **data: Any) -> None:
        over_rows.enough_rows(self.n_clusters, source.n_rows)
        problem = problem_of(source, map_, space_of(self.metric))
        n_init = self._n_starts()
        steps = self.max_iter if n_init == 1 else n_init
        context = FitContext(self, max_steps=steps, attributes=_as_if_stopped, **data)
        best, values = self._best_run(problem, n_init, context)
        self.cluster_centers_, self.inertia_ = best.centers, best.inertia
        self.n_iter_, self.history_ = best.iteration.n_iter, best.iteration.history
        self.runs_ = np.array(values)
        self._end = best.iteration.reason
        if best.labels is None:
            self.__dict__.pop("labels_", None)
        else:
            self.labels_ = best.labels
        self._n_features_out = self.n_clusters
        self._say(best)
        context.end(best.iteration.state)

    def _best_run(
        self, problem: Problem, n_init: int, context: FitContext
    ) -> tuple[Run, list[float]]:
        starts = problem.starts(self.init, self.n_clusters, n_init, generator(self.random_state))
        rows = problem.passes()

        def run(start: Array, task: FitContext) -> Run:
            limits = Limits(self.max_iter, self._gap(problem.box), type(self).__name__, task)
            return run_lloyd(rows, start, limits, n=problem.box.n_rows, stop=self.stop)

        return best_of(starts, run, lambda one: one.inertia, n_init, context, self.max_iter)

    def _gap(self, box: Box) -> float:
        """The gap at which the loop stops, in the units of ``run_lloyd``."""
        if self.stop == "shift":
            return self.tol * box.variance
        if self.stop == "each":  # strictly less than tol
            return float(np.nextafter(self.tol, 0.0))
        return 0.0

    def _n_starts(self) -> int:
        if self.n_init != "auto":
            return number_of_starts(self.init, int(self.n_init))
        once = centers_given(self.init) or self.init in ("k-means++", "k-means++-distance")
        return 1 if once else 10

    def _check_parameters(self) -> None:
        check.whole(n_clusters=self.n_clusters, max_iter=self.max_iter)
        check.non_negative(tol=self.tol)
        check.one_of(STOPS, stop=self.stop)
        check.one_of(("lloyd", "elkan"), algorithm=self.algorithm)
        check.boolean(copy_x=self.copy_x)
        if isinstance(self.init, str):
            check.one_of(STARTS, init=self.init)
        if self.n_init != "auto":
            if isinstance(self.n_init, str):
                raise ValueError(f"n_init must be 'auto' or a whole number, got {self.n_init!r}")
            check.whole(n_init=self.n_init)
        space_of(self.metric)

    def _say(self, best: Run) -> None:
        """Warn of what the user should know of the run that was kept."""
        run, moved = best.iteration, int(best.iteration.history["reseeded"].sum())
        warn_of_fewer(int((best.weights > 0).sum()), self.n_clusters)
        if moved:
            say = f"{moved} time(s) a cluster was empty and took the row farthest from its centre"
            warn(f"{say}; see history_['reseeded']", EmptyClusterWarning)
        if run.reason == "max_iter":
            end = f"no convergence in max_iter={self.max_iter} rounds"
            gap = f"last gap {run.history[-1]['gap']:.3g} (stop={self.stop!r}, tol={self.tol:g})"
            warn(f"KMeans: {end}: {gap}", ConvergenceWarning)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"cluster_centers_": (self.n_clusters, self.n_features_in_)}

    def _near(
        self, X: np.ndarray, function: Callable[[Array, Array], Any], w: Array | None = None
    ) -> list[Any]:
        """``function(rows, weights)`` of every leaf of checked X, in order."""
        space = space_of(self.metric)
        rows = Rows(X, None, np.broadcast_to(np.float64(1.0), X.shape[:1]) if w is None else w)

        def leaf(start: int) -> Any:
            return function(*dense_rows(space, rows.slice(start, start + statistics.LEAF_ROWS)))

        return list(map_threads(leaf, range(0, X.shape[0], statistics.LEAF_ROWS)))

    def predict(self, X: ArrayLike) -> IntArray:
        """The nearest centre of each row."""
        rows, space = self._check_input(X), space_of(self.metric)
        C = self.cluster_centers_
        if wide_leaves(rows, space):
            return nearest_sparse(space, rows, C).labels
        return np.concatenate(self._near(rows, lambda x, w: nearest(space, x, w, C).labels))

    def transform(self, X: ArrayLike) -> Array:
        """The distance of each row to each centre (Euclidean distances are not squared here)."""
        rows, space = self._check_input(X), space_of(self.metric)
        if wide_leaves(rows, space):
            rows = canonical(rows, unit=space.unit)
            D = squared_distances(rows, squared_norms(rows), self.cluster_centers_)
            return 0.5 * D if space.unit else np.sqrt(D)
        d = distance("euclidean") if space.distance.name == "sqeuclidean" else space.distance
        return np.vstack(self._near(rows, lambda x, w: d.pairwise(x, self.cluster_centers_)))

    def score(self, X: ArrayLike, y: MaybeArray = None, sample_weight: MaybeArray = None) -> float:
        """Minus J of X at the fitted centres."""
        rows, space = self._check_input(X), space_of(self.metric)
        C = self.cluster_centers_
        w = check_weights(sample_weight, rows)
        if wide_leaves(rows, space):
            return -float((w * nearest_sparse(space, rows, C).terms).sum())
        parts = self._near(rows, lambda x, v: float((v * nearest(space, x, v, C).terms).sum()), w)
        nodes = [Node(0, i, v) for i, v in enumerate(parts)]
        return -float(statistics.merge_nodes(nodes, over_rows.merge_sum))

    def card(self) -> Card:
        """What was minimised, how, and how far it got."""
        check_is_fitted(self)
        space, history = space_of(self.metric), self.history_
        names = {"sqeuclidean": "|x - c|^2", "manhattan": "|x - c|_1", "cosine": "1 - cos(x, c)"}
        term = names.get(space.distance.name, f"{space.distance.name}(x, c)")
        values = np.column_stack([history["after_assignment"], history["after_update"]]).ravel()
        rises = int((np.diff(values) > 0).sum())
        rule = {
            "shift": f"squared moves of the centres sum to <= {self.tol:g} x the mean variance",
            "each": f"every centre moves < {self.tol:g}",
            "labels": "no label changes",
        }[self.stop]
        notes = []
        if not space.descends:
            notes.append(f"the {space.center} does not minimise {term}: descent is not guaranteed")
        if self._end != "converged":
            notes.append(f"the best run ended by {self._end}, not by the stopping rule")
        if history["reseeded"].any():
            notes.append("a cluster was empty and took the farthest row: see history_['reseeded']")
        kind = " (a local optimum: one of many)" if self._end == "converged" else ""
        if self.inertia_ == 0 or (self.n_clusters == 1 and space.descends and kind):
            kind = " (the least there is)"
        reached = int((self.runs_ <= self.inertia_ * (1 + 1e-9)).sum())
        return Card(
            f"{self.n_clusters} centres; a row belongs to the nearest"
            if self.n_clusters > 1
            else "one centre of all rows",
            f"J = sum of w {term} to the own centre = {self.inertia_:.6g}",
            f"Lloyd: nearest centre, then the {space.center} of each group; stops when {rule}, or "
            f"after {self.max_iter} rounds; {reached} of {len(self.runs_)} start(s) reached this J"
            f"{kind}",
            {
                "inertia": self.inertia_,
                "rounds": self.n_iter_,
                "first J": float(values[0]),
                "last shift": float(history["shift"][-1]),
                "steps in which J rose": rises,
            },
            warnings=tuple(notes),
        )


def _as_if_stopped(state: State) -> dict[str, Any]:
    """The fitted attributes as if the fit had ended with this round."""
    value = None if state.round is None else state.round.after_update
    found = {"cluster_centers_": state.centers, "inertia_": value, "n_iter_": state.step}
    return {**found, "_n_features_out": len(state.centers)}
