r"""A matrix as rotate, stretch, rotate.

    svd        A = U diag(s) V'           U, V orthogonal; s >= 0              any A
    gram       the same from A'A = V diag(s^2) V' and u_i = A v_i / s_i        any A, fewer digits
    eigen      A = P diag(lambda) P^-1                                         A diagonalizable
    spectral   A = Q diag(lambda) Q'      Q orthogonal                         A symmetric

The values of A'A are squares: a singular value below sqrt(eps) s_1 drowns in its rounding, and one
of s_1 eps^(1/4) keeps half of its digits. P is useless when its condition is near 1/sqrt(eps): A is
then, to rounding, defective (fewer eigenvectors than dimensions).

Best approximation of rank k (Eckart & Young): keep the k largest values,
|A - A_k|_F = sqrt(sum of the dropped s^2), |A - A_k|_2 = s_k+1.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgWarning

from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays import check
from pellucid.core.arrays.matrices import numeric_matrix
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.core.runtime.warn import warn
from pellucid.maths.inputs import square
from pellucid.maths.matrices.orthogonalise import gram_schmidt
from pellucid.maths.wording import folded, listed, number, one_line

KINDS = ("svd", "gram", "eigen", "spectral")
DEFECTIVE = 0.01 / np.sqrt(EPS)  # condition of P; a Jordan block of size 2 has about 1/sqrt(eps)
HALF_DIGITS = EPS**0.25
WORDS = {
    "svd": ("A = U diag(s) V': turn by V', stretch by the singular values", "turn by U"),
    "gram": ("A = U diag(s) V' from A'A: turn by V', stretch by the singular values", "turn by U"),
    "eigen": (
        "A = P diag(l) P^-1: take coordinates on the eigenvectors, stretch them by the eigenvalues",
        "go back",
    ),
    "spectral": ("A = Q diag(l) Q': turn by Q', stretch by the eigenvalues", "turn back by Q"),
}


@readable
class LowRank(NamedTuple):
    """The best matrix of rank k, its Frobenius and spectral error, and the storage it needs.

    >>> print(decompose([[3, 0], [0, 1]]).low_rank(1))
    misses A by 1 (Frobenius norm), by at most 1 for any x of length 1; 1.25 times the storage
    """

    matrix: Array  # (m, n) of rank k
    error: float  # Frobenius norm of A - matrix
    spectral_error: float  # largest singular value of A - matrix
    storage: float  # k (m + n + 1) / (m n): numbers kept against numbers in A

    def __repr__(self) -> str:
        return one_line(self)

    def __str__(self) -> str:
        return (
            f"misses A by {number(self.error)} (Frobenius norm), by at most "
            f"{number(self.spectral_error)} for any x of length 1; {number(self.storage)} times "
            "the storage"
        )


@readable
class Decomposition(NamedTuple):
    """A = left diag(values) right, values descending.

    ``left`` and ``right`` are None where A has too few eigenvectors (``diagonalizable`` False).

    >>> print(decompose([[1, 1], [0, 1]], "eigen"))
    eigen: eigenvalues 1, 1, but too few eigenvectors: A is not diagonalizable
    """

    kind: str  # "svd", "gram", "eigen" or "spectral"
    left: Any  # (m, m), or None
    values: Any  # (min(m, n),)
    right: Any  # (n, n), or None
    diagonalizable: bool | None  # None where it is not asked (svd, gram)

    def __repr__(self) -> str:
        return one_line(self)

    def __str__(self) -> str:
        if self.left is None:
            return folded(
                f"eigen: eigenvalues {listed(self.values)}, but too few eigenvectors: "
                "A is not diagonalizable"
            )
        words, last = WORDS[self.kind]
        return folded(f"{words} {listed(self.values)}, then {last}.")

    def _needs_factors(self) -> None:
        if self.left is None:
            raise ValueError("A is not diagonalizable: it has no factors")

    def steps(self, x: ArrayLike) -> tuple[Any, Any, Any]:
        """x (or the columns of a matrix) after the rotation, the stretch and the last rotation."""
        self._needs_factors()
        x = np.asarray(x, dtype=np.float64)
        if x.ndim not in (1, 2) or len(x) != len(self.right):
            raise ValueError(f"x needs {len(self.right)} rows, got shape {x.shape}")
        turned = self.right @ x
        k = len(self.values)
        stretched = np.zeros((len(self.left), *x.shape[1:]), dtype=turned.dtype)  # pads or drops
        stretched[:k] = (turned[:k].T * self.values).T
        return turned, stretched, self.left @ stretched

    def low_rank(self, k: int) -> LowRank:
        """The nearest matrix of rank at most k."""
        check.whole(at_least=0, k=k)
        if self.kind == "eigen":
            raise ValueError("low_rank needs orthogonal factors: use 'svd' or 'spectral'")
        order = np.argsort(-np.abs(self.values), kind="stable")
        keep, size = order[:k], np.sort(np.abs(self.values))[::-1]
        matrix = (self.left[:, keep] * self.values[keep]) @ self.right[keep]
        m, n = len(self.left), len(self.right)
        spectral = float(size[k]) if k < len(size) else 0.0
        storage = len(keep) * (m + n + 1) / (m * n)
        return LowRank(matrix, float(np.linalg.norm(size[k:])), spectral, storage)


def decompose(A: ArrayLike, kind: str = "svd") -> Decomposition:
    """Factor A = left diag(values) right.

    ``A`` is square for ``kind`` "eigen", symmetric for "spectral", any matrix for "svd" and "gram".

    >>> from pellucid.maths import decompose
    >>> decompose([[2, 1], [1, 2]], "spectral").values
    array([3., 1.])
    >>> decompose([[3, 0], [4, 5]]).steps([1, 0])[2].round(12)
    array([3., 4.])
    """
    check.one_of(KINDS, kind=kind)
    if kind in ("eigen", "spectral"):
        A = square(A)
        return _eigen(A) if kind == "eigen" else _spectral(A)
    A = numeric_matrix(A, "A")
    if kind == "gram":
        return _gram(A)
    U, s, Vt = np.linalg.svd(A)
    return Decomposition("svd", U, s, Vt, None)


def _gram(A: Array) -> Decomposition:
    """V and s from A'A, u_i = A v_i / s_i, completed to a basis by Gram-Schmidt."""
    m, n = A.shape
    k = min(m, n)
    squares, V = np.linalg.eigh(A.T @ A)
    s, V = np.sqrt(np.maximum(squares[::-1], 0.0))[:k], V[:, ::-1]
    s = np.where(s <= np.sqrt(max(m, n) * EPS) * s[0], 0.0, s)
    if s[-1] < HALF_DIGITS * s[0]:
        warn(
            f"A'A has the squares of the singular values: those below {HALF_DIGITS * s[0]:.3g} "
            f"lose more than half of their digits, those below {np.sqrt(EPS) * s[0]:.3g} all; "
            "use kind='svd'",
            LinAlgWarning,
        )
    r = int((s > 0).sum())
    U = gram_schmidt(np.hstack([A @ V[:, :r] / s[:r], np.eye(m)]), tol=1e-8).Q
    return Decomposition("gram", U[:, :m], s, V.T, None)


def _eigen(A: Array) -> Decomposition:
    values, P = np.linalg.eig(A)
    order = np.lexsort((-values.imag, -values.real))
    values, P = values[order], P[:, order]
    if not np.linalg.cond(P) < DEFECTIVE:
        return Decomposition("eigen", None, values, None, False)
    return Decomposition("eigen", P, values, np.linalg.inv(P), True)


def _spectral(A: Array) -> Decomposition:
    size = np.abs(A).max()
    if not np.abs(A - A.T).max() <= 10 * len(A) * EPS * size:
        i, j = np.unravel_index(np.argmax(np.abs(A - A.T)), A.shape)
        pair = f"A[{i}, {j}] = {A[i, j]:g} and A[{j}, {i}] = {A[j, i]:g}"
        raise ValueError(f"spectral needs a symmetric matrix, but {pair}; use 'eigen' or 'svd'")
    values, Q = np.linalg.eigh((A + A.T) / 2)
    return Decomposition("spectral", Q[:, ::-1], values[::-1], Q[:, ::-1].T, True)
