r"""Ellipsoids: level sets of quadratic forms and contours of Gaussian densities.

{x : (x - m)' A (x - m) = c},   A = sum_i lambda_i v_i v_i'     radii sqrt(c / lambda_i) along v_i
"""

from typing import NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.core.readable import readable


@readable
class Ellipsoid(NamedTuple):
    """Centre, unit axes as columns and the half-lengths along them, longest first.

    >>> print(level_ellipsoid(np.diag([1.0, 4.0]), 4.0, np.zeros(2)))
    ellipsoid around (0, 0): radius 2 along (1, 0), radius 1 along (0, 1)
    """

    center: Array  # (d,)
    axes: Array  # (d, d)
    radii: Array  # (d,)

    def points(self, n: int = 100) -> Array:
        """n points of the surface, (n, d): around the ellipse, or scattered where d > 2.

        Each is the centre + axes diag(radii) u with |u| = 1.
        """
        d = len(self.radii)
        if d == 1:
            u = np.where(np.arange(n)[:, None] % 2, -1.0, 1.0)
        elif d == 2:
            t = 2 * np.pi * np.arange(n) / n
            u = np.column_stack([np.cos(t), np.sin(t)])
        else:
            u = np.random.default_rng(0).standard_normal((n, d))  # always the same points
            u /= np.linalg.norm(u, axis=1, keepdims=True)
        return self.center + (u * self.radii) @ self.axes.T

    def __str__(self) -> str:
        def text(v: Array) -> str:
            return "(" + ", ".join(f"{x + 0.0:.4g}" for x in v) + ")"

        parts = (
            f"radius {r:.6g} along {text(v)}" for r, v in zip(self.radii, self.axes.T, strict=True)
        )
        return f"ellipsoid around {text(self.center)}: {', '.join(parts)}"


def level_ellipsoid(A: Array, c: float, center: Array) -> Ellipsoid:
    """The level set (x - center)'A(x - center) = c of a symmetric positive definite A.

    >>> level_ellipsoid(np.diag([1.0, 4.0]), 4.0, np.zeros(2)).radii
    array([2., 1.])
    """
    values, axes = np.linalg.eigh(A)  # ascending, so the radii descend
    first = np.argmax(np.abs(axes) > 1e-12, axis=0)
    axes = axes * np.sign(axes[first, np.arange(len(axes))])  # first entry positive
    return Ellipsoid(center, axes, np.sqrt(c / values))
