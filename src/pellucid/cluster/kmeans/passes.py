r"""Passes of k-means over the rows: in memory with bounds, or leaf by leaf from any source.

Both give, for centres C, the labels (nearest centre, lowest index on ties) and the exact sums

    total_k = sum_{i in k} w_i (x_i, 1)           (in limbs, see ``kernels.py``)

which have the same bits however the rows are cut, so both walk through the same centres.

In memory the objective follows from what changed, and so cannot rise by rounding:

    J(labels, C) = J(old labels, C) + sum_changed w (D_new - D_old)       every term <= 0
    J(labels, mean) = J(labels, C) - sum_k W_k |mean_k - C_k|^2           every term >= 0
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pellucid.cluster.kmeans import kernels
from pellucid.cluster.kmeans.kernels import LIMBS
from pellucid.core.arrays.quantiles import weighted_median
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.tensors import host, like, namespace
from pellucid.core.arrays.typing import Array, Map
from pellucid.core.functions.distances import Distance, unit_rows
from pellucid.core.loops import statistics
from pellucid.core.loops.device import DeviceRows, centred, cross, on_device
from pellucid.core.loops.statistics import Node, Rows, Source, Statistic
from pellucid.core.runtime import simd
from pellucid.core.runtime.threads import map_threads

SMALLEST_CHUNK = 6  # leaves that a thread takes at a time: below, handing out costs more
LARGEST = 1e150  # beyond it squares of differences overflow


def enough_rows(n_clusters: int, n: int) -> None:
    """Refuse more clusters than rows."""
    if n_clusters > n:
        most = "there are at most the number of rows"
        raise ValueError(f"n_samples={n} should be >= n_clusters={n_clusters}: {most}")


class Space(NamedTuple):
    """How far rows are from centres, and what a centre is."""

    distance: Distance  # the terms of J; sqeuclidean for "euclidean"
    center: str  # mean, median or direction

    @property
    def unit(self) -> bool:
        """Whether rows are scaled to length 1 first."""
        return self.center == "direction"

    @property
    def compiled(self) -> bool:
        """Whether the nearest centre is the nearest in the Euclidean sense."""
        return self.unit or (self.distance.name == "sqeuclidean" and self.center == "mean")

    @property
    def scale(self) -> float:
        """J = scale x the sum of squares: 1 - cos is half the squared distance of unit rows."""
        return 0.5 if self.unit else 1.0

    @property
    def descends(self) -> bool:
        """Whether the centre minimises the distances, so that J cannot rise."""
        return self.center == self.distance.center


def dense_rows(space: Space, rows: Rows) -> tuple[Array, Array]:
    """Rows and weights as the kernels want them: dense, C-contiguous, writeable."""
    X = to_dense(rows.X)
    X = unit_rows(X) if space.unit else plain_array(X)
    return X, np.ones(len(X)) if statistics.is_unit(rows.w) else plain_array(rows.w)


def plain_array(A: Array) -> Array:
    """The one kind of array that kernels are compiled for; copied only where it is not."""
    return np.require(A, np.float64, ["C", "W", "E"])


class Box(NamedTuple):
    """What is known of the rows before the start."""

    n_rows: int
    weight: float
    mean: Array  # (p,)
    scatter: Array  # (p,)  sum w (x - mean)^2
    low: Array  # (p,)  over the rows of positive weight
    high: Array
    reach: float  # largest |x|, all rows
    heaviest: float

    @property
    def variance(self) -> float:
        """Mean variance of the columns, the scale of scikit-learn's tolerance."""
        return float(np.mean(self.scatter / self.weight))


def check_reach(X: Array) -> float:
    """The largest |x|, which must not be so large that squared distances overflow."""
    reach = max(float(X.max()), -float(X.min()))  # without a copy of X
    if reach >= LARGEST:  # NaN goes through: mixtures read it off the means
        beyond = f"squared distances overflow beyond {LARGEST:g}, so scale the columns first"
        raise ValueError(f"X holds values as large as {reach:.3g}; {beyond}")
    return reach


def leaf_box(space: Space, rows: Rows) -> Box:
    """The box of one leaf."""
    X, w = dense_rows(space, rows)
    weight, reach = float(w.sum()), check_reach(X)
    if weight == 0:
        p = X.shape[1]
        none = np.zeros(p)
        return Box(len(X), 0.0, none, none, np.full(p, np.inf), np.full(p, -np.inf), reach, 0.0)
    mean = np.einsum("i,it->t", w, X) / weight  # not BLAS: its sums depend on its threads
    inside = X[w > 0]
    scatter = np.einsum("i,it->t", w, (X - mean) ** 2)
    ends = inside.min(axis=0), inside.max(axis=0)
    return Box(len(X), weight, mean, scatter, *ends, reach, float(w.max()))


def tensor_rows(space: Space, rows: DeviceRows) -> Any:
    """Rows of a tensor as the distances want them."""
    if not space.compiled:
        what = f"distance {space.distance.name!r}, centre {space.center!r}"
        raise TypeError(f"k-means of tensors needs Euclidean or cosine distances, got {what}")
    xp, X = namespace(rows.X), rows.X
    if not space.unit:
        return X
    norm = xp.linalg.vector_norm(X, axis=1, keepdims=True)
    return X / xp.where(norm > 0, norm, xp.ones_like(norm))


@on_device(leaf_box)
def device_box(space: Space, rows: DeviceRows) -> Box:
    """The box of tensors."""
    X, w = tensor_rows(space, rows), rows.weights()
    xp = namespace(X)
    reach = xp.max(xp.abs(X))
    if not bool(reach < LARGEST):
        check_reach(np.array([float(reach)]))
    mean, C = centred(X, rows.w)
    live, far = (w > 0)[:, None], xp.full_like(X[:1, :], xp.inf)
    scatter = xp.sum(w[:, None] * C**2, axis=0)
    low, high = xp.min(xp.where(live, X, far), axis=0), xp.max(xp.where(live, X, -far), axis=0)
    most = reach, xp.max(w)
    return Box(X.shape[0], xp.sum(w), mean[0, :], scatter, low, high, *most)


def merge_boxes(a: Box, b: Box) -> Box:
    """The box of two sets of rows (means and scatters by Chan)."""
    weight = a.weight + b.weight
    share = b.weight / weight if weight > 0 else 0.0
    gap = b.mean - a.mean
    mean, scatter = a.mean + gap * share, a.scatter + b.scatter + gap**2 * (a.weight * share)
    ends = np.minimum(a.low, b.low), np.maximum(a.high, b.high)
    most = max(a.reach, b.reach), max(a.heaviest, b.heaviest)
    return Box(a.n_rows + b.n_rows, weight, mean, scatter, *ends, *most)


def limb_grid(box: Box) -> Array:
    """The constants M (2, LIMBS) that cut w x and w into limbs that add exactly.

    With 2n values below 2^e, multiples of u = 2^(e + log2(2n) + 1 - 53) add without rounding;
    adding and subtracting M = 1.5 x 2^52 u rounds to such a multiple.
    """
    far = max(np.abs(box.low).max(), np.abs(box.high).max())
    exponent = np.frexp(box.heaviest * np.array([far, 1.0]))[1].astype(np.int64)
    bits = int(2 * box.n_rows).bit_length() + 1
    grid = np.empty((2, LIMBS))
    for q in range(LIMBS):
        unit = np.maximum(exponent + bits - 53, -1074)  # no number is finer than 2^-1074
        grid[:, q] = np.ldexp(1.5, unit + 52)
        exponent = unit
    return grid


def collapse(total: Array) -> tuple[Array, Array]:
    """Weights (k,) and sums (k, p) of exact totals (k, LIMBS, p + 1)."""
    S = total[..., 0, :] + (total[..., 1, :] + total[..., 2, :])
    return S[:, -1], S[:, :-1]


class Prepared(NamedTuple):
    """Centres padded for the tile, about the origin."""

    C: Array  # (k, p)
    C2: Array  # (p, k8)  -2 (c - origin)'
    cn: Array  # (k8,)  |c - origin|^2, inf in the padding


def prepare(C: Array, origin: Array) -> Prepared:
    """Pad the centres to whole tiles."""
    k, p = C.shape
    k8 = -(-k // simd.TILE_ROWS) * simd.TILE_ROWS
    C2, cn = np.zeros((p, k8)), np.full(k8, np.inf)
    about = C - origin
    C2[:, :k], cn[:k] = -2.0 * about.T, np.einsum("kt,kt->k", about, about)
    return Prepared(plain_array(C), C2, cn)


def label_rows(X: Array, w: Array, at: Prepared, origin: Array, grid: Array, total: Array) -> Any:
    """Nearest centre of every row, without bounds; ``total`` as in the kernel ``sweep``."""
    labels, none = np.full(len(X), -1, np.int32), np.zeros(len(at.C))
    upper, lower = np.empty(len(X)), np.empty(len(X))
    kernels.sweep(X, w, *at, origin, grid, labels, upper, lower, none, none, none, total)
    return labels


class Near(NamedTuple):
    """The nearest centre of rows, and the terms of J."""

    labels: Any  # (n,) int32
    terms: Array  # (n,) d(x, c)


def nearest(space: Space, X: Array, w: Array, C: Array) -> Near:
    """Nearest centres of prepared rows X."""
    C = plain_array(C)
    if not space.compiled:
        D = space.distance.pairwise(X, C)
        labels = np.argmin(D, axis=1).astype(np.int32)
        return Near(labels, D[np.arange(len(X)), labels])
    origin = C.mean(axis=0)
    grid, total = np.zeros((2, LIMBS)), np.zeros((0, LIMBS, X.shape[1] + 1))
    labels = label_rows(X, w, prepare(C, origin), origin, grid, total)
    return Near(labels, own_terms(space, X, C, labels))


def own_terms(space: Space, X: Array, C: Array, labels: NDArray[np.int32]) -> Array:
    """d(x_i, c of its label) for every row of X."""
    out = np.empty(len(X))
    if space.compiled:
        kernels.own_distances(X, C, labels, out)
        return space.scale * out
    for j in np.unique(labels):
        out[labels == j] = space.distance.pairwise(X[labels == j], C[j : j + 1])[:, 0]
    return out


class Assigned(NamedTuple):
    """What an assignment leaves behind."""

    total: Array  # (k, LIMBS, p + 1), exact
    objective: float  # J of the new labels with the old centres
    changed: int | None


class Far(NamedTuple):
    """A distinct row far from its centre, all its copies together."""

    term: float
    row: tuple[float, ...]
    label: int
    total: Array  # (LIMBS, p + 1), exact


def far_rows(X: Array, w: Array, near: Near, count: int, grid: Array) -> tuple[Far, ...]:
    """The ``count`` distinct rows of positive weight with the largest terms."""
    inside = np.flatnonzero((w > 0) & (near.terms > 0))
    terms = near.terms[inside]
    if len(terms) > count:
        distinct = np.unique(terms)
        inside = inside[terms >= distinct[max(0, len(distinct) - count)]]
    found: dict[tuple[float, ...], Far] = {}
    for i in inside:
        row, label = tuple(X[i].tolist()), int(near.labels[i])
        if row not in found:
            none = np.zeros((LIMBS, X.shape[1] + 1))
            found[row] = Far(float(near.terms[i]), row, label, none)
        kernels.add_row(found[row].total, X[i], float(w[i]), grid)
    return first_far(found.values(), count)


def first_far(rows: Iterable[Far], count: int) -> tuple[Far, ...]:
    """The farthest rows; of equally far ones those that come first in lexicographic order."""
    return tuple(sorted(rows, key=lambda far: (-far.term, far.row))[:count])


def merge_far(count: int, a: tuple[Far, ...], b: tuple[Far, ...]) -> tuple[Far, ...]:
    """The farthest rows of two sets; copies of one row are taken together."""
    found = {far.row: far for far in a}
    for far in b:
        same = found.get(far.row)
        found[far.row] = far if same is None else far._replace(total=same.total + far.total)
    return first_far(found.values(), count)


class SourceRows:
    """Passes over the leaves of any source; nothing is kept but the labels, if asked for."""

    def __init__(
        self, source: Source, map_: Map, space: Space, box: Box, *, keep_labels: bool
    ) -> None:
        self.source, self.map_, self.space = source, map_, space
        self.origin, self.grid, self.keep_labels = box.mean, limb_grid(box), keep_labels
        self.labels: Any = None

    def begin(self) -> None:
        self.labels = None

    def _reduce(self, leaf: Callable[[Rows], Any], merge: Callable[[Any, Any], Any]) -> Any:
        return statistics.reduce_rows(Statistic(leaf, merge), self.source, self.map_)

    def assign(self, C: Array, objective: float) -> Assigned:
        """Assign every row to its nearest centre (``objective`` is not needed here)."""
        leaf = partial(leaf_assign, self.space, C, self.origin, self.grid, self.keep_labels)
        total, value, labels = self._reduce(leaf, merge_assign)
        old, self.labels, changed = self.labels, labels, None
        if self.keep_labels:
            changed = len(labels) if old is None else int((labels != old).sum())
        return Assigned(total, value, changed)

    def farthest(self, C: Array, count: int) -> tuple[Far, ...]:
        """The distinct rows farthest from their centres."""
        leaf = partial(leaf_far, self.space, C, self.grid, count)
        return self._reduce(leaf, partial(merge_far, count))

    def relabel(self, far: Far, j: int) -> None:
        """Give a distinct row to centre j."""
        if self.keep_labels:
            start = 0
            for span in self.source.spans():
                for leaf in span.leaves():
                    X, _ = dense_rows(self.space, leaf)
                    same = (np.array(far.row) == X).all(axis=1)
                    self.labels[start : start + len(X)][same] = j
                    start += len(X)

    def medians(self, C: Array) -> Array:
        """Coordinate-wise weighted medians of the groups; an empty group keeps its centre."""
        parts = [dense_rows(self.space, leaf) for s in self.source.spans() for leaf in s.leaves()]
        X, w = np.vstack([x for x, _ in parts]), np.concatenate([v for _, v in parts])
        out = C.copy()
        for j in range(len(C)):
            mine = (self.labels == j) & (w > 0)
            if mine.any():
                out[j] = weighted_median(X[mine], w[mine])
        return out

    def value(self, C: Array, new: Array) -> float:
        """J at the centres ``new`` with every row where C puts it."""
        leaf = partial(leaf_value, self.space, C, new)
        return float(self._reduce(leaf, merge_sum))

    def finish(self, C: Array) -> tuple[float, Array]:
        """J and the weight of each centre once every row is with its nearest one."""
        assigned = self.assign(C, 0.0)
        return assigned.objective, collapse(assigned.total)[0]


def leaf_assign(
    space: Space, C: Array, origin: Array, grid: Array, keep: bool, rows: Rows
) -> tuple[Array, float, Any]:
    """Exact sums, J and, if kept, the labels of one leaf."""
    X, w = dense_rows(space, rows)
    total = np.zeros((len(C), LIMBS, X.shape[1] + 1))
    if space.compiled:
        labels = label_rows(X, w, prepare(C, origin), origin, grid, total)
        terms = own_terms(space, X, C, labels)
    else:
        labels, terms = nearest(space, X, w, C)
        kernels.group_rows(X, w, labels, grid, total)
    return total, float((w * terms).sum()), labels if keep else None


def merge_assign(a: tuple[Any, ...], b: tuple[Any, ...]) -> Any:
    """Two leaves together."""
    labels = None if a[2] is None else np.concatenate([a[2], b[2]])
    return a[0] + b[0], a[1] + b[1], labels


class TensorNear(NamedTuple):
    """The nearest centre of the rows of a tensor and their squared distances to it."""

    labels: Any
    squares: Any


def tensor_nearest(X: Any, C: Any, origin: Any) -> TensorNear:
    """Nearest centres, with distances about ``origin``: |x-o|^2 - 2 (x-o)(c-o) + |c-o|^2.

    One product of matrices gives all of them; where the origin is far from 0 (in units of the
    centres' spread) the rows are moved first, so that no digits are lost.
    """
    xp, about = namespace(X), C - origin
    if bool(xp.max(xp.abs(origin)) > 100.0 * xp.max(xp.abs(about))):
        X, origin = X - origin, xp.zeros_like(origin)
    k = about.shape[0]
    products = X @ xp.concat([about, xp.reshape(origin, (1, -1))], axis=0).T  # (n, k + 1)
    constant = xp.sum(about**2, axis=1) + 2.0 * (about @ origin)
    D = constant - 2.0 * products[:, :k]
    own = xp.linalg.vector_norm(X, axis=1) ** 2 - 2.0 * products[:, k] + xp.sum(origin**2)
    labels = xp.argmin(D, axis=1)
    squares = xp.take_along_axis(D, labels[:, None], axis=1)[:, 0] + own
    return TensorNear(labels, xp.where(squares > 0, squares, xp.zeros_like(squares)))


def tensor_terms(space: Space, X: Any, C: Any, labels: Any) -> Any:
    """d(x_i, c of its label) for every row of a tensor."""
    xp = namespace(X)
    return space.scale * xp.sum((X - xp.take(C, labels, axis=0)) ** 2, axis=1)


@on_device(leaf_assign)
def device_assign(
    space: Space, C: Array, origin: Array, grid: Array, keep: bool, rows: DeviceRows
) -> tuple[Any, Any, Any]:
    """Sums, J and, if kept, the labels of tensors; the sums are plain ones, in the first limb."""
    X, w = tensor_rows(space, rows), rows.w
    xp = namespace(X)
    labels, squares = tensor_nearest(X, like(C, X), like(origin, X))
    mine = xp.astype(labels[:, None] == xp.arange(len(C), device=X.device)[None, :], X.dtype)
    mine = mine if w is None else mine * w[:, None]
    sums = xp.concat([cross(mine, X), xp.sum(mine, axis=0)[:, None]], axis=1)
    none = xp.zeros_like(sums)
    value = space.scale * xp.sum(squares if w is None else squares * w)
    kept = xp.astype(labels, xp.int32) if keep else None
    return xp.stack([sums] + [none] * (LIMBS - 1), axis=1), value, kept


def leaf_far(space: Space, C: Array, grid: Array, count: int, rows: Rows) -> tuple[Far, ...]:
    """The farthest rows of one leaf."""
    X, w = dense_rows(space, rows)
    return far_rows(X, w, nearest(space, X, w, C), count, grid)


@on_device(leaf_far)
def device_far(
    space: Space, C: Array, grid: Array, count: int, rows: DeviceRows
) -> tuple[Far, ...]:
    """The farthest rows of tensors: their terms are read, then the few rows that may count."""
    X = tensor_rows(space, rows)
    xp, centers = namespace(X), like(C, X)
    labels = tensor_nearest(X, centers, xp.mean(centers, axis=0)).labels
    terms, w = host(tensor_terms(space, X, centers, labels)), host(rows.weights())
    inside = np.flatnonzero((w > 0) & (terms > 0))
    distinct = np.unique(terms[inside])
    if len(distinct) > count:
        inside = inside[terms[inside] >= distinct[-count]]
    few = like(inside, X, xp.int64)
    near = Near(host(xp.take(labels, few)).astype(np.int32), terms[inside])
    return far_rows(plain_array(host(xp.take(X, few, axis=0))), w[inside], near, count, grid)


def leaf_value(space: Space, C: Array, new: Array, rows: Rows) -> float:
    """J of one leaf at the centres ``new``, labels from C."""
    X, w = dense_rows(space, rows)
    return float((w * own_terms(space, X, new, nearest(space, X, w, C).labels)).sum())


@on_device(leaf_value)
def device_value(space: Space, C: Array, new: Array, rows: DeviceRows) -> Any:
    """J of tensors at the centres ``new``, labels from C."""
    X = tensor_rows(space, rows)
    xp, old = namespace(X), like(C, X)
    labels = tensor_nearest(X, old, xp.mean(old, axis=0)).labels
    return xp.sum(rows.weights() * tensor_terms(space, X, like(new, X), labels))


def merge_sum(a: float, b: float) -> float:
    return a + b


class MemoryRows:
    """Passes over rows in memory that skip, by Hamerly's bounds, rows which cannot change."""

    def __init__(self, X: Array, w: Array, space: Space, box: Box) -> None:
        self.X, self.w, self.space = X, w, space
        self.origin, self.grid = box.mean, limb_grid(box)
        n = len(X)
        self.labels = np.full(n, -1, np.int32)
        self.upper, self.lower = np.zeros(n), np.zeros(n)
        step = max(SMALLEST_CHUNK, -(-n // statistics.LEAF_ROWS) // 64) * statistics.LEAF_ROWS
        self.chunks = [slice(start, min(start + step, n)) for start in range(0, n, step)]

    def begin(self) -> None:
        self.labels[:] = -1
        self.total: Any = None
        self.C: Any = None

    def assign(self, C: Array, objective: float) -> Assigned:
        """Assign every row; ``objective`` is J of the labels kept from the last call, at C."""
        k, p = C.shape
        at = prepare(C, self.origin)
        moved, drift, half = bounds(self.C, at) if self.C is not None else (np.zeros(k),) * 3

        def part(rows: slice) -> tuple[Array, int, float]:
            total = np.zeros((k, LIMBS, p + 1))
            bounds = self.labels[rows], self.upper[rows], self.lower[rows]
            rest = self.origin, self.grid, *bounds, moved, drift, half, total
            changed, gain = kernels.sweep(self.X[rows], self.w[rows], *at, *rest)
            return total, changed, gain

        parts = list(map_threads(part, self.chunks))
        gain = sum(g for _, _, g in parts)
        start = np.zeros((k, LIMBS, p + 1)) if self.total is None else self.total
        self.total = sum((total for total, _, _ in parts), start)
        first, self.C = self.C is None, C
        value = self.space.scale * gain + (0.0 if first else objective)
        return Assigned(self.total, value, sum(changed for _, changed, _ in parts))

    def farthest(self, C: Array, count: int) -> tuple[Far, ...]:
        """The distinct rows farthest from their centres (after ``assign(C)``)."""
        near = Near(self.labels, own_terms(self.space, self.X, C, self.labels))
        return far_rows(self.X, self.w, near, count, self.grid)

    def relabel(self, far: Far, j: int) -> None:
        """Give a distinct row to centre j; its bounds are void."""
        same = (np.array(far.row) == self.X).all(axis=1)
        self.total = self.total.copy()
        self.total[far.label] -= far.total
        self.total[j] += far.total
        self.labels[same] = j
        self.lower[same] = 0.0

    def finish(self, C: Array) -> tuple[float, Array]:
        """J, summed afresh, and the weight of each centre, all rows with their nearest one."""
        assigned = self.assign(C, 0.0)

        def part(rows: slice) -> list[Node]:
            nodes = []
            for start in range(rows.start, rows.stop, statistics.LEAF_ROWS):
                leaf = slice(start, min(start + statistics.LEAF_ROWS, rows.stop))
                terms = own_terms(self.space, self.X[leaf], C, self.labels[leaf])
                value = float((self.w[leaf] * terms).sum())
                nodes.append(Node(0, start // statistics.LEAF_ROWS, value))
            return nodes

        nodes = (node for part in map_threads(part, self.chunks) for node in part)
        return float(statistics.merge_nodes(nodes, merge_sum)), collapse(assigned.total)[0]


def bounds(old: Array, at: Prepared) -> tuple[Array, Array, Array]:
    """How far each centre moved, how far the others of each did, half the way to the next one.

    The first two are rounded up and the last down, so that skipping stays exact.
    """
    k, p = old.shape
    slack = 4.0 * (p + 8) * 2.0**-52
    moved = np.sqrt(((at.C - old) ** 2).sum(axis=1)) * (1 + slack)
    drift = np.zeros(k)
    half = np.full(k, np.inf)
    if k > 1:
        top, next_ = np.argsort(moved)[[-1, -2]]
        drift[:] = moved[top]
        drift[top] = moved[next_]
        cn, about = at.cn[:k], -0.5 * at.C2[:, :k].T
        both = cn[:, None] + cn
        D = both * (1 - 2 * slack) - 2.0 * about @ about.T
        np.fill_diagonal(D, np.inf)
        half = 0.5 * np.sqrt(np.maximum(D.min(axis=1), 0.0)) * (1 - slack)
    return moved, drift, half
