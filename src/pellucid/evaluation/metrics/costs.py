r"""The mean cost of decisions: (1/n) sum L[truth, prediction].

Decisions FROM costs (least expected cost, thresholds) are made elsewhere; here costs are measured.
"""

from typing import Any

from pellucid.core.arrays.typing import ArrayLike
from pellucid.evaluation.metrics.metrics import resolve_metric


def mean_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    cost_matrix: ArrayLike | None,
    *,
    labels: ArrayLike | None = None,
    sample_weight: Any = None,
) -> float:
    """The average of ``cost_matrix[truth, prediction]``.

    Parameters
    ----------
    y_true, y_pred : array of labels
        Truth and prediction.
    cost_matrix : array of shape (K, K)
        Row = truth, column = prediction, in the order of the sorted labels; not negative.
    labels : sequence, optional
        All labels, where some occur neither in the truth nor in the prediction.
    sample_weight : array, optional
        How often each row counts.

    Examples
    --------
    Ten people, one of them sick and missed, three healthy ones called sick:

    >>> truth = ["healthy"] * 9 + ["sick"]
    >>> called = ["sick"] * 3 + ["healthy"] * 7
    >>> mean_cost(truth, called, [[0, 10], [60, 0]])
    9.0
    """
    metric = resolve_metric("mean_cost", cost_matrix=cost_matrix)
    return metric.score(y_true, y_pred, sample_weight, labels=labels)
