"""Tables for trees on bins: numbers with missing cells, and categories by type or by name."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.arrays.columns import Coded, Text
from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.typing import Array
from pellucid.features.encoding import category_table


def open_table(estimator: BaseEstimator, X: Any, *, reset: bool) -> tuple[Array, Array]:
    """(numbers, categorical): words become codes, learned with ``reset`` and looked up without.

    Sets ``categories_`` (one array of values per column of words, else None) when ``reset``.
    """
    if not is_frame(X):
        matrix = estimator._check_matrix(X, reset=reset, finite=True)
        if reset:
            estimator.categories_ = None
        none = np.zeros(matrix.shape[1], bool)
        return matrix, category_table.asked_categories(
            estimator.categorical_features if reset else None, none, None, matrix.shape[1]
        )
    columns = estimator._check_columns(X, reset=reset)
    p = len(columns)
    names = getattr(estimator, "feature_names_in_", None)
    by_type = category_table.typed_categories(columns)
    mask = category_table.asked_categories(estimator.categorical_features, by_type, names, p)
    known = [None] * p if reset else (estimator.categories_ or [None] * p)
    out = np.empty((len(X), p))
    for j, column in enumerate(columns):
        words = isinstance(column, Text | Coded) or column.dtype.kind not in "iufb"
        if not mask[j]:
            category_table.refuse_words(estimator, column, j)
        if not words:
            out[:, j] = column
            continue
        if reset:
            known[j] = category_table.values_of(column)
        out[:, j] = category_table.codes_of(column, known[j])
    if reset:
        estimator.categories_ = known if any(v is not None for v in known) else None
    return out, mask
