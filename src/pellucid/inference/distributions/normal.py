r"""The normal distribution of one number.

log N(x; m, s^2) = -log(s sqrt(2 pi)) - (x - m)^2 / (2 s^2)

Product of two densities, v = variance:   N(x; a, v) N(x; b, u) = c N(x; (u a + v b)/(u + v),
uv/(u + v))  with  c = N(a; b, u + v).
"""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from scipy.special import ndtr, ndtri

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Rng
from pellucid.core.readable import readable
from pellucid.inference.distributions import samples
from pellucid.inference.distributions.distribution import ScaledDensity, Univariate
from pellucid.inference.distributions.samples import Moments, Sample, dot, refuse_constant
from pellucid.inference.distributions.stated_quantiles import Stated, normal_quantiles

LOG_2PI = float(np.log(2 * np.pi))


@readable
@dataclass(frozen=True)
class Normal(Stated, Univariate):
    """The normal distribution of one number, of ``mean`` and standard deviation ``std > 0``.

    >>> from pellucid.inference import Normal
    >>> Normal(1.0, 2.0).cdf(1.0), Normal(1.0, 2.0).interval().round(3)
    (0.5, array([-2.92,  4.92]))
    """

    mean: float
    std: float
    free: ClassVar[tuple[str, ...]] = ("mean", "std")
    _parameters = staticmethod(normal_quantiles)

    def __post_init__(self) -> None:
        check.positive(std=self.std)

    @property
    def support(self) -> tuple[float, float]:
        return -np.inf, np.inf

    @property
    def variance(self) -> float:
        return self.std**2

    @property
    def mode(self) -> float:
        return self.mean

    @property
    def entropy(self) -> float:
        return 0.5 * (LOG_2PI + 1.0) + float(np.log(self.std))

    def _log_density(self, x: Array) -> Array:
        z = (x - self.mean) * (1.0 / self.std)
        z *= z
        z *= -0.5
        z -= 0.5 * LOG_2PI + np.log(self.std)
        return z

    def _cdf(self, x: Array) -> Array:
        return ndtr((x - self.mean) / self.std)

    def _quantile(self, q: Array) -> Array:
        return self.mean + self.std * ndtri(q)

    def _draw(self, n: int, rng: Rng) -> Array:
        return rng.normal(self.mean, self.std, n)

    def product(self, other: "Normal") -> ScaledDensity:
        """This density times another one: again normal, up to a factor."""
        v, u = self.variance, other.variance
        mean = (u * self.mean + v * other.mean) / (u + v)
        factor = Normal(other.mean, float(np.sqrt(u + v))).density(self.mean)
        return ScaledDensity(Normal(mean, float(np.sqrt(u * v / (u + v)))), factor)

    @classmethod
    def statistics(cls, x: ArrayLike, sample_weight: ArrayLike | None = None) -> Moments:
        """n, mean and scatter."""
        return moments_of(samples.sample_of(x, sample_weight))

    @classmethod
    def from_statistics(cls, statistics: Moments) -> Self:
        """Mean and standard deviation with divisor n."""
        return cls._with_divisor(statistics, statistics.n)

    @classmethod
    def _unbiased(cls, statistics: Moments) -> Self:
        if not statistics.n > 1:
            raise ValueError(f"the unbiased variance needs n > 1, got {statistics.n:g}")
        return cls._with_divisor(statistics, statistics.n - 1)

    @classmethod
    def _with_divisor(cls, statistics: Moments, divisor: float) -> Self:
        n, mean, scatter = statistics
        std = float(np.sqrt(scatter / divisor))
        refuse_constant(std, mean, n, "normal")
        return cls(mean, std)

    @classmethod
    def _from_moments(cls, mean: float, variance: float, sample: Sample) -> Self:
        return cls(mean, float(np.sqrt(variance)))

    def _squares(self, statistics: Moments) -> float:
        n, mean, scatter = statistics
        return scatter + n * (mean - self.mean) ** 2

    def _given(self, statistics: Moments) -> float:
        n, s = statistics.n, self.std
        squares = self._squares(statistics)
        return -n * (0.5 * LOG_2PI + float(np.log(s))) - squares / (2 * s * s)

    def _information(self, statistics: Moments) -> Array:
        n, s = statistics.n, self.std
        mixed = 2 * n * (statistics.mean - self.mean) / s**3
        last = 3 * self._squares(statistics) / s**4 - n / s**2
        return np.array([[n / s**2, mixed], [mixed, last]])


def moments_of(sample: Sample) -> Moments:
    """n, mean and scatter of a sample, the mean corrected once for its rounding."""
    x, w = sample
    n = float(w.sum())
    mean = dot(w, x) / n
    gap = x - mean
    shift = dot(w, gap) / n
    return Moments(n, mean + shift, max(dot(w, gap * gap) - n * shift * shift, 0.0))


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
        least = f"{np.linalg.eigvalsh(S)[0]:g}"
        raise ValueError(f"{name} must be positive definite, got the eigenvalue {least}") from None
