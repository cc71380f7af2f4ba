r"""A mixture of given distributions.

    f(x) = sum_k w_k f_k(x) = exp logsumexp_k (log w_k + log f_k(x))
    r_k(x) = w_k f_k(x) / f(x)            responsibilities
    E X = sum w_k m_k,    Cov X = sum w_k (S_k + m_k m_k') - E X E X'

Any components serve, of numbers or of vectors, as long as all are densities or all are mass
functions. Parameters are fitted by ``pellucid.mixture``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Rng
from pellucid.core.readable import readable
from pellucid.inference.distributions.category_counts import on_simplex
from pellucid.inference.distributions.distribution import Distribution

HALVINGS = 200  # of an interval of quantiles, to the last bit


@readable
@dataclass(frozen=True, eq=False)
class MixtureDistribution(Distribution):
    """A mixture of distributions with given parameters.

    ``weights`` are the probabilities of the K ``components``, which are distributions of numbers or
    of vectors, all discrete or all continuous.

    >>> from pellucid.inference import MixtureDistribution, Normal
    >>> two = MixtureDistribution([0.3, 0.7], [Normal(0.0, 1.0), Normal(4.0, 1.0)])
    >>> two.mean, two.responsibilities(2.0).round(3), two.assign([0.0, 4.0])
    (2.8, array([0.3, 0.7]), array([0, 1]))
    """

    weights: Any
    components: Any

    def __post_init__(self) -> None:
        parts = tuple(self.components)
        weights = on_simplex(self.weights, "weights")
        if len(weights) != len(parts):
            raise ValueError(f"{len(parts)} components need as many weights, got {len(weights)}")
        if len({bool(part.discrete) for part in parts}) > 1:
            raise ValueError("components must be all discrete or all continuous")
        if len({np.shape(part.mean) for part in parts}) > 1:
            raise ValueError("components must be distributions of vectors of one length")
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "components", parts)

    @property
    def discrete(self) -> bool:  # type: ignore[override]
        return bool(self.components[0].discrete)

    def _joint(self, x: ArrayLike) -> Array:
        """log w_k f_k(x) on a last axis."""
        with np.errstate(divide="ignore"):
            log_w = np.log(self.weights)
        return np.stack([np.asarray(part.log_density(x)) for part in self.components], -1) + log_w

    def log_density(self, x: ArrayLike) -> Any:
        """By log-sum-exp: no underflow far from all components."""
        value = logsumexp(self._joint(x), axis=-1)
        return float(value) if np.ndim(value) == 0 else value

    def cdf(self, x: ArrayLike) -> Any:
        """P(X <= x), of numbers."""
        return sum(w * part.cdf(x) for w, part in zip(self.weights, self.components, strict=True))

    def quantile(self, q: ArrayLike) -> Any:
        """The least x with P(X <= x) >= q, by halving between the components' quantiles."""
        wanted = np.atleast_1d(np.asarray(q, dtype=np.float64))
        parts = np.stack([np.asarray(part.quantile(wanted)) for part in self.components])
        high = parts.max(axis=0)
        low = np.nextafter(parts.min(axis=0), -np.inf)
        for _ in range(HALVINGS):
            with np.errstate(invalid="ignore"):
                middle = low + (high - low) / 2
            enough = self.cdf(np.where(np.isfinite(middle), middle, high)) >= wanted
            moves = (middle > low) & (middle < high)
            if not moves.any():
                break
            low = np.where(moves & ~enough, middle, low)
            high = np.where(moves & enough, middle, high)
        return float(high[0]) if np.ndim(q) == 0 else high.reshape(np.shape(q))

    def _draw(self, n: int, rng: Rng) -> Any:
        which = rng.choice(len(self.weights), size=n, p=self.weights)
        draws = np.empty((n, *np.shape(self.mean)))
        for k, part in enumerate(self.components):
            draws[which == k] = part.sample(int((which == k).sum()), rng)
        return draws

    @property
    def mean(self) -> Any:
        total = sum(w * part.mean for w, part in zip(self.weights, self.components, strict=True))
        return float(total) if np.ndim(total) == 0 else total

    @property
    def variance(self) -> Any:
        """Of a number, or of every coordinate."""
        gaps = [part.variance + (part.mean - self.mean) ** 2 for part in self.components]
        total = sum(w * gap for w, gap in zip(self.weights, gaps, strict=True))
        return float(total) if np.ndim(total) == 0 else total

    @property
    def std(self) -> Any:
        return np.sqrt(self.variance)

    @property
    def cov(self) -> Array:
        """The covariance matrix of a mixture of vectors."""
        total = np.zeros(2 * np.shape(self.mean))
        for w, part in zip(self.weights, self.components, strict=True):
            gap = part.mean - self.mean
            total += w * (part.cov + np.outer(gap, gap))
        return total

    def responsibilities(self, x: ArrayLike) -> Array:
        """P(component k | x); the last axis sums to 1."""
        joint = self._joint(x)
        total = logsumexp(joint, axis=-1, keepdims=True)
        if not np.isfinite(total).all():
            raise ValueError("x has density zero (or infinity) under all components")
        return np.exp(joint - total)

    def assign(self, x: ArrayLike) -> IntArray | int:
        """The component of largest responsibility."""
        best = np.argmax(self._joint(x), axis=-1)
        return int(best) if np.ndim(best) == 0 else best

    def expect(self, h: Callable[[Any], Any]) -> float:
        """E h(X): the weighted sum over the components."""
        values = [part.expect(h) for part in self.components]
        return float(self.weights @ np.array(values))
