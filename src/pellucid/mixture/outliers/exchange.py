r"""Better subsets of least determinant by exchanging one row for another.

A = sum_H (x - m)(x - m)',  z = x - m,  g_ij = z_i' A^-1 z_j,  h = |H|. With row i out and j in,

    det A'' / det A = (1 - c g_ii) (1 + q / c),       c = h / (h - 1)
    q = g_jj + 2 g_ij / (h - 1) + g_ii / (h - 1)^2
        + c (g_ij + g_ii / (h - 1))^2 / (1 - c g_ii)

(about a fixed centre: (1 - g_ii)(1 + g_jj) + g_ij^2). A subset that no C step improves may still
be improved so; the candidates are the ROWS farthest rows inside and the ROWS nearest outside.

References: Hawkins (1994), the feasible solution algorithm.
"""

import numpy as np
from scipy.linalg import lapack, solve_triangular

from pellucid.core.arrays.typing import Array, IntArray

ROWS = 60  # candidates on either side


def determinant_ratios(G_in: Array, G_out: Array, cross: Array, h: int, centred: bool) -> Array:
    """det after / det before, (rows out, rows in), from g_ii (a,), g_jj (b,) and g_ij (a, b).

    >>> x = np.array([0.0, 1.0, 5.0])  # about zero, {0, 1} to {0, 5}: 1 to 25
    >>> g = np.outer(x, x) / 1.0
    >>> determinant_ratios(g[[1], [1]], g[[2], [2]], g[[1]][:, [2]], 2, True)
    array([[25.]])
    """
    g_i, g_j = G_in[:, None], G_out[None, :]
    if centred:
        return (1.0 - g_i) * (1.0 + g_j) + cross**2
    c, s = h / (h - 1.0), 1.0 / (h - 1.0)
    left = 1.0 - c * g_i
    q = g_j + 2.0 * s * cross + s**2 * g_i
    return left + (left * q + c * (cross + s * g_i) ** 2) / c


def best_exchange(
    X: Array, rows: IntArray, location: Array, covariance: Array, centred: bool
) -> tuple[IntArray, float]:
    """The subset after the best exchange, and the ratio of the determinants (1: none helps)."""
    n, h = len(X), len(rows)
    L, info = lapack.dpotrf(covariance * h, lower=1, clean=1)
    if info != 0 or h in (1, n):
        return rows, 1.0
    Z = solve_triangular(L, (X - location).T, lower=True)  # (p, n)
    d = (Z**2).sum(axis=0)
    outside = np.ones(n, dtype=bool)
    outside[rows] = False
    others = np.flatnonzero(outside)
    far = rows[np.argsort(-d[rows], kind="stable")[:ROWS]]
    near = others[np.argsort(d[others], kind="stable")[:ROWS]]
    ratios = determinant_ratios(d[far], d[near], Z[:, far].T @ Z[:, near], h, centred)
    a, b = np.unravel_index(int(np.argmin(ratios)), ratios.shape)
    if not ratios[a, b] < 1.0 - 1e-12:
        return rows, 1.0
    kept = rows[rows != far[a]]
    return np.sort(np.append(kept, near[b])), float(ratios[a, b])
