"""One-hot encoding: a column of categories becomes one 0/1 column per category.

    x = category c   ->   z_c = 1, all other z of this column 0

With an intercept the full set is collinear (the columns of one feature add to 1); ``drop`` leaves
one category out, which becomes the reference. Categories are found, and the CSR matrix written,
by compiled sweeps over codes (``categories.py``).    O(n p) after the values are numbered
"""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, fit_blocks, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.typing import ArrayLike, Map
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Source, reduce_rows
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn
from pellucid.features.encoding import categories as cells
from pellucid.features.encoding import rare_categories as rarity
from pellucid.features.encoding.categories import Found, find_values, look_up, object_array
from pellucid.features.encoding.tallies import TALLY, Tally

UNKNOWN = ("error", "ignore", "infrequent_if_exist", "warn")
DROP = ("first", "if_binary")


class OneHotEncoder(Transformer):
    """One 0/1 column for every category of every column.

    Parameters
    ----------
    categories : 'auto' or list of arrays, default='auto'
        The categories of each column; ``'auto'`` takes those of the training rows, sorted.
    drop : {'first', 'if_binary'} or array-like or None, default=None
        The category of each column that gets no output column.
    sparse_output : bool, default=True
        A CSR matrix, or a dense array.
    dtype : number type, default=np.float64
        Type of the output.
    handle_unknown : {'error', 'ignore', 'infrequent_if_exist', 'warn'}, default='error'
        A category not seen in ``fit``: refused by column and value; all zeros; counted with the
        infrequent ones where there are some, else zeros; the same with a warning.
    min_frequency : int or float or None, default=None
        Categories with fewer rows (a number, or a share of all rows) are infrequent.
    max_categories : int or None, default=None
        At most so many output columns per input, the one of the infrequent included.
    feature_name_combiner : 'concat' or callable, default='concat'
        ``(name, category) -> name`` of an output column.

    Attributes
    ----------
    categories_ : list of arrays
    drop_idx_ : array of shape (n_features,) or None
        Index of the dropped category of each column, None where none is dropped.
    infrequent_categories_ : list of arrays or None
    n_features_in_, feature_names_in_ : the training table's columns

    Examples
    --------
    >>> from pellucid import OneHotEncoder
    >>> encoder = OneHotEncoder(sparse_output=False, handle_unknown="ignore")
    >>> encoder.fit_transform([["red", 1], ["blue", 2], ["red", 2]])
    array([[0., 1., 1., 0.],
           [1., 0., 0., 1.],
           [0., 1., 0., 1.]])
    >>> encoder.get_feature_names_out(["colour", "size"]).tolist()
    ['colour_blue', 'colour_red', 'size_1', 'size_2']
    >>> encoder.transform([["green", 1]])
    array([[0., 0., 1., 0.]])
    """

    _accepts_nan = True
    _takes_words = True

    fit_blocks = fit_blocks

    def __init__(
        self,
        *,
        categories: str | list[Any] = "auto",
        drop: str | Sequence[Any] | None = None,
        sparse_output: bool = True,
        dtype: DTypeLike = np.float64,
        handle_unknown: str = "error",
        min_frequency: float | None = None,
        max_categories: int | None = None,
        feature_name_combiner: str | Callable[[str, object], str] = "concat",
    ) -> None:
        self.categories = categories
        self.drop = drop
        self.sparse_output = sparse_output
        self.dtype = dtype
        self.handle_unknown = handle_unknown
        self.min_frequency = min_frequency
        self.max_categories = max_categories
        self.feature_name_combiner = feature_name_combiner

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
        self._check_output()
        return self._encode(self._learn(X))

    def transform(self, X: ArrayLike) -> Any:
        """The 0/1 columns of the categories in X."""
        check_is_fitted(self)
        self._check_output()
        return self._encode(find_values(self._check_columns(X, reset=False)))

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

    def _check_parameters(self) -> None:
        check.one_of(UNKNOWN, handle_unknown=self.handle_unknown)
        check.boolean(sparse_output=self.sparse_output)
        if not callable(self.feature_name_combiner):
            check.one_of(("concat",), feature_name_combiner=self.feature_name_combiner)
        if isinstance(self.drop, str):
            check.one_of(DROP, drop=self.drop)
        rarity.check_rare(self.min_frequency, self.max_categories)

    def _learn_values(self, found: Found | Tally) -> None:
        refuse, rare = self.handle_unknown == "error", (self.min_frequency, self.max_categories)
        self.categories_ = rarity.learn_categories(
            found, self.categories, self._column_name, refuse_unknown=refuse
        )
        if rare != (None, None):
            groups = rarity.group_columns(found, self.categories_, *rare, spare=False)
        else:
            groups = [rarity.group(None, len(known)) for known in self.categories_]
        self._rare = [grouping.rare for grouping in groups]
        self._dropped = self._find_dropped(groups)
        self.drop_idx_ = self._drop_indices(groups)

    infrequent_categories_ = property(rarity.infrequent_categories)

    def _groups(self) -> list[rarity.Grouping]:
        return [rarity.group(r, len(c)) for r, c in zip(self._rare, self.categories_, strict=True)]

    # --- which category is left out ----------------------------------------------------------

    def _find_dropped(self, groups: list[rarity.Grouping]) -> Any:
        """The place of the dropped category of each column after grouping."""
        if self.drop is None:
            return None
        if isinstance(self.drop, str):
            sizes = [int(grouping.place.max()) + 1 for grouping in groups]
            first = self.drop == "first"
            return object_array([0 if first or size == 2 else None for size in sizes])
        listed = object_array(list(self.drop))
        if len(listed) != len(groups):
            need = f"should have length equal to the number of features ({len(groups)})"
            raise ValueError(f"`drop` {need}, got {len(listed)}")
        return object_array([self._place_of(v, j, groups[j]) for j, v in enumerate(listed)])

    def _place_of(self, value: object, j: int, grouping: rarity.Grouping) -> int:
        at = int(look_up(object_array([value]), self.categories_[j])[0])
        category = f"category {value!r} from feature {j}"
        if at < 0:
            raise ValueError(f"drop: {category} is not in the training data")
        if grouping.rare is not None and at in grouping.rare:
            raise ValueError(f"Unable to drop {category} because it is infrequent")
        return int(grouping.place[at])

    def _drop_indices(self, groups: list[rarity.Grouping]) -> Any:
        if self._dropped is None:
            return None
        pairs = zip(self._dropped, groups, strict=True)
        first = [None if at is None else int(np.argmax(g.place == at)) for at, g in pairs]
        return object_array(first)

    def _output_places(self, grouping: rarity.Grouping, j: int) -> Any:
        """Of each category of column j, the output column counted from its first; -1 dropped."""
        dropped = None if self._dropped is None else self._dropped[j]
        if dropped is None:
            return grouping.place
        place = grouping.place - (grouping.place > dropped)
        return np.where(grouping.place == dropped, -1, place)

    # --- the matrix ---------------------------------------------------------------------------

    def _check_output(self) -> None:
        wanted = _get_output_config("transform", estimator=self)["dense"]
        if wanted != "default" and self.sparse_output:
            hint = f"Set sparse_output=False to output {wanted} dataframes or disable "
            hint += f"{wanted.capitalize()} output via `ohe.set_output(transform='default')`."
            raise ValueError(f"{wanted.capitalize()} output does not support sparse data. {hint}")

    def _encode(self, found: Found) -> Any:
        maps, start, surprised = [], 0, []
        for j, grouping in enumerate(self._groups()):
            places = look_up(found.values[j], self.categories_[j])
            unknown = places < 0
            outputs = self._output_places(grouping, j)
            column = np.where(unknown, -1, outputs[places])
            if unknown.any():
                if self.handle_unknown == "error":
                    values, name = found.values[j][unknown], self._column_name(j)
                    raise ValueError(rarity.unknown_sentence(values, name, "transform"))
                surprised.append(j)
                if self.handle_unknown != "ignore" and grouping.rare is not None:
                    column[unknown] = outputs[grouping.rare[0]]
            maps.append(np.where(column < 0, -1, column + start))
            start += int(outputs.max()) + 1
        self._warn(surprised)
        matrix = cells.indicator_matrix(found, maps, start, self.dtype)
        return matrix if self.sparse_output else matrix.toarray()

    def _warn(self, surprised: list[int]) -> None:
        if not surprised or (self.handle_unknown != "warn" and self.drop is None):
            return
        how = "all zeros" if self.handle_unknown == "ignore" else "the infrequent category"
        found = (
            f"Found unknown categories in columns {[int(j) for j in surprised]} during transform."
        )
        warn(f"{found} These unknown categories will be encoded as {how}")

    def _shown(self, j: int, grouping: rarity.Grouping) -> Any:
        """The categories of column j after grouping, in order."""
        known = self.categories_[j]
        if grouping.rare is None:
            return known
        frequent = np.delete(known, grouping.rare)
        return np.concatenate([frequent, np.array([rarity.RARE], dtype=object)])

    def inverse_transform(self, X: Any) -> Any:
        """Categories of encoded rows; None for a row of zeros that no category explains."""
        check_is_fitted(self)
        X = check_array(X, accept_sparse="csr")
        groups = self._groups()
        shown = [self._shown(j, grouping) for j, grouping in enumerate(groups)]
        widths = [int(self._output_places(g, j).max()) + 1 for j, g in enumerate(groups)]
        if X.shape[1] != sum(widths):
            raise ValueError(
                "Shape of the passed X data is not correct. Expected "
                f"{sum(widths)} columns, got {X.shape[1]}."
            )
        out = np.empty((X.shape[0], len(groups)), dtype=np.result_type(*[s.dtype for s in shown]))
        begin, lost = 0, {}
        for j, width in enumerate(widths):
            dropped = None if self._dropped is None else self._dropped[j]
            part = X[:, begin : begin + width]
            begin += width
            zero = np.ones(X.shape[0], bool)
            if width:
                kept = shown[j] if dropped is None else np.delete(shown[j], dropped)
                out[:, j] = kept[np.asarray(part.argmax(axis=1)).ravel()]
                zero = np.asarray(part.sum(axis=1)).ravel() == 0
            if not zero.any():
                continue
            if dropped is not None:
                out[zero, j] = shown[j][dropped]
            elif self._explains_zero(groups[j]):
                lost[j] = zero
            else:
                rows = np.flatnonzero(zero)
                why = "because they contain all zeros"
                raise ValueError(
                    f"Samples {rows} can not be inverted when drop=None and "
                    f"handle_unknown='error' {why} for {self._column_name(j)}"
                )
        if lost:
            out = out.astype(object)
            for j, zero in lost.items():
                out[zero, j] = None
        return out

    def _explains_zero(self, grouping: rarity.Grouping) -> bool:
        if self.handle_unknown == "ignore":
            return True
        return self.handle_unknown in ("infrequent_if_exist", "warn") and grouping.rare is None

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        """The names of the 0/1 columns."""
        inputs = self._names_in(input_features)
        combine = self.feature_name_combiner
        if not callable(combine):
            combine = lambda name, category: f"{name}_{category}"  # noqa: E731
        names = []
        for j, grouping in enumerate(self._groups()):
            shown = self._shown(j, grouping)
            if self._dropped is not None and self._dropped[j] is not None:
                shown = np.delete(shown, self._dropped[j])
            names += [combine(inputs[j], category) for category in shown]
        if not all(isinstance(name, str) for name in names):
            raise TypeError(
                "When `feature_name_combiner` is a callable, it should return a Python string."
            )
        return np.array(names, dtype=object)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        known, p = self.categories_, self.n_features_in_
        alone = [j for j in range(p) if known[j][-1] is None or cells.is_missing(known[j][-1])]
        missing = ", ".join(self._column_name(j) for j in alone)
        note = f"missing cells are a category of their own in {missing}"
        outputs = len(self.get_feature_names_out())
        return Card(
            "one 0/1 column per category; the columns of one input add to 1 unless one is dropped",
            "none: nothing is estimated, the categories are those of the training rows",
            "the distinct values of every column, by hashing; codes written straight to CSR",
            {"inputs": p, "categories": sum(map(len, known)), "outputs": outputs},
            warnings=(note,) if alone else (),
        )
