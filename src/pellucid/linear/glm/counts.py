r"""The negative binomial family: Poisson counts whose rates vary, V = mu + a mu^2.

With t = 1/a and L(y, t) = log G(y + t) - log G(t) - y log t (G the gamma function),

    log P(y)        L(y, t) + y log mu - (y + t) log(1 + a mu) - log y!
    half deviance   y log(y/mu) - (y + t) log((1 + a y)/(1 + a mu))
    R = mu/(1 + a mu),     k = (1 + 2 a mu)/(1 + a mu)

a = 0 is Poisson's. For t >= LARGE the differences of log G and its derivatives are those of
Stirling's series, because the functions themselves would leave no digits.

Reference: Hilbe, Negative Binomial Regression, ch. 8; Lawless (1987).
"""

from collections.abc import Callable
from functools import partial, wraps
from typing import NamedTuple

import numpy as np
import scipy

from pellucid.core.arrays.typing import Array
from pellucid.linear.glm.families import Family, Likelihood, poisson_total

LARGE = 1e3  # t from which Stirling's series has all digits after three terms


class ShapeSums(NamedTuple):
    """log L of each row but for terms without a, and its first two derivatives in log a."""

    value: Array
    slope: Array
    curvature: Array


def per_count(function: Callable[[Array, float], Array]) -> Callable[[Array, float], Array]:
    """The function of (y, t), worked out once for every count that y can have where these are few.

    >>> per_count(np.power)(np.array([2.0, 0.0, 2.0, 1.0]), 3.0)
    array([8., 0., 8., 1.])
    """

    @wraps(function)
    def looked_up(y: Array, t: float) -> Array:
        counts = y.astype(np.intp)
        most = counts.max(initial=0)
        if most >= len(y) or (counts != y).any():
            return function(y, t)
        return function(np.arange(most + 1.0), t)[counts]

    return looked_up


@per_count
def rising(y: Array, t: float) -> Array:
    """L(y, t) = log G(y + t) - log G(t) - y log t.

    >>> rising(np.array([0.0, 1.0, 2.0]), 4.0).round(6)
    array([0.      , 0.      , 0.223144])
    >>> (rising(np.array([2.0]), 1e6) * 1e6).round(4)
    array([1.])
    """
    if t < LARGE:
        return scipy.special.gammaln(y + t) - scipy.special.gammaln(t) - y * np.log(t)
    x = y + t
    small = -y / (12 * t * x) + y * (x**2 + x * t + t**2) / (360 * (t * x) ** 3)
    return (x * np.log1p(y / t) - y) - 0.5 * np.log1p(y / t) + small


@per_count
def digamma_rise(y: Array, t: float) -> Array:
    """psi(y + t) - psi(t)."""
    if t < LARGE:
        return scipy.special.digamma(y + t) - scipy.special.digamma(t)
    x = y + t
    return np.log1p(y / t) + y / (2 * t * x) + y * (x + t) / (12 * (t * x) ** 2)


@per_count
def trigamma_rise(y: Array, t: float) -> Array:
    """psi'(y + t) - psi'(t)."""
    if t < LARGE:
        return scipy.special.polygamma(1, y + t) - scipy.special.polygamma(1, t)
    x = y + t
    third = y * (x**2 + x * t + t**2) / (6 * (t * x) ** 3)
    return -y / (t * x) - y * (x + t) / (2 * (t * x) ** 2) - third


def deviance(a: float, y: Array, mu: Array) -> Array:
    """Half the unit deviance."""
    if a == 0:
        return mu * (scipy.special.xlogy(y / mu, y / mu) - y / mu + 1)
    return scipy.special.xlogy(y, y / mu) - (y + 1 / a) * np.log1p(a * (y - mu) / (1 + a * mu))


def variance(a: float, mu: Array) -> Array:
    return mu * (1 + a * mu)


def relative(a: float, mu: Array) -> Array:
    return mu / (1 + a * mu)


def elasticity(a: float, mu: Array) -> Array:
    return 1 + a * mu / (1 + a * mu)


def base(a: float, y: Array) -> Array:
    """log P(y) where the mean is y."""
    if a == 0:
        return scipy.special.xlogy(y, y) - y - scipy.special.gammaln(y + 1)
    return (
        rising(y, 1 / a)
        - (y + 1 / a) * np.log1p(a * y)
        + scipy.special.xlogy(y, y)
        - scipy.special.gammaln(y + 1)
    )


def negative_binomial(a: float) -> Family:
    """The family of V = mu + a mu^2 with a log link.

    >>> negative_binomial(0.5).variance(np.array([2.0]))
    array([4.])
    """
    return Family(
        name="negative binomial",
        link="log",
        formula=f"mu + {a:.6g} mu^2",
        lowest=0.0,
        strict=False,
        dispersion_known=True,
        convex=True,
        half_deviance=partial(deviance, a),
        variance=partial(variance, a),
        relative=partial(relative, a),
        elasticity=partial(elasticity, a),
        likelihood=Likelihood(partial(base, a), poisson_total),
    )


def shape_sums(a: float, y: Array, mu: Array) -> ShapeSums:
    """log P(y) as a function of log a at given means.

    dl/dt = psi(y + t) - psi(t) - y/t - log(1 + a mu) + q,   q = (y + t) mu/(t (t + mu));
    in s = log a:  dl/ds = -t l',   d2l/ds2 = t^2 l'' + t l'.
    """
    t = 1 / a
    q = (y + t) * mu / (t * (t + mu))
    first = digamma_rise(y, t) - y / t - np.log1p(a * mu) + q
    dq = mu / (t * (t + mu)) - q * (2 * t + mu) / (t * (t + mu))
    second = trigamma_rise(y, t) + y / t**2 + mu / (t * (t + mu)) + dq
    return ShapeSums(
        rising(y, t) - (y + t) * np.log1p(a * mu), -t * first, t**2 * second + t * first
    )
