r"""Lines, planes and hyperplanes: {x_0 + B c}, and the nearest point in them.

    P = B (B'B)^-1 B' = U U'          U an orthonormal basis of the columns of B
    nearest point to x:   x_0 + P (x - x_0),      distance |(I - P)(x - x_0)|

A hyperplane is {x : n.x + b = 0}, one dimension less than the space; the distance to it is
|n.x + b| / |n|. A set of this kind is a subspace iff it contains 0.
"""

from typing import NamedTuple

import numpy as np

from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.maths.inputs import columns, threshold, vector
from pellucid.maths.wording import flat, folded, number, one_line, point


@readable
class Projection(NamedTuple):
    """The nearest point of a subspace.

    >>> print(AffineSubspace([1, 1]).project([2, 0]))
    The nearest point is (1, 1), at distance 1.41421; the residual (1, -1) is orthogonal to the
    set.
    """

    point: Array  # the nearest point
    coefficients: Array  # on the directions
    residual: Array  # x minus the point
    distance: float  # length of the residual

    def __repr__(self) -> str:
        return one_line(self)

    def __str__(self) -> str:
        return folded(
            f"The nearest point is {point(self.point)}, at distance {number(self.distance)}; "
            f"the residual {point(self.residual)} is orthogonal to the set."
        )


def _span(B: Array) -> tuple[Array, Array, Array]:
    """U, d, V of the directions that count: B = U diag(d) V'."""
    if B.shape[1] == 0:
        return np.zeros((len(B), 0)), np.zeros(0), np.zeros((0, 0))
    U, d, Vt = np.linalg.svd(B, full_matrices=False)
    r = int((d > threshold(B.shape, float(d[0]), None)).sum())
    return U[:, :r], d[:r], Vt[:r].T


def projection_matrix(B: ArrayLike) -> Array:
    """The matrix P = B (B'B)^-1 B' that projects on the span of the columns (hat matrix).

    Dependent columns of ``B`` are allowed: the projection depends on their span only.

    >>> from pellucid.maths import projection_matrix
    >>> projection_matrix([1, 2])
    array([[0.2, 0.4],
           [0.4, 0.8]])
    """
    U = _span(columns(B, "B"))[0]
    return U @ U.T


class AffineSubspace:
    """The set point + span(columns of directions).

    Parameters
    ----------
    directions : matrix of shape (n, k); a 1-D array is one vector
        Dependent columns are allowed; coefficients are then the shortest.
    point : vector, optional
        Any point of the set; the origin by default.

    Attributes
    ----------
    dim : int
    is_hyperplane : bool
        One dimension less than the space.
    is_linear : bool
        Whether it contains 0, that is, whether it is a subspace.
    normal : ndarray
        The unit normal of a hyperplane.

    Examples
    --------
    >>> from pellucid.maths import AffineSubspace
    >>> plane = AffineSubspace.from_equation([0, 0, 2], -6)
    >>> print(plane)
    a plane in 3 dimensions through (0, 0, 3), a hyperplane with normal (0, 0, 1); 0 is not on
    it, so it is no subspace
    >>> plane.project([1, 2, 7]).distance, plane.contains([5, 5, 3])
    (4.0, True)
    """

    def __init__(self, directions: ArrayLike, point: ArrayLike | None = None) -> None:
        self.directions = columns(directions, "directions")
        n = len(self.directions)
        self.point = np.zeros(n) if point is None else vector(point, "point", n)
        self._U, self._d, self._V = _span(self.directions)
        self._normal: Array | None = None

    @classmethod
    def from_equation(cls, normal: ArrayLike, offset: float) -> "AffineSubspace":
        """The hyperplane {x : normal.x + offset = 0}."""
        n = vector(normal, "normal")
        b = float(vector(offset, "offset", 1)[0])
        if not n.any():
            raise ValueError("normal must not be the zero vector")
        length = np.linalg.norm(n)
        unit = n / length
        found = cls(np.linalg.svd(unit[None])[2][1:].T, -(b / length) * unit)
        found._normal = unit
        return found

    @property
    def dim(self) -> int:
        return self._U.shape[1]

    @property
    def is_hyperplane(self) -> bool:
        return self.dim == len(self.point) - 1

    @property
    def is_linear(self) -> bool:
        return self.contains(np.zeros(len(self.point)))

    @property
    def normal(self) -> Array:
        if not self.is_hyperplane:
            flat_ = f"dimension {self.dim} in {len(self.point)} dimensions"
            raise ValueError(f"only a hyperplane has one normal; this set has {flat_}")
        if self._normal is None:
            full = np.linalg.svd(self._U)[0] if self.dim else np.eye(1)
            n = np.where(np.abs(full[:, -1]) <= len(full) * EPS, 0.0, full[:, -1])
            self._normal = n * np.sign(n[np.flatnonzero(n)[0]])
        return self._normal

    def contains(self, x: ArrayLike, tol: float = 1e-9) -> bool:
        """Whether the distance of x is at most ``tol`` times the size of x and the point."""
        check.non_negative(tol=tol)
        x = vector(x, "x", len(self.point))
        size = max(1.0, float(np.linalg.norm(x)), float(np.linalg.norm(self.point)))
        return self.project(x).distance <= tol * size

    def project(self, x: ArrayLike) -> Projection:
        """The point of the set that is nearest to x."""
        x = vector(x, "x", len(self.point))
        along = self._U.T @ (x - self.point)
        nearest = self.point + self._U @ along
        residual = x - nearest
        residual -= self._U @ (self._U.T @ residual)  # rounding left along the set
        k = self.directions.shape[1]
        coefficients = self._V @ (along / self._d) if self.dim else np.zeros(k)
        return Projection(nearest, coefficients, residual, float(np.linalg.norm(residual)))

    def __repr__(self) -> str:
        return f"AffineSubspace(dim={self.dim}, in={len(self.point)})"

    def __str__(self) -> str:
        text = f"{flat(self.dim)} in {len(self.point)} dimensions through {point(self.point)}"
        if self.is_hyperplane:
            text += f", a hyperplane with normal {point(self.normal)}"
        zero = "is on it, so it is a" if self.is_linear else "is not on it, so it is no"
        return folded(f"{text}; 0 {zero} subspace")
