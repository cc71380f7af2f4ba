r"""KKT conditions: what a minimum under constraints must satisfy.

Minimise    f(x) subject to g_i(x) <= 0
Step        at a minimum no direction that keeps the constraints goes down, so -grad f is pushed
            back by the constraints that are met with equality: grad f + sum_i u_i grad g_i = 0 with
            u_i >= 0 (pushing one way only) and u_i g_i = 0 (only if touched). For convex f and g
            the conditions are also enough. u_i is the price of g_i: by how much f would fall if the
            constraint were moved by one unit.
Cost        one non-negative least squares.
The fast version also takes equalities, and differentiates by itself.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls


class Report(NamedTuple):
    multipliers: np.ndarray  # (m,)
    stationarity: float  # |grad f + sum u grad g|, 0 at a minimum
    violation: float  # of the constraints


def kkt_conditions(
    grad_f: np.ndarray, g: np.ndarray, grad_g: np.ndarray, tol: float = 1e-6
) -> Report:
    """At one point: grad f (p,), g (m,), grad g (m, p)."""
    u = np.zeros(len(g))
    active = g >= -tol
    if active.any():
        u[active] = nnls(grad_g[active].T, -grad_f)[0]
    left = grad_f + u @ grad_g
    return Report(u, float(np.abs(left).max()), float(max(g.max(), 0.0)))
