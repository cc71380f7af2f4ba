"""The way to the first round of boosting on blocks: measures of the target, bins, baseline."""

from collections.abc import Sequence
from functools import partial, reduce
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.algebra.exact_sums import exact_sum
from pellucid.core.arrays.typing import Map
from pellucid.core.loops.statistics import Source
from pellucid.ensemble.blocks.placing import width_of
from pellucid.ensemble.blocks.shards import PER_WORKER, Shard, cut_shards
from pellucid.ensemble.blocks.sketch import Rule, find_block_bins
from pellucid.ensemble.blocks.table import Opened
from pellucid.ensemble.boosting import hist_losses
from pellucid.ensemble.boosting.block_rounds import BlockRounds, Facts
from pellucid.ensemble.boosting.block_rows import (
    Aside,
    Measured,
    Setup,
    Targets,
    join_measured,
    measure,
    not_aside,
)

SUMS = 5  # of a ``Measured`` before those of the classes


class Known(NamedTuple):
    """How the targets are read, and what they were found to be."""

    targets: Targets
    found: Measured
    rng: np.random.Generator


def block_rounds(model: BaseEstimator, opened: Opened, map_: Map) -> BlockRounds:
    """The rounds of a fit of ``model``, ready to begin."""
    growth = model._check_parameters()
    if model.warm_start:
        raise ValueError("warm_start=True goes with fit: fit_blocks always begins anew")
    if model.loss in ("absolute_error", "quantile"):
        needs = "needs the residuals of all rows at once"
        raise ValueError(f"loss={model.loss!r} {needs}: use fit, or another loss on blocks")
    targets, found, rng = measure_targets(model, opened, map_)
    model.categories_ = opened.known
    shards = shards_of(opened.source, map_)
    rule = Rule(partial(not_aside, targets.aside), opened.mask, growth.max_bins, not found.plain)
    pairs = list(zip(shards, found.rows, strict=True))
    model._bins = find_block_bins(map_, pairs, rule, rng)
    model._check_categories()
    loss, K = model._loss(), model._n_scores()
    totals = [exact_sum(parts) for parts in found.sums]
    of_classes = np.array(totals[SUMS + len(found.classes) :])
    model._baseline = hist_losses.constant_of(loss, totals[3], totals[2], of_classes)
    n = sum(found.rows)
    unit, limits = model._ready(loss, model._limits(n, totals[1], growth), again=False)
    setup = Setup(targets, model._bins, loss, model._baseline, unit, found.plain)
    facts = Facts(n, totals[1], totals[2] / unit, totals[4], found.whole, found.ones)
    assert len(model._baseline) == K
    start = limits, model.learning_rate, model.trees_, model._seed
    return BlockRounds(opened.source, map_, setup, facts, start)


def shards_of(source: Source, map_: Map) -> list[Shard]:
    """The shards of a backend."""
    return cut_shards(source, PER_WORKER * width_of(map_))


def measure_targets(model: BaseEstimator, opened: Opened, map_: Map) -> Known:
    """Classes, weights and range of the target; which rows are kept aside."""
    shards: Sequence[Shard] = shards_of(opened.only_target(), map_)
    classes = getattr(model, "classes_", None)

    def go_through(targets: Targets, n_classes: int) -> Measured:
        return reduce(join_measured, map_(partial(measure, targets, n_classes), shards))

    size = 0 if classes is None else len(classes)
    none = np.zeros(0)
    targets = Targets(np.arange(size), none, Aside(0, 0.0))
    found = go_through(targets, size)
    n = sum(found.rows)
    if n == 0:
        raise ValueError("sample_weight is zero for every row; at least one must be positive")
    model._check_range(found.low, found.high)
    place, factors = targets.place, none
    if classes is not None:
        present = found.classes > 0
        place = np.cumsum(present) - 1
        model.classes_ = classes[present]
        if len(model.classes_) < 2:
            only = f"y has one class: {model.classes_[0]}"
            raise ValueError(f"{type(model).__name__} needs at least two classes, {only}")
        of_classes = [exact_sum(parts) for parts in found.sums[SUMS : SUMS + size]]
        factors = model._class_factors(np.array(of_classes)[present])
    rng = model._begin(opened.mask, n, again=False)
    aside = keep_aside(model, n, rng)
    present_classes = 0 if classes is None else len(model.classes_)
    if aside.share or len(factors) or present_classes < size:
        targets = Targets(place, factors, aside)
        found = go_through(targets, present_classes)
        check_both(found, aside)
    return Known(targets, found, rng)


def keep_aside(model: BaseEstimator, n: int, rng: np.random.Generator) -> Aside:
    """The rule for the rows that judge the rounds."""
    if not model.do_early_stopping_:
        return Aside(0, 0.0)
    if not (isinstance(model.scoring, str) and model.scoring == "loss"):
        needs = "needs the predictions of all rows at once"
        raise ValueError(f"scoring={model.scoring!r} {needs}: fit_blocks takes scoring='loss'")
    asked = model.validation_fraction
    if asked is None:
        return Aside(0, 0.0)
    share = asked / n if isinstance(asked, int) else float(asked)
    if share >= 1:
        raise ValueError(f"validation_fraction={asked!r} leaves none of the {n} rows to learn from")
    return Aside(int(rng.integers(2**31)), share)


def check_both(found: Measured, aside: Aside) -> None:
    """There must be rows to learn from, and rows to judge by where these are wanted."""
    if not sum(found.rows) or (aside.share and not found.held):
        what = f"{sum(found.rows)} rows to learn from and {found.held} kept aside"
        raise ValueError(f"there must be some of both, got {what}")
