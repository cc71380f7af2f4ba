r"""A network of tables as the flat arrays that the kernels read.

Variable v has ``card[v]`` states, its parents are ``parents[parent_start[v] : parent_start[v+1]]``,
its table lies at ``flat[start[v] : start[v+1]]`` in C order: parents first, itself fastest.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.graphical.network.names import Name


class Shape(NamedTuple):
    """Graph and numbers of states: enough to plan, without any table."""

    card: Any  # (n,) int64
    parent_start: Any  # (n + 1,)
    parents: Any
    child_start: Any  # (n + 1,)
    children: Any


class NetworkArrays(NamedTuple):
    names: tuple[Name, ...]
    place: dict[Name, int]
    states: tuple[tuple[Any, ...], ...]
    shape: Shape
    start: Any  # (n + 1,) int64
    flat: Array
    has_zero: Any  # (n,) bool: whether the table of the variable has a zero
    order: Any  # (n,) int64, parents first


def _lists(lists: Sequence[Sequence[int]]) -> tuple[Any, Any]:
    start = np.zeros(len(lists) + 1, np.int64)
    start[1:] = np.cumsum([len(some) for some in lists])
    return start, np.array([v for some in lists for v in some] or [0], np.int64)


def shape_of(
    names: Sequence[Name], parents: Mapping[Name, Sequence[Name]], card: Sequence[int]
) -> Shape:
    """The graph as arrays; the parents in the order of each table's axes."""
    place = {name: i for i, name in enumerate(names)}
    above = [[place[p] for p in parents[name]] for name in names]
    below: list[list[int]] = [[] for _ in names]
    for v, some in enumerate(above):
        for p in some:
            below[p].append(v)
    return Shape(np.asarray(card, np.int64), *_lists(above), *_lists(below))


def network_arrays(dag: Any, cpds: Mapping[Name, Any]) -> NetworkArrays:
    """All tables of a network in one vector."""
    names = dag.nodes
    tables = [cpds[name] for name in names]
    states = tuple(table.states for table in tables)
    shape = shape_of(names, {c.variable: c.parents for c in tables}, [len(s) for s in states])
    place = {name: i for i, name in enumerate(names)}
    start = np.zeros(len(names) + 1, np.int64)
    start[1:] = np.cumsum([table.values.size for table in tables])
    flat = np.concatenate([table.values.ravel() for table in tables])
    zero = np.array([not table.values.all() for table in tables])
    order = np.array([place[name] for name in dag.topological_order()], np.int64)
    return NetworkArrays(tuple(names), place, states, shape, start, flat, zero, order)
