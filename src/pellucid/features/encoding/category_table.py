"""Tables for trees: numbers with missing cells, and categories by type, by number or by name."""

from collections.abc import Callable, Sequence
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from pellucid.core.arrays.columns import Coded, Text
from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.features.encoding.categories import Column, find_values, look_up, sorted_values


def typed_categories(columns: Sequence[Any]) -> Array:
    """Which columns of a frame are categories by their type."""
    import polars as pl

    def is_category(column: Column) -> bool:
        if isinstance(column, Text):
            return column.series.dtype in (pl.Categorical, pl.Enum)
        return isinstance(column, Coded)

    return np.array([is_category(column) for column in columns], bool)


def asked_categories(
    asked: ArrayLike | None, by_type: Array, names: Sequence[str] | None, p: int
) -> Array:
    """The columns that ``categorical_features`` means.

    >>> asked_categories([1], np.zeros(3, bool), None, 3)
    array([False,  True, False])
    """
    if asked is None:
        return np.zeros(p, bool)
    if isinstance(asked, str):
        if asked != "from_dtype":
            raise ValueError(f"categorical_features must be 'from_dtype' or a list, got {asked!r}")
        return by_type
    given = np.asarray(asked)
    if given.size == 0:
        return np.zeros(p, bool)
    if given.dtype.kind not in "biuUO":
        need = "a mask, column numbers or column names"
        raise ValueError(f"categorical_features must be {need}, got values of type {given.dtype}")
    if given.dtype.kind == "b":
        if given.shape != (p,):
            raise ValueError(f"categorical_features has {len(given)} truth values for {p} columns")
        return given
    mask = np.zeros(p, bool)
    for one in given.tolist():
        if isinstance(one, str):
            if names is None or one not in list(names):
                raise ValueError(f"categorical_features names {one!r}, which is not a column of X")
            mask[list(names).index(one)] = True
        elif not 0 <= one < p:
            raise ValueError(f"categorical_features has column {one}, X has {p} columns")
        else:
            mask[one] = True
    return mask


def has_words(X: ArrayLike, *, text: bool) -> bool:
    """Whether a frame has columns of categories or, with ``text``, of words of any kind."""
    kinds = (nw.Categorical, nw.Enum, nw.String, nw.Object) if text else (nw.Categorical, nw.Enum)
    schema = nw.from_native(X, eager_only=True).schema
    return any(kind in kinds for kind in schema.values())


def open_codes(
    estimator: BaseEstimator, X: ArrayLike, plain: Callable[[], Any], *, reset: bool
) -> tuple[Any, list[Any] | None]:
    """(numbers, categories): columns of categories become codes of their sorted values.

    ``plain()`` opens a table of numbers. A missing or unknown value becomes NaN. ``categories``
    has an array of values for each column of categories, None for the others; None if there are
    none at all. They are learned with ``reset`` and read from ``estimator.categories_`` without.
    """
    known = None if reset else estimator.categories_
    asked = estimator.categorical_features
    if asked is None if reset else known is None:
        return plain(), None
    named = not isinstance(asked, str)
    by_words = is_frame(X) and has_words(X, text=named or not reset)
    if known is not None and not by_words:
        by_words = any(v is not None and v.dtype.kind not in "biuf" for v in known)
    if by_words:
        return _open_columns(estimator, X, known, reset)
    matrix = plain()
    if known is not None:
        return _encode(matrix, known), known
    p = matrix.shape[1]
    names = getattr(estimator, "feature_names_in_", None)
    mask = asked_categories(asked, np.zeros(p, bool), names, p)
    if not mask.any():
        return matrix, None
    known = [_numbers(matrix[:, j]) if mask[j] else None for j in range(p)]
    return _encode(matrix, known), known


def _numbers(x: Array) -> Array:
    return np.unique(x[~np.isnan(x)])


def _encode(matrix: Array, known: list[Any]) -> Array:
    out = np.array(matrix)
    for j, values in enumerate(known):
        if values is None:
            continue
        x = matrix[:, j]
        if len(values) == 0:
            out[:, j] = np.nan
            continue
        place = np.minimum(np.searchsorted(values, x), len(values) - 1)
        out[:, j] = np.where(values[place] == x, place, np.nan)
    return out


def _open_columns(
    estimator: BaseEstimator, X: Any, known: list[Any] | None, reset: bool
) -> tuple[Array, list[Any] | None]:
    columns = estimator._check_columns(X, reset=reset)
    p, n = len(columns), len(X)
    if reset:
        names = getattr(estimator, "feature_names_in_", None)
        by_type = typed_categories(columns)
        mask = asked_categories(estimator.categorical_features, by_type, names, p)
    else:
        mask = np.array([v is not None for v in known or [None] * p])
    found: list[Any] = [None] * p if known is None else list(known)
    out = np.empty((n, p))
    for j, column in enumerate(columns):
        if mask[j]:
            if reset:
                found[j] = values_of(column)
            out[:, j] = codes_of(column, found[j])
        else:
            refuse_words(estimator, column, j)
            out[:, j] = column
    return out, found if mask.any() else None


def refuse_words(estimator: BaseEstimator, column: Column, j: int) -> None:
    """A column that is not a category must hold numbers."""
    if isinstance(column, Text | Coded) or column.dtype.kind not in "iufb":
        what = f"{estimator._column_name(j)} holds {first_word(column)}, not numbers"
        raise ValueError(f"{what}; name it in categorical_features, or make it a category column")


def first_word(column: Column) -> str:
    """The first cell that is there, for a message."""
    cells = [v for v in find_values([column]).values[0].tolist() if v is not None and v == v]
    return repr(cells[0]) if cells else "nothing"


def values_of(column: Column) -> Any:
    """The distinct values of a column, sorted, as text or numbers; missing cells left out."""
    raw = find_values([column]).values[0]
    present = np.array([v for v in raw.tolist() if v is not None and v == v])
    return sorted_values(present) if len(present) else np.array([], dtype="U1")


def codes_of(column: Column, known: NDArray[Any] | None) -> Array:
    """The place of each cell in ``known``; NaN where it is missing or new."""
    found = find_values([column])
    raw = found.values[0]
    if known is None or len(known) == 0:
        return np.full(len(found.codes[0]), np.nan)
    place = np.full(len(raw), np.nan)
    cells = raw.tolist()
    present = [i for i, v in enumerate(cells) if v is not None and v == v]
    if present:
        values = np.array([cells[i] for i in present])
        if values.dtype.kind == known.dtype.kind or known.dtype.kind in "iuf":
            at = look_up(values, known)
            place[present] = np.where(np.asarray(at) < 0, np.nan, at)
    return place[found.codes[0]]


def check_categories(estimator: BaseEstimator) -> None:
    """Refuse categories of a file that do not fit the columns."""
    known = estimator.categories_
    if known is None:
        return
    sound = isinstance(known, list) and len(known) == estimator.n_features_in_
    if not sound or not all(v is None or isinstance(v, np.ndarray) for v in known):
        raise ValueError("categories_ must be None or a list with an entry for every column")
