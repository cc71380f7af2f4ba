r"""Newton's method: jump to the lowest point of the best quadratic.

Minimise    f(x), twice differentiable
Step        f(x + d) ~ f + g'd + d'Hd / 2 is least at d = -H^-1 g. Near a minimum with H > 0 the
            error is squared at each step, and it does not depend on units: a change of columns
            changes H with them. Far away the quadratic may promise too much: halve d until f falls.
Cost        p^3 per step.
The fast version shifts H where it is not positive definite, and says so.
"""

from collections.abc import Callable, Iterator

import numpy as np


def steps(
    f: Callable[[np.ndarray], float],
    gradient: Callable[[np.ndarray], np.ndarray],
    hessian: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
    tol: float = 1e-8,
) -> Iterator[np.ndarray]:
    """Every point on the way, until the gradient is shorter than tol."""
    while True:
        yield x
        g = gradient(x)
        if np.linalg.norm(g) <= tol:
            return
        d = -np.linalg.solve(hessian(x), g)
        while f(x + d) > f(x):
            d = d / 2
        x = x + d


def newton_method(
    f: Callable[[np.ndarray], float],
    gradient: Callable[[np.ndarray], np.ndarray],
    hessian: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
) -> np.ndarray:
    """A minimum near x, where H is positive definite on the way."""
    *_, last = steps(f, gradient, hessian, x)
    return last
