r"""Predictions averaged over what is not known.

    p(y | data) = integral p(y | theta) p(theta | data) dtheta ~ 1/N sum_t p(y | theta_t)

The predictions are averaged, not the parameters: f(E theta) is not E f(theta). With noise,

    mean = average of f(theta_t),      std^2 = variance of f(theta_t) + noise_std^2.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Rng, Seed
from pellucid.core.readable import readable
from pellucid.core.runtime.random import generator

DRAWS = 10_000  # taken from a belief or a distribution


@readable
@dataclass(frozen=True, eq=False)
class Predictive:
    """Mean and standard deviation of a prediction, and the draws behind them.

    >>> print(Predictive(np.array(7.98), np.array(1.13), np.zeros(3)))
    7.98 +/- 1.13
    """

    mean: Any  # of the prediction
    std: Any  # of the prediction, noise included
    samples: Array  # (draws, ...)

    def quantile(self, q: Any) -> Any:
        """Quantiles of the draws, noise included."""
        return np.quantile(self.samples, q, axis=0)

    def interval(self, confidence: float = 0.95) -> Array:
        """The central interval, low and high."""
        check.fraction(confidence=confidence)
        return self.quantile(np.array([1 - confidence, 1 + confidence]) / 2)

    def __str__(self) -> str:
        pairs = zip(np.ravel(self.mean), np.ravel(self.std), strict=True)
        return ", ".join(f"{m:.3g} +/- {s:.3g}" for m, s in pairs)


def draws_of(source: object, rng: Rng) -> Array:
    """Parameters, one per row, of an array, chains, a belief or a distribution."""
    if hasattr(source, "flat") and hasattr(source, "draws"):
        return source.flat
    if hasattr(source, "distribution") and not hasattr(source, "sample"):
        source = source.distribution
    if hasattr(source, "sample") and not isinstance(source, np.ndarray):
        return np.asarray(source.sample(DRAWS, random_state=rng))
    draws = np.asarray(source, dtype=np.float64)
    if draws.ndim < 1 or len(draws) == 0 or not np.isfinite(draws).all():
        raise ValueError("draws must be finite numbers, one row per draw")
    return draws


def posterior_predictive(
    draws: ArrayLike,
    predict: Callable[[Any], Any],
    *,
    noise_std: ArrayLike | None = 0.0,
    random_state: Seed = None,
) -> Predictive:
    """Average predictions over draws of the parameters.

    ``draws`` are (N, d) or (N,), Chains, or 10,000 draws of a belief or distribution. ``predict``
    maps theta to a number or an array, ``noise_std`` is the standard deviation of the noise of an
    observation, ``random_state`` the seed of draws and noise.

    >>> from pellucid.inference import Normal, posterior_predictive
    >>> print(posterior_predictive(Normal(4.0, 0.1), lambda t: 2 * t, noise_std=1, random_state=0))
    8 +/- 1.02
    """
    rng = generator(random_state)
    noise = np.asarray(noise_std, dtype=np.float64)
    if not (np.isfinite(noise) & (noise >= 0)).all():
        raise ValueError(f"noise_std must be >= 0, got {noise_std!r}")
    found = np.array([predict(theta) for theta in draws_of(draws, rng)], dtype=np.float64)
    if not np.isfinite(found).all():
        raise ValueError("predict gave NaN or infinity for some draw")
    mean, std = found.mean(axis=0), np.sqrt(found.var(axis=0) + noise**2)
    samples = found + noise * rng.standard_normal(found.shape) if noise.any() else found
    if mean.ndim == 0:
        return Predictive(float(mean), float(std), samples)
    return Predictive(mean, std, samples)
