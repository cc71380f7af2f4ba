r"""Taylor series: a function as a polynomial near a point.

Solve       coefficients a_k with f(x) ~ sum_k a_k (x - x0)^k
Step        both sides have the same derivatives at x0 if a_k = f^(k)(x0) / k!. For a function on a
            circle of radius r around x0 in the complex plane these are Fourier coefficients
            (Cauchy): a_k = r^-k mean_j f(x0 + r w_j) w_j^-k over m equally spaced w_j. No small
            differences are divided by small numbers, so all digits survive.
Cost        m values of f.
The fast version finds the radius within which it may be trusted.
"""

from collections.abc import Callable

import numpy as np


def taylor_series(
    f: Callable[[np.ndarray], np.ndarray], x0: float, order: int, r: float = 0.5, m: int = 64
) -> np.ndarray:
    """a_0 .. a_order of a function that takes complex numbers and is smooth within r."""
    w = np.exp(2j * np.pi * np.arange(m) / m)
    values = f(x0 + r * w)
    k = np.arange(order + 1)
    return np.real((values * w ** -k[:, None]).mean(axis=1) / r**k)
