r"""Where to cut the probability of two classes: costs say it, or the learning rows held out do.

costs      t = a / (a + b),  a = L[no, yes] - L[no, no],  b = L[yes, no] - L[yes, yes]
f1, ...    asked for by name: the cut with the best value on out-of-fold probabilities
else       0.5, the likelier class
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.evaluation.metrics.thresholds import best_threshold, threshold_curve
from pellucid.study.candidates.training import Outcome, Workshop
from pellucid.study.judging.calibration import tempered
from pellucid.study.records import Task

RULES = {
    "average_precision": "f_beta",
    "f1": "f_beta",
    "pr_area": "f_beta",
    "precision": "f_beta",
    "recall": "f_beta",
    "balanced_accuracy": "youden",
    "rebalanced_accuracy": "youden",
}
WORDS = {"f_beta": "F1", "youden": "recall + specificity", "cost": "expected cost"}
POINTS = 200


class Cut(NamedTuple):
    """The chosen threshold, the rule behind it, and the curve as plain data for a picture."""

    threshold: float
    moved: bool
    curve: dict[str, Any]


def out_of_fold_probability(shop: Workshop, outcome: Outcome, label: object) -> tuple[Any, Array]:
    """Truth and probability of ``label`` for every judged row, from models that never saw it."""
    truth, said = [], []
    for i, model in enumerate(outcome.models):
        part = shop.outer_part(i, outcome.tried.features)
        place = int(np.flatnonzero(model.classes_ == label)[0])
        truth.append(part.y_judge)
        said.append(model.predict_proba(part.Z_judge)[:, place])
    return np.concatenate(truth), np.concatenate(said)


def cost_threshold(cost_matrix: ArrayLike, place: int) -> float:
    """The probability from which on saying ``place`` costs less.

    >>> round(cost_threshold([[0, 1], [4, 0]], 1), 3)
    0.2
    """
    L = np.asarray(cost_matrix, dtype=np.float64)
    other = 1 - place
    a = L[other, place] - L[other, other]
    b = L[place, other] - L[place, place]
    return float(a / (a + b)) if a + b > 0 else 0.5


def find_cut(
    shop: Workshop,
    outcome: Outcome,
    task: Task,
    cost_matrix: ArrayLike | None,
    *,
    asked: bool = True,
    trust: float | None = None,
) -> Cut | None:
    """The threshold of a binary task; None without probabilities, or rows of both classes.

    It is 0.5, the likelier class, unless costs were given or the measure was ``asked`` for;
    ``trust`` is the calibration of the saved model.
    """
    if task.kind != "binary" or not hasattr(outcome.models[0], "predict_proba"):
        return None
    y, p = out_of_fold_probability(shop, outcome, task.positive)
    if (y == y[0]).all():  # no row held out says where to cut
        return None
    if trust is not None:
        share = float((y == task.positive).mean())
        both = np.column_stack([1 - p, p])
        p = tempered(both, np.array([1 - share, share]), trust, 0.5 / len(y))[:, 1]
    curve = threshold_curve(y, p, positive=task.positive, cost_matrix=cost_matrix)
    place = int(np.flatnonzero(np.asarray(task.classes) == task.positive)[0])
    rule = RULES.get(task.metric) if asked else None
    if cost_matrix is not None:
        chosen, why = cost_threshold(cost_matrix, place), "it follows from the costs"
    elif rule is not None and outcome.complexity > 0:
        best, value = best_threshold(curve, rule)
        lower = curve.threshold[curve.threshold < best]
        chosen = float((best + lower.max()) / 2) if len(lower) else best
        why = f"best {WORDS[rule]} ({value:.3g}) on learning rows held out"
    else:
        chosen, why = 0.5, "the likelier class is predicted"
    return Cut(chosen, abs(chosen - 0.5) > 0.01, _plain(curve, chosen, why, task.positive))


def _plain(curve: Any, chosen: float, why: str, positive: object) -> dict[str, Any]:
    m = len(curve.threshold)
    at = np.unique(np.linspace(0, m - 1, min(m, POINTS)).astype(int))
    cost = None if np.isnan(curve.cost).all() else curve.cost[at].tolist()
    return {
        "name": str(positive),
        "thresholds": curve.threshold[at].tolist(),
        "precision": curve.precision[at].tolist(),
        "recall": curve.recall[at].tolist(),
        "cost": cost,
        "chosen": chosen,
        "why": why,
    }
