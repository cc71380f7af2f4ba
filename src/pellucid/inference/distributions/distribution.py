r"""One interface for every distribution, discrete or continuous.

    log_density(x)   log f(x) or log P(X = x); -inf outside the support, never NaN
    cdf, quantile    F(x) = P(X <= x),   F^-1(q) = least x with F(x) >= q
    expect(h)        E h(X) = integral h f   or   sum h P
    statistics(x)    what the likelihood needs to know of a sample; mergeable
    from_statistics  the distribution of largest likelihood given them

A class writes its formulas; everything that follows from them is here. Long arrays are worked off
in blocks that stay in the cache.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import xlogy

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Rng, Seed
from pellucid.core.readable import readable
from pellucid.core.runtime.random import generator
from pellucid.inference.distributions.samples import dot, sample_of

BLOCK = 8192  # values worked on at a time: a few of their arrays fit into the second-level cache
ROUNDING = 1e-12  # probabilities closer than this to 1/2 are 1/2
TAIL = 1e-13  # probability beyond which a sum over infinitely many values may stop
MAX_TERMS = 10_000_000  # most values an expectation is summed over


@readable
class ScaledDensity(NamedTuple):
    """A density times a number, such as the product of two densities.

    >>> from pellucid.inference import Normal
    >>> product = Normal(0.0, 1.0).product(Normal(2.0, 2.0))
    >>> round(product.distribution.mean, 6), round(product.scale, 9)
    (0.4, 0.119593416)
    """

    distribution: Any  # its density is the normalised one
    scale: float  # the factor

    def density(self, x: ArrayLike) -> Any:
        """The scaled density at x."""
        return self.scale * self.distribution.density(x)

    def __str__(self) -> str:
        return f"{self.scale:.6g} times the density of {self.distribution}"


class Distribution(ABC):
    """What distributions of numbers and of vectors share."""

    discrete: ClassVar[bool] = False
    regular: ClassVar[bool] = True  # the support does not depend on the parameters
    mean: Any
    variance: Any
    mode: Any
    entropy: Any

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    @abstractmethod
    def log_density(self, x: ArrayLike) -> Any:
        """log f(x), or the logarithm of the probability of x where values are discrete."""

    @abstractmethod
    def _draw(self, n: int, rng: Rng) -> Any: ...

    def density(self, x: ArrayLike) -> Any:
        """f(x), or the probability of x where values are discrete."""
        value = np.exp(self.log_density(x))
        return float(value) if np.ndim(value) == 0 else value

    def sample(self, n: int = 1, random_state: Seed = None) -> Any:
        """n independent draws."""
        check.whole(at_least=0, n=n)
        return self._draw(n, generator(random_state))

    def log_likelihood(self, x: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The sum of log densities of a sample; a weight is a number of repetitions."""
        values = np.atleast_1d(self.log_density(x))
        w = np.ones(len(values)) if sample_weight is None else np.asarray(sample_weight, float)
        if w.shape != values.shape or not (w >= 0).all():
            raise ValueError(f"sample_weight must be {len(values)} numbers >= 0, got {w.shape}")
        return dot(w[w > 0], values[w > 0])


class Univariate(Distribution):
    """A distribution of one number."""

    mean: Any

    @property
    @abstractmethod
    def support(self) -> tuple[float, float]:
        """The least and the largest possible value."""

    @abstractmethod
    def _log_density(self, x: Array) -> Array: ...

    @abstractmethod
    def _cdf(self, x: Array) -> Array: ...

    @abstractmethod
    def _quantile(self, q: Array) -> Array: ...

    def log_density(self, x: ArrayLike) -> Any:
        """log f(x), or the logarithm of the probability of x where values are discrete."""
        x = np.asarray(x, dtype=np.float64)
        flat = x.reshape(-1)
        out = np.empty(len(flat))
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            for start in range(0, len(flat), BLOCK):
                part = self._log_density(flat[start : start + BLOCK])
                if np.isnan(part).any():
                    raise ValueError("x must be numbers, got NaN")
                out[start : start + BLOCK] = part
        return float(out[0]) if x.ndim == 0 else out.reshape(x.shape)

    def cdf(self, x: ArrayLike) -> Any:
        """P(X <= x)."""
        x = np.asarray(x, dtype=np.float64)
        if np.isnan(x).any():
            raise ValueError("x must be numbers, got NaN")
        return self._mapped(self._cdf, x)

    def quantile(self, q: ArrayLike) -> Any:
        """The least x with P(X <= x) >= q."""
        q = np.asarray(q, dtype=np.float64)
        if not ((q >= 0) & (q <= 1)).all():
            raise ValueError(f"q must be between 0 and 1, got {q}")
        return self._mapped(self._quantile, q)

    def _mapped(self, f: Callable[[Array], Array], x: Array) -> Any:
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            values = np.asarray(f(np.atleast_1d(x)), dtype=np.float64)
        return float(values[0]) if x.ndim == 0 else values.reshape(x.shape)

    def interval(self, confidence: float = 0.95) -> Array:
        """The central interval of this probability."""
        check.fraction(confidence=confidence)
        return np.asarray(self.quantile(np.array([1 - confidence, 1 + confidence]) / 2))

    @property
    def median_interval(self) -> tuple[float, float]:
        """All m with P(X <= m) >= 1/2 and P(X >= m) >= 1/2."""
        middle = self.quantile(0.5)
        return middle, middle

    def expect(self, h: Callable[[float], Any]) -> float:
        """E h(X), by adaptive integration between quantiles.

        Next to a finite end, where a density may be infinite, the integral runs over u = F(x).
        """
        from scipy.integrate import quad

        low, high = self.support
        inner = [1e-8, 1e-3, 0.1, 0.5, 0.9, 0.999, 1 - 1e-8]
        kept = [q for q in inner if (q >= 0.1 or low == -np.inf) and (q <= 0.9 or high == np.inf)]
        ends = [*([-np.inf] if low == -np.inf else []), *([np.inf] if high == np.inf else [])]
        points = np.unique(np.append(self.quantile(np.array(kept)), ends))
        pieces: list[Any] = [(self._weighed, a, b) for a, b in pairwise(points.tolist())]
        pieces += [(self._ranked, 0.0, 0.1)] if low > -np.inf else []
        pieces += [(self._ranked, 0.9, 1.0)] if high < np.inf else []
        options = {"limit": 200, "epsabs": 1e-13, "epsrel": 1e-11}
        return float(sum(quad(lambda x, f=f: f(h, x), a, b, **options)[0] for f, a, b in pieces))

    def _ranked(self, h: Callable[[float], Any], u: float) -> float:
        return float(h(self.quantile(u)))

    def _weighed(self, h: Callable[[float], Any], x: float) -> float:
        density = self.density(x)
        return float(h(x)) * density if density > 0 else 0.0

    @classmethod
    def statistics(cls, x: ArrayLike, sample_weight: ArrayLike | None = None) -> Any:
        """What the likelihood needs to know: here the sample itself; ``a.merge(b)`` joins two."""
        return sample_of(x, sample_weight)

    @classmethod
    @abstractmethod
    def from_statistics(cls, statistics: Any) -> Self:
        """The member of largest likelihood."""

    def _given(self, statistics: Any) -> float:
        """The log-likelihood of a sample known by its statistics."""
        return dot(statistics.w, self.log_density(statistics.x))


def standard_deviation(self: Distribution) -> float:
    """The standard deviation."""
    return float(np.sqrt(self.variance))


def half_line(self: Distribution) -> tuple[float, float]:
    """The support from 0 to infinity."""
    return 0.0, np.inf


def summed_entropy(self: "Whole") -> float:
    """-sum P log P over all values of noticeable probability."""
    mass = np.asarray(self.density(self._values()))
    return float(-xlogy(mass, mass).sum())


class Whole(Univariate):
    """A distribution of whole numbers; a subclass gives their log probabilities."""

    discrete: ClassVar[bool] = True
    std = property(standard_deviation)

    @abstractmethod
    def _log_mass(self, k: Array) -> Array: ...

    def _log_density(self, x: Array) -> Array:
        low, high = self.support
        inside = (np.floor(x) == x) & (x >= low) & (x <= high) & np.isfinite(x)
        k = np.where(inside, x, low)
        first, last = k.min(), k.max()
        if last - first < len(k) / 4:  # few different values: a table
            values = self._log_mass(np.arange(first, last + 1))[(k - first).astype(np.intp)]
        else:
            values = self._log_mass(k)
        return np.where(inside, values, np.where(np.isnan(x), np.nan, -np.inf))

    def _least(self, guess: Array, q: Array) -> Array:
        """The least k with cdf(k) >= q, one step around an inverse without rounding."""
        low, high = self.support
        k = np.clip(np.ceil(guess), low, high)
        k = np.where(self._cdf(np.maximum(k - 1, low)) >= q, np.maximum(k - 1, low), k)
        k = np.where(self._cdf(k) < q, np.minimum(k + 1, high), k)
        return np.where(q == 0, low - 1, np.where(q == 1, high, k))

    @property
    def median_interval(self) -> tuple[float, float]:
        """All m with P(X <= m) >= 1/2 and P(X >= m) >= 1/2."""
        return self.quantile(0.5 - ROUNDING), self.quantile(0.5 + ROUNDING)

    def expect(self, h: Callable[[float], Any]) -> float:
        """E h(X), summed over all values of noticeable probability."""
        values = self._values()
        mass = np.asarray(self.density(values))
        return float(sum(float(h(k)) * p for k, p in zip(values.tolist(), mass, strict=True) if p))

    def _values(self) -> Array:
        low, high = self.support
        if not np.isfinite(high):
            high = self.quantile(1 - TAIL) + 10 * self.std + 20
        if high - low > MAX_TERMS:
            raise ValueError(f"the sum has {high - low:.3g} terms, at most {MAX_TERMS} are summed")
        return np.arange(low, high + 1)


class Multivariate(Distribution):
    """A distribution of a vector; a subclass gives the log density of rows."""

    cov: Any  # the covariance matrix

    @property
    def variance(self) -> Array:
        """The variance of every coordinate."""
        return np.diag(self.cov).copy()

    @property
    def std(self) -> Array:
        return np.sqrt(self.variance)

    @abstractmethod
    def _log_rows(self, X: Array) -> Array: ...

    def log_density(self, x: ArrayLike) -> Any:
        """Of one vector, or of each row."""
        x = np.asarray(x, dtype=np.float64)
        size = len(self.mean)
        if x.ndim == 0 or x.shape[-1] != size:
            raise ValueError(f"x must be vectors of {size} numbers, got shape {x.shape}")
        if np.isnan(x).any():
            raise ValueError("x must be numbers, got NaN")
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            values = self._log_rows(x.reshape(-1, size))
        return float(values[0]) if x.ndim == 1 else values.reshape(x.shape[:-1])

    def cdf(self, x: ArrayLike) -> Any:
        """Not available for vectors: raises ValueError."""
        raise ValueError(f"a vector has no cdf here; ask marginal(i) of {type(self).__name__}")

    quantile = cdf

    @abstractmethod
    def marginal(self, index: Any) -> Any:
        """The distribution of one coordinate."""


def jensen_gap(h: Callable[[float], Any], distribution: Univariate) -> float:
    """E h(X) - h(E X): at least 0 where h is convex, at most 0 where it is concave.

    ``h`` is a function of one number, ``distribution`` a distribution of one.

    >>> from pellucid.inference import Normal, jensen_gap
    >>> round(jensen_gap(lambda x: x**2, Normal(1.0, 2.0)), 9)  # the variance
    4.0
    """
    return distribution.expect(h) - float(h(distribution.mean))
