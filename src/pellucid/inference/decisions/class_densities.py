r"""Densities of classes: one way to ask any of them, and maximum-likelihood fits of families.

    normal        joint: mean, covariance with divisor n
    laplace       per column: median, mean absolute deviation from it
    exponential   per column: mean (of numbers >= 0)
    poisson       per column: mean (of counts)
    bernoulli     per column: share of ones

Families per column are products: the columns are independent within a class. A density from
elsewhere needs ``log_density`` (or scipy's ``logpdf`` / ``logpmf``) and, to be sampled or
integrated, ``sample`` (``rvs``), ``cdf`` and ``quantile`` (``ppf``).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import gammaln, ndtr, ndtri, xlog1py, xlogy

from pellucid.core.algebra.linalg import in_range
from pellucid.core.arrays.quantiles import weighted_median
from pellucid.core.arrays.typing import Array, ArrayLike, Rng, Seed
from pellucid.core.runtime.random import generator

LOG_2PI = float(np.log(2.0 * np.pi))


class NormalLaw(NamedTuple):
    """N(mean, cov) with the Cholesky root of cov."""

    mean: Array  # (d,)
    cov: Array  # (d, d)
    root: Array  # (d, d)

    def log_density(self, X: Array) -> Array:
        z = solve_triangular(self.root, (X - self.mean).T, lower=True, check_finite=False)
        return -0.5 * (len(self.mean) * LOG_2PI + (z * z).sum(axis=0)) - self._log_scale()

    def _log_scale(self) -> float:
        return float(np.log(np.diag(self.root)).sum())

    def sample(self, n: int, random_state: Seed = None) -> Array:
        z = generator(random_state).standard_normal((n, len(self.mean)))
        return self.mean + z @ self.root.T

    def cdf(self, x: ArrayLike) -> Any:
        return ndtr((np.asarray(x) - self.mean[0]) / self.root[0, 0])

    def quantile(self, q: ArrayLike) -> Any:
        return self.mean[0] + self.root[0, 0] * ndtri(q)


class LaplaceLaw(NamedTuple):
    """Independent Laplace columns."""

    mean: Array  # (d,) medians
    scale: Array  # (d,)

    def log_density(self, X: Array) -> Array:
        z = np.abs(X - self.mean) / self.scale
        return -(z + np.log(2.0 * self.scale)).sum(axis=1)

    def sample(self, n: int, random_state: Seed = None) -> Array:
        return generator(random_state).laplace(self.mean, self.scale, (n, len(self.mean)))

    def cdf(self, x: ArrayLike) -> Any:
        z = (np.asarray(x) - self.mean[0]) / self.scale[0]
        return 0.5 * np.where(z < 0, np.exp(np.minimum(z, 0.0)), 2.0 - np.exp(-np.maximum(z, 0.0)))

    def quantile(self, q: ArrayLike) -> Any:
        q = np.asarray(q)
        low = np.log(2.0 * np.minimum(q, 0.5))
        high = -np.log(2.0 * np.minimum(1.0 - q, 0.5))
        return self.mean[0] + self.scale[0] * np.where(q < 0.5, low, high)


class ExponentialLaw(NamedTuple):
    """Independent exponential columns."""

    mean: Array  # (d,)

    def log_density(self, X: Array) -> Array:
        inside = (X >= 0).all(axis=1)
        return np.where(inside, -(X / self.mean + np.log(self.mean)).sum(axis=1), -np.inf)

    def sample(self, n: int, random_state: Seed = None) -> Array:
        return generator(random_state).exponential(self.mean, (n, len(self.mean)))

    def cdf(self, x: ArrayLike) -> Any:
        return -np.expm1(-np.maximum(np.asarray(x), 0.0) / self.mean[0])

    def quantile(self, q: ArrayLike) -> Any:
        return -self.mean[0] * np.log1p(-np.asarray(q))


class PoissonLaw(NamedTuple):
    """Independent Poisson columns."""

    mean: Array  # (d,)

    def log_density(self, X: Array) -> Array:
        inside = ((X >= 0) & (np.floor(X) == X)).all(axis=1)
        safe = np.maximum(X, 0.0)
        log_mass = (xlogy(safe, self.mean) - self.mean - gammaln(safe + 1.0)).sum(axis=1)
        return np.where(inside, log_mass, -np.inf)

    def sample(self, n: int, random_state: Seed = None) -> Array:
        draws = generator(random_state).poisson(self.mean, (n, len(self.mean)))
        return draws.astype(np.float64)


class BernoulliLaw(NamedTuple):
    """Independent columns of 0 and 1."""

    mean: Array  # (d,)

    def log_density(self, X: Array) -> Array:
        inside = ((X == 0) | (X == 1)).all(axis=1)
        ones = np.clip(X, 0.0, 1.0)
        log_mass = (xlogy(ones, self.mean) + xlog1py(1.0 - ones, -self.mean)).sum(axis=1)
        return np.where(inside, log_mass, -np.inf)

    def sample(self, n: int, random_state: Seed = None) -> Array:
        return (generator(random_state).random((n, len(self.mean))) < self.mean).astype(np.float64)


def _mean(X: Array, w: Array) -> Array:
    return w @ X / w.sum()


def fit_normal(X: Array, w: Array, who: str) -> NormalLaw:
    mean = _mean(X, w)
    centred = X - mean
    cov = (centred * w[:, None]).T @ centred / w.sum()
    spread = np.sqrt(np.diag(in_range(cov, f"the covariance of {who}")))
    flat = spread <= 1e-12 * np.maximum(np.abs(mean), 1e-300)
    scaled = cov / np.outer(*(2 * [np.where(flat, 1.0, spread)]))
    rank_room = np.linalg.eigvalsh(scaled)[0] if not flat.any() else 0.0
    if rank_room <= 10 * len(mean) * np.finfo(np.float64).eps:
        rows = f"{who} ({int((w > 0).sum())} rows) has a singular covariance in {len(mean)} columns"
        why = "it is too small, or the columns are dependent"
        raise ValueError(f"{rows}: {why}; use another family, or RegularizedDiscriminantAnalysis")
    return NormalLaw(mean, cov, np.linalg.cholesky(cov))


def fit_laplace(X: Array, w: Array, who: str) -> LaplaceLaw:
    median = weighted_median(X, w)
    scale = _mean(np.abs(X - median), w)
    if not (scale > 0).all():
        raise ValueError(f"{who} does not vary in column {int(np.argmin(scale > 0))}: no density")
    return LaplaceLaw(median, scale)


def fit_exponential(X: Array, w: Array, who: str) -> ExponentialLaw:
    _refuse(X < 0, X, who, "an exponential density needs numbers >= 0")
    mean = _mean(X, w)
    if not (mean > 0).all():
        raise ValueError(f"{who} is 0 throughout column {int(np.argmin(mean > 0))}: no density")
    return ExponentialLaw(mean)


def fit_poisson(X: Array, w: Array, who: str) -> PoissonLaw:
    _refuse((X < 0) | (np.floor(X) != X), X, who, "a Poisson density needs counts")
    return PoissonLaw(_mean(X, w))


def fit_bernoulli(X: Array, w: Array, who: str) -> BernoulliLaw:
    _refuse((X != 0) & (X != 1), X, who, "a Bernoulli density needs 0 and 1")
    return BernoulliLaw(_mean(X, w))


def _refuse(bad: Any, X: Array, who: str, need: str) -> None:
    if bad.any():
        raise ValueError(f"{need}, {who} has {X[bad][0]:g}")


FAMILIES: dict[str, Callable[[Array, Array, str], Any]] = {
    "normal": fit_normal,
    "laplace": fit_laplace,
    "exponential": fit_exponential,
    "poisson": fit_poisson,
    "bernoulli": fit_bernoulli,
}


def has_log_density(law: object) -> bool:
    """Whether this can be asked for log densities."""
    return any(hasattr(law, name) for name in ("log_density", "logpdf", "logpmf"))


def is_scalar(law: object) -> bool:
    """Whether it is a density of one number rather than of a vector."""
    mean = getattr(law, "mean", None)
    value = mean() if callable(mean) else mean
    return value is None or np.ndim(value) == 0


def is_discrete(law: object) -> bool:
    """Whether it has a mass function instead of a density."""
    if isinstance(law, PoissonLaw | BernoulliLaw):
        return True
    return bool(getattr(law, "discrete", hasattr(law, "logpmf") and not hasattr(law, "logpdf")))


def ask_log_density(law: Any, X: Array) -> Array:
    """log f(x) of the rows of X, (n,)."""
    for name in ("log_density", "logpdf", "logpmf"):
        if hasattr(law, name):
            break
    if is_scalar(law):
        if X.shape[1] != 1:
            raise ValueError(f"{law} is a density of one number, but X has {X.shape[1]} columns")
        X = X[:, 0]
    with np.errstate(divide="ignore"):
        return np.asarray(getattr(law, name)(X), dtype=np.float64).reshape(len(X))


def ask_sample(law: Any, n: int, rng: Rng) -> Array:
    """n draws, (n, d)."""
    if hasattr(law, "sample"):
        draws = law.sample(n, random_state=rng)
    elif hasattr(law, "rvs"):
        draws = law.rvs(size=n, random_state=rng)
    else:
        raise ValueError(f"{law} can be asked for densities, but has no sample")
    return np.asarray(draws, dtype=np.float64).reshape(n, -1)


def ask_quantile(law: Any, q: Array) -> Array | None:
    """Quantiles of a density of one number, or None where it has none."""
    for name in ("quantile", "ppf"):
        if hasattr(law, name):
            return np.asarray(getattr(law, name)(q), dtype=np.float64)
    return None


def gaussian_moments(law: Any) -> tuple[Array, Array] | None:
    """(mean, covariance) of anything that is a normal distribution, else None."""
    kind = type(law).__name__
    if kind in ("NormalLaw", "MultivariateNormal", "multivariate_normal_frozen"):
        return np.atleast_1d(law.mean), np.atleast_2d(law.cov)
    if kind == "Normal":
        return np.array([law.mean]), np.array([[law.std**2]])
    if getattr(getattr(law, "dist", None), "name", "") == "norm":
        return np.array([law.mean()]), np.array([[law.var()]])
    return None
