r"""Exact draws from a network.

Without evidence each variable is drawn given its parents. With evidence the conditionals
p(v | rest, e) of the clique tree form a network along the reverse order of elimination, which is
drawn in the same way: the rows are independent draws from p(x | e), none is thrown away.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.runtime.threads import map_threads
from pellucid.graphical.inference.clique_tree import Calibrated, CliqueTree, family_of, table_of
from pellucid.graphical.inference.sampling_kernels import BLOCK, draw_rows
from pellucid.graphical.network.arrays import NetworkArrays

MANY_ROWS = 16 * BLOCK  # from which threads pay
ONE = 2.0**63


class Drawing(NamedTuple):
    """What the kernel reads."""

    order: Any
    card: Any
    parent_start: Any
    parents: Any
    start: Any
    threshold: Any


def thresholds(table: Array) -> Any:
    """Cumulative sums of the rows as 63-bit numbers, without the last; zeros are never drawn.

    >>> (thresholds(np.array([[0.5, 0.5, 0.0]])) / 2.0**63).tolist()
    [0.5, 1.0]
    """
    rows = table.reshape(-1, table.shape[-1])
    sums = np.minimum(np.cumsum(rows, axis=1), 1.0)
    rest = np.cumsum(rows[:, ::-1], axis=1)[:, ::-1]  # of this state and all after it
    sums[:, :-1][rest[:, 1:] == 0] = 1.0
    return (sums[:, :-1] * ONE).astype(np.uint64).ravel()


def drawing(
    order: Sequence[int], card: IntArray, parents: Sequence[Sequence[int]], tables: Sequence[Array]
) -> Drawing:
    """The tables, by variable, as the kernel reads them; an empty table: not drawn."""
    if any(table.size >= 2**31 for table in tables):
        raise MemoryError("a table of 2^31 entries or more cannot be drawn from")
    cut = [thresholds(table) if table.size else np.empty(0, np.uint64) for table in tables]
    start, parent_start = np.zeros(len(cut) + 1, np.int64), np.zeros(len(cut) + 1, np.int64)
    start[1:] = np.cumsum([len(part) for part in cut])
    parent_start[1:] = np.cumsum([len(some) for some in parents])
    flat = np.array([p for some in parents for p in some] or [0], np.int64)
    threshold = np.concatenate([*cut, np.zeros(1, np.uint64)])
    return Drawing(np.asarray(order, np.int64), card, parent_start, flat, start, threshold)


def prior_drawing(arrays: NetworkArrays) -> Drawing:
    """The network itself."""
    n = len(arrays.names)
    parents = [family_of(arrays, v)[:-1] for v in range(n)]
    tables = [table_of(arrays, v) for v in range(n)]
    return drawing(arrays.order.tolist(), arrays.shape.card, parents, tables)


def posterior_drawing(arrays: NetworkArrays, tree: CliqueTree, found: Calibrated) -> Drawing:
    """The conditionals of the clique tree."""
    n = len(arrays.names)
    parents: list[tuple[int, ...]] = [()] * n
    tables: list[Array] = [np.empty(0)] * n
    for clique, table in zip(tree.cliques, found.tables, strict=True):
        parents[clique.variable], tables[clique.variable] = clique.scope[:-1], table
    order = [clique.variable for clique in tree.cliques[::-1]]
    return drawing(order, arrays.shape.card, parents, tables)


def draw(plan: Drawing, n_rows: int, seed: int, evidence: dict[int, int]) -> Any:
    """Codes (variables, rows); the same for any number of threads."""
    out = np.zeros((len(plan.card), n_rows), np.int16)
    for v, state in evidence.items():
        out[v] = state
    part = partial(_rows, plan, out, np.uint64(seed))
    step = n_rows if n_rows < MANY_ROWS else -(-n_rows // 8 // BLOCK) * BLOCK
    blocks = [(a, min(a + step, n_rows)) for a in range(0, n_rows, max(step, 1))]
    for _ in map(part, blocks) if len(blocks) == 1 else map_threads(part, blocks):
        pass
    return out


def _rows(plan: Drawing, out: Any, seed: Any, block: tuple[int, int]) -> None:
    draw_rows(out, *block, *plan, seed)


def decoded(codes: IntArray, names: Sequence[Any], states: Sequence[tuple[Any, ...]]) -> Any:
    """Codes as a frame: text states as an enumeration, others as they are."""
    import polars as pl

    columns = []
    for name, column, some in zip(names, codes, states, strict=True):
        if all(isinstance(state, str) for state in some):
            series = pl.Series(some, dtype=pl.Enum(some)).gather(column.astype(np.uint32))
        else:
            alike = len({type(s) for s in some}) == 1
            values = np.array(some)[column] if alike else [some[k] for k in column]
            series = pl.Series(values, dtype=None if alike else pl.Object)
        columns.append(series.alias(str(name)))
    return pl.DataFrame(columns)
