r"""What is true of a matrix, in one record.

For a square matrix these are true together or false together (invertible-matrix theorem): full
rank; det A != 0; independent columns; independent rows; A x = 0 only for x = 0; A x = b has one
solution for every b. The rank, by singular values, decides: det A may be tiny for a perfectly good
matrix (0.1 I in 20 dimensions has 1e-20) and far from 0 for a singular one.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.matrices import numeric_matrix
from pellucid.core.arrays.typing import Array
from pellucid.core.readable import readable
from pellucid.maths.inputs import threshold
from pellucid.maths.matrices.quadratic_forms import Definiteness, definiteness
from pellucid.maths.wording import listed, number, one_line

ROUNDING = 1e-9  # entries of A'A - I and A A - A that count as zero, relative to A's size


@readable
class MatrixReport(NamedTuple):
    """Rank, size and kind of a matrix; det, trace and definiteness are None unless square.

    >>> print(matrix_report([[1, 2], [2, 4]]))
    2 x 2 matrix of rank 1, nullity 1, condition inf
    singular values 5, 0
    det 0, trace 5, symmetric, positive semidefinite
    not invertible, so all of these are false:
      full rank; det != 0; independent columns; independent rows; only x = 0 solves A x = 0;
      A x = b has one solution for every b
    """

    rank: int  # number of singular values above ``tol``
    nullity: int  # columns minus rank
    det: float | None  # determinant
    trace: float | None  # sum of the diagonal
    condition: float  # 2-norm; inf where the rank falls short
    singular_values: Array  # descending
    is_invertible: bool  # square of full rank
    is_symmetric: bool  # A = A'
    is_orthogonal: bool  # square, A'A = I
    has_orthonormal_columns: bool  # A'A = I
    is_projection: bool  # A A = A
    definiteness: Definiteness | None  # sign of x'Ax

    def __repr__(self) -> str:
        return one_line(self)

    def __str__(self) -> str:
        p = self.rank + self.nullity
        shape = f"{p} x {p}" if self.det is not None else f"rectangular {p}-column"
        values = np.where(np.arange(len(self.singular_values)) < self.rank, self.singular_values, 0)
        lines = [
            f"{shape} matrix of rank {self.rank}, nullity {self.nullity}, "
            f"condition {number(self.condition)}",
            f"singular values {listed(values)}",
        ]
        named = {
            "symmetric": self.is_symmetric,
            "orthogonal (A'A = I)": self.is_orthogonal,
            "orthonormal columns (A'A = I)": self.has_orthonormal_columns
            and not self.is_orthogonal,
            "a projection (A A = A)": self.is_projection,
            self.definiteness.kind if self.definiteness else "": self.is_symmetric,
        }
        kinds = [kind for kind, holds in named.items() if holds and kind]
        if self.det is None:
            full = "the columns are independent" if not self.nullity else "the columns depend"
            return "\n".join([*lines, ", ".join([*kinds, full])])
        sizes = f"det {number(self.det)}, trace {number(self.trace)}"
        lines.append(", ".join([sizes, *kinds]))
        word, truth = ("invertible", "true") if self.is_invertible else ("not invertible", "false")
        lines.append(f"{word}, so all of these are {truth}:")
        lines.append("  full rank; det != 0; independent columns; independent rows; only x = 0")
        lines[-1] += " solves A x = 0;\n  A x = b has one solution for every b"
        return "\n".join(lines)


def matrix_report(A: Any, tol: float | None = None) -> MatrixReport:
    """Rank, determinant, condition, symmetry, orthogonality and definiteness of ``A``.

    Singular values up to ``tol`` count as 0; by default max(m, n) eps times the largest.

    >>> from pellucid.maths import matrix_report
    >>> report = matrix_report([[2, 0, 1], [1, 3, 2], [1, 1, 4]])
    >>> report.rank, round(report.det, 10), report.trace, report.is_invertible
    (3, 18.0, 9.0, True)
    """
    A = numeric_matrix(A, "A")
    m, n = A.shape
    d = np.linalg.svd(A, compute_uv=False)
    small = threshold(A.shape, float(d[0]), tol)
    r = int((d > small).sum())
    is_square, full = m == n, r == min(m, n)
    size = max(1.0, float(d[0]))
    columns = m >= n and _near(A.T @ A, np.eye(n), 1.0)
    return MatrixReport(
        rank=r,
        nullity=n - r,
        det=float(np.linalg.det(A)) if is_square else None,
        trace=float(np.trace(A)) if is_square else None,
        condition=float(d[0] / d[-1]) if full and d[-1] > 0 else np.inf,
        singular_values=d,
        is_invertible=is_square and full,
        is_symmetric=is_square and bool(np.abs(A - A.T).max() <= small),
        is_orthogonal=is_square and columns,
        has_orthonormal_columns=columns,
        is_projection=is_square and _near(A @ A, A, size**2),
        definiteness=definiteness(A, tol) if is_square else None,
    )


def _near(A: Array, B: Array, size: float) -> bool:
    return bool(np.abs(A - B).max() <= ROUNDING * size)
