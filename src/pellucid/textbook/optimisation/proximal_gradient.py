r"""Proximal gradient: a gradient step for the smooth part, then the exact step for the kink.

Minimise    f(x) + a |x|_1,  f smooth with curvature at most L
Step        f(u) <= f(x) + g'(u - x) + L/2 |u - x|^2; minimising that bound plus a |u|_1 splits into
            coordinates: u_j = soft(x_j - g_j / L, a / L), soft(z, t) = sign(z) max(|z| - t, 0),
            which is exactly 0 where |z| <= t. So the value never rises. FISTA takes the step from a
            point a little ahead, x + ((c_t - 1)/c_(t+1)) (x - x_before): 1/t^2 in the place of 1/t.
Cost        one gradient per step.
The fast version restarts the momentum where it points uphill, and takes other penalties.
"""

from collections.abc import Callable, Iterator

import numpy as np


def soft(z: np.ndarray, t: float) -> np.ndarray:
    return np.sign(z) * np.maximum(np.abs(z) - t, 0)


def steps(
    gradient: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
    a: float,
    L: float,
    accelerated: bool = False,
) -> Iterator[np.ndarray]:
    """Without end; ``accelerated`` is FISTA."""
    ahead, c = x, 1.0
    while True:
        yield x
        new = soft(ahead - gradient(ahead) / L, a / L)
        if accelerated:
            c_next = (1 + np.sqrt(1 + 4 * c**2)) / 2
            ahead = new + (c - 1) / c_next * (new - x)
            c = c_next
        else:
            ahead = new
        x = new


def proximal_gradient(
    gradient: Callable[[np.ndarray], np.ndarray], x: np.ndarray, a: float, L: float, n: int
) -> np.ndarray:
    """x after n plain steps."""
    path = steps(gradient, x, a, L)
    return [next(path) for _ in range(n + 1)][-1]
