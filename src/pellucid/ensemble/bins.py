r"""A table in bins of one byte: the form in which boosted trees and forests read their data.

    numbers      at most ``max_bins`` bins with about equal weight; an edge lies half-way between
                 two neighbouring values; x goes to the bin "edges below x"
    categories   one bin for each value seen in training
    missing      bin 255, and so is a category that training never showed

From more than ``SAMPLE`` rows the edges come from a sample of that size.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, Rng
from pellucid.core.runtime.jit import jit, loaded
from pellucid.core.runtime.threads import map_threads

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


SAMPLE = 200_000
ROWS = 16_384  # of one task of the thread pool
SHARED = 30_000  # cells from which threads share the columns
FEW_CELLS = 1_000_000  # cells that NumPy looks up in less time than it takes to import Numba


class Bins(NamedTuple):
    """How cells become codes."""

    edges: Array  # (p, 256), unused ones infinite; for categories the values themselves
    n_bins: Any  # (p,) without the bin of missing cells
    categorical: Any  # (p,) uint8


class Codes(NamedTuple):
    by_column: Any  # (p, n) uint8
    by_row: Any  # (n, stride) uint8, or without rows


def number_edges(x: Array, w: Array | None, max_bins: int) -> Array:
    """Edges of one column of numbers (NaN are left out): at most ``max_bins`` - 1.

    >>> number_edges(np.array([3.0, 1.0, 1.0, 2.0]), None, 255)
    array([1.5, 2.5])
    >>> number_edges(np.arange(8.0), None, 2)
    array([3.5])
    """
    if w is None:
        s = np.sort(x)
        s = s[: np.searchsorted(s, np.nan)]  # NaN stand at the end
    else:
        order = np.argsort(x, kind="stable")
        order = order[: len(x) - np.count_nonzero(np.isnan(x))]
        s = x[order]
    new = np.flatnonzero(s[1:] != s[:-1]) + 1  # where another value begins
    if len(new) >= max_bins:
        share = np.arange(1, max_bins) / max_bins
        if w is None:
            place = np.ceil(share * len(s)).astype(np.intp) - 1
        else:
            total = np.cumsum(w[order])
            place = np.searchsorted(total, share * total[-1] * (1 - 1e-15))
        new = np.unique(new[np.minimum(np.searchsorted(new, place + 1), len(new) - 1)])
    middle = s[new - 1] + 0.5 * (s[new] - s[new - 1])
    return np.where(middle < s[new], middle, s[new - 1])  # neighbours in float64: keep the lower


def find_bins(X: Array, w: Array | None, categorical: Array, max_bins: int, rng: Rng) -> Bins:
    """Edges and categories of the training rows."""
    n, p = X.shape
    rows = np.arange(n)
    if n > SAMPLE:
        rows = np.sort(rng.choice(n, SAMPLE, replace=False))
    levels: list[Any] = [None] * p
    for j in np.flatnonzero(categorical):
        values = np.unique(X[:, j])
        levels[j] = values[~np.isnan(values)]
    return bins_of_sample(X, None if w is None else w[rows], levels, max_bins, rows)


def bins_of_sample(
    X: Array, w: Array | None, levels: list[Any], max_bins: int, rows: Any = None
) -> Bins:
    """Edges from some ``rows`` of X with the weights w; ``levels``: of columns of categories."""
    p = X.shape[1]
    rows = np.arange(len(X)) if rows is None else rows
    columns = np.empty((p, len(rows)))
    tasks = [(a, min(a + ROWS, len(rows))) for a in range(0, len(rows), ROWS)]
    list(map_threads(lambda t: take_columns(X, rows, columns, *t), tasks))
    edges, n_bins = np.full((p, 256), np.inf), np.ones(p, np.int64)

    def one(j: int) -> None:
        found = number_edges(columns[j], w, max_bins) if levels[j] is None else levels[j]
        n_bins[j] = len(found) + (levels[j] is None)
        edges[j, : len(found[:256])] = found[:256]

    share = map_threads if len(rows) * p > SHARED else map
    list(share(one, range(p)))
    return Bins(edges, n_bins, np.array([found is not None for found in levels], np.uint8))


def aligned(n: int, stride: int) -> Any:
    """Bytes (n, stride) from the start of a cache line on, so that short rows lie in one."""
    memory = np.empty(n * stride + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + n * stride].reshape(n, stride)


def encode_few(X: Array, bins: Bins, codes: Any) -> None:
    """The same codes as of ``encode_rows``, with NumPy: Numba takes longer to import."""
    for j, e in enumerate(bins.edges):
        codes[j] = np.searchsorted(e[:255], X[:, j])
        known = X[:, j] == e[codes[j]] if bins.categorical[j] else ~np.isnan(X[:, j])
        codes[j, ~known] = 255


def encode(X: Array, bins: Bins, *, by_row: bool) -> Codes:
    """The codes of a matrix, in threads over rows."""
    n, p = X.shape
    stride = 16 if p <= 16 else 32 if p <= 32 else -(-p // 64) * 64
    codes = np.empty((p, n), np.uint8)
    if not (by_row or loaded()) and n * p < FEW_CELLS:
        encode_few(X, bins, codes)
        return Codes(codes, aligned(0, stride))
    rows = aligned(n if by_row else 0, stride)
    work = partial(encode_rows, X, bins.edges, bins.categorical, codes, rows)
    tasks = [(a, min(a + ROWS, n)) for a in range(0, n, ROWS)]
    list(map_threads(lambda t: work(*t), tasks))
    return Codes(codes, rows)
