"""What the pictures are given: tables, targets, fitted models and columns, each with one sentence.

Nothing is drawn here, and nothing is learned: names and numbers are read off.
"""

from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.matrices import column_names, numeric_matrix
from pellucid.core.arrays.typing import Array, ArrayLike, Columns, Model
from pellucid.linear.least_squares.summary import column_positions


def table(X: ArrayLike) -> tuple[Array, tuple[str, ...]]:
    """The numbers of a table and the names of its columns.

    >>> table([[1, 2]])
    (array([[1., 2.]]), ('x0', 'x1'))
    """
    matrix = numeric_matrix(X, "X")
    return matrix, column_names(X, matrix.shape[1])


def response(y: ArrayLike, n: int, name: str = "y") -> tuple[Array, str]:
    """One target of n finite numbers, and its name where it has one.

    >>> response([[1], [2]], 2)
    (array([1., 2.]), 'y')
    """
    if is_frame(y):
        return response(numeric_matrix(y, name), n, column_names(y, 1)[0])
    label = getattr(y, "name", None)
    values = np.asarray(y, dtype=np.float64)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"{name} must be one target at a time, got shape {values.shape}")
    if len(values) != n:
        raise ValueError(f"X and {name} must have as many rows, got {n} and {len(values)}")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} must hold finite numbers, got NaN or infinity")
    return values, name if label in (None, "") else str(label)


def same_kind(X: ArrayLike, matrix: Array) -> Any:
    """``matrix`` as a frame of the kind and column names of X, or as it is."""
    if not is_frame(X):
        return matrix
    names = column_names(X, matrix.shape[1])
    columns = {name: matrix[:, j] for j, name in enumerate(names)}
    space = nw.get_native_namespace(nw.from_native(X))
    return nw.to_native(nw.from_dict(columns, native_namespace=space))


def predicted(E: Model, X: ArrayLike) -> Array:
    """Predictions of one target, (n,)."""
    found = np.asarray(E.predict(X), dtype=np.float64)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1:
        raise ValueError(f"the picture shows one target at a time, got {found.shape[1]}")
    return found


def model_names(E: Model, p: int | None = None) -> tuple[str, ...]:
    """The names of the columns that a model was fitted on."""
    check_is_fitted(E)
    p = getattr(E, "n_features_in_", p)
    found = getattr(E, "feature_names_in_", None)
    return tuple(f"x{j}" for j in range(p or 0)) if found is None else tuple(map(str, found))


def given_names(names: Any, p: int) -> tuple[str, ...]:
    """The names a user gave for p columns, or x0, x1, ..."""
    if names is None:
        return tuple(f"x{j}" for j in range(p))
    names = tuple(map(str, names))
    if len(names) != p:
        raise ValueError(f"names must hold one name per column ({p}), got {len(names)}")
    return names


def two_columns(columns: Columns, names: tuple[str, ...]) -> tuple[int, int]:
    """Positions of two different columns, given by name or position."""
    found = column_positions(columns, names)
    if len(found) != 2:
        raise ValueError(f"columns must name two columns, got {columns!r}")
    return found[0], found[1]


def one_target(values: ArrayLike, target: int, ndim: int) -> Array:
    """The array of one target from that of one (``ndim`` axes) or of several (one axis more)."""
    values = np.asarray(values, dtype=np.float64)
    if values.ndim == ndim:
        return values
    if not 0 <= target < len(values):
        raise ValueError(f"target must be a position below {len(values)}, got {target!r}")
    return values[target]
