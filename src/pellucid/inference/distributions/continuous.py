r"""Continuous distributions on an interval or a half line.

    Uniform       f = 1 / (high - low)
    Exponential   f = e^(-x/s) / s                              s = scale = mean
    Gamma         f = x^(k-1) e^(-x/s) / (Gamma(k) s^k)
    InverseGamma  f = s^k x^(-k-1) e^(-s/x) / Gamma(k)          1/X is Gamma(k, 1/s)
    Beta          f = x^(a-1) (1-x)^(b-1) / B(a, b)

Largest likelihood, from mean logarithms: Gamma solves log k - digamma(k) = log mean - mean log
and Beta is the Dirichlet of two parts; both by Newton's method.

Reference: Minka (2000), Estimating a Dirichlet distribution; (2002), a Gamma distribution.
"""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from scipy import special
from scipy.special import betaln, digamma, gammaln, polygamma

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Rng
from pellucid.core.readable import readable
from pellucid.inference.distributions import samples, stated_quantiles
from pellucid.inference.distributions.distribution import Univariate, half_line, standard_deviation
from pellucid.inference.distributions.samples import Sample, Sums, dot, refuse_constant, sample_of
from pellucid.inference.estimation.laplace import Target, climb


def times_log(c: float, log_x: Array) -> Array | float:
    """c log x, with 0 log 0 = 0."""
    return c * log_x if c != 0 else 0.0


def fit_gamma(log_mean: float, mean_log: float) -> float:
    """The shape k of largest likelihood: log k - digamma(k) = log_mean - mean_log."""
    s = log_mean - mean_log
    start = (3 - s + np.sqrt((s - 3) ** 2 + 24 * s)) / (12 * s)  # within 1.5 %

    def value(t: Array) -> float:
        k = np.exp(t[0])
        return float(k * t[0] - k - gammaln(k) - k * s)

    def gradient(t: Array) -> Array:
        k = np.exp(t)
        return k * (t - digamma(k) - s)

    def hessian(t: Array) -> Array:
        k = np.exp(t[0])
        slope = t[0] - digamma(k) - s
        return np.array([[k * slope + k * k * (1 / k - polygamma(1, k))]])

    run = climb(Target(value, gradient, hessian), np.array([np.log(start)]), "gamma fit")
    return float(np.exp(run.state.x[0]))


def fit_dirichlet(mean_log: Array) -> Array:
    """alpha of largest likelihood: digamma(alpha_k) - digamma(sum alpha) = mean_log_k."""

    def value(t: Array) -> float:
        a = np.exp(t)
        return float(gammaln(a.sum()) - gammaln(a).sum() + (a - 1) @ mean_log)

    def slope(a: Array) -> Array:
        return digamma(a.sum()) - digamma(a) + mean_log

    def gradient(t: Array) -> Array:
        return np.exp(t) * slope(np.exp(t))

    def hessian(t: Array) -> Array:
        a = np.exp(t)
        H = polygamma(1, a.sum()) - np.diag(polygamma(1, a))
        return np.diag(a * slope(a)) + np.outer(a, a) * H

    start = np.log(np.maximum(np.exp(mean_log) / np.exp(mean_log).sum(), 1e-3))
    return np.exp(climb(Target(value, gradient, hessian), start, "Dirichlet fit").state.x)


@readable
@dataclass(frozen=True)
class Uniform(Univariate):
    """The uniform distribution on [low, high], ``low < high``.

    >>> from pellucid.inference import Uniform
    >>> Uniform(0.0, 4.0).mean, Uniform(0.0, 4.0).density([1.0, 5.0])
    (2.0, array([0.25, 0.  ]))
    """

    low: float
    high: float
    free: ClassVar[tuple[str, ...]] = ("low", "high")
    regular: ClassVar[bool] = False
    std = property(standard_deviation)

    def __post_init__(self) -> None:
        if not self.low < self.high or not np.isfinite(self.high - self.low):
            raise ValueError(f"low must be < high, both finite, got {self.low!r}, {self.high!r}")

    @property
    def support(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def mean(self) -> float:
        return (self.low + self.high) / 2

    @property
    def variance(self) -> float:
        return (self.high - self.low) ** 2 / 12

    @property
    def mode(self) -> float:
        """The middle; every point of the support is a mode."""
        return self.mean

    @property
    def entropy(self) -> float:
        return float(np.log(self.high - self.low))

    def _log_density(self, x: Array) -> Array:
        inside = (x >= self.low) & (x <= self.high)
        return np.where(inside, -self.entropy, np.where(np.isnan(x), np.nan, -np.inf))

    def _cdf(self, x: Array) -> Array:
        return np.clip((x - self.low) / (self.high - self.low), 0.0, 1.0)

    def _quantile(self, q: Array) -> Array:
        return self.low + q * (self.high - self.low)

    def _draw(self, n: int, rng: Rng) -> Array:
        return rng.uniform(self.low, self.high, n)

    @classmethod
    def statistics(cls, x: ArrayLike, sample_weight: ArrayLike | None = None) -> samples.Extremes:
        """n, least and largest value."""
        x, w = sample_of(x, sample_weight)
        return samples.Extremes(float(w.sum()), float(x.min()), float(x.max()))

    @classmethod
    def from_statistics(cls, statistics: samples.Extremes) -> Self:
        """Least and largest value."""
        n, low, high = statistics
        refuse_constant(high - low, low, n, "uniform")
        return cls(low, high)

    @classmethod
    def _unbiased(cls, statistics: samples.Extremes) -> Self:
        n, low, high = statistics
        refuse_constant(high - low, low, n, "uniform")
        return cls((n * low - high) / (n - 1), (n * high - low) / (n - 1))

    @classmethod
    def _from_moments(cls, mean: float, variance: float, sample: Sample) -> Self:
        half = float(np.sqrt(3 * variance))
        return cls(mean - half, mean + half)

    def _given(self, statistics: samples.Extremes) -> float:
        inside = statistics.low >= self.low and statistics.high <= self.high
        return -statistics.n * self.entropy if inside else -np.inf


class HalfLine(Univariate):
    """A distribution of positive numbers."""

    std = property(standard_deviation)
    support = property(half_line)

    def __post_init__(self) -> None:
        check.positive(**self.parameters)


@readable
@dataclass(frozen=True)
class Exponential(HalfLine):
    """The exponential distribution of mean ``scale > 0``, 1 / rate.

    >>> from pellucid.inference import Exponential
    >>> Exponential(2.0).mean, round(Exponential(2.0).cdf(2.0), 6)
    (2.0, 0.632121)
    """

    scale: float
    free: ClassVar[tuple[str, ...]] = ("scale",)

    @property
    def mean(self) -> float:
        return self.scale

    @property
    def variance(self) -> float:
        return self.scale**2

    @property
    def mode(self) -> float:
        return 0.0

    @property
    def entropy(self) -> float:
        return 1 + float(np.log(self.scale))

    def _log_density(self, x: Array) -> Array:
        return np.where(x < 0, -np.inf, x * (-1.0 / self.scale) - np.log(self.scale))

    def _cdf(self, x: Array) -> Array:
        return -np.expm1(-np.maximum(x, 0.0) / self.scale)

    def _quantile(self, q: Array) -> Array:
        return -self.scale * np.log1p(-q)

    def _draw(self, n: int, rng: Rng) -> Array:
        return rng.exponential(self.scale, n)

    @classmethod
    def statistics(cls, x: ArrayLike, sample_weight: ArrayLike | None = None) -> Sums:
        """n and sum x."""
        x, w = sample_of(x, sample_weight)
        samples.refuse_outside(x, x < 0, "an exponential distribution needs numbers >= 0")
        return Sums(float(w.sum()), np.array([dot(w, x)]))

    @classmethod
    def from_statistics(cls, statistics: Sums) -> Self:
        """The mean."""
        mean = float(statistics.values[0] / statistics.n)
        refuse_constant(mean, 0.0, statistics.n, "exponential")
        return cls(mean)

    _unbiased = from_statistics

    @classmethod
    def _from_moments(cls, mean: float, variance: float, sample: Sample) -> Self:
        return cls(mean)

    def _given(self, statistics: Sums) -> float:
        total = float(statistics.values[0])
        return -total / self.scale - statistics.n * float(np.log(self.scale))

    def _information(self, statistics: Sums) -> Array:
        s = self.scale
        return np.array([[2 * statistics.values[0] / s**3 - statistics.n / s**2]])


@readable
@dataclass(frozen=True)
class Gamma(stated_quantiles.Stated, HalfLine):
    """The gamma distribution; ``shape > 0`` times ``scale > 0`` is the mean.

    >>> from pellucid.inference import Gamma
    >>> Gamma(3.0, 2.0).mean, Gamma(3.0, 2.0).variance, Gamma(3.0, 2.0).mode
    (6.0, 12.0, 4.0)
    """

    shape: float
    scale: float
    free: ClassVar[tuple[str, ...]] = ("shape", "scale")
    _parameters = staticmethod(stated_quantiles.gamma_quantiles)

    @property
    def mean(self) -> float:
        return self.shape * self.scale

    @property
    def variance(self) -> float:
        return self.shape * self.scale**2

    @property
    def mode(self) -> float:
        return max(self.shape - 1, 0.0) * self.scale

    @property
    def entropy(self) -> float:
        k = self.shape
        return float(k + np.log(self.scale) + gammaln(k) + (1 - k) * digamma(k))

    def _log_density(self, x: Array) -> Array:
        k, s = self.shape, self.scale
        values = times_log(k - 1, np.log(x)) - x * (1.0 / s) - (gammaln(k) + k * np.log(s))
        return np.where((x >= 0) & (x < np.inf), values, np.where(np.isnan(x), np.nan, -np.inf))

    def _cdf(self, x: Array) -> Array:
        return special.gammainc(self.shape, np.maximum(x, 0.0) / self.scale)

    def _quantile(self, q: Array) -> Array:
        return self.scale * special.gammaincinv(self.shape, q)

    def _draw(self, n: int, rng: Rng) -> Array:
        return rng.gamma(self.shape, self.scale, n)

    @classmethod
    def statistics(cls, x: ArrayLike, sample_weight: ArrayLike | None = None) -> Sums:
        """n, sum x and sum log x."""
        x, w = sample_of(x, sample_weight)
        samples.refuse_outside(x, x <= 0, "a gamma distribution needs numbers > 0")
        return Sums(float(w.sum()), np.array([dot(w, x), dot(w, np.log(x))]))

    @classmethod
    def from_statistics(cls, statistics: Sums) -> Self:
        """By Newton's method in log shape."""
        mean, mean_log = statistics.values / statistics.n
        refuse_constant(np.log(mean) - mean_log, mean, statistics.n, "gamma")
        shape = fit_gamma(float(np.log(mean)), float(mean_log))
        return cls(shape, float(mean / shape))

    @classmethod
    def _from_moments(cls, mean: float, variance: float, sample: Sample) -> Self:
        return cls(mean**2 / variance, variance / mean)

    def _given(self, statistics: Sums) -> float:
        n, (total, logs), k, s = statistics.n, statistics.values, self.shape, self.scale
        return float((k - 1) * logs - total / s - n * (gammaln(k) + k * np.log(s)))

    def _information(self, statistics: Sums) -> Array:
        n, total, k, s = statistics.n, statistics.values[0], self.shape, self.scale
        last = 2 * total / s**3 - n * k / s**2
        return np.array([[n * float(polygamma(1, k)), n / s], [n / s, last]])


@readable
@dataclass(frozen=True)
class InverseGamma(HalfLine):
    """The inverse gamma distribution: 1/X is Gamma(shape, 1/scale).

    ``shape`` and ``scale`` are > 0; the mean is scale / (shape - 1) for shape > 1.

    >>> from pellucid.inference import InverseGamma
    >>> InverseGamma(3.0, 4.0).mean, InverseGamma(3.0, 4.0).variance, InverseGamma(3.0, 4.0).mode
    (2.0, 4.0, 1.0)
    """

    shape: float
    scale: float
    free: ClassVar[tuple[str, ...]] = ("shape", "scale")

    @property
    def mean(self) -> float:
        """Infinite for shape <= 1."""
        return self.scale / (self.shape - 1) if self.shape > 1 else np.inf

    @property
    def variance(self) -> float:
        """Infinite for shape <= 2."""
        return self.mean**2 / (self.shape - 2) if self.shape > 2 else np.inf

    @property
    def mode(self) -> float:
        return self.scale / (self.shape + 1)

    @property
    def entropy(self) -> float:
        k = self.shape
        return float(k + np.log(self.scale) + gammaln(k) - (1 + k) * digamma(k))

    def _log_density(self, x: Array) -> Array:
        k, s = self.shape, self.scale
        values = (k * np.log(s) - gammaln(k)) - (k + 1) * np.log(x) - s / x
        return np.where(x > 0, values, np.where(np.isnan(x), np.nan, -np.inf))

    def _cdf(self, x: Array) -> Array:
        tail = special.gammaincc(self.shape, self.scale / np.maximum(x, 1e-300))
        return np.where(x > 0, tail, 0.0)

    def _quantile(self, q: Array) -> Array:
        return self.scale / special.gammainccinv(self.shape, q)

    def _draw(self, n: int, rng: Rng) -> Array:
        return self.scale / rng.gamma(self.shape, 1.0, n)

    @classmethod
    def statistics(cls, x: ArrayLike, sample_weight: ArrayLike | None = None) -> Sums:
        """n, sum 1/x and sum log 1/x."""
        x, w = sample_of(x, sample_weight)
        samples.refuse_outside(x, x <= 0, "an inverse gamma distribution needs numbers > 0")
        return Sums(float(w.sum()), np.array([dot(w, 1 / x), -dot(w, np.log(x))]))

    @classmethod
    def from_statistics(cls, statistics: Sums) -> Self:
        """By Newton's method in log shape."""
        mean, mean_log = statistics.values / statistics.n
        refuse_constant(np.log(mean) - mean_log, 1 / mean, statistics.n, "inverse gamma")
        shape = fit_gamma(float(np.log(mean)), float(mean_log))
        return cls(shape, float(shape / mean))

    @classmethod
    def _from_moments(cls, mean: float, variance: float, sample: Sample) -> Self:
        shape = mean**2 / variance + 2
        return cls(shape, mean * (shape - 1))

    def _given(self, statistics: Sums) -> float:
        n, (total, logs), k, s = statistics.n, statistics.values, self.shape, self.scale
        return float((k + 1) * logs - total * s + n * (k * np.log(s) - gammaln(k)))

    def _information(self, statistics: Sums) -> Array:
        n, k, s = statistics.n, self.shape, self.scale
        return np.array([[n * float(polygamma(1, k)), -n / s], [-n / s, n * k / s**2]])


@readable
@dataclass(frozen=True)
class Beta(stated_quantiles.Stated, Univariate):
    """The beta distribution on [0, 1], ``alpha > 0`` and ``beta > 0``.

    >>> from pellucid.inference import Beta
    >>> Beta(2.0, 3.0).mean, round(Beta(2.0, 3.0).variance, 6), Beta(8, 4).interval().round(4)
    (0.4, 0.04, array([0.3903, 0.8907]))
    """

    alpha: float
    beta: float
    free: ClassVar[tuple[str, ...]] = ("alpha", "beta")
    std = property(standard_deviation)
    _parameters = staticmethod(stated_quantiles.beta_quantiles)

    def __post_init__(self) -> None:
        check.positive(alpha=self.alpha, beta=self.beta)

    @property
    def support(self) -> tuple[float, float]:
        return 0.0, 1.0

    @property
    def mean(self) -> float:
        return self.alpha / (self.alpha + self.beta)

    @property
    def variance(self) -> float:
        return self.mean * (1 - self.mean) / (self.alpha + self.beta + 1)

    @property
    def mode(self) -> float:
        """Inside for alpha, beta > 1; else the end that rises faster, or 1/2 of a flat density."""
        a, b = self.alpha, self.beta
        if (a > 1 and b > 1) or a == b:
            return (a - 1) / (a + b - 2) if a != 1 and a > 1 else 0.5 if a == 1 else 0.0
        return 0.0 if a < b else 1.0

    @property
    def entropy(self) -> float:
        a, b = self.alpha, self.beta
        inner = (a - 1) * digamma(a) + (b - 1) * digamma(b) - (a + b - 2) * digamma(a + b)
        return float(betaln(a, b) - inner)

    def _log_density(self, x: Array) -> Array:
        a, b = self.alpha, self.beta
        values = times_log(a - 1, np.log(x)) + times_log(b - 1, np.log1p(-x)) - betaln(a, b)
        return np.where((x >= 0) & (x <= 1), values, np.where(np.isnan(x), np.nan, -np.inf))

    def _cdf(self, x: Array) -> Array:
        return special.betainc(self.alpha, self.beta, np.clip(x, 0.0, 1.0))

    def _quantile(self, q: Array) -> Array:
        return special.betaincinv(self.alpha, self.beta, q)

    def _draw(self, n: int, rng: Rng) -> Array:
        return rng.beta(self.alpha, self.beta, n)

    @classmethod
    def statistics(cls, x: ArrayLike, sample_weight: ArrayLike | None = None) -> Sums:
        """n, sum log x and sum log(1 - x)."""
        x, w = sample_of(x, sample_weight)
        outside = (x <= 0) | (x >= 1)
        samples.refuse_outside(x, outside, "a beta distribution needs numbers inside (0, 1)")
        return Sums(float(w.sum()), np.array([dot(w, np.log(x)), dot(w, np.log1p(-x))]))

    @classmethod
    def from_statistics(cls, statistics: Sums) -> Self:
        """By Newton's method in the logarithms."""
        mean_log = statistics.values / statistics.n
        room = -np.logaddexp(*mean_log)  # 0 where x does not vary
        refuse_constant(room, float(np.exp(mean_log[0])), statistics.n, "beta")
        return cls(*[float(v) for v in fit_dirichlet(mean_log)])

    @classmethod
    def _from_moments(cls, mean: float, variance: float, sample: Sample) -> Self:
        size = mean * (1 - mean) / variance - 1
        return cls(mean * size, (1 - mean) * size)

    def _given(self, statistics: Sums) -> float:
        logs = np.array([self.alpha - 1, self.beta - 1]) @ statistics.values
        return float(logs - statistics.n * betaln(self.alpha, self.beta))

    def _information(self, statistics: Sums) -> Array:
        own = polygamma(1, np.array([self.alpha, self.beta]))
        return statistics.n * (np.diag(own) - polygamma(1, self.alpha + self.beta))
