r"""TD learning: correct the worth of a state by what the next state is worth.

Given       steps (s, r, t, end) of a policy: in s, reward r, then t; after the end t is worth 0
Solve       U(s) = E[r + g U(t)], Bellman's equation of the policy
Step        r + g U(t) is a noisy sight of the right-hand side, so move a little towards it:
            U(s) <- U(s) + rate (r + g U(t) - U(s)). Rates 1 / n (n visits of s) average the noise
            away, and U converges; a constant rate never settles but keeps up with change.
Cost        one addition per step, no model and no memory of the past.
The fast version simulates in compiled code, and takes other rates.
"""

from collections.abc import Iterator

import numpy as np


def updates(
    steps: list[tuple[int, float, int, bool]], S: int, g: float, rate: float
) -> Iterator[np.ndarray]:
    """U after each step."""
    U = np.zeros(S)
    for s, r, t, end in steps:
        U[s] += rate * (r + (0.0 if end else g * U[t]) - U[s])
        yield U.copy()


def td_learning(
    steps: list[tuple[int, float, int, bool]], S: int, g: float, rate: float
) -> np.ndarray:
    """U (S,) after all steps."""
    *_, last = updates(steps, S, g, rate)
    return last
