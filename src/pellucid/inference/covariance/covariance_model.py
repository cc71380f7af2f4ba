"""Base of the estimators of a covariance matrix: distances, likelihoods, errors."""

import numpy as np
from scipy.linalg import pinvh
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator
from pellucid.core.algebra.covariances import covariance_error
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, MaybeArray
from pellucid.core.loops.device import DeviceRows, on_device, tensor_moments
from pellucid.core.loops.statistics import (
    Moments,
    Rows,
    Statistic,
    merge_moments,
    moments,
    reduce_rows,
)
from pellucid.core.runtime.threads import map_threads


def leaf_moments(rows: Rows) -> Moments:
    """Weight, mean and scatter of one leaf."""
    return moments(rows.X, rows.w)


@on_device(leaf_moments)
def device_moments(rows: DeviceRows) -> Moments:
    """The same of tensors."""
    return tensor_moments(rows.X, None, rows.w)


CENTRED = Statistic(leaf_moments, merge_moments)


def mean_log_density(S: Array, precision: Array) -> float:
    """Mean log density, under N(0, precision^-1), of rows whose mean square is S (p, p).

    >>> round(mean_log_density(np.eye(1), np.eye(1)), 6)
    -1.418939
    """
    sign, size = np.linalg.slogdet(precision)
    size = size if sign > 0 else -np.inf
    p = len(precision)
    return float(0.5 * (size - (S * precision).sum() - p * np.log(2 * np.pi)))


def squares_about(found: Moments, center: Array) -> Array:
    """Mean of w (x - c)(x - c)' over the rows that were summed up, (p, p)."""
    gap = found.mean - center
    return np.asarray(found.scatter / found.weight + np.outer(gap, gap))


class CovarianceModel(DensityMixin, Estimator):
    """Base of the covariance estimators."""

    assume_centered: bool
    covariance_: Array
    location_: Array
    _squares_x = True

    def get_precision(self) -> Array:
        """The inverse of the covariance, (n_features, n_features)."""
        check_is_fitted(self)
        kept = getattr(self, "precision_", None)
        return pinvh(self.covariance_) if kept is None else kept

    def mahalanobis(self, X: ArrayLike) -> Array:
        """Squared distances of the rows from the centre, in units of the covariance."""
        Z = self._check_input(X) - self.location_
        return np.asarray(((Z @ self.get_precision()) * Z).sum(axis=1))

    def score_samples(self, X: ArrayLike) -> Array:
        """Log density of each row under the normal distribution of the fit."""
        distance = self.mahalanobis(X)
        sign, size = np.linalg.slogdet(self.get_precision())
        size = size if sign > 0 else -np.inf
        return np.asarray(0.5 * (size - distance - self.n_features_in_ * np.log(2 * np.pi)))

    def score(self, X: ArrayLike, y: MaybeArray = None) -> float:
        """Mean log density of the rows of X under the normal distribution of the fit."""
        Z = self._check_input(X)
        found = reduce_rows(CENTRED, Rows(Z, None, np.ones(len(Z))), map_threads)
        return mean_log_density(squares_about(found, self.location_), self.get_precision())

    def error_norm(
        self,
        comp_cov: ArrayLike,
        norm: str = "frobenius",
        scaling: bool = True,
        squared: bool = True,
    ) -> float:
        """The size of ``comp_cov - covariance_``, squared and per column unless told otherwise."""
        check_is_fitted(self)
        check.one_of(("frobenius", "spectral"), norm=norm)
        return covariance_error(comp_cov, self.covariance_, norm, scaling, squared)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        p = self.n_features_in_
        found = {"covariance_": (p, p), "location_": (p,)}
        kept = getattr(self, "precision_", None) is not None
        return found | ({"precision_": (p, p)} if kept else {})
