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

    ``y_true`` and ``y_pred`` are labels; the rows of ``cost_matrix`` (K, K) are the truth, its
    columns the prediction, in the order of the sorted labels, none negative. ``labels`` are all of
    them, where some occur in neither; ``sample_weight`` says how often each row counts.

    Ten people, one of them sick and missed, three healthy ones called sick:

    >>> truth = ["healthy"] * 9 + ["sick"]
    >>> called = ["sick"] * 3 + ["healthy"] * 7
    >>> mean_cost(truth, called, [[0, 10], [60, 0]])
    9.0
    """
    metric = resolve_metric("mean_cost", cost_matrix=cost_matrix)
    return metric.score(y_true, y_pred, sample_weight, labels=labels)
