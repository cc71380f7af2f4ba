r"""What exact inference costs, before anything is allocated.

Eliminating a variable multiplies the factors that hold it: a table over it and all its
neighbours. The largest such table decides. The order is greedy by table size (min-weight), by
fill-in edges (min-fill) and by weighted fill-in; the plan with the fewest entries is taken.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import IntArray
from pellucid.core.readable import readable
from pellucid.graphical.inference.elimination_kernels import answer
from pellucid.graphical.network.arrays import Shape
from pellucid.graphical.network.memory import byte_limit, size_text
from pellucid.graphical.network.names import Name

NOTHING = np.empty(0)


@readable
class InferenceCost(NamedTuple):
    """What an exact query would cost.

    >>> from pellucid.data import load_network
    >>> from pellucid.graphical import read_network
    >>> read_network(load_network("asia")).cost("lung", {"xray": "yes"}).largest_table
    8.0
    """

    order: tuple[Name, ...]  # of elimination
    largest_table: float  # its entries
    bytes: float  # of all tables


class Plan(NamedTuple):
    heuristic: int
    entries: float
    largest: float
    order: Any  # numbers of variables
    worst: int  # step of the largest table; -1: the answer's own


def plan(shape: Shape, targets: IntArray, seen: IntArray, everything: int = 0) -> Plan:
    """The cheapest of the greedy orders."""
    return min(
        (plan_with(h, shape, targets, seen, everything) for h in range(3)),
        key=lambda found: found.entries,
    )


def plan_with(h: int, shape: Shape, targets: IntArray, seen: IntArray, everything: int) -> Plan:
    """The greedy order of one heuristic."""
    n = len(shape.card)
    order = np.empty(n, np.int64)
    query = targets, seen, np.zeros(len(seen), np.int64), everything, h, True
    tables = *shape, np.zeros(n + 1, np.int64), 0, np.zeros(n, np.bool_)
    _, _, entries, largest, count, worst = answer(*query, *tables, NOTHING, order, NOTHING)
    return Plan(h, _whole(entries), _whole(largest), order[:count], worst)


def _whole(size: float) -> float:
    """A number of entries that was summed in logarithms."""
    return float(np.rint(size)) if size < 2.0**53 else float(size)


def refuse(needed: float, limit: float, blame: Any, what: str) -> MemoryError:
    """The error for a query that is too large."""
    return MemoryError(
        f"{what} needs {size_text(needed)}, more than the {size_text(limit)} allowed; the largest "
        f"table is the one of {blame!r}: observe it or one of its neighbours, ask for fewer "
        "variables at a time, use approximate() for an answer from samples, or raise max_bytes"
    )


def check_tables(
    parents: dict[Name, tuple[Name, ...]], card: dict[Name, int], max_bytes: float | None = None
) -> None:
    """Refuse tables of a graph that would not fit into memory, before any is built.

    >>> check_tables({"x": tuple(range(40))}, {"x": 2, **{i: 2 for i in range(40)}}, 1e9)
    Traceback (most recent call last):
    MemoryError: the table of 'x' with its 40 parents needs 16 TiB, more than the 954 MiB allowed \
in all; give it fewer parents or merge states
    """
    limit = byte_limit(max_bytes)
    sizes = {
        name: 8.0 * math.prod(float(card[v]) for v in (*some, name))
        for name, some in parents.items()
    }
    if sum(sizes.values()) > limit:
        name = max(sizes, key=lambda v: sizes[v])
        raise MemoryError(
            f"the table of {name!r} with its {len(parents[name])} parents needs "
            f"{size_text(sizes[name])}, more than the {size_text(limit)} allowed in all; "
            "give it fewer parents or merge states"
        )
