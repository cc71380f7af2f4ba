"""The leaderboard: what every candidate did on the folds that all share."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.evaluation.hypotheses.comparison import Comparison, compare_folds
from pellucid.evaluation.intervals.intervals import Interval, proportion_interval
from pellucid.evaluation.splits.folds import FoldScore
from pellucid.study.candidates.choice import Choice
from pellucid.study.candidates.training import Outcome, Workshop
from pellucid.study.judging.dealing import PAIRED, ROUNDING
from pellucid.study.judging.measure import fold_interval
from pellucid.study.records import LeaderboardRow


def leaderboard_rows(
    shop: Workshop, outcomes: list[Outcome], choice: Choice | None
) -> tuple[LeaderboardRow, ...]:
    """One row per candidate, best first; ``choice`` is None for a study that was stopped."""
    n = sum(len(judge) for _, judge in shop.folds)
    rows = []
    for i, one in enumerate(outcomes):
        rows.append(
            LeaderboardRow(
                one.name,
                one.key,
                score_of_folds(one.scores, shop.ratio(), shop.scorer.task.metric, n),
                float(one.train_scores.mean()),
                one.seconds,
                one.complexity,
                float("nan") if choice is None else float(choice.p_worse[i]),
                choice is not None and i == choice.chosen,
                choice is not None and i == choice.best,
                tuple(float(s) for s in one.scores),
                usual_parameters(one.params),
                _note(one, len(shop.folds)),
            )
        )
    sign = shop.scorer.sign
    return tuple(sorted(rows, key=lambda r: (-sign * r.interval.estimate, r.complexity)))


def score_of_folds(scores: Array, ratio: float, metric: str, n: int) -> Interval:
    """``fold_interval``; of equal scores, whose spread says nothing, that of ``n`` rows or none.

    >>> found = score_of_folds(np.full(5, 0.75), 0.25, "accuracy", 80)
    >>> bool(0.6 < found.low < 0.75 < found.high < 0.85)
    True
    >>> score_of_folds(np.full(5, 0.75), 0.25, "log_loss", 80).low
    nan
    """
    found = fold_interval(scores, ratio, metric, n)
    if max(float(np.ptp(scores)), found.high - found.low) > ROUNDING * abs(found.estimate):
        return found
    if metric in PAIRED:
        return proportion_interval(found.estimate * n, n)._replace(estimate=found.estimate)
    return found._replace(low=float("nan"), high=float("nan"), standard_error=float("nan"))


def compare_outcomes(shop: Workshop, outcomes: list[Outcome], alpha: float) -> Comparison | None:
    """Every pair of models, by the corrected t-test over the folds; guessing is no model."""
    sign, task = shop.scorer.sign, shop.scorer.task
    models = [one for one in outcomes if one.complexity > 0]
    if len(models) < 2:
        return None
    ordered = sorted(models, key=lambda o: (-sign * o.scores.mean(), o.complexity))
    found = {o.name: [FoldScore(float(s), None, None) for s in o.scores] for o in ordered}
    return compare_folds(
        found,
        shop.y,
        shop.judged(),
        test="corrected_t",
        correction="holm",
        alpha=alpha,
        metric=task.metric,
        greater_is_better=task.greater_is_better,
    )


def usual_parameters(params: list[dict[str, Any]]) -> dict[str, Any]:
    """The parameters chosen in most folds, of equal ones the first; rounds are their median.

    >>> usual_parameters([{"C": 1}, {"C": 2}, {"C": 2}])
    {'C': 2}
    >>> usual_parameters([{"rate": 1, "max_iter": rounds} for rounds in (9, 5, 6)])
    {'rate': 1, 'max_iter': 6}
    """
    shown = [repr({k: v for k, v in one.items() if k != "max_iter"}) for one in params]
    usual = max(range(len(params)), key=lambda i: (shown.count(shown[i]), -i))
    found = dict(params[usual])
    if "max_iter" in found:
        alike = [
            one["max_iter"] for one, text in zip(params, shown, strict=True) if text == shown[usual]
        ]
        found["max_iter"] = int(np.median(alike))
    return found


def _note(one: Outcome, folds: int) -> str:
    notes = []
    if one.unconverged:
        notes.append(f"not converged in {one.unconverged} of {folds} folds")
    if one.sampled:
        notes.append(f"tuned on {one.sampled:,} rows")
    return "; ".join(notes)
