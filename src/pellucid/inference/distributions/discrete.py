r"""Discrete distributions of one number.

    Bernoulli     P(1) = p
    Binomial      P(k) = C(n, k) p^k (1-p)^(n-k)
    BetaBinomial  P(k) = C(n, k) B(k + a, n - k + b) / B(a, b)      p ~ Beta(a, b)
    Poisson       P(k) = r^k e^-r / k!

Largest likelihood: the share of successes, the mean. log C(n, k) and log k! are summed as the
base of the statistics, so that likelihoods follow from them alone.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import bdtrik, betainc, betaln, gammaincc, gammaln, pdtrik, xlog1py, xlogy

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Rng
from pellucid.core.readable import readable
from pellucid.inference.distributions.distribution import Whole, half_line, summed_entropy
from pellucid.inference.distributions.samples import Sample, Sums, dot, refuse_outside, sample_of


def check_probability(**values: ArrayLike) -> None:
    """Refuse what is no probability; 0 and 1 are."""
    for name, value in values.items():
        if not np.isscalar(value) or not 0 <= float(value) <= 1:  # type: ignore[arg-type]
            raise ValueError(f"{name} must be between 0 and 1, got {value!r}")


def log_choose(n: Any, k: Any) -> Any:
    """log C(n, k)."""
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


class Successes(Whole):
    """A number of successes in ``trials`` trials of probability p."""

    p: float
    trials: ClassVar[Any] = 1
    free: ClassVar[tuple[str, ...]] = ("p",)
    entropy = property(summed_entropy)

    @property
    def support(self) -> tuple[float, float]:
        return 0.0, float(self.trials)

    @property
    def mean(self) -> float:
        return self.trials * self.p

    @property
    def variance(self) -> float:
        return self.trials * self.p * (1 - self.p)

    @property
    def mode(self) -> float:
        """The lower one where two are equal."""
        return float(min(max(np.ceil((self.trials + 1) * self.p) - 1, 0.0), self.trials))

    def _log_mass(self, k: Array) -> Array:
        n = self.trials
        return log_choose(n, k) + xlogy(k, self.p) + xlog1py(n - k, -self.p)

    def _cdf(self, x: Array) -> Array:
        k, n = np.floor(x), float(self.trials)
        inner = np.clip(k, 0.0, max(n - 1, 0.0))
        values = betainc(n - inner, inner + 1, 1 - self.p)
        return np.where(k < 0, 0.0, np.where(k >= n, 1.0, values))

    def _quantile(self, q: Array) -> Array:
        return self._least(np.nan_to_num(bdtrik(q, float(self.trials), self.p)), q)

    def _given(self, statistics: Sums) -> float:
        s = float(statistics.values[0])
        f = statistics.n * self.trials - s
        return float(statistics.base + xlogy(s, self.p) + xlog1py(f, -self.p))

    def _information(self, statistics: Sums) -> Array:
        s, p = statistics.values[0], self.p
        return np.array([[s / p**2 + (statistics.n * self.trials - s) / (1 - p) ** 2]])

    def _boundary(self) -> str:
        if 0 < self.p < 1:
            return ""
        what = "successes" if self.p == 1 else "failures"
        return f"all trials are {what}: p = {self.p:g} lies on the boundary"


@readable
@dataclass(frozen=True)
class Bernoulli(Successes):
    """One trial: 1 with probability ``p``, else 0.

    >>> from pellucid.inference import Bernoulli
    >>> Bernoulli(0.25).density([0, 1, 2]), Bernoulli(0.25).variance
    (array([0.75, 0.25, 0.  ]), 0.1875)
    """

    p: float

    def __post_init__(self) -> None:
        check_probability(p=self.p)

    def _draw(self, n: int, rng: Rng) -> Array:
        return (rng.random(n) < self.p).astype(np.float64)

    def _log_density(self, x: Array) -> Array:
        zero = np.where(x == 0, np.log1p(-self.p), np.where(np.isnan(x), np.nan, -np.inf))
        return np.where(x == 1, np.log(self.p), zero)

    @classmethod
    def statistics(cls, x: ArrayLike, sample_weight: ArrayLike | None = None) -> Sums:
        """n and the number of ones."""
        x, w = sample_of(x, sample_weight)
        refuse_outside(x, (x != 0) & (x != 1), "a Bernoulli distribution needs 0 and 1")
        return Sums(float(w.sum()), np.array([dot(w, x)]), trials=1)

    @classmethod
    def from_statistics(cls, statistics: Sums) -> Self:
        """The share of ones."""
        return cls(float(statistics.values[0] / statistics.n))

    _unbiased = from_statistics

    @classmethod
    def _from_moments(cls, mean: float, variance: float, sample: Sample) -> Self:
        return cls(mean)


@readable
@dataclass(frozen=True)
class Binomial(Successes):
    """The number of successes in ``n >= 0`` independent trials of probability ``p``.

    n is known: it is never estimated.

    >>> from pellucid.inference import Binomial
    >>> Binomial(10, 0.3).mean, round(Binomial(10, 0.3).density(3), 9)
    (3.0, 0.266827932)
    """

    n: int
    p: float

    def __post_init__(self) -> None:
        check.whole(at_least=0, n=self.n)
        check_probability(p=self.p)

    @property
    def trials(self) -> int:
        return self.n

    def _draw(self, n: int, rng: Rng) -> Array:
        return rng.binomial(self.n, self.p, n).astype(np.float64)

    def statistics(self, x: ArrayLike, sample_weight: ArrayLike | None = None) -> Sums:  # type: ignore[override]
        """The number of counts and their sum."""
        x, w = sample_of(x, sample_weight)
        bad = (x < 0) | (x > self.n) | (np.floor(x) != x)
        refuse_outside(x, bad, f"a binomial distribution of {self.n} trials needs 0 to {self.n}")
        base = dot(w, log_choose(self.n, x))
        return Sums(float(w.sum()), np.array([dot(w, x)]), base, self.n)

    @classmethod
    def from_statistics(cls, statistics: Sums) -> Self:
        """The share of successes."""
        total = statistics.n * statistics.trials
        return cls(statistics.trials, float(statistics.values[0] / total))

    _unbiased = from_statistics

    def _from_moments(self, mean: float, variance: float, sample: Sample) -> "Binomial":
        return Binomial(self.n, mean / self.n)


@readable
@dataclass(frozen=True)
class BetaBinomial(Whole):
    """The number of successes in ``n`` trials of a probability that is ``Beta(alpha, beta)``.

    >>> from pellucid.inference import BetaBinomial
    >>> BetaBinomial(2, 1.0, 1.0).density([0, 1, 2]).round(6)
    array([0.333333, 0.333333, 0.333333])
    """

    n: int
    alpha: float
    beta: float
    free: ClassVar[tuple[str, ...]] = ("alpha", "beta")
    entropy = property(summed_entropy)

    def __post_init__(self) -> None:
        check.whole(at_least=0, n=self.n)
        check.positive(alpha=self.alpha, beta=self.beta)

    @property
    def support(self) -> tuple[float, float]:
        return 0.0, float(self.n)

    @property
    def mean(self) -> float:
        return self.n * self.alpha / (self.alpha + self.beta)

    @property
    def variance(self) -> float:
        size = self.alpha + self.beta
        share = self.alpha / size
        return self.n * share * (1 - share) * (size + self.n) / (size + 1)

    @property
    def mode(self) -> float:
        return float(np.argmax(self.log_density(self._values())))

    def _log_mass(self, k: Array) -> Array:
        n, a, b = self.n, self.alpha, self.beta
        return log_choose(n, k) + betaln(k + a, n - k + b) - betaln(a, b)

    def _cumulated(self) -> Array:
        return np.minimum(np.cumsum(self.density(self._values())), 1.0)

    def _cdf(self, x: Array) -> Array:
        k = np.clip(np.floor(x), -1, self.n).astype(np.intp)
        return np.append(self._cumulated(), 0.0)[k]

    def _quantile(self, q: Array) -> Array:
        guess = np.searchsorted(self._cumulated(), q).astype(np.float64)
        return self._least(np.minimum(guess, self.n), q)

    def _draw(self, n: int, rng: Rng) -> Array:
        return rng.binomial(self.n, rng.beta(self.alpha, self.beta, n)).astype(np.float64)

    @classmethod
    def from_statistics(cls, statistics: Any) -> Self:
        """Not available: raises ValueError."""
        raise ValueError("BetaBinomial is a predictive distribution: fit a Binomial instead")


@readable
@dataclass(frozen=True)
class Poisson(Whole):
    """The Poisson distribution of counts of mean ``rate >= 0``.

    >>> from pellucid.inference import Poisson
    >>> round(Poisson(2.0).density(0), 6), Poisson(2.0).variance, Poisson(2.5).mode
    (0.135335, 2.0, 2.0)
    """

    rate: float
    free: ClassVar[tuple[str, ...]] = ("rate",)
    support = property(half_line)
    entropy = property(summed_entropy)

    def __post_init__(self) -> None:
        check.non_negative(rate=self.rate)

    @property
    def mean(self) -> float:
        return self.rate

    @property
    def variance(self) -> float:
        return self.rate

    @property
    def mode(self) -> float:
        """The lower one where two are equal."""
        return float(max(np.ceil(self.rate) - 1, 0.0))

    def _log_mass(self, k: Array) -> Array:
        return xlogy(k, self.rate) - self.rate - gammaln(k + 1)

    def _cdf(self, x: Array) -> Array:
        k = np.floor(x)
        values = gammaincc(np.maximum(k, 0.0) + 1, self.rate)
        return np.where(k < 0, 0.0, np.where(x == np.inf, 1.0, values))

    def _quantile(self, q: Array) -> Array:
        return self._least(np.nan_to_num(pdtrik(q, self.rate), posinf=np.inf), q)

    def _draw(self, n: int, rng: Rng) -> Array:
        return rng.poisson(self.rate, n).astype(np.float64)

    @classmethod
    def statistics(cls, x: ArrayLike, sample_weight: ArrayLike | None = None) -> Sums:
        """n and sum x."""
        x, w = sample_of(x, sample_weight)
        refuse_outside(x, (x < 0) | (np.floor(x) != x), "a Poisson distribution needs counts")
        return Sums(float(w.sum()), np.array([dot(w, x)]), -dot(w, gammaln(x + 1)))

    @classmethod
    def from_statistics(cls, statistics: Sums) -> Self:
        """The mean."""
        return cls(float(statistics.values[0] / statistics.n))

    _unbiased = from_statistics

    @classmethod
    def _from_moments(cls, mean: float, variance: float, sample: Sample) -> Self:
        return cls(mean)

    def _given(self, statistics: Sums) -> float:
        total = statistics.values[0]
        return float(statistics.base + xlogy(total, self.rate) - statistics.n * self.rate)

    def _information(self, statistics: Sums) -> Array:
        return np.array([[statistics.values[0] / self.rate**2]])

    def _boundary(self) -> str:
        return "" if self.rate > 0 else "all counts are 0: rate = 0 lies on the boundary"


@readable
@dataclass(frozen=True)
class NegativeBinomial(Whole):
    """Counts whose Poisson rate is ``Gamma(shape, scale)``; the mean is shape * scale.

    >>> from pellucid.inference import NegativeBinomial
    >>> NegativeBinomial(2.0, 1.0).mean, NegativeBinomial(2.0, 1.0).density([0, 1])
    (2.0, array([0.25, 0.25]))
    """

    shape: float
    scale: float
    free: ClassVar[tuple[str, ...]] = ("shape", "scale")
    support = property(half_line)
    entropy = property(summed_entropy)

    def __post_init__(self) -> None:
        check.positive(shape=self.shape, scale=self.scale)

    @property
    def mean(self) -> float:
        return self.shape * self.scale

    @property
    def variance(self) -> float:
        return self.mean * (1 + self.scale)

    @property
    def mode(self) -> float:
        return float(np.floor(max(self.shape - 1, 0.0) * self.scale))

    def _log_mass(self, k: Array) -> Array:
        choose = -betaln(k + 1, self.shape) - np.log(k + self.shape)
        return choose + xlogy(k, self.scale) - (k + self.shape) * np.log1p(self.scale)

    def _cdf(self, x: Array) -> Array:
        k = np.clip(np.floor(x), -1.0, 1e300)
        values = betainc(self.shape, np.maximum(k, 0.0) + 1, 1 / (1 + self.scale))
        return np.where(k < 0, 0.0, np.where(x == np.inf, 1.0, values))

    def _quantile(self, q: Array) -> Array:
        """Doubling, then halving: the cdf has no inverse function at hand."""
        low, high = np.full(len(q), -1.0), np.ones(len(q))
        inner = (q > 0) & (q < 1)
        while (short := inner & (self._cdf(high) < q)).any():
            high = np.where(short, 2 * high, high)
        while (high - low > 1).any():
            middle = np.floor((low + high) / 2)
            enough = self._cdf(middle) >= q
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return np.where(q == 0, -1.0, np.where(q == 1, np.inf, high))

    def _draw(self, n: int, rng: Rng) -> Array:
        return rng.poisson(rng.gamma(self.shape, self.scale, n)).astype(np.float64)

    @classmethod
    def from_statistics(cls, statistics: Any) -> Self:
        """Not available: raises ValueError."""
        raise ValueError("NegativeBinomial is a predictive distribution: fit a Poisson instead")
