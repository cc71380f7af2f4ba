r"""A multivariate normal density, the simplest one for ``GenerativeClassifier``.

log f(x) = -(p log 2 pi + log|S| + (x - m)'S^-1(x - m))/2,    S = S_ml + r I
"""

from typing import Self

import numpy as np
from numpy.linalg import LinAlgError
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator
from pellucid.core.algebra.linalg import in_range
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.core.loops.statistics import moments
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.discriminant.covariance import sphere
from pellucid.discriminant.quadratic import squared_distances


class GaussianDensity(Estimator):
    """The normal density of maximum likelihood.

    Parameters
    ----------
    reg_covar : float, default=1e-6
        Added to the variances, as in scikit-learn's mixtures, ``>= 0``; 0 is maximum likelihood.

    Attributes
    ----------
    mean_, covariance_ : ndarray of shape (n_features,) and (n_features, n_features)

    Examples
    --------
    >>> from pellucid.discriminant import GaussianDensity
    >>> GaussianDensity().fit([[-1.0], [1.0]]).score_samples([[0.0]]).round(4)
    array([-0.9189])
    """

    def __init__(self, reg_covar: float = 1e-6) -> None:
        self.reg_covar = reg_covar

    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        check.non_negative(reg_covar=self.reg_covar)
        rows = self._check_training(X, None, sample_weight)
        with single_threaded_blas():
            weight, mean, scatter = moments(rows.X, rows.w)
            covariance = scatter / weight + self.reg_covar * np.eye(len(mean))
            found = sphere(in_range(covariance, "the covariance"), 0.0)
        if found.whitening.shape[1] < len(mean):
            where = f"{rows.n_rows} rows in {len(mean)} columns"
            now = f"raise reg_covar (now {self.reg_covar:g})"
            raise LinAlgError(f"the covariance of {where} is singular; {now}")
        self.mean_, self.covariance_ = mean, covariance
        self.whitening_, self.log_determinant_ = found.whitening, found.log_determinant
        return self

    def score_samples(self, X: ArrayLike) -> Array:
        """log f(x) of each row."""
        rows = self._check_input(X)
        with single_threaded_blas():
            distance = squared_distances(rows, self.mean_[None], self.whitening_[None])[:, 0]
        return -0.5 * (rows.shape[1] * np.log(2 * np.pi) + self.log_determinant_ + distance)

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> Array:
        """Draw rows."""
        check_is_fitted(self)
        noise = generator(random_state).standard_normal((n_samples, len(self.mean_)))
        return self.mean_ + noise @ np.linalg.inv(self.whitening_)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        p = self.n_features_in_
        return {"mean_": (p,), "whitening_": (p, p)}

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        return Card(
            representation="f = N(m, S)",
            evaluation=f"likelihood; {self.reg_covar:g} added to the variances",
            optimisation="closed form: mean and covariance of the rows",
            numbers={"features": len(self.mean_), "log determinant": self.log_determinant_},
        )
