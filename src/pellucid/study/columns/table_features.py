r"""From a table of any kind of columns to numbers, learned from the training rows only.

Every column gets one treatment (``treatments``):

    numbers      median for missing cells and, where training had gaps, an indicator; standardised
    truth        0 and 1, the same way, not standardised
    categories   one column per level up to ``max_one_hot`` levels; missing cells are a level of
                 their own, levels below the share ``rare`` are pooled, unseen levels go to the pool
    many levels  the mean of the target, shrunk; ``fit_transform`` codes each row with the folds it
                 is not in. Without y: the commonest levels, the others pooled
    dates        elapsed days; year, month, day of week and hour where they came round twice
    text         tf-idf of the ``max_words`` commonest words
    lists        ``a;b``: one column per item

The answer is dense: every model of a study takes it, and a few hundred words carry most of what a
bag of words can say about a table of texts. A column that does not vary in the training rows gives
no feature. Cost: O(n) per column with hashed levels, blocks of rows independent of each other.

Reference for the target coding: Micci-Barreca (2001); see ``features.encoding.target_encoder``.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from pellucid.base import (
    Transformer,
    check_labels,
    check_number_target,
    encode_labels,
    with_callbacks,
)
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card, plain, text_table
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.data import DataWarning
from pellucid.study.columns.treatments import (
    Curve,
    Levels,
    Number,
    Strange,
    learn_curve,
    learn_dates,
    learn_items,
    learn_levels,
    learn_number,
    learn_target_code,
    learn_words,
)
from pellucid.study.reading.cell_values import (
    KINDS,
    date_form,
    dates,
    kind_of,
    levels,
    number_form,
    numbers,
    texts,
    unread,
)

FOLDS, SEED = 5, 0  # of the target coding: the same rows give the same code
POOL = 0.1  # the largest share of the rows that the pooled level may hide
WORD_KINDS = ("tfidf", "count")
SAID = {
    "Number": "median for missing cells",
    "Curve": "natural cubic splines",
    "Levels": "one column per level",
    "TargetCode": "mean of the target in each level, cross-fitted",
    "Dates": "parts of the date",
    "Words": "tf-idf of its commonest words",
    "Items": "one column per item",
    "NoneType": "left out: it does not vary",
}


class Target(NamedTuple):
    """The target as columns of numbers, its folds, and the names of its classes."""

    Y: Array  # (n, k)
    folds: list[tuple[IntArray, IntArray]]
    classes: list[str]


class Wide(NamedTuple):
    """A category with too many levels for a column each; only while fitting."""

    found: list[str | None]
    codes: IntArray


class Drift(NamedTuple):
    """Cells of a table unlike the training rows, column by column.

    >>> import numpy as np
    >>> features = TableFeatures().fit(np.array([[1.0], [2.0]]))
    >>> print(features.drift(np.array([[1.5], [9.0]])))
    column  unseen  outside
    x0           0        1
    """

    names: tuple[str, ...]
    unseen: tuple[int, ...]  # cells with a level that training never saw
    outside: tuple[int, ...]  # numbers and dates beyond the training range
    n: int
    rows: int = 0  # with at least one such cell
    rows_unseen: int = 0
    rows_outside: int = 0
    unread: tuple[int, ...] = ()  # text cells in a column of numbers or dates, read as missing
    examples: tuple[str, ...] = ()  # the first of them in each column

    def to_dict(self) -> dict[str, Any]:
        return plain(self._asdict())

    def __str__(self) -> str:
        rows = list(zip(self.names, self.unseen, self.outside, strict=True))
        return text_table(("column", "unseen", "outside"), rows)


class TableFeatures(Transformer):
    """A table of numbers, categories, dates, texts and lists becomes a matrix of numbers.

    Parameters
    ----------
    kinds : dict or None, default=None
        Column -> "number", "whole", "truth", "category", "text", "date", "list" or "empty";
        columns that are not named are looked at. Columns of arrays are named 0, 1, ...
    scale : bool, default=True
        Standardise numbers, dates and target codes.
    rare : float, default=0.01
        Levels and items in a smaller share of the rows are pooled as "other".
    max_one_hot : int, default=30
        Categories with more levels are coded by the target.
    max_words : int, default=200
        Words kept of a text column.
    words : {"tfidf", "count"}, default="tfidf"
        What is kept of each word: its tf-idf weight or its count.
    reference : bool, default=False
        Leave out the commonest level of each category, so that the columns are not collinear.
    columns : list or None, default=None
        Use these columns only; None: all.
    knots : int, default=0
        Numbers become natural cubic splines with so many knots; fewer than 3: straight lines.
    forms : dict or None, default=None
        Column -> how its numbers or dates are written where they are text, such as "1.234,5 €" or
        "D/M/Y"; columns of text that are not named are looked at.

    Attributes
    ----------
    kinds_ : list of str, the kind of every column
    forms_ : list of str, how the text of every column of numbers or dates is written
    treatments_ : list of records, what every column becomes; None where it gives nothing
    n_features_in_, feature_names_in_ : the training table's columns

    Examples
    --------
    >>> import polars
    >>> from pellucid import TableFeatures
    >>> table = polars.DataFrame({"mass": [1.0, None, 3.0], "island": ["a", "b", "b"]})
    >>> features = TableFeatures(scale=False)
    >>> features.fit_transform(table)
    array([[1., 0., 1., 0.],
           [2., 1., 0., 1.],
           [3., 0., 0., 1.]])
    >>> features.get_feature_names_out().tolist()
    ['mass', 'mass missing', 'island = a', 'island = b']
    """

    _accepts_nan = True

    def __init__(
        self,
        kinds: Mapping[str, str] | None = None,
        *,
        scale: bool = True,
        rare: float = 0.01,
        max_one_hot: int = 30,
        max_words: int = 200,
        words: str = "tfidf",
        reference: bool = False,
        columns: Sequence[str] | None = None,
        knots: int = 0,
        forms: Mapping[str, str] | None = None,
    ) -> None:
        self.kinds = kinds
        self.scale = scale
        self.rare = rare
        self.max_one_hot = max_one_hot
        self.max_words = max_words
        self.words = words
        self.reference = reference
        self.columns = columns
        self.knots = knots
        self.forms = forms

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags

    # --- learning ----------------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what becomes of every column; ``y`` is needed to code by the target."""
        self._learn(X, y)
        return self

    @with_callbacks
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit on all rows; columns coded by the target are cross-fitted."""
        columns, crossed = self._learn(X, y)
        return self._fill(columns, crossed)

    def _learn(self, X: Any, y: Any) -> tuple[list[Any], dict[int, Array]]:
        self._check_parameters()
        context = FitContext(self, X=X, y=y)
        columns = self._check_columns(X, reset=True)
        names = self._feature_names()
        self.kinds_ = self._find_kinds(columns)
        self.forms_ = self._find_forms(columns)
        columns = self._read(columns)

        def learn(j: int) -> Any:
            return self._treat(columns[j], self.kinds_[j], names[j], y is not None)

        self.treatments_ = list(map_threads(learn, range(len(columns))))
        crossed = self._code_by_target(y, _length(columns[0]))
        context.end()
        return columns, crossed

    def _check_parameters(self) -> None:
        check.boolean(scale=self.scale, reference=self.reference)
        check.whole(max_one_hot=self.max_one_hot, max_words=self.max_words)
        check.whole(at_least=0, knots=self.knots)
        check.one_of(WORD_KINDS, words=self.words)
        check.non_negative(rare=self.rare)
        if self.rare >= 1:
            raise ValueError(f"rare must be at least 0 and less than 1, got {self.rare!r}")

    def _find_kinds(self, columns: Sequence[Any]) -> list[str]:
        named = hasattr(self, "feature_names_in_")
        keys = list(self.feature_names_in_) if named else list(range(len(columns)))
        given = dict(self.kinds or {})
        wanted = keys if self.columns is None else list(self.columns)
        for name in [*given, *wanted]:
            if name not in keys:
                near = check.hint(name, [str(key) for key in keys])
                raise ValueError(f"the table has no column {name!r}{near}")
        for kind in given.values():
            check.one_of(KINDS, kind=kind)
        inside = set(wanted)
        return [
            (given[key] if key in given else kind_of(column)) if key in inside else "empty"
            for key, column in zip(keys, columns, strict=True)
        ]

    def _find_forms(self, columns: Sequence[Any]) -> list[str]:
        """The form of every column that holds numbers or dates; empty where it is not text."""
        given = dict(self.forms or {})
        keys = getattr(self, "feature_names_in_", range(len(columns)))
        find = {"number": number_form, "whole": number_form, "date": date_form}
        return [
            given.get(key) or (find[kind](column) if kind in find else "")
            for key, kind, column in zip(keys, self.kinds_, columns, strict=True)
        ]

    def _read(self, columns: Sequence[Any]) -> list[Any]:
        """Columns of numbers and dates as such, whatever they are written in."""
        forms = getattr(self, "forms_", None)
        if forms is None:  # a model file of before there were forms
            old = [getattr(one, "number", one) for one in self.treatments_]
            forms = ["1234,5" if getattr(one, "comma", False) else "" for one in old]
        read = {"number": numbers, "whole": numbers, "date": dates}
        names = self._feature_names()
        return [
            read[kind](column, name, form) if kind in read else column
            for kind, column, name, form in zip(self.kinds_, columns, names, forms, strict=True)
        ]

    def read(self, X: Any) -> list[Any]:
        """The columns of a table, numbers and dates read in the form of the training rows."""
        check_is_fitted(self)
        return self._read(self._check_columns(X, reset=False))

    def _treat(self, column: np.ndarray, kind: str, name: str, supervised: bool) -> Any:
        """The treatment of one column; ``Wide`` where it waits for the target."""
        if kind in ("number", "whole"):
            if self.knots > 2:
                return learn_curve(column, self.knots)
            return learn_number(column, self.scale)
        if kind == "truth" and isinstance(column, np.ndarray) and column.dtype.kind in "biufO":
            return learn_number(numbers(column, name), False)
        if kind == "date":
            return learn_dates(column, self.scale)
        if kind == "text":
            return learn_words(texts(column), self.max_words, self.words)
        if kind == "list":
            return learn_items(column, self.rare, self.max_one_hot)
        if kind == "empty":
            return None
        found, codes = levels(column)
        counts = np.bincount(codes, minlength=len(found))
        if supervised and self._is_wide(counts):
            return Wide(found, codes)
        return learn_levels(found, counts, self.rare, self.max_one_hot, self.reference)

    def _code_by_target(self, y: Any, n: int) -> dict[int, Array]:
        """Code the columns that wait for the target; their cross-fitted values by column."""
        crossed: dict[int, Array] = {}
        waiting = [j for j, one in enumerate(self.treatments_) if isinstance(one, Wide)]
        if not waiting:
            return crossed
        target = _target(y, n, self)
        for j in waiting:
            found, codes = self.treatments_[j]
            if target is None:  # several targets: the commonest levels, the others pooled
                counts = np.bincount(codes, minlength=len(found))
                self.treatments_[j] = learn_levels(
                    found, counts, self.rare, self.max_one_hot, self.reference
                )
                continue
            self.treatments_[j], crossed[j] = learn_target_code(
                found, codes, target.Y, target.folds, target.classes, self.scale
            )
        return crossed

    def _is_wide(self, counts: IntArray) -> bool:
        """Too many levels for a column each, or so many rare ones that pooling hides the column."""
        n = int(counts.sum())
        common = counts >= self.rare * n
        pooled = n - int(counts[common].sum())
        many = len(counts) > self.max_one_hot
        return many and (int(common.sum()) > self.max_one_hot or pooled > POOL * n)

    # --- applying ----------------------------------------------------------------------------

    def transform(self, X: Any) -> Any:
        """The rows of a table as numbers, (rows, features)."""
        check_is_fitted(self)
        raw = self._check_columns(X, reset=False)
        columns = self._read(raw)
        for name, one, read in zip(self._feature_names(), raw, columns, strict=True):
            if len(cells := _unread(one, read)):
                one_cell = len(cells) == 1
                n = "1 cell" if one_cell else f"{len(cells)} cells"
                count = "counts" if one_cell else "count"
                text = f"cannot be read, such as {cells[0]!r}, and {count} as missing"
                warn(f"{n} of the column {name!r} {text}", DataWarning)
        return self._fill(columns, {})

    def _fill(self, columns: Sequence[Any], crossed: dict[int, Array]) -> Array:
        names = self._feature_names()
        ends = np.cumsum([0, *self._widths()])
        out = np.empty((_length(columns[0]), int(ends[-1])))

        def fill(j: int) -> None:
            part = out[:, ends[j] : ends[j + 1]]
            if j in crossed:
                part[:] = crossed[j]
            elif part.shape[1]:
                self.treatments_[j].fill(columns[j], names[j], part)

        list(map_threads(fill, range(len(columns))))
        return out

    def _widths(self) -> list[int]:
        return [0 if one is None else one.width for one in self.treatments_]

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        """Readable names: "island = Biscoe", "bill_length_mm missing", "date year"."""
        names = self._names_in(input_features)
        found: list[str] = []
        for name, one in zip(names, self.treatments_, strict=True):
            found += [] if one is None else one.names(str(name))
        return np.array(found, dtype=object)

    def origins(self) -> IntArray:
        """The input column of every feature."""
        check_is_fitted(self)
        return np.repeat(np.arange(len(self.treatments_)), self._widths())

    def drift(self, X: Any) -> Drift:
        """Count the cells of X that are unlike the training rows: unseen levels, out of range."""
        check_is_fitted(self)
        raw = self._check_columns(X, reset=False)
        columns = self._read(raw)
        lost = [_unread(*pair) for pair in zip(raw, columns, strict=True)]
        names = self._feature_names()
        n = _length(columns[0])
        any_unseen, any_outside = np.zeros(n, bool), np.zeros(n, bool)
        unseen, outside = [], []
        for one, column, name in zip(self.treatments_, columns, names, strict=True):
            found = Strange(None, None) if one is None else one.strange(column, name)
            unseen.append(_count_into(any_unseen, found.unseen))
            outside.append(_count_into(any_outside, found.outside))
        return Drift(
            tuple(map(str, names)),
            tuple(unseen),
            tuple(outside),
            n,
            int((any_unseen | any_outside).sum()),
            int(any_unseen.sum()),
            int(any_outside.sum()),
            tuple(map(len, lost)),
            tuple(str(cells[0]) if len(cells) else "" for cells in lost),
        )

    def describe(self) -> list[tuple[str, str, str, int]]:
        """(column, kind, what becomes of it, how many features) for every column."""
        check_is_fitted(self)
        rows = []
        for name, kind, one in zip(
            self._feature_names(), self.kinds_, self.treatments_, strict=True
        ):
            rows.append((str(name), kind, self._said(one, kind), 0 if one is None else one.width))
        return rows

    def _said(self, one: object, kind: str) -> str:
        said = SAID[type(one).__name__]
        if isinstance(one, Curve):
            return f"{said}, {self._said(one.number, kind)}"
        if isinstance(one, Number):
            parts = [said] if one.indicator else []
            parts += ["indicator of missing cells"] if one.indicator else []
            parts += ["standardised"] if one.scale != 1.0 or one.shift else []
            return ", ".join(parts) or "as it is"
        if isinstance(one, Levels):
            pooled = sum(place == one.other for place in one.known.values())
            said += f", {pooled} rare levels pooled" if one.other >= 0 and pooled else ""
            said += (
                ", missing cells a level of their own" if one.missing not in (-1, one.other) else ""
            )
        if kind == "empty":
            return "left out: it holds nothing"
        return said

    def card(self) -> Card:
        """How many columns of each kind there are, and what becomes of them."""
        check_is_fitted(self)
        kinds = {k: self.kinds_.count(k) for k in KINDS if k in self.kinds_}
        return Card(
            "numbers standardised, categories as levels or target means, dates as parts, texts as "
            "words, lists as items",
            "nothing is optimised; target means are shrunk by empirical Bayes",
            "one pass per column over the training rows; target codes are cross-fitted",
            {"columns": self.n_features_in_, "features": int(sum(self._widths())), **kinds},
        )


def _count_into(rows: BoolArray, strange: BoolArray | None) -> int:
    """Mark the rows of strange cells; how many cells there are."""
    if strange is None:
        return 0
    rows |= strange
    return int(strange.sum())


def _unread(raw: Any, read: Any) -> pl.Series:
    """Filled cells of a text that are neither numbers nor dates."""
    if raw is read or not isinstance(read, np.ndarray) or read.dtype.kind not in "fM":
        return pl.Series([], dtype=pl.String)
    return unread(raw, np.isnat(read) if read.dtype.kind == "M" else np.isnan(read))


def _length(column: np.ndarray) -> int:
    if isinstance(column, np.ndarray):
        return len(column)
    return len(column.series) if hasattr(column, "series") else len(column.codes)


def _target(y: Any, n: int, estimator: BaseEstimator) -> Target | None:
    """The target for the coding of categories; None where there is none, or several."""
    y = np.asarray(y)
    if y.ndim != 1:
        return None
    if y.dtype.kind == "f" or type_of_target(y) == "continuous":
        Y = check_number_target(y, n, False, estimator)[:, None]
        return Target(Y, _folds(None, n), [])
    classes, codes = encode_labels(check_labels(y, n, estimator))
    if len(classes) > 2:
        return Target(np.eye(len(classes))[codes], _folds(codes, n), [str(c) for c in classes])
    return Target(codes.astype(np.float64)[:, None], _folds(codes, n), [])


def _folds(codes: IntArray | None, n: int) -> list[tuple[IntArray, IntArray]]:
    """Shuffled folds, stratified where every class has a row for each fold."""
    if n < 2:
        return [(np.arange(n), np.arange(n))]
    from sklearn.model_selection import KFold, StratifiedKFold  # heavy, and not used to predict

    k = min(FOLDS, n)
    if codes is not None and np.bincount(codes).min() >= k:
        return list(StratifiedKFold(k, shuffle=True, random_state=SEED).split(codes, codes))
    return list(KFold(k, shuffle=True, random_state=SEED).split(np.zeros(n)))
