r"""Small dense algebra of least squares: Cholesky, QR, SVD, Gram-Schmidt.

    argmin |c - A theta|^2 + alpha |theta|^2

Cholesky works on G = A'A and B = A'c: cheap, but the relative error of theta is about
eps cond(A)^2. QR and SVD work on A itself: eps cond(A). Columns are first scaled to unit length,
so that units do not matter; the rank is decided there. Where it falls short, the SVD gives the
least-norm theta.

References: Golub & Van Loan, Matrix Computations, ch. 5.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack, solve_triangular

from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.threads import map_threads, single_threaded_blas

EPS = float(np.finfo(np.float64).eps)
TALL = 8192  # rows that are factored at a time


class Solved(NamedTuple):
    """theta, and a root T with T T' = (G + alpha I)^-1 on the space the data span."""

    theta: Array  # (q, k)
    root: Array  # (q, r)
    rank: int
    condition: float  # of the unit-norm columns
    dependent: tuple[int, ...] = ()  # unknowns that take part in an exact relation


def in_range(table: Array, what: str) -> Array:
    """The table itself; ValueError where a number in it is infinite or none.

    >>> in_range(np.ones(1), "a covariance")
    array([1.])
    """
    if not np.isfinite(table).all():
        raise ValueError(f"{what} left the range of numbers: scale the columns of X, and y")
    return table


def solve_cholesky(G: Array, B: Array, alpha: float = 0.0) -> Solved | None:
    """Solve (G + alpha I) theta = B, or None where Cholesky breaks down.

    >>> solved = solve_cholesky(np.array([[2.0, 0.0], [0.0, 8.0]]), np.array([[2.0], [4.0]]))
    >>> solved.theta.ravel(), solved.rank, solved.condition
    (array([1. , 0.5]), 2, 1.0)
    """
    if len(G) == 0:  # every column is constant: LAPACK refuses empty matrices
        return Solved(np.zeros(B.shape), np.zeros((0, 0)), 0, 1.0)
    A = G + alpha * np.eye(len(G))
    if not (np.diag(A) > 0).all():
        return None
    scale = np.sqrt(np.diag(A))
    C = A / np.outer(scale, scale)
    L, info = lapack.dpotrf(C, lower=1, clean=1)
    if info != 0:
        return None
    rcond, _ = lapack.dpocon(L, np.abs(C).sum(axis=0).max(initial=0.0), uplo="L")
    condition = float(np.sqrt(1 / rcond)) if rcond > 0 else np.inf
    theta = lapack.dpotrs(L, B / scale[:, None], lower=1)[0] / scale[:, None]
    root = lapack.dtrtri(L, lower=1)[0].T / scale[:, None]
    return Solved(theta, root, len(G), condition)


def solve_semidefinite(H: Array, g: Array) -> Array:
    """H^-1 g by Cholesky after scaling to a unit diagonal; where H is singular but for rounding,
    directions without curvature get a small one.

    >>> solve_semidefinite(np.array([[2.0, 0.0], [0.0, 8.0]]), np.array([2.0, 4.0]))
    array([1. , 0.5])
    """
    scale = np.sqrt(np.where(np.diag(H) > 0, np.diag(H), 1.0))
    C = H / np.outer(scale, scale)
    in_range(C, "the curvature")
    with single_threaded_blas():
        L, info = lapack.dpotrf(C, lower=1, clean=1)
        if info == 0 and np.diag(L).min() > 1e-6:
            return np.asarray(lapack.dpotrs(L, g / scale, lower=1)[0] / scale)
        d, V = np.linalg.eigh(C)
    floor = 1e-10 * float(d[-1])
    return np.asarray((V @ ((V.T @ (g / scale)) / np.maximum(d, floor))) / scale)


def triangle(Z: Array) -> Array:
    """The R of Z = QR with a non-negative diagonal, so that it is unique.

    >>> triangle(np.array([[3.0], [4.0]]))
    array([[5.]])
    """
    if len(Z) >= 2 * TALL:  # the pieces in threads, then their triangles
        pieces = np.split(Z, range(TALL, len(Z) - TALL + 1, TALL))
        Z = np.vstack(list(map_threads(triangle, pieces)))
    R = np.asarray(np.linalg.qr(Z, mode="r"))
    signs = np.where(np.diag(R) < 0, -1.0, 1.0)
    return R * signs[:, None]


def solve_triangle(A: Array, c: Array, alpha: float, tolerance: float) -> Solved:
    """argmin |c - A theta|^2 + alpha |theta|^2 by QR; least norm by SVD where the rank falls short.

    >>> solve_triangle(np.array([[2.0]]), np.array([[4.0]]), 0.0, 1e-12).theta
    array([[2.]])
    """
    q, k = A.shape[1], c.shape[1]
    if alpha > 0:
        A = np.vstack([A, np.sqrt(alpha) * np.eye(q)])
        c = np.vstack([c, np.zeros((q, k))])
    scale = np.linalg.norm(A, axis=0)
    if len(A) < q or not (scale > 0).all():
        return solve_svd(A, c, tolerance)
    R = triangle(np.hstack([A / scale, c]))
    d = np.linalg.svd(R[:q, :q], compute_uv=False)
    if not d[-1] > tolerance * d[0]:
        return solve_svd(A, c, tolerance)
    theta = solve_triangular(R[:q, :q], R[:q, q:]) / scale[:, None]
    root = lapack.dtrtri(R[:q, :q])[0] / scale[:, None]
    return Solved(theta, root, q, float(d[0] / d[-1]))


def solve_svd(A: Array, c: Array, tolerance: float) -> Solved:
    """The least-norm theta of argmin |c - A theta|^2; the rank is that of unit-norm columns.

    >>> solve_svd(np.array([[1.0, 1.0]]), np.array([[2.0]]), 1e-12).theta.ravel()
    array([1., 1.])
    """
    scale = np.linalg.norm(A, axis=0)
    live = np.flatnonzero(scale)
    q, k = A.shape[1], c.shape[1]
    if len(live) == 0:
        return Solved(np.zeros((q, k)), np.zeros((q, 0)), 0, 1.0)
    U, d, Vt = np.linalg.svd(A[:, live] / scale[live], full_matrices=False)
    r = int((d > tolerance * d[0]).sum())
    root = np.zeros((q, r))
    if len(Vt) == len(live):  # the null space N is at hand: take it off some solution
        root[live] = Vt[:r].T / d[:r] / scale[live, None]
        N = np.linalg.qr(Vt[r:].T / scale[live, None])[0]
        root[live] -= N @ (N.T @ root[live])
    else:  # A = U_r E with E = diag(d) V_r'diag(scale) of full row rank: E' = QR, pinv(E) = QR'^-1
        Q, R = np.linalg.qr((d[:r, None] * Vt[:r] * scale[live]).T)
        root[live] = Q @ solve_triangular(R, np.eye(r)).T
    theta = root @ (U[:, :r].T @ c)
    condition = float(d[0] / d[r - 1])
    if r == len(live):
        return Solved(theta, root, r, condition)
    kept = np.linalg.norm(Vt[:r], axis=0)  # a column outside every relation is kept whole
    related = live[kept**2 < 1 - np.sqrt(EPS)]
    return Solved(theta, root, r, condition, tuple(int(j) for j in related))


def orthonormal(D: Array) -> Array:
    """An orthonormal basis of the columns of D.

    Twice D R^-1 with R of D'D = R'R, as good as QR and faster; dependent or ill-conditioned columns
    by SVD.

    >>> orthonormal(np.array([[3.0], [4.0]]))
    array([[0.6],
           [0.8]])
    """
    scale = np.linalg.norm(D, axis=0)
    Q = D / np.where(scale > 0, scale, 1.0)
    for _ in range(2):
        solved = solve_cholesky(Q.T @ Q, np.zeros((Q.shape[1], 0)))
        if solved is None or solved.condition > 1e6:
            U, d, _ = np.linalg.svd(D / np.where(scale > 0, scale, 1.0), full_matrices=False)
            return U[:, d > max(D.shape) * EPS * d[0]]
        Q = Q @ solved.root
    return Q


class GramSchmidt(NamedTuple):
    """D = Z Gamma: orthogonal columns Z and the unit upper triangle of the coefficients."""

    Z: Array  # (n, q)
    gamma: Array  # (q, q)


def gram_schmidt(D: Array, tolerance: float | None = None) -> GramSchmidt:
    """Successive orthogonalisation z_j = d_j - sum_l gamma_lj z_l, each column twice.

    The second time takes off what rounding left along earlier columns. A column whose remainder is
    at most ``tolerance`` (max(shape) eps) times itself depends on them: z_j = 0 exactly.

    >>> gram_schmidt(np.array([[1.0, 1.0], [1.0, 3.0]])).Z
    array([[ 1., -1.],
           [ 1.,  1.]])
    """
    q = D.shape[1]
    Z, gamma, squares = np.zeros(D.shape), np.eye(q), np.zeros(q)
    tolerance = max(D.shape) * EPS if tolerance is None else tolerance
    for j in range(q):
        z, live = np.array(D[:, j], dtype=np.float64), np.flatnonzero(squares[:j])
        for _ in range(2):  # twice is enough
            step = (Z[:, live].T @ z) / squares[live]
            gamma[live, j] += step
            z -= Z[:, live] @ step
        if np.linalg.norm(z) > tolerance * np.linalg.norm(D[:, j]):
            Z[:, j], squares[j] = z, z @ z
    return GramSchmidt(Z, gamma)
