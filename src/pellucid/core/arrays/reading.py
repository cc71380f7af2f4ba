"""scikit-learn's checks of tables, behind a look at what NumPy and SciPy take on trust.

A sparse table whose indices point outside is refused, and what NumPy says of cells, rows and sizes
it cannot read becomes one sentence. The rest of the library takes these functions from here.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Number
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import validation

from pellucid.core.arrays.frames import indexable_frame, is_frame
from pellucid.core.arrays.lazy import refuse_lazy
from pellucid.core.arrays.sparse import check_places


def check_form(X: Any, name: str = "X") -> None:
    """Refuse what is no table in memory that fits together, before anything is read of it."""
    refuse_lazy(X, name)
    check_places(X, name)
    fields = getattr(getattr(X, "dtype", None), "names", None)
    if fields:
        named = ", ".join(map(str, fields[:3])) + (", ..." if len(fields) > 3 else "")
        what = f"{name} is a structured array with the fields {named}"
        raise TypeError(f"{what}; give a frame, or an array of numbers with a column for each")


def row_table(X: Any, name: str = "X") -> Any:
    """A table whose rows can be taken: frames that scikit-learn can cut, sparse ones by rows.

    Whatever cuts a caller's table before an estimator has read it starts here: SciPy follows the
    pointers of a corrupt one out of its memory.

    >>> from scipy.sparse import csr_array
    >>> X = csr_array([[0.0, 2.0], [1.0, 0.0]])
    >>> X.indptr[1] = 10**6
    >>> row_table(X)
    Traceback (most recent call last):
    ValueError: X is a sparse table whose pointers (indptr) do not fit its parts
    """
    check_form(X, name)
    if issparse(X):
        return X.tocsr()
    return indexable_frame(X) if is_frame(X) else X


@contextmanager
def reading(X: Any, name: str = "X") -> Iterator[None]:
    """What is done inside turns X into an array; where it cannot, one sentence says why.

    >>> with reading([[1.0, 2.0], [3.0]]):
    ...     np.asarray([[1.0, 2.0], [3.0]])
    Traceback (most recent call last):
    ValueError: X must have rows of one length, got 2 cells in row 0 and 1 in row 1
    >>> with reading([10**400], "y"):
    ...     np.asarray([10**400], dtype=float)
    Traceback (most recent call last):
    ValueError: y holds a whole number beyond 1.8e308, the largest in double precision
    >>> check_array(np.array(["a", np.nan], dtype=object), dtype=None, ensure_2d=False)
    Traceback (most recent call last):
    ValueError: Input X contains NaN or None in row 1: every row needs a value
    """
    try:
        yield
    except OverflowError:
        what = "a whole number beyond 1.8e308, the largest in double precision"
        raise ValueError(f"{name} holds {what}") from None
    except (TypeError, ValueError) as error:
        if "NA is ambiguous" in str(error) or str(error) == "Input contains NaN":
            raise ValueError(_gap(X, name)) from None
        if "setting an array element with a sequence" not in str(error):
            raise
        raise ValueError(_uneven(X, name)) from None


def is_missing(value: object) -> bool:
    """None, NaN (of any kind of number), or pandas' marks of a missing cell.

    >>> is_missing(None), is_missing(float("nan")), is_missing("nan")
    (True, True, False)
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, Number | np.generic) and bool(value != value)


def _gap(X: Any, name: str) -> str:
    """Which row of a table or target of objects has the first missing value."""
    cells = np.asarray(X, dtype=object)
    rows = (i for i, row in enumerate(cells) if any(map(is_missing, np.ravel(row))))
    where, each = next(rows, None), "row" if cells.ndim == 1 else "cell"
    found = "" if where is None else f" in row {where}"
    return f"Input {name} contains NaN or None{found}: every {each} needs a value"


def _uneven(X: Any, name: str) -> str:
    """Which rows differ in length, or that a cell holds a list."""
    cells = [len(row) if isinstance(row, list | tuple | np.ndarray) else 1 for row in X]
    other = next((i for i, n in enumerate(cells) if n != cells[0]), None)
    if other is None:
        return f"{name} must have a number in each cell, got a list or an array in one of them"
    found = f"got {cells[0]} cells in row 0 and {cells[other]} in row {other}"
    return f"{name} must have rows of one length, {found}"


def check_array(array: Any, **options: Any) -> Any:
    """``sklearn.utils.check_array``, with a sentence for what no array can be made of.

    >>> check_array([[1, 2]], dtype=float)
    array([[1., 2.]])
    """
    name = options.get("input_name") or "X"
    check_form(array, name)
    with reading(array, name):
        return once_each(validation.check_array(array, **options))


def check_X_y(X: Any, y: Any, **options: Any) -> Any:  # noqa: N802  scikit-learn's name
    """``sklearn.utils.check_X_y``, with a sentence for what no arrays can be made of."""
    check_form(X)
    with reading(X):
        return validation.check_X_y(X, y, **options)


def validate_data(model: BaseEstimator, X: Any, y: Any = "no_validation", **options: Any) -> Any:
    """``sklearn.utils.validation.validate_data``, with a sentence for what is no table."""
    check_form(X)
    with reading(X):
        found = validation.validate_data(model, X, y, **options)
    return (once_each(found[0]), *found[1:]) if isinstance(found, tuple) else once_each(found)


def once_each(X: Any) -> Any:
    """A sparse table with one number at a place, in order: SciPy lets several stand there.

    >>> from scipy.sparse import csr_array
    >>> twice = csr_array((np.ones(2), np.array([1, 1]), np.array([0, 2])), shape=(1, 2))
    >>> once_each(twice).data
    array([2.])
    """
    if issparse(X) and X.format in ("csr", "csc") and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X
