r"""Whether positive amounts spread more the larger they are, on the learning rows.

With m_i = c exp(f_i) from a ridge regression f of log y on the features (c brings the mean of m to
that of y) and r_i = y_i - m_i, the slope of

    log |r_i| = a + b log m_i + e_i

is 0 where the spread is the same everywhere, 1/2 for counts, 1 where it is a share of the size. No
unit matters: another one moves both logarithms alike.

Reference: Park (1966), Estimation with heteroscedastic error terms.
"""

import math
from typing import NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.linear.ridge.ridge import Ridge

LEAST_ROWS, LEAST_SIGNAL = 40, 0.1  # the least spread of log m that says something
STEEP, SURE = 0.5, 3.0  # slope, and standard errors above 0
PENALTY = 0.01  # of one row


class Growth(NamedTuple):
    """How the spread of positive numbers goes with their size."""

    slope: float
    standard_error: float

    @property
    def grows(self) -> bool:
        """Whether the spread grows at least as the root of the size, beyond chance."""
        return self.slope >= STEEP and self.slope >= SURE * self.standard_error


def spread_growth(Z: Array, y: Array) -> Growth | None:
    """The slope of log spread on log size; None where it cannot be seen.

    ``Z`` are standardised features of the learning rows.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 1))
    >>> y = np.exp(3 + x[:, 0]) * rng.gamma(4.0, 0.25, 300)
    >>> spread_growth(x, y).grows, spread_growth(x, 1000 * y).grows
    (True, True)
    """
    y = np.asarray(y, dtype=np.float64)
    n = len(y)
    if y.ndim != 1 or n < LEAST_ROWS or not (y > 0).all() or not Z.shape[1]:
        return None
    f = Ridge(alpha=PENALTY * n).fit(Z, np.log(y)).predict(Z)
    if f.std() < LEAST_SIGNAL:
        return None
    mean = np.exp(f) * y.mean() / np.exp(f).mean()
    miss = np.abs(y - mean)
    seen = miss > 0
    if seen.sum() < LEAST_ROWS:
        return None
    u, v = np.log(mean[seen]), np.log(miss[seen])
    u = u - u.mean()
    size = float(u @ u)
    slope = float(u @ v) / size
    left = v - v.mean() - slope * u
    return Growth(slope, math.sqrt(float(left @ left) / (len(u) - 2) / size))
