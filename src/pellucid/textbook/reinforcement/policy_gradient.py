r"""Policy gradient (REINFORCE): climb the expected return of a random policy directly.

Model       pi(a | s) = exp h(s, a) / sum_b exp h(s, b), h a table
Maximise    J = E[G_0], G_t = r_t + g r_{t+1} + .., over h
Step        dJ = E[sum_t g^t (G_t - v) d log pi(a_t | s_t)]: the derivative of a probability is the
            probability times that of its logarithm, and rewards before t do not depend on a_t. The
            baseline v changes nothing on average, as probabilities sum to 1, and calms the noise:
            here the mean return so far. For a softmax d log pi / dh(s, b) = [b = a] - pi(b | s).
Cost        |A| per step of an episode.
The fast version simulates in compiled code; features in the place of the table, other baselines.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    h: np.ndarray  # (S, A) preferences
    steps: list[tuple[int, int, float]]  # (s, a, r) of this episode


def softmax(h: np.ndarray) -> np.ndarray:
    p = np.exp(h - h.max())
    return p / p.sum()


def climb(
    h: np.ndarray, steps: list[tuple[int, int, float]], g: float, rate: float, baseline: float
) -> tuple[np.ndarray, list[float]]:
    """Preferences after an episode, and its returns G_t."""
    G, returns = 0.0, list[float]()
    for _, _, r in reversed(steps):
        G = r + g * G
        returns.insert(0, G)
    new = h.copy()
    for t, (s, a, _) in enumerate(steps):
        direction = np.eye(h.shape[1])[a] - softmax(h[s])
        new[s] += rate * g**t * (returns[t] - baseline) * direction
    return new, returns


def episodes(
    P: np.ndarray,
    R: np.ndarray,
    ends: np.ndarray,
    g: float,
    rate: float,
    n: int,
    rng: np.random.Generator,
) -> Iterator[State]:
    """n episodes in the world P[s, a, t], R[s, a], from any state until one in ``ends`` (bool)."""
    h, seen = np.zeros(R.shape), [0.0]
    for _ in range(n):
        s, steps = int(rng.choice(np.flatnonzero(~ends))), []
        while not ends[s]:
            a = int(rng.choice(R.shape[1], p=softmax(h[s])))
            steps.append((s, a, float(R[s, a])))
            s = int(rng.choice(len(P), p=P[s, a]))
        h, returns = climb(h, steps, g, rate, float(np.sum(seen) / max(len(seen) - 1, 1)))
        seen += returns
        yield State(h, steps)


def policy_gradient(
    P: np.ndarray, R: np.ndarray, ends: np.ndarray, g: float, n: int, rng: np.random.Generator
) -> np.ndarray:
    """Probabilities of the actions (S, A) after n episodes with rate 0.1."""
    *_, last = episodes(P, R, ends, g, 0.1, n, rng)
    return np.array([softmax(row) for row in last.h])
