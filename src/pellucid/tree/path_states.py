"""Which columns may meet on a path of a tree: a table of states.

Columns may meet when one group holds them all. What a node may still ask depends on the groups
that hold every column asked on the way to it; each such set of groups is a state, and

    next[state, column] = the state after a question about the column, or -1 where it may not be
                          asked;  state 0 is the root's

so that a path is followed by looking up one number per question, however many groups there are.
"""

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np

from pellucid.core.arrays import check

MOST_CELLS = 2**25  # of a table of states
SHORT = {"no_interactions": 1, "pairwise": 2}


def column_groups(asked: str | Iterable[Iterable[int]], d: int) -> list[list[int]]:
    """The groups by column numbers; columns in none form one more.

    >>> column_groups([{0, 1}], 3), column_groups("no_interactions", 2)
    ([[0, 1], [2]], [[0], [1]])
    """
    if isinstance(asked, str):
        check.one_of(tuple(SHORT), interaction_cst=asked)
        asked = combinations(range(d), min(SHORT[asked], d))
    sets = [set(group) for group in asked]
    named = [j for group in sets for j in group]
    if not all(isinstance(j, int | np.integer) and 0 <= int(j) < d for j in named):
        raise ValueError(f"interaction_cst must name columns in 0..{d - 1}, got {asked!r}")
    rest = set(range(d)).difference(*sets)
    return [sorted(int(j) for j in group) for group in [*sets, *([rest] if rest else [])]]


def path_states(asked: str | Iterable[Iterable[int]] | None, d: int) -> Any:
    """The table ``next`` (states, d) of ``interaction_cst``; (0, d) where all columns may meet.

    >>> path_states([{0, 1}, {1, 2}], 3)
    array([[ 1,  0,  2],
           [ 1,  1, -1],
           [-1,  2,  2]])
    """
    if asked is None:
        return np.zeros((0, d), np.int64)
    groups = column_groups(asked, d)
    member = [0] * d  # the groups of a column, as the bits of one number
    for k, group in enumerate(groups):
        for j in group:
            member[j] |= 1 << k
    states = {(1 << len(groups)) - 1: 0}
    rows: list[list[tuple[int, int]]] = []
    waiting = list(states)
    for state in waiting:  # grows while it is read
        steps = []
        for j in _columns_of(state, groups, d):
            after = state & member[j]
            if after not in states:
                states[after] = len(states)
                waiting.append(after)
            steps.append((j, states[after]))
        rows.append(steps)
        if len(states) * d > MOST_CELLS:
            what = f"interaction_cst has {len(groups)} groups of {d} columns"
            raise ValueError(f"{what}, which meet in too many ways on a path")
    table = np.full((len(rows), d), -1, np.int64)
    for row, steps in zip(table, rows, strict=True):
        for j, after in steps:
            row[j] = after
    return table


def _columns_of(state: int, groups: list[list[int]], d: int) -> Iterable[int]:
    """The columns of the groups in ``state``."""
    found: set[int] = set()
    while state and len(found) < d:
        lowest = state & -state
        found.update(groups[lowest.bit_length() - 1])
        state ^= lowest
    return sorted(found)
