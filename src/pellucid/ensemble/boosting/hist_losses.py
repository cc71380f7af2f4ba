r"""The losses of boosting on whole tables: derivatives, mean, best constant, leaf quantiles.

The formulas are in ``kernels/derivatives.py``. For the absolute and quantile losses, whose
curvature is no guide, the value of a leaf is the median or quantile of the residuals in it; where a
column is monotone, it is kept between bounds that come from the sides of every such split above it:

    bound = (quantile of the left side + quantile of the right side) / 2
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pellucid.core.algebra.exact_sums import exact_sum
from pellucid.core.arrays.typing import Array, BoolArray
from pellucid.core.runtime.threads import map_threads
from pellucid.ensemble.boosting.kernels import derivatives as boosting
from pellucid.ensemble.boosting.kernels.leafwise import Grown

ROWS = 16_384  # of one task of the thread pool
PLAIN = 10  # powers of 2: a mean below 1/1000 is no ordinary unit of counts
LONE = 1024.0  # times the mean: larger residuals ask for more bits than a narrow cell has


class Loss(NamedTuple):
    """Which loss, and the level of a quantile."""

    code: int
    level: float = 0.5

    @property
    def by_quantile(self) -> bool:
        """Whether leaves hold quantiles of residuals."""
        return self.code in (boosting.ABSOLUTE, boosting.QUANTILE)


class Derivatives(NamedTuple):
    """g and h of every class, their sums, the mean loss, and the weight of all rows."""

    g: Array  # (K, n)
    h: Array
    sums: Array  # (K, 2): sum w |g|, sum w h
    loss: float
    total: float


def blocks(n: int) -> list[tuple[int, int]]:
    """Stretches of rows, one for each task of the thread pool."""
    return [(a, min(a + ROWS, n)) for a in range(0, n, ROWS)]


def total_of(x: Array) -> float:
    """The sum, rounded over ``ROWS`` rows at a time and then once: rows in blocks can do the same.

    >>> total_of(np.array([0.5, 0.25]))
    0.75
    """
    return exact_sum(float(x[a:b].sum()) for a, b in blocks(len(x)))


def add_tree(f: Array, leaf: NDArray[Any], value: Array) -> None:
    """f_i += the value of the leaf of row i, in threads over rows."""
    tasks = blocks(len(f))
    if len(tasks) == 1:
        boosting.add_leaves(f, leaf, value, *tasks[0])
    else:
        list(map_threads(lambda task: boosting.add_leaves(f, leaf, value, *task), tasks))


def is_flat(loss: Loss, y: Array, c: Array, baseline: Array) -> bool:
    """Whether the curvature of every row is 1, and no gradient stands far above all others."""
    if loss.code not in (boosting.SQUARED, boosting.ABSOLUTE, boosting.QUANTILE):
        return False
    r = np.abs(y - baseline[0])
    return bool((c == 1).all() and (loss.by_quantile or not_lone(r.max(), total_of(r), len(r))))


def not_lone(largest: float, total: float, n: int) -> bool:
    """Whether the largest residual is no more than ``LONE`` times the mean."""
    return bool(largest <= LONE * (total / n))


def derivatives(
    loss: Loss, y: Array, F: Array, w: Array, c: Array, out: Derivatives | None, tree: Any = None
) -> Derivatives:
    """The derivatives at the scores F (K, n), in threads over rows; sums in the order of rows.

    A row of weight w is w rows, each with the loss times c. ``tree`` (leaf of every row, values) is
    added to F first, K = 1.
    """
    K, n = F.shape
    g, h = (np.empty((K, n)), np.empty((K, n))) if out is None else (out.g, out.h)
    total = total_of(w * c) if out is None else out.total
    parts = derivative_parts(loss, (y, F, w, c), (g, h), tree, blocks(n))
    sums = [[exact_sum(part[0][k, j] for part in parts) for j in (0, 1)] for k in range(K)]
    return Derivatives(g, h, np.array(sums), exact_sum(part[1] for part in parts) / total, total)


def derivative_parts(
    loss: Loss,
    rows: tuple[Array, Array, Array, Array],
    out: tuple[Array, Array],
    tree: Any,
    tasks: list[tuple[int, int]],
) -> list[tuple[Array, float]]:
    """Write the derivatives of (y, F, w, c) to ``out``; the sums of every stretch of rows."""
    (y, F, w, c), (g, h), K = rows, out, len(rows[1])

    def work(task: tuple[int, int]) -> tuple[Array, float]:
        if tree is not None:
            boosting.add_leaves(F[0], *tree, *task)
        if loss.code == boosting.SOFTMAX:
            sums = np.zeros((K, 2))
            return sums, boosting.softmax_gradients(y, F, w, c, g, h, sums, *task)
        a, b, part = boosting.gradients(loss.code, loss.level, y, F[0], w, c, g[0], h[0], *task)
        return np.array([[a, b]]), part

    return [work(tasks[0])] if len(tasks) == 1 else list(map_threads(work, tasks))


def mean_loss(loss: Loss, y: Array, F: Array, v: Array) -> float:
    """The mean loss with weights v."""
    if loss.code == boosting.SOFTMAX:
        return boosting.softmax_losses(y, F, v, 0, len(y)) / float(v.sum())
    return boosting.losses(loss.code, loss.level, y, F[0], v, 0, len(y)) / float(v.sum())


def best_constant(loss: Loss, y: Array, v: Array, K: int) -> Array:
    """The score of every class that is best for all rows.

    >>> best_constant(Loss(boosting.SQUARED), np.array([1.0, 3.0]), np.ones(2), 1)
    array([2.])
    """
    if loss.by_quantile:
        return leaf_quantiles(y, v, np.zeros(len(y), np.uint16), 1, loss.level)
    totals = np.zeros(0)
    if loss.code == boosting.SOFTMAX:
        parts = [np.bincount(y[a:b].astype(np.intp), v[a:b], K) for a, b in blocks(len(y))]
        totals = np.array([exact_sum(part) for part in zip(*parts, strict=True)])
    return constant_of(loss, total_of(y * v), total_of(v), totals)


def constant_of(loss: Loss, of_y: float, of_v: float, totals: Array) -> Array:
    """The best constant from the sums of v y and v; ``totals`` are those of v in every class."""
    code, mean = loss.code, of_y / of_v
    if code == boosting.SOFTMAX:
        logs = np.log(np.maximum(totals / of_v, np.finfo(float).tiny))
        return logs - logs.mean()
    if code == boosting.LOGISTIC:
        mean = min(max(mean, 1e-15), 1 - 1e-15)
        return np.array([math.log(mean / (1 - mean))])
    if code in (boosting.POISSON, boosting.GAMMA):
        return np.array([math.log(max(mean, 1e-300))])
    return np.array([mean])


def curvature_unit(loss: Loss, baseline: Array) -> float:
    """A power of 2 near the curvature of a row where y is in so small a unit that it vanishes.

    The curvature of the Poisson loss is the mean; every other one has no unit.

    >>> curvature_unit(Loss(boosting.POISSON), np.log([3e-9])) == 2.0**-29
    True
    """
    power = math.floor(float(baseline[0]) / math.log(2))
    return 2.0**power if loss.code == boosting.POISSON and power < -PLAIN else 1.0


def leaf_quantiles(r: Array, w: Array, leaf: NDArray[Any], n_leaves: int, q: float) -> Array:
    """The weighted q-quantile of the residuals in every leaf: the middle where it is a stretch.

    >>> leaf_quantiles(np.array([1.0, 2.0, 9.0, 7.0]), np.ones(4), np.array([0, 0, 0, 1]), 2, 0.5)
    array([2., 7.])
    """
    order = np.lexsort((r, leaf))
    r, w, leaf = r[order], w[order], leaf[order]
    total = np.cumsum(w)
    end = np.searchsorted(leaf, np.arange(n_leaves), side="right")
    start = np.searchsorted(leaf, np.arange(n_leaves))
    before = np.concatenate([[0.0], total])[start]
    wanted = before + q * (total[end - 1] - before)
    slack = 1e-14 * total[end - 1]
    low = np.clip(np.searchsorted(total, wanted - slack), start, end - 1)
    high = np.clip(np.searchsorted(total, wanted + slack), start, end - 1)
    return 0.5 * (r[low] + r[high])


def bounded_quantiles(
    r: Array, w: Array, leaf: NDArray[Any], tree: Grown, monotone: Array, q: float
) -> Array:
    """Leaf quantiles that rise (or fall) along the monotone columns of the tree."""
    n_leaves = len(tree.value)
    values = leaf_quantiles(r, w, leaf, n_leaves, q)
    below = subtree_leaves(tree.left, tree.right)
    low, high = np.full(n_leaves, -np.inf), np.full(n_leaves, np.inf)
    for k, f in enumerate(tree.split[:, 0]):  # a node comes before those below it
        if monotone[f] == 0:
            continue
        sides = [below[k][0], below[k][1]][:: int(monotone[f])]  # the lower side first
        bounds = (low[sides[0]].max(), high[sides[0]].min())
        ends = [quantile_of(r, w, np.isin(leaf, side), q) for side in sides]
        middle = min(max(0.5 * (ends[0] + ends[1]), bounds[0]), bounds[1])
        high[sides[0]] = np.minimum(high[sides[0]], middle)
        low[sides[1]] = np.maximum(low[sides[1]], middle)
    return np.clip(values, low, high)


def quantile_of(r: Array, w: Array, rows: BoolArray, q: float) -> float:
    """The weighted q-quantile of some rows."""
    part = r[rows]
    return float(leaf_quantiles(part, w[rows], np.zeros(len(part), np.intp), 1, q)[0])


def subtree_leaves(left: Array, right: Array) -> list[tuple[list[int], list[int]]]:
    """The leaves on both sides of every node.

    >>> subtree_leaves(np.array([1, ~0]), np.array([~2, ~1]))
    [([0, 1], [2]), ([0], [1])]
    """
    sides: list[Any] = [None] * len(left)
    for k in reversed(range(len(left))):
        both = []
        for child in (int(left[k]), int(right[k])):
            both.append([~child] if child < 0 else sides[child][0] + sides[child][1])
        sides[k] = (both[0], both[1])
    return sides
