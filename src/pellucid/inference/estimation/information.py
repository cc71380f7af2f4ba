r"""Fisher information and the Cramer-Rao bound.

    I(t) = E (d/dt log f(X; t))^2
    Var T >= (d/dt E T)^2 / (n I(t))        for every estimator T of n independent values

Closed forms where they are short, else the squared score is integrated. Where the support depends
on the parameter the score has no mean of zero and the bound does not hold.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit, polygamma

from pellucid.core.algebra.derivatives import SHRINK, extrapolate
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.inference.distributions.distribution import Distribution, Univariate

STEP = 2e-3  # relative step of the score's differences, extrapolated twice
NODES = 400  # on either side of the middle
REACH = 3.0  # u from 1e-14 to 1 - 1e-14 and beyond

CLOSED: dict[tuple[str, str], Callable[[Any], float]] = {
    ("Bernoulli", "p"): lambda d: 1 / (d.p * (1 - d.p)),
    ("Binomial", "p"): lambda d: d.n / (d.p * (1 - d.p)),
    ("Poisson", "rate"): lambda d: 1 / d.rate,
    ("Exponential", "scale"): lambda d: 1 / d.scale**2,
    ("Normal", "mean"): lambda d: 1 / d.std**2,
    ("Normal", "std"): lambda d: 2 / d.std**2,
    ("Normal", "variance"): lambda d: 1 / (2 * d.std**4),
    ("Gamma", "shape"): lambda d: float(polygamma(1, d.shape)),
    ("Gamma", "scale"): lambda d: d.shape / d.scale**2,
    ("Laplace", "mean"): lambda d: 1 / d.scale**2,  # the score is a sign: no step across the kink
    ("Laplace", "scale"): lambda d: 1 / d.scale**2,
    ("Logistic", "mean"): lambda d: 1 / (3 * d.scale**2),
    ("Logistic", "scale"): lambda d: (3 + np.pi**2) / (9 * d.scale**2),
}


def moved(law: Distribution, parameter: str, value: float) -> Any:
    """The member of the family with this value of one parameter."""
    return type(law)(**{**law.parameters, parameter: value})


def score(law: Any, parameter: str, x: Array) -> Array:
    """d/dt log f(x; t), by extrapolated differences."""
    at = law.parameters[parameter]
    unit = law.std if parameter == "mean" and np.isfinite(law.std) else abs(at) or 1.0
    rows = []
    for shrink in SHRINK:
        h = shrink * STEP * unit
        up, down = (moved(law, parameter, at + sign * h) for sign in (1, -1))
        rows.append((up.log_density(x) - down.log_density(x)) / (2 * h))
    return extrapolate(rows).value


def expected_square(law: Any, parameter: str) -> float:
    """E score^2: a sum over values, or the double exponential rule over u = F(x)."""
    if law.discrete:
        x = law._values()
        x = x[law.density(x) > 0]
        return float(law.density(x) @ score(law, parameter, x) ** 2)
    s = np.arange(-NODES, NODES + 1) * (REACH / NODES)
    half = np.pi / 2 * np.sinh(s)
    u, weight = expit(2 * half), np.pi * np.cosh(s) * expit(2 * half) * expit(-2 * half)
    x = law.quantile(np.minimum(u, 1 - 1e-16))
    return float(weight @ score(law, parameter, x) ** 2) * REACH / NODES


def fisher_information(distribution: Distribution, parameter: str, n: int = 1) -> float:
    """What n independent values tell about a parameter.

    ``distribution`` is of one number, with the true value of ``parameter``: a name of its
    ``parameters``, of a normal also "variance". ``n`` is the size of the sample.

    >>> from pellucid.inference import Bernoulli, Normal, fisher_information
    >>> fisher_information(Bernoulli(0.5), "p"), fisher_information(Normal(0.0, 2.0), "mean", n=8)
    (4.0, 2.0)
    """
    check.whole(n=n)
    name = type(distribution).__name__
    if not isinstance(distribution, Univariate) or not hasattr(distribution, "free"):
        raise ValueError(f"distribution must be a distribution of one number, got {distribution}")
    if not distribution.regular:
        why = "the expected score is not 0 and the Fisher information is not defined"
        raise ValueError(f"the support of {name} depends on its parameters: {why}")
    free = tuple(p for p in distribution.free if np.ndim(distribution.parameters[p]) == 0)
    known = (*free, *(p for d, p in CLOSED if d == name and p not in free))
    check.one_of(known, parameter=parameter)
    if parameter in ("p", "rate") and distribution.variance == 0:
        raise ValueError(f"{parameter} = {getattr(distribution, parameter)} lies on the boundary")
    if (name, parameter) in CLOSED:
        return n * float(CLOSED[name, parameter](distribution))
    return n * expected_square(distribution, parameter)


def cramer_rao(
    distribution: Distribution, parameter: str, n: int = 1, mean_slope: float = 1.0
) -> float:
    """The least variance an estimator can have.

    ``distribution``, ``parameter`` and ``n`` are as in ``fisher_information``; ``mean_slope`` is
    the derivative of the estimator's expectation by the parameter, 1 where it is unbiased.

    >>> from pellucid.inference import Normal, cramer_rao
    >>> cramer_rao(Normal(0.0, 2.0), "mean", n=16)  # the variance of the sample mean
    0.25
    """
    return float(mean_slope) ** 2 / fisher_information(distribution, parameter, n)
