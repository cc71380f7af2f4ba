r"""Filling a missing cell with the mean of the nearest rows that have it.

    d^2(a, b) = p / |T| sum_{t in T} (a_t - b_t)^2,     T = coordinates that both rows have

For a missing x_ic the k rows nearest to row i among those with column c are averaged, equally or
by 1/d. Rows with nothing in common have no distance; where no donor has one, the column's mean
is taken.

Distances are computed a tile of donors at a time, column by column over contiguous memory, and
each missing cell keeps its k best in order, so no distance matrix is stored.   O(r m p) for r
rows with gaps and m donors
"""

from collections.abc import Callable
from typing import Any, Self, TypeAlias

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads
from pellucid.features.encoding.categories import is_missing
from pellucid.features.missing.kernels import nearest_donors
from pellucid.features.missing.missing_indicator import check_marker, indicator_of, missing_cells

ROWS = 64  # rows with gaps per task
Weigh: TypeAlias = str | Callable[[Array], Array] | None  # how donors are weighed


def donors_of(X: Array, F: Array, wanted: BoolArray, k: int) -> tuple[Array, Any]:
    """Distances and rows of the k nearest donors of every gap of X, row by row.

    X (r, p) and F (m, p) with NaN for missing; wanted (p,): columns to fill. Rows of the answer
    belong to ``np.argwhere(np.isnan(X) & wanted)``; -1 where there are fewer donors.
    """
    offsets = np.append(0, np.cumsum((np.isnan(X) & wanted).sum(axis=1))).astype(np.int64)
    distance = np.empty((offsets[-1], k))
    donor = np.empty((offsets[-1], k), np.int64)
    there = ~np.isnan(F)
    M = np.ascontiguousarray(there.T, dtype=np.float64)
    by_column = np.ascontiguousarray(np.where(there, F, 0.0).T)
    full = there.all(axis=0)
    starts = range(0, len(X), ROWS)

    def fill(a: int) -> None:
        b = min(a + ROWS, len(X))
        nearest_donors(X, by_column, M, full, wanted, a, b, offsets, distance, donor)

    list(map_threads(fill, starts))
    return np.sqrt(distance * X.shape[1]), donor


def donors_by_matrix(D: Array, gaps: BoolArray, there: BoolArray, k: int) -> tuple[Array, Any]:
    """The same from a matrix of distances (r, m); gaps (r, p) to fill, there (m, p) of donors."""
    cells = np.argwhere(gaps)
    distance = np.full((len(cells), k), np.inf)
    donor = np.full((len(cells), k), -1)
    for c, (i, j) in enumerate(cells):
        d = np.where(there[:, j] & ~np.isnan(D[i]), D[i], np.inf)
        order = np.argsort(d, kind="stable")[:k]
        order = order[np.isfinite(d[order])]
        donor[c, : len(order)] = order
        distance[c, : len(order)] = d[order]
    return distance, donor


def donor_weights(distance: Array, rule: Weigh) -> Array:
    """Weights of the donors of each gap; 0 where there is none."""
    absent = ~np.isfinite(distance)
    if callable(rule):
        found = rule(np.where(absent, np.nan, distance))
        if found is not None:  # None is scikit-learn's word for equal weights
            weights = np.array(found, dtype=np.float64)
            if weights.shape != distance.shape:
                need = f"one weight for each of the {distance.shape} distances"
                raise ValueError(f"weights must return {need}, got shape {weights.shape}")
            return infinite_first(checked_weights(np.where(absent, 0.0, weights), absent))
        rule = "uniform"
    if rule == "uniform" or rule is None:
        return np.where(absent, 0.0, 1.0)
    with np.errstate(divide="ignore"):
        return infinite_first(1.0 / distance)


def checked_weights(weights: Array, absent: BoolArray) -> Array:
    """What a callable said of donors, of which one of every gap must count."""
    if not (weights >= 0).all():  # NaN neither
        some = weights[~(weights >= 0)][0]
        raise ValueError(f"weights must return numbers >= 0 for distances, got {some:g}")
    if (~absent.all(axis=1) & (weights == 0).all(axis=1)).any():
        raise ValueError("weights gave all donors of a missing cell 0; one must be positive")
    return weights


def infinite_first(weights: Array) -> Array:
    """Where a weight is infinite, those alone count, equally."""
    exact = np.isinf(weights)
    return np.where(exact.any(axis=1, keepdims=True), exact.astype(float), weights)


class KNNImputer(Transformer):
    """Fill missing cells from the nearest rows.

    Parameters
    ----------
    missing_values : number or NaN, default=NaN
        What marks a missing cell.
    n_neighbors : int, default=5
        Donors of a cell.
    weights : {'uniform', 'distance'} or callable, default='uniform'
        Equal weights, 1/distance, or a function of an array of distances.
    metric : 'nan_euclidean' or callable, default='nan_euclidean'
        A callable is ``metric(a, b, missing_values=...)``.
    copy : bool, default=True
        Accepted for drop-in use; X is never changed.
    add_indicator : bool, default=False
        Append the columns of a MissingIndicator.
    keep_empty_features : bool, default=False
        Columns with no cell at all in ``fit`` are filled with 0 instead of dropped.

    Attributes
    ----------
    indicator_ : MissingIndicator or None
    n_features_in_, feature_names_in_ : the training table's columns

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import KNNImputer
    >>> X = [[1.0, 2.0, np.nan], [3.0, 4.0, 3.0], [np.nan, 6.0, 5.0], [8.0, 8.0, 7.0]]
    >>> KNNImputer(n_neighbors=2).fit_transform(X)
    array([[1. , 2. , 4. ],
           [3. , 4. , 3. ],
           [5.5, 6. , 5. ],
           [8. , 8. , 7. ]])
    """

    def __init__(
        self,
        *,
        missing_values: float = np.nan,
        n_neighbors: int = 5,
        weights: Weigh = "uniform",
        metric: str | Callable[..., float] = "nan_euclidean",
        copy: bool = True,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
    ) -> None:
        self.missing_values = missing_values
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.copy = copy
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features

    @property
    def _accepts_nan(self) -> bool:  # type: ignore[override]
        return is_missing(self.missing_values)

    def _check_parameters(self) -> None:
        check.whole(n_neighbors=self.n_neighbors)
        if not callable(self.weights) and self.weights is not None:
            check.one_of(("uniform", "distance"), weights=self.weights)
        if not callable(self.metric):
            check.one_of(("nan_euclidean",), metric=self.metric)
        empty = {"keep_empty_features": self.keep_empty_features}
        check.boolean(copy=self.copy, add_indicator=self.add_indicator, **empty)

    def _open(self, X: np.ndarray, *, reset: bool) -> tuple[Any, Any, Any]:
        """X with NaN for missing cells (float64), which they are, and the type given."""
        X = self._check_cells(X, reset=reset, text=False)
        check_marker(X, self.missing_values, self)
        mask = missing_cells(X, self.missing_values)
        return np.where(mask, np.nan, X.astype(np.float64)), mask, X.dtype

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep the rows that later lend their cells."""
        self._check_parameters()
        X, mask, _ = self._open(X, reset=True)
        context = FitContext(self, X=X)
        self._fit_X = X
        marks = indicator_of(mask, self.missing_values) if self.add_indicator else None
        self.indicator_: Any = marks
        context.end()
        return self

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"_fit_X": (len(self._fit_X), self.n_features_in_)}

    def transform(self, X: Any) -> Any:
        """X with its missing cells filled."""
        check_is_fitted(self)
        X, mask, kind = self._open(X, reset=False)
        there = ~np.isnan(self._fit_X)
        valid = there.any(axis=0)
        rows = np.flatnonzero((mask & valid).any(axis=1))
        if len(rows):
            X[rows] = self._fill(X[rows], there, valid)
        if self.keep_empty_features:
            X[:, ~valid] = 0.0
        else:
            X = X[:, valid]
        X = np.ascontiguousarray(X, dtype=kind)
        return np.hstack([X, self.indicator_._pick(mask)]) if self.add_indicator else X

    def _fill(self, X: Array, there: BoolArray, valid: BoolArray) -> Array:
        """Rows with their gaps filled."""
        gaps = np.isnan(X) & valid
        k = min(self.n_neighbors, len(self._fit_X))
        if callable(self.metric):
            marked = [self._marked(A) for A in (X, self._fit_X)]
            options = {"metric": self.metric, "missing_values": self.missing_values}
            finite = "allow-nan" if self._accepts_nan else True
            D = pairwise_distances(*marked, ensure_all_finite=finite, **options)
            distance, donor = donors_by_matrix(D, gaps, there, k)
        else:
            distance, donor = donors_of(np.ascontiguousarray(X), self._fit_X, valid, k)
        weights = donor_weights(distance, self.weights)
        columns = np.nonzero(gaps)[1]
        values = np.where(donor >= 0, self._fit_X[donor, columns[:, None]], 0.0)
        total = weights.sum(axis=1)
        means = np.where(there, self._fit_X / np.maximum(there.sum(axis=0), 1), 0.0).sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            filled = (weights / total[:, None] * values).sum(axis=1)  # no sum of values overflows
        X[gaps] = np.where(donor[:, 0] < 0, means[columns], filled)
        return X

    def _marked(self, A: Array) -> Array:
        return A if self._accepts_nan else np.where(np.isnan(A), self.missing_values, A)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        """The names of the columns that are kept, then those of the indicators."""
        names = self._names_in(input_features)
        kept = names if self.keep_empty_features else names[~np.isnan(self._fit_X).all(axis=0)]
        if not self.add_indicator:
            return kept
        return np.concatenate([kept, self.indicator_.get_feature_names_out(names)])

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        gaps = int(np.isnan(self._fit_X).sum())
        return Card(
            f"a missing cell is the mean of its {self.n_neighbors} nearest rows that have it",
            "none: the rows themselves are the model; distances use the shared coordinates",
            "distances in tiles, the nearest kept in order per cell",
            {"inputs": self.n_features_in_, "rows": len(self._fit_X), "missing cells": gaps},
            warnings=("scale the columns first: the widest one rules the distance",),
        )
