"""The posterior of the parameters of a Bayesian linear model, read off the fit.

Normal, or Student-t where the noise variance has a posterior of its own. The intercept is first.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from pellucid.core.arrays.typing import Array, Model, Seed
from pellucid.core.runtime.random import generator
from pellucid.plots.panels.inputs import last_step, model_names


class Posterior(NamedTuple):
    """mean + noise of covariance ``scale``; ``freedom`` is infinite for a normal one."""

    names: tuple[str, ...]
    mean: Array  # (q,)
    scale: Array  # (q, q)
    freedom: float
    root: Array  # (q, r) with root root' = scale

    def radius(self, confidence: float) -> float:
        """Radius of the ellipse that holds two parameters with this probability."""
        if np.isinf(self.freedom):
            return float(np.sqrt(-2 * np.log1p(-confidence)))
        half = self.freedom / 2  # 2 F(2, freedom), whose quantile has a closed form
        return float(np.sqrt(self.freedom * ((1 - confidence) ** (-1 / half) - 1)))

    def half_width(self, confidence: float) -> float:
        """Half width of the central interval of one parameter, in units of its scale."""
        upper = (1 + confidence) / 2
        normal = np.isinf(self.freedom)
        return float(ndtri(upper) if normal else stdtrit(self.freedom, upper))

    def draw(self, n: int, random_state: Seed = 0) -> Array:
        """n draws, (n, q)."""
        rng = generator(random_state)
        z = rng.standard_normal((n, self.root.shape[1])) @ self.root.T
        if np.isinf(self.freedom):
            return self.mean + z
        return self.mean + z * np.sqrt(self.freedom / rng.chisquare(self.freedom, n))[:, None]


def symmetric_root(S: Array) -> Array:
    """L with L L' = S for a positive semi-definite S.

    >>> symmetric_root(np.diag([4.0, 0.0]))
    array([[2., 0.],
           [0., 0.]])
    """
    values, vectors = np.linalg.eigh((S + S.T) / 2)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def make_posterior(names: tuple[str, ...], mean: Array, scale: Array, freedom: float) -> Posterior:
    """With the root of the scale."""
    return Posterior(names, mean, scale, freedom, symmetric_root(scale))


def posterior_of(E: Model) -> Posterior:
    """What a fitted BayesianLinearRegression, BayesianRidge or ARDRegression believes.

    >>> from pellucid import BayesianLinearRegression
    >>> model = BayesianLinearRegression(prior_covariance=1.0, noise_variance=1.0)
    >>> posterior_of(model.fit([[0.0], [1.0]], [0.0, 1.0])).mean.round(4)
    array([0.2, 0.4])
    """
    model = last_step(E)
    names = model_names(model)
    if hasattr(model, "mean_") and hasattr(model, "covariance_"):
        names = ("intercept", *names) if model.fit_intercept else names
        noise = model.noise_posterior_
        if noise is None:
            return make_posterior(names, model.mean_, model.covariance_, np.inf)
        share = noise.b / noise.a / model.noise_variance_
        return make_posterior(names, model.mean_, model.covariance_ * share, 2 * noise.a)
    if hasattr(model, "sigma_") and hasattr(model, "X_offset_"):
        live = model._live()
        L = np.zeros((len(names), len(live)))
        L[live] = symmetric_root(model.sigma_)
        mean = model.coef_
        if model.fit_intercept:  # the line turns about the mean of the rows
            L, mean = np.vstack([-model.X_offset_ @ L, L]), np.append(model.intercept_, mean)
            names = ("intercept", *names)
        return Posterior(names, mean, L @ L.T, np.inf, L)
    raise ValueError(
        f"{type(model).__name__} has no posterior; fit BayesianLinearRegression, BayesianRidge or "
        "ARDRegression"
    )


def parameter_label(name: str) -> str:
    """What an axis calls a parameter.

    >>> parameter_label("intercept"), parameter_label("age")
    ('intercept', 'coefficient of age')
    """
    return name if name == "intercept" else f"coefficient of {name}"


def noise_of(E: Model) -> float:
    """The standard deviation of the noise that a Bayesian fit uses."""
    model = last_step(E)
    if hasattr(model, "noise_variance_"):
        return float(np.sqrt(model.noise_variance_))
    if hasattr(model, "sigma_") and hasattr(model, "alpha_"):
        return float(1 / np.sqrt(model.alpha_))
    raise ValueError(f"{type(model).__name__} has no noise variance of its own to plug in")


def lines_of(parameters: Array, features: Array, *, intercept: bool) -> Array:
    """The curve of every row of parameters: (draws, g)."""
    if not intercept:
        return parameters @ features.T
    return parameters[:, :1] + parameters[:, 1:] @ features.T
