r"""Order statistics of the columns of any source, exact, in a few passes: medians and quantiles.

A float64 has the order of its bits once the negative ones are flipped. A pass counts the next BITS
bits of every value that agrees so far with a wanted rank (radix selection), whole numbers that are
the same for any block size and backend. When few values are left in question, or no more than there
would be counts, they are collected and sorted. At most 1 + 64 / BITS passes; usually three.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pellucid.core.arrays.quantiles import between
from pellucid.core.arrays.typing import Array, IntArray, Map
from pellucid.core.loops.statistics import Rows, Source, Statistic, is_unit, reduce_rows

BITS = 11
FEW = 1 << 17  # values that are collected rather than counted again: a megabyte
PER_QUESTION = 1 << BITS  # and so many for each question: its counts would be no fewer
MOST = 4096  # ranks asked for at a time: their counts take at most 64 MB
Keys = NDArray[np.uint64]
TOP = np.uint64(1 << 63)


class Question(NamedTuple):
    """The values of one column whose bits above ``shift`` are ``prefix``."""

    column: int
    prefix: int


def sortable(x: Array) -> Keys:
    """Whole numbers in the order of the values; 0 and -0 are the same.

    >>> bool((np.diff(sortable(np.array([-2.0, -0.5, 0.0, 3.0])).astype(object)) > 0).all())
    True
    """
    bits = (x + 0.0).view(np.int64)
    return (bits ^ ((bits >> 63) & np.int64(0x7FFF_FFFF_FFFF_FFFF))).view(np.uint64) ^ TOP


def unsorted(keys: Keys) -> Array:
    """The values of sortable keys.

    >>> unsorted(sortable(np.array([-2.0, 7.5])))
    array([-2. ,  7.5])
    """
    bits = (keys ^ TOP).view(np.int64)
    return (bits ^ ((bits >> 63) & np.int64(0x7FFF_FFFF_FFFF_FFFF))).view(np.float64)


def column_keys(rows: Rows, j: int) -> Keys:
    """The keys of the values of a column that are there, sorted."""
    x = np.ascontiguousarray(rows.X[:, j])
    keys = sortable(x[~np.isnan(x)])
    keys.sort()
    return keys


def leaf_counts(shift: int, asked: tuple[Question, ...], rows: Rows) -> IntArray:
    """(questions, 2**BITS): how often each value of the next bits occurs."""
    if not is_unit(rows.w):
        raise ValueError("quantiles over blocks take no sample weights")
    out = np.zeros((len(asked), 1 << BITS), np.int64)
    keys, column = np.empty(0, np.uint64), -1
    for i, (j, prefix) in enumerate(asked):
        if j != column:
            keys, column = column_keys(rows, j), j
        left = agreeing(keys, prefix, shift + BITS)
        digits = (left >> np.uint64(max(shift, 0))) & np.uint64((1 << BITS + min(shift, 0)) - 1)
        out[i] = np.bincount(digits.astype(np.intp), minlength=1 << BITS)
    return out


def agreeing(keys: Keys, prefix: int, above: int) -> Keys:
    """Of sorted keys those whose bits from ``above`` on are ``prefix``.

    >>> agreeing(np.array([3, 4, 5, 7, 8], dtype=np.uint64), 1, 2)
    array([4, 5, 7], dtype=uint64)
    """
    if above >= 64:
        return keys
    ends = np.array([prefix << above, ((prefix + 1) << above) - 1], dtype=np.uint64)
    return keys[np.searchsorted(keys, ends[0]) : np.searchsorted(keys, ends[1], side="right")]


def add_counts(a: IntArray, b: IntArray) -> IntArray:
    """Counts of two leaves."""
    return a + b


def leaf_values(above: int, asked: tuple[Question, ...], rows: Rows) -> list[Keys]:
    """The keys in question, sorted."""
    sorted_keys = {j: column_keys(rows, j) for j in {j for j, _ in asked}}
    return [agreeing(sorted_keys[j], prefix, above) for j, prefix in asked]


def merge_values(a: list[Keys], b: list[Keys]) -> list[Keys]:
    """The keys of two leaves, sorted."""
    return [np.sort(np.concatenate(pair)) for pair in zip(a, b, strict=True)]


def order_statistics(
    source: Source, map_: Map, p: int, wanted: Callable[[IntArray], IntArray]
) -> tuple[Array, IntArray]:
    """The values (r, p) of the ranks ``wanted(counts)`` (r, p) of p columns, and the counts.

    A column without values gets NaN. Ranks count from 0 among the values that are there.
    """
    asked = tuple(Question(j, 0) for j in range(p))
    shift = 64 - BITS
    counts = reduce_rows(Statistic(partial(leaf_counts, shift, asked), add_counts), source, map_)
    n = counts.sum(axis=1)
    ranks = np.asarray(wanted(n))
    prefix = np.zeros(ranks.shape, dtype=object)  # bits known so far, as whole numbers
    rest = np.where(n > 0, ranks, 0)  # the rank among the values that agree
    place = np.broadcast_to(np.arange(p), ranks.shape)
    while True:
        left = np.zeros(ranks.shape, np.int64)
        for at in np.ndindex(*ranks.shape):
            row = counts[place[at]]
            if n[at[1]] == 0:
                continue
            below = np.cumsum(row)
            digit = int(np.searchsorted(below, rest[at], side="right"))
            bits = min(BITS, BITS + shift)
            prefix[at] = (prefix[at] << bits) | digit
            rest[at] -= int(below[digit] - row[digit])
            left[at] = row[digit]
        if shift <= 0:
            return values_of(prefix, n), n
        unique: dict[Question, int] = {
            Question(at[1], int(prefix[at])): int(left[at])
            for at in np.ndindex(*ranks.shape)
            if n[at[1]]
        }
        asked = tuple(sorted(unique))
        position = {question: i for i, question in enumerate(asked)}
        places = [
            [position.get(Question(j, int(prefix[i, j])), 0) for j in range(p)]
            for i in range(len(ranks))
        ]
        place = np.array(places, dtype=np.intp).reshape(ranks.shape)
        if sum(unique.values()) <= max(FEW, PER_QUESTION * len(asked)):
            statistic = Statistic(partial(leaf_values, shift, asked), merge_values)
            found = reduce_rows(statistic, source, map_)
            keys = [
                [found[place[i, j]][rest[i, j]] if n[j] else 0 for j in range(p)]
                for i in range(len(ranks))
            ]
            return values_of(np.array(keys, dtype=object).reshape(ranks.shape), n), n
        shift -= BITS
        statistic = Statistic(partial(leaf_counts, shift, asked), add_counts)
        counts = reduce_rows(statistic, source, map_)


def values_of(keys: Any, n: IntArray) -> Array:
    """Values of whole keys; NaN for columns without any."""
    values = unsorted(keys.astype(np.uint64).ravel()).reshape(keys.shape)
    return np.where(n > 0, values, np.nan)


class Some(NamedTuple):
    """Some columns of a source."""

    source: Source
    columns: slice

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    def spans(self) -> Any:
        return [SomeSpan(span, self.columns) for span in self.source.spans()]


class SomeSpan(NamedTuple):
    """A span with some of its columns."""

    span: Any
    columns: slice

    @property
    def start(self) -> int:
        return self.span.start

    def leaves(self) -> Iterator[Rows]:
        for leaf in self.span.leaves():
            yield leaf._replace(X=leaf.X[:, self.columns])


def block_quantiles(source: Source, map_: Map, p: int, q: Array) -> tuple[Array, IntArray]:
    """(len(q), p) quantiles of the columns, the same numbers as in memory, and their counts.

    Many quantiles are asked for a few columns at a time.
    """
    step = max(1, MOST // (2 * len(q)))
    if step < p:
        parts = [Some(source, slice(j, min(j + step, p))) for j in range(0, p, step)]
        sizes = [min(step, p - j) for j in range(0, p, step)]
        found = [
            block_quantiles(part, map_, size, q) for part, size in zip(parts, sizes, strict=True)
        ]
        return np.hstack([one[0] for one in found]), np.concatenate([one[1] for one in found])
    k = len(q)

    def wanted(n: IntArray) -> IntArray:
        low = np.floor(q[:, None] * (n - 1)).astype(np.intp)
        return np.maximum(np.concatenate([low, np.minimum(low + 1, n - 1)]), 0)

    values, n = order_statistics(source, map_, p, wanted)
    h = q[:, None] * (n - 1)
    return between(values[:k], values[k:], h - np.floor(h)), n
