"""What NMF stands on: starts, divergences, and the multiplicative updates of all of them."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.special import xlogy

from pellucid.core.arrays.typing import Array, Rng
from pellucid.decomposition.truncated_svd import Table, by_full, by_random_rounds

LOSSES = {"frobenius": 2.0, "kullback-leibler": 1.0, "itakura-saito": 0.0}
STARTS = ("random", "nndsvd", "nndsvda", "nndsvdar")
SMALL = float(np.finfo(np.float32).eps)  # of the mean of X: what a quotient may be divided by
BLOCK = 2_000_000  # cells of X and W H that are in memory at a time
CELLS = 250_000  # tables up to this size get the whole SVD


class Penalty(NamedTuple):
    """l1 and l2 of W and of H, times the size of the other side."""

    rows_l1: float
    parts_l1: float
    rows_l2: float
    parts_l2: float


def start(X: Any, k: int, init: str, rng: Rng) -> tuple[Array, Array]:
    """W and H at random, or from the singular vectors (Boutsidis & Gallopoulos 2008)."""
    n, p = X.shape
    mean = float(X.mean())
    if init == "random":
        size = np.sqrt(mean / k)
        H = size * np.abs(rng.standard_normal((k, p)))
        return size * np.abs(rng.standard_normal((n, k))), H
    if n * p <= CELLS:
        s, V = by_full(X, k)[:2]
    else:
        tame = lambda Q: np.linalg.qr(Q)[0]  # noqa: E731
        s, V = by_random_rounds(Table(X), k, 10, 7, tame, rng)[:2]
    tiny = np.finfo(np.float64).tiny
    live = s > np.finfo(np.float64).eps * max(n, p) * s[0]  # beyond the rank U says nothing
    U = np.where(live, np.asarray(X @ V.T) / np.where(live, s, 1.0), 0.0)
    W, H = np.zeros((n, k)), np.zeros((k, p))
    for j in range(k):
        sides = [(np.maximum(c * U[:, j], 0), np.maximum(c * V[j], 0)) for c in (1.0, -1.0)]
        sizes = [np.linalg.norm(u) * np.linalg.norm(v) for u, v in sides]
        (u, v), size = sides[int(np.argmax(sizes))], max(sizes)
        lift = np.sqrt(s[j] * size)
        W[:, j] = lift * u / max(float(np.linalg.norm(u)), tiny)
        H[j] = lift * v / max(float(np.linalg.norm(v)), tiny)
    W[1e-6 * W.max(initial=0.0) > W] = 0.0
    H[1e-6 * H.max(initial=0.0) > H] = 0.0
    for A in (W, H) if init != "nndsvd" else ():
        empty = A == 0
        noise = np.abs(rng.standard_normal(int(empty.sum()))) / 100 if init == "nndsvdar" else 1.0
        A[empty] = mean * noise
    return W, H


def row_blocks(X: Any) -> Iterator[tuple[slice, Array]]:
    """Dense pieces of X."""
    step = max(1, BLOCK // X.shape[1])
    for first in range(0, X.shape[0], step):
        part = X[first : first + step]
        yield slice(first, first + step), part.toarray() if issparse(part) else part


def divergence(X: Any, W: Array, H: Array, beta: float) -> float:
    """sqrt(2 d_beta(X, W H)): for beta = 2 the Frobenius norm of X - W H.

    >>> divergence(np.array([[3.0, 4.0]]), np.zeros((1, 1)), np.zeros((1, 2)), 2.0)
    5.0
    """
    total, floor = 0.0, SMALL * float(X.mean())
    for part, A in row_blocks(X):
        P = W[part] @ H
        if beta == 2:
            total += 0.5 * float(np.square(A - P).sum())
            continue
        P = np.maximum(P, floor)
        if beta == 1:
            total += float((xlogy(A, A / P) - A + P).sum())
        elif beta == 0:
            Q = A / P
            total += float((Q - np.log(Q) - 1.0).sum())
        else:
            cells = A**beta + (beta - 1.0) * P**beta - beta * A * P ** (beta - 1.0)
            total += float(cells.sum()) / (beta * (beta - 1.0))
    return float(np.sqrt(2.0 * max(total, 0.0)))


def quotient(X: Any, W: Array, H: Array, floor: float) -> Any:
    """X/(W H) of a sparse X, at its own cells only."""
    coo = X.tocoo()
    cells = np.einsum("ij,ij->i", W[coo.row], H.T[coo.col])
    return csr_array((coo.data / np.maximum(cells, floor), (coo.row, coo.col)), shape=X.shape)


def fractions(X: Any, W: Array, H: Array, beta: float, side: str) -> tuple[Array, Array]:
    """Numerator and denominator of the update of W or of H."""
    floor = SMALL * float(X.mean())
    if beta == 2:
        if side == "W":
            return np.asarray(X @ H.T), W @ (H @ H.T)
        return np.asarray((X.T @ W).T), (W.T @ W) @ H
    if beta == 1 and issparse(X):
        Q = quotient(X, W, H, floor)
        if side == "W":
            return np.asarray(Q @ H.T), np.tile(H.sum(axis=1), (len(W), 1))
        return np.asarray((Q.T @ W).T), np.tile(W.sum(axis=0)[:, None], (1, H.shape[1]))
    above = np.zeros(W.shape if side == "W" else H.shape)
    below = np.zeros_like(above)
    for part, A in row_blocks(X):
        P = np.maximum(W[part] @ H, floor)
        weighted, powers = A * P ** (beta - 2.0), P ** (beta - 1.0)
        if side == "W":
            above[part], below[part] = weighted @ H.T, powers @ H.T
        else:
            above += W[part].T @ weighted
            below += W[part].T @ powers
    return above, below


def multiply(X: Any, W: Array, H: Array, beta: float, penalty: Penalty, side: str) -> Array:
    """The new W or H: each entry times (numerator/denominator)^gamma (Fevotte & Idier 2011)."""
    above, below = fractions(X, W, H, beta, side)
    A, l1, l2 = (
        (W, penalty.rows_l1, penalty.rows_l2)
        if side == "W"
        else (H, penalty.parts_l1, penalty.parts_l2)
    )
    below = below + l1 + l2 * A
    below[below == 0] = SMALL
    gamma = 1.0 / (2.0 - beta) if beta < 1 else 1.0 / (beta - 1.0) if beta > 2 else 1.0
    new = A * (above / below) ** gamma
    new[new < np.finfo(np.float64).eps * new.max(initial=0.0)] = 0.0
    return new
