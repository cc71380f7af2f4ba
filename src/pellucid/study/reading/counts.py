r"""Whether a target counts something: whole numbers from 0 on that thin out upwards.

    up to 10 values   they rise to one peak and thin out above it; or 0 is more than half, and some
                      are skipped (0, 1, 2, 7, 12); or 1 is, where only what happened was written
                      down (1, 2, 3, 6, 37), with at least five values: 1, 2, 3 and 9 may be codes
    more values       no gap below the middle of the positive ones, a tail to the right, and a peak
                      of at most ln n

The last is what tells counts from whole years and marks: Poisson counts of mean m are 0 in a share
e^-m of the rows, so that n of them that reach 0 peak at about ln n or lower, and counts that spread
more than Poisson peak lower still.
"""

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from pellucid.core.arrays.typing import IntArray

if TYPE_CHECKING:
    from pellucid.study.reading.profiles import Column

FEW_CODES = 10  # whole numbers with no more values than this may be classes
LEAST_FROM_ONE = 5  # values, where none is 0
FULL = 0.8  # of the numbers below the middle must occur
TAIL = 0.3  # least skewness; that of Poisson counts of mean 11


def is_count(column: "Column") -> bool:
    """Whether these are counts; codes of classes and marks are not.

    >>> from pellucid.study.reading.profiles import read_column
    >>> is_count(read_column(pl.Series([0] * 12 + [1] * 5 + [2] * 3 + [7] * 2)))
    True
    >>> is_count(read_column(pl.Series([0, 1, 2, 3] * 5)))
    False
    >>> is_count(read_column(pl.Series([1] * 9 + [2, 2, 2, 3, 4, 6, 9, 37])))
    True
    """
    order = column.order
    if column.kind != "whole" or order is None or order.low not in (0, 1) or column.distinct < 4:
        return False
    cells = column.cells.drop_nulls().cast(pl.Int64)
    counted = cells.rename("cell").value_counts(name="n").sort("cell")
    values, counts = (counted[name].to_numpy().astype(np.intp) for name in ("cell", "n"))
    if order.low == 1:
        return LEAST_FROM_ONE <= len(values) <= FEW_CODES and _thin_tail(values, counts)
    return _few(values, counts) if column.distinct <= FEW_CODES else _many(values, counts)


def are_codes(column: "Column") -> bool:
    """Whether numbers may well be names of classes: two of them, or a few whole ones, no counts.

    >>> from pellucid.study.reading.profiles import read_column
    >>> codes, sizes = pl.Series([1, 2, 3] * 5), pl.Series([1.0, 2.5, 4.0])
    >>> are_codes(read_column(codes)), are_codes(read_column(sizes))
    (True, False)
    """
    few = column.kind == "whole" and column.distinct <= FEW_CODES and not is_count(column)
    return few or column.distinct <= 2


def _thin_tail(values: IntArray, counts: IntArray) -> bool:
    """Is the smallest value more than half, and are some of the others skipped?"""
    return bool(values[-1] - values[0] + 1 > len(values) and 2 * counts[0] > counts.sum())


def _few(values: IntArray, counts: IntArray) -> bool:
    if _thin_tail(values, counts):
        return True
    peak, steps = int(counts.argmax()), np.diff(counts)
    noise = 2 * np.sqrt(counts[:-1] + counts[1:] + 1)  # of the difference of two counts
    rises = (steps[:peak] > -noise[:peak]).all() and (steps[peak:] < noise[peak:]).all()
    return bool(rises and len(counts) - peak >= 3 and 4 * counts[-1] <= counts[peak])


def _many(values: IntArray, counts: IntArray) -> bool:
    n = int(counts.sum())
    above = np.cumsum(counts[1:])
    middle = int(values[1:][np.searchsorted(above, above[-1] / 2)])
    if (values <= middle).sum() < FULL * (middle + 1):
        return False
    mean = float(values @ counts) / n
    off = values - mean
    spread = math.sqrt(float(off**2 @ counts) / n)
    low = np.bincount(values[values <= middle], counts[values <= middle], middle + 1)
    peak = int(np.convolve(low, np.ones(3), "same").argmax())
    return float(off**3 @ counts) / n >= TAIL * spread**3 and peak <= max(1.0, math.log(n))
