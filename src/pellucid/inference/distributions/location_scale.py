r"""Distributions that are one shape, moved and stretched: Laplace, logistic, Student's t.

    Laplace    f = exp(-|z|) / (2 s)                             z = (x - mean) / scale
    Logistic   f = e^-z / (s (1 + e^-z)^2)
    StudentT   f = (1 + z^2/v)^(-(v+1)/2) / (s sqrt(v) B(v/2, 1/2))

Largest likelihood: median and mean deviation from it (Laplace); Newton's method in
(mean, log scale[, log df]) for the others, which have no summary shorter than the sample.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import betaln, digamma, expit, logit, stdtr, stdtrit

from pellucid.core.algebra.derivatives import numerical_hessian, numerical_jacobian
from pellucid.core.arrays import check
from pellucid.core.arrays.quantiles import weighted_median
from pellucid.core.arrays.typing import Array, Rng
from pellucid.core.readable import readable
from pellucid.inference.distributions.distribution import Univariate, standard_deviation
from pellucid.inference.distributions.normal import moments_of
from pellucid.inference.distributions.samples import Sample, dot, refuse_constant
from pellucid.inference.estimation.laplace import Target, climb, symmetric

MOST_DF = 1e6  # beyond it a t distribution is normal to all digits that matter


class LocationScale(Univariate):
    """A shape moved by ``mean`` and stretched by ``scale``."""

    mean: float
    scale: float
    free: ClassVar[tuple[str, ...]] = ("mean", "scale")
    std = property(standard_deviation)

    def __post_init__(self) -> None:
        check.positive(scale=self.scale)

    @property
    def support(self) -> tuple[float, float]:
        return -np.inf, np.inf

    @property
    def mode(self) -> float:
        return self.mean

    def _information(self, statistics: Sample) -> Array:
        given = self.parameters
        units = np.array([self.scale if name == "mean" else given[name] for name in self.free])
        centre = np.array([given[name] for name in self.free])

        def value(u: Array) -> float:
            moved = dict(zip(self.free, centre + units * u, strict=True))
            return type(self)(**{**given, **moved})._given(statistics)

        H = numerical_hessian(value, np.zeros(len(units))).value
        return -H / np.outer(units, units)


@readable
@dataclass(frozen=True)
class Laplace(LocationScale):
    """The Laplace (double exponential) distribution.

    ``mean`` is its mean, median and mode; ``scale > 0`` the mean distance from it.

    >>> from pellucid.inference import Laplace
    >>> Laplace(0.0, 2.0).variance, round(Laplace(0.0, 2.0).cdf(1.0), 6)
    (8.0, 0.696735)
    """

    mean: float
    scale: float

    @property
    def variance(self) -> float:
        return 2 * self.scale**2

    @property
    def entropy(self) -> float:
        return 1 + float(np.log(2 * self.scale))

    def _log_density(self, x: Array) -> Array:
        return np.abs(x - self.mean) * (-1.0 / self.scale) - np.log(2 * self.scale)

    def _cdf(self, x: Array) -> Array:
        z = (x - self.mean) / self.scale
        tail = 0.5 * np.exp(-np.abs(z))
        return np.where(z < 0, tail, 1.0 - tail)

    def _quantile(self, q: Array) -> Array:
        tail = np.log(2 * np.minimum(q, 1 - q))
        return self.mean + self.scale * np.where(q < 0.5, tail, -tail)

    def _draw(self, n: int, rng: Rng) -> Array:
        return rng.laplace(self.mean, self.scale, n)

    @classmethod
    def from_statistics(cls, statistics: Sample) -> Self:
        """The median and the mean distance from it."""
        x, w = statistics
        centre = float(weighted_median(x, w))
        scale = dot(w, np.abs(x - centre)) / statistics.n
        refuse_constant(scale, centre, statistics.n, "Laplace")
        return cls(centre, scale)

    @classmethod
    def _from_moments(cls, mean: float, variance: float, sample: Sample) -> Self:
        return cls(mean, float(np.sqrt(variance / 2)))

    def _information(self, statistics: Sample) -> Array:
        """The expected information in mean (the kinks have no curvature), observed in scale."""
        n, s = statistics.n, self.scale
        deviation = dot(statistics.w, np.abs(statistics.x - self.mean))
        return np.diag([n / s**2, 2 * deviation / s**3 - n / s**2])


@readable
@dataclass(frozen=True)
class Logistic(LocationScale):
    """The logistic distribution: its cdf is the sigmoid.

    ``mean`` is its mean, median and mode; ``scale > 0`` stretches it.

    >>> from pellucid.inference import Logistic
    >>> Logistic(0.0, 1.0).cdf(0.0), round(Logistic(0.0, 1.0).variance, 6)
    (0.5, 3.289868)
    """

    mean: float
    scale: float

    @property
    def variance(self) -> float:
        return (np.pi * self.scale) ** 2 / 3

    @property
    def entropy(self) -> float:
        return 2 + float(np.log(self.scale))

    def _log_density(self, x: Array) -> Array:
        z = np.abs(x - self.mean) * (-1.0 / self.scale)
        return z - 2 * np.log1p(np.exp(z)) - np.log(self.scale)

    def _cdf(self, x: Array) -> Array:
        return expit((x - self.mean) / self.scale)

    def _quantile(self, q: Array) -> Array:
        return self.mean + self.scale * logit(q)

    def _draw(self, n: int, rng: Rng) -> Array:
        return rng.logistic(self.mean, self.scale, n)

    @classmethod
    def from_statistics(cls, statistics: Sample) -> Self:
        """By Newton's method."""
        x, w = statistics
        start = cls._from_moments(*_first_two(statistics, "logistic"), statistics)
        share = w / w.sum()

        last: dict[bytes, tuple[Array, Array, float]] = {}  # gradient and Hessian share a point

        def parts(t: Array) -> tuple[Array, Array, float]:
            key = t.tobytes()
            if key not in last:
                s = float(np.exp(t[1]))
                z = (x - t[0]) / s
                last.clear()
                last[key] = z, np.tanh(z / 2), s
            return last[key]

        def value(t: Array) -> float:
            return dot(share, cls(t[0], float(np.exp(t[1]))).log_density(x))

        def gradient(t: Array) -> Array:
            z, tanh, s = parts(t)
            return np.array([dot(share, tanh) / s, dot(share, z * tanh) - 1])

        def hessian(t: Array) -> Array:
            z, tanh, s = parts(t)
            q = (1 - tanh * tanh) / 2
            mixed = -dot(share, q * z + tanh) / s
            last = -dot(share, z * tanh + z * z * q)
            return np.array([[-dot(share, q) / s**2, mixed], [mixed, last]])

        target = Target(value, gradient, hessian)
        at = climb(target, np.array([start.mean, np.log(start.scale)]), "logistic fit").state.x
        return cls(float(at[0]), float(np.exp(at[1])))

    @classmethod
    def _from_moments(cls, mean: float, variance: float, sample: Sample) -> Self:
        return cls(mean, float(np.sqrt(3 * variance) / np.pi))

    def _information(self, statistics: Sample) -> Array:
        (x, w), s = statistics, self.scale
        z = (x - self.mean) / s
        tanh = np.tanh(z / 2)
        q = (1 - tanh * tanh) / 2
        mixed = dot(w, q * z + tanh)
        last = dot(w, 2 * z * tanh + z * z * q - 1)
        return np.array([[dot(w, q), mixed], [mixed, last]]) / s**2


@readable
@dataclass(frozen=True, init=False, repr=False)
class StudentT(LocationScale):
    """Student's t distribution, moved and stretched.

    ``df > 0`` are the degrees of freedom, ``scale > 0`` stretches. ``mean`` is the centre,
    ``location``; the expectation exists for df > 1 only and is NaN else.

    >>> from pellucid.inference import StudentT
    >>> StudentT(3.0).variance, round(StudentT(3.0).quantile(0.975), 6)
    (3.0, 3.182446)
    >>> StudentT(1.0).mean, StudentT(1.0).mode  # Cauchy's distribution has no expectation
    (nan, 0.0)
    """

    df: float
    location: float
    scale: float
    free: ClassVar[tuple[str, ...]] = ("df", "mean", "scale")

    def __init__(self, df: float, mean: float = 0.0, scale: float = 1.0) -> None:
        check.positive(df=df, scale=scale)
        for name, value in (("df", df), ("location", mean), ("scale", scale)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"StudentT(df={self.df!r}, mean={self.location!r}, scale={self.scale!r})"

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by the names of the constructor."""
        return {"df": self.df, "mean": self.location, "scale": self.scale}

    @property
    def mean(self) -> float:  # type: ignore[override]
        """NaN for df <= 1, where the integral of x f(x) does not exist."""
        return self.location if self.df > 1 else np.nan

    @property
    def mode(self) -> float:
        return self.location

    @property
    def variance(self) -> float:
        """Infinite for 1 < df <= 2; NaN for df <= 1, where there is no mean to vary about."""
        if self.df <= 1:
            return np.nan
        return self.scale**2 * self.df / (self.df - 2) if self.df > 2 else np.inf

    @property
    def entropy(self) -> float:
        v = self.df
        spread = (v + 1) / 2 * (digamma((v + 1) / 2) - digamma(v / 2))
        return float(spread + betaln(v / 2, 0.5) + 0.5 * np.log(v) + np.log(self.scale))

    def _log_density(self, x: Array) -> Array:
        v = self.df
        z = np.abs(x - self.location) / self.scale
        big = z > 1e150
        log1p = np.log1p(np.where(big, 0.0, z) ** 2 / v)
        if big.any():
            log1p = np.where(big, 2 * np.log(z) - np.log(v), log1p)
        return -(v + 1) / 2 * log1p - (betaln(v / 2, 0.5) + 0.5 * np.log(v) + np.log(self.scale))

    def _cdf(self, x: Array) -> Array:
        return stdtr(self.df, (x - self.location) / self.scale)

    def _quantile(self, q: Array) -> Array:
        inner = stdtrit(self.df, np.clip(q, 1e-300, 1.0))
        ends = np.where(q == 0, -np.inf, np.where(q == 1, np.inf, inner))
        return self.location + self.scale * ends

    def _draw(self, n: int, rng: Rng) -> Array:
        return self.location + self.scale * rng.standard_t(self.df, n)

    @classmethod
    def from_statistics(cls, statistics: Sample) -> Self:
        """By Newton's method; tails no heavier than normal ones give the largest df, 1e6."""
        x, w = statistics
        mean, variance = _first_two(statistics, "t")
        share = w / w.sum()

        def law(t: Array) -> StudentT:
            return cls(*[float(v) for v in (np.exp(min(t[2], 700)), t[0], np.exp(t[1]))])

        def value(t: Array) -> float:
            return dot(share, law(t).log_density(x)) if t[2] < np.log(MOST_DF) else -np.inf

        def gradient(t: Array) -> Array:
            v, s = np.exp(t[2]), np.exp(t[1])
            z = (x - t[0]) / s
            pull = (v + 1) / (v + z * z)
            tail = dot(share, pull * z * z / v - np.log1p(z * z / v))
            slope = 0.5 * (digamma((v + 1) / 2) - digamma(v / 2) - 1 / v + tail)
            return np.array([dot(share, pull * z) / s, dot(share, pull * z * z) - 1, v * slope])

        fourth = dot(share, ((x - mean) / np.sqrt(variance)) ** 4)
        if fourth <= 3:  # the slope in 1/df at the normal fit is (fourth moment - 3) n / 4
            return cls(MOST_DF, mean, float(np.sqrt(variance)))
        middle = float(weighted_median(x, w))
        spread = 1.4826 * float(weighted_median(np.abs(x - middle), w)) or np.sqrt(variance)
        start = np.array([middle, np.log(spread), np.log(4.0)])
        target = Target(value, gradient, lambda t: symmetric(numerical_jacobian(gradient, t).value))
        return law(climb(target, start, "t fit").state.x)  # type: ignore[return-value]

    def _boundary(self) -> str:
        if self.df < MOST_DF:
            return ""
        return "the tails are no heavier than normal ones: the likelihood grows with df"

    @classmethod
    def _from_moments(cls, mean: float, variance: float, sample: Sample) -> Self:
        """df = 4 + 6 / excess kurtosis."""
        fourth = dot(sample.w, (sample.x - mean) ** 4) / sample.n / variance**2
        df = 4 + 6 / (fourth - 3) if fourth > 3 + 6 / MOST_DF else MOST_DF
        return cls(df, mean, float(np.sqrt(variance * (df - 2) / df)))


def _first_two(sample: Sample, family: str) -> tuple[float, float]:
    n, mean, scatter = moments_of(sample)
    refuse_constant(float(np.sqrt(scatter / n)), mean, n, family)
    return mean, scatter / n
