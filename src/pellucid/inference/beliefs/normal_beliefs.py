r"""Beliefs about the mean and the variance of normal data.

NormalMean            x ~ N(mu, s^2), s^2 known,  mu ~ N(m, v)
    v' = s^2 v/(s^2 + n v),   m' = (v sum x + s^2 m)/(s^2 + n v),   next x ~ N(m', s^2 + v')
NormalVariance        x ~ N(c, s^2), c known,  s^2 ~ InverseGamma(a, b)
    a' = a + n/2,   b' = b + sum (x - c)^2 / 2,                     next x ~ t_2a'(c, b'/a')
NormalInverseGamma    both unknown,  s^2 ~ InverseGamma(a, b),  mu | s^2 ~ N(m, s^2/k)
    k' = k + n,  m' = (k m + n xbar)/k',  a' = a + n/2,
    b' = b + SS/2 + k n (xbar - m)^2/(2 k'),          next x ~ t_2a'(m', b'(k'+1)/(a' k'))

The log evidence is the ratio of the normalising constants.

Reference: Murphy (2007), Conjugate Bayesian analysis of the Gaussian distribution.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Rng
from pellucid.core.readable import readable
from pellucid.inference.beliefs.belief import Belief, Moments
from pellucid.inference.distributions.continuous import InverseGamma
from pellucid.inference.distributions.distribution import Multivariate
from pellucid.inference.distributions.location_scale import StudentT
from pellucid.inference.distributions.normal import LOG_2PI, Normal
from pellucid.inference.distributions.samples import Moments as Seen


@readable
@dataclass(frozen=True)
class NormalMean(Belief):
    """A normal belief about the mean of normal data of known variance.

    The data have the variance ``noise_variance``; "sample" plugs in the n-1 variance of each batch
    (approximate; the last one is ``plug_in``, set by update). ``mean`` and ``variance`` are of the
    belief; an infinite variance is a flat prior.

    >>> from pellucid.inference import NormalMean
    >>> belief = NormalMean(1.0, 0.0, 1.0).update([4.0, 5.0, 3.5, 4.5, 4.0])
    >>> round(belief.mean, 6), round(belief.variance, 6), round(belief.predictive().variance, 6)
    (3.5, 0.166667, 1.166667)
    """

    noise_variance: Any = 1.0
    mean: float = 0.0
    variance: float = 1.0
    plug_in: float | None = None

    def __post_init__(self) -> None:
        check.positive(variance=self.variance)
        if self.noise_variance != "sample":
            check.positive(noise_variance=self.noise_variance)

    @property
    def approximate(self) -> bool:
        """Whether a plugged-in variance was taken for the true one."""
        return self.noise_variance == "sample"

    @property
    def mode(self) -> float:
        return self.mean

    @property
    def posterior(self) -> Normal:
        if np.isinf(self.variance):
            raise ValueError("a flat prior (variance = inf) is no distribution before data")
        return Normal(self.mean, float(np.sqrt(self.variance)))

    def _noise(self, seen: Seen) -> float:
        if not self.approximate:
            return float(self.noise_variance)
        if not seen.n > 1 or not seen.scatter > 0:
            raise ValueError("noise_variance='sample' needs batches of 2 values that differ")
        return seen.scatter / (seen.n - 1)

    def update(self, data: ArrayLike, sample_weight: ArrayLike | None = None) -> "NormalMean":
        """The belief after a batch of numbers."""
        seen = Normal.statistics(data, sample_weight)
        s2, v, n = self._noise(seen), self.variance, seen.n
        plug_in = s2 if self.approximate else None
        if np.isinf(v):
            return NormalMean(self.noise_variance, seen.mean, s2 / n, plug_in)
        mean = (v * n * seen.mean + s2 * self.mean) / (s2 + n * v)
        return NormalMean(self.noise_variance, mean, s2 * v / (s2 + n * v), plug_in)

    def _reading(self) -> str:
        if np.isinf(self.variance):
            return "flat: every mean is equally plausible."
        note = " Approximate: the variance is the sample's." if self.approximate else ""
        return super()._reading() + note

    def predictive(self) -> Normal:
        """The distribution of the next value."""
        s2 = self.plug_in if self.approximate else self.noise_variance
        if s2 is None or np.isinf(self.variance):
            raise ValueError("no predictive distribution before data: the belief is improper")
        return Normal(self.mean, float(np.sqrt(s2 + self.variance)))

    def log_evidence(self, data: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """log p(data)."""
        if self.approximate:
            raise ValueError("a plugged-in variance uses the data twice: it has no evidence")
        if np.isinf(self.variance):
            raise ValueError("an improper prior (variance = inf) has no evidence")
        seen = Normal.statistics(data, sample_weight)
        s2, v, n = float(self.noise_variance), self.variance, seen.n
        squares = seen.scatter / s2 + n * (seen.mean - self.mean) ** 2 / (s2 + n * v)
        return float(-0.5 * (n * (LOG_2PI + np.log(s2)) + np.log1p(n * v / s2) + squares))

    def maximum_likelihood(self, data: ArrayLike) -> float:
        """The mean."""
        return float(np.mean(np.asarray(data, dtype=np.float64)))


def log_ratio(shape: float, scale: float, shape_after: float, scale_after: float) -> float:
    """log of the ratio of inverse gamma constants, scale^shape / Gamma(shape)."""
    before = shape * np.log(scale) - gammaln(shape)
    return float(before - shape_after * np.log(scale_after) + gammaln(shape_after))


@readable
@dataclass(frozen=True)
class NormalVariance(Moments, Belief):
    """An inverse gamma belief about the variance of normal data of known mean.

    The mean of the data is ``center``; the belief has ``shape`` and ``scale``, both > 0.

    >>> from pellucid.inference import NormalVariance
    >>> NormalVariance(0.0, 1.0, 1.0).update([1.0, -1.0, 2.0, 0.0]).posterior
    InverseGamma(shape=3.0, scale=4.0)
    """

    center: float
    shape: float = 1.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        check.positive(shape=self.shape, scale=self.scale)

    @property
    def posterior(self) -> InverseGamma:
        return InverseGamma(self.shape, self.scale)

    def update(self, data: ArrayLike, sample_weight: ArrayLike | None = None) -> "NormalVariance":
        """The belief after a batch of numbers."""
        seen = Normal.statistics(data, sample_weight)
        squares = seen.scatter + seen.n * (seen.mean - self.center) ** 2
        return NormalVariance(self.center, self.shape + seen.n / 2, self.scale + squares / 2)

    def predictive(self) -> StudentT:
        """The distribution of the next value."""
        return StudentT(2 * self.shape, self.center, float(np.sqrt(self.scale / self.shape)))

    def log_evidence(self, data: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """log p(data)."""
        after = self.update(data, sample_weight)
        n = 2 * (after.shape - self.shape)
        return log_ratio(self.shape, self.scale, after.shape, after.scale) - n / 2 * LOG_2PI


@dataclass(frozen=True)
class MeanAndVariance(Multivariate):
    """The distribution of (mean, variance) of a NormalInverseGamma belief.

    >>> MeanAndVariance(0.0, 1.0, 3.0, 4.0).marginal(1)
    InverseGamma(shape=3.0, scale=4.0)
    """

    center: float
    kappa: float
    shape: float
    scale: float

    @property
    def mean(self) -> Array:
        return np.array([self.center, self.marginal(1).mean])

    @property
    def cov(self) -> Array:
        return np.diag([self.marginal(0).variance, self.marginal(1).variance])

    @property
    def mode(self) -> Array:
        return np.array([self.center, self.scale / (self.shape + 1.5)])

    def marginal(self, index: int) -> StudentT | InverseGamma:
        """0: the mean (a t distribution), 1: the variance (inverse gamma)."""
        if index % 2 == 1:
            return InverseGamma(self.shape, self.scale)
        spread = float(np.sqrt(self.scale / (self.shape * self.kappa)))
        return StudentT(2 * self.shape, self.center, spread)

    def _log_rows(self, X: Array) -> Array:
        variance = np.where(X[:, 1] > 0, X[:, 1], 1.0)
        z2 = self.kappa * (X[:, 0] - self.center) ** 2 / variance
        normal = -0.5 * (LOG_2PI + np.log(variance / self.kappa) + z2)
        return np.where(X[:, 1] > 0, normal + self.marginal(1).log_density(variance), -np.inf)

    def _draw(self, n: int, rng: Rng) -> Array:
        variance = self.marginal(1).sample(n, rng)
        return np.column_stack([rng.normal(self.center, np.sqrt(variance / self.kappa)), variance])


@readable
@dataclass(frozen=True)
class NormalInverseGamma(Belief):
    """A belief about mean and variance of normal data.

    ``mean`` is worth ``kappa`` > 0 observations; ``shape`` and ``scale``, both > 0, are of the
    variance.

    >>> from pellucid.inference import NormalInverseGamma
    >>> belief = NormalInverseGamma(0.0, 1.0, 1.0, 1.0).update([1.0, 3.0])
    >>> round(belief.mean, 6), belief.kappa, belief.shape, round(belief.scale, 6)
    (1.333333, 3.0, 2.0, 3.333333)
    """

    mean: float = 0.0
    kappa: float = 1.0
    shape: float = 1.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        check.positive(kappa=self.kappa, shape=self.shape, scale=self.scale)

    @property
    def posterior(self) -> MeanAndVariance:
        return MeanAndVariance(self.mean, self.kappa, self.shape, self.scale)

    @property
    def mode(self) -> Array:
        """The joint distribution of mean and variance."""
        return self.posterior.mode

    @property
    def variance(self) -> Array:
        """How uncertain mean and variance are."""
        return self.posterior.variance

    def update(
        self, data: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "NormalInverseGamma":
        """The belief after a batch of numbers."""
        n, xbar, scatter = Normal.statistics(data, sample_weight)
        kappa = self.kappa + n
        gap = self.kappa * n * (xbar - self.mean) ** 2 / (2 * kappa)
        mean = (self.kappa * self.mean + n * xbar) / kappa
        return NormalInverseGamma(mean, kappa, self.shape + n / 2, self.scale + scatter / 2 + gap)

    def _reading(self) -> str:
        mean, variance = (f"between {low:.4g} and {high:.4g}" for low, high in self.interval())
        return f"95 %: mean {mean}, variance {variance}."

    def predictive(self) -> StudentT:
        """The distribution of the next value."""
        square = self.scale * (self.kappa + 1) / (self.shape * self.kappa)
        return StudentT(2 * self.shape, self.mean, float(np.sqrt(square)))

    def log_evidence(self, data: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """log p(data)."""
        after = self.update(data, sample_weight)
        n = after.kappa - self.kappa
        root = 0.5 * (np.log(self.kappa) - np.log(after.kappa)) - n / 2 * LOG_2PI
        return float(root + log_ratio(self.shape, self.scale, after.shape, after.scale))
