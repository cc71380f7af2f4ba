r"""Directions of greatest spread, five ways to the same answer.

Z is the centred (and perhaps standardised, weighted) table; wanted are unit vectors v_1, v_2, ...
with the largest squares |Z v|^2, each orthogonal to those before it:

    covariance_eigh   Z'Z = V diag(s^2) V'                    n p^2 + p^3; s < 1e-8 s_1 is noise
    full              Z = U diag(s) V'                        n p min(n, p); accurate to the last s
    randomized        Y = (Z Z')^q Z Omega, Q = qr(Y), svd(Q'Z)       n p (d + 10) (2 q + 2)
    arpack            Lanczos on Z as an operator
    greedy            v_k = argmax v'S v, |v| = 1, then S <- S - l v v'; power iteration

Power iteration u <- S u/|S u| needs log(eps)/log(l_2/l_1) rounds, which is endless when two
eigenvalues are close. Squaring the matrix does 2^k rounds in k products: B <- B B/tr(B B) tends to
the projector on the leading eigenspace (divided by its dimension), whatever the gap.

References: Jolliffe (2002); Halko, Martinsson & Tropp (2011); Golub & Van Loan, ch. 8.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lu
from scipy.sparse.linalg import LinearOperator, svds

from pellucid.core.algebra.linalg import EPS
from pellucid.core.algebra.shifted import Shifted
from pellucid.core.arrays.typing import Array, Rng
from pellucid.core.loops.iterate import History, iterate

SQUARINGS = 120  # 2^120 power rounds: two doubles that differ at all have parted long before
GREEDY_GAP = 1e-12


class Spectrum(NamedTuple):
    """Directions and their sums of squares, the largest first."""

    V: Array  # (r, p) unit rows
    squares: Array  # (r,) |Z v|^2, never negative
    total: float  # |Z|^2 over all directions
    history: History | None = None  # of the greedy solver


def with_signs(V: Array) -> Array:
    """The entry of largest size in each row is positive.

    >>> with_signs(np.array([[0.6, -0.8]]))
    array([[-0.6,  0.8]])
    """
    if V.size == 0:
        return np.ascontiguousarray(V)
    largest = V[np.arange(len(V)), np.abs(V).argmax(axis=1)]
    return np.ascontiguousarray(V * np.where(largest < 0, -1.0, 1.0)[:, None])


def by_eigen(scatter: Array, count: int) -> Spectrum:
    """From Z'Z; ``count`` = min(n, p) directions, the others have no spread.

    >>> by_eigen(np.array([[10.0, 6.0], [6.0, 10.0]]), 2).squares
    array([16.,  4.])
    """
    values, vectors = np.linalg.eigh(scatter)
    V, squares = settled(vectors.T[::-1][:count], values[::-1][:count], len(scatter) * EPS)
    return Spectrum(V, squares, float(np.trace(scatter)))


def by_svd(table: Shifted, count: int) -> Spectrum:
    """From Z itself; rows of 0 stand for repetitions, so that there are ``count`` directions."""
    Z = table.dense()
    if len(Z) < count:
        Z = np.vstack([Z, np.zeros((count - len(Z), Z.shape[1]))])
    _, s, V = np.linalg.svd(Z, full_matrices=False)
    found = settled(V[:count], s[:count] ** 2, (max(Z.shape) * EPS) ** 2)
    return Spectrum(*found, float((s**2).sum()))


def by_lanczos(table: Shifted, d: int, total: float, tol: float, rng: Rng) -> Spectrum:
    """The d leading directions; needs d < min(n, p)."""
    n, p = table.X.shape
    Z = LinearOperator(
        shape=(n, p),
        matvec=lambda v: table.times(v.reshape(-1, 1)).ravel(),
        rmatvec=lambda u: table.transposed_times(u.reshape(-1, 1)).ravel(),
        matmat=table.times,
        rmatmat=table.transposed_times,
        dtype=np.float64,
    )
    start = rng.uniform(-1, 1, min(n, p))
    _, s, V = svds(Z, k=d, tol=tol, v0=start, return_singular_vectors="vh")
    order = np.argsort(-s, kind="stable")
    return Spectrum(with_signs(V[order]), s[order] ** 2, total)


def by_random_range(
    table: Shifted, d: int, total: float, *, extra: int, power: int, normalizer: str, rng: Rng
) -> Spectrum:
    """The d leading directions of the range that random combinations of the columns span."""
    n, p = table.X.shape
    tame: Any = {"QR": _by_qr, "LU": _by_lu, "none": np.asarray}[normalizer]
    Q = rng.standard_normal((p, min(d + extra, n, p)))
    for _ in range(power):
        Q = tame(table.times(Q))
        Q = tame(table.transposed_times(Q))
    Q = _by_qr(table.times(Q))
    _, s, V = np.linalg.svd(table.transposed_times(Q).T, full_matrices=False)
    return Spectrum(with_signs(V[:d]), s[:d] ** 2, total)


def _by_qr(Y: Array) -> Array:
    return np.linalg.qr(Y)[0]


def _by_lu(Y: Array) -> Array:
    return lu(Y, permute_l=True)[0]


def by_greed(scatter: Array, d: int) -> Spectrum:
    """One direction at a time: the widest, then the widest orthogonal to it, and so on.

    >>> by_greed(np.array([[10.0, 6.0], [6.0, 10.0]]), 2).squares.round(9)
    array([16.,  4.])
    """
    p, rest = len(scatter), scatter.copy()
    V, squares, history = np.zeros((d, p)), np.zeros(d), History()
    for k in range(d):
        v, rounds, gap = widest(rest, V[:k])
        V[k], squares[k] = v, max(float(v @ scatter @ v), 0.0)
        rest = deflated(scatter, V[: k + 1])
        history.append({"step": k + 1, "objective": squares[k], "gap": gap, "squarings": rounds})
    return Spectrum(with_signs(V), squares, float(np.trace(scatter)), history)


def deflated(S: Array, V: Array) -> Array:
    """S on the space orthogonal to the rows of V: (I - V'V) S (I - V'V)."""
    left = S - V.T @ (V @ S)
    return left - (left @ V.T) @ V


def widest(S: Array, V: Array) -> tuple[Array, int, float]:
    """argmax v'S v over unit v orthogonal to the rows of V, by power iteration with squaring."""
    if not np.trace(S) > 0:
        return orthogonal_unit(V, S.shape[0]), 0, 0.0
    run = iterate(_square, S / np.trace(S), max_iter=SQUARINGS, tol=GREEDY_GAP, name="PCA")
    B = run.state
    v = B[:, np.argmax((B**2).sum(axis=0))]
    v = orthogonal_part(v, V)
    return v, run.n_iter, float(np.linalg.norm(_square(B)[0] - B))


def _square(B: Array) -> tuple[Array, float]:
    new = B @ B
    new = (new + new.T) / (2 * np.trace(new))
    return new, float(np.linalg.norm(new - B))


def orthogonal_unit(V: Array, p: int) -> Array:
    """The unit vector orthogonal to the rows of V that lies nearest to an axis.

    >>> orthogonal_unit(np.array([[1.0, 0.0]]), 2)
    array([0., 1.])
    """
    left = 1 - (V**2).sum(axis=0)
    j = int(np.argmax(left.round(8)))  # rounding must not decide between equal axes
    v = np.zeros(p)
    v[j] = 1.0
    return orthogonal_part(v, V)


def orthogonal_part(v: Array, V: Array) -> Array:
    """The unit vector along what of v is orthogonal to the rows of V."""
    for _ in range(2):  # once more takes off what the first time left by rounding
        v = v - V.T @ (V @ v)
        v = v / np.linalg.norm(v)
    return v


def settled(V: Array, squares: Array, tolerance: float) -> tuple[Array, Array]:
    """Directions without spread are any that complete a basis: always take the same ones.

    Otherwise rounding chooses them, and two fits to the same rows would not agree.
    """
    rank = int((squares > tolerance * squares.max(initial=0.0)).sum())
    if rank == len(V):
        return with_signs(V), squares
    V, squares = V.copy(), np.where(np.arange(len(squares)) < rank, squares, 0.0)
    for k in range(rank, len(V)):
        V[k] = orthogonal_unit(V[:k], V.shape[1])
    return with_signs(V), squares
