"""Tiles, cells and counters with NumPy, for where there is no Numba: the same sums, slower.

Each function does what the one of the same name in ``tiles.py`` or ``single.py`` does.
"""

import threading
import time
from typing import Any

import numpy as np

LANES = TILE_ROWS = 4
ROWS, COLUMNS = 6, 16

_lock = threading.Lock()


def _tile(vectors: int, *, add: bool = False, distances: bool = False) -> Any:
    """A function tile(L, R, m, a, b, out) on ``vectors`` x LANES columns of R from b on."""

    def tile(L, R, m, a, b, out):
        columns = vectors * LANES
        left, right = L[:m, a : a + TILE_ROWS], R[:m, b : b + columns]
        if distances:
            gaps = left[:, :, None] - right[:, None, :]
            sums = np.einsum("irc,irc->rc", gaps, gaps)
        else:
            sums = left.T @ right
        if add:
            out[a : a + TILE_ROWS, b : b + columns] += sums
        else:
            out[a : a + TILE_ROWS, b : b + columns] = sums

    return tile


add_tile_1, add_tile_2, add_tile_3 = (_tile(vectors, add=True) for vectors in (1, 2, 3))
set_tile_3 = _tile(3)
distance_tile_2 = _tile(2, distances=True)


def product_tile(L, R, i, j, out, r0, c0):
    """out[r0 + r, c0 + c] = sum_t L[i, t, r] R[j, t, c], in single precision."""
    out[r0 : r0 + ROWS, c0 : c0 + COLUMNS] = L[i].T @ R[j]


def prefetch(X, i, j):
    """A hint to the processor: nothing to do here."""


def add_singles(codes, start, n_columns, cells, row, sums):
    """sums[j, codes[start + j]] += cells[row] for every column j, of 256 bins each."""
    flat, places = sums.reshape(-1), np.arange(n_columns) * 256
    flat[places + codes.reshape(-1)[start : start + n_columns]] += cells.reshape(-1)[row]


def add_pairs(codes, start, n_columns, cells, row, sums):
    """The same for cells of two whole numbers."""
    flat, places = sums.reshape(-1, 2), np.arange(n_columns) * 256
    flat[places + codes.reshape(-1)[start : start + n_columns]] += cells.reshape(-1, 2)[row]


def give_way():
    """Let another thread run."""
    time.sleep(0)
    return 0


def add_one(counter):
    """Add 1 to counter[0], whoever else does so at the same time; what it was."""
    with _lock:
        counter.reshape(-1)[0] += 1
        return counter.reshape(-1)[0] - 1


def look_at(counter):
    """counter[0] as other threads see it."""
    return counter.reshape(-1)[0]


def trailing_zeros(x):
    """The place of the lowest set bit of a uint64."""
    word = int(x)
    return np.uint64((word & -word).bit_length() - 1)
