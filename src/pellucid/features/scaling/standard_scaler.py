r"""Standardise columns: mean 0, variance 1.

    m_j = sum_i w_i x_ij / W_j,    v_j = sum_i w_i (x_ij - m_j)^2 / (W_j - ddof)
    z_ij = (x_ij - m_j) / sqrt(v_j)

over the cells that are not missing, W_j their weight. The sums are merged by Chan, Golub &
LeVeque (1979), so that batches (``partial_fit``) and blocks of a file give the same moments.
O(n p); one read of X to fit, one read and one write to transform.
"""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from pellucid.base import check_weights, fit_blocks, with_callbacks
from pellucid.compiled.counts.moments import ClassMoments, merge_class_moments
from pellucid.core.arrays import check
from pellucid.core.arrays.tensors import like
from pellucid.core.arrays.typing import Array, ArrayLike, Map
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows, Source, Statistic, reduce_rows
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads
from pellucid.features.scaling.column_scaler import ColumnScaler, spread_or_one
from pellucid.features.scaling.kernels import column_moments

MOMENTS = Statistic(column_moments, merge_class_moments)
FAR = 2.0**450  # numbers beyond it, or below its inverse, have squares that leave the range
SPARSE = "Cannot center sparse matrices: use with_mean=False, else they fill up with numbers"


class MomentScaler(ColumnScaler):
    """Base of the scalers whose statistic is the moments: fit, batches and blocks."""

    fit_blocks = fit_blocks

    def _check_parameters(self) -> None:
        """Refuse bad parameters."""

    @abstractmethod
    def _set(self, moments: Array) -> None:
        """Set the attributes from (3, p): weight, mean and centred squares."""

    def _refuse_sparse(self, X: ArrayLike) -> None:
        """Raise where X is sparse and centring was asked for."""

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Find the mean and the spread of every column."""
        self.__dict__.pop("_moments", None)
        self.__dict__.pop("_unit", None)
        return self._learn(X, sample_weight)

    @with_callbacks
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add a batch of rows; the same as one fit to all of them."""
        return self._learn(X, sample_weight)

    def _learn(self, X: ArrayLike, sample_weight: ArrayLike | None) -> Self:
        self._check_parameters()
        self._refuse_sparse(X)
        first = not hasattr(self, "_moments")
        if first:
            rows = self._check_training(X, None, sample_weight, defer_finite=True)
            self._unweighted = sample_weight is None
        else:
            X = self._check_matrix(X, reset=False, finite=False)
            rows = self._weigh(X, sample_weight)
            self._unweighted = self._unweighted and sample_weight is None
        context = FitContext(self, X=rows.X, sample_weight=sample_weight)
        found = self._reduce(self._in_units(rows), map_threads)
        if not np.isfinite(found).all():
            self._refuse_nonfinite(rows.X)
        if first and (unit := units_of(rows.X, found[2])) is not None:
            self._unit = unit
            found = self._reduce(self._in_units(rows), map_threads)
        self._set(found if first else merged(self._moments, found))
        context.end()
        return self

    def _in_units(self, rows: Rows) -> Rows:
        """The rows in the units that ``_moments`` are in."""
        if not hasattr(self, "_unit"):
            return rows
        if issparse(rows.X):
            X = rows.X.copy()
            X.data = X.data / self._unit[X.indices]
            return rows._replace(X=X)
        return rows._replace(X=np.ascontiguousarray(rows.X / self._unit))

    def _as_given(self, values: Array) -> Array:
        """Means or deviations in the unit of the table; refused if they cannot be written there."""
        found = values * getattr(self, "_unit", 1.0)
        if np.isinf(found).any():
            raise ValueError(
                f"column {self._feature_names()[int(np.isinf(found).argmax())]!r} has squares too "
                "large to add up: measure it in another unit"
            )
        return np.asarray(found)

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        self._unweighted = getattr(getattr(rows, "blocks", None), "weight", None) is None
        self._set(self._reduce(rows, map_))

    @staticmethod
    def _reduce(rows: Source, map_: Map) -> Array:
        total: ClassMoments = reduce_rows(MOMENTS, rows, map_)
        return np.vstack([total.weight, total.mean, total.scatter])

    @staticmethod
    def _weigh(X: ArrayLike, sample_weight: ArrayLike | None) -> Rows:
        return Rows(X, None, check_weights(sample_weight, X))

    def _count(self, weight: Array) -> Any:
        """``n_samples_seen_``: one number, or one per column where cells are missing."""
        seen = weight.astype(np.int64) if self._unweighted else weight
        return seen[0] if (seen == seen[0]).all() else seen


def units_of(X: Any, scatter: Array) -> Array | None:
    """Powers of two near the largest cell of the columns whose squares left the range of numbers.

    >>> units_of(np.array([[1e-200, 1.0], [3e-200, 1.0]]), np.zeros(2))[1]
    np.float64(1.0)
    """
    odd = np.flatnonzero(~((scatter > 1 / FAR) & (scatter < FAR)))
    if not len(odd):
        return None
    cells = X[:, odd]
    top = abs(cells).max(axis=0).toarray().ravel() if issparse(X) else _largest(cells)
    far = (top > 0) & ~((top > 1 / FAR) & (top < FAR))
    if not far.any():
        return None
    unit = np.ones(X.shape[1])
    unit[odd[far]] = np.ldexp(1.0, np.frexp(top[far])[1] - 1)
    return unit


def _largest(cells: Array) -> Array:
    return np.asarray(np.fmax.reduce(np.abs(cells), axis=0, initial=0.0))


def merged(a: Array, b: Array) -> Array:
    """Moments (3, p) of two batches taken together.

    >>> merged(np.array([[1.0], [2.0], [0.0]]), np.array([[1.0], [4.0], [0.0]])).ravel()
    array([2., 3., 2.])
    """
    left, right = (ClassMoments(m[0, :1], *(row[None].copy() for row in m)) for m in (a, b))
    return np.vstack(merge_class_moments(left, right)[1:])


class StandardScaler(MomentScaler):
    """Take off the mean and divide by the standard deviation, column by column.

    NaN is left out of the mean and the variance and stays NaN. A constant column is only
    centred (``scale_`` 1) and named in a warning: a column of ones would vanish, so scale first
    and add the ones afterwards.

    Parameters
    ----------
    copy : bool, default=True
        False scales the given array in place where that is possible.
    with_mean : bool, default=True
        Centre the columns; a sparse matrix needs False.
    with_std : bool, default=True
        Divide by the standard deviation.
    ddof : float, default=0
        The variance divides by n - ddof: 0 as in scikit-learn, 1 for the sample variance.

    Attributes
    ----------
    mean_, var_, scale_ : ndarray of shape (n_features,), or None where not asked for
    n_samples_seen_ : rows seen, one number per column where cells are missing

    Examples
    --------
    >>> from pellucid.features import StandardScaler
    >>> StandardScaler().fit_transform([[1.0], [3.0]])
    array([[-1.],
           [ 1.]])
    >>> StandardScaler(ddof=1).fit([[1.0], [3.0]]).var_
    array([2.])
    """

    def __init__(
        self, *, copy: bool = True, with_mean: bool = True, with_std: bool = True, ddof: float = 0
    ) -> None:
        self.copy = copy
        self.with_mean = with_mean
        self.with_std = with_std
        self.ddof = ddof

    @property
    def _accepts_sparse(self) -> bool:  # type: ignore[override]
        return not self.with_mean

    def _check_parameters(self) -> None:
        check.boolean(copy=self.copy, with_mean=self.with_mean, with_std=self.with_std)
        check.non_negative(ddof=self.ddof)

    def _refuse_sparse(self, X: ArrayLike) -> None:
        if issparse(X) and self.with_mean:
            raise ValueError(SPARSE)

    def _set(self, moments: Array) -> None:
        weight, mean, scatter = moments
        empty = weight == 0
        if (weight - self.ddof <= 0)[~empty & (scatter > 0)].any():
            least = f"a column has weight {weight[~empty].min():g}"
            raise ValueError(f"ddof={self.ddof:g} leaves nothing to divide by: {least}")
        divisor = np.where(weight > self.ddof, weight - self.ddof, 1.0)
        var = np.where(empty, np.nan, scatter / divisor)
        mean = np.where(empty, np.nan, mean)
        deviation, mean = self._as_given(np.sqrt(var)), self._as_given(mean)
        scale, constant = spread_or_one(deviation, mean)
        self._moments = moments
        self.mean_ = mean if self.with_mean or self.with_std else None
        with np.errstate(over="ignore", under="ignore"):
            self.var_ = var * getattr(self, "_unit", 1.0) ** 2 if self.with_std else None
        self.scale_ = scale if self.with_std else None
        self.n_samples_seen_ = self._count(weight)
        self._warn_columns(empty, "no value at all; the column stays NaN")
        if self.with_std:
            self._warn_columns(constant, "constant, so not divided (scale_ is 1)")

    def _offset(self) -> Array | None:
        return self.mean_ if self.with_mean else None

    def _divisor(self) -> Array | None:
        return self.scale_

    def transform(self, X: ArrayLike, copy: bool | None = None) -> Any:
        """X with its columns centred and scaled."""
        self._refuse_sparse(X)
        return self._scale(X, self.copy if copy is None else copy)

    def _transform_tensor(self, X: Any) -> Any:
        c, s = self._offset(), self._divisor()
        Z = X if c is None else X - like(c, X)
        return Z if s is None else Z / like(s, X)

    def inverse_transform(self, X: ArrayLike, copy: bool | None = None) -> Any:
        """X in the original units."""
        self._refuse_sparse(X)
        return self._unscale(X, self.copy if copy is None else copy)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        seen = np.atleast_1d(self.n_samples_seen_)
        parts = [t for t, on in (("- mean", self.with_mean), ("/ deviation", self.with_std)) if on]
        rows, constant = seen.max(), int((self._moments[2] == 0).sum())
        counts = {"missing cells": (rows - seen).sum().item(), "constant columns": constant}
        return Card(
            f"z_j = x_j {' '.join(parts)}, column by column",
            f"mean 0 and variance 1 on the training rows (ddof = {self.ddof:g})",
            "one pass: weight, mean and centred squares of every column",
            {"rows": rows.item(), "columns": self.n_features_in_, **counts},
        )
