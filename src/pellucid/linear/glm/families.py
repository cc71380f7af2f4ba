r"""Families of generalised linear models: a variance, a deviance and a link each.

With the mean mu = g^-1(eta), eta = b + x'w + offset, and the variance phi V(mu), every family has

    half deviance   d(y, mu) = integral from mu to y of (y - t)/V(t) dt            0 at mu = y
    d'/d eta        (mu - y)/V * mu'
    information     mu'^2/V                                            the mean of d''/d eta^2
    d''/d eta^2     mu'^2/V + (mu - y) (mu''/V - mu'^2 V'/V^2)

Written with R = mu^2/V and the elasticity k = mu V'/V, which have no overflow of their own,

    log link        (1 - y/mu) R       R        R (1 + (1 - y/mu) (1 - k))
    identity        (mu - y)/V         1/V      (1 - (mu - y) k/mu)/V

Tweedie's families have V = mu^p, R = mu^(2-p), k = p and, with r = y/mu, d = R u(r):

    p = 0 normal    (r - 1)^2/2            p = 1 Poisson   r log r - r + 1
    p = 2 gamma     r - 1 - log r          1 < p < 2       sums of gammas: y may be 0
    any other p     r^(2-p)/((1-p)(2-p)) - r/(1-p) + 1/(2-p)

References: McCullagh & Nelder, Generalized Linear Models, ch. 2; Jorgensen, The Theory of
Dispersion Models, ch. 4.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy

from pellucid.core.arrays.typing import Array

LOWEST = -700.0  # exp of less is no normal number


class Likelihood(NamedTuple):
    """log L = total(n, deviance, sum of base(y)); NaN where the density has no closed form."""

    base: Callable[[Array], Array]
    total: Callable[[float, float, float], float]


class Family(NamedTuple):
    """One distribution and its link; functions work element by element."""

    name: str
    link: str  # "log" or "identity"
    formula: str  # of the variance
    lowest: float  # y must be at least this ...
    strict: bool  # ... or above it
    dispersion_known: bool  # phi = 1
    convex: bool  # the deviance in eta
    half_deviance: Callable[[Array, Array], Array]
    variance: Callable[[Array], Array]
    relative: Callable[[Array], Array]  # R = mu^2/V
    elasticity: Callable[[Array], Any]  # k = mu V'/V
    likelihood: Likelihood
    power: float = np.nan  # p of Tweedie's variance

    def mean(self, eta: Array) -> Array:
        """The inverse link; an exponent below LOWEST counts as LOWEST, so that mu > 0."""
        return eta if self.link == "identity" else np.exp(np.maximum(eta, LOWEST))

    def loss(self, y: Array, mu: Array) -> Array:
        """Half the deviance of each row; infinite where the family has no such mean."""
        with np.errstate(all="ignore"):
            value = self.half_deviance(y, mu)
        return value if self.power == 0 else np.where(mu > 0, value, np.inf)

    def slope(self, y: Array, mu: Array) -> Array:
        """Derivative of half the deviance in eta."""
        if self.link == "log":
            return (1 - y / mu) * self.relative(mu)
        return (mu - y) / self.variance(mu)

    def information(self, mu: Array) -> Array:
        """Mean of the second derivative, which is positive everywhere."""
        return self.relative(mu) if self.link == "log" else 1 / self.variance(mu)

    def size(self, y: Array, mu: Array) -> Array:
        """What a change of the mean by its own size costs; of y too where means may be 0."""
        return self.relative(mu) if self.link == "log" else (mu**2 + y**2) / self.variance(mu)

    def pearson(self, y: Array, mu: Array) -> Array:
        """(y - mu)^2/V."""
        if self.power == 0:
            return (y - mu) ** 2
        return (y / mu - 1) ** 2 * self.relative(mu)

    def curvature(self, y: Array, mu: Array) -> Array:
        """Second derivative of half the deviance in eta."""
        k = self.elasticity(mu)
        if self.link == "log":
            return self.relative(mu) * (1 + (1 - y / mu) * (1 - k))
        turn = 0.0 if self.power == 0 else (mu - y) * k / mu
        return (1 - turn) / self.variance(mu)


def tweedie_deviance(power: float, y: Array, mu: Array) -> Array:
    """Half the unit deviance of V = mu^p.

    >>> y, mu = np.array([0.0, 2.0]), np.array([1.0, 1.0])
    >>> tweedie_deviance(1.0, y, mu).round(6), tweedie_deviance(1.0 + 1e-9, y, mu).round(6)
    (array([1.      , 0.386294]), array([1.      , 0.386294]))
    """
    p = power
    if p == 0:
        return 0.5 * (y - mu) ** 2
    r = y / mu
    if p == 1:
        return mu * (scipy.special.xlogy(r, r) - r + 1)
    if p == 2:
        return (r - 1) - np.log(r)
    start = np.maximum(r, 0.0) ** (2 - p) / ((1 - p) * (2 - p))
    return mu ** (2 - p) * (start - r / (1 - p) + 1 / (2 - p))


def power_of(power: float, mu: Array) -> Array:
    return mu**power


def constant(value: float, mu: Array) -> float:
    return value


def no_base(y: Array) -> Array:
    return np.zeros_like(y)


def poisson_base(y: Array) -> Array:
    """log P(y) where the mean is y."""
    return scipy.special.xlogy(y, y) - y - scipy.special.gammaln(y + 1)


def poisson_total(n: float, deviance: float, base: float) -> float:
    return base - deviance / 2


def normal_total(n: float, deviance: float, base: float) -> float:
    with np.errstate(divide="ignore"):
        return float(-n / 2 * (np.log(2 * np.pi * deviance / n) + 1))


def gamma_total(n: float, deviance: float, base: float) -> float:
    """At phi = deviance/n, as R has it; base is the sum of log y."""
    if not deviance > 0:
        return np.inf
    k = n / deviance
    return float(n * (k * np.log(k) - k - scipy.special.gammaln(k)) - k * deviance / 2 - base)


def inverse_gaussian_total(n: float, deviance: float, base: float) -> float:
    return normal_total(n, deviance, 0.0) - 1.5 * base


def no_total(n: float, deviance: float, base: float) -> float:
    return np.nan


LIKELIHOODS = {
    0: Likelihood(no_base, normal_total),
    1: Likelihood(poisson_base, poisson_total),
    2: Likelihood(np.log, gamma_total),
    3: Likelihood(np.log, inverse_gaussian_total),
}
NAMES = {0: "normal", 1: "Poisson", 2: "gamma", 3: "inverse Gaussian"}


def tweedie(power: float, link: str, *, dispersion_known: bool = False) -> Family:
    """The family of V = mu^p with a log or identity link.

    >>> tweedie(2.0, "log").name, tweedie(1.5, "log").convex, tweedie(3.0, "log").convex
    ('gamma', True, False)
    """
    p = float(power)
    convex = 1 <= p <= 2 if link == "log" else p in (0.0, 1.0)
    return Family(
        name=NAMES.get(int(p) if p == int(p) else -1, f"Tweedie (power {p:g})"),
        link=link,
        formula="phi" if p == 0 else f"phi mu^{p:g}" if not dispersion_known else "mu",
        lowest=-np.inf if p <= 0 else 0.0,
        strict=p >= 2,
        dispersion_known=dispersion_known,
        convex=convex,
        half_deviance=partial(tweedie_deviance, p),
        variance=partial(power_of, p),
        relative=partial(power_of, 2 - p),
        elasticity=partial(constant, p),
        likelihood=LIKELIHOODS.get(int(p) if p == int(p) else -1, Likelihood(no_base, no_total)),
        power=p,
    )
