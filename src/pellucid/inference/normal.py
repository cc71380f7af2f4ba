r"""The normal distributions that approximate posteriors.

log N(x; m, s^2) = -log(s sqrt(2 pi)) - (x - m)^2 / (2 s^2)
log N(x; m, S)   = -(d log 2 pi + log|S| + |L^-1 (x - m)|^2) / 2,     S = L L'
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import ndtr, ndtri

from pellucid.core import check
from pellucid.core.random import generator
from pellucid.core.typing import Array, ArrayLike

LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class Normal:
    """The normal distribution of one number.

    Parameters
    ----------
    mean : float
    std : float
        Standard deviation, ``> 0``.

    Examples
    --------
    >>> from pellucid.inference import Normal
    >>> Normal(1.0, 2.0).cdf(1.0), Normal(1.0, 2.0).interval().round(3)
    (0.5, array([-2.92,  4.92]))
    """

    mean: float
    std: float

    def __post_init__(self) -> None:
        check.positive(std=self.std)

    @property
    def variance(self) -> float:
        return self.std**2

    def log_density(self, x: ArrayLike) -> Any:
        z = (np.asarray(x, dtype=np.float64) - self.mean) / self.std
        return -0.5 * (LOG_2PI + z * z) - np.log(self.std)

    def density(self, x: ArrayLike) -> Any:
        return np.exp(self.log_density(x))

    def cdf(self, x: ArrayLike) -> Any:
        values = ndtr((np.asarray(x, dtype=np.float64) - self.mean) / self.std)
        return float(values) if np.ndim(x) == 0 else values

    def quantile(self, q: ArrayLike) -> Any:
        return self.mean + self.std * ndtri(q)

    def interval(self, confidence: float = 0.95) -> Array:
        """The central interval of this probability."""
        check.fraction(confidence=confidence)
        half = ndtri((1 + confidence) / 2) * self.std
        return np.array([self.mean - half, self.mean + half])

    def sample(self, n: int = 1, random_state: Any = None) -> Array:
        return generator(random_state).normal(self.mean, self.std, n)


@dataclass(frozen=True, eq=False)
class MultivariateNormal:
    """The normal distribution of a vector.

    Parameters
    ----------
    mean : array of shape (d,)
    cov : array of shape (d, d)
        Symmetric and positive definite.

    Examples
    --------
    >>> from pellucid.inference import MultivariateNormal
    >>> law = MultivariateNormal([0.0, 1.0], [[4.0, 0.0], [0.0, 1.0]])
    >>> round(float(law.log_density([0.0, 1.0])), 4), law.marginal(0)
    (-2.531, Normal(mean=0.0, std=2.0))
    """

    mean: Any
    cov: Any

    def __post_init__(self) -> None:
        mean = np.array(self.mean, dtype=np.float64, ndmin=1)
        cov = np.array(self.cov, dtype=np.float64, ndmin=2)
        if mean.ndim != 1 or cov.shape != (len(mean), len(mean)):
            raise ValueError(f"cov must have shape ({len(mean)}, {len(mean)}), got {cov.shape}")
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "cov", cov)
        self._root  # noqa: B018  refuses a matrix that is no covariance

    @cached_property
    def _root(self) -> Array:
        return lower_root(self.cov, "cov")

    def log_density(self, x: ArrayLike) -> Any:
        """Of one vector, or of each row."""
        gap = np.asarray(x, dtype=np.float64) - self.mean
        z = solve_triangular(self._root, gap.reshape(-1, len(self.mean)).T, lower=True)
        log_scale = len(self.mean) * LOG_2PI / 2 + np.log(np.diag(self._root)).sum()
        values = -log_scale - 0.5 * (z * z).sum(axis=0)
        return values[0] if gap.ndim == 1 else values

    def sample(self, n: int = 1, random_state: Any = None) -> Array:
        """n draws, (n, d)."""
        check.whole(n=n)
        z = generator(random_state).standard_normal((n, len(self.mean)))
        return self.mean + z @ self._root.T

    def marginal(self, index: int) -> Normal:
        """The distribution of one coordinate."""
        return Normal(float(self.mean[index]), float(np.sqrt(self.cov[index, index])))


def lower_root(S: Array, name: str) -> Array:
    """The Cholesky root L with L L' = S, or the sentence that S has none.

    >>> lower_root(np.array([[4.0]]), "cov")
    array([[2.]])
    """
    finite = np.isfinite(S).all()
    if not finite or not np.allclose(S, S.T, rtol=1e-8, atol=1e-12 * np.abs(S).max(initial=0.0)):
        raise ValueError(f"{name} must be a finite symmetric matrix")
    try:
        return np.asarray(np.linalg.cholesky((S + S.T) / 2), dtype=np.float64)
    except np.linalg.LinAlgError:
        least = float(np.linalg.eigvalsh(S)[0])
        raise ValueError(
            f"{name} must be positive definite, got the eigenvalue {least:g}"
        ) from None
