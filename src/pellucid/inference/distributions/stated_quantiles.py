r"""Distributions with two given quantiles, for priors stated as "90 % below 5".

"With probability 0.05 below 0.1, with 0.95 below 0.6" fixes a family of two parameters:

    Normal   s = (x2 - x1) / (z2 - z1),  m = x1 - s z1,    z = ndtri(q)
    Gamma    x2 / x1 = F_k^-1(q2) / F_k^-1(q1) falls with the shape k: one root, then the scale
    Beta     of all Beta(c m, c (1 - m)) with F(x1) = q1 the probability of (x1, x2] grows with
             the concentration c: one root in c around one in m

References: van Dorp & Mazzuchi (2000); Cook (2010), Determining distribution parameters from
quantiles.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, expit, gammaincinv, ndtri

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike

REACH = 40.0  # of log parameters
PRECISE = {"xtol": 1e-14, "rtol": 1e-14}


class TwoQuantiles(NamedTuple):
    """P(X <= x1) = q1 and P(X <= x2) = q2 with q1 < q2."""

    q1: float
    q2: float
    x1: float
    x2: float


def two_quantiles(low: float, high: float, probability: Any) -> TwoQuantiles:
    """The two probabilities and their values. Raises ValueError if they do not rise.

    >>> two_quantiles(1.0, 3.0, (0.25, 0.5))
    TwoQuantiles(q1=0.25, q2=0.5, x1=1.0, x2=3.0)
    """
    if np.ndim(probability):
        q1, q2 = (float(q) for q in probability)
    else:
        check.fraction(probability=probability)
        q1, q2 = (1 - probability) / 2, (1 + probability) / 2
    if not 0 < q1 < q2 < 1:
        raise ValueError(f"probabilities must rise between 0 and 1, got {q1} and {q2}")
    if not (low < high and np.isfinite(low) and np.isfinite(high)):
        raise ValueError(f"low must be < high, both finite, got {low!r} and {high!r}")
    return TwoQuantiles(q1, q2, float(low), float(high))


class Stated:
    """A family of two parameters that two stated quantiles fix."""

    _parameters: Callable[[TwoQuantiles], tuple[float, float]]

    @classmethod
    def from_quantiles(cls, low: float, high: float, probability: ArrayLike = 0.9) -> Self:
        """The member with two stated quantiles: a prior from two numbers.

        Between ``low`` and ``high`` lies this probability, as much below as above; a pair gives
        P(X <= low) and P(X <= high) themselves.

        >>> from pellucid.inference import Beta, Gamma, Normal
        >>> Normal.from_quantiles(-1.0, 3.0, 0.95).interval().round(6)
        array([-1.,  3.])
        >>> Gamma.from_quantiles(1.0, 4.0).interval(0.9).round(6)
        array([1., 4.])
        >>> Beta.from_quantiles(0.2, 0.6).interval(0.9).round(6)
        array([0.2, 0.6])
        """
        stated = two_quantiles(low, high, probability)
        return cls(*cls._parameters(stated))  # type: ignore[call-arg]


def refuse_beyond(stated: TwoQuantiles, least: float, most: float) -> None:
    """Both values must lie inside the support."""
    x1, x2 = stated.x1, stated.x2
    if not least < x1 < x2 < most:
        inside = f"between {least:g} and {most:g}"
        raise ValueError(f"low and high must lie {inside}, got {x1:g} and {x2:g}")


def normal_quantiles(stated: TwoQuantiles) -> tuple[float, float]:
    """Mean and standard deviation."""
    q1, q2, x1, x2 = stated
    z1, z2 = float(ndtri(q1)), float(ndtri(q2))
    std = (x2 - x1) / (z2 - z1)
    return x1 - std * z1, std


def gamma_quantiles(stated: TwoQuantiles) -> tuple[float, float]:
    """Shape and scale."""
    q1, q2, x1, x2 = stated
    refuse_beyond(stated, 0.0, np.inf)

    def gap(t: float) -> float:
        low = gammaincinv(np.exp(t), q1)
        if low <= 0:
            return np.inf  # underflow of a tiny shape: the ratio is larger than any
        return float(np.log(gammaincinv(np.exp(t), q2) / low) - np.log(x2 / x1))

    low, high = -5.0, REACH
    while gap(low) == np.inf:
        low += 0.05
    if not gap(low) > 0 > gap(high):
        raise ValueError(f"no gamma distribution has quantiles as far apart as {x1:g} and {x2:g}")
    shape = float(np.exp(brentq(gap, low, high, **PRECISE)))
    return shape, x2 / float(gammaincinv(shape, q2))


def beta_quantiles(stated: TwoQuantiles) -> tuple[float, float]:
    """alpha and beta."""
    q1, q2, x1, x2 = stated
    refuse_beyond(stated, 0.0, 1.0)

    def parts(log_c: float) -> tuple[float, float]:
        c = np.exp(log_c)

        def gap(t: float) -> float:
            return float(betainc(c * expit(t), c * expit(-t), x1) - q1)

        t = brentq(gap, -REACH, REACH, **PRECISE)
        return float(c * expit(t)), float(c * expit(-t))

    def spread(log_c: float) -> float:
        return float(betainc(*parts(log_c), x2) - q2)

    low, high = -10.0, 25.0
    if not spread(low) < 0 < spread(high):
        raise ValueError(f"no beta distribution within reach has the quantiles {x1:g} and {x2:g}")
    return parts(float(brentq(spread, low, high, **PRECISE)))
