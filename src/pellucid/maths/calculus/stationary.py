"""The certificate of a critical point (``core.algebra.critical``) for any function.

Derivatives that are not given are numerical. Their error decides what an eigenvalue of 0 is: a
curvature that differences cannot tell from 0 leaves the point undecided instead of guessing.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.core.algebra import derivatives
from pellucid.core.algebra.critical import CriticalPoint, certify
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

    ``f`` maps a vector to a number, ``x`` is the point to classify. ``gradient`` and ``hessian``
    are functions of x, numerical by default; with a gradient the Hessian is its differences. Up to
    the norm ``tol`` of the gradient x is stationary; with ``convex`` it is then a global minimum.

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
    if gradient is None:
        slope = derivatives.numerical_gradient(g, x).value
    else:
        slope = vector(gradient(x.copy()), "the gradient", p)
    small = None
    if hessian is not None:
        H = np.asarray(hessian(x.copy()), dtype=np.float64).reshape(p, p)
    else:
        if gradient is None:
            found = derivatives.numerical_hessian(g, x)
        else:
            found = derivatives.numerical_jacobian(
                lambda z: vector(gradient(z), "the gradient", p), x
            )
        H = found.value
        small = max(10 * float(found.error.max()), CURVATURE * float(np.abs(H).max()))
    if not (np.isfinite(slope).all() and np.isfinite(H).all()):
        raise ValueError(f"f is not finite in a neighbourhood of x = {x.tolist()}")
    return certify(float(np.linalg.norm(slope)), H, tol=tol, convex=convex, small=small)
