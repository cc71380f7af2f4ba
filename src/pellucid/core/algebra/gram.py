r"""Moments of [X y] at the speed of the machine: one read of the rows, tiles in registers.

A leaf is taken block by block. A block is copied once, shifted and weighted,

    S = sqrt(w) [X - a, y - b, 1],

into scratch memory that stays in the first-level cache, and G += S'S is added to by tiles of
``core.runtime.simd`` (the lower triangle only). G then holds everything: its last row the sums,
the rest the cross-products about the shift; with m the mean of the shifted rows,
scatter = G - W m m'.

The shift is the mean of the leaf's first rows, so m is a small part of the spread and nothing is
lost in the difference; where the rows have a trend and m is not small, the leaf is done again
about its mean. A constant column has scatter 0 exactly.    n p^2 / 2 multiply-adds
"""

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.core.loops.statistics import Moments, is_unit
from pellucid.core.runtime import simd
from pellucid.core.runtime.jit import jit

BLOCK_ROWS = 64  # of 56 columns: 28 kB, two thirds of a first-level cache
AHEAD_ROWS = 4 * BLOCK_ROWS  # asked for before they are needed
LINE = 8  # doubles in a line of the cache
FIRST_ROWS = 64  # whose mean is the shift
CENTRED_ENOUGH = 100.0  # m^2 / variance up to which scatter = G - W m m' loses two digits at most
WIDEST = 256  # columns up to which the tiles beat BLAS, which packs its operands


@jit
def add_tiles(S, m, G):
    """G += S'S of the first m rows of S (rows, d), lower triangle; d is a multiple of LANES."""
    for a in range(0, S.shape[1], simd.TILE_ROWS):
        b, end = 0, a + simd.TILE_ROWS
        while end - b > 2 * simd.LANES:
            simd.add_tile_3(S, S, m, a, b, G)
            b += 3 * simd.LANES
        if end - b > simd.LANES:
            simd.add_tile_2(S, S, m, a, b, G)
        elif end - b > 0:
            simd.add_tile_1(S, S, m, a, b, G)


@jit
def add_products(X, Y, root_w, weighted, x_shift, y_shift, S, G):
    """G += S'S (lower triangle) of S = sqrt(w) [X - x_shift, Y - y_shift, 1], block by block.

    X (n, p), Y (n, k), root_w (n,); S (BLOCK_ROWS, d) is scratch whose columns beyond p + k + 1
    are 0; G (d, d) with d a multiple of LANES (a tile is square, so none crosses the edge).
    """
    n, p = X.shape
    k = Y.shape[1]
    rows = len(S)
    for start in range(0, n, rows):
        m = min(rows, n - start)
        for i in range(m):
            for j in range(0, p, LINE):  # rows to come arrive while the tiles compute
                simd.prefetch(X, start + AHEAD_ROWS + i, j)
            for j in range(p):
                S[i, j] = X[start + i, j] - x_shift[j]
            for j in range(k):
                S[i, p + j] = Y[start + i, j] - y_shift[j]
            S[i, p + k] = 1.0
        if weighted:
            for i in range(m):
                for j in range(p + k + 1):
                    S[i, j] *= root_w[start + i]
        add_tiles(S, m, G)


@jit
def centre_products(G, shift, mean, scatter):
    """Mean and centred scatter from the cross-products about ``shift``; the weight, and whether
    the shift was near enough to the mean for the difference to be exact.

    G as ``add_products`` leaves it, shift (q,); mean (q,) and scatter (q, q) are filled.
    """
    q = len(shift)
    weight = G[q, q]
    if weight == 0.0:
        mean[:] = 0.0
        scatter[:] = 0.0
        return weight, True
    near = True
    for a in range(q):
        m = G[q, a] / weight
        mean[a] = shift[a] + m
        for b in range(a + 1):
            scatter[a, b] = G[a, b] - G[q, a] * (G[q, b] / weight)
            scatter[b, a] = scatter[a, b]
        near &= weight * m * m <= CENTRED_ENOUGH * scatter[a, a]
    return weight, near


@jit
def choose_shift(X, w, weighted, shift):
    """The mean of the first rows that weigh something; exact where they are all the same."""
    n, p = X.shape
    seen = 0
    for i in range(n):
        if weighted and w[i] == 0.0:
            continue
        if seen == 0:
            first = i
            shift[:] = 0.0
        for j in range(p):
            shift[j] += X[i, j] - X[first, j]
        seen += 1
        if seen == FIRST_ROWS:
            break
    if seen > 0:
        for j in range(p):
            shift[j] = X[first, j] + shift[j] / seen


@jit
def fill_moments(X, Y, root_w, weighted, S, G, shift, mean, scatter):
    """Fill mean (q,) and scatter (q, q) of [X Y] and return the weight; S, G, shift are 0."""
    p = X.shape[1]
    choose_shift(X, root_w, weighted, shift[:p])
    choose_shift(Y, root_w, weighted, shift[p:])
    add_products(X, Y, root_w, weighted, shift[:p], shift[p:], S, G)
    weight, near = centre_products(G, shift, mean, scatter)
    if not near:
        shift[:] = mean
        G[:] = 0.0
        add_products(X, Y, root_w, weighted, shift[:p], shift[p:], S, G)
        weight, near = centre_products(G, shift, mean, scatter)
    return weight


def joint_moments(X: Array, Y: Array, w: Array) -> Moments:
    """Moments of the columns of [X Y].

    >>> X, Y = np.array([[1.0], [3.0]]), np.array([[0.0], [4.0]])
    >>> joint_moments(X, Y, np.ones(2)).scatter
    array([[2., 4.],
           [4., 8.]])
    """
    X = X if X.flags.writeable else X.copy()  # a read-only array would compile anew
    Y = Y if Y.flags.writeable else Y.copy()
    weighted = not is_unit(w)
    root_w = np.sqrt(w) if weighted else np.zeros(0)
    q = X.shape[1] + Y.shape[1]
    d = -(-(q + 1) // simd.LANES) * simd.LANES
    mean, scatter = np.empty(q), np.empty((q, q))
    scratch = np.zeros((BLOCK_ROWS, d)), np.zeros((d, d)), np.zeros(q)
    weight = fill_moments(X, Y, root_w, weighted, *scratch, mean, scatter)
    return Moments(weight, mean, scatter)


def cross_products(X: Array, y: Array, w: Array | float) -> Array:
    """[X y]'W[X y] about zero, the weights a number or one per row.

    >>> cross_products(np.array([[1.0], [3.0]]), np.array([0.0, 4.0]), 0.5)
    array([[5., 6.],
           [6., 8.]])
    """
    X = np.ascontiguousarray(X)
    X = X if X.flags.writeable else X.copy()
    Y = np.array(y, dtype=np.float64)[:, None]
    weighted, q = bool(np.ndim(w)), X.shape[1] + 1
    root_w = np.sqrt(w) if weighted else np.zeros(0)
    d = -(-(q + 1) // simd.LANES) * simd.LANES
    scratch, G, zero = np.zeros((BLOCK_ROWS, d)), np.zeros((d, d)), np.zeros(q)
    add_products(X, Y, root_w, weighted, zero[:-1], zero[-1:], scratch, G)
    low = np.tril(G[:q, :q])
    full = low + np.tril(low, -1).T
    return full if weighted else full * w
