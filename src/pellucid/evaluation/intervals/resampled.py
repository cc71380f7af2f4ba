"""Fast bootstrap resampling for each kind of metric; see ``bootstrap_intervals.py``."""

import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.threads import map_threads
from pellucid.evaluation.intervals import bootstrap_intervals as bootstrap
from pellucid.evaluation.intervals.bootstrap_intervals import Statistic, Units, in_chunks
from pellucid.evaluation.intervals.kernels import CDF, TABLE
from pellucid.evaluation.metrics import auc_kernels
from pellucid.evaluation.metrics.delong import Ranking
from pellucid.evaluation.metrics.point_scores import ratio
from pellucid.evaluation.metrics.prepared import Prepared

AREAS = ("roc_auc", "average_precision", "pr_area")


def moment_statistic(
    M: Array, value: Callable[[Array], Array], units: Units, estimate: float
) -> Statistic:
    """``value`` of the sums of the rows of M (n, m); it works on (..., m) at once."""
    per_unit = M * units.w[:, None]
    if units.grouped:
        columns = [np.bincount(units.unit, weights=c, minlength=units.n) for c in per_unit.T]
        per_unit = np.column_stack(columns)
    total = units.multiplicity @ per_unit

    def replicates(seed: int, n: int) -> Array:
        def work(first: int, size: int) -> Array:
            return value(units.counts(seed, first, size) * units.scale @ per_unit)

        return in_chunks(n, work)

    return Statistic(estimate, replicates, lambda: (value(total - per_unit), units.multiplicity))


def loss_moments(losses: Array) -> tuple[Array, Callable[[Array], Array]]:
    """The mean of per-example losses."""
    return np.column_stack([np.ones(len(losses)), losses]), lambda s: ratio(s[..., 1], s[..., 0])


def regression_moments(name: str, y: Array, p: Array) -> tuple[Array, Callable[[Array], Array]]:
    """rmse, nrmse and r2 of k outputs from the sums of 1, e^2, y, y^2 (y centred first)."""
    k = y.shape[1]
    c = y - y.mean(axis=0)
    M = np.column_stack([np.ones(len(y)), (y - p) ** 2, c, c * c])

    def value(s: Array) -> Array:
        n = s[..., :1]
        mse = ratio(s[..., 1 : 1 + k], n)
        if name == "rmse":
            return np.sqrt(np.maximum(mse, 0.0)).mean(axis=-1)
        mean = ratio(s[..., 1 + k : 1 + 2 * k], n)
        variance = ratio(s[..., 1 + 2 * k :], n) - mean**2
        left = ratio(mse, np.where(variance > 1e-14 * np.maximum(mean**2, 1e-300), variance, 0.0))
        return (np.sqrt(np.maximum(left, 0.0)) if name == "nrmse" else 1 - left).mean(axis=-1)

    return M, value


def table_statistic(
    value: Callable[[Prepared], float], data: Prepared, units: Units, estimate: float
) -> Statistic:
    """Metrics of the confusion counts: the K x K cells stand for all rows."""
    K = len(data.labels)
    cell = data.y * K + data.prediction
    rows, columns = np.divmod(np.arange(K * K), K)
    cells = data._replace(y=rows, prediction=columns)

    def measure(table: Array) -> float:
        return value(cells._replace(w=table)) if table.sum() > 0 else np.nan

    if units.grouped:
        flat = np.bincount(units.unit * K * K + cell, weights=units.w, minlength=units.n * K * K)
        per_unit = flat.reshape(units.n, K * K)
        total = per_unit.sum(axis=0)

        def replicates(seed: int, n: int) -> Array:
            def work(first: int, size: int) -> Array:
                tables = units.counts(seed, first, size) @ per_unit
                return np.array([measure(t) for t in tables])

            return in_chunks(n, work)

        def jackknife() -> tuple[Array, Array]:
            return np.array([measure(total - t) for t in per_unit]), np.ones(units.n)

        return Statistic(estimate, replicates, jackknife)
    whole: Any = np.bincount(cell, weights=units.multiplicity, minlength=K * K)
    used = np.flatnonzero(whole)

    def draw(seed: int, n: int) -> Array:
        rng = np.random.default_rng(seed)
        tables = rng.multinomial(units.draws, whole / whole.sum(), size=n) * units.scale
        return np.array([measure(t) for t in tables])

    def without() -> tuple[Array, Array]:
        values = [measure(whole - (np.arange(K * K) == j)) for j in used]
        return np.array(values), whole[used]

    return Statistic(estimate, draw, without)


def curve_statistic(name: str, ranks: list[Ranking], units: Units, estimate: float) -> Statistic:
    """Areas under ranking curves; the mean over the rankings of the same rows."""
    which = AREAS.index(name)

    def replicates(seed: int, n: int) -> Array:
        def work(first: int, size: int) -> Array:
            parts = [_areas(rank, units, seed, first, size, which) for rank in ranks]
            return np.mean(parts, axis=0)

        return in_chunks(n, work)

    def jackknife() -> tuple[Array, Array]:
        if units.grouped:
            values = np.mean([_without_blocks(r, units, which) for r in ranks], axis=0)
            return values, np.ones(bootstrap.jackknife_blocks(units)[1])
        parts = [_without_rows(rank, units.multiplicity, name) for rank in ranks]
        return np.mean(parts, axis=0), units.multiplicity

    return Statistic(estimate, replicates, jackknife)


def _areas(rank: Ranking, units: Units, seed: int, first: int, size: int, which: int) -> Array:
    key = np.uint64(seed)
    plain = not units.grouped and len(units.alias) == 0
    if plain and which == 0 and units.scale == 1.0:
        out = np.empty(size)
        ranks = rank.positive, rank.tie_end, rank.ties
        auc_kernels.auc_resamples(key, first, *ranks, CDF, TABLE, out)
        return out
    areas = np.empty((size, 3))
    rows = rank.positive, rank.tie_end, units.unit[rank.order], units.w[rank.order]
    draws = CDF, TABLE, units.threshold, units.alias, units.draws
    auc_kernels.area_resamples(key, first, *rows, units.n, *draws, areas)
    return areas[:, which]


def _without_blocks(rank: Ranking, units: Units, which: int) -> Array:
    of_unit, n = bootstrap.jackknife_blocks(units)
    block, w = of_unit[units.unit][rank.order], units.w[rank.order]

    def work(first: int) -> Array:
        out = np.empty((min(50, n - first), 3))
        auc_kernels.areas_without(first, rank.positive, rank.tie_end, block, w, out)
        return out[:, which]

    return np.concatenate(list(map_threads(work, range(0, n, 50))))


def _without_rows(rank: Ranking, w: Array, name: str) -> Array:
    """The area without one (repetition of a) row, for every row: prefix sums over equal scores."""
    v = w[rank.order]
    group = np.append(0, np.cumsum(rank.tie_end)[:-1]).astype(np.intp)
    pos: Any = np.bincount(group, weights=v * rank.positive)  # (G,) falling score
    neg: Any = np.bincount(group, weights=v * (1.0 - rank.positive))
    tp, fp = np.cumsum(pos), np.cumsum(neg)
    loo = _without_pair_area if name == "roc_auc" else _without_precision_area
    if_positive, if_negative = loo(pos, neg, tp, fp, trapezoid=name == "pr_area")
    values = np.empty(len(v))
    values[rank.order] = np.where(rank.positive == 1, if_positive[group], if_negative[group])
    return values


def _without_pair_area(
    pos: Array, neg: Array, tp: Array, fp: Array, *, trapezoid: bool
) -> tuple[Array, Array]:
    P, N = tp[-1], fp[-1]
    below, above = N - fp + neg / 2, tp - pos / 2
    pairs = pos @ below
    return ratio(pairs - below, (P - 1) * N), ratio(pairs - above, P * (N - 1))


def _without_precision_area(
    pos: Array, neg: Array, tp: Array, fp: Array, *, trapezoid: bool
) -> tuple[Array, Array]:
    """Above the left-out row nothing changes; below it one is missing from the counts."""
    n, P = tp + fp, tp[-1]
    height = tp / n
    before = np.append(1.0, height[:-1])
    up_to = np.cumsum(pos * (height + before) / 2 if trapezoid else pos * height)
    done = np.append(0.0, up_to[:-1])

    def without(gone: float, fewer: float) -> Array:  # gone: 1 when the row is positive
        h = np.where(n > 1, ratio(tp - gone, n - 1), 1.0)
        kept = np.maximum(pos - gone, 0.0)
        own = kept * ((h + before) / 2 if trapezoid else h)
        term = pos * (h + np.append(1.0, h[:-1])) / 2 if trapezoid else pos * h
        later = np.append(np.cumsum(term[::-1])[::-1][1:], 0.0)
        return ratio(done + own + later, P - fewer)

    return without(1.0, 1.0), without(0.0, 0.0)


def order_statistic(name: str, miss: Array, units: Units, estimate: float) -> Statistic:
    """The median or the maximum of absolute errors (n,)."""
    which = ("median_ae", "max_error").index(name)
    order = np.argsort(miss, kind="stable")
    v, unit, w = miss[order], units.unit[order], units.w[order]

    def work(counts: Array) -> Array:
        out = np.full((len(counts), 2), np.nan)
        auc_kernels.order_statistics(v, counts, unit, w, out)
        return out[:, which]

    def replicates(seed: int, n: int) -> Array:
        return in_chunks(n, lambda first, size: work(units.counts(seed, first, size)))

    def jackknife() -> tuple[Array, Array]:
        if units.grouped:
            block, n = bootstrap.jackknife_blocks(units)
            return work((block[None, :] != np.arange(n)[:, None]).astype(np.int32)), np.ones(n)
        m = units.multiplicity[order]
        return (_median_without(v, m) if which == 0 else _maximum_without(v, m)), m

    return Statistic(estimate, replicates, jackknife)


def _median_without(v: Array, m: Array) -> Array:
    """The median without one repetition of row i: it depends on the side that i lies on."""
    total = np.cumsum(m)
    half = (total[-1] - 1) / 2
    last, rows = len(v) - 1, np.arange(len(v))

    def pick(side: Literal["left", "right"]) -> Array:
        j1 = np.searchsorted(total, half, side=side)
        j2 = np.searchsorted(total - 1, half, side=side)
        return v[np.minimum(np.where(j1 < rows, j1, j2), last)]

    return (pick("left") + pick("right")) / 2


def _maximum_without(v: Array, m: Array) -> Array:
    values = np.full(len(v), v[-1])
    if m[-1] <= 1 and len(v) > 1:
        values[-1] = v[-2]
    return values


def any_statistic(measure: Callable[[Array], float], units: Units, estimate: float) -> Statistic:
    """Any metric as a function of the weights (repetitions) of the rows."""

    def quiet(weight: Array) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)  # NaN replicates are counted
            try:
                return measure(weight)
            except ValueError:  # one class in this resample: undefined, counted by the caller
                return np.nan

    def replicates(seed: int, n: int) -> Array:
        values = []
        for first in range(0, n, 50):
            counts = units.counts(seed, first, min(50, n - first))
            values += [quiet(c[units.unit] * units.scale * units.w) for c in counts]
        return np.array(values)

    def jackknife() -> tuple[Array, Array]:
        block, n = bootstrap.jackknife_blocks(units)
        of_row = block[units.unit]
        base = units.w if units.grouped else units.multiplicity
        if n == units.n and not units.grouped:  # one repetition of a row at a time
            values = [quiet(np.maximum(base - (of_row == b), 0.0)) for b in range(n)]
            return np.array(values), base
        return np.array([quiet(np.where(of_row == b, 0.0, base)) for b in range(n)]), np.ones(n)

    return Statistic(estimate, replicates, jackknife)
