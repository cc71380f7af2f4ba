r"""How far ahead a model with lags is worth more than the best one without.

    near_h    the mean score in the folds when the target is known up to h steps before each
              judging row, the last known value standing for those after it: h = 1, 2, 3, 5, 8 ...
    far       that of the best candidate without lags, on the same rows; it never hangs on h
    reach     the last h before far is better; None where it never is, as far as the folds go

The models are those of the folds, fitted one step ahead, so both are judged on rows they have not
seen, and as the saved model will meet such rows.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import IntArray
from pellucid.study.candidates.choice import choose_outcome
from pellucid.study.candidates.training import Outcome, Workshop
from pellucid.study.columns.lags import table_lags
from pellucid.study.judging.conformal import calibration_scores
from pellucid.study.judging.final_score import say


class Reach(NamedTuple):
    """What predicts the rows that are further ahead than ``steps``."""

    steps: int
    far: Outcome
    curve: tuple[tuple[int, float], ...]  # (h, mean score with lags)
    level: float  # mean score without


def find_reach(
    shop: Workshop, outcomes: list[Outcome], chosen: Outcome, rows: IntArray, alpha: float
) -> Reach | None:
    """Where the best candidate without lags takes over; ``rows`` learn, in order of time."""
    if shop.lags is None or not chosen.tried.features.get("lags"):
        return None
    plain = [one for one in outcomes if not one.tried.features.get("lags")]
    if hasattr(chosen.models[0], "predict_proba"):
        plain = [one for one in plain if hasattr(one.models[0], "predict_proba")]
    far = plain[choose_outcome(shop, plain, alpha, shop.prefer).chosen]
    sign, level = shop.scorer.sign, float(far.scores.mean())
    curve = [(1, float(chosen.scores.mean()))]
    for h in horizons(max(len(judge) for _, judge in shop.folds)):
        near = _ahead(shop, chosen, rows, h)
        curve.append((h, near))
        if not sign * near > sign * level:  # worse, or undefined
            return Reach(curve[-2][0], far, tuple(curve), level)
    return None


def horizons(most: int) -> list[int]:
    """Steps ahead to try.

    >>> horizons(20)
    [2, 3, 5, 8, 13]
    """
    found = [2, 3]
    while found[-1] < most:
        found.append(found[-1] + found[-2])
    return [h for h in found if h < most]


def scores_ahead(
    shop: Workshop, tested: Any, rows: IntArray, test: IntArray, most: int | None
) -> dict[str, Any] | None:
    """What ``calibration_scores`` says of the test rows with the target known until h steps before.

    ``rows`` are all rows in order of time, ``most`` the steps beyond which another model answers.
    """
    if shop.lags is None or shop.cells is None:
        return None
    task, y = shop.scorer.task, shop.y[test]
    steps = horizons(len(test) if most is None else most + 1)
    scores = []
    for h in steps:
        lags = table_lags(shop.lags, shop.cells, shop.y, rows, ahead=h)
        said = say(tested, shop.frame.with_columns(lags)[test], task)
        classes = getattr(tested, "classes_", None)
        found = calibration_scores(task, classes, said.prediction, said.probability, y, "")
        if found is None:
            return None
        scores.append(found["scores"])
    return {"steps": steps, "scores": scores} if steps else None


def _ahead(shop: Workshop, chosen: Outcome, rows: IntArray, h: int) -> float:
    """The mean score in the folds when the target is known until h steps before."""
    assert shop.lags is not None
    assert shop.cells is not None
    lags = table_lags(shop.lags, shop.cells, shop.y, rows, ahead=h)
    frame: Any = shop.frame.with_columns(lags)
    scores = []
    for i, model in enumerate(chosen.models):
        part = shop.outer_part(i, chosen.tried.features)
        Z = part.features.transform(frame[part.judge])
        scores.append(shop.score(model, Z, part.judge))
    return float(np.mean(scores))
