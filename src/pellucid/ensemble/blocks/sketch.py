r"""Bins of a table in blocks: the rule of ``ensemble.bins``, a row at a time.

Which rows have a say in the edges depends on their number alone: all of them, or ``SAMPLE`` drawn
out of n by the fit's own generator, as in memory. Every shard gives its part of that sample, in
order, and the distinct values of the columns of categories; the parts are joined here, so the
edges are those of ``find_bins`` for the same rows, whatever the blocks. At most 8 SAMPLE p bytes
travel, once.
"""

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, Map, Rng
from pellucid.core.loops.statistics import Rows
from pellucid.ensemble.bins import SAMPLE, Bins, bins_of_sample
from pellucid.ensemble.blocks.shards import Shard

LEVELS = 1 << 16  # distinct values of a column of categories that are counted at most


def with_weight(start: int, rows: Rows) -> Any:
    """Rows that have weight count; None where all have."""
    use = rows.w > 0
    return None if use.all() else use


class Sampled(NamedTuple):
    """The part of a shard."""

    X: Array  # (rows of the sample, p)
    w: Array
    levels: list[Array]  # of every column of categories


Kept = Callable[[int, Any], Any]  # (number of the first row, rows) -> which count; None: all


class Rule(NamedTuple):
    """Which rows and columns the bins are made of."""

    counts: Kept
    mask: Any  # (p,) columns of categories
    max_bins: int
    weighted: bool


def sample_shard(kept: Kept, columns: Sequence[int], item: tuple[Shard, Any]) -> Sampled:
    """The rows at the places ``item[1]`` among those of the shard that count."""
    shard, places = item
    X, w, done = [], [], 0
    levels: list[Array] = [np.zeros(0) for _ in columns]
    for start, rows in shard.stretches():
        use = kept(start, rows)
        table = rows.X if use is None else rows.X[use]
        weight = rows.w if use is None else rows.w[use]
        low, high = np.searchsorted(places, [done, done + len(table)])
        X.append(table[places[low:high] - done])
        w.append(weight[places[low:high] - done])
        done += len(table)
        for k, j in enumerate(columns):
            x = table[:, j]
            levels[k] = np.union1d(levels[k], x[~np.isnan(x)])[:LEVELS]
    return Sampled(np.concatenate(X), np.concatenate(w), levels)


def find_block_bins(map_: Map, shards: Sequence[tuple[Shard, int]], rule: Rule, rng: Rng) -> Bins:
    """Edges and categories of the rows that count; each shard comes with the number of these."""
    counts = [size for _, size in shards]
    n = int(sum(counts))
    rows = np.arange(n) if n <= SAMPLE else np.sort(rng.choice(n, SAMPLE, replace=False))
    starts = np.concatenate([[0], np.cumsum(counts)])
    cuts = np.searchsorted(rows, starts)
    items = [
        (shard, rows[cuts[i] : cuts[i + 1]] - starts[i]) for i, (shard, _) in enumerate(shards)
    ]
    columns = np.flatnonzero(rule.mask).tolist()
    found = list(map_(partial(sample_shard, rule.counts, columns), items))
    levels: list[Any] = [None] * len(rule.mask)
    for k, j in enumerate(columns):
        levels[j] = reduce(np.union1d, [part.levels[k] for part in found])
    X = np.concatenate([part.X for part in found])
    w = np.concatenate([part.w for part in found]) if rule.weighted else None
    return bins_of_sample(X, w, levels, rule.max_bins)
