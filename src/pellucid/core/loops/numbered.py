"""Leaves that know the number of their first row: folds of neighbouring rows, and rows drawn.

A statistic sees the rows of a leaf and not where they stand. ``Numbered`` sends the number along,
so that one pass over arrays or blocks serves all folds of k-fold cross-validation, and rows drawn
by their numbers are the same rows whatever the blocks are.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import IntArray, Map
from pellucid.core.loops.device import DeviceRows
from pellucid.core.loops.statistics import (
    Rows,
    Source,
    Statistic,
    is_unit,
    reduce_rows,
    unit_weights,
)

Merge = Callable[[Any, Any], Any]


class NumberedSpan(NamedTuple):
    """A span whose leaves come with the number of their first row."""

    span: Any

    @property
    def start(self) -> int:
        return self.span.start

    def leaves(self) -> Iterator[tuple[Rows, int]]:
        row = self.span.start
        for leaf in self.span.leaves():
            yield leaf, row
            row += leaf.n_rows


class Numbered(NamedTuple):
    """A source of numbered leaves."""

    source: Any

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    def spans(self) -> Any:
        return [NumberedSpan(span) for span in self.source.spans()]


def joined(merge: Merge, a: Any, b: Any) -> Any:
    """Two records merged; None is that of no rows."""
    return b if a is None else a if b is None else merge(a, b)


def leaf_folds(
    summarise: Callable[[Rows], Any], edges: IntArray, leaf: tuple[Rows, int]
) -> tuple[Any, ...]:
    """The records of the parts of one leaf that lie in the folds [edges[f], edges[f + 1])."""
    rows, first = leaf
    cuts = np.clip(edges - first, 0, rows.n_rows)
    return tuple(summarise(rows.slice(a, b)) if b > a else None for a, b in pairwise(cuts))


def merge_folds(merge: Merge, a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Fold by fold."""
    return tuple(joined(merge, x, y) for x, y in zip(a, b, strict=True))


def fold_records(statistic: Statistic, source: Source, map_: Map, k: int) -> list[Any]:
    """The record of each of k folds of neighbouring rows (scikit-learn's KFold), in one pass.

    >>> rows = Rows(np.arange(5.0)[:, None], None, np.ones(5))
    >>> add = Statistic(lambda leaf: float(leaf.X.sum()), lambda a, b: a + b)
    >>> fold_records(add, rows, map, 2)
    [3.0, 7.0]
    """
    n = source.n_rows
    if k > n:
        raise ValueError(f"cv={k} folds need at least as many rows, got n_samples={n}")
    edges = np.concatenate([[0], np.cumsum(np.full(k, n // k) + (np.arange(k) < n % k))])
    if isinstance(source, DeviceRows):
        return [source.slice(a, b).reduce(statistic) for a, b in pairwise(edges.tolist())]
    whole = Statistic(
        partial(leaf_folds, statistic.summarise, edges), partial(merge_folds, statistic.merge)
    )
    return list(reduce_rows(whole, Numbered(source), map_))


def others(merge: Merge, parts: list[Any]) -> list[Any]:
    """Of each fold the record of all other folds: what is before it merged with what is after.

    >>> others(lambda a, b: a + b, ["a", "b", "c"])
    ['bc', 'ac', 'ab']
    """
    before, after = [None], [None]
    for part in parts[:-1]:
        before.append(joined(merge, before[-1], part))
    for part in parts[:0:-1]:
        after.append(joined(merge, part, after[-1]))
    return [joined(merge, a, b) for a, b in zip(before, after[::-1], strict=True)]


def leaf_drawn(numbers: IntArray, leaf: tuple[Rows, int]) -> Rows:
    """The rows of one leaf whose numbers are among these sorted ones."""
    rows, first = leaf
    if not is_unit(rows.w):
        raise ValueError("rows drawn from blocks take no sample weights: each counts once")
    low, high = np.searchsorted(numbers, [first, first + rows.n_rows])
    at = numbers[low:high] - first
    return Rows(rows.X[at], None if rows.y is None else rows.y[at], unit_weights(len(at)))


def merge_drawn(a: Rows, b: Rows) -> Rows:
    """The rows of two leaves, in their order."""
    y = None if a.y is None else np.concatenate([a.y, b.y])
    return Rows(np.concatenate([a.X, b.X]), y, unit_weights(a.n_rows + b.n_rows))


def drawn_rows(source: Source, map_: Map, numbers: IntArray) -> Rows:
    """The rows of these sorted numbers, from arrays or blocks with dense leaves.

    >>> rows = Rows(np.arange(6.0)[:, None], None, unit_weights(6))
    >>> drawn_rows(rows, map, np.array([1, 4])).X
    array([[1.],
           [4.]])
    """
    if isinstance(source, Rows):
        return leaf_drawn(numbers, (source, 0))
    return reduce_rows(Statistic(partial(leaf_drawn, numbers), merge_drawn), Numbered(source), map_)
