"""Threshold curves for pictures: labels, the rows behind a curve, intervals and bands."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.evaluation.intervals.intervals import Interval
from pellucid.evaluation.intervals.metric_intervals import metric_interval
from pellucid.evaluation.metrics.thresholds import ThresholdCurve
from pellucid.plots.panels.marks import thinned

BAND_STEPS = 2000  # groups of equal scores that are resampled; more are joined with neighbours
BAND_DRAWS = 1000


def labelled_curves(given: Any) -> list[tuple[str, ThresholdCurve]]:
    """(label, curve) pairs from one curve or a dictionary of them; one curve has no label."""
    pairs = list(given.items()) if isinstance(given, dict) else [("", given)]
    if not pairs:
        raise ValueError("at least one curve is needed, got none")
    for _, curve in pairs:
        threshold_curve_only(curve)
    return [(str(label), curve) for label, curve in pairs]


def threshold_curve_only(curve: Any) -> ThresholdCurve:
    if not isinstance(curve, ThresholdCurve):
        raise ValueError(
            "a curve of evaluation.threshold_curve is needed (or a dictionary of them), "
            f"got {type(curve).__name__}"
        )
    return curve


def rows_behind(curve: ThresholdCurve) -> tuple[Array, Array, Array]:
    """Labels (1 = positive), scores and weights that would give the same curve.

    >>> from pellucid.evaluation import threshold_curve
    >>> rows_behind(threshold_curve([0, 1, 1], [0.2, 0.4, 0.4]))
    (array([1., 0.]), array([0.4, 0.2]), array([2., 1.]))
    """
    up, down = np.diff(curve.tp, prepend=0.0), np.diff(curve.fp, prepend=0.0)
    y = np.concatenate([np.ones(len(up)), np.zeros(len(down))])
    score = np.concatenate([curve.threshold, curve.threshold])
    weight = np.concatenate([up, down])
    kept = weight > 0
    return y[kept], score[kept], weight[kept]


def area_interval(
    curve: ThresholdCurve, metric: str, confidence: float, method: str, n_resamples: int = 2000
) -> Interval:
    """The interval of an area under the curve, by the methods of ``metric_interval``."""
    y, score, weight = rows_behind(curve)
    how: Any = {"confidence": confidence, "method": method, "n_resamples": n_resamples}
    return metric_interval(metric, y, score, sample_weight=weight, positive=1.0, **how)


def roc_band(curve: ThresholdCurve, grid: Array, confidence: float) -> tuple[Array, Array]:
    """Limits of the recall at every false positive rate: positives and negatives resampled.

    Percentiles of the resampled curves, pointwise; a perfect ranking has no spread to resample.
    """
    m = len(curve.threshold)
    ends = np.unique(np.linspace(0, m - 1, min(m, BAND_STEPS)).round().astype(np.intp))
    rng = np.random.default_rng(0)
    rates = []
    for total in (curve.fp[ends], curve.tp[ends]):
        share = np.diff(total, prepend=0.0) / total[-1]
        size = max(1, round(float(total[-1])))
        drawn = rng.multinomial(size, share / share.sum(), size=BAND_DRAWS)
        rates.append(np.pad(np.cumsum(drawn, axis=1) / size, ((0, 0), (1, 0))))
    tail = (1 - confidence) / 2
    found = np.array([np.interp(grid, x, y) for x, y in zip(*rates, strict=True)])
    low, high = np.quantile(found, [tail, 1 - tail], axis=0)
    return low, high


def shown(m: int, *always: int) -> Array:
    """Places of a long curve to draw: the ends, a fixed sample between, and those named."""
    kept: Array = np.unique(np.concatenate([thinned(m), [0, m - 1], always]).astype(np.intp))
    return kept
