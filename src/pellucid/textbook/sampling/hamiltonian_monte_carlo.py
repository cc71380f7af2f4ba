r"""Hamiltonian Monte Carlo: proposals that roll along the density instead of stumbling.

Given       log f(t) and its gradient
Step        give t a momentum p ~ N(0, I) and follow the motion that keeps H = -log f(t) + |p|^2 /
            2: leapfrog, p += (e/2) grad, t += e p, p += (e/2) grad, n times. Leapfrog is reversible
            and keeps volumes, so accepting with min(1, exp(H - H')) keeps the density (as in
            Metropolis-Hastings); H hardly changes, so far moves are accepted.
Cost        n gradients per draw.
The fast version learns e and the scales of the coordinates in the burn-in.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    t: np.ndarray
    accepted: bool
    error: float  # H' - H


def leapfrog(
    gradient: Callable[[np.ndarray], np.ndarray], t: np.ndarray, p: np.ndarray, e: float, n: int
) -> tuple[np.ndarray, np.ndarray]:
    for _ in range(n):
        p = p + e / 2 * gradient(t)
        t = t + e * p
        p = p + e / 2 * gradient(t)
    return t, p


def walk(
    log_f: Callable[[np.ndarray], float],
    gradient: Callable[[np.ndarray], np.ndarray],
    t: np.ndarray,
    e: float,
    n: int,
    rng: np.random.Generator,
) -> Iterator[State]:
    """A chain without end."""
    while True:
        p = rng.normal(size=len(t))
        u, p_new = leapfrog(gradient, t, p, e, n)
        error = (p_new @ p_new - p @ p) / 2 - (log_f(u) - log_f(t))
        accepted = bool(np.log(rng.random()) <= -error)
        t = u if accepted else t
        yield State(t, accepted, float(error))


def hamiltonian_monte_carlo(
    log_f: Callable[[np.ndarray], float],
    gradient: Callable[[np.ndarray], np.ndarray],
    start: np.ndarray,
    n_draws: int,
    rng: np.random.Generator,
    e: float = 0.2,
    n: int = 10,
) -> np.ndarray:
    """Draws (n_draws, d); the first tenth, thrown away, comes on top."""
    chain = walk(log_f, gradient, start, e, n, rng)
    return np.array([next(chain).t for _ in range(n_draws + n_draws // 10)][n_draws // 10 :])
