r"""Support vector regression: a tube of free errors, two multipliers at a time.

Minimise    |w|^2 / 2 + C sum_i max(0, |y_i - f(x_i)| - eps),  f(x) = w'phi(x) + b
Dual        min s'K s / 2 - y's + eps sum |s|,  -C <= s_i <= C,  sum s = 0;  w = sum_i s_i phi(x_i)
Step        raise s_i by t and lower s_j by t: along t the objective is a parabola plus two absolute
            values, convex. With r = y - K s, raising s_i gains r_i - eps per unit (r_i + eps while
            s_i < 0), lowering s_j gains -(r_j + eps) (or -(r_j - eps) while s_j > 0). Take the best
            pair and go to the minimum, to a bound, or to the next 0 of s_i or s_j.
            Rows inside the tube have s = 0: the others are the support vectors.
Cost        n per step.
The fast version works on 2 n multipliers like SMO, with a cache and shrinking.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    s: np.ndarray  # (n,)
    b: float
    gap: float


def steps(K: np.ndarray, y: np.ndarray, C: float, eps: float, tol: float) -> Iterator[State]:
    """One pair each, until the gap is at most tol."""
    s, r = np.zeros(len(y)), y.astype(float).copy()
    while True:
        up = np.where(s < C, r - np.where(s < 0, -eps, eps), -np.inf)  # gain of raising
        down = np.where(s > -C, r - np.where(s > 0, eps, -eps), np.inf)  # minus that of lowering
        i, j = int(up.argmax()), int(down.argmin())
        b = (up[i] + down[j]) / 2
        yield State(s.copy(), float(b), float(up[i] - down[j]))
        if up[i] - down[j] <= tol:
            return
        t = (up[i] - down[j]) / max(K[i, i] + K[j, j] - 2 * K[i, j], 1e-12)
        room_i = -s[i] if s[i] < 0 else C - s[i]  # up to 0, where the slope changes, or the bound
        room_j = s[j] if s[j] > 0 else s[j] + C
        t = min(t, room_i, room_j)
        s[i] = 0.0 if t == -s[i] else s[i] + t
        s[j] = 0.0 if t == s[j] else s[j] - t
        r -= t * (K[:, i] - K[:, j])


def support_vector_regression(
    K: np.ndarray, y: np.ndarray, C: float = 1.0, eps: float = 0.1, tol: float = 1e-10
) -> State:
    """The optimum; f at the training rows is K @ s + b."""
    *_, last = steps(K, y, C, eps, tol)
    return last
