r"""The best split of a leaf with few rows, without the sums of its parent.

Sums of 256 bins a column cost the same for ten rows as for ten thousand: they are cleared, taken
from the parent's and read from end to end. Below ``LIGHT`` rows it is cheaper to go column by
column: the rows are added to the bins of one column, the bins that were hit are marked, and only
those are read, and cleared, in their order. Sums are whole numbers, so the split is the same.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.runtime import simd
from pellucid.core.runtime.jit import jit
from pellucid.ensemble.boosting.kernels.histograms import (
    BINS,
    MISSING,
    NO_MISSING,
    best_cut,
    category_split,
    write,
)

LIGHT = 512  # rows of a leaf, up to which its children are searched column by column
TO_BITS = np.uint64(0x0102040810204080)  # times bytes of 0 and 1: the top byte has their bits
PAIR = np.int64(2)  # numbers in a cell here; a plain 2 would be compiled as a type of its own


class Light(NamedTuple):
    """Memory for light leaves; ``sums`` and ``marks`` are zero between two columns."""

    cells: Any  # (LIGHT, 2) of the rows of a leaf, in their order
    sums: Any  # (256 * 2,)
    marks: Any  # (256,) uint8, 1 where a bin was hit
    words: Any  # (32,) the same bytes, eight at a time


@jit
def light_memory():
    cells, sums = np.empty((LIGHT, PAIR), np.int64), np.zeros(BINS * PAIR, np.int64)
    marks = np.zeros(BINS, np.uint8)
    return Light(cells, sums, marks, marks.view(np.uint64))


@jit(counted=False)
def take_pairs(cells, rows, shift, out):
    """The cells of some rows, one after the other, as pairs."""
    mask = (np.int64(1) << shift) - 1
    for i in range(len(rows)):
        r = np.uint64(rows[i])
        if cells.shape[1] == PAIR:
            out[i, 0], out[i, 1] = cells[r, 0], cells[r, 1]
        else:
            weight = cells[r, 0] & mask
            out[i, 0], out[i, 1] = cells[r, 0] >> shift, (weight << shift) + weight


@jit(counted=False)
def fill(codes, f, rows, cells, sums, marks):
    """Add the cells of some rows to the bins of column f, and mark those bins."""
    one = np.uint64(1)
    for i in range(len(rows)):
        b = np.uint64(codes[f, np.uint64(rows[i])])
        g, w = sums[b + b], sums[b + b + one]
        sums[b + b], sums[b + b + one] = g + cells[i, 0], w + cells[i, 1]
        marks[b] = 1


@jit(counted=False)
def empty(sums, words, left_g, left_w, places):
    """Running sums at the marked bins; returns how many there are. All is zero afterwards."""
    g, w, m, one = np.int64(0), np.int64(0), np.uint64(0), np.uint64(1)
    for k in range(0, len(words), 8):
        x = np.uint64(0)
        for j in range(8):  # eight marks become eight bits
            x |= ((words[k + j] * TO_BITS) >> np.uint64(56)) << np.uint64(8 * j)
            words[k + j] = 0
        while x != 0:
            b = np.uint64(8 * k) + simd.trailing_zeros(x)
            x &= x - one
            g += sums[b + b]
            w += sums[b + b + one]
            sums[b + b] = sums[b + b + one] = 0
            left_g[m], left_w[m], places[m] = g, w, np.int64(b)
            m += one
    return np.int64(m)


@jit(counted=False)
def search_light(table, rules, rows, all_cells, g, w, low, high, use, memory, scratch, found):
    """The best split of a leaf with these rows; its raw gain, or -1."""
    best, shift, units, codes = -1.0, rules.shift, rules.units, table.by_column
    l2, min_leaf = rules.l2, rules.min_leaf
    cells, sums, marks, words = memory
    n_bins, categorical, monotone = table.n_bins, table.categorical, rules.monotone
    left_g, left_w, out, bits, places = scratch
    take_pairs(all_cells, rows, shift, cells)
    for f in range(len(use)):
        if use[f] == 0:
            continue
        fill(codes, f, rows, cells, sums, marks)
        if categorical[f]:
            best = category_split(
                sums, n_bins[f], f, g, w, PAIR, rules, low, high, scratch, best, found
            )
        missing_g, missing_w = sums[PAIR * MISSING], sums[PAIR * MISSING + 1]
        sums[PAIR * MISSING] = sums[PAIR * MISSING + 1] = 0
        marks[MISSING] = 0
        n = empty(sums, words, left_g, left_w, places)
        if categorical[f]:
            continue
        sign = monotone[f]
        absent, inner = missing_w != 0, n  # nothing is right of the last bin but missing cells
        if n > 0 and places[n - 1] == n_bins[f] - 1:
            inner -= 1
        for side in range(2 if absent else 1):  # 0: missing to the right
            if side == 1:
                for k in range(inner):
                    left_g[k] += missing_g
                    left_w[k] += missing_w
            m = n if absent and side == 0 else inner
            gain, k = best_cut(
                left_g, left_w, m, g, w, units, shift, l2, min_leaf, sign, low, high, out, bits
            )
            if gain > best:
                best = gain
                write(found, f, places[k], side if absent else NO_MISSING, left_g[k], left_w[k], 0)
    return best
