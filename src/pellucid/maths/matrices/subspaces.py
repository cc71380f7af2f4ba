r"""The four subspaces of a matrix A (m x n): column and row space, null space, left null space.

    rank r = dim column = dim row,    nullity n - r = dim null,    m - r = dim left null

"orthonormal": one SVD, A = U D V'; column = U_1..r, left null = the rest of U, row = V_1..r, null =
the rest of V. "pivot", as by hand: the reduced echelon form R by elimination with partial pivoting;
column = the pivot columns of A, row = the non-zero rows of R, null = one vector per free variable
(that variable 1, the other free ones 0), left null = the null space of A' in the same way.

Reference: Strang, Introduction to Linear Algebra, chapter 3.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays import check
from pellucid.core.arrays.matrices import numeric_matrix
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.maths.inputs import columns, oriented, rank_of, threshold, vector
from pellucid.maths.wording import one_line, span

BASES = ("orthonormal", "pivot")


@readable
class Subspaces(NamedTuple):
    """Bases as columns; a space that holds only the zero vector has a basis of no columns.

    >>> print(fundamental_subspaces([[1, 2], [2, 4]], "pivot"))
    rank 1 + nullity 1 = 2 columns
    column space: (1, 2)
    row space: (1, 2)
    null space (A x = 0): (-2, 1)
    left null space (A'y = 0): (-2, 1)
    """

    column: Array  # (m, r)
    row: Array  # (n, r)
    null: Array  # (n, n - r)
    left_null: Array  # (m, m - r)
    rank: int  # r
    nullity: int  # n - r

    def __repr__(self) -> str:
        return one_line(self)

    def __str__(self) -> str:
        return (
            f"rank {self.rank} + nullity {self.nullity} = {len(self.row)} columns\n"
            f"column space: {span(self.column)}\n"
            f"row space: {span(self.row)}\n"
            f"null space (A x = 0): {span(self.null)}\n"
            f"left null space (A'y = 0): {span(self.left_null)}"
        )


class Echelon(NamedTuple):
    """The non-zero rows of the reduced echelon form and the columns of their leading ones."""

    rows: Array  # (r, n)
    pivots: list[int]


def reduced_echelon(A: Array, tol: float) -> Echelon:
    """Gauss-Jordan elimination with partial pivoting; entries of at most ``tol`` are zero.

    >>> reduced_echelon(np.array([[2.0, 4.0, 2.0], [1.0, 2.0, 3.0]]), 1e-12).rows
    array([[1., 2., 0.],
           [0., 0., 1.]])
    """
    R = np.array(A)
    pivots: list[int] = []
    for j in range(R.shape[1]):
        r = len(pivots)
        if r == len(R):
            break
        i = r + int(np.argmax(np.abs(R[r:, j])))
        if abs(R[i, j]) <= tol:
            R[r:, j] = 0.0
            continue
        R[[r, i]] = R[[i, r]]
        R[r + 1 :] -= np.outer(R[r + 1 :, j] / R[r, j], R[r])  # below first: multipliers <= 1
        R[r + 1 :, j] = 0.0
        pivots.append(j)
    R = R[: len(pivots)]
    for r in range(len(pivots) - 1, -1, -1):
        R[r] /= R[r, pivots[r]]
        R[:r] -= np.outer(R[:r, pivots[r]], R[r])
        R[:r, pivots[r]] = 0.0
    return Echelon(np.where(np.abs(R) <= EPS * max(A.shape), 0.0, R), pivots)


def echelon_of_rank(A: Array, r: int, tol: float) -> Echelon:
    """The echelon form with r pivots: ``tol`` is moved until elimination agrees with the rank.

    Rounding grows in elimination; the singular values, which do not suffer from it, decide.

    >>> echelon_of_rank(np.array([[0.1, 0.3], [0.2, 0.6]]), 1, 1e-20).pivots
    [0]
    """
    found = reduced_echelon(A, tol)
    for _ in range(60):
        if len(found.pivots) == r:
            break
        tol *= 4.0 if len(found.pivots) > r else 0.25
        found = reduced_echelon(A, tol)
    return found


def fundamental_subspaces(
    A: ArrayLike, basis: str = "orthonormal", tol: float | None = None
) -> Subspaces:
    """Bases of the column, row, null and left null space of ``A``.

    ``basis`` is "orthonormal", by SVD, or "pivot", as by hand from the reduced echelon form.
    ``tol`` is what counts as zero; by default max(m, n) eps times the largest singular value.

    >>> from pellucid.maths import fundamental_subspaces
    >>> A = [[1, 2, 3], [4, 8, 12], [2, 8, 10], [3, 3, 6]]
    >>> fundamental_subspaces(A, "pivot").null.ravel()
    array([-1., -1.,  1.])
    """
    check.one_of(BASES, basis=basis)
    A = numeric_matrix(A, "A")
    U, d, Vt = np.linalg.svd(A)
    small = threshold(A.shape, float(d[0]), tol)
    r = int((d > small).sum())
    if basis == "orthonormal":
        column, row, null, left = map(oriented, (U[:, :r], Vt[:r].T, Vt[r:].T, U[:, r:]))
        return Subspaces(column, row, null, left, r, A.shape[1] - r)
    found = echelon_of_rank(A, r, small)
    column = A[:, found.pivots]
    left = _null(echelon_of_rank(column.T, r, small), len(A))
    return Subspaces(column, found.rows.T, _null(found, A.shape[1]), left, r, A.shape[1] - r)


def _null(found: Echelon, n: int) -> Array:
    """One vector per free variable: it is 1, the pivots are minus its column of R."""
    free = [j for j in range(n) if j not in found.pivots]
    N = np.zeros((n, len(free)))
    N[found.pivots] = -found.rows[:, free]
    N[free, range(len(free))] = 1.0
    return N + 0.0


def is_independent(V: ArrayLike, tol: float | None = None) -> bool:
    """Whether the columns of ``V`` are linearly independent.

    A 1-D V is one vector; ``tol`` of the rank as in :func:`fundamental_subspaces`.

    >>> from pellucid.maths import is_independent
    >>> is_independent([[1, 2], [2, 4]]), is_independent([[1, 0], [2, 1]])
    (False, True)
    """
    V = columns(V)
    return rank_of(V, tol) == V.shape[1]


def coordinates(V: Any, x: Any) -> Array | None:
    """The numbers c with V c = x, or None where x is not in the span of the columns.

    The columns of ``V`` are the vectors, a 1-D array is one; ``x`` is in the span when V c misses
    it by rounding only. Of many c the shortest is returned.

    >>> from pellucid.maths import coordinates
    >>> coordinates([[1, 1], [0, 2], [0, 0]], [3, 4, 0]).round(12)
    array([1., 2.])
    >>> coordinates([[1, 1], [0, 2], [0, 0]], [3, 4, 5]) is None
    True
    """
    V = columns(V)
    x = vector(x, "x", len(V))
    if V.shape[1] == 0:
        return np.zeros(0) if not x.any() else None
    c, _, _, d = np.linalg.lstsq(V, x, rcond=max(V.shape) * EPS)
    rounding = 10 * max(V.shape) * EPS * (d[0] * np.linalg.norm(c) + np.linalg.norm(x))
    return c if np.linalg.norm(x - V @ c) <= rounding else None


def in_span(V: ArrayLike, x: ArrayLike) -> bool:
    """Whether ``x`` is a linear combination of the columns of ``V``.

    >>> from pellucid.maths import in_span
    >>> in_span([[1, 0], [0, 1], [1, 1]], [2, 3, 5])
    True
    """
    return coordinates(V, x) is not None
