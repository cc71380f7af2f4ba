r"""Negative binomial regression: counts that vary more than Poisson's.

Model       y ~ Poisson(g mu),  log mu = D b,  g ~ Gamma of mean 1 and variance a:
            P(y) = G(y + 1/a) / (G(1/a) y!) (a mu)^y / (1 + a mu)^(y + 1/a),  Var[y] = mu + a mu^2
Maximise    the likelihood in b and a
Step        with a fixed: gradient D'(y - mu)/(1 + a mu), information D' diag(mu/(1 + a mu)) D;
            with b fixed: the likelihood in log a alone, searched on a line. b and a are
            independent in the mean, so going back and forth ends in a few rounds.
Cost        n p^2 per step in b, n per trial of a.
The fast version takes both steps at once and sets a = 0 where counts vary like Poisson's.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, gammaln


class State(NamedTuple):
    b: np.ndarray  # (p + 1,), the intercept first
    a: float
    log_likelihood: float


def log_likelihood(y: np.ndarray, mu: np.ndarray, a: float) -> float:
    shape = 1 / a
    counted = gammaln(y + shape) - gammaln(shape) - gammaln(y + 1)
    return float((counted + y * np.log(a * mu) - (y + shape) * np.log1p(a * mu)).sum())


def slope(log_a: float, y: np.ndarray, mu: np.ndarray) -> float:
    """Derivative of the log-likelihood in log a."""
    k = np.exp(-log_a)
    inner = digamma(y + k) - digamma(k) + np.log(k / (k + mu)) + (mu - y) / (k + mu)
    return float(-k * inner.sum())


def rounds(X: np.ndarray, y: np.ndarray) -> Iterator[State]:
    """Coefficients, then dispersion, until the likelihood stays."""
    D = np.column_stack([np.ones(len(X)), X])
    b, a, last = np.linalg.lstsq(D, np.log(y + 0.5), rcond=None)[0], 1.0, -np.inf
    while True:
        for _ in range(20):  # scoring steps at this a
            mu = np.exp(D @ b)
            information = D.T @ ((mu / (1 + a * mu))[:, None] * D)
            b = b + np.linalg.solve(information, D.T @ ((y - mu) / (1 + a * mu)))
        mu = np.exp(D @ b)
        a = float(np.exp(brentq(slope, -15, 10, args=(y, mu), xtol=1e-14)))
        now = log_likelihood(y, mu, a)
        yield State(b, a, now)
        if now - last <= 1e-13 * abs(now):
            return
        last = now


def negative_binomial_regression(X: np.ndarray, y: np.ndarray) -> State:
    """Maximum likelihood in b and a."""
    *_, last = rounds(X, y)
    return last
