"""A table of numbers for functions that are no estimators: one door, one sentence."""

from typing import Any

import numpy as np

from pellucid.core.arrays.frames import frame_matrix, is_frame
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array


def numeric_matrix(X: Any, name: str) -> Array:
    """A finite float64 matrix from an array, a list, a sparse matrix or a frame.

    >>> numeric_matrix([[1, 2]], "X")
    array([[1., 2.]])
    """
    matrix = frame_matrix(X) if is_frame(X) else np.asarray(to_dense(X), dtype=np.float64)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"{name} must be a table with rows and columns, got shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        cell = f"{name} contains {matrix[row, column]} in column {column}, row {row}"
        raise ValueError(f"{cell}; finite numbers only")
    return matrix


def column_names(X: Any, p: int) -> tuple[str, ...]:
    """The names of a frame's columns, or x0, x1, ..."""
    if is_frame(X):
        return tuple(str(name) for name in getattr(X, "column_names", None) or X.columns)
    return tuple(f"x{j}" for j in range(p))
