r"""Prediction intervals of a forest: its quantiles, calibrated on its own out-of-bag rows.

Quantiles     lo(x), hi(x): the a/2 and 1 - a/2 quantiles of the forest's distribution of y
Out of bag    for a training row only the trees that have not seen it: lo_i, hi_i are as fresh to
              y_i as lo(x), hi(x) will be to a new y
Calibration   s_i = max(lo_i - y_i, y_i - hi_i); the margin q is the ceil((n + 1)(1 - a))-th
              smallest, and the interval [lo(x) - q, hi(x) + q]; q < 0 makes it narrower

No rows are set aside and nothing is fitted again. The coverage 1 - a holds on average over new
rows of the same kind (out-of-bag forests are a little smaller than the whole, so that it tends to
be a little more); the width follows the spread of y at x.

References: Meinshausen (2006); Romano, Patterson & Candes (2019); Johansson et al. (2014).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pellucid.core.arrays.typing import Array
from pellucid.core.readable import readable
from pellucid.core.records import plain
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.ensemble.committees.bootstrap import Sampler
from pellucid.ensemble.forest.reading import forest_quantiles
from pellucid.ensemble.forest.record import Forest

ROUNDING = 1e-9  # (n + 1) confidence is not raised by one because its last digit was rounded up


@readable
class ForestCalibration(NamedTuple):
    """What turns a forest's quantiles into intervals; made by ``calibrate_intervals``.

    >>> print(ForestCalibration(0.9, (0.05, 0.95), 0.25, 100, 0.85))
    90 % intervals: quantiles 0.05 and 0.95, 0.25 wider on both sides (85.0 % before, 100 rows)
    """

    confidence: float  # of the intervals
    levels: tuple[float, float]  # quantiles they start from
    margin: float  # added on both sides
    n_rows: int  # that some tree has not seen
    coverage: float  # of the quantiles as they are, out of bag

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict())

    def __str__(self) -> str:
        low, high = self.levels
        return (
            f"{100 * self.confidence:g} % intervals: quantiles {low:g} and {high:g}, "
            f"{self.margin:g} wider on both sides ({100 * self.coverage:.1f} % before, "
            f"{self.n_rows} rows)"
        )


def fit_calibration(
    forest: Forest, rows: NDArray[np.int32], sampler: Sampler, y: Array, X: Array, confidence: float
) -> ForestCalibration:
    """The margin for a confidence, from the training rows X and targets y."""
    tail = (1 - confidence) / 2
    levels = (tail, 1 - tail)
    leaves = forest.apply(X)

    def hide(t: int) -> None:
        leaves[t, sampler.counts(t) > 0] = -1

    list(map_threads(hide, range(forest.n_trees)))
    found = forest_quantiles(forest, rows, sampler, y, X, np.array(levels), leaves)
    weight = sampler.weight if len(sampler.weight) else np.ones(len(y))
    kept = np.isfinite(found[:, 0]) & (weight > 0)
    score = np.maximum(found[:, 0] - y, y - found[:, 1])[kept]
    w = weight[kept]
    margin = score_at(score, w, confidence)
    inside = float(np.average(score <= 0, weights=w)) if len(w) else math.nan
    return ForestCalibration(confidence, levels, margin, len(w), inside)


def score_at(score: Array, w: Array, confidence: float) -> float:
    """The ceil((n + 1) confidence)-th smallest score, n = sum of the weights.

    >>> score_at(np.arange(1.0, 10.0), np.ones(9), 0.8)
    8.0
    """
    total = float(w.sum())
    rank = math.ceil((total + 1) * confidence - ROUNDING)
    if rank > total:
        few = f"{total:g} out-of-bag rows cannot support a confidence of {confidence:g}"
        warn(f"{few}: the intervals are infinite")
        return math.inf
    order = np.argsort(score, kind="stable")
    place = int(np.searchsorted(np.cumsum(w[order]), rank - ROUNDING))
    return float(score[order[min(place, len(order) - 1)]])
