"""The certificate of a critical point (``core.algebra.critical``) for any function.

Derivatives that are not given are numerical. Their error decides what an eigenvalue of 0 is: a
curvature that differences cannot tell from 0 leaves the point undecided instead of guessing.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.core.algebra.critical import CriticalPoint, certify
from pellucid.core.algebra.derivatives import (
    numerical_gradient,
    numerical_hessian,
    numerical_jacobian,
)
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.maths.calculus.differentiation import Remembered
from pellucid.maths.inputs import vector

CURVATURE = 1e-7  # relative to the largest, that differences cannot tell from 0


def critical_point(
    f: Callable[[Array], Any],
    x: ArrayLike,
    gradient: Callable[[Array], Any] | None = None,
    hessian: Callable[[Array], Any] | None = None,
    tol: float = 1e-5,
    convex: bool = False,
) -> CriticalPoint:
    """Minimum, maximum, saddle point, undecided or not stationary.

    Parameters
    ----------
    f : function of a vector
        Returns one number.
    x : vector
        The point to classify.
    gradient, hessian : functions of x, optional
        Numerical by default; with a gradient the Hessian is its differences.
    tol : float, default=1e-5
        The norm of the gradient up to which x is stationary.
    convex : bool, default=False
        f is known to be convex: a stationary point is then a global minimum.

    Examples
    --------
    >>> from pellucid.maths import critical_point
    >>> critical_point(lambda x: x[0] ** 2 - x[1] ** 2, [0.0, 0.0]).kind
    'saddle point'
    >>> critical_point(lambda x: x[0] ** 2 + x[1] ** 4, [0.0, 0.0]).kind
    'undecided'
    """
    check.positive(tol=tol)
    check.boolean(convex=convex)
    x = vector(x, "x")
    p, g = len(x), Remembered(f)
    slope = (
        numerical_gradient(g, x).value
        if gradient is None
        else vector(gradient(x.copy()), "the gradient", p)
    )
    small = None
    if hessian is not None:
        H = np.asarray(hessian(x.copy()), dtype=np.float64).reshape(p, p)
    else:
        if gradient is None:
            found = numerical_hessian(g, x)
        else:
            found = numerical_jacobian(lambda z: vector(gradient(z), "the gradient", p), x)
        H = found.value
        small = max(10 * float(found.error.max()), CURVATURE * float(np.abs(H).max()))
    if not (np.isfinite(slope).all() and np.isfinite(H).all()):
        raise ValueError(f"f is not finite in a neighbourhood of x = {x.tolist()}")
    return certify(float(np.linalg.norm(slope)), H, tol=tol, convex=convex, small=small)
