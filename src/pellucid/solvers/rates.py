r"""Which learning rates work, from the curvature.

On a quadratic with Hessian H the error of gradient descent with rate eta is multiplied by I - eta H
at every step, so it converges for eta < 2/lambda_max, fastest for 2/(lambda_min + lambda_max),
where the error falls by (k - 1)/(k + 1), k = lambda_max/lambda_min the condition number.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike


class LearningRates(NamedTuple):
    """The limit, the best constant rate, the condition number, the eigenvalues (ascending)."""

    maximum: float
    best: float
    condition: float
    eigenvalues: Array

    def __str__(self) -> str:
        limits = f"diverges above {self.maximum:.6g}; best constant rate {self.best:.6g}"
        return f"{limits}; condition number {self.condition:.6g}"


def learning_rate_range(objective: Any, x: ArrayLike) -> LearningRates:
    """The useful learning rates of gradient descent near ``x``, from the Hessian of ``objective``.

    Examples
    --------
    >>> from pellucid.solvers import LinearObjective, learning_rate_range
    >>> f = LinearObjective([[1, 0], [1, 1], [1, 2]], [1, 2, 4], scale="half_mean")
    >>> rates = learning_rate_range(f, [0.0, 0.0])
    >>> round(rates.maximum, 6), round(rates.best, 6), round(rates.condition, 4)
    (0.837722, 0.75, 8.5497)
    """
    x = np.atleast_1d(np.asarray(x, dtype=np.float64))
    values = np.linalg.eigvalsh(objective.hessian(x))
    low, high = float(values[0]), float(values[-1])
    if not high > 0:
        raise ValueError(f"the function does not curve upwards at x (top eigenvalue {high:.3g})")
    low = 0.0 if abs(low) <= len(values) * np.finfo(np.float64).eps * high else low
    condition = high / low if low > 0 else np.inf
    return LearningRates(2 / high, 2 / (max(low, 0.0) + high), condition, values)
