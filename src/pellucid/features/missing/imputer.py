"""Filling missing cells with one value per column.

    mean            sum of the cells that are there / their number: the least squared error
    median          the least absolute error; robust
    most_frequent   the mode, the smallest among equals; text too
    constant        a given value; text too

The mean is a sum over the rows, so ``fit_blocks`` gives it for files larger than memory.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import hstack, issparse
from sklearn.utils._sparse import _align_api_if_sparse
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, fit_blocks, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray, Map, Matrix
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.order_statistics import order_statistics
from pellucid.core.loops.statistics import Rows, Source, Statistic, reduce_rows, unit_weights
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.features.encoding.categories import find_values, is_missing, row_blocks
from pellucid.features.missing.kernels import fill_missing, observed_sums
from pellucid.features.missing.missing_indicator import check_marker, indicator_of, missing_cells

LOSSES = {
    "mean": "squared error about one value per column",
    "median": "absolute error about one value per column",
    "most_frequent": "number of cells that differ from one value per column",
}
STRATEGY = (*LOSSES, "constant")


class Observed(NamedTuple):
    """What is there of each column: sum and number of cells; rows seen."""

    sums: Array  # (p,)
    counts: Array  # (p,)
    n_rows: int


def leaf_observed(rows: Rows) -> Observed:
    """The sums of one leaf."""
    p = rows.X.shape[1]
    sums, counts = np.zeros(p), np.zeros(p)
    observed_sums(rows.X, sums, counts)
    return Observed(sums, counts, len(rows.X))


def merge_observed(a: Observed, b: Observed) -> Observed:
    """The sums of two leaves."""
    return Observed(a.sums + b.sums, a.counts + b.counts, a.n_rows + b.n_rows)


def column_mode(cells: NDArray[Any]) -> Any:
    """The most frequent cell, the smallest among equals; NaN if there is none.

    >>> str(column_mode(np.array(["b", "a", "a", "b"], dtype=object)))
    'a'
    """
    if len(cells) == 0:
        return np.nan
    found = find_values([cells])
    counts = found.counts(0)
    return smallest(found.values[0][counts == counts.max()])


def smallest(values: NDArray[Any]) -> Any:
    """The least value; of values that cannot be compared, the first by type and text."""
    try:
        return min(values.tolist())
    except TypeError:
        return min(values.tolist(), key=lambda v: (str(type(v)), str(v)))


def column_statistic(strategy: str | Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function of the cells that are there; NaN for none."""
    if callable(strategy):
        return strategy
    if strategy == "most_frequent":
        return column_mode
    function = np.mean if strategy == "mean" else np.median
    return lambda cells: function(cells) if len(cells) else np.nan


def block_medians(rows: Source, map_: Map, p: int) -> Array:
    """The median of the cells that are there in each of p columns, as in memory."""

    def middle(n: IntArray) -> IntArray:
        return np.maximum(np.stack([(n - 1) // 2, n // 2]), 0)

    low, high = order_statistics(rows, map_, p, middle)[0]
    return np.mean([low, high], axis=0)


class SimpleImputer(Transformer):
    """Fill missing cells with one value per column.

    Parameters
    ----------
    missing_values : number, str, NaN or None, default=NaN
        What marks a missing cell.
    strategy : {'mean', 'median', 'most_frequent', 'constant'} or callable, default='mean'
        The value: a statistic of the cells that are there, or ``fill_value``. A callable gets the
        cells of one column.
    fill_value : value, default=None
        For ``'constant'``; None is 0, or "missing_value" for text.
    copy : bool, default=True
        Accepted for drop-in use; X is never changed.
    add_indicator : bool, default=False
        Append the columns of a MissingIndicator.
    keep_empty_features : bool, default=False
        Columns with no cell at all are filled with 0 (or ``fill_value``) instead of dropped.

    Attributes
    ----------
    statistics_ : array of shape (n_features,)
        The value of each column; NaN where there is none.
    indicator_ : MissingIndicator or None
    n_features_in_, feature_names_in_ : the training table's columns

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import SimpleImputer
    >>> SimpleImputer().fit_transform([[1.0, 2.0], [np.nan, 4.0], [5.0, np.nan]])
    array([[1., 2.],
           [3., 4.],
           [5., 3.]])
    """

    _accepts_sparse = True

    fit_blocks = fit_blocks

    def __init__(
        self,
        *,
        missing_values: object = np.nan,
        strategy: str | Callable[..., Any] = "mean",
        fill_value: object = None,
        copy: bool = True,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
    ) -> None:
        self.missing_values = missing_values
        self.strategy = strategy
        self.fill_value = fill_value
        self.copy = copy
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features

    @property
    def _accepts_nan(self) -> bool:  # type: ignore[override]
        return is_missing(self.missing_values)

    def _takes_text(self) -> bool:
        return isinstance(self.strategy, str) and self.strategy in ("most_frequent", "constant")

    def _check_parameters(self) -> None:
        if not callable(self.strategy):
            check.one_of(STRATEGY, strategy=self.strategy)
        empty = {"keep_empty_features": self.keep_empty_features}
        check.boolean(copy=self.copy, add_indicator=self.add_indicator, **empty)

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the value that fills each column."""
        self._check_parameters()
        try:
            X = self._check_cells(X, reset=True, text=self._takes_text())
        except ValueError as error:
            if not str(error).startswith("could not convert string"):
                raise
            what = f"Cannot use {self.strategy} strategy with non-numeric data"
            raise ValueError(f"{what}:\n{error}") from error
        check_marker(X, self.missing_values, self)
        context = FitContext(self, X=X)
        self._fit_dtype = X.dtype
        plain = not issparse(X) and X.dtype == np.float64 and self._accepts_nan
        if plain and isinstance(self.strategy, str) and self.strategy == "mean":
            self._fit_rows(Rows(np.ascontiguousarray(X), None, unit_weights(len(X))), map_threads)
        else:
            mask = missing_cells(X, self.missing_values)
            self.statistics_ = self._finite(self._statistics(X, mask))
            self.indicator_ = self._indicator(mask)
        context.end()
        return self

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        if self.strategy not in ("mean", "median", "constant") or not self._accepts_nan:
            need = "strategy 'mean', 'median' or 'constant' and missing_values=NaN"
            got = f"{self.strategy!r} and {self.missing_values!r}"
            raise ValueError(f"fit_blocks needs {need}, got {got}")
        there = reduce_rows(Statistic(leaf_observed, merge_observed), rows, map_)
        self._fit_dtype = np.dtype(np.float64)
        empty = there.counts == 0
        if self.strategy == "mean":
            with np.errstate(invalid="ignore"):
                self.statistics_ = self._finite(there.sums / there.counts)
            self.statistics_[empty] = 0.0 if self.keep_empty_features else np.nan
        elif self.strategy == "median":
            self.statistics_ = self._finite(block_medians(rows, map_, len(empty)))
            self.statistics_[empty] = 0.0 if self.keep_empty_features else np.nan
        else:
            self.statistics_ = self._constants(empty)
        self.indicator_ = self._indicator((there.counts < there.n_rows)[None, :])

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"statistics_": (self.n_features_in_,)} if self.statistics_.dtype.kind == "f" else {}

    def _indicator(self, mask: Matrix) -> Any:
        return indicator_of(mask, self.missing_values) if self.add_indicator else None

    def _finite(self, values: Any) -> Any:
        """The values, none of them infinite: a sum of the largest numbers is."""
        if values.dtype.kind == "f" and len(far := np.flatnonzero(np.isinf(values))):
            where = f"the value that would fill {self._column_name(far[0])}"
            raise ValueError(f"{where} is {values[far[0]]:g}, no number; use a larger unit")
        return values

    def _constants(self, empty: BoolArray) -> Any:
        fill = self.fill_value
        if fill is None:
            fill = 0 if self._fit_dtype.kind in "iuf" else "missing_value"
        elif not np.can_cast(type(fill), self._fit_dtype, casting="same_kind"):
            given = f"fill_value={fill!r} (of type {type(fill)!r})"
            raise ValueError(f"{given} cannot be cast to the input data of {self._fit_dtype!r}")
        values = np.full(len(empty), fill, dtype=object)
        if not self.keep_empty_features:
            values[empty] = np.nan
        return values

    def _statistics(self, X: Any, mask: Matrix) -> Any:
        if issparse(X):
            return self._sparse_statistics(X, mask)
        if self.strategy == "constant":
            return self._constants(mask.all(axis=0))
        statistic = column_statistic(self.strategy)

        def one(j: int) -> Any:
            cells = X[:, j][~mask[:, j]]
            return 0 if len(cells) == 0 and self.keep_empty_features else statistic(cells)

        parallel = map_threads if X.dtype.kind != "O" and isinstance(self.strategy, str) else map
        values = list(parallel(one, range(X.shape[1])))
        kind = object if self.strategy == "most_frequent" and X.dtype.kind == "O" else X.dtype
        kind = np.float64 if np.dtype(kind).kind in "iu" else kind
        out = np.empty(len(values), dtype=kind)
        out[:] = values
        return out

    def _sparse_statistics(self, X: Any, mask: Matrix) -> Any:
        n, p = X.shape
        if self.strategy == "constant":
            lost = np.array([mask.data[a:b].all() and b - a == n for a, b in _spans(X)])
            return self._constants(lost).astype(np.float64)
        statistic = column_statistic(self.strategy)
        values = np.empty(p)
        for j, (a, b) in enumerate(_spans(X)):
            cells = X.data[a:b][~mask.data[a:b]]
            if callable(self.strategy):
                cells = cells[cells != 0]
            else:
                cells = np.concatenate([cells, np.zeros(n - (b - a), X.dtype)])
            empty = not (cells != 0).any() and self.keep_empty_features
            values[j] = 0 if empty else statistic(cells)
        return values

    def transform(self, X: Any) -> Any:
        """X with its missing cells filled."""
        check_is_fitted(self)
        text = self._takes_text() or self._fit_dtype.kind == "O"
        X = self._check_cells(X, reset=False, text=text)
        check_marker(X, self.missing_values, self)
        if self._fit_dtype.kind == "O" and X.dtype.kind != "O" and not issparse(X):
            X = X.astype(object)
        kept = self._kept()
        values = self.statistics_[kept]
        fits = np.can_cast(self._fit_dtype, X.dtype, casting="same_kind")
        if self.strategy == "constant" and not fits:
            value = f"the fill value of dtype {self._fit_dtype}"
            raise ValueError(f"X of dtype {X.dtype} cannot hold {value}")
        values = values.astype(X.dtype if X.dtype.kind != "O" else object)
        mask = missing_cells(X, self.missing_values) if self._needs_mask(X) else None
        if len(kept) < X.shape[1]:
            self._tell(kept)
        filled = self._filled(X, mask, kept, values)
        if not self.add_indicator:
            return filled
        extra = self.indicator_._pick(mask)
        if issparse(filled):
            return _align_api_if_sparse(hstack([filled, extra], format="csc"))
        return np.hstack([filled, extra])

    def _needs_mask(self, X: Any) -> bool:
        plain = not issparse(X) and X.dtype == np.float64 and self._accepts_nan
        return self.add_indicator or not plain

    def _kept(self) -> Any:
        if self.keep_empty_features:
            return np.arange(len(self.statistics_))
        return np.flatnonzero([not is_missing(value) for value in self.statistics_])

    def _tell(self, kept: IntArray) -> None:
        lost = np.setdiff1d(np.arange(len(self.statistics_)), kept)
        names = getattr(self, "feature_names_in_", np.arange(len(self.statistics_)))[lost]
        empty = "Skipping features without any observed values"
        warn(f"{empty}: {names}. keep_empty_features=True keeps them")

    def _filled(self, X: Any, mask: Matrix, kept: IntArray, values: NDArray[Any]) -> Any:
        if issparse(X):
            part = X[:, kept].tocsc(copy=True)
            gaps = mask[:, kept].tocsc().data if self.add_indicator else None
            gaps = missing_cells(part, self.missing_values).data if gaps is None else gaps
            columns = np.repeat(np.arange(len(kept)), np.diff(part.indptr))
            part.data[gaps] = values[columns[gaps]]
            return part
        part = X if len(kept) == X.shape[1] else X[:, kept]
        if mask is None:
            part = np.ascontiguousarray(part)
            out = np.empty(part.shape)
            fill = lambda b: fill_missing(part, values, *b, out)  # noqa: E731
            list(map_threads(fill, row_blocks(len(part))))
            return out
        return np.where(mask[:, kept], values, part)

    def inverse_transform(self, X: ArrayLike) -> Any:
        """Put the missing cells back, where the appended indicators mark them."""
        check_is_fitted(self)
        if not self.add_indicator:
            raise ValueError(
                "inverse_transform reads the indicators of add_indicator=True. "
                "Got 'add_indicator=False'"
            )
        X = np.asarray(X)
        kept, marked = self._kept(), self.indicator_.features_
        width = len(kept) + len(marked)
        if X.shape[1] != width:
            raise ValueError(f"X needs {width} columns, as transform gives, got {X.shape[1]}")
        out = np.zeros((len(X), len(self.statistics_)), dtype=X.dtype)
        out[:, kept] = X[:, : len(kept)]
        mask = np.zeros(out.shape, bool)
        mask[:, marked] = X[:, len(kept) :].astype(bool)
        out[mask] = self.missing_values
        return out

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        """The names of the columns that are kept, then those of the indicators."""
        names = self._names_in(input_features)
        kept = names[self._kept()]
        if not self.add_indicator:
            return kept
        return np.concatenate([kept, self.indicator_.get_feature_names_out(names)])

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        rule = self.strategy if isinstance(self.strategy, str) else ""
        return Card(
            f"missing cells get the {self.strategy} of their column",
            LOSSES.get(rule, "none: the value is given"),
            "one pass over the cells that are there",
            {"inputs": self.n_features_in_, "dropped": self.n_features_in_ - len(self._kept())},
            warnings=("filled cells are treated as observed: later variances are too small",),
        )


def _spans(X: Any) -> list[tuple[int, int]]:
    return list(zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True))
