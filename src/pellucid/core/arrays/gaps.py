r"""Tables with missing cells (NaN): what the observed cells say, and rows with the same gaps.

mean_j, scatter_j over the rows in which column j is observed
pattern = the set of missing columns; rows of one pattern share all algebra of it
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, IntArray, Map
from pellucid.core.loops.statistics import Rows, Source, Span, Statistic, reduce_rows


class Observed(NamedTuple):
    """Weight, mean and squared deviations of the observed cells of each column."""

    weight: Array  # (p,)
    mean: Array
    scatter: Array


def leaf_observed(rows: Rows) -> Observed:
    """The observed cells of one leaf."""
    X = to_dense(rows.X)
    w = np.asarray(rows.w)
    seen = ~np.isnan(X)
    weight = np.einsum("i,it->t", w, seen)
    safe = np.where(weight > 0, weight, 1.0)
    mean = np.einsum("i,it->t", w, np.where(seen, X, 0.0)) / safe
    gap = np.where(seen, X - mean, 0.0)
    return Observed(weight, mean, np.einsum("i,it->t", w, gap**2))


def merge_observed(a: Observed, b: Observed) -> Observed:
    """The observed cells of two sets of rows (Chan, column by column)."""
    weight = a.weight + b.weight
    share = b.weight / np.where(weight > 0, weight, 1.0)
    gap = b.mean - a.mean
    scatter = a.scatter + b.scatter + gap**2 * (a.weight * share)
    return Observed(weight, a.mean + gap * share, scatter)


def fill_columns(X: Any, values: Array) -> Array:
    """X with a value for each column in its gaps.

    >>> fill_columns(np.array([[np.nan, 2.0]]), np.array([5.0, 6.0]))
    array([[5., 2.]])
    """
    X = to_dense(X)
    return np.where(np.isnan(X), values, X)


class FilledSpan(NamedTuple):
    """A span whose gaps are filled where it is read."""

    span: Span
    fill: Array

    @property
    def start(self) -> int:
        return self.span.start

    def leaves(self) -> Iterator[Rows]:
        for rows in self.span.leaves():
            yield rows._replace(X=fill_columns(rows.X, self.fill))


class FilledSource(NamedTuple):
    """Rows with the gaps filled by a value for each column."""

    source: Source
    fill: Array

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    def spans(self) -> Sequence[FilledSpan]:
        return [FilledSpan(span, self.fill) for span in self.source.spans()]


def filled(source: Source, map_: Map, names: tuple[str, ...]) -> tuple[Source, Observed]:
    """The rows with column means in the gaps, and what the observed cells say of the columns."""
    seen = reduce_rows(Statistic(leaf_observed, merge_observed), source, map_)
    empty = [names[j] for j in np.flatnonzero(seen.weight == 0)]
    if empty:
        raise ValueError(f"X has no observed cell in column(s) {', '.join(empty)}; leave them out")
    if isinstance(source, Rows):
        return source._replace(X=fill_columns(source.X, seen.mean)), seen
    return FilledSource(source, seen.mean), seen


def by_pattern(X: Array) -> tuple[IntArray, IntArray]:
    """An order that brings rows with the same gaps together, and where each pattern ends.

    >>> nan = np.nan
    >>> order, ends = by_pattern(np.array([[1.0, nan], [nan, 2.0], [3.0, nan]]))
    >>> order.tolist(), ends.tolist()
    ([0, 2, 1], [2, 3])
    """
    bits = np.packbits(np.isnan(X), axis=1)
    order = np.lexsort(bits.T)
    apart = (bits[order[1:]] != bits[order[:-1]]).any(axis=1)
    return order, np.append(np.flatnonzero(apart) + 1, len(X)).astype(np.int64)
