"""Ordinal encoding: a category becomes its place among the sorted (or given) categories.

    x = c_k   ->   z = k,  k = 0..K-1

The numbers mean an order only if the categories have one: give it with ``categories``. Missing
cells become ``encoded_missing_value``.    O(n p) after the values are numbered
"""

from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, fit_blocks, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.typing import Array, ArrayLike, Map
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Source, reduce_rows
from pellucid.core.records import Card
from pellucid.features.encoding import categories as cells
from pellucid.features.encoding import rare_categories as rarity
from pellucid.features.encoding.categories import Found, find_values, is_missing, look_up
from pellucid.features.encoding.tallies import TALLY, Tally

UNKNOWN = ("error", "use_encoded_value")


class OrdinalEncoder(OneToOneFeatureMixin, Transformer):
    """One column of whole numbers for every column of categories.

    Parameters
    ----------
    categories : 'auto' or list of arrays, default='auto'
        The categories of each column in their order; ``'auto'`` sorts those of the training rows.
    dtype : number type, default=np.float64
        Type of the output.
    handle_unknown : {'error', 'use_encoded_value'}, default='error'
        A category not seen in ``fit`` is refused by column and value, or becomes
        ``unknown_value``.
    unknown_value : int or NaN, default=None
        Needed by ``'use_encoded_value'``; must not be the code of a category.
    encoded_missing_value : int or NaN, default=NaN
        The code of missing cells.
    min_frequency : int or float or None, default=None
        Categories with fewer rows (a number, or a share of all rows) are infrequent.
    max_categories : int or None, default=None
        At most so many codes per column, the one of the infrequent included; missing and unknown
        cells are not counted.

    Attributes
    ----------
    categories_ : list of arrays
    infrequent_categories_ : list of arrays or None
    n_features_in_, feature_names_in_ : the training table's columns

    Examples
    --------
    >>> from pellucid import OrdinalEncoder
    >>> encoder = OrdinalEncoder(categories=[["low", "high"], [1, 3]])
    >>> encoder.fit_transform([["low", 3], ["high", 1]])
    array([[0., 1.],
           [1., 0.]])
    >>> encoder.inverse_transform([[1, 1]])
    array([['high', 3]], dtype=object)
    """

    _answers_nonfinite = True

    _accepts_nan = True
    _takes_words = True

    fit_blocks = fit_blocks

    def __init__(
        self,
        *,
        categories: str | list[Any] = "auto",
        dtype: DTypeLike = np.float64,
        handle_unknown: str = "error",
        unknown_value: Any = None,
        encoded_missing_value: float = np.nan,
        min_frequency: float | None = None,
        max_categories: int | None = None,
    ) -> None:
        self.categories = categories
        self.dtype = dtype
        self.handle_unknown = handle_unknown
        self.unknown_value = unknown_value
        self.encoded_missing_value = encoded_missing_value
        self.min_frequency = min_frequency
        self.max_categories = max_categories

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Learn the categories of every column."""
        self._learn(X)
        return self

    @with_callbacks
    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None) -> Any:
        """Fit and transform; the table is read once."""
        return self._encode(self._learn(X))

    def transform(self, X: ArrayLike) -> Any:
        """The code of every cell of X."""
        check_is_fitted(self)
        return self._encode(find_values(self._check_columns(X, reset=False)))

    def _check_parameters(self) -> None:
        check.one_of(UNKNOWN, handle_unknown=self.handle_unknown)
        rarity.check_rare(self.min_frequency, self.max_categories)
        _code(encoded_missing_value=self.encoded_missing_value)
        unknown = self.unknown_value
        if self.handle_unknown == "error":
            if unknown is not None:
                need = "handle_unknown='use_encoded_value'"
                raise TypeError(f"unknown_value is only for {need}, got {unknown!r}")
        elif is_missing(unknown):
            if np.dtype(self.dtype).kind != "f":
                raise ValueError(
                    "When unknown_value is np.nan, the dtype parameter should be a float dtype, "
                    f"got {self.dtype!r}"
                )
        elif not isinstance(unknown, Integral):
            raise TypeError(f"unknown_value must be a whole number or NaN, got {unknown!r}")

    def _learn(self, X: ArrayLike) -> Found:
        self._check_parameters()
        context = FitContext(self, X=X)
        found = find_values(self._check_columns(X, reset=True))
        self._learn_values(found)
        context.end()
        return found

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        self._learn_values(reduce_rows(TALLY, rows, map_))

    def _learn_values(self, found: Found | Tally) -> None:
        refuse, rare = self.handle_unknown == "error", (self.min_frequency, self.max_categories)
        self.categories_ = rarity.learn_categories(
            found, self.categories, self._column_name, refuse_unknown=refuse
        )
        self._rare = [None] * len(self.categories_)
        if rare != (None, None):
            groups = rarity.group_columns(found, self.categories_, *rare, spare=True)
            self._rare = [grouping.rare for grouping in groups]
        self._check_codes()

    def _check_codes(self) -> None:
        """Neither code of the special cells may be that of a category."""
        missing, is_nan = self.encoded_missing_value, is_missing(self.encoded_missing_value)
        unknown = self.unknown_value if self.handle_unknown == "use_encoded_value" else None
        for j, grouping in enumerate(self._groups()):
            used, name = int(grouping.place.max(initial=-1)) + 1, self._column_name(j)
            if unknown is not None and 0 <= unknown < used:
                raise ValueError(f"unknown_value={unknown} is the code of a category of {name}")
            if not is_missing(self.categories_[j][-1]):
                continue
            if is_nan and np.dtype(self.dtype).kind != "f":
                hint = "give encoded_missing_value or a float dtype"
                has = f"{name} has missing values, which dtype={self.dtype!r} cannot hold as NaN"
                raise ValueError(f"{has}: {hint}")
            if not is_nan and 0 <= missing < used:
                code = f"encoded_missing_value={missing}"
                raise ValueError(f"{code} is the code of a category of {name}")

    infrequent_categories_ = property(rarity.infrequent_categories)

    def _groups(self) -> list[rarity.Grouping]:
        """The grouping of each column; the category NaN stands apart."""
        return [
            rarity.group(rare, len(known) - is_missing(known[-1]))
            for rare, known in zip(self._rare, self.categories_, strict=True)
        ]

    def _encode(self, found: Found) -> Any:
        maps = []
        for j, grouping in enumerate(self._groups()):
            known, values = self.categories_[j], found.values[j]
            places = look_up(values, known)
            unknown = places < 0
            if unknown.any() and self.handle_unknown == "error":
                name = self._column_name(j)
                raise ValueError(rarity.unknown_sentence(values[unknown], name, "transform"))
            codes = grouping.place.astype(self.dtype)
            if is_missing(known[-1]):
                codes = np.append(codes, np.array(self.encoded_missing_value, self.dtype))
            column = codes[places]
            if unknown.any():
                column[unknown] = self.unknown_value
            maps.append(column)
        return cells.value_matrix(found, maps, self.dtype)

    def inverse_transform(self, X: Any) -> Any:
        """The categories of codes; None for the code of unknown ones."""
        check_is_fitted(self)
        X = check_array(X, ensure_all_finite="allow-nan")
        if X.shape[1] != len(self.categories_):
            raise ValueError(
                "Shape of the passed X data is not correct. Expected "
                f"{len(self.categories_)} columns, got {X.shape[1]}."
            )
        kind = np.result_type(*[known.dtype for known in self.categories_])
        special = self.handle_unknown != "error" or any(rare is not None for rare in self._rare)
        out = np.empty(X.shape, dtype=object if special else kind)
        for j, grouping in enumerate(self._groups()):
            out[:, j] = self._decode(X[:, j], j, grouping)
        return out

    def _decode(self, codes: Array, j: int, grouping: rarity.Grouping) -> Any:
        known = self.categories_[j]
        k = len(grouping.place)
        shown = known[:k]
        if grouping.rare is not None:
            frequent = np.delete(shown, grouping.rare).astype(object)
            shown = np.append(frequent, np.array([rarity.RARE], dtype=object))
        absent = np.zeros(len(codes), bool)
        if is_missing(known[-1]):
            absent = _equals(codes, self.encoded_missing_value)
            shown = np.append(shown, known[-1:])
        unknown = np.zeros(len(codes), bool)
        if self.handle_unknown != "error":
            unknown = _equals(codes, self.unknown_value) & ~absent
            shown = np.append(shown.astype(object), np.array([None], dtype=object))
        at = np.where(absent | unknown, 0, codes)
        regular = int(grouping.place.max(initial=-1)) + 1
        inside = (at >= 0) & (at < max(regular, 1))
        if not inside.all():
            has = f"{self._column_name(j)} has codes 0 to {regular - 1}"
            raise ValueError(f"{has}, got {at[~inside][0]!r} to invert")
        at = at.astype(np.int64)
        at[absent] = regular
        at[unknown] = len(shown) - 1
        return shown[at]

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        return Card(
            "each category is replaced by its place in the order of its column",
            "none: nothing is estimated; a linear model will read the codes as distances",
            "the distinct values of every column, by hashing, then sorted",
            {"inputs": self.n_features_in_, "categories": sum(map(len, self.categories_))},
        )


def _equals(codes: Array, value: float | None) -> Any:
    return np.isnan(codes) if is_missing(value) else codes == value


def _code(**values: object) -> None:
    for name, value in values.items():
        if not is_missing(value) and not isinstance(value, Integral):
            raise ValueError(f"{name} must be a whole number or NaN, got {value!r}")
