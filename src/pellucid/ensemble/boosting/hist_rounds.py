"""The rounds of boosting on one binned table, and the scores that may end them."""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import check_scoring

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.ensemble.bins import Bins, encode
from pellucid.ensemble.boosting.boosted_trees import Grower, Trees, add_scores, extend, join
from pellucid.ensemble.boosting.growth_limits import Limits
from pellucid.ensemble.boosting.hist_losses import (
    Derivatives,
    Loss,
    add_tree,
    bounded_quantiles,
    derivatives,
    is_flat,
    leaf_quantiles,
    mean_loss,
)
from pellucid.ensemble.boosting.kernels import derivatives as boosting
from pellucid.ensemble.boosting.kernels.leafwise import Grown, Table


class Sample(NamedTuple):
    """Rows to learn from, or kept aside: a row of weight w is w rows with the loss times c."""

    X: Array
    y: Array
    w: Array
    c: Array

    def take(self, rows: IntArray) -> "Sample":
        return Sample(*(part[rows] for part in self))


class Rounds:
    """The scores of all rows, and the trees that led to them."""

    def __init__(
        self,
        rows: Sample,
        held: Sample | None,
        loss: Loss,
        limits: Limits,
        rate: float,
        bins: Bins,
        baseline: Array,
        trees: Trees,
        seed: int,
    ) -> None:
        codes = encode(rows.X, bins, by_row=True)
        table = Table(codes.by_row, codes.by_column, bins.n_bins, bins.categorical)
        self.rows, self.held, self.loss, self.limits = rows, held, loss, limits
        self.rate, self.seed, self.old = rate, seed, trees
        self.grower = Grower(
            table,
            rows.w,
            limits,
            flat=is_flat(loss, rows.y, rows.c, baseline),
            moves=loss.code == boosting.SQUARED,
            rate=rate,
        )
        self.new: list[Grown] = []
        self.run: Any = None  # a gang of threads
        self.F = self._start(codes.by_column, baseline)
        self.held_codes = None if held is None else encode(held.X, bins, by_row=False).by_column
        self.F_held: Any = None if held is None else self._start(self.held_codes, baseline)

    def _start(self, codes: Any, baseline: Array) -> Array:
        F = np.repeat(baseline[:, None], codes.shape[1], axis=1)
        add_scores(self.old, codes, F)
        return F

    def begin(self) -> Derivatives:
        rows = self.rows
        return derivatives(self.loss, rows.y, self.F, rows.w, rows.c, None)

    def step(self, state: Derivatives) -> Derivatives:
        """One tree per class, and the derivatives after it."""
        K = len(self.F)
        for k in range(K):
            number = len(self.new) + len(self.old.node_start) - 1
            sum_g, sum_h = state.sums[k]
            tree = self.grower.grow(
                self.run, state.g[k], state.h[k], sum_g, sum_h, self.seed + number
            )
            tree = Grown(*tree[:5], self.rate * self._values(tree, k), tree.weight)
            self.new.append(tree)
            if K > 1:
                add_tree(self.F[k], self.grower.work.leaf, tree.value)
        if self.held is not None:
            add_scores(join(self.new[-K:]), self.held_codes, self.F_held)
        rows = self.rows
        last = (self.grower.work.leaf, tree.value) if K == 1 else None
        return derivatives(self.loss, rows.y, self.F, rows.w, rows.c, state, last)

    def _values(self, tree: Grown, k: int) -> Array:
        if not self.loss.by_quantile:
            return tree.value
        residual, leaf, v = self.rows.y - self.F[k], self.grower.work.leaf, self.rows.w
        monotone, level = self.limits.monotone, self.loss.level
        if monotone.any():
            return bounded_quantiles(residual, v, leaf, tree, monotone, level)
        return leaf_quantiles(residual, v, leaf, len(tree.value), level)

    def trees(self, n_rounds: int | None = None) -> Trees:
        """All trees, or those of the first ``n_rounds`` new rounds."""
        last = None if n_rounds is None else n_rounds * len(self.F)
        return extend(self.old, self.new[:last])


class Scores:
    """Scores per round on training and held rows, greater is better, as scikit-learn keeps them."""

    def __init__(
        self,
        model: BaseEstimator,
        rounds: Rounds,
        weighted: bool,
        before: tuple[Iterable[float], Iterable[float]],
    ) -> None:
        self.model, self.rounds, self.weighted = model, rounds, weighted
        self.train: list[float] = list(before[0])
        self.validation: list[float] = list(before[1])
        by_name = not (isinstance(model.scoring, str) and model.scoring == "loss")
        self.scorer: Any = check_scoring(model, model.scoring) if by_name else None

    @property
    def watched(self) -> list[float]:
        """Those that decide when to stop."""
        return self.train if self.rounds.held is None else self.validation

    def add(self, state: Derivatives) -> None:
        rounds, held = self.rounds, self.rounds.held
        if self.scorer is None:
            self.train.append(-state.loss)
        else:
            self.train.append(self._named(rounds.rows, rounds.F))
        if held is None or rounds.F_held is None:
            return
        if self.scorer is None:
            self.validation.append(-mean_loss(rounds.loss, held.y, rounds.F_held, held.w * held.c))
        else:
            self.validation.append(self._named(held, rounds.F_held))

    def _named(self, rows: Sample, F: Array) -> float:
        """A score by its name: the model need not work out again what it says of these rows."""
        weights = {"sample_weight": rows.w} if self.weighted else {}
        self.model._known = (rows.X, F)
        try:
            return float(self.scorer(self.model, rows.X, self.model._words(rows.y), **weights))
        finally:
            del self.model._known

    def record(self) -> dict[str, float]:
        """What the history says of the held rows."""
        if not self.validation:
            return {}
        if self.scorer is None:
            return {"validation": -self.validation[-1]}
        return {"validation_score": self.validation[-1]}

    def stalled(self, patience: int, tol: float) -> bool:
        """No round of the last ``patience`` was better than the one before them by ``tol``."""
        v = self.watched
        return len(v) > patience and max(v[-patience:]) <= v[-patience - 1] + tol


def depth_limit(max_depth: int | None) -> int:
    return 2**31 if max_depth is None else max_depth


def leaf_limit(max_leaf_nodes: int | None, total: float, min_leaf: int, n: int, most: int) -> int:
    """The leaves that a tree can have at all.

    >>> leaf_limit(31, 275.0, 20, 275, 65_535)
    13
    """
    asked = most if max_leaf_nodes is None else max_leaf_nodes
    return max(2, min(asked, math.floor(total / min_leaf), n, most))
