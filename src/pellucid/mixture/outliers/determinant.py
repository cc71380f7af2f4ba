r"""The minimum covariance determinant: the half of the rows that lies closest together.

    min over subsets H of h rows    det S(H),      S(H) = sum_H (x - m)(x - m)' / h

C step: take the h rows with the smallest (x - m)'S^-1(x - m). The determinant cannot rise
(Rousseeuw & Van Driessen, 1999), so steps from many small random subsets find a good one:

    n <= SMALL   TRIALS starts, two steps each; the best KEPT run until nothing changes
    n > SMALL    the same in up to five disjoint parts of about SMALL rows; their best subsets
                 go on with all rows
    p = 1        exact: the shortest window of h sorted values by variance
    last         the finished ones are improved by exchanges of two rows (``exchange``), in turn
                 with C steps, until neither helps

Cost: O(trials (n p^2 + p^3)).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack, solve_triangular

from pellucid.core.arrays.typing import Array, IntArray, Rng
from pellucid.mixture.outliers.exchange import best_exchange

SMALL, TRIALS, KEPT = 500, 100, 10
EXCHANGES, POLISHED, MANY = 200, 20, 10_000  # with many rows an exchange gains nothing


class Half(NamedTuple):
    """A subset with its moments."""

    location: Array  # (p,)
    covariance: Array  # (p, p)
    log_determinant: float
    rows: IntArray  # (h,) sorted


def support_size(n: int, p: int, fraction: float | None) -> int:
    """h: the given share, or ceil((n + p + 1) / 2), which resists most odd rows.

    >>> support_size(100, 3, None), support_size(100, 3, 0.75)
    (52, 75)
    """
    return min(n, int(np.ceil(0.5 * (n + p + 1))) if fraction is None else int(fraction * n))


def distances(X: Array, location: Array, covariance: Array, floor: Array) -> Array:
    """(x - m)'S^-1(x - m); a singular S gets ``floor`` on its diagonal, so that rows off its
    plane are very far."""
    for ridge in (0.0, 1.0, 1e3, 1e6):
        L, info = lapack.dpotrf(covariance + np.diag(ridge * floor), lower=1, clean=1)
        if info == 0 and (np.diag(L) ** 2 > 0.1 * floor).all():
            return (solve_triangular(L, (X - location).T, lower=True) ** 2).sum(axis=0)
    raise ValueError("the columns of X differ too much in scale for a covariance; scale them first")


def half_of(X: Array, rows: IntArray, centred: bool) -> Half:
    """Moments of a subset; ``centred``: about zero."""
    H = X[rows]
    m = np.zeros(X.shape[1]) if centred else H.mean(axis=0)
    D = H - m
    S = D.T @ D / len(H)
    return Half(m, S, float(np.linalg.slogdet(S)[1]), rows)


def c_step(X: Array, half: Half, h: int, floor: Array, centred: bool) -> Half:
    """The h rows nearest to the subset's centre, in its own metric."""
    d = distances(X, half.location, half.covariance, floor)
    return half_of(X, np.sort(np.argpartition(d, h - 1)[:h]), centred)


def converge(X: Array, half: Half, h: int, floor: Array, centred: bool, steps: int) -> Half:
    """C steps until the subset stays or the determinant no longer falls."""
    for _ in range(steps):
        new = c_step(X, half, h, floor, centred)
        falls = len(half.rows) != h or new.log_determinant < half.log_determinant
        if np.array_equal(new.rows, half.rows) or not falls:
            return half
        half = new
    return half


def polish(X: Array, half: Half, h: int, floor: Array, centred: bool) -> Half:
    """Exchanges and C steps in turn, until neither lowers the determinant."""
    for _ in range(EXCHANGES):
        rows, ratio = best_exchange(X, half.rows, half.location, half.covariance, centred)
        if ratio == 1.0:
            return half
        new = converge(X, half_of(X, rows, centred), h, floor, centred, 100)
        if not new.log_determinant < half.log_determinant:
            return half
        half = new
    return half


def small_starts(X: Array, rng: Rng, centred: bool) -> Iterator[Half]:
    """Random subsets of p + 1 rows, made larger while they are singular."""
    n, p = X.shape
    for _ in range(TRIALS):
        order = rng.permutation(n)
        size = min(p + 1, n)
        half = half_of(X, order[:size], centred)
        while size < min(n, 2 * p + 2) and not np.isfinite(half.log_determinant):
            size += 1
            half = half_of(X, order[:size], centred)
        yield half


def best_halves(X: Array, h: int, rng: Rng, floor: Array, centred: bool) -> list[Half]:
    """The KEPT best subsets after two steps from every start."""
    found = [converge(X, s, h, floor, centred, 2) for s in small_starts(X, rng, centred)]
    return sorted(found, key=_by_determinant)[:KEPT]


def _by_determinant(half: Half) -> float:
    return half.log_determinant


def shortest_window(x: Array, h: int, centred: bool) -> IntArray:
    """The h values of least variance (or least squares about zero): exact in one dimension.

    >>> shortest_window(np.array([0.0, 5.0, 5.1, 5.2, 30.0]), 3, False)
    array([1, 2, 3])
    """
    if centred:
        return np.sort(np.argsort(np.abs(x), kind="stable")[:h])
    order = np.argsort(x, kind="stable")
    s = x[order] - np.median(x)
    sums, squares = (np.concatenate([[0.0], np.cumsum(v)]) for v in (s, s**2))
    n = len(x) - h + 1
    spread = (squares[h:] - squares[:n]) - (sums[h:] - sums[:n]) ** 2 / h
    first = int(np.argmin(spread))
    return np.sort(order[first : first + h])


def minimum_determinant(X: Array, h: int, rng: Rng, centred: bool = False) -> Half:
    """The best subset of h rows found."""
    n, p = X.shape
    if p == 1:
        return half_of(X, shortest_window(X[:, 0], h, centred), centred)
    floor = 1e-14 * np.maximum(X.var(axis=0), np.finfo(np.float64).tiny * 1e20)
    if h >= n:
        return half_of(X, np.arange(n), centred)
    if n <= SMALL:
        starts = best_halves(X, h, rng, floor, centred)
    else:
        parts = np.array_split(rng.permutation(n)[: 5 * SMALL], min(5, -(-n // SMALL)))
        starts = []
        for part in parts:
            size = max(min(len(part), round(len(part) * h / n)), min(p + 1, len(part)))
            starts += best_halves(X[part], size, rng, floor, centred)
        again = [converge(X, s._replace(rows=s.rows[:0]), h, floor, centred, 2) for s in starts]
        starts = sorted(again, key=_by_determinant)[: 2 * KEPT]
    finished = [converge(X, s, h, floor, centred, 100) for s in starts]
    different = {half.rows.tobytes(): half for half in finished}
    best = sorted(different.values(), key=_by_determinant)[:POLISHED]
    if n > MANY:
        return best[0]
    return min((polish(X, half, h, floor, centred) for half in best), key=_by_determinant)
