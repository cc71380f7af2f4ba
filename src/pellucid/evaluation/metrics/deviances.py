r"""Deviances: how far a predicted mean is from what was seen, on the scale of a distribution.

    Poisson   d(y, m) = 2 (y log(y / m) - y + m)                   y >= 0, m > 0;  0 log 0 = 0
    Gamma     d(y, m) = 2 (log(m / y) + y / m - 1)                 y > 0,  m > 0
    Tweedie   d(y, m) = 2 (y^(2-p) / ((1-p)(2-p)) - y m^(1-p) / (1-p) + m^(2-p) / (2-p)),  p = 1.5

Twice the log likelihood lost against a mean of y itself. Each is least, in expectation, at the true
mean, as the squared error is; but a miss counts by the spread that the distribution allows there:
1 for variance m, m^p or m^2. p = 1.5 is a sum of a Poisson number of Gamma amounts: zeros and
positive numbers.

References: Jorgensen (1987); Gneiting (2011), theorem 7.
"""

import numpy as np
import scipy

from pellucid.core.arrays.typing import Array
from pellucid.evaluation.metrics.prepared import Prepared

POWER = 1.5


def _positive(data: Prepared, name: str, *, zeros: bool) -> tuple[Array, Array]:
    """Truth and prediction, once they are in the domain of a deviance."""
    y, m = data.y, data.prediction
    if (y < 0).any() or (not zeros and (y == 0).any()):
        need = "at least 0" if zeros else "above 0"
        raise ValueError(f"{name} needs every y_true {need}, got {y.min():g}")
    if (m <= 0).any():
        raise ValueError(f"{name} needs predictions above 0, got {m.min():g}")
    return y, m


def poisson_deviances(data: Prepared) -> Array:
    """One per row; of several outputs their mean.

    >>> poisson_deviances(Prepared("numbers", np.array([[0.0]]), np.array([[2.0]]), None))
    array([4.])
    """
    y, m = _positive(data, "poisson_deviance", zeros=True)
    return (2 * (scipy.special.xlogy(y, y / m) - y + m)).mean(axis=1)


def gamma_deviances(data: Prepared) -> Array:
    """One per row; of several outputs their mean.

    >>> gamma_deviances(Prepared("numbers", np.array([[3.0]]), np.array([[3.0]]), None))
    array([0.])
    """
    y, m = _positive(data, "gamma_deviance", zeros=False)
    return (2 * (np.log(m / y) + y / m - 1)).mean(axis=1)


def tweedie_deviances(data: Prepared) -> Array:
    """One per row, of the power 1.5; of several outputs their mean.

    >>> tweedie_deviances(Prepared("numbers", np.array([[0.0]]), np.array([[4.0]]), None))
    array([8.])
    """
    y, m = _positive(data, "tweedie_deviance", zeros=True)
    p = POWER
    terms = y ** (2 - p) / ((1 - p) * (2 - p)) - y * m ** (1 - p) / (1 - p) + m ** (2 - p) / (2 - p)
    return (2 * terms).mean(axis=1)
