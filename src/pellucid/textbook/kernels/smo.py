r"""SMO: support vector machines, two multipliers at a time.

Minimise    |w|^2 / 2 + C sum_i max(0, 1 - y_i f(x_i)),  f(x) = w'phi(x) + b, y = -1 or +1
Dual        min a'Q a / 2 - sum a,  Q_ij = y_i y_j K_ij,  0 <= a_i <= C,  sum_i a_i y_i = 0
Step        g = Q a - 1 is the gradient. One multiplier alone cannot move; raising y_i a_i by t and
            lowering y_j a_j by t keeps the sum. The pair with the largest -y_i g_i among those
            that may rise and the least -y_j g_j among those that may fall gains most per unit;
            the parabola along t has its minimum at gap / (K_ii + K_jj - 2 K_ij), clipped.
            No gap: the conditions of the optimum hold. b is -y g of the free multipliers.
Cost        n per step.
The fast version caches rows of K, leaves out multipliers that stay at a bound, and takes K classes.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    a: np.ndarray  # (n,)
    b: float
    gap: float


def steps(K: np.ndarray, y: np.ndarray, C: float, tol: float) -> Iterator[State]:
    """One pair each, until the gap is at most tol."""
    a, g = np.zeros(len(y)), -np.ones(len(y))
    while True:
        v = -y * g
        rise = np.where((y > 0) & (a < C) | (y < 0) & (a > 0), v, -np.inf)
        fall = np.where((y > 0) & (a > 0) | (y < 0) & (a < C), v, np.inf)
        i, j = int(rise.argmax()), int(fall.argmin())
        free = (a > 0) & (a < C)
        b = v[free].mean() if free.any() else (v[i] + v[j]) / 2
        yield State(a.copy(), float(b), float(rise[i] - fall[j]))
        if rise[i] - fall[j] <= tol:
            return
        t = (v[i] - v[j]) / max(K[i, i] + K[j, j] - 2 * K[i, j], 1e-12)
        t = min(t, C - a[i] if y[i] > 0 else a[i], a[j] if y[j] > 0 else C - a[j])
        a[i] += y[i] * t
        a[j] -= y[j] * t
        g += t * y * (K[:, i] - K[:, j])


def smo(K: np.ndarray, y: np.ndarray, C: float = 1.0, tol: float = 1e-10) -> State:
    """The optimum; f at the training rows is K @ (a * y) + b."""
    *_, last = steps(K, y, C, tol)
    return last
