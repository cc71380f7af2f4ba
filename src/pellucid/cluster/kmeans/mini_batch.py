r"""k-means by small batches of rows.

Model        k centres; a row belongs to the nearest one
Step         draw a batch of rows in proportion to their weight; with N_k rows seen so far of
             centre k and the rows B_k of the batch that are nearest to it,
             c_k <- (N_k c_k + sum of B_k) / (N_k + |B_k|),   N_k <- N_k + |B_k|
             so that every centre is the mean of all the rows it was given so far
Renewal      a centre with hardly any rows (``reassignment_ratio``) becomes a row of the batch
Stop         when the smoothed J of the batches has not fallen for ``max_no_improvement`` batches
Cost         O(b k p) a batch, whatever the number of rows: J ends a few percent above that of
             KMeans

References: Bottou & Bengio (1995); Sculley (2010), web-scale k-means clustering.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator, check_weights, with_callbacks
from pellucid.cluster.kmeans.kmeans import (
    DENSE_VALUES,
    RAW,
    STARTS,
    Init,
    KMeans,
    centers_given,
    fit_predict,
    fit_transform,
    number_of_starts,
    problem_of,
)
from pellucid.cluster.kmeans.passes import Near, enough_rows, nearest
from pellucid.cluster.kmeans.seeding import lexicographic
from pellucid.cluster.kmeans.sparse_rows import nearest_sparse
from pellucid.core.arrays import check
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import (
    Array,
    ArrayLike,
    IntArray,
    Matrix,
    MaybeArray,
    Rng,
    Seed,
)
from pellucid.core.loops.iterate import FitContext, History
from pellucid.core.loops.statistics import LEAF_ROWS, Rows, is_unit, unit_weights
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn


class BatchState(NamedTuple):
    """The centres, the rows that each was given, and what the last batch said."""

    centers: Array  # (k, p)
    counts: Array  # (k,)
    since: float  # rows since centres were last renewed
    mean_inertia: float  # of the last batch
    smoothed: float | None  # inf before the first batch that counts
    best: float
    idle: int  # batches since the smoothed J fell
    renewed: int
    shift: float


class Draws(NamedTuple):
    """Rows drawn in proportion to their weight, the same whether rows are repeated or weighted."""

    X: Any
    order: IntArray | None
    cumulative: Array | None

    def take(self, m: int, rng: Rng) -> Any:
        """(m, p) rows, with replacement."""
        u = rng.random(m)
        if self.cumulative is None:
            places = np.minimum((u * self.X.shape[0]).astype(np.intp), self.X.shape[0] - 1)
        else:
            places = np.searchsorted(self.cumulative, u * self.cumulative[-1], side="right")
            places = np.minimum(places, len(self.cumulative) - 1)
        return self.X[places if self.order is None else self.order[places]]


def draws_of(X: Matrix, w: Array) -> Draws:
    """A sampler of the rows; up to LEAF_ROWS rows their order does not matter."""
    n, p = X.shape
    few = n <= LEAF_ROWS and n * p <= DENSE_VALUES
    order = lexicographic(np.ascontiguousarray(to_dense(X))) if few else None
    weights = w if order is None else w[order]
    return Draws(X, order, None if is_unit(w) else np.cumsum(weights))


def near_centers(X: Matrix, C: Array) -> Near:
    """The nearest centre of every row of a batch."""
    if issparse(X):
        return nearest_sparse(RAW, X, C)
    return nearest(RAW, np.ascontiguousarray(X), unit_weights(len(X)), C)


def moved_centers(
    X: Matrix, w: Array, labels: IntArray, C: Array, counts: Array
) -> tuple[Array, Array]:
    """Centres as means of all the rows that they were given, and how many these are."""
    k, n = len(C), X.shape[0]
    Z = csr_array((w, (labels, np.arange(n))), shape=(k, n))
    sums, size = to_dense(Z @ X), np.bincount(labels, w, minlength=k)
    total = counts + size
    share = np.divide(size, total, out=np.zeros(k), where=total > 0)[:, None]
    mean = sums / np.where(size > 0, size, 1.0)[:, None]
    return C + share * (mean - C) * (size > 0)[:, None], total


def renewed_centers(
    X: Matrix, C: Array, counts: Array, ratio: float, rng: Rng
) -> tuple[Array, Array, int]:
    """Centres with few rows put on rows of the batch, at most half as many as it has."""
    low = counts < ratio * counts.max()
    most = int(0.5 * X.shape[0])
    if low.sum() > 0.5 * X.shape[0]:
        low[np.argsort(counts, kind="stable")[most:]] = False
    if not low.any():
        return C, counts, 0
    C, counts = C.copy(), counts.copy()
    C[low] = to_dense(X[rng.choice(X.shape[0], int(low.sum()), replace=False)])
    counts[low] = counts[~low].min()
    return C, counts, int(low.sum())


class MiniBatchKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Estimator):
    """k-means by small batches: nearly as good as KMeans, at a cost that hardly grows with n.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of centres, at most the number of rows.
    init : str, array-like of shape (n_clusters, n_features) or callable, default="k-means++"
        As in ``KMeans``.
    max_iter : int, default=100
        Rows drawn at most, in multiples of the rows there are.
    batch_size : int, default=1024
        Rows of a batch.
    verbose : int, default=0
        Above 0 prints the steps and the time of the fit.
    compute_labels : bool, default=True
        Label all rows at the end.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the start and of the batches.
    tol : float, default=0.0
        Stop when the squared moves of all centres sum to at most ``tol`` times the mean variance
        of the columns; 0 does not look.
    max_no_improvement : int or None, default=10
        Stop when the smoothed J has not fallen for so many batches; None does not look.
    init_size : int or None, default=None
        Rows drawn for the starts; None is three batches, or 3 ``n_clusters`` if that is more.
    n_init : "auto" or int, default="auto"
        Number of starts, judged on ``init_size`` rows; auto is 1 for ``k-means++`` and for given
        centres, else 3.
    reassignment_ratio : float, default=0.01
        A centre that was given less than this share of the rows of the largest one is renewed.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    labels_ : ndarray of shape (n_samples,)
        With ``compute_labels``; of the last batch after ``partial_fit``.
    inertia_ : float
        J of these labels; without them the smoothed J of the batches.
    n_iter_ : int
        Rows drawn by rows there are, rounded up.
    n_steps_ : int
        Batches.
    history_ : History
        One row per batch: ``objective`` (mean J of its rows), ``smoothed``, ``shift``, ``renewed``.

    Examples
    --------
    >>> from pellucid import MiniBatchKMeans
    >>> X = [[1.0], [2.0], [3.0], [10.0], [11.0], [12.0]]
    >>> model = MiniBatchKMeans(2, random_state=0).fit(X)
    >>> sorted(model.cluster_centers_[:, 0].round().tolist())
    [2.0, 11.0]
    """

    _accepts_sparse = True
    _squares_x = True
    _training_state = ("labels_",)

    fit_predict, fit_transform = fit_predict, fit_transform
    metric = "euclidean"  # of the methods that are those of KMeans
    _near, predict, transform, score = KMeans._near, KMeans.predict, KMeans.transform, KMeans.score

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Init = "k-means++",
        max_iter: int = 100,
        batch_size: int = 1024,
        verbose: int = 0,
        compute_labels: bool = True,
        random_state: Seed = None,
        tol: float = 0.0,
        max_no_improvement: int | None = 10,
        init_size: int | None = None,
        n_init: int | str = "auto",
        reassignment_ratio: float = 0.01,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.verbose = verbose
        self.compute_labels = compute_labels
        self.random_state = random_state
        self.tol = tol
        self.max_no_improvement = max_no_improvement
        self.init_size = init_size
        self.n_init = n_init
        self.reassignment_ratio = reassignment_ratio

    def _check_parameters(self) -> None:
        check.whole(n_clusters=self.n_clusters, max_iter=self.max_iter, batch_size=self.batch_size)
        check.non_negative(tol=self.tol, reassignment_ratio=self.reassignment_ratio)
        check.boolean(compute_labels=self.compute_labels)
        if self.max_no_improvement is not None:
            check.whole(at_least=0, max_no_improvement=self.max_no_improvement)
        if self.init_size is not None:
            check.whole(init_size=self.init_size)
        if isinstance(self.init, str):
            check.one_of(STARTS, init=self.init)
        if self.n_init != "auto":
            if isinstance(self.n_init, str):
                raise ValueError(f"n_init must be 'auto' or a whole number, got {self.n_init!r}")
            check.whole(n_init=self.n_init)

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None, sample_weight: MaybeArray = None) -> Self:
        """Find the centres of X by batches drawn from it."""
        self._check_parameters()
        rows = self._check_training(X, None, sample_weight)
        enough_rows(self.n_clusters, rows.n_rows)
        draws, rng = draws_of(rows.X, rows.w), generator(self.random_state)
        n = max(round(float(rows.w.sum())), 1)
        b = min(self.batch_size, n)
        steps = max((self.max_iter * n) // b, 1)
        context = FitContext(
            self, X=X, sample_weight=sample_weight, max_steps=steps, attributes=_as_if_stopped
        )
        start = self._start(draws, n, b, rng)
        box = problem_of(rows, map_threads, RAW).box if self.tol > 0 else None
        alpha = min(2.0 * b / (n + 1), 1.0)

        def step(state: BatchState) -> tuple[BatchState, float]:
            new = self._step(draws.take(b, rng), unit_weights(b), state, rng)
            if state.smoothed is None:  # the first batch judges the start
                new = new._replace(smoothed=np.inf)
                return new, new.shift
            mean = new.mean_inertia
            smooth = (
                mean if state.smoothed == np.inf else (state.smoothed * (1 - alpha) + mean * alpha)
            )
            fell = smooth < state.best
            idle = 0 if fell else state.idle + 1
            return new._replace(smoothed=smooth, best=min(smooth, state.best), idle=idle), new.shift

        most = self.max_no_improvement
        run = self._iterate(
            step,
            start,
            max_iter=steps,
            tol=self.tol * box.variance if box is not None and box.variance > 0 else None,
            record=_row_of,
            start_row=False,
            stop=None if most is None else lambda h: len(h) > 1 and h[-1]["idle"] >= most,
            context=context,
        )
        state = run.state
        self.cluster_centers_, self._counts = state.centers, state.counts
        self.n_steps_, self._since = run.n_iter, state.since
        self.n_iter_ = int(np.ceil(run.n_iter * b / n))
        self._n_features_out = self.n_clusters
        last = state.smoothed if state.smoothed not in (None, np.inf) else state.mean_inertia
        self._label(rows, float(last) * float(rows.w.sum()))
        return self

    def _label(self, rows: Rows, inertia: float) -> None:
        """Labels and J of all rows, where asked for."""
        self.__dict__.pop("labels_", None)
        self.inertia_ = inertia
        if self.compute_labels:
            C, starts = self.cluster_centers_, range(0, rows.n_rows, LEAF_ROWS)
            parts = list(map_threads(lambda a: near_centers(rows.X[a : a + LEAF_ROWS], C), starts))
            self.labels_ = np.concatenate([part.labels for part in parts])
            self.inertia_ = float(rows.w @ np.concatenate([part.terms for part in parts]))

    def _start(self, draws: Draws, n: int, b: int, rng: Rng) -> BatchState:
        """The best of some starts, by J of rows drawn to judge them."""
        k = self.n_clusters
        size = self.init_size or max(3 * b, 3 * k)
        if size < k:
            warn(
                f"init_size={size} should be larger than n_clusters={k}: "
                "3 n_clusters rows are drawn",
                RuntimeWarning,
            )
            size = 3 * k
        size = min(size, n)
        judged = draws.take(size, rng) if size < n else draws.X
        many = 3 if self.n_init == "auto" else number_of_starts(self.init, int(self.n_init))
        once = centers_given(self.init) or self.init in ("k-means++", "k-means++-distance")
        many = 1 if self.n_init == "auto" and once else many
        found = []
        for _ in range(many):
            sample = draws.take(size, rng) if size < n else draws.X
            weights = unit_weights(sample.shape[0]) if size < n else self._own_weights(draws)
            source = draws.X if callable(self.init) else sample
            weights = unit_weights(source.shape[0]) if callable(self.init) else weights
            problem = problem_of(Rows(source, None, weights), map_threads, RAW)
            C = next(iter(problem.starts(self.init, k, 1, rng)))
            found.append((float(near_centers(judged, C).terms.sum()) if many > 1 else 0.0, C))
        C = min(found, key=lambda pair: pair[0])[1]
        return BatchState(C, np.zeros(k), 0.0, np.nan, None, np.inf, 0, 0, np.inf)

    @staticmethod
    def _own_weights(draws: Draws) -> Array:
        """The weights of all rows, in their own order."""
        n = draws.X.shape[0]
        if draws.cumulative is None:
            return unit_weights(n)
        w = np.diff(draws.cumulative, prepend=0.0)
        if draws.order is None:
            return w
        out = np.empty(n)
        out[draws.order] = w
        return out

    def _step(self, X: Matrix, w: Array, state: BatchState, rng: Rng) -> BatchState:
        """One batch: labels, means, renewal of centres that hardly get rows."""
        near = near_centers(X, state.centers)
        C, counts = moved_centers(X, w, near.labels, state.centers, state.counts)
        since, renewed = state.since + float(w.sum()), 0
        if (state.counts == 0).any() or since >= 10 * len(C):
            since = 0.0
            if self.reassignment_ratio > 0:
                C, counts, renewed = renewed_centers(X, C, counts, self.reassignment_ratio, rng)
        mean = float((w * near.terms).sum() / w.sum())
        shift = float(((C - state.centers) ** 2).sum())
        return state._replace(
            centers=C, counts=counts, since=since, mean_inertia=mean, renewed=renewed, shift=shift
        )

    def partial_fit(
        self, X: ArrayLike, y: MaybeArray = None, sample_weight: MaybeArray = None
    ) -> Self:
        """Move the centres by one batch of rows."""
        self._check_parameters()
        first = not hasattr(self, "cluster_centers_")
        if first:
            rows = self._check_training(X, None, sample_weight)
            enough_rows(self.n_clusters, rows.n_rows)
            self.n_steps_, self.n_iter_, self.history_ = 0, 1, History()
        else:
            Z = self._check_matrix(X, reset=False, finite=True)
            rows = Rows(Z, None, check_weights(sample_weight, Z))
        seed = int(generator(self.random_state).integers(2**62))
        rng = np.random.default_rng([seed, self.n_steps_])
        if first:
            draws = draws_of(rows.X, rows.w)
            state = self._start(draws, rows.n_rows, rows.n_rows, rng)
        else:
            C, counts = self.cluster_centers_, self._counts
            state = BatchState(C, counts, self._since, np.nan, None, np.inf, 0, 0, np.inf)
        state = self._step(rows.X, rows.w, state, rng)
        self.cluster_centers_, self._counts, self._since = state.centers, state.counts, state.since
        self.n_steps_ += 1
        self.history_.append({"step": self.n_steps_, **_row_of(state), "gap": state.shift})
        self._n_features_out = self.n_clusters
        self._label(rows, state.mean_inertia * float(rows.w.sum()))
        return self

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        k = self.n_clusters
        return {"cluster_centers_": (k, self.n_features_in_), "_counts": (k,)}

    def card(self) -> Card:
        """What was minimised, how, and how far it got."""
        check_is_fitted(self)
        b = self.batch_size
        return Card(
            f"{self.n_clusters} centres; a row belongs to the nearest",
            f"J = sum of w |x - c|^2 to the own centre = {self.inertia_:.6g}",
            f"{self.n_steps_} batches of up to {b} rows drawn at random; a centre is the mean of "
            "all the rows it was given (no optimum: KMeans goes on from here)",
            {
                "inertia": self.inertia_,
                "batches": self.n_steps_,
                "centres renewed": int(self.history_["renewed"].sum()),
            },
        )


def _row_of(state: BatchState) -> dict[str, Any]:
    smoothed = state.smoothed if state.smoothed not in (None, np.inf) else state.mean_inertia
    found: dict[str, Any] = {"objective": state.mean_inertia, "smoothed": smoothed}
    return {**found, "shift": state.shift, "renewed": state.renewed, "idle": state.idle}


def _as_if_stopped(state: BatchState) -> dict[str, Any]:
    """The fitted attributes as if the fit had ended with this batch."""
    found = {"cluster_centers_": state.centers, "_counts": state.counts, "n_iter_": 1}
    return {**found, "_n_features_out": len(state.centers), "inertia_": state.mean_inertia}
