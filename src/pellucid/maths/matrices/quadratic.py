r"""Quadratic functions, solved by eigenvalues.

f(x) = x'Ax + b.x + c,    gradient (A + A')x + b,    Hessian H = A + A'
     = (x - m)'A(x - m) + f(m)      where H m = -b       (completing the square)

H positive definite                      one minimum
H semidefinite, b in the range of H      infinitely many: m + null space of H
H semidefinite, b not in its range       none: unbounded below along the null space
H with a negative eigenvalue             none: unbounded below along its eigenvector
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays import check
from pellucid.core.arrays.matrices import numeric_matrix
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.maths.inputs import oriented, square, vector
from pellucid.maths.matrices.quadratic_forms import Definiteness, definiteness
from pellucid.maths.wording import flat, folded, listed, number, one_line, point, span

CONVEXITY = {
    "positive definite": "strictly convex",
    "positive semidefinite": "convex",
    "negative definite": "strictly concave",
    "negative semidefinite": "concave",
    "indefinite": "neither",
}


@readable
class QuadraticMinimum(NamedTuple):
    """Where a quadratic function is least.

    ``kind`` is "unique", "infinitely many", "none: unbounded" or "none: not convex"; of the last
    two x is None and the value -inf. ``null_space`` are the directions in which H is flat.

    >>> print(Quadratic([[1, 0], [0, 0]]).minimise())
    infinitely many minimisers, the line (0, 0) plus any combination of (0, 1): value 0
    """

    kind: str
    x: Array | None
    value: float
    null_space: Array  # (n, k)

    def __repr__(self) -> str:
        return one_line(self)

    def __str__(self) -> str:
        if self.kind == "none: unbounded":
            return "no minimum: flat in some direction and sloping along it, it falls without end"
        if self.x is None:
            return "no minimum: it is not convex, and falls without end"
        if self.kind == "unique":
            return folded(f"one minimum, at {point(self.x)}: value {number(self.value)}")
        where = flat(self.null_space.shape[1]).split(" ", 1)[1]
        return folded(
            f"infinitely many minimisers, the {where} {point(self.x)} plus any combination of "
            f"{span(self.null_space)}: value {number(self.value)}"
        )


@readable
class CompletedSquare(NamedTuple):
    """f(x) = (x - center)'A(x - center) + offset.

    >>> print(Quadratic([[1.0]], [-4.0], 5.0).complete_square())
    (x - m)'A(x - m) + 1 with m = (2)
    """

    center: Array  # the stationary point
    offset: float  # f there

    def __repr__(self) -> str:
        return one_line(self)

    def __str__(self) -> str:
        sign = "-" if self.offset < 0 else "+"
        rest = f"{sign} {number(abs(self.offset))}"
        return f"(x - m)'A(x - m) {rest} with m = {point(self.center)}"


class Quadratic:
    """The function x'Ax + b.x + c.

    Parameters
    ----------
    A : matrix of shape (n, n)
        Need not be symmetric.
    b : vector of n numbers, optional
        Zero by default.
    c : float, default=0.0
        The constant.

    Attributes
    ----------
    hessian : ndarray
        A + A'.
    convexity : str
        "strictly convex", "convex", "strictly concave", "concave" or "neither".

    Examples
    --------
    >>> from pellucid.maths import Quadratic
    >>> f = Quadratic.canonical([[2, 0], [0, 4]], [-2, 4])
    >>> print(f.minimise())
    one minimum, at (1, -1): value -3
    >>> f.convexity, f.value([0, 0]), f.gradient([0, 0])
    ('strictly convex', 0.0, array([-2.,  4.]))
    """

    def __init__(self, A: ArrayLike, b: ArrayLike | None = None, c: float = 0.0) -> None:
        self.A = square(A)
        self.b = np.zeros(len(self.A)) if b is None else vector(b, "b", len(self.A))
        self.c = float(vector(c, "c", 1)[0])

    @classmethod
    def canonical(cls, B: Any, b: ArrayLike | None = None, c: float = 0.0) -> "Quadratic":
        """x'Bx/2 + b.x + c."""
        return cls(square(B, "B") / 2, b, c)

    @classmethod
    def least_squares(cls, X: ArrayLike, y: ArrayLike, alpha: float = 0.0) -> "Quadratic":
        """|y - X w|^2 + alpha |w|^2 as a function of w."""
        check.non_negative(alpha=alpha)
        X = numeric_matrix(X, "X")
        y = vector(y, "y", len(X))
        U, d, Vt = np.linalg.svd(X, full_matrices=False)
        d = np.where(d > max(X.shape) * EPS * d[0], d, 0.0)
        A = (Vt.T * d**2) @ Vt + alpha * np.eye(X.shape[1])
        return cls(A, -2 * (Vt.T @ (d * (U.T @ y))), float(y @ y))  # b in the range of A exactly

    @property
    def hessian(self) -> Array:
        return self.A + self.A.T

    def value(self, x: ArrayLike) -> float:
        """f(x)."""
        x = vector(x, "x", len(self.b))
        return float(x @ self.A @ x + self.b @ x + self.c)

    __call__ = value

    def gradient(self, x: ArrayLike) -> Array:
        """(A + A')x + b."""
        return self.hessian @ vector(x, "x", len(self.b)) + self.b

    @cached_property
    def _definite(self) -> Definiteness:
        H = self.hessian
        return definiteness(H, 10 * len(H) * EPS * float(np.linalg.norm(H, 2)))

    @property
    def convexity(self) -> str:
        return CONVEXITY[self._definite.kind]

    def _stationary(self) -> tuple[Array | None, Array]:
        """The shortest m with H m = -b (None where there is none), and the null space of H."""
        values, V = np.linalg.eigh(self.hessian)
        live = np.abs(values) > 10 * len(values) * EPS * np.abs(values).max()
        N = oriented(V[:, ~live])
        at = V[:, live].T @ self.b
        outside = np.linalg.norm(N.T @ self.b) > 1e-10 * np.linalg.norm(self.b)
        return (None if outside else -V[:, live] @ (at / values[live])), N

    def complete_square(self) -> CompletedSquare:
        """Centre m and offset f(m) with f(x) = (x - m)'A(x - m) + f(m)."""
        m, _ = self._stationary()
        if m is None:
            raise ValueError("the square cannot be completed: b is not in the range of A + A'")
        return CompletedSquare(m, self.c + 0.5 * float(self.b @ m))

    def minimise(self) -> QuadraticMinimum:
        """All the minimisers, or the reason why there is none."""
        m, N = self._stationary()
        if not self._definite.is_psd:
            return QuadraticMinimum("none: not convex", None, -np.inf, N)
        if m is None:
            return QuadraticMinimum("none: unbounded", None, -np.inf, N)
        kind = "infinitely many" if N.shape[1] else "unique"
        return QuadraticMinimum(kind, m, self.c + 0.5 * float(self.b @ m), N)

    def __repr__(self) -> str:
        return f"Quadratic({self.A.tolist()}, {self.b.tolist()}, {self.c:g})"

    def __str__(self) -> str:
        bends = self.convexity.replace("neither", "neither convex nor concave")
        return folded(
            f"x'Ax + b.x + {number(self.c)} in {len(self.b)} variables, {bends}: the "
            f"eigenvalues of A + A' are {listed(self._definite.eigenvalues)}"
        )
