r"""Metropolis-Hastings: draws from a density that is known up to a factor.

Given       f(t) = c p(t), c unknown, and a way to propose u from t with density q(u | t)
Step        accept u with probability min(1, f(u) q(t | u) / (f(t) q(u | t))), else stay at t. Then
            p(t) P(t -> u) = p(u) P(u -> t) for every pair (detailed balance), so p stays p under
            the step; a chain that can reach everything has it for its limit. c cancels.
            Here q is normal around t, which is symmetric: q cancels too.
Cost        one value of f per draw; the draws depend on each other.
The fast version runs several chains, learns the shape of its steps in the burn-in, and diagnoses.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    t: np.ndarray
    log_f: float
    accepted: bool


def walk(
    log_f: Callable[[np.ndarray], float], t: np.ndarray, scale: float, rng: np.random.Generator
) -> Iterator[State]:
    """A chain without end."""
    value = log_f(t)
    while True:
        u = t + scale * rng.normal(size=len(t))
        new = log_f(u)
        accepted = bool(np.log(rng.random()) <= new - value)
        if accepted:
            t, value = u, new
        yield State(t, value, accepted)


def metropolis_hastings(
    log_f: Callable[[np.ndarray], float],
    start: np.ndarray,
    n: int,
    n_burn: int,
    scale: float,
    rng: np.random.Generator,
) -> np.ndarray:
    """n draws (n, d) after a burn-in that is thrown away."""
    chain = walk(log_f, start, scale, rng)
    return np.array([next(chain).t for _ in range(n_burn + n)][n_burn:])
