r"""Every column sorted once: the state from which trees are grown.

For column j the rows are listed by increasing value, missing cells (NaN) last, and every listed
row carries its rank, the number of distinct smaller values. One 64-bit key holds all that a scan
of the column needs:

    key = rank << (row_bits + code_bits) | row << code_bits | code,

the code being the class of the row where it fits. Keys of one column are then sorted numbers, a
scan reads them from left to right, and a stable partition keeps both sides sorted.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.threads import map_threads

SHARED = 30_000  # cells from which threads share the columns


class Presorted(NamedTuple):
    """Columns in sorted order; the same for every tree that is grown on these rows."""

    X: Array  # (n, d) C order
    order: Any  # (d, n) int32  rows by increasing value, NaN last
    rank: Any  # (d, n) int32  rank of the i-th listed row
    missing: Any  # (d,) int64  the rank that stands for NaN: the number of distinct values
    has_missing: bool


@jit
def number_values(x, order, rank, rows):
    """Rank and row of every listed cell; returns (distinct numbers, missing cells)."""
    n = len(order)
    r, last = -1, 0.0
    known = n
    for i in range(n):
        row = order[i]
        v = x[row]
        rows[i] = row
        if v != v:
            known = min(known, i)
            rank[i] = r + 1
        elif r < 0 or v != last:
            r += 1
            last = v
            rank[i] = r
        else:
            rank[i] = r
    return r + 1, n - known


@jit
def pack_keys(order, rank, kept, code, row_bits, code_bits, first, last, out):
    """Keys of the listed rows that are kept, of the columns [first, last).

    ``code`` (n,) is read where ``code_bits`` > 0.
    """
    for j in range(first, last):
        m = 0
        for i in range(order.shape[1]):
            row = np.int64(order[j, i])
            if kept[row]:
                key = (np.int64(rank[j, i]) << row_bits) | row
                out[j, m] = (key << code_bits) | code[row] if code_bits > 0 else key
                m += 1


def presort(X: Array) -> Presorted:
    """Sort every column of X (n, d), in threads.

    >>> sorted_ = presort(np.array([[3.0], [1.0], [np.nan], [1.0]]))
    >>> sorted_.rank.tolist(), sorted_.missing.tolist(), sorted_.has_missing
    ([[0, 0, 1, 2]], [2], True)
    """
    n, d = X.shape
    X = X if X.flags.writeable and X.flags.c_contiguous else np.array(X, order="C")
    order, rank = np.empty((d, n), np.int32), np.empty((d, n), np.int32)

    def column(j: int) -> tuple[int, int]:
        x = np.ascontiguousarray(X[:, j])
        return number_values(x, np.argsort(x), rank[j], order[j])

    share = map_threads if n * d > SHARED else map
    found = np.array(list(share(column, range(d))), np.int64).reshape(d, 2)
    return Presorted(X, order, rank, found[:, 0].copy(), bool(found[:, 1].any()))


def sorted_keys(data: Presorted, kept: Any, code: Any, code_bits: int) -> tuple[Any, int]:
    """Keys (d, m) of the rows with ``kept``, and the number of bits of a row."""
    d, n = data.order.shape
    row_bits = max(1, int(n - 1).bit_length())
    m = int(np.count_nonzero(kept))
    keys = np.empty((d, m), np.int64)

    def columns(first: int, last: int) -> None:
        pack_keys(data.order, data.rank, kept, code, row_bits, code_bits, first, last, keys)

    if n * d > SHARED:
        list(map_threads(lambda j: columns(j, j + 1), range(d)))
    else:  # waking threads, or a call for every column, costs more than few cells
        columns(0, d)
    return keys, row_bits
