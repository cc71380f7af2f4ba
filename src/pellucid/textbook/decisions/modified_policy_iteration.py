r"""Modified policy iteration: evaluate a policy roughly, improve it, repeat.

Given       P[s, a, t] = P(t | s, a),  R[s, a], discount g < 1, sweeps k
Solve       U(s) = max_a R[s, a] + g sum_t P[s, a, t] U(t)
Step        take the greedy policy of U, then put U <- R_pi + g P_pi U k times in the place of the
            system. k = 1 is value iteration, k -> infinity policy iteration; a sweep of one policy
            costs |A| times less than a sweep over all actions.
            With low <= BU - U <= high, B one Bellman sweep, and h = g/(1-g), U* lies between
            BU + h low and BU + h high.
Cost        |S|^2 (|A| + k) per round.
The fast version stores only the moves that exist.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    policy: np.ndarray
    U: np.ndarray
    error_at_most: float


def rounds(P: np.ndarray, R: np.ndarray, g: float, k: int, error: float = 1e-9) -> Iterator[State]:
    s = np.arange(len(P))
    U = np.zeros(len(P))
    while True:
        Q = R + g * P @ U
        policy, change = Q.argmax(axis=1), Q.max(axis=1) - U
        low, high = g / (1 - g) * change.min(), g / (1 - g) * change.max()
        yield State(policy, Q.max(axis=1) + (low + high) / 2, (high - low) / 2)
        if (high - low) / 2 <= error:
            return
        for _ in range(k):
            U = R[s, policy] + g * P[s, policy] @ U


def modified_policy_iteration(P: np.ndarray, R: np.ndarray, g: float, k: int = 10) -> State:
    """A best policy and its worth, to ``error_at_most``."""
    *_, last = rounds(P, R, g, k)
    return last
