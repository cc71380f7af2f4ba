r"""k-means||: a start in a fixed number of passes, whatever the number of centres.

    1. one row is drawn by weight
    2. ROUNDS times: OVERSAMPLING k more rows at once, in proportion to w d^2(x, nearest so far)
    3. each row goes to its nearest candidate: the weight and the mean of every candidate's rows
    4. k-means on these few weighted means (k-means++ and Lloyd, best of TRIES), without the data

One pass each for 1 and 3 and one for every round: PASSES in all, where k-means++ needs two for
each centre. Rows are drawn without replacement by an exponential race: with e ~ Exp(1), the m
smallest e / mass are m draws in proportion to the mass (Efraimidis & Spirakis 2006), a statistic
that merges, and the total mass need not be known beforehand. The e of a leaf come from the seed
and a digest of its rows, so the start has the same bits in memory, over blocks and on a cluster.

Reference: Bahmani, Moseley, Vattani, Kumar, Vassilvitskii (2012), Scalable k-means++.
"""

import zlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pellucid.cluster.kmeans.passes import Space, dense_rows, nearest
from pellucid.cluster.kmeans.seeding import MemoryField, leaf_near, pad, to_tiles
from pellucid.core.arrays.typing import Array, Map, Rng
from pellucid.core.functions.distances import unit_rows
from pellucid.core.loops.statistics import (
    LEAF_ROWS,
    Node,
    Rows,
    Source,
    Statistic,
    add_records,
    merge_nodes,
    reduce_rows,
)

ROUNDS = 3
OVERSAMPLING = 2
PASSES = ROUNDS + 2
MANY_ROWS = 16 * LEAF_ROWS  # from here on a pass costs more than the candidates
TRIES = 16  # of k-means on the candidates


class Race(NamedTuple):
    """The rows with the smallest keys, for each start."""

    keys: Array  # (starts, m), inf where there are fewer rows of positive mass
    rows: Array  # (starts, m, p)


class Crowd(NamedTuple):
    """The weight of the rows nearest to each candidate, and the sum of their differences to it."""

    weight: Array  # (m,)
    offset: Array  # (m, p)


def takes_parallel(k: int, n: int) -> bool:
    """Whether k-means|| needs fewer passes than k-means++, and the rows are many.

    >>> takes_parallel(32, 1_000_000), takes_parallel(2, 1_000_000), takes_parallel(32, 1000)
    (True, False, False)
    """
    return n > MANY_ROWS and 2 * k > PASSES


def race_keys(seed: int, turn: int, X: Array, mass: Array) -> Array:
    """e / mass of each row; inf where the mass is 0."""
    digest = zlib.crc32(np.ascontiguousarray(X).data)
    rng = np.random.default_rng([seed, turn, digest])
    e = rng.standard_exponential(len(X))
    return np.divide(e, mass, out=np.full(len(X), np.inf), where=mass > 0)


def first_rows(keys: Array, X: Array, m: int) -> tuple[Array, Array]:
    """The m smallest keys in order, padded by inf, and their rows."""
    best = np.argpartition(keys, m)[:m] if m < len(keys) else np.arange(len(keys))
    best = best[np.isfinite(keys[best])]
    best = best[np.argsort(keys[best], kind="stable")]
    out = np.full(m, np.inf), np.zeros((m, X.shape[1]))
    out[0][: len(best)], out[1][: len(best)] = keys[best], X[best]
    return out


def merge_races(a: Race, b: Race) -> Race:
    """The smallest keys of both."""
    m = a.keys.shape[1]
    keys = np.concatenate([a.keys, b.keys], axis=1)
    best = np.argsort(keys, axis=1, kind="stable")[:, :m]
    rows = np.concatenate([a.rows, b.rows], axis=1)
    return Race(
        np.take_along_axis(keys, best, axis=1), np.take_along_axis(rows, best[:, :, None], axis=1)
    )


def raced(seeds: Sequence[int], turn: int, m: int, X: Array, w: Array, near: Any) -> Race:
    """The race of one leaf; ``near`` (starts, n) are squared distances, None at first."""
    found = [
        first_rows(race_keys(seed, turn, X, w if near is None else w * near[r]), X, m)
        for r, seed in enumerate(seeds)
    ]
    return Race(np.array([keys for keys, _ in found]), np.array([rows for _, rows in found]))


def leaf_race(
    space: Space, seeds: Sequence[int], turn: int, m: int, chosen: Array | None, rows: Rows
) -> Race:
    """The race of one leaf of any source: distances are computed again in every pass."""
    X, w = dense_rows(space, rows)
    near = None
    if chosen is not None:
        tiles = leaf_near(space, to_tiles(X), X, chosen)
        near = np.moveaxis(tiles, 1, 0).reshape(len(seeds), -1)[:, : len(X)]
    return raced(seeds, turn, m, X, w, near)


def leaf_crowd(space: Space, C: Array, rows: Rows) -> Crowd:
    """The rows of a leaf by their nearest candidate."""
    X, w = dense_rows(space, rows)
    labels = nearest(space, X, w, C).labels
    weight = np.bincount(labels, weights=w, minlength=len(C)).astype(np.float64)
    gaps = w[:, None] * (X - C[labels])
    columns = [np.bincount(labels, weights=gap, minlength=len(C)) for gap in gaps.T]
    return Crowd(weight, np.stack(columns, axis=1))


class SourceRaces:
    """Races over any source, one pass each."""

    def __init__(self, source: Source, map_: Map, space: Space, seeds: Sequence[int]) -> None:
        self.source, self.map_, self.space, self.seeds = source, map_, space, seeds

    def run(self, turn: int, m: int, chosen: Array | None, new: Array | None) -> Race:
        leaf = partial(leaf_race, self.space, self.seeds, turn, m, chosen)
        return reduce_rows(Statistic(leaf, merge_races), self.source, self.map_)


class MemoryRaces:
    """Races over rows in memory, where the distances are kept between the rounds."""

    def __init__(self, X: Array, w: Array, seeds: Sequence[int]) -> None:
        self.field, self.seeds = MemoryField(X, w, 2.0), seeds
        self.field.begin(len(seeds))

    def run(self, turn: int, m: int, chosen: Array | None, new: Array | None) -> Race:
        field, starts = self.field, len(self.seeds)
        nodes: list[Any] = [None] * len(field.leaves)
        none = np.empty((starts, 0, field.tiles.shape[1]))

        def part(leaf: int) -> None:
            near = None
            X, w = field.X[field._rows(leaf)], field.w[field._rows(leaf)]
            if new is not None:
                for j in range(new.shape[1]):
                    field._pass(leaf, pad(new[:, j]), none, np.empty((starts, 0)))
                tiles = field.near[field._tiles(leaf)]
                near = np.moveaxis(tiles, 1, 0).reshape(starts, -1)[:, : len(X)]
            nodes[leaf] = Node(0, leaf, raced(self.seeds, turn, m, X, w, near))

        field._map(part, field.leaves)
        return merge_nodes(nodes, merge_races)


def draw_candidates(races: Any, k: int, starts: int) -> list[Array]:
    """1 + ROUNDS x OVERSAMPLING k rows at most for each start; fewer where mass runs out."""
    first = races.run(0, 1, None, None).rows  # (starts, 1, p)
    chosen = new = first
    for turn in range(1, ROUNDS + 1):
        race = races.run(turn, OVERSAMPLING * k, chosen, new)
        there = np.isfinite(race.keys)
        new = np.where(there[:, :, None], race.rows, first)  # repeated where none is left
        chosen = np.concatenate([chosen, new], axis=1)
    return [np.unique(chosen[r], axis=0) for r in range(starts)]


def micro_clusters(space: Space, C: Array, source: Source, map_: Map) -> tuple[Array, Array]:
    """The means of the rows nearest to each candidate, and their weights."""
    statistic = Statistic(partial(leaf_crowd, space, C), add_records)
    crowd = reduce_rows(statistic, source, map_)
    live = crowd.weight > 0
    C, weight, offset = C[live], crowd.weight[live], crowd.offset[live]
    if space.center == "mean":
        C = C + offset / weight[:, None]
    elif space.center == "direction":
        C = unit_rows(C + offset / weight[:, None])
    return C, weight


def parallel_centers(
    source: Source,
    map_: Map,
    space: Space,
    dense: tuple[Array, Array] | None,
    k: int,
    rngs: Sequence[Rng],
    solve: Callable[[Rows, int, Rng], Array],
) -> list[Array]:
    """k centres for each generator; ``solve`` is k-means on a few weighted rows."""
    seeds = tuple(int(rng.integers(2**63)) for rng in rngs)
    races: Any = SourceRaces(source, map_, space, seeds)
    if dense is not None:
        races = MemoryRaces(*dense, seeds)
    found = []
    for C, rng in zip(draw_candidates(races, k, len(seeds)), rngs, strict=True):
        few, weight = micro_clusters(space, C, source, map_)
        if len(few) <= k:  # hardly more distinct rows than centres
            found.append(few[np.arange(k) % len(few)])
        else:
            found.append(solve(Rows(few, None, weight), k, rng))
    return found
