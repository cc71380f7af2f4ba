r"""Every threshold of a score at once: one sort, then running sums.

A row is called positive iff its score >= threshold. The thresholds are the distinct scores,
falling, so the first row of the curve calls fewest rows positive and the last calls all.

    roc_auc             P(positive scores above negative), equal scores counting 1/2
    average precision   sum_i (R_i - R_{i-1}) P_i
    pr_area             the trapezoids between the points, begun at recall 0, precision 1
    cost                (TP L[+,+] + FN L[+,-] + FP L[-,+] + TN L[-,-]) / n
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.core.records import plain, show
from pellucid.evaluation.metrics import point_scores as ps
from pellucid.evaluation.metrics.metrics import warn_undefined
from pellucid.evaluation.metrics.prepared import costs, prepare
from pellucid.evaluation.metrics.registry import curves_of


@readable
class ThresholdCurve(NamedTuple):
    """What every threshold would give; ``cost`` is NaN without a cost matrix.

    >>> curve = threshold_curve([0, 1, 1], [0.2, 0.4, 0.9])
    >>> curve.recall, curve.positive
    (array([0.5, 1. , 1. ]), np.int64(1))
    """

    threshold: Array  # falling; a score of at least this is called positive
    tp: Array  # true positives
    fp: Array  # false alarms
    fn: Array  # misses
    tn: Array  # true negatives
    precision: Array  # tp / (tp + fp)
    recall: Array  # tp / (tp + fn)
    specificity: Array  # tn / (tn + fp)
    f_beta: Array  # precision and recall in one number
    accuracy: Array  # share of right answers
    cost: Array
    roc_auc: float  # area under the ROC curve
    average_precision: float  # area under the precision-recall steps
    pr_area: float  # the same with straight lines
    positive: object  # the positive label
    beta: float  # of f_beta

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict())

    def to_frame(self) -> Any:
        """The arrays as a polars frame, one row per threshold."""
        import polars

        return polars.DataFrame({name: getattr(self, name) for name in self._fields[:11]})

    def __str__(self) -> str:
        threshold, value = best_threshold(self)
        n = self.tp[0] + self.fp[0] + self.fn[0] + self.tn[0]
        rows = f"{len(self.threshold)} thresholds of {n:g} examples, positive = {self.positive}"
        areas = f"area under the ROC curve {show(self.roc_auc)}, average precision"
        best = f"F is best ({value:.4g}) at scores >= {threshold:.6g}"
        return f"{rows}: {areas} {show(self.average_precision)}; {best}"


def threshold_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    positive: object = None,
    beta: float = 1.0,
    cost_matrix: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> ThresholdCurve:
    """Counts, rates and costs at every threshold of a score.

    ``y_true`` has two classes, or any number with ``positive`` (one class against the rest), which
    is the later of two when not given. A greater ``y_score``, (n,) or (n, K), means more positive.
    ``beta`` is how much recall counts against precision in f_beta. ``cost_matrix`` (2, 2) has rows
    of truth and columns of prediction in the order of the sorted labels (with more than two
    classes: the rest, then the positive one); ``sample_weight`` says how often each row counts.

    >>> curve = threshold_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.threshold, curve.tp
    (array([0.8 , 0.4 , 0.35, 0.1 ]), array([1., 1., 2., 2.]))
    >>> curve.roc_auc, best_threshold(curve)
    (0.75, (0.35, 0.8))
    """
    check.positive(beta=beta)
    data = prepare("scores", y_true, y_score, sample_weight, positive=positive)
    if data.kind != "scores" or data.positive is None:
        raise ValueError("a threshold needs two classes: pass positive= for one against the rest")
    c = curves_of(data)[0]
    P, N = c.tp[-1], c.fp[-1]
    fn, tn = P - c.tp, N - c.fp
    counts = ps.ClassCounts(c.tp, fn, c.fp, tn)
    cost = np.full(len(c.tp), np.nan)
    if cost_matrix is not None:
        L = costs(cost_matrix, 2, data.labels)
        a = data.positive
        b = 1 - a
        cost = (c.tp * L[a, a] + fn * L[a, b] + c.fp * L[b, a] + tn * L[b, b]) / (P + N)
    rates = ps.precision(counts), c.tp / P, tn / N, ps.f_beta(counts, beta), (c.tp + tn) / (P + N)
    areas = ps.roc_area(c), ps.step_area(c), ps.trapezoid_area(c)
    label = data.labels[data.positive]
    return ThresholdCurve(c.threshold, c.tp, c.fp, fn, tn, *rates, cost, *areas, label, beta)


def best_threshold(curve: ThresholdCurve, metric: str = "f_beta") -> tuple[float, float]:
    """The threshold with the best value of a metric, and that value; ties take the higher one.

    ``metric`` is "f_beta", "accuracy", "youden" (recall + specificity - 1) or "cost" (the smallest)
    of a ``curve`` of ``threshold_curve``.

    >>> curve = threshold_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], cost_matrix=[[0, 1], [5, 0]])
    >>> best_threshold(curve, "cost")
    (0.35, 0.25)
    """
    check.one_of(("f_beta", "accuracy", "youden", "cost"), metric=metric)
    youden = metric == "youden"
    values = curve.recall + curve.specificity - 1 if youden else getattr(curve, metric)
    if np.isnan(values).all():
        if metric == "cost":
            raise ValueError("the curve has no costs: pass cost_matrix to threshold_curve")
        warn_undefined(metric)
        return float("nan"), float("nan")
    signed = -values if metric == "cost" else values
    best = int(np.nanargmax(signed))  # the first of equal values has the highest threshold
    return float(curve.threshold[best]), float(values[best])
