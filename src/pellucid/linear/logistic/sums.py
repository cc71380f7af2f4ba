r"""The logistic loss as a statistic: value, slope and curvature are sums over the rows.

Model        P(k | x) = exp(t_k.d) / sum_l exp(t_l.d), d = (1, x); two classes: one t, the log-odds
Objective    F(t) = (1/N) sum_i w_i loss_i + sum_jk r_j t_kj^2 / 2,      N = sum w
             r_j = 1/(C N), 0 for a free intercept

    slope_k       (1/N) sum w (p_k - [y = k]) d + r t_k
    curvature_kl  (1/N) sum w (p_k [k = l] - p_k p_l) d d' + diag(r) [k = l]

All of it is ``core.loops.statistics.reduce_rows`` of one leaf function, so arrays, files and any
number of threads give the same bits. Columns are shifted by a typical row, which changes the
intercept only and keeps the curvature well conditioned.
"""

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from pellucid.compiled.epochs import logistic as kernels
from pellucid.core.algebra.gram import WIDEST
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.tensors import like, namespace
from pellucid.core.arrays.typing import Array, ArrayLike, Map
from pellucid.core.loops.device import DeviceRows, cross, far_off, on_device
from pellucid.core.loops.statistics import LEAF_ROWS, Rows, Source, Statistic, is_unit, reduce_rows
from pellucid.core.runtime import simd
from pellucid.core.runtime.threads import map_threads

PIECE = 1024  # rows of a leaf that BLAS takes at a time: they stay in the second-level cache

At = tuple[Array, Array, float, bool]  # theta, shift, 1 or 0 for the intercept, with curvature


class Sums(NamedTuple):
    """Sums over rows at one theta (K', q): K' = 1 for two classes."""

    loss: float
    wrong: int  # rows of positive weight that are not strictly right
    slope: Array  # (K', q)
    curvature: Array  # (K'q, K'q), or (0, 0) where it was not asked for


class Problem(NamedTuple):
    """What is minimised; q = p + 1, the intercept first (its column is 0 where there is none)."""

    source: Source
    map_: Map
    n_classes: int
    ridge: Array  # (q,) r of the formula
    shift: Array  # (p,) taken off the columns
    intercept: bool
    class_weight: Array | None  # (K,)
    counts: Array  # (K,) weight of each class, class weights included

    @property
    def total(self) -> float:
        return float(self.counts.sum())

    @property
    def n_scores(self) -> int:
        """K': 1 for two classes."""
        return 1 if self.n_classes == 2 else self.n_classes

    def shrunk(self, strength: float) -> "Problem":
        """The same with ``strength`` as the penalty of every weight, the intercept free."""
        ridge = np.full(len(self.shift) + 1, strength)
        ridge[0] = 0.0
        return self._replace(ridge=ridge)


class Point(NamedTuple):
    """The objective and its derivatives at theta."""

    theta: Array  # (K', q)
    objective: float
    loss: float  # summed, without the penalty
    wrong: int
    slope: Array  # (K', q)
    curvature: Array  # (K'q, K'q) or (0, 0), the penalty included


def merge_sums(a: Sums, b: Sums) -> Sums:
    """The sums of two sets of rows."""
    return Sums(a.loss + b.loss, a.wrong + b.wrong, a.slope + b.slope, a.curvature + b.curvature)


def row_weights(rows: Rows, class_weight: Array | None) -> tuple[Array, bool]:
    """Weights as the kernels take them: an empty array and False where all are 1."""
    if class_weight is not None:
        return np.ascontiguousarray(rows.w * class_weight[rows.y]), True
    if is_unit(rows.w):
        return np.zeros(0), False
    return np.array(rows.w), True


def leaf_sums(
    theta: Array, shift: Array, ones: float, class_weight: Array | None, curved: bool, rows: Rows
) -> Sums:
    """The sums of one leaf."""
    X, y = rows.X, rows.y if rows.y.flags.writeable else rows.y.copy()
    w, weighted = row_weights(rows, class_weight)
    if issparse(X) and not curved:
        return _sparse_leaf(theta, ones, X, y, w, weighted)
    X = to_dense(X)
    if not (X.flags.writeable and X.flags.c_contiguous):
        X = np.array(X, order="C")  # a read-only array would compile anew
    if curved and len(theta) == 1 and X.shape[1] < WIDEST:
        return _binary_leaf(theta, shift, ones, X, y, w, weighted)
    at = theta, shift, ones, curved
    with np.errstate(invalid="ignore", over="ignore"):  # a loss that is not finite tells
        spans = [slice(s, s + PIECE) for s in range(0, len(X), PIECE)]
        return reduce(merge_sums, [_dense_piece(at, X[s], y[s], w[s], weighted) for s in spans])


def _binary_leaf(
    theta: Array, shift: Array, ones: float, X: Array, y: Array, w: Array, weighted: bool
) -> Sums:
    q = X.shape[1] + 1
    d = -(-q // simd.LANES) * simd.LANES
    t = np.zeros(d)
    t[:q] = theta[0]
    G, g = np.zeros((d, d)), np.zeros(d)
    m = kernels.BLOCK_ROWS
    scratch = np.zeros((m, d)), np.zeros(m), np.zeros(m)
    loss, wrong = kernels.binary_sums(X, y, w, weighted, shift, ones, t, *scratch, G, g)
    return Sums(loss, wrong, g[None, :q], G[:q, :q])


def _dense_piece(at: At, X: Array, y: Array, w: Array, weighted: bool) -> Sums:
    theta, shift, ones, curved = at
    W, b = theta[:, 1:], ones * theta[:, 0] - theta[:, 1:] @ shift
    Z = X @ W.T + b
    P = np.empty(Z.shape if curved else (0, 0))
    loss, wrong = kernels.softmax_residuals(Z, y, w, weighted, P, curved)
    slope = np.empty(theta.shape)
    slope[:, 0] = Z.sum(axis=0)
    slope[:, 1:] = Z.T @ X - np.outer(slope[:, 0], shift)
    slope[:, 0] *= ones
    if not curved:
        return Sums(loss, wrong, slope, np.zeros((0, 0)))
    D = np.empty((len(X), X.shape[1] + 1))
    D[:, 0] = ones
    np.subtract(X, shift, out=D[:, 1:])
    root = np.sqrt(w)[:, None] if weighted else 1.0
    D *= root
    if len(theta) == 1:
        U = np.sqrt(P * (1 - P)) * D
        return Sums(loss, wrong, slope, U.T @ U)
    return Sums(loss, wrong, slope, softmax_curvature(D, P))


def softmax_curvature(D: Array, P: Array) -> Array:
    """sum_i (diag(p_i) - p_i p_i') x d_i d_i', shape (Kq, Kq), class by class.

    >>> softmax_curvature(np.ones((1, 1)), np.array([[0.5, 0.5]]))
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    (n, q), K = D.shape, P.shape[1]
    U = (P[:, :, None] * D[:, None, :]).reshape(n, K * q)
    H = -(U.T @ U)
    for k in range(K):
        V = np.sqrt(P[:, k])[:, None] * D
        H[k * q : (k + 1) * q, k * q : (k + 1) * q] += V.T @ V
    return H


def _sparse_leaf(theta: Array, ones: float, X: Any, y: Array, w: Array, weighted: bool) -> Sums:
    Z = np.empty((X.shape[0], len(theta)))
    starts, columns = (a.astype(np.int32, copy=False) for a in (X.indptr, X.indices))
    values = X.data if X.data.flags.writeable else X.data.copy()
    W, b = np.array(theta[:, 1:].T, order="C"), ones * theta[:, 0]
    kernels.sparse_scores(values, columns, starts, W, b, Z)
    loss, wrong = kernels.softmax_residuals(Z, y, w, weighted, np.empty((0, 0)), False)
    G = np.zeros(W.shape)
    kernels.sparse_slopes(values, columns, starts, Z, G)
    return Sums(loss, wrong, np.column_stack([ones * Z.sum(axis=0), G.T]), np.zeros((0, 0)))


@on_device(leaf_sums)
def device_sums(
    theta: Array, shift: Array, ones: float, class_weight: Array | None, curved: bool, rows: Any
) -> Sums:
    """The sums of tensors."""
    X, y, w, xp = rows.X, rows.y, rows.w, namespace(rows.X)
    if class_weight is not None:
        w = rows.weights() * xp.take(like(class_weight, X), y)
    T = like(np.ascontiguousarray(theta[:, 1:].T), X)
    Z = X @ T + like(ones * theta[:, 0] - theta[:, 1:] @ shift, X)  # (n, K')
    if len(theta) == 1:
        z, t = Z[:, 0], xp.astype(y, X.dtype)
        loss = xp.logaddexp(xp.zeros_like(z), z) - t * z
        p = 1.0 / (1.0 + xp.exp(-z))
        wrong = xp.where(t > 0, z <= 0, z >= 0)
        P, R = p[:, None], (p - t)[:, None]
    else:
        top = xp.max(Z, axis=1, keepdims=True)
        E = xp.exp(Z - top)
        total = xp.sum(E, axis=1, keepdims=True)
        hit = xp.arange(Z.shape[1], device=X.device)[None, :] == y[:, None]
        own = xp.sum(xp.where(hit, Z, xp.zeros_like(Z)), axis=1, keepdims=True)
        loss = (xp.log(total) + top - own)[:, 0]
        low = xp.full_like(Z, -xp.inf)
        wrong = xp.max(xp.where(hit, low, Z), axis=1) >= own[:, 0]
        P, R = E / total, E / total - xp.astype(hit, X.dtype)
    if w is not None:
        R, loss, wrong = R * w[:, None], w * loss, wrong & (w > 0)
    first = xp.sum(R, axis=0)[:, None]
    s = like(shift, X)[None, :]
    own = P if w is None else P * w[:, None]
    h = own * (1 - P) if curved and len(theta) == 1 else own
    both = cross(X, xp.concat([R, h], axis=1) if curved else R).T  # R'X and h'X in one pass
    slope = xp.concat([ones * first, both[: len(theta), :] - first * s], axis=1)
    sums = Sums(xp.sum(loss), xp.count_nonzero(wrong), slope, np.zeros((0, 0)))
    if not curved:
        return sums
    return sums._replace(curvature=device_curvature(X, s, ones, P, h, both[len(theta) :, :]))


def device_curvature(X: Any, s: Any, ones: float, P: Any, h: Any, first: Any) -> Any:
    """sum_i w_i (diag(p_i) - p_i p_i') x d_i d_i' of tensors, d = (ones, x - s).

    One column: two classes, h = w p (1 - p); else h = w p. ``first`` is h'X. The shift s is taken
    off the sums, or off the rows where that would cost digits.
    """
    xp, K = namespace(X), P.shape[1]
    own = [weighted_products(X, s, ones, h[:, k], first[k : k + 1, :]) for k in range(K)]
    if K == 1:
        return own[0]
    blocks = []
    for k in range(K):
        mixed = [h[:, k] * P[:, m] for m in range(K)]
        line = [-weighted_products(X, s, ones, v, v[None, :] @ X) for v in mixed]
        line[k] = line[k] + own[k]
        blocks.append(xp.concat(line, axis=1))
    return xp.concat(blocks, axis=0)


def weighted_products(X: Any, s: Any, ones: float, h: Any, first: Any) -> Any:
    """sum_i h_i d_i d_i', d = (ones, x - s), h >= 0, first = h'X."""
    xp = namespace(X)
    G, total = cross(X, X * h[:, None]), xp.sum(h)
    M = first - total * s  # sum h (x - s)
    S = G - s.T @ first - first.T @ s + total * (s.T @ s)
    if far_off(total * (s * s)[0, :], xp.linalg.diagonal(S)):
        D = X - s
        V = D * h[:, None]
        S, M = cross(D, V), xp.sum(V, axis=0)[None, :]
    corner = xp.reshape(ones * ones * total, (1, 1))
    top = xp.concat([corner, ones * M], axis=1)
    return xp.concat([top, xp.concat([ones * M.T, S], axis=1)], axis=0)


def evaluate(problem: Problem, theta: Array, *, curved: bool) -> Point:
    """The objective and its derivatives: one pass over the data."""
    at = theta, problem.shift, float(problem.intercept)
    leaf = partial(leaf_sums, *at, problem.class_weight, curved)
    found: Sums = reduce_rows(Statistic(leaf, merge_sums), problem.source, problem.map_)
    N, ridge = problem.total, problem.ridge
    with np.errstate(invalid="ignore", over="ignore"):  # a step may have been far too long
        slope = found.slope / N + ridge * theta
        value = found.loss / N + 0.5 * float((ridge * theta**2).sum())
    H = found.curvature
    if curved:
        H = np.tril(H) + np.tril(H, -1).T
        H /= N
        H[np.diag_indices(len(H))] += np.tile(ridge, len(theta))
    return Point(theta, float(value), float(found.loss), int(found.wrong), slope, H)


class CutSpan(NamedTuple):
    """One leaf that is cut already."""

    start: int
    leaf: Rows

    def leaves(self) -> Iterator[Rows]:
        yield self.leaf


class CutRows(NamedTuple):
    """Sparse rows whose leaves are cut once: a slice of a CSR matrix copies, a view does not."""

    n_rows: int
    cut: tuple[CutSpan, ...]

    def spans(self) -> Sequence[CutSpan]:
        return self.cut


def cut_rows(rows: Rows) -> CutRows:
    """The leaves of sparse rows as views of their arrays."""
    X, n = rows.X, rows.n_rows
    cut = []
    for start in range(0, n, LEAF_ROWS):
        stop = min(start + LEAF_ROWS, n)
        a, b = X.indptr[start], X.indptr[stop]
        parts = X.data[a:b], X.indices[a:b], X.indptr[start : stop + 1] - a
        view = csr_array(parts, shape=(stop - start, X.shape[1]), copy=False)
        cut.append(CutSpan(start, Rows(view, rows.y[start:stop], rows.w[start:stop])))
    return CutRows(n, tuple(cut))


def typical_row(X: np.ndarray, w: Array) -> Array:
    """A shift for the columns: the mean of some rows, exact where a column is constant.

    >>> typical_row(np.array([[5.0, 0.0], [5.0, 2.0]]), np.ones(2))
    array([5., 1.])
    """
    live = np.flatnonzero(w > 0)
    sample = np.asarray(X[live[:: max(1, len(live) // 1000)]], dtype=np.float64)
    with np.errstate(invalid="ignore", over="ignore"):  # cells are checked by the loss
        shift = sample[0] + (sample - sample[0]).mean(axis=0)
    return np.where(np.isfinite(shift), shift, 0.0)


def class_counts(n_classes: int, rows: Rows) -> Array:
    """The weight of each class in a leaf."""
    w = None if is_unit(rows.w) else rows.w
    return np.bincount(rows.y, weights=w, minlength=n_classes).astype(np.float64)


@on_device(class_counts)
def device_counts(n_classes: int, rows: DeviceRows) -> Any:
    """The weight of each class of tensors."""
    xp = namespace(rows.X)
    codes = xp.arange(n_classes, device=rows.X.device)
    return xp.stack(
        [xp.sum(xp.where(rows.y == codes[k], rows.weights(), 0.0)) for k in range(n_classes)]
    )


def plain_problem(rows: Rows, n_classes: int, shift: Array, intercept: bool) -> Problem:
    """The problem of rows in memory, without a penalty."""
    ridge, counts = np.zeros(len(shift) + 1), class_counts(n_classes, rows)
    return Problem(rows, map_threads, n_classes, ridge, shift, intercept, None, counts)


def add(a: Any, b: ArrayLike) -> Any:
    """The sum of two summaries."""
    return a + b


def log_likelihood_of_counts(counts: Array) -> float:
    """The largest log-likelihood of a model with intercepts only.

    >>> round(log_likelihood_of_counts(np.array([3.0, 3.0])), 6)
    -4.158883
    """
    live = counts[counts > 0]
    return float(live @ np.log(live / live.sum()))
