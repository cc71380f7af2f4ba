r"""Is x'Ax always positive? Definiteness by eigenvalues, and the ellipsoid x'Ax = c.

Only the symmetric part S = (A + A')/2 matters: x'Ax = x'Sx = sum_i lambda_i (v_i'x)^2.

    all lambda > 0     positive definite         bowl: one minimum, at 0
    all lambda >= 0    positive semidefinite     valley: minimisers are the null space of S
    both signs         indefinite                saddle

Eigenvalues within max(shape) eps max|lambda| of 0 count as 0.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.maths.inputs import square, threshold, vector
from pellucid.maths.matrices.ellipsoids import Ellipsoid, level_ellipsoid
from pellucid.maths.wording import flat, folded, listed, one_line


@readable
class Definiteness(NamedTuple):
    """The sign of x'Ax, with the eigenvalues of (A + A')/2, smallest first.

    >>> print(definiteness([[1, 1], [1, 1]]))
    positive semidefinite: eigenvalues 0, 2; so x'Ax >= 0, and its minimisers form a line
    """

    kind: str  # such as "positive definite"
    eigenvalues: Array  # ascending
    is_pd: bool  # all > 0
    is_psd: bool  # all >= 0
    is_nd: bool  # all < 0
    is_nsd: bool  # all <= 0

    def __repr__(self) -> str:
        return one_line(self)

    def __str__(self) -> str:
        zero = int((self.eigenvalues == 0).sum())
        sense = {
            "positive definite": "x'Ax > 0 for every x but 0, its only minimiser",
            "positive semidefinite": f"x'Ax >= 0, and its minimisers form {flat(zero)}",
            "negative definite": "x'Ax < 0 for every x but 0, its only maximiser",
            "negative semidefinite": f"x'Ax <= 0, and its maximisers form {flat(zero)}",
            "indefinite": "x'Ax takes both signs: 0 is a saddle point",
        }[self.kind]
        if zero == len(self.eigenvalues):
            sense = "x'Ax = 0 everywhere"
        return folded(f"{self.kind}: eigenvalues {listed(self.eigenvalues)}; so {sense}")


def definiteness(A: Any, tol: float | None = None) -> Definiteness:
    """Positive or negative (semi)definite, or indefinite.

    ``A`` need not be symmetric: x'Ax depends on (A + A')/2 only. Eigenvalues of at most the size
    ``tol`` are 0; by default n eps times the largest.

    >>> from pellucid.maths import definiteness
    >>> definiteness([[2, 1], [1, 2]]).kind, definiteness([[1, 2], [2, 1]]).kind
    ('positive definite', 'indefinite')
    """
    A = square(A)
    values = np.linalg.eigvalsh((A + A.T) / 2)
    small = threshold(A.shape, float(np.abs(values).max()), tol)
    values = np.where(np.abs(values) <= small, 0.0, values)
    is_psd, is_nsd = bool((values >= 0).all()), bool((values <= 0).all())
    is_pd, is_nd = bool((values > 0).all()), bool((values < 0).all())
    if is_psd:
        kind = "positive definite" if is_pd else "positive semidefinite"
    elif is_nsd:
        kind = "negative definite" if is_nd else "negative semidefinite"
    else:
        kind = "indefinite"
    return Definiteness(kind, values, is_pd, is_psd, is_nd, is_nsd)


def ellipsoid(A: ArrayLike, c: float = 1.0, center: ArrayLike | None = None) -> Ellipsoid:
    """The level set (x - center)'A(x - center) = c, longest axis first.

    ``A`` is positive definite (its symmetric part), refused otherwise, naming the eigenvalue; ``c``
    > 0 is the level, ``center`` the origin by default.

    >>> from pellucid.maths import ellipsoid
    >>> print(ellipsoid([[3, 1], [1, 3]], c=4))
    ellipsoid around (0, 0): radius 1.41421 along (0.7071, -0.7071), radius 1 along (0.7071, 0.7071)
    """
    A = square(A)
    check.positive(c=c)
    found = definiteness(A)
    if not found.is_pd:
        got = f"got the eigenvalue {found.eigenvalues[0]:g}"
        raise ValueError(f"A must be positive definite to have an ellipsoid, {got}")
    m = np.zeros(len(A)) if center is None else vector(center, "center", len(A))
    return level_ellipsoid((A + A.T) / 2, float(c), m)
