r"""A smooth density of one number within each class: Gaussian kernels on the points seen.

    f(x) = 1/W sum_i w_i N(x; x_i, h^2),      h = sd (3 W/4)^(-1/5)

h is the best bandwidth for normal data (Silverman's rule; sd with divisor W - 1). The points are
sorted, and only those within reach of the nearest one count: a term is left out when it is below
e^-45 of the largest, so the sum is exact to rounding and stays right, in logs, far from all points.

Reference: Silverman (1986), Density Estimation, section 3.4.
"""

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray, Rng
from pellucid.core.runtime.jit import jit

REACH = 45.0  # terms below e^-REACH of the largest are left out


@jit
def write_log_kernels(x, points, w, h, out):
    """out[i] = log sum_j w_j exp(-(x_i - points_j)^2 / 2 h^2); points ascend."""
    m = len(points)
    for i in range(len(x)):
        z = x[i]
        right = np.searchsorted(points, z)
        nearest = np.inf
        if right < m:
            nearest = points[right] - z
        if right > 0:
            nearest = min(nearest, z - points[right - 1])
        d0 = nearest / h
        reach = h * np.sqrt(d0 * d0 + 2.0 * (REACH + np.log(m)))
        total = 0.0
        j = right
        while j < m and points[j] - z <= reach:
            d = (points[j] - z) / h
            total += w[j] * np.exp(-0.5 * (d - d0) * (d + d0))
            j += 1
        j = right - 1
        while j >= 0 and z - points[j] <= reach:
            d = (z - points[j]) / h
            total += w[j] * np.exp(-0.5 * (d - d0) * (d + d0))
            j -= 1
        out[i] = np.log(total) - 0.5 * d0 * d0


def log_kernel_density(x: Array, points: Array, w: Array, h: float) -> Array:
    """log f(x) of every x.

    >>> log_kernel_density(np.zeros(1), np.zeros(1), np.ones(1), 1.0).round(4)
    array([-0.9189])
    """
    out = np.empty(len(x))
    write_log_kernels(np.ascontiguousarray(x), points, w, h, out)
    return out - np.log(w.sum() * h * np.sqrt(2 * np.pi))


def bandwidth(x: Array, w: Array) -> float:
    """Silverman's rule; 0 where the points have no spread."""
    W = float(w.sum())
    if W <= 1:
        return 0.0
    mean = (w @ x) / W
    return float(np.sqrt(w @ (x - mean) ** 2 / (W - 1)) * (0.75 * W) ** -0.2)


def draw_kernels(points: Array, w: Array, h: float, n: int, rng: Rng) -> Array:
    """n draws: a point, then its kernel."""
    at: IntArray = rng.choice(len(points), size=n, p=w / w.sum())
    return points[at] + h * rng.standard_normal(n)
