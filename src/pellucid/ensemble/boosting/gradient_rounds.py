"""The rounds of gradient boosting with exact trees, on columns that are sorted once."""

from typing import Any, NamedTuple

import numpy as np

from pellucid.compiled.trees.presort import presort
from pellucid.core.arrays.typing import Array, BoolArray
from pellucid.core.runtime.random import stream
from pellucid.ensemble.boosting.gradient_losses import GradientLoss, Leaves
from pellucid.tree.growing import Growth, grow_tree
from pellucid.tree.pruning import prune_at
from pellucid.tree.record import Tree

SUBSAMPLE, TREE = 1, 2  # purposes of random streams


class Part(NamedTuple):
    """Rows, their targets, weights and scores F (K, n)."""

    X: Array
    y: Array
    w: Array
    F: Array


class Plan(NamedTuple):
    """What every round is asked to do."""

    loss: GradientLoss
    growth: Growth
    rate: float
    subsample: float
    least_share: float  # of the weight, in a leaf
    ccp_alpha: float
    seed: int
    first: int  # number of the first round: more than 0 after a warm start


class Rounds:
    """The scores of the rows and the trees that led to them; ``held`` are rows kept aside."""

    def __init__(self, rows: Part, held: Part | None, plan: Plan) -> None:
        self.rows, self.held, self.plan = rows, held, plan
        self.data = presort(rows.X)
        self.trees: list[Tree] = []
        self.train: list[float] = []
        self.validation: list[float] = []
        self.oob: list[float] = []
        self.improvement: list[float] = []
        self.objective = self._mean(rows)

    def _mean(self, part: Part, seen: slice | BoolArray = slice(None)) -> float:
        return self.plan.loss.mean(part.y[seen], part.F[:, seen], part.w[seen])

    def step(self, before: float | None) -> float:
        """One tree per score; ``before`` is the out-of-bag loss of the round before."""
        rows, plan = self.rows, self.plan
        number = plan.first + len(self.train)
        bag, out = self._draw(number)
        if out is not None and before is None:
            before = self._mean(rows, out)
        w = rows.w if out is None else np.where(bag, rows.w, 0.0)
        R = plan.loss.residual(rows.y, rows.F, rows.w)
        start = rows.F.copy() if len(R) > 1 else rows.F
        for k, r in enumerate(R):
            tree = self._grow(r, w, number * len(R) + k)
            node = tree.apply(rows.X)
            leaves = Leaves(node, w, tree.node_count)
            value = plan.loss.values(rows.y, start, r, leaves, k)
            if value is not None:
                value = np.where(tree.feature < 0, value, tree.value[:, 0, 0])
                tree = tree._replace(value=value[:, None, None].copy())
            rows.F[k] += plan.rate * tree.value[node, 0, 0]
            if self.held is not None:
                held = tree.apply(self.held.X)
                self.held.F[k] += plan.rate * tree.value[held, 0, 0]
            self.trees.append(tree)
        return self._judge(bag, out, before)

    def _draw(self, number: int) -> tuple[Any, Any]:
        """The rows in the bag and out of it, as masks; (all, None) without subsampling."""
        n = len(self.rows.y)
        if self.plan.subsample >= 1.0:
            return slice(None), None
        bag = np.zeros(n, bool)
        size = max(1, int(self.plan.subsample * n))
        bag[stream(self.plan.seed, number, SUBSAMPLE).permutation(n)[:size]] = True
        return bag, ~bag

    def _grow(self, r: Array, w: Array, number: int) -> Tree:
        plan = self.plan
        growth = plan.growth
        if plan.least_share > 0:
            growth = growth._replace(min_weight_leaf=plan.least_share * float(w.sum()))
        seed = int(stream(plan.seed, number, TREE).integers(2**62)) if growth.max_features else 0
        tree = grow_tree(self.data, r[:, None], w, growth, seed)
        return prune_at(tree, plan.ccp_alpha) if plan.ccp_alpha > 0 else tree

    def _judge(self, bag: slice | BoolArray, out: BoolArray | None, before: float | None) -> float:
        """Losses after a round; returns the last one out of bag."""
        self.objective = self._mean(self.rows, bag)
        self.train.append(self.objective)
        if self.held is not None:
            self.validation.append(self._mean(self.held))
        if out is None or before is None:
            return 0.0
        now = self._mean(self.rows, out)
        self.oob.append(now)
        self.improvement.append(before - now)
        return now

    def record(self) -> dict[str, float]:
        """The row of the history."""
        row = {"objective": self.objective}
        if self.validation:
            row["validation"] = self.validation[-1]
        if self.improvement:
            row["oob_improvement"] = self.improvement[-1]
        return row
