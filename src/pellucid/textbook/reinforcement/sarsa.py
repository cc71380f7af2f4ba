r"""SARSA: learn what the policy that is followed is worth, its random moves included.

Given       a world that answers an action a in s with a reward and a next state t
Solve       Q(s, a) = E[r + g Q(t, b)], b drawn by the policy itself
Step        choose b before learning, then Q(s, a) <- Q(s, a) + rate (r + g Q(t, b) - Q(s, a)). As
            the policy follows Q, both improve. b may be a random move: the agent keeps away from
            cliffs where Q-learning walks along the edge. State, action, reward, state, action.
Cost        one addition per step.
The fast version simulates in compiled code, adds up several rewards, and takes other explorations.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    Q: np.ndarray  # (S, A)
    steps: list[tuple[int, int, float, int, int, bool]]  # (s, a, r, t, b, end) of this episode


def choose(Q: np.ndarray, s: int, e: float, rng: np.random.Generator) -> int:
    best = np.flatnonzero(Q[s] == Q[s].max())
    return int(rng.integers(Q.shape[1]) if rng.random() < e else rng.choice(best))


def episodes(
    P: np.ndarray,
    R: np.ndarray,
    ends: np.ndarray,
    g: float,
    rate: float,
    e: float,
    n: int,
    rng: np.random.Generator,
) -> Iterator[State]:
    """n episodes in the world P[s, a, t], R[s, a], from any state until one in ``ends`` (bool)."""
    Q = np.zeros(R.shape)
    for _ in range(n):
        s, steps = int(rng.choice(np.flatnonzero(~ends))), []
        a = choose(Q, s, e, rng)
        while not ends[s]:
            t = int(rng.choice(len(P), p=P[s, a]))
            b = choose(Q, t, e, rng)
            ahead = 0.0 if ends[t] else g * Q[t, b]
            Q[s, a] += rate * (R[s, a] + ahead - Q[s, a])
            steps.append((s, a, float(R[s, a]), t, b, bool(ends[t])))
            s, a = t, b
        yield State(Q.copy(), steps)


def sarsa(
    P: np.ndarray, R: np.ndarray, ends: np.ndarray, g: float, n: int, rng: np.random.Generator
) -> np.ndarray:
    """Q (S, A) after n episodes with rate 0.1 and one random action in ten."""
    *_, last = episodes(P, R, ends, g, 0.1, 0.1, n, rng)
    return last.Q
