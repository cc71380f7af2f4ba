r"""A x = b: how many solutions, and which.

    rank A < rank [A b]            none; x is the least-squares one, min |b - A x|
    rank A = rank [A b] = n        one
    rank A = rank [A b] < n        infinitely many: x + null space of A; x is the shortest

b is scaled to the size of A before the ranks are taken, so that its units do not matter.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgWarning

from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays import check
from pellucid.core.arrays.matrices import numeric_matrix
from pellucid.core.arrays.typing import Array
from pellucid.core.readable import readable
from pellucid.core.runtime.warn import warn
from pellucid.maths.inputs import oriented, square, threshold, vector
from pellucid.maths.wording import flat, folded, number, one_line, point, span

POOR = 1 / np.sqrt(EPS)  # condition from which half of the digits is gone


@readable
class LinearSystem(NamedTuple):
    """The solutions of A x = b.

    >>> print(solve_system([[1, 1], [2, 2]], [2, 4]))
    infinitely many solutions (rank 1 = rank of [A b] < 2 unknowns): the line (1, 1) plus any
    combination of (0.707107, -0.707107)
    """

    kind: str  # "one", "none" or "infinitely many"
    x: Array  # a solution, or the nearest to one
    null_space: Array  # (n, n - rank)
    rank: int  # of A
    rank_augmented: int  # of [A b]
    residual: float  # |b - A x|

    def __repr__(self) -> str:
        return one_line(self)

    def __str__(self) -> str:
        n, k = self.null_space.shape
        if self.kind == "none":
            return folded(
                f"no solution (rank {self.rank} < {self.rank_augmented}, the rank of [A b]): "
                f"the least-squares answer {point(self.x)} misses b by {number(self.residual)}"
            )
        if self.kind == "one":
            return folded(
                f"one solution (rank {self.rank} = rank of [A b] = {n} unknowns): {point(self.x)}"
            )
        where = flat(k).split(" ", 1)[1]
        return folded(
            f"infinitely many solutions (rank {self.rank} = rank of [A b] < {n} unknowns): the "
            f"{where} {point(self.x)} plus any combination of {span(self.null_space)}"
        )


def solve_system(A: Any, b: Any, tol: float | None = None) -> LinearSystem:
    """Solve ``A`` x = ``b``, or say why there is no solution or more than one.

    ``tol`` is what counts as zero; by default max(m, n) eps times the largest singular value.

    >>> from pellucid.maths import solve_system
    >>> solve_system([[1, 2], [3, 3]], [5, 9]).x.round(12)
    array([1., 2.])
    >>> solve_system([[1, 1], [1, 1]], [1, 2]).kind
    'none'
    """
    A = numeric_matrix(A, "A")
    b = vector(b, "b", len(A))
    U, d, Vt = np.linalg.svd(A)
    r = int((d > threshold(A.shape, float(d[0]), tol)).sum())
    length = float(np.linalg.norm(b))
    scaled = b * (d[0] / length) if length > 0 and d[0] > 0 else b
    both = np.linalg.svd(np.column_stack([A, scaled]), compute_uv=False)
    augmented = int((both > threshold((len(A), A.shape[1] + 1), float(both[0]), tol)).sum())
    augmented = min(max(augmented, r), r + 1)
    regular = r == len(A) == A.shape[1]
    x = np.linalg.solve(A, b) if regular else Vt[:r].T @ ((U[:, :r].T @ b) / d[:r])
    kind = "none" if augmented > r else "one" if r == A.shape[1] else "infinitely many"
    residual = float(np.linalg.norm(b - A @ x))
    return LinearSystem(kind, x, oriented(Vt[r:].T), r, augmented, residual)


def invert(A: Any, if_singular: str = "raise") -> Array | None:
    """The inverse of a square matrix.

    ``A`` is invertible where its rank is n; a condition number above 1/sqrt(eps) warns.
    ``if_singular`` is "raise", "none" (return None) or "pseudo": the Moore-Penrose pseudo-inverse,
    for an A of any shape.

    >>> from pellucid.maths import invert
    >>> invert([[1, 2], [3, 3]]).round(4)
    array([[-1.    ,  0.6667],
           [ 1.    , -0.3333]])
    >>> invert([[1, 2], [2, 4]], "none") is None
    True
    """
    check.one_of(("raise", "none", "pseudo"), if_singular=if_singular)
    A = numeric_matrix(A, "A") if if_singular == "pseudo" and np.ndim(A) == 2 else square(A)
    d = np.linalg.svd(A, compute_uv=False)
    r = int((d > threshold(A.shape, float(d[0]), None)).sum())
    if r < max(A.shape):
        if if_singular == "none":
            return None
        if if_singular == "raise":
            hint = "if_singular='pseudo' gives the pseudo-inverse"
            raise ValueError(f"A is singular: its rank is {r}, not {len(A)}; {hint}")
        return np.linalg.pinv(A, rcond=max(A.shape) * EPS)
    if d[0] / d[-1] > POOR:
        warn(
            f"A is ill-conditioned (condition {d[0] / d[-1]:.3g}): the inverse has about "
            f"{max(0.0, -np.log10(EPS * d[0] / d[-1])):.0f} correct digits",
            LinAlgWarning,
        )
    return np.linalg.inv(A)
