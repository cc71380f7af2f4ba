"""Numbers to bins of one byte, by rows and by columns at once."""

import numpy as np

from pellucid.core.runtime.jit import jit

BLOCK = 256  # rows whose cells stay in the nearest cache


@jit
def encode_rows(X, edges, categorical, by_column, by_row, begin, end):
    """codes = the number of edges below x; 255 for NaN, and for a category that is no edge.

    ``edges`` has 256 places, unused ones infinite, so that eight steps of halving always suffice.
    ``by_row`` may have no rows.
    """
    p = X.shape[1]
    cells, codes = np.empty(BLOCK), np.empty(BLOCK, np.uint8)
    for start in range(begin, end, BLOCK):
        m = min(BLOCK, end - start)
        for j in range(p):
            e = edges[j]
            for i in range(m):
                cells[i] = X[start + i, j]
            for i in range(m):
                x, k = cells[i], np.uint64(0)
                for half in (128, 64, 32, 16, 8, 4, 2, 1):
                    k += np.uint64(half) * np.uint64(x > e[k + np.uint64(half - 1)])
                codes[i] = np.uint8(k) if x == x else np.uint8(255)
            if categorical[j]:  # its edges are the categories themselves
                for i in range(m):
                    if cells[i] != e[codes[i]]:
                        codes[i] = 255
            for i in range(m):
                by_column[j, start + i] = codes[i]
            if by_row.shape[0]:
                for i in range(m):
                    by_row[start + i, j] = codes[i]


@jit
def take_columns(X, rows, out, begin, end):
    """out[j, i] = X[rows[i], j], a few rows at a time so that both sides stay in the cache."""
    for start in range(begin, end, 32):
        last = min(start + 32, end)
        for j in range(X.shape[1]):
            for i in range(start, last):
                out[j, i] = X[rows[i], j]
