r"""Scale columns by their median and a range of quantiles, which outliers hardly move.

    z_j = (x_j - median_j) / (Q_high,j - Q_low,j)

With ``unit_variance`` the range is divided by that of the standard normal distribution, so that
normal columns get variance 1. O(n p) by selection, no sort.
"""

from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from scipy.special import ndtri
from sklearn.utils.validation import check_is_fitted

from pellucid.base import fit_blocks, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.quantiles import column_quantiles, quantiles
from pellucid.core.arrays.typing import Array, ArrayLike, Map, Matrix, MaybeArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.order_statistics import block_quantiles
from pellucid.core.loops.statistics import Source, unit_weights
from pellucid.core.records import Card
from pellucid.features.scaling.column_scaler import ColumnScaler


class RobustScaler(ColumnScaler):
    """Take off the median and divide by the interquartile range, column by column.

    NaN is left out and stays NaN. A column whose quantiles coincide is not divided (``scale_``
    1), with a warning.

    Parameters
    ----------
    with_centering : bool, default=True
        Take off the median; a sparse matrix needs False.
    with_scaling : bool, default=True
        Divide by the range between the quantiles.
    quantile_range : tuple (low, high), default=(25.0, 75.0)
        Percentages, 0 <= low <= high <= 100.
    copy : bool, default=True
        False scales the given array in place where that is possible.
    unit_variance : bool, default=False
        Divide the range by that of the standard normal distribution.

    Attributes
    ----------
    center_, scale_ : ndarray of shape (n_features,), or None where not asked for

    Examples
    --------
    >>> from pellucid.features import RobustScaler
    >>> RobustScaler().fit_transform([[1.0], [2.0], [3.0], [4.0], [100.0]]).ravel()
    array([-1. , -0.5,  0. ,  0.5, 48.5])
    """

    fit_blocks = fit_blocks

    def __init__(
        self,
        *,
        with_centering: bool = True,
        with_scaling: bool = True,
        quantile_range: tuple[float, float] = (25.0, 75.0),
        copy: bool = True,
        unit_variance: bool = False,
    ) -> None:
        self.with_centering = with_centering
        self.with_scaling = with_scaling
        self.quantile_range = quantile_range
        self.copy = copy
        self.unit_variance = unit_variance

    @property
    def _accepts_sparse(self) -> bool:  # type: ignore[override]
        return not self.with_centering

    def _check_parameters(self) -> tuple[float, float]:
        check.boolean(with_centering=self.with_centering, with_scaling=self.with_scaling)
        check.boolean(copy=self.copy, unit_variance=self.unit_variance)
        given = self.quantile_range
        try:
            low, high = (float(end) for end in given)
        except (TypeError, ValueError):
            raise ValueError(f"quantile_range must be two numbers, got {given!r}") from None
        if not 0 <= low <= high <= 100:
            got = f"({', '.join(map(str, given))})"
            raise ValueError(f"Invalid quantile range: {got} is not 0 <= low <= high <= 100")
        return low, high

    @with_callbacks
    def fit(self, X: Matrix, y: MaybeArray = None) -> Self:
        """Find the median and the quantile range of every column."""
        low, high = self._check_parameters()
        if issparse(X) and self.with_centering:
            hint = "use with_centering=False"
            raise ValueError(
                f"Cannot center sparse matrices, they would fill up with numbers: {hint}"
            )
        X = self._check_training(X).X
        context = FitContext(self, X=X)
        q, equal = np.array([low / 100, 0.5, high / 100]), unit_weights(X.shape[0])
        found = sparse_quantiles(X, q, equal) if issparse(X) else column_quantiles(X, q, equal)
        self._n_rows = X.shape[0]
        self._keep(found, low, high)
        context.end()
        return self

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        low, high = self._check_parameters()
        q = np.array([low / 100, 0.5, high / 100])
        self._n_rows = rows.n_rows
        self._keep(block_quantiles(rows, map_, self.n_features_in_, q)[0], low, high)

    def _keep(self, found: Array, low: float, high: float) -> None:
        """Centre and scale from the three quantiles of every column."""
        below, center, above = found
        scale = above - below
        constant = scale < 10 * np.finfo(np.float64).eps
        scale = np.where(constant, 1.0, scale)
        if self.unit_variance:
            scale = scale / (ndtri(high / 100) - ndtri(low / 100))
        self.center_ = center if self.with_centering else None
        self.scale_ = scale if self.with_scaling else None
        self._warn_columns(np.isnan(center), "no value at all; the column stays NaN")
        if self.with_scaling:
            self._warn_columns(constant, "the quantiles coincide, so not divided (scale_ is 1)")

    def _offset(self) -> Array | None:
        return self.center_

    def _divisor(self) -> Array | None:
        return self.scale_

    def transform(self, X: ArrayLike) -> Any:
        """X with its columns centred and scaled."""
        return self._scale(X, self.copy)

    def inverse_transform(self, X: ArrayLike) -> Any:
        """X in the original units."""
        return self._unscale(X, self.copy)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        low, high = self.quantile_range
        return Card(
            "z_j = (x_j - median_j) / (high quantile - low quantile)_j",
            f"median 0 and range 1 between the {low:g} % and {high:g} % quantiles",
            "selection of the order statistics, exact",
            {"rows": self._n_rows, "columns": self.n_features_in_},
        )


def sparse_quantiles(X: Matrix, q: Array, w: Array) -> Array:
    """Quantiles (len(q), p) of the columns of a sparse matrix, its zeros counted.

    >>> from scipy.sparse import csr_array
    >>> sparse_quantiles(csr_array([[0.0], [0.0], [3.0]]), np.array([0.5]), np.ones(3))
    array([[0.]])
    """
    columns = X.tocsc()
    out = np.empty((len(q), X.shape[1]))
    for j in range(X.shape[1]):
        column = np.zeros(X.shape[0])
        stored = slice(columns.indptr[j], columns.indptr[j + 1])
        column[columns.indices[stored]] = columns.data[stored]
        out[:, j] = quantiles(column, q, w)
    return out
