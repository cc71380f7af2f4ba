r"""Double Q-learning: two tables, so that luck is not mistaken for worth.

Why         max_b Q(t, b) of noisy values is too high on average: the luckiest action is taken for
            the best one. Choose with one table, ask the other: their luck is independent.
Step        toss a coin for i in {0, 1}, j the other one; with b = argmax Q_i(t, .),
            Q_i(s, a) <- Q_i(s, a) + rate (r + g Q_j(t, b) - Q_i(s, a)). Act by the mean of both.
Cost        |A| per step.
The fast version simulates in compiled code, and takes other rates and explorations.
"""

from collections.abc import Iterator

import numpy as np


def backup(
    Q: np.ndarray, i: int, s: int, a: int, r: float, t: int, end: bool, g: float, rate: float
) -> None:
    """Let table i of Q (2, S, A) learn from one step, in place."""
    ahead = 0.0 if end else g * Q[1 - i, t, Q[i, t].argmax()]
    Q[i, s, a] += rate * (r + ahead - Q[i, s, a])


def episodes(
    P: np.ndarray,
    R: np.ndarray,
    ends: np.ndarray,
    g: float,
    rate: float,
    e: float,
    n: int,
    rng: np.random.Generator,
) -> Iterator[np.ndarray]:
    """Both tables after each of n episodes, from any state until one in ``ends`` (bool)."""
    Q = np.zeros((2, *R.shape))
    for _ in range(n):
        s = int(rng.choice(np.flatnonzero(~ends)))
        while not ends[s]:
            mean = Q[:, s].mean(axis=0)
            best = np.flatnonzero(mean == mean.max())
            a = int(rng.integers(len(mean)) if rng.random() < e else rng.choice(best))
            t = int(rng.choice(len(P), p=P[s, a]))
            backup(Q, int(rng.integers(2)), s, a, R[s, a], t, ends[t], g, rate)
            s = t
        yield Q.copy()


def double_q_learning(
    P: np.ndarray, R: np.ndarray, ends: np.ndarray, g: float, n: int, rng: np.random.Generator
) -> np.ndarray:
    """Q (S, A), the mean of both tables after n episodes."""
    *_, last = episodes(P, R, ends, g, 0.1, 0.1, n, rng)
    return last.mean(axis=0)
