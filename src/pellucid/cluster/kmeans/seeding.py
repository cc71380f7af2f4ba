r"""Starts for k-means.

A start is a chain of draws. With centres chosen so far, a row has

    v = d^2(x, nearest chosen centre),     mass = w v^(power / 2)

and the next centre is a row drawn with probability proportional to its mass:

    power 2     k-means++ (Arthur & Vassilvitskii 2007); the best of 2 + log k draws is kept,
                the one that leaves the least total (the greedy form)
    power 1     the plain distance
    power 0     any row that is not a centre yet: k distinct rows
    power inf   the farthest row (farthest-first, Gonzalez 1985)

Rows are read in the leaves of ``core.loops.statistics``. A draw first picks a leaf by its mass,
then a row in it, the rows taken in lexicographic order. So up to LEAF_ROWS rows the start
depends neither on the order of the rows nor on whether a row is repeated or weighted, and for
any number of rows it is the same in memory and over blocks. One pass over the data per centre.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from pellucid.base import check_weights, find_nonfinite
from pellucid.cluster.kmeans import kernels
from pellucid.cluster.kmeans.kernels import BLOCK
from pellucid.cluster.kmeans.passes import Space, check_reach, dense_rows, tensor_rows
from pellucid.cluster.kmeans.seed_kernels import TILES, seed_chain, seed_scratch
from pellucid.core.arrays import check
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.tensors import like, namespace
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Map, MaybeArray, Rng, Seed
from pellucid.core.functions.distances import sqeuclidean
from pellucid.core.loops.device import DeviceRows, on_device
from pellucid.core.loops.statistics import LEAF_ROWS, Rows, Source, Span, Statistic, reduce_rows
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads

SMALL_WORK = 1 << 18  # cells below which threads cost more than they save


class Start(NamedTuple):
    """Chosen centres, and the rows they are."""

    centers: Array  # (k, p)
    indices: IntArray  # (k,)


class Field(Protocol):
    """The masses of all rows, leaf by leaf, for several starts at once."""

    power: float

    def begin(self, starts: int) -> Array:
        """Forget all centres; returns the sum of w in each leaf."""
        ...

    def masses(self, chosen: Array, candidates: Array) -> Array:
        """(leaves, starts, m): the mass of each leaf if candidate j were chosen next.

        chosen (starts, i, p) are the centres so far, candidates (starts, m, p).
        """
        ...

    def draw(self, chosen: Array, leaves: IntArray, u: Array, by_weight: list[bool]) -> Start:
        """Rows (starts, m) from the leaves (starts, m), at the quantiles u of their mass."""
        ...


def default_trials(k: int) -> int:
    """scikit-learn's number of draws per centre, 2 + log k."""
    return 2 + int(math.log(k))


def choose_centers(field: Field, k: int, trials: int, rngs: list[Rng]) -> list[Start]:
    """Draw k centres one after the other, one start for each generator; one pass per centre."""
    if isinstance(field, MemoryField) and field.small:
        return [field.chain(k, trials, rng) for rng in rngs]
    weights = field.begin(len(rngs))
    every = np.arange(len(rngs))
    mass = np.repeat(weights[:, None], len(rngs), axis=1)  # (leaves, starts)
    centers: Any = None  # (starts, k, p)
    indices = np.empty((len(rngs), k), dtype=np.intp)
    for i in range(k):
        m = trials if i > 0 else 1
        u = np.array([rng.random((m, 2)) for rng in rngs])
        # mass used up: fewer distinct rows than centres, so repeat some
        by_weight = [i == 0 or not mass[:, r].max() > 0 for r in every]
        picks = [(weights, 2.0) if by_weight[r] else (mass[:, r], field.power) for r in every]
        leaves = np.array([pick_leaves(m_r, u[r, :, 0], q) for r, (m_r, q) in enumerate(picks)])
        chosen = np.empty((len(rngs), 0, 0)) if centers is None else centers[:, :i]
        drawn = field.draw(chosen, leaves, u[:, :, 1], by_weight)
        if centers is None:
            centers = np.empty((len(rngs), k, drawn.centers.shape[-1]))
        best = np.zeros(len(rngs), dtype=np.intp)
        if m > 1 or i < k - 1:
            after = field.masses(chosen, drawn.centers)
            best = after.sum(axis=0).argmin(axis=1) if m > 1 else best
            mass = after[:, every, best]
        centers[:, i], indices[:, i] = drawn.centers[every, best], drawn.indices[every, best]
    return [Start(centers[r].copy(), indices[r].copy()) for r in every]


def pick_leaves(mass: Array, u: Array, power: float) -> IntArray:
    """The leaves at the quantiles u of the mass; the one with the farthest row if power is inf."""
    return np.full(len(u), int(np.argmax(mass))) if power == np.inf else quantiles(mass, u)


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
    order = np.argsort(X[:, 0])  # not stable, but only distinct numbers come through
    first = X[order, 0]
    return np.lexsort(X.T[::-1]) if (first[1:] == first[:-1]).any() else order


def draw_rows(v: Array | None, w: Array, order: IntArray, u: Array, power: float) -> IntArray:
    """Rows of one leaf at the quantiles u of their mass, in lexicographic order.

    v are the squared distances, None to draw by weight alone; with power inf it is the first of
    the farthest rows.
    """
    rows = np.empty(len(u), dtype=np.intp)
    kernels.draw_in_order(w if v is None else v, w, order, u, -1.0 if v is None else power, rows)
    return rows


def tile_weights(w: Array) -> Array:
    """Weights laid out as tiles, 0 in the padding."""
    out = np.zeros((-(-len(w) // BLOCK), BLOCK))
    out.reshape(-1)[: len(w)] = w
    return out


def pad(C: Array) -> Array:
    """Centres (..., p) with columns padded to a multiple of four."""
    out = np.zeros((*C.shape[:-1], -(-C.shape[-1] // 4) * 4))
    out[..., : C.shape[-1]] = C
    return out


def to_tiles(X: Array) -> Array:
    """Rows laid out as tiles."""
    out = np.zeros((-(-len(X) // BLOCK), -(-X.shape[1] // 4) * 4, BLOCK))
    kernels.to_tiles(X, out)
    return out


class MemoryField:
    """Masses of rows in memory: distances to the chosen centres are kept between passes."""

    def __init__(self, X: Array, w: Array, power: float) -> None:
        n, p = X.shape
        self.X, self.w, self.power = X, w, power
        self.tiles = np.zeros((-(-n // BLOCK), -(-p // 4) * 4, BLOCK))
        self.tile_w = tile_weights(w)
        self.small = X.size < SMALL_WORK
        self.orders: dict[int, IntArray] = {}
        self.leaves = range(-(-n // LEAF_ROWS))
        self._map(
            lambda leaf: kernels.to_tiles(X[self._rows(leaf)], self.tiles[self._tiles(leaf)]),
            self.leaves,
        )

    def _map(self, function: Callable[[Any], None], items: Sequence[Any]) -> None:
        """Call the function for every item, in threads where there is enough to do."""
        list((map if self.small else map_threads)(function, items))

    @staticmethod
    def _rows(leaf: int) -> slice:
        return slice(leaf * LEAF_ROWS, (leaf + 1) * LEAF_ROWS)

    @staticmethod
    def _tiles(leaf: int) -> slice:
        return slice(leaf * TILES, (leaf + 1) * TILES)

    def begin(self, starts: int) -> Array:
        self.near = np.full((len(self.tiles), starts, BLOCK), np.inf)
        return self._weights()

    def _weights(self) -> Array:
        return np.array([self.w[self._rows(leaf)].sum() for leaf in self.leaves])

    def _order(self, leaf: int) -> IntArray:
        if leaf not in self.orders:
            self.orders[leaf] = lexicographic(self.X[self._rows(leaf)])
        return self.orders[leaf]

    def chain(self, k: int, trials: int, rng: Rng) -> Start:
        """A whole start, with the draws that ``choose_centers`` would make pass by pass."""
        u = np.ascontiguousarray(rng.random((1 + (k - 1) * trials, 2)).T)
        order = np.concatenate([self._order(leaf) for leaf in self.leaves])
        indices = np.empty(k, dtype=np.intp)
        scratch = seed_scratch(self.tile_w, self.tiles.shape[1], len(self.leaves), trials)
        given = self.tiles, self.tile_w, self._weights(), order, u, self.power
        seed_chain(*given, *scratch, indices)
        return Start(self.X[indices], indices)

    def _pass(self, leaf: int, last: Array, candidates: Array, out: Array) -> None:
        at = self._tiles(leaf)
        tiles, w, near = self.tiles[at], self.tile_w[at], self.near[at]
        kernels.seed_tiles(tiles, w, last, candidates, near, self.power, out)

    def masses(self, chosen: Array, candidates: Array) -> Array:
        last, C = last_of(chosen, self.tiles.shape[1]), pad(candidates)
        out = np.empty((len(self.leaves), *C.shape[:2]))

        def part(leaves: range) -> None:
            for leaf in leaves:
                self._pass(leaf, last, C, out[leaf])

        step = max(1, len(self.leaves) // 16)
        self._map(part, [self.leaves[i : i + step] for i in self.leaves[::step]])
        return out

    def draw(self, chosen: Array, leaves: IntArray, u: Array, by_weight: list[bool]) -> Start:
        last = last_of(chosen, self.tiles.shape[1])
        none = np.empty((len(leaves), 0, self.tiles.shape[1]))
        indices = np.empty(leaves.shape, dtype=np.intp)

        def part(leaf: int) -> None:
            self._pass(leaf, last, none, np.empty((len(leaves), 0)))
            rows = self._rows(leaf)
            w = self.w[rows]
            for r, asked in enumerate(leaves == leaf):
                if not asked.any():
                    continue
                near = self.near[self._tiles(leaf), r].reshape(-1)[: len(w)]
                v = None if by_weight[r] else near
                found = draw_rows(v, w, self._order(leaf), u[r, asked], self.power)
                indices[r, asked] = leaf * LEAF_ROWS + found

        self._map(part, sorted(set(leaves.ravel().tolist())))
        return Start(self.X[indices], indices)


def last_of(chosen: Array, width: int) -> Array:
    """The centres chosen last (starts, d4), padded; none at first."""
    return pad(chosen[:, -1]) if chosen.shape[1] else np.empty((0, width))


class SourceField:
    """Masses of the rows of any source: distances are computed again in every pass."""

    def __init__(self, source: Source, map_: Map, space: Space, power: float) -> None:
        self.source, self.map_, self.space = source, map_, space
        self.power = power

    def begin(self, starts: int) -> Array:
        return reduce_rows(Statistic(leaf_weight, merge_leaves), self.source, self.map_)

    def masses(self, chosen: Array, candidates: Array) -> Array:
        leaf = partial(leaf_masses, self.space, self.power, chosen, candidates)
        return reduce_rows(Statistic(leaf, merge_leaves), self.source, self.map_)

    def draw(self, chosen: Array, leaves: IntArray, u: Array, by_weight: list[bool]) -> Start:
        work = partial(draw_in_span, self.space, self.power, chosen, leaves, u, by_weight)
        spans = list(self.source.spans())
        first = np.array([span.start for span in spans]) // LEAF_ROWS
        homes = np.unique(np.searchsorted(first, leaves.ravel(), side="right") - 1)
        C: dict[tuple[int, int], Array] = {}
        indices = np.empty(leaves.shape, dtype=np.intp)
        for part in self.map_(work, [spans[home] for home in homes]):
            for slot, index, x in part:
                C[slot], indices[slot] = x, index
        starts, m = leaves.shape
        return Start(np.array([[C[r, j] for j in range(m)] for r in range(starts)]), indices)


def leaf_weight(rows: Rows) -> Array:
    """Sum of the weights of one leaf."""
    return np.array([np.ascontiguousarray(rows.w).sum()])


def by_leaf(values: Any, *, largest: bool = False) -> Any:
    """The sum (or largest) of ``values`` (n, m) over each leaf, (leaves, m)."""
    xp, n = namespace(values), values.shape[0]
    short = -n % LEAF_ROWS
    if short:
        none = xp.zeros((short, values.shape[1]), dtype=values.dtype, device=values.device)
        values = xp.concat([values, none], axis=0)
    tiles = xp.reshape(values, (-1, LEAF_ROWS, values.shape[1]))
    return xp.max(tiles, axis=1) if largest else xp.sum(tiles, axis=1)


@on_device(leaf_weight)
def device_weight(rows: DeviceRows) -> Any:
    """Sums of the weights of the leaves of tensors."""
    return by_leaf(rows.weights()[:, None])[:, 0]


def merge_leaves(a: Array, b: Array) -> Array:
    """Leaves side by side."""
    return np.concatenate([a, b])


def leaf_near(space: Space, tiles: Array, X: Array, chosen: Array) -> Array:
    """near (tiles, starts, BLOCK) of a leaf: distance of its rows to the nearest chosen centre."""
    near = np.full((len(tiles), len(chosen), BLOCK), np.inf)
    if chosen.shape[1] and not space.compiled:
        for r, C in enumerate(chosen):
            v = np.full(len(tiles) * BLOCK, np.inf)
            v[: len(X)] = space.distance.pairwise(X, C).min(axis=1)
            near[:, r] = v.reshape(-1, BLOCK)
        return near
    w = np.ones((len(tiles), BLOCK))
    none, out = np.empty((len(chosen), 0, tiles.shape[1])), np.empty((len(chosen), 0))
    for i in range(chosen.shape[1]):
        kernels.seed_tiles(tiles, w, pad(chosen[:, i]), none, near, 0.0, out)
    return near


def leaf_masses(space: Space, power: float, chosen: Array, candidates: Array, rows: Rows) -> Array:
    """(1, starts, m): the mass of a leaf if candidate j were chosen next."""
    X, w = dense_rows(space, rows)
    tiles = to_tiles(X)
    near = leaf_near(space, tiles, X, chosen)
    out = np.empty((1, *candidates.shape[:2]))
    if space.compiled:
        none = np.empty((0, tiles.shape[1]))
        kernels.seed_tiles(tiles, tile_weights(w), none, pad(candidates), near, power, out[0])
        return out
    for r, C in enumerate(candidates):
        now = near[:, r].reshape(-1)[: len(X), None]
        for j, v in enumerate(np.minimum(space.distance.pairwise(X, C), now).T):
            far = power == np.inf
            out[0, r, j] = v[w > 0].max(initial=0.0) if far else row_masses(v, w, power).sum()
    return out


@on_device(leaf_masses)
def device_masses(
    space: Space, power: float, chosen: Array, candidates: Array, rows: DeviceRows
) -> Any:
    """(leaves, starts, m): the masses of the leaves of tensors if candidate j were chosen next."""
    X, w = tensor_rows(space, rows), rows.weights()[:, None]
    xp = namespace(X)
    parts = []
    for r, C in enumerate(candidates):
        D = tensor_distances(X, like(C, X))
        if chosen.shape[1]:
            near = xp.min(tensor_distances(X, like(chosen[r], X)), axis=1, keepdims=True)
            D = xp.minimum(D, near)
        if power == np.inf:
            parts.append(by_leaf(xp.where(w > 0, D, xp.zeros_like(D)), largest=True))
        elif power == 0:
            parts.append(by_leaf(w * xp.astype(D > 0, X.dtype)))
        else:
            parts.append(by_leaf(w * (D if power == 2 else D ** (power / 2))))
    return xp.stack(parts, axis=1)


def tensor_distances(X: Any, C: Any) -> Any:
    """Squared distances (n, m) of the rows of X to the rows of C, centre by centre: 0 is 0."""
    xp = namespace(X)
    return xp.stack([xp.sum((X - C[j, :]) ** 2, axis=1) for j in range(C.shape[0])], axis=1)


def draw_in_span(
    space: Space,
    power: float,
    chosen: Array,
    leaves: IntArray,
    u: Array,
    by_weight: list[bool],
    span: Span,
) -> list[tuple[tuple[int, int], int, Array]]:
    """(slot, row number, row) for each draw from a leaf of this span."""
    found: list[tuple[tuple[int, int], int, Array]] = []
    for leaf, rows in enumerate(span.leaves(), start=span.start // LEAF_ROWS):
        if not (leaves == leaf).any():
            continue
        X, w = dense_rows(space, rows)
        near, order = leaf_near(space, to_tiles(X), X, chosen), lexicographic(X)
        for r, j in np.argwhere(leaves == leaf).tolist():
            v = None if by_weight[r] else near[:, r].reshape(-1)[: len(X)]
            row = int(draw_rows(v, w, order, u[r, j : j + 1], power)[0])
            found.append(((r, j), leaf * LEAF_ROWS + row, X[row]))
    return found


def draw_probabilities(
    X: ArrayLike, centers: ArrayLike, *, power: float = 2, sample_weight: MaybeArray = None
) -> Array:
    """The probability of each row of ``X`` to be the next centre after these ``centers``.

    It is proportional to ``sample_weight`` times the distance to the nearest centre to this
    ``power``, as in one trial of ``kmeans_plusplus``.

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
    sample_weight: MaybeArray = None,
    x_squared_norms: MaybeArray = None,
    random_state: Seed = None,
) -> Start:
    """Choose ``n_clusters`` rows of X as starting centres: ``(centers, indices)``.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    n_clusters : int
        Number of centres, at most the number of rows.
    power : float, default=2
        A row is drawn in proportion to its distance from the nearest centre to this power.
    n_local_trials : int, default=None
        Draws per centre, of which the best is kept; ``2 + log(n_clusters)`` for power 2, else 1.
    sample_weight : array-like of shape (n_samples,), default=None
        How often each row counts.
    x_squared_norms : ignored
        For compatibility with scikit-learn.
    random_state : int, RandomState, Generator or None
        Seed of the draws.

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
    check_reach(A)
    field = MemoryField(*dense_rows(space, rows), float(power))
    return choose_centers(field, n_clusters, trials, [generator(random_state)])[0]
