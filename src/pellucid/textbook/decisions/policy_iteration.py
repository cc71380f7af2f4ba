r"""Policy iteration: evaluate a policy exactly, improve it, repeat.

Given       P[s, a, t] = P(t | s, a),  R[s, a], discount g < 1
Solve       U(s) = max_a R[s, a] + g sum_t P[s, a, t] U(t)
Step        U of the policy by a linear system; then in each state the action that is best if U
            holds from the next step on. The new policy is at least as good everywhere; if it is the
            same, U solves Bellman's equation. Each policy comes once and
            there are finitely many: it ends.
Cost        |S|^3 + |S|^2 |A| per round, usually under ten rounds.
The fast version solves sparse systems and changes an action only where it is strictly better.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    policy: np.ndarray  # (S,)
    U: np.ndarray  # (S,) what it is worth


def rounds(P: np.ndarray, R: np.ndarray, g: float) -> Iterator[State]:
    """Better and better policies, from the one that takes action 0."""
    s = np.arange(len(P))
    policy = np.zeros(len(P), dtype=int)
    while True:
        U = np.linalg.solve(np.eye(len(P)) - g * P[s, policy], R[s, policy])
        yield State(policy, U)
        Q = R + g * P @ U  # (S, A)
        better = Q.max(axis=1) > Q[s, policy] + 1e-12 * np.abs(Q).max()  # not by rounding alone
        if not better.any():
            return
        policy = np.where(better, Q.argmax(axis=1), policy)


def policy_iteration(P: np.ndarray, R: np.ndarray, g: float) -> State:
    """A best policy."""
    *_, last = rounds(P, R, g)
    return last
