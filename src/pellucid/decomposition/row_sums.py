"""What principal components need to know of the rows, leaf by leaf."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from pellucid.core.algebra import gram
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.sparse import column_spread, to_dense
from pellucid.core.arrays.typing import Array, ArrayLike, MaybeArray
from pellucid.core.loops.device import DeviceRows, on_device, tensor_moments
from pellucid.core.loops.statistics import LEAF_ROWS, Moments, Rows, Source, is_unit, moments
from pellucid.core.runtime.threads import map_threads

FEW_CELLS = 1 << 22  # cells up to which the rows are read once more for their lengths


def checked_scores(X: ArrayLike, count: int) -> Array:
    """Scores of so many components, for ``inverse_transform``."""
    A = check_array(X, dtype=np.float64, input_name="X")
    if A.shape[1] != count:
        raise ValueError(f"X has {A.shape[1]} columns, but there are {count} components")
    return A


def refuse_overflow(squares: Array | float) -> None:
    """Refuse rows whose sums of squares are not finite."""
    if not np.isfinite(squares).all():
        raise ValueError("the squares of X overflow float64; scale the columns down")


def mean_log_density(self: Any, X: ArrayLike, y: MaybeArray = None) -> float:
    """Mean log-density of the rows."""
    return float(self.score_samples(X).mean())


def count_rows(rows: Source) -> int:
    """How many rows there are when a row of weight 3 is three rows and one of weight 0 is none."""
    if not isinstance(rows, Rows) or is_unit(rows.w):
        return rows.n_rows
    return max(int(np.ceil(rows.w.sum())), int(np.count_nonzero(rows.w)))


def leaf_moments(rows: Rows) -> Moments:
    """Moments of one leaf, by tiles while they are faster than BLAS."""
    X = to_dense(rows.X)
    with np.errstate(all="ignore"):  # what is not finite shows in the sums, and is refused there
        if X.shape[1] > gram.WIDEST:
            return moments(X, rows.w)
        return gram.joint_moments(X, np.empty((len(X), 0)), rows.w)


@on_device(leaf_moments)
def device_moments(rows: DeviceRows) -> Moments:
    """Moments of tensors."""
    return tensor_moments(rows.X, None, rows.w)


def leaf_spread(rows: Rows) -> Moments:
    """Weight, mean and squares of the columns alone, for tables too wide for a p x p matrix."""
    if issparse(rows.X):
        return Moments(*column_spread(rows.X, rows.w))
    X, weight = rows.X, float(rows.w.sum())
    if weight == 0:
        return Moments(0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1]))
    origin = X[np.argmax(rows.w)]
    C = X - origin
    offset = rows.w @ C / weight
    return Moments(weight, origin + offset, rows.w @ (C - offset) ** 2)


def merge_spread(a: Moments, b: Moments) -> Moments:
    """The columns of two disjoint sets of rows taken together (Chan)."""
    if a.weight == 0 or b.weight == 0:
        return b if a.weight == 0 else a
    weight, gap = a.weight + b.weight, b.mean - a.mean
    squares = a.scatter + b.scatter + gap**2 * (a.weight * b.weight / weight)
    return Moments(weight, a.mean + gap * (b.weight / weight), squares)


def by_leaves(X: Any, function: Callable[[Array], Array]) -> Array:
    """``function`` of the rows of X (dense or sparse), leaf by leaf in threads.

    >>> by_leaves(np.eye(2), lambda rows: rows.sum(axis=1))
    array([1., 1.])
    """

    def leaf(start: int) -> Array:
        rows = X[start : start + LEAF_ROWS]
        return function(to_dense(rows))

    return np.concatenate(list(map_threads(leaf, range(0, X.shape[0], LEAF_ROWS))))


def row_norms(rows: Source, mean: Array, scale: Array) -> tuple[float, float] | None:
    """sum w |z|^4 and the largest |z|^2 of tables that are quick to read again, else None."""
    if not isinstance(rows, Rows) or issparse(rows.X) or rows.X.size > FEW_CELLS:
        return None
    squares = by_leaves(rows.X, lambda X: (((X - mean) / scale) ** 2).sum(axis=1))
    return float(rows.w @ squares**2), float(squares[rows.w > 0].max(initial=0.0))


def log_density(V: Array, kept: Array, rest: float, constant: float, Z: Array) -> Array:
    """-1/2 [sum_k z_k^2/l_k + |Z - rebuilt|^2/s2 + log |C| + p log 2 pi]."""
    A = Z @ V.T
    far = ((Z - A @ V) ** 2).sum(axis=1) * rest if rest else 0.0
    return -0.5 * (A**2 @ (1 / kept) + far + constant)
