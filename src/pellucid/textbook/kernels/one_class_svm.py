r"""One-class SVM: a region that holds most of the rows.

Minimise    |w|^2 / 2 + (1 / (nu n)) sum_i max(0, rho - w'phi(x_i)) - rho
Dual        min a'K a / 2,  0 <= a_i <= 1,  sum a = nu n  (in units of 1 / (nu n))
Step        a plane in the kernel's space, as far from the origin as possible, with most rows beyond
            it. Move a share t of a_j to a_i: the pair with the least (K a)_i that may rise and the
            largest (K a)_j that may fall. At the end (K a)_i = rho for free multipliers.
            At most a share nu of the rows lies outside, at least nu are support vectors.
Cost        n per step.
The fast version caches rows of K and leaves out multipliers that stay at a bound.
"""

from typing import NamedTuple

import numpy as np


class Region(NamedTuple):
    a: np.ndarray  # (n,)
    rho: float  # inside where sum_i a_i k(x_i, x) >= rho


def one_class_svm(K: np.ndarray, nu: float = 0.5, tol: float = 1e-10) -> Region:
    """The optimum."""
    n = len(K)
    a = np.clip(nu * n - np.arange(n), 0.0, 1.0)  # the first rows carry the sum
    g = K @ a
    while True:
        i = int(np.where(a < 1, g, np.inf).argmin())
        j = int(np.where(a > 0, g, -np.inf).argmax())
        if g[j] - g[i] <= tol:
            free = (a > 0) & (a < 1)
            return Region(a, float(g[free].mean() if free.any() else (g[i] + g[j]) / 2))
        t = (g[j] - g[i]) / max(K[i, i] + K[j, j] - 2 * K[i, j], 1e-12)
        t = min(t, 1 - a[i], a[j])
        a[i] += t
        a[j] -= t
        g += t * (K[:, i] - K[:, j])
