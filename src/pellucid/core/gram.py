r"""Moments of [X y] at the speed of the machine: one read of the rows, tiles in registers.

A leaf is taken block by block. A block is copied once, shifted and weighted,

    S = sqrt(w) [X - a, y - b, 1],

into scratch memory that stays in the first-level cache, and G += S'S is added to by tiles of
``core.simd`` (the lower triangle only). G then holds everything: its last row the sums, the rest
the cross-products about the shift; with m the mean of the shifted rows, scatter = G - W m m'.

The shift is the mean of the leaf's first rows, so m is a small part of the spread and nothing is
lost in the difference; where the rows have a trend and m is not small, the leaf is done again
about its mean. A constant column has scatter 0 exactly.    n p^2 / 2 multiply-adds
"""

from typing import Any

import numpy as np

from pellucid.core.jit import jit
from pellucid.core.simd import LANES, TILE_ROWS, narrow_tile, wide_tile
from pellucid.core.statistics import Moments, is_unit
from pellucid.core.typing import Array

BLOCK_ROWS = 64  # of 56 columns: 28 kB, two thirds of a first-level cache
FIRST_ROWS = 64  # whose mean is the shift
CENTRED_ENOUGH = 100.0  # m^2 / variance up to which scatter = G - W m m' loses two digits at most
WIDEST = 256  # columns up to which the tiles beat BLAS, which packs its operands


@jit
def add_products(X, Y, root_w, weighted, x_shift, y_shift, S, G):
    """G += S'S (lower triangle) of S = sqrt(w) [X - x_shift, Y - y_shift, 1], block by block.

    X (n, p), Y (n, k), root_w (n,); S (BLOCK_ROWS, d) is scratch whose columns beyond p + k + 1
    are 0; G (d, d) with d a multiple of the tile.
    """
    n, p = X.shape
    k = Y.shape[1]
    rows, d = S.shape
    for start in range(0, n, rows):
        m = min(rows, n - start)
        for i in range(m):
            for j in range(p):
                S[i, j] = X[start + i, j] - x_shift[j]
            for j in range(k):
                S[i, p + j] = Y[start + i, j] - y_shift[j]
            S[i, p + k] = 1.0
        if weighted:
            for i in range(m):
                for j in range(p + k + 1):
                    S[i, j] *= root_w[start + i]
        for a in range(0, d, TILE_ROWS):
            b = 0
            while b < a + TILE_ROWS:
                if a + TILE_ROWS - b > LANES:
                    wide_tile(S, m, a, b, G)
                    b += 2 * LANES
                else:
                    narrow_tile(S, m, a, b, G)
                    b += LANES


def joint_moments(X: Array, Y: Array, w: Array) -> Moments:
    """Moments of the columns of [X Y].

    >>> X, Y = np.array([[1.0], [3.0]]), np.array([[0.0], [4.0]])
    >>> joint_moments(X, Y, np.ones(2)).scatter
    array([[2., 4.],
           [4., 8.]])
    """
    weighted = not is_unit(w)
    heavy = np.flatnonzero(w[:FIRST_ROWS]) if weighted else slice(FIRST_ROWS)
    x_shift, y_shift = _about(X, heavy), _about(Y, heavy)
    root_w = np.sqrt(w) if weighted else np.zeros(0)
    found, representative = _moments_about(X, Y, root_w, x_shift, y_shift)
    if not representative:
        p = X.shape[1]
        found, _ = _moments_about(X, Y, root_w, found.mean[:p].copy(), found.mean[p:].copy())
    return found


def _about(X: Array, rows: Any) -> Array:
    """The mean of some rows, exact where they are all the same."""
    chosen = X[rows]
    if len(chosen) == 0:  # the first rows weigh nothing: any point serves
        return X[-1].copy()
    return chosen[0] + (chosen - chosen[0]).mean(axis=0)


def _moments_about(
    X: Array, Y: Array, root_w: Array, x_shift: Array, y_shift: Array
) -> tuple[Moments, bool]:
    """Moments from the cross-products about a shift, and whether the shift was near enough."""
    q = X.shape[1] + Y.shape[1]
    step = 2 * max(LANES, TILE_ROWS)  # a wide tile may reach one vector past the diagonal
    d = -(-(q + 1) // step) * step
    S, G = np.zeros((BLOCK_ROWS, d)), np.zeros((d, d))
    X = X if X.flags.writeable else X.copy()  # a read-only array would compile anew
    Y = Y if Y.flags.writeable else Y.copy()
    add_products(X, Y, root_w, len(root_w) > 0, x_shift, y_shift, S, G)
    weight = float(G[q, q])
    if weight == 0:
        return Moments(0.0, np.zeros(q), np.zeros((q, q))), True
    m = G[q, :q] / weight
    scatter = np.tril(G[:q, :q])
    scatter += np.tril(scatter, -1).T
    scatter -= np.outer(m, weight * m)
    near = bool((weight * m**2 <= CENTRED_ENOUGH * np.diag(scatter)).all() or not m.any())
    return Moments(weight, np.concatenate([x_shift, y_shift]) + m, scatter), near


def warm() -> None:
    """Compile every kernel of this module."""
    joint_moments(np.ones((2, 1)), np.ones((2, 1)), np.ones(2))
