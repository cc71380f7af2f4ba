r"""Finite horizon: the best decisions when the number of steps is known, by backward induction.

Given       P[s, a, t] = P(t | s, a),  R[s, a], discount g (1 is fine), T steps
Solve       U_0 = 0,  U_k(s) = max_a R[s, a] + g sum_t P[s, a, t] U_{k-1}(t) with k steps to go
Step        the end of a best plan is a best plan for what is left (Bellman), so begin at the end.
            The best action depends on k: what pays soon counts most when little time is left.
Cost        T |S|^2 |A|.
The fast version stores only the moves that exist, and takes values of the last states.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    U: np.ndarray  # (S,) with k steps to go
    policy: np.ndarray  # (S,) what to do then


def stages(P: np.ndarray, R: np.ndarray, g: float, T: int) -> Iterator[State]:
    """With 1, 2, .., T steps to go."""
    U = np.zeros(len(P))
    for _ in range(T):
        Q = R + g * P @ U
        U = Q.max(axis=1)
        yield State(U, Q.argmax(axis=1))


def finite_horizon(P: np.ndarray, R: np.ndarray, g: float, T: int) -> State:
    """The first decision of a plan over T steps, and its worth."""
    *_, last = stages(P, R, g, T)
    return last
