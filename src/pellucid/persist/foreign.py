"""What the state of scikit-learn's transformers must satisfy beyond kinds and shapes.

Their code indexes with these numbers, or builds a sparse matrix from them, without looking.
"""

from collections.abc import Callable
from typing import Any

import numpy as np


def _inside(values: Any, n: int) -> bool:
    """Whether every number is a place among n."""
    numbers = np.asarray(values, dtype=np.int64)
    return not numbers.size or bool(numbers.min() >= 0 and numbers.max() < n)


def _need(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)


def check_groups(model: Any) -> list[int]:
    """Infrequent categories; returns the number of categories of each column."""
    sizes = [len(found) for found in model.categories_]
    _need(len(sizes) == model.n_features_in_, "categories_ must have one entry for each column")
    rare = getattr(model, "_infrequent_indices", [None] * len(sizes))
    codes = getattr(model, "_default_to_infrequent_mappings", [None] * len(sizes))
    grouped = getattr(model, "_infrequent_enabled", False)
    _need(len(rare) == len(codes) == len(sizes) or not grouped, "rare categories do not fit")
    for n, few, code in zip(sizes, rare, codes, strict=False):
        _need(few is None or _inside(few, n), "a rare category is not a category")
        _need(
            code is None or (len(code) == n and _inside(code, n)), "codes of categories do not fit"
        )
    return sizes


def check_one_hot(model: Any) -> None:
    """The columns of a one-hot encoding."""
    if not hasattr(model, "categories_"):
        return
    sizes = check_groups(model)
    for drop in (model.drop_idx_, model._drop_idx_after_grouping):
        _need(drop is None or len(drop) == len(sizes), "drop_idx_ must have one entry a column")
        for n, j in zip(sizes, [] if drop is None else drop, strict=False):
            _need(j is None or (isinstance(j, int) and 0 <= j < n), "drop_idx_ is not a category")
    fits = model._n_features_outs == model._compute_n_features_outs()
    _need(fits and min(model._n_features_outs, default=0) >= 0, "the columns do not fit")


def check_ordinal(model: Any) -> None:
    """The codes of an ordinal or a target encoding."""
    if not hasattr(model, "categories_"):
        return
    sizes = check_groups(model)
    missing = getattr(model, "_missing_indices", {})
    _need(all(_inside([j], len(sizes)) for j in missing), "a missing code has no column")
    _need(all(_inside([code], sizes[j]) for j, code in missing.items()), "a missing code is none")


def check_polynomial(model: Any) -> None:
    """The number of monomials."""
    if not hasattr(model, "n_features_in_"):
        return
    size = model._num_combinations(
        n_features=model.n_features_in_,
        min_degree=model._min_degree,
        max_degree=model._max_degree,
        interaction_only=model.interaction_only,
        include_bias=model.include_bias,
    )
    _need(size == model.n_output_features_, "n_output_features_ is not what the degree makes")
    high = model.degree if isinstance(model.degree, int) else model.degree[1]
    _need(high == model._max_degree, "the degrees do not fit together")


def check_labels(model: Any) -> None:
    """The places of labels: a matrix has a column for each different one."""
    if not hasattr(model, "classes_"):
        return
    places = {label: i for i, label in enumerate(model.classes_.tolist())}
    _need(len(places) == len(model.classes_), "classes_ must be different labels")
    known = model._cached_dict
    fits = known is None or (len(known) == len(places) and _inside([*known.values()], len(known)))
    _need(fits, "the places of the labels do not fit")


CHECKS: dict[str, Callable[[Any], None]] = {
    "sklearn.preprocessing.MultiLabelBinarizer": check_labels,
    "sklearn.preprocessing.OneHotEncoder": check_one_hot,
    "sklearn.preprocessing.OrdinalEncoder": check_ordinal,
    "sklearn.preprocessing.PolynomialFeatures": check_polynomial,
    "sklearn.preprocessing.TargetEncoder": check_ordinal,
}
