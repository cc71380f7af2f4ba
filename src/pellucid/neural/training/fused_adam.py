r"""Adam in float32 by threads: the fused form of ``solvers.rules.Adam`` for mini-batches.

A thread gathers its part of the batch and writes its gradient to its row of ``gradients``; then
the threads share the parameters in stretches whose number depends on the network alone, and sums
are taken in order: the bits do not depend on the number of threads.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.runtime.threads import map_threads
from pellucid.neural.training.adam_kernels import adam_pass
from pellucid.neural.training.backprop import Noise, Plan, batch_parts, batch_scale, cut
from pellucid.neural.training.batches import Data
from pellucid.neural.training.train_state import Penalty, weight_parts
from pellucid.solvers.rules import Memory

SHARE = 1 << 17  # parameters that are worth a thread's turn
MOST_SHARES = 8


def pieces(plan: Plan, size: int) -> tuple[IntArray, Array]:
    """Edges of pieces of at most ``size`` parameters of one array, and 1 for weights, 0 for others.

    The last edge is the number of parameters.
    """
    weights = {part.start for part in weight_parts(plan)}
    edges: list[int] = []
    prices: list[float] = []
    for place in plan.places:
        for start, stop, _ in place:
            cuts = range(start, stop, size)
            edges += cuts
            prices += [float(start in weights)] * len(cuts)
    return np.array([*edges, plan.size]), np.array(prices)


class FusedAdam:
    """Mini-batch steps: gradient and update by threads; ``code`` is that of the rule."""

    def __init__(self, plan: Plan, data: Data, penalty: Penalty, code: Any) -> None:
        self.plan, self.data, self.penalty, self.code = plan, data, penalty, code
        shares = int(np.clip(plan.size // SHARE, 1, MOST_SHARES))
        self.edges, self.prices = pieces(plan, -(-plan.size // (4 * shares)))
        aims = np.linspace(0, plan.size, shares + 1)
        self.shares = list(pairwise(np.searchsorted(self.edges, aims).tolist()))
        self.gradients = np.empty((0, plan.size), dtype=np.float32)

    def step(
        self,
        vector: Array,
        copy: Array,
        memory: Memory,
        mean: Array,
        positions: IntArray,
        rate: float,
        noise: Noise,
    ) -> tuple[float, float, Memory]:
        """One update in place from the visits at ``positions``.

        Returns the penalised loss and the share of right labels before it, and the new memory.
        """
        parts, w = cut(self.plan, len(positions)), self.data.weights(positions)
        if len(self.gradients) != len(parts):
            self.gradients = np.empty((len(parts), self.plan.size), dtype=np.float32)
        rows, scale = lambda part: self.data.take(positions[part]), batch_scale(self.plan, w)
        found = batch_parts(self.plan, copy, rows, parts, scale, noise, self.gradients)
        l2 = self.penalty.l2 / (float(w.sum()) if self.penalty.per_row else 1.0)
        part, t, rule = len(positions) / self.data.n, memory.t + 1, self.code

        def move(share: tuple[int, int]) -> float:
            weights = vector, copy, self.gradients, memory.m, memory.r, mean
            numbers = l2, part, rate, rule.a, rule.b, rule.eps, t
            return adam_pass(*weights, self.edges, self.prices, *share, *numbers)

        squares = sum(map_threads(move, self.shares))
        value, right = sum(f.value for f in found), sum(f.right for f in found)
        return value + l2 * squares, right, memory._replace(t=t)
