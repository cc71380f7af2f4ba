"""Tables for trees on bins: numbers with missing cells, and categories by type or by name."""

from typing import Any

import numpy as np

from pellucid.core.columns import Coded, Text
from pellucid.core.frames import is_frame
from pellucid.core.typing import Array
from pellucid.features.categories import find_values, look_up, sorted_values


def typed_categories(columns: list[Any]) -> Array:
    """Which columns of a frame are categories by their type."""
    import polars as pl

    def is_category(column: Any) -> bool:
        if isinstance(column, Text):
            return column.series.dtype in (pl.Categorical, pl.Enum)
        return isinstance(column, Coded)

    return np.array([is_category(column) for column in columns], bool)


def asked_categories(asked: Any, by_type: Array, names: Any, p: int) -> Array:
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
        raise ValueError(
            "categorical_features must be a mask, column numbers or column names, "
            f"got values of type {given.dtype}"
        )
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


def open_table(estimator: Any, X: Any, *, reset: bool) -> tuple[Array, Array]:
    """(numbers, categorical): words become codes, learned with ``reset`` and looked up without.

    Sets ``categories_`` (one array of values per column of words, else None) when ``reset``.
    """
    if not is_frame(X):
        matrix = estimator._check_matrix(X, reset=reset, finite=True)
        if reset:
            estimator.categories_ = None
        none = np.zeros(matrix.shape[1], bool)
        return matrix, asked_categories(
            estimator.categorical_features if reset else None, none, None, matrix.shape[1]
        )
    columns = estimator._check_columns(X, reset=reset)
    p = len(columns)
    names = getattr(estimator, "feature_names_in_", None)
    by_type = typed_categories(columns)
    mask = asked_categories(estimator.categorical_features, by_type, names, p)
    known = [None] * p if reset else (estimator.categories_ or [None] * p)
    out = np.empty((len(X), p))
    for j, column in enumerate(columns):
        words = isinstance(column, Text | Coded) or column.dtype.kind not in "iufb"
        if words and not mask[j]:
            raise ValueError(
                f"{estimator._column_name(j)} holds {first_word(column)}, not numbers; name it in "
                "categorical_features, or make it a category column"
            )
        if not words:
            out[:, j] = column
            continue
        if reset:
            known[j] = values_of(column)
        out[:, j] = codes_of(column, known[j])
    if reset:
        estimator.categories_ = known if any(v is not None for v in known) else None
    return out, mask


def first_word(column: Any) -> str:
    """The first cell that is there, for a message."""
    cells = [v for v in find_values([column]).values[0].tolist() if v is not None and v == v]
    return repr(cells[0]) if cells else "nothing"


def values_of(column: Any) -> Any:
    """The distinct values of a column, sorted, as text or numbers; missing cells left out."""
    raw = find_values([column]).values[0]
    present = np.array([v for v in raw.tolist() if v is not None and v == v])
    return sorted_values(present) if len(present) else np.array([], dtype="U1")


def codes_of(column: Any, known: Any) -> Array:
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
