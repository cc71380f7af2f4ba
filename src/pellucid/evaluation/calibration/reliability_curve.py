r"""Do events of probability p happen in a share p of the cases? The reliability of probabilities.

Bins b with n_b rows, mean probability p_b, observed share o_b; o the overall share:

    ece = sum n_b/n |o_b - p_b|            mce = max |o_b - p_b|
    brier = mean (p_i - y_i)^2  =  reliability - resolution + uncertainty
    reliability = sum n_b/n (p_b - o_b)^2,  resolution = sum n_b/n (o_b - o)^2
    uncertainty = o (1 - o)

The split is exact when every bin holds one probability (``distinct``); wider bins lose the
spread inside them. Quantile bins never split equal probabilities, so they may hold unequal counts.

References: Murphy (1973); Naeini, Cooper, Hauskrecht (2015).
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.readable import readable
from pellucid.core.records import plain
from pellucid.evaluation.intervals.intervals import wilson_limits
from pellucid.evaluation.metrics.prepared import prepare

STRATEGIES = ("quantile", "uniform", "distinct")


@readable
class Reliability(NamedTuple):
    """Bins in rising probability, and the numbers that sum them up.

    >>> r = reliability([0, 1, 0, 1], [0.25, 0.25, 0.75, 0.75], strategy="distinct")
    >>> r.observed, r.counts, r.ece
    (array([0.5, 0.5]), array([2., 2.]), 0.25)
    """

    probability: Array  # mean probability of each bin
    observed: Array  # share of positives
    counts: Array  # rows (or weight) of each bin
    low: Array  # Wilson limits of the observed share
    high: Array  # the upper one
    ece: float  # mean gap of shares, weighted by rows
    mce: float  # largest gap
    brier: float  # mean squared error of the probabilities
    reliability: float  # mean squared gap
    resolution: float  # mean squared distance of the shares from the overall share
    uncertainty: float  # o (1 - o) of the overall share o
    strategy: str  # how the bins were cut
    confidence: float  # of the limits

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict())

    def to_frame(self) -> Any:
        """One row per bin, as a polars frame."""
        import polars

        names = ("probability", "observed", "counts", "low", "high")
        return polars.DataFrame({name: getattr(self, name) for name in names})

    def __str__(self) -> str:
        outside = int(((self.probability < self.low) | (self.probability > self.high)).sum())
        gaps = f"by {self.ece:.4g} on average (ece) and by {self.mce:.4g} at most"
        beyond = f"in {outside} of them the difference is more than chance explains"
        bins = f"over {len(self.counts)} bins; {beyond}. Brier score {self.brier:.4g}."
        return f"Predicted and observed shares differ {gaps}, {bins}"


def repeated_quantiles(p: Array, w: Array, levels: Array) -> Array:
    """Quantiles (linear between order statistics) of p with each value repeated w times."""
    order = np.argsort(p)
    total = np.cumsum(w[order])
    place = levels * max(total[-1] - 1, 0.0)
    low = np.minimum(np.searchsorted(total, np.floor(place), side="right"), len(p) - 1)
    high = np.minimum(np.searchsorted(total, np.ceil(place), side="right"), len(p) - 1)
    a, b = p[order][low], p[order][high]
    return a + (place - np.floor(place)) * (b - a)


def bin_of(p: Array, w: Array, n_bins: int, strategy: str) -> IntArray:
    """The bin of every probability; empty bins are closed up."""
    if strategy == "distinct":
        return np.unique(p, return_inverse=True)[1]
    if strategy == "uniform":
        edges = np.linspace(0, 1, n_bins + 1)
    else:
        edges = repeated_quantiles(p, w, np.linspace(0, 1, n_bins + 1))
    code = np.searchsorted(np.unique(edges[1:-1]), p, side="left")
    return np.unique(code, return_inverse=True)[1]


def reliability(
    y_true: ArrayLike,
    probability: ArrayLike,
    *,
    n_bins: int = 10,
    strategy: str = "quantile",
    confidence: float = 0.95,
    positive: object = None,
    sample_weight: ArrayLike | None = None,
) -> Reliability:
    """Predicted probabilities against observed shares, bin by bin.

    ``y_true`` has two classes, or any number with ``positive``, which is the later of two when not
    given. ``probability`` of the positive class is (n,) or (n, K), ``sample_weight`` says how often
    each row counts. ``strategy`` cuts ``n_bins`` of equal counts ("quantile") or equal width
    ("uniform"), or one per "distinct" probability. ``confidence`` is that of the Wilson limits.

    >>> r = reliability([0, 0, 1, 0, 1, 1], [0.2, 0.2, 0.2, 0.8, 0.8, 0.8], strategy="distinct")
    >>> r.observed.round(3), round(r.ece, 3)
    (array([0.333, 0.667]), 0.133)
    >>> abs(r.reliability - r.resolution + r.uncertainty - r.brier) < 1e-12
    True
    """
    check.whole(n_bins=n_bins)
    check.one_of(STRATEGIES, strategy=strategy)
    check.fraction(confidence=confidence)
    data = prepare("probabilities", y_true, probability, sample_weight, positive=positive)
    if data.kind != "probabilities" or data.positive is None:
        raise ValueError("reliability needs two classes; pass positive= for one against the rest")
    y = (data.y == data.positive).astype(np.float64)
    p = data.prediction[:, data.positive]
    w = np.ones(len(p)) if data.w is None else data.w
    return _summary(y, p, w, bin_of(p, w, n_bins, strategy), strategy, confidence)


def _summary(
    y: Array, p: Array, w: Array, code: IntArray, strategy: str, confidence: float
) -> Reliability:
    n_b: Array = np.bincount(code, weights=w).astype(np.float64)
    p_b = np.bincount(code, weights=w * p) / n_b
    o_b = np.clip(np.bincount(code, weights=w * y) / n_b, 0.0, 1.0)
    n = w.sum()
    share, overall = n_b / n, float(w @ y / n)
    low, high = wilson_limits(o_b, n_b, float(ndtri((1 + confidence) / 2)))
    gap = np.abs(o_b - p_b)
    ece, mce, brier = float(share @ gap), float(gap.max()), float(w @ (p - y) ** 2 / n)
    miss, resolution = float(share @ (p_b - o_b) ** 2), float(share @ (o_b - overall) ** 2)
    numbers = ece, mce, brier, miss, resolution, overall * (1 - overall)
    return Reliability(p_b, o_b, n_b, low, high, *numbers, strategy, confidence)
