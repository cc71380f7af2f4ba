r"""Starts for k-means.

A start is a chain of draws. With centres chosen so far, a row has

    v = d^2(x, nearest chosen centre),     mass = w v^(power / 2)

and the next centre is a row drawn with probability proportional to its mass:

    power 2     k-means++ (Arthur & Vassilvitskii 2007); the best of 2 + log k draws is kept,
                the one that leaves the least total (the greedy form)
    power 1     the plain distance
    power 0     any row that is not a centre yet: k distinct rows
    power inf   the farthest row (farthest-first, Gonzalez 1985)

Rows are looked at in the leaves of ``core.statistics``. A draw first picks a leaf by its mass,
then a row in it, the rows taken in lexicographic order. So up to LEAF_ROWS rows the start
depends neither on the order of the rows nor on whether a row is repeated or weighted, and for
any number of rows it is the same in memory and over blocks. One pass over the data per centre.
"""

import math
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.utils import check_array

from pellucid.base import check_weights, find_nonfinite
from pellucid.cluster.lloyd import Space, dense_rows, leaf_box, merge_boxes
from pellucid.compiled import kmeans as kernels
from pellucid.compiled.kmeans import BLOCK
from pellucid.core import check
from pellucid.core.distances import sqeuclidean
from pellucid.core.random import generator
from pellucid.core.statistics import LEAF_ROWS, Rows, Source, Span, Statistic, reduce_rows
from pellucid.core.threads import map_threads
from pellucid.core.typing import Array, ArrayLike, IntArray, Map, Rng

TILES = LEAF_ROWS // BLOCK  # tiles in a leaf


class Start(NamedTuple):
    """Chosen centres, and the rows they are."""

    centers: Array  # (k, p)
    indices: IntArray  # (k,)


class Field(Protocol):
    """The masses of all rows, leaf by leaf."""

    power: float

    def weights(self) -> Array:
        """Sum of w in each leaf."""
        ...

    def masses(self, chosen: Array, candidates: Array) -> Array:
        """(leaves, m): the mass of each leaf if candidate j were chosen next."""
        ...

    def accept(self, j: int) -> None:
        """Candidate j of the last ``masses`` has been chosen."""
        ...

    def draw(self, chosen: Array, leaves: IntArray, u: Array, by_weight: bool) -> Start:
        """One row from each of the leaves, at the quantiles u of its mass."""
        ...


def default_trials(k: int) -> int:
    """scikit-learn's number of draws per centre, 2 + log k."""
    return 2 + int(math.log(k))


def choose_centers(field: Field, k: int, trials: int, rng: Rng) -> Start:
    """Draw k centres one after the other."""
    weights = field.weights()
    mass = weights
    centers: list[Array] = []
    indices: list[int] = []
    for i in range(k):
        used_up = not mass.max() > 0  # fewer distinct rows than centres: repeat some
        by_weight = i == 0 or used_up
        m = 1 if by_weight else trials
        u = rng.random((m, 2))
        leaves = pick_leaves(weights if by_weight else mass, u[:, 0], by_weight, field.power)
        chosen = np.array(centers)
        drawn = field.draw(chosen, leaves, u[:, 1], by_weight)
        best = 0
        if m > 1 or i < k - 1:
            after = field.masses(chosen, drawn.centers)
            best = int(np.argmin(after.sum(axis=0))) if m > 1 else 0
            mass = after[:, best]
            field.accept(best)
        centers.append(drawn.centers[best])
        indices.append(int(drawn.indices[best]))
    return Start(np.array(centers), np.array(indices, dtype=np.intp))


def pick_leaves(mass: Array, u: Array, by_weight: bool, power: float) -> IntArray:
    """The leaves at the quantiles u of the mass; the one with the farthest row if power is inf."""
    if power == np.inf and not by_weight:
        return np.full(len(u), int(np.argmax(mass)))
    return quantiles(mass, u)


def quantiles(mass: Array, u: Array) -> IntArray:
    """Positions drawn in proportion to ``mass`` (never one of mass zero).

    >>> quantiles(np.array([1.0, 0.0, 3.0]), np.array([0.0, 0.25, 0.99]))
    array([0, 2, 2])
    """
    below = np.cumsum(mass)
    last = int(np.flatnonzero(mass)[-1])
    return np.minimum(np.searchsorted(below, u * below[-1], side="right"), last)


def row_masses(v: Array, w: Array, power: float) -> Array:
    """The mass of rows with squared distance v: ``w v^(power / 2)``."""
    if power == 0:
        return w * (v > 0)
    if power == np.inf:
        return np.where((w > 0) & (v == v[w > 0].max(initial=0.0)), 1.0, 0.0)
    return w * (v if power == 2 else v ** (0.5 * power))


def lexicographic(X: Array) -> IntArray:
    """The order of the rows by first column, then second, ...

    >>> lexicographic(np.array([[1.0, 5.0], [0.0, 9.0], [1.0, 2.0]]))
    array([1, 2, 0])
    """
    order = np.argsort(X[:, 0], kind="stable")
    first = X[order, 0]
    return np.lexsort(X.T[::-1]) if (first[1:] == first[:-1]).any() else order


def draw_rows(mass: Array, order: IntArray, u: Array, power: float) -> IntArray:
    """Rows of one leaf at the quantiles u of their mass, in lexicographic order."""
    if power == np.inf:
        u = np.zeros_like(u)  # of equally far rows the first
    return order[quantiles(mass[order], u)]


def tile_weights(w: Array) -> Array:
    """Weights laid out as tiles, 0 in the padding."""
    out = np.zeros((-(-len(w) // BLOCK), BLOCK))
    out.reshape(-1)[: len(w)] = w
    return out


def pad(C: Array) -> Array:
    """Centres with columns padded to a multiple of four."""
    out = np.zeros((len(C), -(-C.shape[1] // 4) * 4))
    out[:, : C.shape[1]] = C
    return out


class MemoryField:
    """Masses of rows in memory: distances to the chosen centres are kept between passes."""

    def __init__(self, X: Array, w: Array, power: float, trials: int) -> None:
        n, p = X.shape
        self.X, self.w, self.power = X, w, power
        self.tiles = np.zeros((-(-n // BLOCK), -(-p // 4) * 4, BLOCK))
        self.tile_w = tile_weights(w)
        self.near = np.empty((len(self.tiles), 1 + trials, BLOCK))
        self.winner = 0
        self.orders: dict[int, IntArray] = {}
        self.leaves = range(-(-n // LEAF_ROWS))
        list(map_threads(self._lay_out, self.leaves))

    def _lay_out(self, leaf: int) -> None:
        rows, tiles = self._rows(leaf), self._tiles(leaf)
        kernels.to_tiles(self.X[rows], self.tiles[tiles])

    @staticmethod
    def _rows(leaf: int) -> slice:
        return slice(leaf * LEAF_ROWS, (leaf + 1) * LEAF_ROWS)

    @staticmethod
    def _tiles(leaf: int) -> slice:
        return slice(leaf * TILES, (leaf + 1) * TILES)

    def weights(self) -> Array:
        self.near[:, 0] = np.inf  # a new start
        self.winner = 0
        return np.array([self.w[self._rows(leaf)].sum() for leaf in self.leaves])

    def masses(self, chosen: Array, candidates: Array) -> Array:
        C = pad(candidates)
        out = np.empty((len(self.leaves), len(C)))

        def part(leaves: range) -> None:
            for leaf in leaves:
                tiles = self._tiles(leaf)
                kernels.seed_tiles(
                    self.tiles[tiles], self.tile_w[tiles], C, self.winner, self.near[tiles],
                    self.power, out[leaf],
                )  # fmt: skip

        step = max(1, len(self.leaves) // 16)
        list(map_threads(part, [self.leaves[i : i + step] for i in self.leaves[::step]]))
        return out

    def accept(self, j: int) -> None:
        self.winner = 1 + j

    def draw(self, chosen: Array, leaves: IntArray, u: Array, by_weight: bool) -> Start:
        indices = np.empty(len(leaves), dtype=np.intp)
        for i, leaf in enumerate(leaves.tolist()):
            rows = self._rows(leaf)
            if leaf not in self.orders:
                self.orders[leaf] = lexicographic(self.X[rows])
            w = self.w[rows]
            mass = w
            if not by_weight:
                v = self.near[self._tiles(leaf), self.winner].reshape(-1)[: len(w)]
                mass = row_masses(v, w, self.power)
            power = 2.0 if by_weight else self.power
            row = draw_rows(mass, self.orders[leaf], u[i : i + 1], power)[0]
            indices[i] = leaf * LEAF_ROWS + row
        return Start(self.X[indices], indices)


class SourceField:
    """Masses of the rows of any source: distances are computed again in every pass."""

    def __init__(self, source: Source, map_: Map, space: Space, power: float) -> None:
        self.source, self.map_, self.space = source, map_, space
        self.power = power

    def weights(self) -> Array:
        return reduce_rows(Statistic(leaf_weight, merge_leaves), self.source, self.map_)

    def masses(self, chosen: Array, candidates: Array) -> Array:
        leaf = partial(leaf_masses, self.space, self.power, chosen, candidates)
        return reduce_rows(Statistic(leaf, merge_leaves), self.source, self.map_)

    def accept(self, j: int) -> None:
        """Nothing is kept: the next pass is told all chosen centres."""

    def draw(self, chosen: Array, leaves: IntArray, u: Array, by_weight: bool) -> Start:
        power = -1.0 if by_weight else self.power
        wanted = {int(leaf): np.flatnonzero(leaves == leaf) for leaf in np.unique(leaves)}
        work = partial(draw_in_span, self.space, power, chosen, u, wanted)
        spans = list(self.source.spans())
        starts = np.array([span.start for span in spans]) // LEAF_ROWS
        homes = sorted({int(np.searchsorted(starts, leaf, side="right")) - 1 for leaf in wanted})
        C: list[Any] = [None] * len(u)
        indices = np.empty(len(u), dtype=np.intp)
        for part in self.map_(work, [spans[home] for home in homes]):
            for slot, index, x in part:
                C[slot], indices[slot] = x, index
        return Start(np.array(C), indices)


def leaf_weight(rows: Rows) -> Array:
    """Sum of the weights of one leaf."""
    return np.array([np.ascontiguousarray(rows.w).sum()])


def merge_leaves(a: Array, b: Array) -> Array:
    """Leaves side by side."""
    return np.concatenate([a, b])


def leaf_near(space: Space, X: Array, w: Array, C: Array) -> Array:
    """v of every row of a leaf: its (squared) distance to the nearest of the centres C."""
    if not space.compiled:
        return space.distance.pairwise(X, C).min(axis=1)
    tiles = np.zeros((-(-len(X) // BLOCK), -(-X.shape[1] // 4) * 4, BLOCK))
    kernels.to_tiles(X, tiles)
    near = np.full((len(tiles), 1 + len(C), BLOCK), np.inf)
    kernels.seed_tiles(tiles, tile_weights(w), pad(C), 0, near, 0.0, np.empty(len(C)))
    return near.min(axis=1).reshape(-1)[: len(X)]


def leaf_masses(
    space: Space, power: float, chosen: Array, candidates: Array, rows: Rows
) -> Array:
    """(1, m): the mass of a leaf if candidate j were chosen next."""
    X, w = dense_rows(space, rows)
    now = leaf_near(space, X, w, chosen) if len(chosen) else np.full(len(X), np.inf)
    out = np.empty((1, len(candidates)))
    if not space.compiled:
        V = np.minimum(space.distance.pairwise(X, candidates), now[:, None])
        for j, v in enumerate(V.T):
            mass = row_masses(v, w, power)
            out[0, j] = v[w > 0].max(initial=0.0) if power == np.inf else mass.sum()
        return out
    tiles = np.zeros((-(-len(X) // BLOCK), -(-X.shape[1] // 4) * 4, BLOCK))
    kernels.to_tiles(X, tiles)
    near = np.full((len(tiles), 1 + len(candidates), BLOCK), np.inf)
    slot = np.full(len(tiles) * BLOCK, np.inf)
    slot[: len(X)] = now
    near[:, 0] = slot.reshape(-1, BLOCK)
    kernels.seed_tiles(tiles, tile_weights(w), pad(candidates), 0, near, power, out[0])
    return out


def draw_in_span(
    space: Space, power: float, chosen: Array, u: Array,
    wanted: dict[int, IntArray], span: Span,
) -> list[tuple[int, int, Array]]:  # fmt: skip
    """(slot, row number, row) for each draw from a leaf of this span; power -1 draws by weight."""
    found = []
    for leaf, rows in enumerate(span.leaves(), start=span.start // LEAF_ROWS):
        if leaf not in wanted:
            continue
        X, w = dense_rows(space, rows)
        mass = w if power < 0 else row_masses(leaf_near(space, X, w, chosen), w, power)
        slots = wanted[leaf]
        picked = draw_rows(mass, lexicographic(X), u[slots], power)
        found += [
            (int(s), leaf * LEAF_ROWS + int(i), X[i]) for s, i in zip(slots, picked, strict=True)
        ]
    return found


def draw_probabilities(
    X: ArrayLike, centers: ArrayLike, *, power: float = 2, sample_weight: ArrayLike | None = None
) -> Array:
    """The probability of each row to be the next centre of ``kmeans_plusplus`` (one trial).

    >>> draw_probabilities([[0.0], [1.0], [3.0]], [[0.0]]), draw_probabilities(
    ...     [[0.0], [1.0], [3.0]], [[0.0]], power=1)
    (array([0. , 0.1, 0.9]), array([0.  , 0.25, 0.75]))
    """
    A, C = np.asarray(X, dtype=np.float64), np.asarray(centers, dtype=np.float64)
    w = np.ones(len(A)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    mass = row_masses(sqeuclidean.pairwise(A, C).min(axis=1), w, power)
    if not mass.any():
        raise ValueError("every row of positive weight is a centre already; none can be drawn")
    return mass / mass.sum()


def kmeans_plusplus(
    X: ArrayLike,
    n_clusters: int,
    *,
    power: float = 2,
    n_local_trials: int | None = None,
    sample_weight: ArrayLike | None = None,
    x_squared_norms: ArrayLike | None = None,
    random_state: Any = None,
) -> Start:
    """Choose ``n_clusters`` rows of X as starting centres: ``(centers, indices)``.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    n_clusters : int
    power : float, default=2
        A row is drawn in proportion to its distance from the nearest centre to this power.
    n_local_trials : int, default=None
        Draws per centre, of which the best is kept; ``2 + log(n_clusters)`` for power 2, else 1.
    sample_weight : array-like of shape (n_samples,), default=None
    x_squared_norms : ignored
        For compatibility with scikit-learn.
    random_state : int, RandomState, Generator or None

    Examples
    --------
    >>> centers, indices = kmeans_plusplus([[0.0], [0.1], [9.0]], 2, random_state=0)
    >>> sorted(centers[:, 0].round().tolist())
    [0.0, 9.0]
    """
    A = check_array(X, dtype=np.float64, order="C", accept_sparse="csr", ensure_all_finite=False)
    A = A if isinstance(A, np.ndarray) else A.toarray()
    if find_nonfinite(A, allow_nan=False) is not None:
        raise ValueError("X contains NaN or infinity; kmeans_plusplus accepts finite numbers only")
    check.whole(n_clusters=n_clusters)
    check.non_negative(power=power)
    if len(A) < n_clusters:
        raise ValueError(f"n_clusters must be at most the {len(A)} rows of X, got {n_clusters}")
    trials = n_local_trials
    if trials is None:
        trials = default_trials(n_clusters) if power == 2 else 1
    check.whole(n_local_trials=trials)
    rows = Rows(A, None, check_weights(sample_weight, A))
    space = Space(sqeuclidean, "mean")
    reduce_rows(Statistic(partial(leaf_box, space), merge_boxes), rows, map_threads)  # overflow?
    field = MemoryField(*dense_rows(space, rows), float(power), trials)
    return choose_centers(field, n_clusters, trials, generator(random_state))
