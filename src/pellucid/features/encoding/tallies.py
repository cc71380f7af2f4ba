"""The distinct values of columns of any kind, and how often each occurs, over blocks.

A tally answers what ``Found`` answers of a table in memory, so that encoders learn from either.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pellucid.core.arrays.columns import frame_columns
from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import IntArray
from pellucid.core.loops.statistics import Rows, Statistic
from pellucid.features.encoding.categories import distinct_objects, find_values


class Tally(NamedTuple):
    """The distinct values of each column and their numbers of rows."""

    values: list[Any]  # p arrays (k_j,)
    numbers: list[Any]  # p arrays (k_j,) int64
    n_rows: int

    def counts(self, j: int) -> Any:
        """How often each value of column j occurs."""
        return self.numbers[j]


def leaf_tally(rows: Rows) -> Tally:
    """The tally of one leaf."""
    X = rows.X
    columns = frame_columns(X) if is_frame(X) else list(to_dense(X).T)
    found = find_values([c if is_frame(X) else np.ascontiguousarray(c) for c in columns])
    return Tally(found.values, [found.counts(j) for j in range(len(columns))], found.n_rows)


def merge_tallies(a: Tally, b: Tally) -> Tally:
    """The tally of the rows of both."""
    pairs = [added(*four) for four in zip(a.values, a.numbers, b.values, b.numbers, strict=True)]
    values, numbers = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return Tally(values, numbers, a.n_rows + b.n_rows)


def added(
    a: NDArray[Any], a_numbers: IntArray, b: NDArray[Any], b_numbers: IntArray
) -> tuple[Any, Any]:
    """Values of two leaves, once each, with the sums of their numbers."""
    both, numbers = np.concatenate([a, b]), np.concatenate([a_numbers, b_numbers])
    if both.dtype.kind == "O":
        values, place = distinct_objects(both.tolist())
    else:
        values, place = np.unique(both, return_inverse=True)
    return values, np.bincount(place, weights=numbers, minlength=len(values)).astype(np.int64)


TALLY = Statistic(leaf_tally, merge_tallies)
