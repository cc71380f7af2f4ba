r"""Lengths and angles of vectors.

    |x|_p = (sum |x_i|^p)^(1/p),   |x|_inf = max |x_i|        (p < 1: no triangle inequality)
    angle = 2 atan2(|u - v|, |u + v|),   u = x/|x|, v = y/|y|

The second is arccos(u.v) without its loss of half the digits near 0 and 180 degrees (Kahan).
"""

import math

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.runtime.warn import warn
from pellucid.maths.inputs import columns, vector


def norm(x: ArrayLike, p: float = 2) -> float:
    """The l_p norm of a vector, whatever its orientation.

    ``x`` may be (n,), (n, 1) or (1, n), ``p`` anything in (0, inf]. Below 1 the triangle inequality
    fails (a quasi-norm), and a warning says so.

    >>> from pellucid.maths import norm
    >>> norm([[3, -4]], 1), norm([[3], [-4]], 2), norm([3, -4], float("inf"))
    (7.0, 5.0, 4.0)
    """
    check.positive(p=p)
    v = np.abs(vector(x, "x"))
    if p < 1:
        warn(f"p = {p:g} < 1 is a quasi-norm: the triangle inequality does not hold")
    largest = float(v.max())
    if largest == 0 or p == np.inf:
        return largest
    return float(largest * np.sum((v / largest) ** p) ** (1 / p))  # scaled: no overflow


def angle(x: ArrayLike, y: ArrayLike, degrees: bool = True) -> float:
    """The angle between vectors ``x`` and ``y``, not zero, in ``degrees`` from 0 to 180 or radians.

    >>> from pellucid.maths import angle
    >>> round(angle([1, 0], [1, 1]), 12), angle([1, 0], [0, 2])
    (45.0, 90.0)
    """
    check.boolean(degrees=degrees)
    u = vector(x, "x")
    v = vector(y, "y", len(u))
    for name, w in (("x", u), ("y", v)):
        if not w.any():
            raise ValueError(f"{name} is the zero vector: it has no direction, hence no angle")
    u, v = u / np.abs(u).max(), v / np.abs(v).max()
    u, v = u / np.linalg.norm(u), v / np.linalg.norm(v)
    radians = 2 * math.atan2(float(np.linalg.norm(u - v)), float(np.linalg.norm(u + v)))
    return math.degrees(radians) if degrees else radians


def is_orthonormal(V: ArrayLike, tol: float = 1e-9) -> bool:
    """Whether the columns of V have length 1 and are orthogonal to each other.

    A 1-D ``V`` is one vector; ``tol`` is the largest entry of V'V - I that counts as rounding.

    >>> from pellucid.maths import is_orthonormal
    >>> is_orthonormal([[0.6, -0.8], [0.8, 0.6]]), is_orthonormal([[1, 1], [0, 1]])
    (True, False)
    """
    check.non_negative(tol=tol)
    V = columns(V)
    return bool(np.abs(V.T @ V - np.eye(V.shape[1])).max(initial=0.0) <= tol)
