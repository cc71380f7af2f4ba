r"""Orthogonal projection: the nearest point of a subspace.

Minimise    |y - Bw|^2 over w: the nearest point to y in the span of the columns of B
Step        at the nearest point the rest is perpendicular to every column, B'(y - Bw) = 0 (else a
            step along that column would come nearer: Pythagoras). So w = (B'B)^-1 B'y and the point
            is Py with P = B (B'B)^-1 B'. PP = P: projecting twice changes
            nothing. Least squares is this.
Cost        n p^2.
The fast version projects on affine subspaces too, and gives distance and coefficients.
"""

import numpy as np


def orthogonal_projection(B: np.ndarray) -> np.ndarray:
    """P (n, n)."""
    return B @ np.linalg.solve(B.T @ B, B.T)
