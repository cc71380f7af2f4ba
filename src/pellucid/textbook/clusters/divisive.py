r"""Divisive clustering (DIANA): split the widest group until every row is alone.

Choose      the group with the largest diameter, max D[i, j] over its rows
Step        the row with the largest mean distance to the rest leaves first; then, while some row
            is nearer on average to those who left than to those who stay, the row for which the
            difference is largest leaves too.
            A part is never wider than the whole, so the heights fall.
Cost        n^2 per split as written here.
The fast version keeps the sums of distances up to date, and gives the splits backwards as merges.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    groups: list[list[int]]  # row numbers
    height: float  # diameter of the group that was split to get here


def split(D: np.ndarray, group: list[int]) -> tuple[list[int], list[int]]:
    """Those who stay, and the splinter group."""
    d = D[np.ix_(group, group)]
    left = np.zeros(len(group), dtype=bool)
    left[d.sum(axis=1).argmax()] = True
    while (~left).sum() > 1:
        to_rest = d[:, ~left].sum(axis=1) / ((~left).sum() - 1)  # a row is no neighbour of itself
        gain = np.where(left, -np.inf, to_rest - d[:, left].mean(axis=1))
        if gain.max() <= 1e-12 * d.max():  # rounding
            break
        left[gain.argmax()] = True
    rows = np.array(group)
    return rows[~left].tolist(), rows[left].tolist()


def splits(D: np.ndarray) -> Iterator[State]:
    """The groups after each of the n - 1 splits."""
    groups = [list(range(len(D)))]
    for _ in range(len(D) - 1):
        width = [D[np.ix_(g, g)].max() if len(g) > 1 else -1.0 for g in groups]
        widest = int(np.argmax(width))
        groups = [*groups[:widest], *groups[widest + 1 :], *split(D, groups[widest])]
        yield State(groups, width[widest])


def divisive(D: np.ndarray, k: int) -> np.ndarray:
    """Labels of k groups, numbered by first row, from distances D of shape (n, n)."""
    groups = [list(range(len(D)))]
    for state in splits(D):
        if len(groups) == k:
            break
        groups = state.groups
    labels = np.empty(len(D), dtype=int)
    for label, rows in enumerate(sorted(groups, key=min)):
        labels[rows] = label
    return labels
