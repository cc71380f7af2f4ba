"""The way of a forest from blocks to its trees."""

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.base import CheckedBlocks
from pellucid.core.arrays.typing import Array, IntArray, Map
from pellucid.core.loops.iterate import FitContext
from pellucid.core.runtime.random import stream
from pellucid.ensemble.blocks.placing import width_of
from pellucid.ensemble.blocks.shards import PER_WORKER, Shard, cut_shards
from pellucid.ensemble.blocks.sketch import Rule, find_block_bins, with_weight
from pellucid.ensemble.blocks.table import Opened, RawDoor
from pellucid.ensemble.committees.bootstrap import Sampler, row_hash
from pellucid.ensemble.forest.block_forest import grow_on_blocks
from pellucid.ensemble.forest.growing import BINS, KEY, Grown, Members, Plan, is_coded
from pellucid.tree.growing import Classes

SMALL_ROWS = 1 << 16  # tables up to this size are brought together and fitted in memory
Factor: TypeAlias = Callable[[Array], Array]  # of the rows, given how often they are seen
NOT_HERE = ""  # the fingerprint of rows that were never in one place


class Gathered(NamedTuple):
    """What comes here of every row."""

    hash: Any  # (n,) uint64
    y: Array
    w: Array
    lost: bool  # some cell is missing


def gather_shard(shard: Shard) -> Gathered:
    """A number of every row, its target and its weight."""
    hashes, targets, weights, lost = [], [], [], False
    for _, rows in shard.stretches():
        y = np.asarray(rows.y, np.float64)
        if y.ndim > 1:
            raise ValueError("several outputs need all rows at once: use fit, or one forest each")
        hashes.append(row_hash(rows.X, y))
        targets.append(y)
        weights.append(rows.w)
        lost = lost or bool((np.isnan(rows.X).any(axis=1) & (rows.w > 0)).any())
    both = np.concatenate(targets), np.concatenate(weights)
    return Gathered(np.concatenate(hashes), *both, lost)


def fit_together(model: BaseEstimator, opened: Opened) -> None:
    """Few rows: as if they had been in memory, once they have passed the door of blocks."""
    for checked in opened.source.spans():
        deque(checked.leaves(), maxlen=0)
    spans = CheckedBlocks(opened.source.blocks, RawDoor()).spans()  # type: ignore[arg-type]
    leaves = [leaf for span in spans for leaf in span.leaves()]
    X, y, w = (joined([leaf[k] for leaf in leaves]) for k in range(3))
    y = y.to_numpy() if hasattr(y, "to_numpy") else y
    model.fit(X, y, sample_weight=w)


def joined(parts: list[Any]) -> Any:
    """Parts of a table in a row; None where there are none."""
    if parts[0] is None:
        return None
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    import polars as pl

    return pl.concat(parts)


def fit_apart(model: BaseEstimator, opened: Opened, map_: Map) -> None:
    """Many rows: targets, weights and a hash of each come here, cells stay where they are."""
    refuse(model, opened)
    context = FitContext.of_one_step(model, None)
    source = opened.source
    shards = cut_shards(source, PER_WORKER * width_of(map_))
    parts = list(map_(gather_shard, shards))
    rows = Gathered(
        np.concatenate([part.hash for part in parts]),
        np.concatenate([part.y for part in parts]),
        np.concatenate([part.w for part in parts]),
        any(part.lost for part in parts),
    )
    if not rows.w.any():
        raise ValueError("sample_weight is zero for every row; at least one must be positive")
    sizes = [int(np.count_nonzero(part.w)) for part in parts]
    plain = bool((rows.w[rows.w > 0] == 1).all())

    def order() -> Any:
        return np.argsort(rows.hash, kind="stable").astype(np.int32)

    def take(target: Classes | Array, codes: IntArray | None, factor: Factor | None) -> Any:
        def grow(plan: Plan, sampler: Sampler, new: range) -> Grown:
            if not is_coded(plan.growth, target):
                raise ValueError(
                    f"{type(model).__name__} grows on blocks by gini, entropy or squared_error, "
                    "without monotonic_cst, interaction_cst and max_leaf_nodes: use fit for these"
                )
            none: Any = np.zeros(model.n_features_in_, bool)
            rule = Rule(with_weight, none, BINS, not plain)
            rng = stream(sampler.seed, KEY)
            bins = find_block_bins(map_, list(zip(shards, sizes, strict=True)), rule, rng)
            members = Members(model.n_features_in_, target, plan, sampler, rows.lost)
            return grow_on_blocks(source, map_, bins, members, new, model._keeps_rows)

        return model._grow_by(grow, order, rows.w, codes, factor)

    model.categories_ = None
    model._take_blocks(rows, take)
    context.end()


def refuse(model: BaseEstimator, opened: Opened) -> None:
    """What a forest cannot do without all rows in one place."""
    name = type(model).__name__
    if model.warm_start:
        raise ValueError("warm_start=True goes with fit: fit_blocks always begins anew")
    if callable(model.oob_score) or model.oob_score:
        raise ValueError(f"oob_score needs all rows at once: {name}.fit has it, fit_blocks has not")
    if opened.mask.any():
        raise ValueError(f"{name} splits categories in memory only: use fit, or encode them")
    if getattr(model.sampling, "label_noise", 0) > 0:
        raise ValueError("label_noise needs all targets at once: use fit")
