r"""Columns divided by their largest absolute value.

    z_j = x_j / max_i |x_ij|

Nothing is shifted, so a zero stays a zero and a sparse matrix sparse. One pass for the largest
values, O(n p), or O(stored cells). A single extreme value sets the scale of its column: where
there are outliers, RobustScaler.
"""

from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from pellucid.base import fit_blocks, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Map, Matrix, MaybeArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows, Source, reduce_rows, unit_weights
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads
from pellucid.features.scaling.column_scaler import ColumnScaler
from pellucid.features.scaling.kernels import Ranges, merge_ranges
from pellucid.features.scaling.minmax_scaler import RANGES


class MaxAbsScaler(ColumnScaler):
    """Divide every column by its largest absolute value: cells lie in [-1, 1].

    NaN is left out and stays NaN. A column of zeros stays as it is.

    Parameters
    ----------
    copy : bool, default=True
        False scales the given array in place where that is possible.
    clip : bool, default=False
        Values beyond the training range go to -1 and 1.

    Attributes
    ----------
    max_abs_ : ndarray of shape (n_features,)
        The largest absolute values; NaN in a column without any value.
    scale_ : ndarray of shape (n_features,)
        What the columns are divided by: ``max_abs_``, 1 where it is 0.
    n_samples_seen_ : int

    Examples
    --------
    >>> from pellucid.features import MaxAbsScaler
    >>> MaxAbsScaler().fit_transform([[1.0], [-4.0], [2.0]]).ravel()
    array([ 0.25, -1.  ,  0.5 ])
    """

    _accepts_sparse = True

    fit_blocks = fit_blocks

    def __init__(self, *, copy: bool = True, clip: bool = False) -> None:
        self.copy = copy
        self.clip = clip

    @with_callbacks
    def fit(self, X: Matrix, y: MaybeArray = None) -> Self:
        """Find the largest absolute value of every column."""
        self.__dict__.pop("n_samples_seen_", None)
        return self._learn(X)

    def partial_fit(self, X: Matrix, y: MaybeArray = None) -> Self:
        """Add a batch of rows; the same as one fit to all of them."""
        return self._learn(X)

    def _learn(self, X: Matrix) -> Self:
        check.boolean(copy=self.copy, clip=self.clip)
        first = not hasattr(self, "n_samples_seen_")
        Z = self._check_matrix(X, reset=first, finite=False)
        context = FitContext(self, X=Z)
        if issparse(Z):
            found = sparse_ranges(Z)
        else:
            found = reduce_rows(RANGES, Rows(Z, None, unit_weights(len(Z))), map_threads)
        if np.isinf(np.stack([found.low, found.high])[:, found.seen > 0]).any():
            self._refuse_nonfinite(Z)
        self._set(found if first else merge_ranges(self._so_far(), found))
        context.end()
        return self

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        check.boolean(copy=self.copy, clip=self.clip)
        self._set(reduce_rows(RANGES, rows, map_))

    def _so_far(self) -> Ranges:
        empty = np.isnan(self.max_abs_)
        top = np.where(empty, -np.inf, self.max_abs_)
        return Ranges(-top, top, np.where(empty, 0.0, 1.0), self.n_samples_seen_)

    def _set(self, found: Ranges) -> None:
        empty = found.seen == 0
        self.max_abs_ = np.where(empty, np.nan, np.maximum(-found.low, found.high))
        self.scale_ = np.where(self.max_abs_ == 0.0, 1.0, self.max_abs_)
        self.n_samples_seen_ = found.n_rows
        self._warn_columns(empty, "no value at all; the column stays NaN")

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return dict.fromkeys(("max_abs_", "scale_"), (self.n_features_in_,))

    def _divisor(self) -> Array:
        return self.scale_

    def transform(self, X: ArrayLike) -> Any:
        """X with its columns divided by their largest absolute values."""
        Z = self._scale(X, self.copy)
        if self.clip:
            cells = Z.data if issparse(Z) else Z
            np.clip(cells, -1.0, 1.0, out=cells)
        return Z

    def inverse_transform(self, X: ArrayLike) -> Any:
        """X in the original units."""
        return self._unscale(X, self.copy)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        zeros = int((self.max_abs_ == 0).sum())
        return Card(
            "z_j = x_j / max |x_j|, column by column; zeros stay zeros",
            "the training rows lie in [-1, 1] in every column",
            "one pass: the largest absolute value of every column",
            {
                "rows": self.n_samples_seen_,
                "columns": self.n_features_in_,
                "columns of zeros": zeros,
            },
        )


def sparse_ranges(X: Matrix) -> Ranges:
    """What the stored cells of each column of a CSR matrix span, both ways from zero.

    >>> from scipy.sparse import csr_array
    >>> sparse_ranges(csr_array([[0.0, -2.0], [1.0, np.nan]])).high
    array([1., 2.])
    """
    n, p = X.shape
    top = np.zeros(p)
    np.fmax.at(top, X.indices, np.abs(X.data))  # NaN loses
    missing = np.bincount(X.indices[np.isnan(X.data)], minlength=p)
    return Ranges(-top, top, (n - missing).astype(np.float64), n)
