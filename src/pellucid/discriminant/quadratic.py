r"""Rules with a covariance of its own for every class.

    delta_k(x) = -log|S_k|/2 - (x - m_k)'S_k^-1(x - m_k)/2 + log pi_k

With T_k'S_k T_k = I the distance is that of sphered rows, |T_k'(x - m_k)|^2, and nothing is
inverted. A leaf of the class tree says the S_k.
"""

from abc import abstractmethod
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.linalg import LinAlgError
from scipy.linalg import eigh

from pellucid.base import with_callbacks
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Map, Rng
from pellucid.core.loops.statistics import Source
from pellucid.discriminant.covariance import sphere
from pellucid.discriminant.gaussian_rules import GaussianDiscriminant, Scores, log_prior
from pellucid.discriminant.moments import ClassScatter


def squared_distances(X: Array, means: Array, whitening: Array) -> Array:
    """(x - m_k)'S_k^-1(x - m_k), shape (n, K).

    >>> squared_distances(np.array([[3.0]]), np.array([[1.0]]), np.array([[[0.5]]]))
    array([[1.]])
    """
    found = np.empty((len(X), len(means)))
    centred, sphered = np.empty_like(X), np.empty((len(X), whitening.shape[2]))
    for k, (m, T) in enumerate(zip(means, whitening, strict=True)):
        np.subtract(X, m, out=centred)
        np.matmul(centred, T, out=sphered)
        found[:, k] = np.einsum("ij,ij->i", sphered, sphered)
    return found


class QuadraticRule(GaussianDiscriminant):
    """Base: a subclass gives the covariances of the classes; the rest follows."""

    @abstractmethod
    def _covariances(
        self, stat: ClassScatter, priors: Array, rows: Source | None, map_: Map
    ) -> Array:
        """S_k of every class, (K, p, p)."""

    @abstractmethod
    def _singular(self, stat: ClassScatter, k: int, free: tuple[int, ...]) -> str:
        """The error for a class whose covariance has no inverse."""

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: Any = None) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        return self._fit(X, y, sample_weight)

    def _keeps_each(self) -> bool:
        return True

    def _tolerance(self) -> float:
        return 0.0

    def _solve(self, stat: ClassScatter, priors: Array, rows: Source | None, map_: Map) -> None:
        p = stat.mean.shape[1]
        covariances = self._covariances(stat, priors, rows, map_)
        spheres = [sphere(S, self._tolerance()) for S in covariances]
        for k, one in enumerate(spheres):
            if one.whitening.shape[1] < p:
                raise LinAlgError(self._singular(stat, k, one.free))
        self.whitening_ = np.array([one.whitening for one in spheres])
        self.log_determinants_ = np.array([one.log_determinant for one in spheres])
        self._report(covariances)

    @abstractmethod
    def _report(self, covariances: Array) -> None:
        """Set the attributes that show the covariances."""

    def _distances(self) -> Scores:
        return partial(squared_distances, means=self.means_, whitening=self.whitening_)

    def _score_function(self) -> Scores:
        constant = log_prior(self.priors_) - 0.5 * self.log_determinants_
        distances = self._distances()
        return lambda X: constant - 0.5 * distances(X)

    def _discriminant_function(self) -> Scores:
        return self._score_function()

    def _joint_function(self) -> Scores:
        half = 0.5 * self.n_features_in_ * np.log(2 * np.pi)
        constant = log_prior(self.priors_) - 0.5 * self.log_determinants_ - half
        distances = self._distances()
        return lambda X: constant - 0.5 * distances(X)

    def mahalanobis(self, X: ArrayLike) -> Array:
        """Squared Mahalanobis distance of each row to each class mean, shape (n, K)."""
        return self._evaluate(X, self._distances)

    def explain(self, X: ArrayLike) -> Array:
        """-(x - m_k)_j [S_k^-1(x - m_k)]_j/2, shape (n, K, p): the discriminant by feature.

        The sum over features plus log pi_k - log|S_k|/2 is ``discriminants``.
        """
        D = self._check_input(X)[:, None, :] - self.means_
        precision = self.whitening_ @ self.whitening_.transpose(0, 2, 1)
        return -0.5 * D * np.einsum("nkp,kpq->nkq", D, precision)

    def _draw(self, codes: IntArray, rng: Rng) -> Array:
        noise = rng.standard_normal((len(codes), self.n_features_in_))
        X = np.empty_like(noise)
        for k in np.unique(codes):
            own = codes == k  # S = (T^-1)'T^-1, so T^-1 turns noise into rows
            X[own] = self.means_[k] + noise[own] @ np.linalg.inv(self.whitening_[k])
        return X

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        K, p = len(self.classes_), self.n_features_in_
        return super()._state_shapes() | {"whitening_": (K, p, p), "log_determinants_": (K,)}


def principal_axes(covariances: Array) -> tuple[list[Array], list[Array]]:
    """Variances and axes of each class, largest first.

    >>> principal_axes(np.array([np.diag([1.0, 4.0])]))[0]
    [array([4., 1.])]
    """
    pairs: list[Any] = [eigh(S) for S in covariances]
    return [values[::-1] for values, _ in pairs], [axes[:, ::-1] for _, axes in pairs]
