r"""How sure a saved model is of one row: split conformal prediction from the study's test rows.

The tested model never saw the test rows, so they calibrate it, and with scores s_1 .. s_n of those
rows and q their ceil((n + 1) confidence)-th smallest,

    numbers   s = |y - f(x)|        interval f(x) -+ q
    classes   s = 1 - P(y | x)      set { k : 1 - P(k | x) <= q }, the likeliest label always in it

cover a new row with at least that probability, whatever the law, if new rows are like the test
rows (exchangeable). Rows in time or in groups are so only as far as the world stands still. The
model refitted on all rows keeps these scores: it has no rows left to be calibrated on, so for it
the promise holds as far as it errs no more than the tested one.

A model with lags errs more the further a row is ahead of the last target known. Where it was also
judged on the test rows with the target known until h steps before, for several h, its ``ahead``
has those scores too, and a row takes the q of its own number of steps, never less than of fewer.

References: Vovk, Gammerman & Shafer (2005); Lei et al. (2018); Sadinle, Lei & Wasserman (2019).
"""

import math
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, BoolArray
from pellucid.study.reading.target_arrays import CLASSES
from pellucid.study.records import Task

NUMBERS = ("regression", "multi_output_regression")


def calibration_scores(
    task: Task,
    classes: Any,
    prediction: np.ndarray,
    probability: Array | None,
    y: Any,
    split: str,
) -> dict[str, Any] | None:
    """What the model file keeps: sorted scores (n,), or (n, outputs); None where there are none.

    >>> task = Task("regression", ("y",), (), None, "rmse", False, 0, "")
    >>> y = np.array([1.0, 2.0])
    >>> calibration_scores(task, None, np.array([1.5, 4.0]), None, y, "random")["scores"]
    array([0.5, 2. ])
    """
    if task.kind in NUMBERS:
        scores = np.abs(np.asarray(y, dtype=np.float64) - prediction)
    elif task.kind in CLASSES and probability is not None:
        place = {label: j for j, label in enumerate(classes.tolist())}
        at = np.array([place.get(label, -1) for label in y.tolist()])
        true = probability[np.arange(len(at)), at]
        scores = 1.0 - np.where(at >= 0, true, 0.0)
    else:
        return None
    return {"scores": np.sort(scores, axis=0), "split": split}


def enough(n: int, confidence: float) -> None:
    """Refuse a confidence that so few rows cannot support."""
    from pellucid.evaluation.conformal.conformal_scores import ROUNDING, rank_of  # compiled

    if rank_of(n, confidence) > n:
        need = math.ceil(confidence / (1 - confidence) - ROUNDING)
        raise ValueError(
            f"the {n} calibration rows of this model cannot support a confidence of "
            f"{confidence:g}: at least {need} are needed"
        )


def limits(calibration: dict[str, Any], confidence: float) -> Array:
    """q, one for every output.

    >>> limits({"scores": np.arange(1.0, 10.0)}, 0.8)
    array([8.])
    """
    scores = calibration["scores"]
    table = scores[:, None] if scores.ndim == 1 else scores
    from pellucid.evaluation.conformal.conformal_scores import conformal_quantile

    enough(len(table), confidence)
    return np.array([conformal_quantile(column, confidence) for column in table.T])


def limits_ahead(calibration: dict[str, Any], confidence: float, ahead: Array) -> Array:
    """q of rows so many steps ahead; beyond the last number tried it is that of the last.

    >>> scores = np.arange(1.0, 10.0)
    >>> known = {"scores": scores, "ahead": {"steps": [2, 5], "scores": [3 * scores, 2 * scores]}}
    >>> limits_ahead(known, 0.8, np.array([1.0, 2.0, 4.0, np.inf]))
    array([ 8., 24., 24., 24.])
    """
    tried = calibration["ahead"]
    rows = [limits(calibration, confidence)[0]]
    rows += [limits({"scores": np.asarray(one)}, confidence)[0] for one in tried["scores"]]
    grown = np.maximum.accumulate(rows)
    place = np.searchsorted(np.array([1, *tried["steps"]]), ahead)
    return np.asarray(grown[np.minimum(place, len(rows) - 1)])


def label_sets(P: Array, limit: float | Array) -> BoolArray:
    """The labels of every row that cannot be excluded; ``limit`` is one, or that of each row.

    >>> label_sets(np.array([[0.9, 0.1], [0.6, 0.4]]), 0.65).tolist()
    [[True, False], [True, True]]
    >>> label_sets(np.array([[0.6, 0.4], [0.6, 0.4]]), np.array([[0.5], [0.65]])).tolist()
    [[True, False], [True, True]]
    """
    inside = limit >= 1.0 - P
    inside[np.arange(len(P)), P.argmax(axis=1)] = True
    return inside
