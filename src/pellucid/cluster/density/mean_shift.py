r"""Mean shift: every seed climbs to a peak of the density; near peaks are one cluster.

Model        the density of the rows with the kernel max(0, 1 - |x - x_i|^2 / h^2), h the bandwidth
Step         q <- mean of the rows within h of q: uphill on that density, by its gradient over the
             number of rows
Stop         a seed rests when it moves by at most h / 1000
Clusters     peaks by falling number of rows, then by falling coordinates; a peak within h of an
             earlier one is dropped. A row belongs to the nearest peak
Cost         kd-tree with the mean of every node: a ball costs the leaves on its rim, not its rows

References: Fukunaga & Hostetler (1975); Cheng (1995); Comaniciu & Meer (2002).
"""

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator, with_callbacks
from pellucid.cluster.density import ball_kernels, regions
from pellucid.cluster.density.bandwidth import mean_reach
from pellucid.compiled.distances.brute import direct_nearest
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, MaybeArray
from pellucid.core.loops.iterate import ConvergenceWarning, FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn

REST = 1e-3  # of the bandwidth: a smaller move is the last
BLOCK = 256  # seeds that a thread moves together


class Balls(NamedTuple):
    """The kd-tree of the rows with the moments of its nodes, as ``move_seeds`` takes it."""

    tiles: Array
    slots: IntArray
    n: int
    low: Array
    high: Array
    mean: Array  # (nodes, p)
    spread: Array  # (nodes,)
    sizes: IntArray  # (nodes,) rows


def balls_of(X: Array) -> Balls:
    """The tree of the rows."""
    boxes = regions.boxes_of(X)
    nodes = len(boxes.low)
    moments = np.empty((nodes, X.shape[1])), np.empty(nodes), np.zeros(nodes, np.int64)
    ball_kernels.node_moments(*boxes, *moments)
    return Balls(*boxes, *moments)


class Seeds(NamedTuple):
    """Where the seeds stand, and what their last balls held."""

    places: Array  # (m, p)
    rows: Array  # (m,) in the ball before the last move
    density: Array  # (m,) sum of 1 - (d / h)^2 over these rows
    moved: Array  # (m,) length of the last move


def shift(balls: Balls, seeds: Seeds, h: float) -> tuple[Seeds, float]:
    """Move every seed that does not rest; the longest move, in bandwidths.

    >>> balls = balls_of(np.array([[0.0], [1.0], [5.0]]))
    >>> start = Seeds(np.array([[0.0], [4.5]]), *np.full((3, 2), np.inf))
    >>> shift(balls, start, 2.0)[0].places.ravel()
    array([0.5, 5. ])
    """
    places, (rows, density, moved) = seeds.places.copy(), (column.copy() for column in seeds[1:])
    which = np.flatnonzero((moved > REST * h) & (rows > 0))
    out = np.zeros((len(places), 3))

    def move(start: int) -> None:
        stop = min(start + BLOCK, len(which))
        ball_kernels.move_seeds(*balls, h * h, places, which, start, stop, out)

    if len(which):
        regions.run(move, list(range(0, len(which), BLOCK)))
    rows[which], square, moved[which] = out[which, 0], out[which, 1], np.sqrt(out[which, 2])
    density[which] = rows[which] - (square / (h * h) if h > 0 else 0.0)
    longest = float(moved[which].max(initial=0.0))
    return Seeds(places, rows, density, moved), longest / h if h > 0 else longest


def peaks(seeds: Seeds, h: float) -> Array:
    """The places that are kept, by falling number of rows, then by falling coordinates."""
    pairs = zip(map(tuple, seeds.places.tolist()), seeds.rows.tolist(), strict=True)
    found = {place: rows for place, rows in pairs if rows > 0}
    order = sorted(found.items(), key=lambda item: (item[1], item[0]), reverse=True)
    centers = np.array([place for place, _ in order]).reshape(len(order), -1)
    kept = np.empty(len(centers), np.int64)
    return centers[kept[: ball_kernels.keep_apart(centers, h * h, kept)]]


def nearest_center(X: Array, centers: Array) -> tuple[IntArray, Array]:
    """The nearest centre of every row, the first of equals, and the squared distance."""
    n, columns = len(X), np.array(centers.T, order="C")
    out, index = np.empty((n, 1)), np.empty((n, 1), np.int64)

    def look(start: int) -> None:
        which = np.arange(start, min(start + regions.SMALL, n))
        direct_nearest(columns, X, which, 2, 2.0, out, index)

    regions.run(look, list(range(0, n, regions.SMALL)))
    return index[:, 0], out[:, 0]


def get_bin_seeds(X: Array, bin_size: float, min_bin_freq: int = 1) -> Array:
    """The points of a grid that have rows near them.

    Parameters
    ----------
    X : array of shape (n, p)
        The rows.
    bin_size : float
        The step of the grid; with 0 the rows themselves are returned.
    min_bin_freq : int, default=1
        Rows that round to a point at least.

    Examples
    --------
    >>> from pellucid.cluster import get_bin_seeds
    >>> get_bin_seeds(np.array([[0.9], [1.1], [2.1]]), 1.0)
    array([[1.],
           [2.]])
    """
    check.non_negative(bin_size=bin_size)
    check.whole(min_bin_freq=min_bin_freq)
    if bin_size == 0:
        return X
    bins = np.round(np.asarray(X, dtype=np.float64) / bin_size) + 0.0  # no -0
    found, first, size = np.unique(bins, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)
    seeds = found[order][size[order] >= min_bin_freq]
    if len(seeds) == len(X):
        say = f"Binning data failed with provided bin_size={bin_size:f}"
        warn(f"{say}, using data points as seeds.", UserWarning)
        return X
    return seeds * bin_size


class MeanShift(ClusterMixin, Estimator):
    """Clusters as the peaks of a density, their number found by the fit.

    Parameters
    ----------
    bandwidth : float, default=None
        Radius of the balls; None: ``estimate_bandwidth(X)``, which looks at all pairs of rows.
    seeds : array-like of shape (n_seeds, n_features), default=None
        Where the climbs begin; None: at every row.
    bin_seeding : bool, default=False
        Begin at the points of a grid of step ``bandwidth`` that have rows near them.
    min_bin_freq : int, default=1
        With ``bin_seeding``, rows near such a point at least.
    cluster_all : bool, default=True
        Rows farther than ``bandwidth`` from every peak join the nearest; else they get -1.
    n_jobs : ignored
        Threads are set by ``pellucid``'s own limit; the answer is the same.
    max_iter : int, default=300
        Moves of a seed after its first one at most.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The peaks, by falling number of rows within ``bandwidth``.
    labels_ : ndarray of shape (n_samples,)
    bandwidth_ : float
        The bandwidth that was used.
    n_iter_ : int
        Moves of the longest climb before its last, at least 1.
    history_ : History
        One row per move: ``objective`` (minus the mean density at the seeds), ``moving``.

    Examples
    --------
    >>> from pellucid import MeanShift
    >>> X = [[1, 1], [2, 1], [1, 0], [4, 7], [3, 5], [3, 6]]
    >>> model = MeanShift(bandwidth=2).fit(X)
    >>> model.labels_, model.predict([[0, 0], [5, 5]])
    (array([1, 1, 1, 0, 0, 0]), array([1, 0]))
    """

    _squares_x = True

    def __init__(
        self,
        *,
        bandwidth: float | None = None,
        seeds: MaybeArray = None,
        bin_seeding: bool = False,
        min_bin_freq: int = 1,
        cluster_all: bool = True,
        n_jobs: int | None = None,
        max_iter: int = 300,
    ) -> None:
        self.bandwidth = bandwidth
        self.seeds = seeds
        self.bin_seeding = bin_seeding
        self.min_bin_freq = min_bin_freq
        self.cluster_all = cluster_all
        self.n_jobs = n_jobs
        self.max_iter = max_iter

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None) -> Self:
        """Let the seeds climb and keep the peaks of X."""
        self._check_parameters()
        rows = self._check_training(X).X
        h = float(mean_reach(rows, 0.3) if self.bandwidth is None else self.bandwidth)
        places = self._start(rows, h)

        def as_if_stopped(state: Seeds) -> dict[str, Any]:
            centers = peaks(state, h)
            labels = self._labels(rows, centers, h)
            return {"cluster_centers_": centers, "labels_": labels, "bandwidth_": h}

        context = FitContext(self, X=X, max_steps=self.max_iter + 1, attributes=as_if_stopped)
        balls = balls_of(rows)
        run = self._iterate(
            lambda state: shift(balls, state, h),
            Seeds(places, *np.full((3, len(places)), np.inf)),
            max_iter=self.max_iter + 1,
            tol=REST,
            record=lambda state: {
                "objective": -float(state.density.mean()) / len(rows),
                "moving": int((state.moved > REST * h).sum()),
            },
            start_row=False,
            context=context,
            warn=False,
        )
        if run.reason == "max_iter":
            end = f"no convergence in max_iter={self.max_iter} steps: some seeds still move"
            warn(f"MeanShift: {end}", ConvergenceWarning)
        if not run.state.rows.any():
            say = f"No point was within bandwidth={h:f} of any seed"
            raise ValueError(f"{say}; give other seeds or a larger bandwidth")
        self.n_iter_ = max(run.n_iter - 1, 1)  # the last move is no more than rest
        self.bandwidth_ = h
        self.cluster_centers_ = peaks(run.state, h)
        self.labels_ = self._labels(rows, self.cluster_centers_, h)
        self._n_seeds, self._lost = len(places), int((run.state.rows == 0).sum())
        return self

    def _check_parameters(self) -> None:
        check.positive(**check.given(bandwidth=self.bandwidth))
        check.finite(**check.given(bandwidth=self.bandwidth))
        check.boolean(bin_seeding=self.bin_seeding, cluster_all=self.cluster_all)
        check.whole(min_bin_freq=self.min_bin_freq)
        check.whole(at_least=0, max_iter=self.max_iter)

    def _start(self, rows: Array, h: float) -> Array:
        """The seeds, where they begin."""
        if self.seeds is not None:
            places = np.array(self.seeds, dtype=np.float64)
            p = rows.shape[1]
            if places.ndim != 2 or places.shape[1] != p or not np.isfinite(places).all():
                raise ValueError(f"seeds must be finite rows of {p} columns, got {places.shape}")
            return places
        if self.bin_seeding:
            places = get_bin_seeds(rows, h, self.min_bin_freq)
            if not len(places):
                say = f"no point of the grid has min_bin_freq={self.min_bin_freq} rows near it"
                raise ValueError(f"{say}; lower it, or raise bandwidth={h:g}")
            return np.array(places)
        return rows.copy()

    def _labels(self, rows: Array, centers: Array, h: float) -> IntArray:
        labels, square = nearest_center(rows, centers)
        return labels if self.cluster_all else np.where(square <= h * h, labels, -1)

    def fit_predict(self, X: ArrayLike, y: MaybeArray = None) -> IntArray:
        """``fit(X).labels_``."""
        return self.fit(X).labels_

    def predict(self, X: ArrayLike) -> IntArray:
        """The nearest peak of every row."""
        rows = self._check_input(X)
        return nearest_center(rows, self.cluster_centers_)[0]

    def card(self) -> Card:
        """How many peaks there are, and how the seeds came to them."""
        check_is_fitted(self)
        found, orphans = len(self.cluster_centers_), int((self.labels_ < 0).sum())
        notes = []
        if found == 1:
            notes.append("one peak: a smaller bandwidth tells more of them apart")
        if self._lost:
            notes.append(f"{self._lost} seeds had no row within the bandwidth and were dropped")
        resting = self.history_[-1]["moving"] == 0
        how = (
            "until every seed rests"
            if resting
            else f"{len(self.history_)} times (max_iter), cut short"
        )
        return Card(
            f"{found} peaks of the density with bandwidth {self.bandwidth_:g}; a row belongs to "
            "the nearest",
            "density of the rows with the kernel 1 - (d / bandwidth)^2 at the seeds, raised",
            f"{self._n_seeds} seeds, each moved to the mean of the rows around it {how}",
            {
                "clusters": found,
                "rows of no cluster": orphans,
                "bandwidth": self.bandwidth_,
                "moves": len(self.history_),
            },
            warnings=tuple(notes),
        )


def mean_shift(
    X: ArrayLike,
    *,
    bandwidth: float | None = None,
    seeds: MaybeArray = None,
    bin_seeding: bool = False,
    min_bin_freq: int = 1,
    cluster_all: bool = True,
    max_iter: int = 300,
    n_jobs: int | None = None,
) -> tuple[Array, IntArray]:
    """Centres and labels of ``MeanShift`` fitted to X.

    Parameters
    ----------
    X : array of shape (n, p)
        The rows.
    bandwidth, seeds, bin_seeding, min_bin_freq, cluster_all, max_iter, n_jobs
        As in ``MeanShift``.

    Examples
    --------
    >>> from pellucid.cluster import mean_shift
    >>> mean_shift([[1.0], [2.0], [8.0], [9.0], [10.0]], bandwidth=3)[0]
    array([[9. ],
           [1.5]])
    """
    model = MeanShift(
        bandwidth=bandwidth,
        seeds=seeds,
        bin_seeding=bin_seeding,
        min_bin_freq=min_bin_freq,
        cluster_all=cluster_all,
        max_iter=max_iter,
        n_jobs=n_jobs,
    ).fit(X)
    return model.cluster_centers_, model.labels_
