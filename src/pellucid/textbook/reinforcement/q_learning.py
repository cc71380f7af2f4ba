r"""Q-learning: learn what the best policy is worth while following another.

Given       a world that answers an action a in s with a reward and a next state t
Solve       Q(s, a) = E[r + g max_b Q(t, b)], Bellman's equation for pairs
Step        r + g max_b Q(t, b) is a noisy sight of the right-hand side: move a little towards it,
            Q(s, a) <- Q(s, a) + rate (r + g max_b Q(t, b) - Q(s, a)). The maximum stands for the
            best policy whatever the agent does next, so it may explore as it likes.
Cost        |A| per step.
The fast version simulates in compiled code, and takes other rates and explorations.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    Q: np.ndarray  # (S, A)
    steps: list[tuple[int, int, float, int, bool]]  # (s, a, r, t, end) of this episode


def backup(
    Q: np.ndarray, s: int, a: int, r: float, t: int, end: bool, g: float, rate: float
) -> None:
    """Learn from one step, in place."""
    Q[s, a] += rate * (r + (0.0 if end else g * Q[t].max()) - Q[s, a])


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
        while not ends[s]:
            best = np.flatnonzero(Q[s] == Q[s].max())
            a = int(rng.integers(R.shape[1]) if rng.random() < e else rng.choice(best))
            t = int(rng.choice(len(P), p=P[s, a]))
            steps.append((s, a, float(R[s, a]), t, bool(ends[t])))
            backup(Q, s, a, R[s, a], t, ends[t], g, rate)
            s = t
        yield State(Q.copy(), steps)


def q_learning(
    P: np.ndarray, R: np.ndarray, ends: np.ndarray, g: float, n: int, rng: np.random.Generator
) -> np.ndarray:
    """Q (S, A) after n episodes with rate 0.1 and one random action in ten."""
    *_, last = episodes(P, R, ends, g, 0.1, 0.1, n, rng)
    return last.Q
