r"""The error that no classifier can beat.

    risk = integral min_d sum_k L[k, d] pi_k f_k(x) dx        0/1 loss: 1 - E max_k p(k | x)

closed form    two Gaussians of one covariance, D their Mahalanobis distance, t = log(pi_1/pi_0):
               pi_0 Phi(-D/2 + t/D) + pi_1 Phi(-D/2 - t/D)
integration    one column: the decision is constant between cut points, so the risk is a sum of
               differences of distribution functions; a sum over the support for counts
monte carlo    rows drawn from the model, the mean of their least expected loss
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import quad
from scipy.special import ndtr

from pellucid.core.arrays.typing import Array, IntArray, Rng
from pellucid.core.readable import readable
from pellucid.core.records import show
from pellucid.inference.decisions import class_densities as ask
from pellucid.inference.distributions.distribution import Distribution

TAIL = 1e-16  # probability left out on either side of the line that is searched
POINTS = 4001
LARGEST_SUPPORT = 10_000_000


@readable
class BayesError(NamedTuple):
    """The least possible error (or risk) and how it was found.

    >>> print(BayesError(0.1586552539, 0.0, "closed_form"))
    Bayes error 0.158655 (closed_form)
    """

    value: float  # probability of error, or expected loss
    standard_error: float  # of a simulation; 0 if exact
    method: str  # how it was found

    def __str__(self) -> str:
        around = f" +/- {show(self.standard_error)}" if self.standard_error > 0 else ""
        return f"Bayes error {show(self.value)}{around} ({self.method})"


Decide = Callable[[Array], IntArray]  # points on the line -> column of the loss matrix


def gaussian_error(laws: list[Any], priors: Array) -> float | None:
    """The closed form, or None where it does not apply."""
    moments = [ask.gaussian_moments(law) for law in laws]
    if len(laws) != 2 or moments[0] is None or moments[1] is None:
        return None
    (m0, S0), (m1, S1) = moments[0], moments[1]
    if S0.shape != S1.shape or not np.allclose(S0, S1, rtol=1e-12, atol=0.0):
        return None
    if priors.min() == 0:
        return 0.0
    gap = m1 - m0
    D = float(np.sqrt(gap @ np.linalg.solve(S0, gap)))
    if D == 0:
        return float(priors.min())
    t = float(np.log(priors[1] / priors[0])) / D
    return float(priors[0] * ndtr(-D / 2 + t) + priors[1] * ndtr(-D / 2 - t))


def line_grid(laws: list[Any], rng: Rng) -> Array:
    """Points that cover where the densities of one number have their mass, denser where more is."""
    inner = np.linspace(0.0, 1.0, POINTS // 4)[1:-1]
    q = np.concatenate([[TAIL, 1e-12, 1e-8], inner, [1 - 1e-8, 1 - 1e-12, 1 - TAIL]])
    parts = []
    for law in laws:
        points = ask.ask_quantile(law, q)
        if points is None:
            points = ask.ask_sample(law, POINTS, rng).ravel()
            wide = 2.0 * np.ptp(points)
            points = np.concatenate([points, [points.min() - wide, points.max() + wide]])
        parts.append(points[np.isfinite(points)])
    together = np.concatenate(parts)
    even = np.linspace(together.min(), together.max(), POINTS)
    return np.unique(np.concatenate([together, even]))


def cut_points(decide: Decide, grid: Array) -> Array:
    """Where the decision changes along a sorted grid, by bisection to the last bit."""
    chosen = decide(grid)
    change = np.flatnonzero(chosen[1:] != chosen[:-1])
    low, high = grid[change].copy(), grid[change + 1].copy()
    left = chosen[change]
    for _ in range(80):  # more halvings than a double has bits
        middle = low + (high - low) / 2.0
        same = decide(middle) == left if len(middle) else np.empty(0, dtype=bool)
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.unique(high)


def _mass(law: Distribution, low: float, high: float) -> float:
    """P(low < x <= high)."""
    if hasattr(law, "cdf"):
        return float(law.cdf(high) - law.cdf(low))

    def density(x: float) -> float:
        return float(np.exp(ask.ask_log_density(law, np.array([[x]]))[0]))

    return float(quad(density, low, high, limit=200)[0])


def line_risk(laws: list[Any], priors: Array, losses: Array, decide: Decide, rng: Rng) -> float:
    """The risk over one continuous column."""
    grid = line_grid(laws, rng)
    cuts = cut_points(decide, grid)
    edges = np.concatenate([[-np.inf], cuts, [np.inf]])
    inside = np.concatenate([[grid[0]], cuts[:-1] + np.diff(cuts) / 2.0, [grid[-1]]])
    chosen = decide(inside if len(cuts) else grid[:1])
    risk = 0.0
    for r, d in enumerate(chosen):
        for k, law in enumerate(laws):
            if priors[k] > 0 and losses[k, d] != 0:
                risk += priors[k] * losses[k, d] * _mass(law, edges[r], edges[r + 1])
    return float(risk)


def count_risk(laws: list[Any], priors: Array, losses: Array, decide: Decide) -> float | None:
    """The risk over one column of counts, or None where the support cannot be listed."""
    ends = []
    for law in laws:
        points = ask.ask_quantile(law, np.array([TAIL, 1 - 1e-15]))
        if points is None and hasattr(law, "mean") and np.size(law.mean) == 1:
            m = float(np.ravel(law.mean)[0])
            points = np.array([0.0, m + 40.0 * np.sqrt(m) + 60.0])
        if points is None or not np.isfinite(points).all():
            return None
        ends.append(points)
    low, high = int(np.min(ends)), int(np.max(ends)) + 1
    if high - low > LARGEST_SUPPORT:
        return None
    x = np.arange(low, high + 1, dtype=np.float64)
    chosen, risk = decide(x), 0.0
    for k, law in enumerate(laws):
        mass = np.exp(ask.ask_log_density(law, x[:, None]))
        risk += priors[k] * (losses[k, chosen] * mass).sum()
    return float(risk)


def simulated_risk(least_loss: Array) -> BayesError:
    """Mean and standard error of the least expected loss of rows drawn from the model."""
    n = len(least_loss)
    error = float(least_loss.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    return BayesError(float(least_loss.mean()), error, "monte_carlo")
