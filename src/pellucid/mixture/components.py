r"""Densities that a ``Mixture`` may be made of: products over the columns, and a Gaussian.

    Bernoulli      prod_j p_j^x_j (1 - p_j)^(1 - x_j)            x in {0, 1}
    Categorical    prod_j t_j[x_j]                               x in {0, 1, ..., levels - 1}
    Poisson        prod_j exp(-l_j) l_j^x_j / x_j!               x in {0, 1, 2, ...}
    Exponential    prod_j l_j exp(-l_j x_j)                      x >= 0
    Gaussian       N(x; m, S)

A component is a value: ``fit(X, sample_weight)`` returns a new one, by weighted maximum likelihood.
Your own needs ``log_density(X)``, ``fit(X, sample_weight)`` and ``sample(n, rng)``; it may have
``n_parameters`` (for aic and bic) and ``is_fitted`` (False: the mixture finds it a start).
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from pellucid.core.arrays.typing import Array, BoolArray, Rng
from pellucid.core.loops.statistics import moments
from pellucid.core.readable import readable
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.mixture.gaussian.gaussians import Gaussians, factors_of, log_joint

TABLE = 10_000  # counts whose log factorials are looked up


def weighted_mean(X: Array, w: Array) -> Array:
    """sum w x / sum w of each column; sums from the first row to the last.

    >>> weighted_mean(np.array([[1.0], [4.0]]), np.array([2.0, 1.0]))
    array([2.])
    """
    return np.einsum("i,ij->j", w, X) / w.sum()


def log_factorials(X: Array) -> Array:
    """sum_j log x_j! of each row of counts; small counts are looked up.

    >>> log_factorials(np.array([[3.0, 2.0]])).round(4)
    array([2.4849])
    """
    if X.max(initial=0.0) > TABLE:
        return gammaln(X + 1.0).sum(axis=1)
    table = gammaln(np.arange(X.max(initial=0.0) + 1.0) + 1.0)
    return np.einsum("ij->i", table[X.astype(np.intp)])  # short rows: faster than sum


def refuse(ok: BoolArray, kind: str, what: str) -> None:
    """Raise unless every cell is one the density knows."""
    if not np.all(ok):
        row, column = np.argwhere(~ok)[0]
        raise ValueError(f"{kind} needs {what}, got another value in row {row}, column {column}")


@readable
class BernoulliComponent(NamedTuple):
    """Independent columns of 0 and 1; ``prior`` counts are added to both outcomes.

    >>> BernoulliComponent().fit(np.array([[1.0], [0.0]]), np.array([3.0, 1.0])).probabilities
    array([0.75])
    """

    probabilities: Any = None  # (p,)
    prior: float = 0.0

    @property
    def is_fitted(self) -> bool:
        return self.probabilities is not None

    @property
    def n_parameters(self) -> int:
        return len(self.probabilities)

    def fit(self, X: Array, sample_weight: Array) -> "BernoulliComponent":
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        refuse((X == 0) | (X == 1), "BernoulliComponent", "cells 0 or 1")
        total = sample_weight.sum() + 2 * self.prior
        hits = np.einsum("i,ij->j", sample_weight, X) + self.prior
        return self._replace(probabilities=np.clip(hits / total, 0.0, 1.0))

    def log_density(self, X: Array) -> Array:
        """The log density of each row."""
        p = np.asarray(self.probabilities, dtype=np.float64)
        refuse((X == 0) | (X == 1), "BernoulliComponent", "cells 0 or 1")
        if ((p > 0) & (p < 1)).all():
            odds = np.log(p) - np.log1p(-p)
            return np.einsum("ij,j->i", X, odds) + np.log1p(-p).sum()
        return (xlogy(X, p) + xlog1py(1.0 - X, -p)).sum(axis=1)

    def sample(self, n: int, rng: Rng) -> Array:
        """Draw ``n`` rows."""
        p = np.asarray(self.probabilities, dtype=np.float64)
        return (rng.random((n, len(p))) < p).astype(np.float64)


@readable
class CategoricalComponent(NamedTuple):
    """Independent columns of codes 0, 1, ..., levels - 1; ``prior`` counts on every code.

    >>> CategoricalComponent(3).fit(np.array([[2.0], [0.0]]), np.array([3.0, 1.0])).tables
    array([[0.25, 0.  , 0.75]])
    """

    levels: int  # number of codes
    tables: Any = None  # (p, levels)
    prior: float = 0.0

    @property
    def is_fitted(self) -> bool:
        return self.tables is not None

    @property
    def n_parameters(self) -> int:
        return len(self.tables) * (self.levels - 1)

    def _codes(self, X: Array) -> Any:
        known = (X >= 0) & (self.levels > X) & (np.floor(X) == X)
        refuse(known, "CategoricalComponent", f"codes 0, ..., {self.levels - 1}")
        return X.astype(np.intp)

    def fit(self, X: Array, sample_weight: Array) -> "CategoricalComponent":
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        codes = self._codes(X)
        counts = np.array([np.bincount(c, sample_weight, self.levels) for c in codes.T])
        counts += self.prior
        return self._replace(tables=counts / counts.sum(axis=1, keepdims=True))

    def log_density(self, X: Array) -> Array:
        """The log density of each row."""
        codes = self._codes(X)
        with np.errstate(divide="ignore"):
            logs = np.log(np.asarray(self.tables, dtype=np.float64))
        return logs[np.arange(codes.shape[1]), codes].sum(axis=1)

    def sample(self, n: int, rng: Rng) -> Array:
        """Draw ``n`` rows."""
        below = np.cumsum(np.asarray(self.tables, dtype=np.float64), axis=1)[:, :-1]
        return (rng.random((n, len(below), 1)) >= below).sum(axis=2).astype(np.float64)


@readable
class PoissonComponent(NamedTuple):
    """Independent counts.

    >>> PoissonComponent().fit(np.array([[1.0], [4.0]]), np.array([2.0, 1.0])).rates
    array([2.])
    """

    rates: Any = None  # (p,)

    @property
    def is_fitted(self) -> bool:
        return self.rates is not None

    @property
    def n_parameters(self) -> int:
        return len(self.rates)

    def fit(self, X: Array, sample_weight: Array) -> "PoissonComponent":
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        refuse((X >= 0) & (np.floor(X) == X), "PoissonComponent", "counts 0, 1, 2, ...")
        return self._replace(rates=weighted_mean(X, sample_weight))

    def log_density(self, X: Array) -> Array:
        """The log density of each row."""
        rates = np.asarray(self.rates, dtype=np.float64)
        refuse((X >= 0) & (np.floor(X) == X), "PoissonComponent", "counts 0, 1, 2, ...")
        logs = np.log(np.where(rates > 0, rates, 1.0))
        value = np.einsum("ij,j->i", X, logs) - rates.sum() - log_factorials(X)
        if (rates > 0).all():
            return value
        return np.where((X[:, rates == 0] > 0).any(axis=1), -np.inf, value)  # zeros only

    def sample(self, n: int, rng: Rng) -> Array:
        """Draw ``n`` rows."""
        return rng.poisson(self.rates, (n, len(self.rates))).astype(np.float64)


@readable
class BinomialComponent(NamedTuple):
    """Independent counts of successes in ``trials`` tries; ``prior`` counts on both outcomes.

    >>> BinomialComponent(4).fit(np.array([[1.0], [4.0]]), np.array([2.0, 1.0])).probabilities
    array([0.5])
    """

    trials: Any = 1  # one number, or (p,)
    probabilities: Any = None  # (p,)
    prior: float = 0.0

    @property
    def is_fitted(self) -> bool:
        return self.probabilities is not None

    @property
    def n_parameters(self) -> int:
        return len(self.probabilities)

    def _check(self, X: Array) -> Array:
        N = np.broadcast_to(np.asarray(self.trials, dtype=np.float64), (X.shape[1],))
        if not ((N >= 1) & (np.floor(N) == N)).all():
            raise ValueError(f"trials must be whole numbers >= 1, got {self.trials!r}")
        refuse((X >= 0) & (X <= N) & (np.floor(X) == X), "BinomialComponent", "counts 0 .. trials")
        return N

    def fit(self, X: Array, sample_weight: Array) -> "BinomialComponent":
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        N = self._check(X)
        hits = np.einsum("i,ij->j", sample_weight, X) + self.prior
        total = sample_weight.sum() * N + 2 * self.prior
        return self._replace(probabilities=np.clip(hits / total, 0.0, 1.0))

    def log_density(self, X: Array) -> Array:
        """The log density of each row."""
        N, p = self._check(X), np.asarray(self.probabilities, dtype=np.float64)
        ways = gammaln(N + 1.0) - gammaln(X + 1.0) - gammaln(N - X + 1.0)
        return (ways + xlogy(X, p) + xlog1py(N - X, -p)).sum(axis=1)

    def sample(self, n: int, rng: Rng) -> Array:
        """Draw ``n`` rows."""
        p = np.asarray(self.probabilities, dtype=np.float64)
        N = np.broadcast_to(np.asarray(self.trials), (len(p),))
        return rng.binomial(N, p, (n, len(p))).astype(np.float64)


@readable
class ExponentialComponent(NamedTuple):
    """Independent waiting times.

    >>> ExponentialComponent().fit(np.array([[1.0], [4.0]]), np.array([2.0, 1.0])).rates
    array([0.5])
    """

    rates: Any = None  # (p,)

    @property
    def is_fitted(self) -> bool:
        return self.rates is not None

    @property
    def n_parameters(self) -> int:
        return len(self.rates)

    def fit(self, X: Array, sample_weight: Array) -> "ExponentialComponent":
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        refuse(X >= 0, "ExponentialComponent", "numbers >= 0")
        mean = weighted_mean(X, sample_weight)
        if not (mean > 0).all():
            raise ValueError("an ExponentialComponent explains only zeros: its rate has no bound")
        return self._replace(rates=1.0 / mean)

    def log_density(self, X: Array) -> Array:
        """The log density of each row."""
        rates = np.asarray(self.rates, dtype=np.float64)
        return np.where(X >= 0, np.log(rates) - rates * X, -np.inf).sum(axis=1)

    def sample(self, n: int, rng: Rng) -> Array:
        """Draw ``n`` rows."""
        return rng.exponential(1.0 / np.asarray(self.rates), (n, len(self.rates)))


@readable
class GaussianComponent(NamedTuple):
    """A normal density with a full covariance; ``reg_covar`` is added to the variances.

    >>> GaussianComponent().fit(np.array([[1.0], [4.0]]), np.array([2.0, 1.0])).mean
    array([2.])
    """

    mean: Any = None  # (p,)
    covariance: Any = None  # (p, p)
    reg_covar: float = 1e-6

    @property
    def is_fitted(self) -> bool:
        return self.mean is not None and self.covariance is not None

    @property
    def n_parameters(self) -> int:
        p = len(self.mean)
        return p + p * (p + 1) // 2

    def fit(self, X: Array, sample_weight: Array) -> "GaussianComponent":
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        with single_threaded_blas():
            weight, mean, scatter = moments(X, sample_weight)
        S = scatter / weight + self.reg_covar * np.eye(len(mean))
        return self._replace(mean=mean, covariance=S)

    def log_density(self, X: Array) -> Array:
        """The log density of each row."""
        mean = np.array(self.mean, dtype=np.float64)[None]
        S = np.array(self.covariance, dtype=np.float64)[None]
        return log_joint(X, factors_of(Gaussians(np.ones(1), mean, S), "full"))[:, 0]

    def sample(self, n: int, rng: Rng) -> Array:
        """Draw ``n`` rows."""
        root = np.linalg.cholesky(np.asarray(self.covariance, dtype=np.float64))
        return np.asarray(self.mean) + rng.standard_normal((n, len(root))) @ root.T
