r"""Bootstrap intervals of any metric: bias-corrected and accelerated (BCa), and percentile.

    z0 = Phi^-1( share of replicates below the estimate, equal ones counting one half )
    a  = sum u^3 / (6 (sum u^2)^{3/2}),   u_i = mean of theta_(.) - theta_(i)      (jackknife)
    limits = the quantiles  Phi( z0 + (z0 +- z) / (1 - a (z0 +- z)) )  of the replicates

A resample changes only how often each unit counts (a row, or a whole group), so each kind of metric
has its own short way, and a jackknife value costs no new pass over the data:

    moments   rmse, r2, ...   functions of sums:     counts @ moments;       sums minus one row
    table     f1, mcc, ...    functions of counts:   multinomial tables;     table minus one cell
    curve     roc_auc, ...    sorted once:           running sums;           prefix sums
    order     median_ae, ...  sorted once:           running counts;         next to the middle
    any       callables       the metric on the reweighted rows;             at most 1000 blocks

Leaving out blocks of units instead of single ones keeps the acceleration: a has the same
expectation, and its noise is 0.65 / (number of blocks).

References: Efron (1987); DiCiccio & Efron (1996).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.exceptions import UndefinedMetricWarning

from pellucid.base import encode_labels
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Seed
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.evaluation.intervals.intervals import Interval
from pellucid.evaluation.intervals.kernels import CDF, TABLE, alias_table, unit_counts

BLOCKS = 1000  # most jackknife blocks where there is no formula
MOST = 0.75  # share of resamples that must be defined, or the user is told
CHUNK = 50  # resamples of one task: fixed, so that the numbers do not depend on the threads


class Units(NamedTuple):
    """What is drawn: rows, or groups of rows; ``w`` repeats the rows inside."""

    n: int  # units
    unit: IntArray  # (rows,) the unit of each row
    w: Array  # (rows,) how often a row counts when its unit is drawn once
    multiplicity: Array  # (units,) how many equal units there are
    threshold: Array  # alias table; empty when every unit has the same chance
    alias: IntArray
    draws: int
    scale: float  # replicate weights = counts * scale (1 unless weights have fractions)
    grouped: bool

    def counts(self, seed: int, first: int, size: int) -> Any:
        """Counts of the units in resamples first, ..., first + size - 1."""
        out = np.empty((size, self.n), dtype=np.int32)
        unit_counts(np.uint64(seed), first, out, CDF, TABLE, self.threshold, self.alias, self.draws)
        return out


def make_units(n_rows: int, w: Array | None, groups: ArrayLike | None = None) -> Units:
    """Rows that count once; rows with repetitions; or whole groups."""
    none, index = np.empty(0), np.empty(0, dtype=np.int64)
    ones = np.ones(n_rows)
    if groups is not None:
        groups = np.asarray(groups)
        if groups.shape != (n_rows,):
            raise ValueError(f"groups needs one entry per row: {n_rows}, got shape {groups.shape}")
        names, unit = encode_labels(groups)
        if len(names) < 2:
            raise ValueError("groups holds one group only; at least two are needed to resample")
        inside, G = ones if w is None else w, len(names)
        return Units(G, unit, inside, np.ones(G), none, index, G, 1.0, True)
    rows = np.arange(n_rows)
    if w is None:
        return Units(n_rows, rows, ones, ones, none, index, n_rows, 1.0, False)
    threshold, alias = alias_table(w)
    total = float(w.sum())
    draws = max(1, round(total))
    return Units(n_rows, rows, ones, w, threshold, alias, draws, total / draws, False)


class Statistic(NamedTuple):
    """A metric ready to be resampled."""

    estimate: float
    replicates: Callable[[int, int], Array]  # (seed, number) -> values
    jackknife: Callable[[], tuple[Array, Array]]  # values without a unit, how many such units


def in_chunks(n: int, work: Callable[[int, int], Array]) -> Array:
    """``work(first, size)`` for chunks of resamples in threads, joined in order."""
    starts = range(0, n, CHUNK)
    parts = map_threads(lambda first: work(first, min(CHUNK, n - first)), starts)
    return np.concatenate(list(parts))


def jackknife_blocks(units: Units) -> tuple[IntArray, int]:
    """A block for every unit: each its own, or 1000 blocks of units a fixed stride apart."""
    n = min(units.n, BLOCKS)
    return np.arange(units.n) % n, n


def acceleration(values: Array, multiplicity: Array) -> float:
    """The skewness of the jackknife values over six; undefined values are left out."""
    fine = np.isfinite(values)
    if not fine.any():
        return 0.0
    v, m = values[fine], multiplicity[fine]
    u = m @ v / m.sum() - v
    square = m @ u**2
    if square <= (1e-12 * np.abs(v).max()) ** 2:
        return 0.0
    return float(m @ u**3 / (6 * square**1.5))


def bca_limits(
    estimate: float, replicates: Array, acceleration: float, confidence: float
) -> tuple[float, float]:
    """The two limits from sorted or unsorted finite replicates."""
    B = len(replicates)
    below = ((replicates < estimate).sum() + (replicates <= estimate).sum()) / (2 * B)
    z0 = ndtri(np.clip(below, 0.5 / B, 1 - 0.5 / B))
    z = z0 + ndtri([(1 - confidence) / 2, (1 + confidence) / 2])
    level = ndtr(z0 + z / (1 - acceleration * z))
    low, high = np.quantile(replicates, np.sort(level))
    return float(low), float(high)


def bootstrap_interval(
    statistic: Statistic,
    *,
    n: float,
    confidence: float = 0.95,
    method: str = "bca",
    n_resamples: int = 2000,
    random_state: Seed = 0,
    name: str = "the metric",
) -> Interval:
    """The interval of a statistic; resamples where it is undefined are left out, with a warning."""
    seed = int(generator(random_state).integers(2**63 - 1))
    replicates = statistic.replicates(seed, n_resamples)
    fine = replicates[np.isfinite(replicates)]
    if len(fine) < max(2, MOST * n_resamples):
        where = f"in {n_resamples - len(fine)} of {n_resamples} resamples"
        text = f"{name} is undefined {where}, which are left out of its interval"
        warn(text, UndefinedMetricWarning)
    if len(fine) < 2:
        return Interval(statistic.estimate, np.nan, np.nan, np.nan, method, n, confidence)
    if method == "percentile":
        tails = [(1 - confidence) / 2, (1 + confidence) / 2]
        low, high = (float(v) for v in np.quantile(fine, tails))
    else:
        a = acceleration(*statistic.jackknife())
        low, high = bca_limits(statistic.estimate, fine, a, confidence)
    error = float(fine.std(ddof=1))
    return Interval(statistic.estimate, low, high, error, method, n, confidence)
