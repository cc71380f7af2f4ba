"""The doors of the small functions: vectors in any orientation, matrices, square matrices.

Each refuses NaN, infinity and empty input in one sentence. Basis vectors are columns. The rank
tolerance is max(shape) eps times the largest singular value unless the caller says otherwise.
"""

from typing import Any

import numpy as np

from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays import check
from pellucid.core.arrays.matrices import numeric_matrix
from pellucid.core.arrays.typing import Array, ArrayLike


def vector(x: ArrayLike, name: str, size: int | None = None) -> Array:
    """A finite vector from a number or an array of shape (n,), (n, 1) or (1, n).

    >>> vector([[3], [4]], "x")
    array([3., 4.])
    """
    v = np.asarray(x, dtype=np.float64)
    if v.size == 0 or v.size != max(v.shape, default=1):
        raise ValueError(f"{name} must be a vector, got shape {v.shape}")
    v = v.reshape(-1)
    if not np.isfinite(v).all():
        raise ValueError(f"{name} must hold finite numbers only, got {v[~np.isfinite(v)][0]}")
    if size is not None and len(v) != size:
        raise ValueError(f"{name} must have {size} entries, got {len(v)}")
    return v


def square(A: ArrayLike, name: str = "A") -> Array:
    """A finite square matrix; a number is 1 x 1.

    >>> square(2.0)
    array([[2.]])
    """
    S = numeric_matrix([[A]] if np.ndim(A) == 0 else A, name)
    if S.shape[0] != S.shape[1]:
        raise ValueError(f"{name} must be square, got shape {S.shape}")
    return S


def columns(V: Any, name: str = "V") -> Array:
    """Vectors as columns; a 1-D array is one vector, and (n, 0) none.

    >>> columns([1, 2]).shape
    (2, 1)
    """
    B = np.asarray(V, dtype=np.float64) if not hasattr(V, "columns") else V
    if B.ndim == 1:
        return vector(B, name)[:, None]
    if B.ndim == 2 and B.shape[0] > 0 and B.shape[1] == 0:
        return B
    return numeric_matrix(V, name)


def threshold(shape: tuple[int, ...], largest: float, tol: float | None) -> float:
    """The number at or below which a singular value counts as zero.

    >>> threshold((2, 3), 1.0, 1e-6)
    1e-06
    """
    if tol is None:
        return max(shape) * EPS * largest
    check.non_negative(tol=tol)
    return float(tol)


def rank_of(A: Array, tol: float | None = None) -> int:
    """The number of singular values above the tolerance; 0 for a matrix without columns.

    >>> rank_of(np.array([[1.0, 2.0], [2.0, 4.0]]))
    1
    """
    if A.size == 0:
        return 0
    s = np.linalg.svd(A, compute_uv=False)
    return int((s > threshold(A.shape, float(s[0]), tol)).sum())


def oriented(V: Array) -> Array:
    """Columns turned so that the first entry that is not small is positive: signs are arbitrary.

    >>> oriented(np.array([[0.0, 1.0], [-2.0, 3.0]]))
    array([[0., 1.],
           [2., 3.]])
    """
    if V.size == 0:
        return V
    large = np.abs(V) > 1e-9 * np.abs(V).max(axis=0)
    first = V[np.argmax(large, axis=0), np.arange(V.shape[1])]
    return V * np.where(first < 0, -1.0, 1.0) + 0.0
