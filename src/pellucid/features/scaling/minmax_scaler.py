r"""Columns stretched to a given interval.

    z_j = x_j s_j + b_j,    s_j = (high - low) / (max_j - min_j),    b_j = low - min_j s_j

One pass for the ranges, O(n p). A single extreme value sets the scale of its column: where there
are outliers, RobustScaler.
"""

from typing import Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from pellucid.base import fit_blocks, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Map
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows, Source, Statistic, reduce_rows, unit_weights
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads
from pellucid.features.scaling import kernels
from pellucid.features.scaling.column_scaler import ColumnScaler
from pellucid.features.scaling.kernels import Ranges, chunked, merge_ranges

RANGES = Statistic(kernels.ranges, merge_ranges)


class MinMaxScaler(ColumnScaler):
    """Map the smallest and the largest value of every column to the ends of an interval.

    NaN is left out and stays NaN. A constant column goes to the lower end, with a warning.

    Parameters
    ----------
    feature_range : tuple (low, high), default=(0, 1)
        The interval that the training rows fill.
    copy : bool, default=True
        False scales the given array in place where that is possible.
    clip : bool, default=False
        Values beyond the training range go to the ends.

    Attributes
    ----------
    min_, scale_ : ndarray of shape (n_features,)
        ``X * scale_ + min_`` is the answer.
    data_min_, data_max_, data_range_ : ndarray of shape (n_features,)
    n_samples_seen_ : int

    Examples
    --------
    >>> from pellucid.features import MinMaxScaler
    >>> MinMaxScaler().fit_transform([[1.0], [2.0], [5.0]]).ravel()
    array([0.  , 0.25, 1.  ])
    """

    fit_blocks = fit_blocks

    def __init__(
        self, feature_range: tuple[float, float] = (0, 1), *, copy: bool = True, clip: bool = False
    ) -> None:
        self.feature_range = feature_range
        self.copy = copy
        self.clip = clip

    def _check_parameters(self) -> None:
        check.boolean(copy=self.copy, clip=self.clip)
        given = self.feature_range
        try:
            low, high = (float(end) for end in given)
        except (TypeError, ValueError):
            raise ValueError(f"feature_range must be two numbers, got {given!r}") from None
        if not low < high:
            wrong = "Minimum of desired feature range must be smaller than maximum"
            raise ValueError(f"feature_range: {wrong}, got {given!r}")

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Find the range of every column."""
        self.__dict__.pop("n_samples_seen_", None)
        return self._learn(X)

    def partial_fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Widen the ranges by a batch of rows."""
        return self._learn(X)

    def _learn(self, X: ArrayLike) -> Self:
        self._check_parameters()
        if issparse(X):
            raise TypeError("MinMaxScaler needs dense rows: a sparse matrix would be filled")
        first = not hasattr(self, "n_samples_seen_")
        before = None if first else self._so_far()
        Z = self._check_matrix(X, reset=first, finite=False)
        context = FitContext(self, X=Z)
        found = reduce_rows(RANGES, Rows(Z, None, unit_weights(len(Z))), map_threads)
        if np.isinf(np.stack([found.low, found.high])[:, found.seen > 0]).any():
            self._refuse_nonfinite(Z)
        self._set(found if before is None else merge_ranges(before, found))
        context.end()
        return self

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        self._set(reduce_rows(RANGES, rows, map_))

    def _so_far(self) -> Ranges:
        empty = np.isnan(self.data_min_)
        low = np.where(empty, np.inf, self.data_min_)
        high = np.where(empty, -np.inf, self.data_max_)
        return Ranges(low, high, np.where(empty, 0.0, 1.0), self.n_samples_seen_)

    def _set(self, found: Ranges) -> None:
        low, high = (float(end) for end in self.feature_range)
        empty = found.seen == 0
        smallest = np.where(empty, np.nan, found.low)
        largest = np.where(empty, np.nan, found.high)
        span = largest - smallest
        divisor = np.where(span <= np.finfo(np.float64).tiny, 1.0, span)
        self.data_min_, self.data_max_, self.data_range_ = smallest, largest, span
        self.scale_ = (high - low) / divisor
        self.min_ = low - smallest * self.scale_
        self.n_samples_seen_ = found.n_rows
        self._warn_columns(empty, "no value at all; the column stays NaN")
        self._warn_columns(span == 0, "constant, so every value goes to the lower end")

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        names = ("min_", "scale_", "data_min_", "data_max_", "data_range_")
        return dict.fromkeys(names, (self.n_features_in_,))

    def transform(self, X: ArrayLike) -> Array:
        """X with its columns stretched to ``feature_range``."""
        check_is_fitted(self)
        Z = self._check_matrix(X, reset=False, finite=not self.copy)
        low, high = self.feature_range if self.clip else (-np.inf, np.inf)
        out = self._target(Z, self.copy)
        line = self.scale_, self.min_, float(low), float(high)
        if any(chunked(kernels.multiply_add, Z, *line, out=out)) and self.copy:
            self._refuse_nonfinite(Z)
        return out

    def inverse_transform(self, X: ArrayLike) -> Array:
        """X in the original units."""
        Z = self._check_scaled(X)
        out = self._target(Z, self.copy)
        chunked(kernels.shift_divide, Z, self.min_, self.scale_, out=out)
        return out

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        low, high = self.feature_range
        constant = int((self.data_range_ == 0).sum())
        numbers = {"rows": self.n_samples_seen_, "columns": self.n_features_in_}
        return Card(
            "z_j = x_j scale_j + min_j, column by column",
            f"the training rows span [{low:g}, {high:g}] in every column",
            "one pass: the smallest and the largest value of every column",
            {**numbers, "constant columns": constant},
        )
