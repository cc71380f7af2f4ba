r"""TD(lambda): every error is news for all states on the way here, the recent ones most.

Given       steps (s, r, t, end) of a policy, discount g, 0 <= lam <= 1
Step        d = r + g U(t) - U(s) is the error of this step. Its effect on a return k steps ago
            fades like (g lam)^k: keep a trace e of the states behind, e <- g lam e, e(s) <- e(s) +
            1, and correct all of them, U <- U + rate d e. lam = 0 is TD, lam
            = 1 weighs whole returns.
Cost        |S| per step.
The fast version touches only states with a trace, in compiled code.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    U: np.ndarray
    trace: np.ndarray


def updates(
    steps: list[tuple[int, float, int, bool]], S: int, g: float, lam: float, rate: float
) -> Iterator[State]:
    """U and the trace after each step."""
    U, e = np.zeros(S), np.zeros(S)
    for s, r, t, end in steps:
        e = g * lam * e
        e[s] += 1
        U = U + rate * (r + (0.0 if end else g * U[t]) - U[s]) * e
        if end:
            e = np.zeros(S)
        yield State(U, e)


def td_lambda(
    steps: list[tuple[int, float, int, bool]], S: int, g: float, lam: float, rate: float
) -> np.ndarray:
    """U (S,) after all steps."""
    *_, last = updates(steps, S, g, lam, rate)
    return last.U
