r"""Drop columns that hardly vary.

    keep x_j if  sum_i (x_ij - m_j)^2 / n > threshold

over the cells that are not missing. With threshold 0 the smaller of the variance and the range is
compared, so that rounding cannot keep a constant column. One pass, O(n p).
"""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from pellucid.base import fit_blocks, with_callbacks
from pellucid.compiled.counts.moments import ClassMoments, merge_class_moments
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Map
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows, Source, Statistic, reduce_rows
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads
from pellucid.features.scaling.kernels import Ranges, column_moments, merge_ranges, ranges
from pellucid.features.selection.selector import Selector


class Spread(NamedTuple):
    """Moments and ranges of the columns."""

    moments: ClassMoments
    ranges: Ranges


def spread(rows: Rows) -> Spread:
    """Moments and ranges of one leaf, dense or sparse."""
    moments = column_moments(rows)
    if not issparse(rows.X):
        return Spread(moments, ranges(rows))
    low, high = (extreme(axis=0).toarray().ravel() for extreme in (rows.X.nanmin, rows.X.nanmax))
    seen = np.isfinite(low)
    low, high = np.where(seen, low, np.inf), np.where(seen, high, -np.inf)
    missing = np.bincount(rows.X.indices[np.isnan(rows.X.data)], minlength=len(low))
    return Spread(moments, Ranges(low, high, rows.n_rows - missing.astype(float), rows.n_rows))


def merge_spread(a: Spread, b: Spread) -> Spread:
    """Moments and ranges of two leaves taken together."""
    return Spread(merge_class_moments(a.moments, b.moments), merge_ranges(a.ranges, b.ranges))


def column_variances(found: Spread, threshold: float) -> Array:
    """What is compared with the threshold; NaN for a column without values."""
    weight, scatter = found.moments.weight[0], found.moments.scatter[0]
    variance = np.where(weight > 0, scatter / np.where(weight > 0, weight, 1.0), np.nan)
    if threshold == 0:
        whole = found.ranges.seen == found.ranges.n_rows
        span = np.where(whole, found.ranges.high - found.ranges.low, np.inf)
        variance = np.where(weight > 0, np.fmin(variance, span), np.nan)
    return variance


class VarianceThreshold(Selector):
    """Keep the columns whose variance exceeds a threshold.

    NaN is left out of the variance and stays.

    Parameters
    ----------
    threshold : float, default=0.0
        Columns with a variance (ddof 0) up to this are dropped: 0 drops the constant ones.

    Attributes
    ----------
    variances_ : ndarray of shape (n_features,)

    Examples
    --------
    >>> from pellucid.features import VarianceThreshold
    >>> VarianceThreshold().fit_transform([[0.0, 2.0], [0.0, 3.0]])
    array([[2.],
           [3.]])
    """

    _accepts_nan = True
    _accepts_sparse = True

    fit_blocks = fit_blocks

    def __init__(self, threshold: float = 0.0) -> None:
        self.threshold = threshold

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Find the variance of every column."""
        rows = self._check_training(X, defer_finite=True)
        context = FitContext(self, X=rows.X)
        self._fit_rows(rows, map_threads)
        context.end()
        return self

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        check.non_negative(threshold=self.threshold)
        with np.errstate(invalid="ignore"):
            found: Spread = reduce_rows(Statistic(spread, merge_spread), rows, map_)
        if isinstance(rows, Rows) and not np.isfinite(found.moments.scatter).all():
            self._refuse_nonfinite(rows.X)
        variances = column_variances(found, self.threshold)
        if not (variances > self.threshold).any():
            one = " (X contains only one sample)" if rows.n_rows == 1 else ""
            none = f"No feature in X meets the variance threshold {self.threshold:.5f}{one}"
            raise ValueError(f"{none}; the largest is {np.nanmax(variances, initial=0.0):g}")
        self.variances_ = variances

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"variances_": (self.n_features_in_,)}

    def _get_support_mask(self) -> Any:
        return self.variances_ > self.threshold

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        return Card(
            "the columns that are kept, unchanged",
            f"variance on the training rows > {self.threshold:g}",
            "one pass: mean, centred squares and range of every column",
            {"columns": self.n_features_in_, "kept": int(self.get_support().sum())},
        )
