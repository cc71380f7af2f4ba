r"""Columns of mean 0 and Euclidean norm 1.

    z_j = (x_j - m_j) / |x_j - m_j|

Then Z'Z is the correlation matrix and Z'y the inner products that least angle regression and
forward stagewise compare. O(n p), one pass to fit.
"""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.records import Card
from pellucid.features.scaling.column_scaler import spread_or_one
from pellucid.features.scaling.standard_scaler import MomentScaler


class UnitNormScaler(MomentScaler):
    """Centre every column and divide it by its Euclidean length.

    NaN is left out and stays NaN; a constant column is only centred, with a warning. With
    ``sample_weight`` the squared length is the weighted sum, as if rows were repeated.

    Attributes
    ----------
    mean_, scale_ : ndarray of shape (n_features,)
        The mean, and the norm of the centred column (1 for a constant one).
    n_samples_seen_ : rows seen, one number per column where cells are missing

    Examples
    --------
    >>> from pellucid.features import UnitNormScaler
    >>> UnitNormScaler().fit_transform([[1.0], [2.0], [3.0]]).ravel().round(4)
    array([-0.7071,  0.    ,  0.7071])
    """

    def __init__(self) -> None:
        pass

    def _set(self, moments: Array) -> None:
        weight, mean, scatter = moments
        empty = weight == 0
        mean = np.where(empty, np.nan, mean)
        norm = np.where(empty, np.nan, np.sqrt(scatter))
        norm, mean = self._as_given(norm), self._as_given(mean)
        scale, constant = spread_or_one(norm, mean * np.sqrt(weight))
        self._moments, self.mean_, self.scale_ = moments, mean, scale
        self.n_samples_seen_ = self._count(weight)
        self._warn_columns(empty, "no value at all; the column stays NaN")
        self._warn_columns(constant, "constant, so not divided (scale_ is 1)")

    def _offset(self) -> Array:
        return self.mean_

    def _divisor(self) -> Array:
        return self.scale_

    def transform(self, X: ArrayLike) -> Array:
        """X with its columns centred and scaled to length 1."""
        return self._scale(X, copy=True)

    def inverse_transform(self, X: ArrayLike) -> Array:
        """X in the original units."""
        return self._unscale(X, copy=True)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        rows = np.atleast_1d(self.n_samples_seen_).max().item()
        constant = int((self._moments[2] == 0).sum())
        return Card(
            "z_j = (x_j - mean_j) / |x_j - mean_j|, column by column",
            "mean 0 and Euclidean norm 1 on the training rows",
            "one pass: weight, mean and centred squares of every column",
            {"rows": rows, "columns": self.n_features_in_, "constant columns": constant},
        )
