r"""Adaptive dynamic programming: learn the world by counting, then plan in what is known of it.

Given       steps (s, a, r, t) that were seen, t = -1 after the end
Solve       P(t | s, a) = N(s, a, t) / N(s, a), R(s, a) = mean reward: maximum likelihood; then
            U(s) = max_a R(s, a) + g f(sum_t P(t | s, a) U(t), N(s, a)): the
            best policy in that world
Step        value iteration in the counted world. f(u, n) = r+ while n < m, then u: what follows a
            pair seen fewer than m times looks as good as r+, so that the agent goes and looks; with
            m = 0 it is greedy, never learns what it never tried, and may settle on a bad policy.
Cost        |S|^2 |A| per sweep: few steps in the world, each dear.
The fast version replans while it acts, from the last plan on, with lists of the moves seen.
"""

from typing import NamedTuple

import numpy as np


class Plan(NamedTuple):
    P: np.ndarray  # (S, A, S) shares; rows sum to less than 1 where the world ended
    R: np.ndarray  # (S, A)
    visits: np.ndarray  # (S, A)
    Q: np.ndarray  # (S, A) with the optimism


def adaptive_dynamic_programming(
    steps: list[tuple[int, int, float, int]],
    S: int,
    A: int,
    g: float,
    r_plus: float = 0.0,
    m: int = 0,
) -> Plan:
    moves, visits, total = np.zeros((S, A, S + 1)), np.zeros((S, A)), np.zeros((S, A))
    for s, a, r, t in steps:
        moves[s, a, t] += 1  # t = -1 is the last column: the end, worth nothing
        visits[s, a] += 1
        total[s, a] += r
    seen = np.maximum(visits, 1)
    P, R = moves[:, :, :S] / seen[:, :, None], total / seen
    U, visited = np.zeros(S), visits.any(axis=1)
    while True:
        Q = R + g * np.where(visits < m, r_plus, P @ U)
        new = np.where(visited, Q.max(axis=1), 0.0)  # what was never left is an end
        if np.abs(new - U).max() < 1e-12:
            return Plan(P, R, visits, Q)
        U = new
