r"""The end of a study: the model to keep, its one test, why it says what it says.

    must be    tuning on all learning rows, the fit, the test rows
    may be     the same model refitted on all rows, coefficients, importance, dependence, the
               curves, the score with left-out columns

The score is that of the model that met the test rows (``tested``). The one to keep (``model``)
has its parameters, costs and calibration and has learned from the test rows too, so nothing is
left that could test it. Past the deadline the parameters chosen in most folds stand for the last
tuning, the tested model is the one to keep, and what may be is left out and named in ``skipped``.
"""

import math
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import IntArray
from pellucid.evaluation.intervals.intervals import Interval
from pellucid.evaluation.validation.diagnosis import Diagnosis, diagnose_fit
from pellucid.study.candidates.choice import Choice
from pellucid.study.candidates.leaderboard import usual_parameters
from pellucid.study.candidates.training import (
    Outcome,
    Trained,
    Tuning,
    Workshop,
    run_candidate,
    tune,
)
from pellucid.study.checks.fit import Facts, fit_findings
from pellucid.study.checks.residuals import residual_record
from pellucid.study.judging.blocked_table import blocked_intervals, blocked_recall
from pellucid.study.judging.calibration import Trust, calibration, trusted
from pellucid.study.judging.conformal import calibration_scores
from pellucid.study.judging.decision_rule import balancing_costs, threshold_costs
from pellucid.study.judging.final_score import (
    Evaluation,
    Far,
    assess,
    build_model,
    metric_of,
    say,
    with_metric,
)
from pellucid.study.judging.gain import (
    DIFFERENT,
    Judged,
    find_gain,
    held_p_value,
    least_units,
    rows_needed,
    score_interval,
    told_by,
)
from pellucid.study.judging.jackknife import make_blocks
from pellucid.study.judging.measure import fold_interval
from pellucid.study.judging.reach import Reach, find_reach, scores_ahead
from pellucid.study.judging.threshold_choice import Cut, find_cut
from pellucid.study.judging.yardstick import (
    Yardstick,
    group_yardstick,
    strongest,
    time_yardsticks,
    told_in_folds,
    told_of,
    with_shares,
)
from pellucid.study.reading.profiles import read_column
from pellucid.study.reading.target_arrays import CLASSES
from pellucid.study.records import (
    Final,
    Finding,
    Insight,
    LeaderboardRow,
    Plan,
    SplitRecord,
    Task,
)
from pellucid.study.saved.drift import sketch_columns
from pellucid.study.saved.learned_rows import row_marks, sketch_rows
from pellucid.study.splits.split import group_codes
from pellucid.study.verdict.insights import explain

NOT_REFITTED = "the refit on all rows (model.pellucid is the model that met the test rows)"
KEPT_GUESSING = "no model was better than guessing on average and in most of the folds"
LEFT_TO_DO = {  # by what is wrong: settings are tuned, averages and boosting were tried
    "uninformative": ("look for other inputs",),
    "overfit": ("use fewer columns", "collect more rows"),
    "underfit": ("take the richer model",),
    "good": (),
}
MANY = ("multilabel", "multi_output_regression", "ranking")  # no single last value


class Ground(NamedTuple):
    """What a conclusion rests on."""

    shop: Workshop
    plan: Plan
    split: SplitRecord
    cells: Any  # the whole table
    digest: str
    trained: Trained
    choice: Choice
    rows: tuple[LeaderboardRow, ...]
    hidden: tuple[str, ...]  # columns left out as leaks or names
    wider: Callable[[], Workshop]  # the workshop with these
    deadline: float | None
    tell: Callable[[str], None]  # what is being done
    asked: bool = False  # was the measure asked for?
    known: str | None = None  # the column of groups that new rows belong to too

    @property
    def chosen(self) -> Outcome:
        return self.trained.outcomes[self.choice.chosen]

    @property
    def challenger(self) -> Outcome:
        """The model whose gain is tested: the chosen one, unless that is guessing."""
        return self.trained.outcomes[self.choice.challenger]

    def late(self, needed: float = 0.0) -> bool:
        """Whether the time is over, or will be after so many seconds."""
        return self.deadline is not None and time.monotonic() + needed > self.deadline


class Conclusion(NamedTuple):
    """What the last stage leaves."""

    tested: Any  # fitted on the learning rows; the score is its own
    model: Any  # to keep: the same, fitted on all rows
    parameters: dict[str, Any]
    evaluation: Evaluation
    score: Interval  # of the model whose gain is tested
    insight: Insight
    diagnosis: Diagnosis
    findings: list[Finding]
    skipped: tuple[str, ...]  # parts the time limit cut off


def conclude(ground: Ground) -> Conclusion:
    """Fit the winner on all learning rows, use the test rows once, refit it on all, explain it."""
    shop, split, chosen = ground.shop, ground.split, ground.chosen
    task = shop.scorer.task
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ground.tell("tuning the chosen model")
        tuning, params = _last_tuning(ground)
        trust = calibration(shop, chosen) if task.kind in CLASSES else Trust()
        costs, asked = ground.plan.cost_matrix, ground.asked
        cut = find_cut(shop, chosen, task, costs, asked=asked, trust=trust.beta)
        ground.tell("fitting the chosen model")
        began = time.monotonic()
        fit = partial(build_model, shop, chosen, params=params, costs=_costs(ground, chosen, cut))
        reach, far = _far(ground)
        tested = fit(rows=split.train, trust=trust.beta, far=far)
        seconds = time.monotonic() - began
        dull = build_model(shop, _guess(ground), split.train, {}, None)
        ground.tell("scoring the test rows")
        found = assess(shop, tested, dull, split.test, ground.cells, cut)
        bold = fit(rows=split.train, trust=trust.plain) if trust.shrunk else None
        final, score = _with_gain(ground, tested, dull, found, bold)
        found = found._replace(final=final)
        beyond = None if reach is None else _beyond(ground, reach, tested.far_, found.y)
        if beyond is not None:
            found = found._replace(final=final._replace(ahead=beyond.told))
        skipped = [] if tuning is not None else ["tuning on all learning rows"]
        every = np.concatenate([split.train, split.test])
        model = tested
        if ground.late(seconds * len(every) / len(split.train)):
            skipped.append(NOT_REFITTED)
        else:
            ground.tell("fitting the chosen model on all rows")
            model = fit(rows=every, trust=trust.beta, far=far)
    about = _about(ground, tested, found, cut)
    if about["lags"] and about["calibration"] is not None:
        order = np.concatenate([split.train, split.test])
        steps = None if reach is None else reach.steps
        wider = scores_ahead(shop, tested, order, split.test, steps)
        about["calibration"] |= {} if wider is None else {"ahead": wider}
    tested.study_ = about | _of_rows(ground, split.train)
    if model is not tested:
        model.study_ = about | _of_rows(ground, every)
    if beyond is not None:
        tested.far_.study_ = about | beyond.about
        model.far_.study_ = about | beyond.about
    ground.tell("explaining the model")
    return _explain(
        ground,
        Conclusion(
            tested,
            model,
            params,
            found,
            score,
            Insight(),
            _diagnosis(ground),
            [],
            tuple(skipped),
        ),
        tuning,
        cut,
    )


def _far(ground: Ground) -> tuple[Reach | None, Far | None]:
    """What predicts rows that the lags of the chosen model do not reach."""
    shop = ground.shop
    reach = find_reach(
        shop, ground.trained.outcomes, ground.chosen, ground.split.train, ground.plan.alpha
    )
    if reach is None:
        return None, None
    one = reach.far
    trust = calibration(shop, one) if shop.scorer.task.kind in CLASSES else Trust()
    costs = _costs(ground, one, None)
    return reach, Far(reach.steps, one, usual_parameters(one.params), costs, trust.beta)


class Beyond(NamedTuple):
    """The model of rows beyond the reach: for the report, and for the model file."""

    told: dict[str, Any]
    about: dict[str, Any]


def _beyond(ground: Ground, reach: Reach, model: Any, y: Any) -> Beyond:
    """What that model is worth on the test rows: a description, no second claim."""
    shop, split = ground.shop, ground.split
    scorer, task, X = shop.scorer, shop.scorer.task, shop.frame[split.test]
    said = say(model, X, task)
    rows = Judged(y, make_blocks(len(y), None, ordered=True), None, apart=False)
    known = metric_of(scorer, model, X, y)
    guess = fold_interval(_guess(ground).scores, shop.ratio(), task.metric, len(y)).estimate
    score = score_interval(scorer, rows, told_by(scorer, model, X), known, guess).to_dict()
    classes = getattr(model, "classes_", None)
    of_test = calibration_scores(task, classes, said.prediction, said.probability, y, split.kind)
    told = {"steps": reach.steps, "name": reach.far.name, "score": score}
    told |= {"curve": [list(one) for one in reach.curve], "level": reach.level}
    about: dict[str, Any] = {
        "name": reach.far.name,
        "score": score,
        "calibration": of_test,
        "lags": [],
    }
    return Beyond(told, about | {"threshold": None})


def _last_tuning(ground: Ground) -> tuple[Tuning | None, dict[str, Any]]:
    """The parameters of the model of all learning rows; without a tuning where time is over."""
    shop, chosen = ground.shop, ground.chosen
    tried, usual = chosen.tried, usual_parameters(chosen.params)
    space = tried.candidate.space
    if tried.portfolio and not space:  # raced in every fold: what they agree on, and its rounds
        space = {name: [value] for name, value in usual.items()} | {"max_iter": around(usual)}
        tried = tried._replace(candidate=tried.candidate._replace(space=space))
    if space and ground.late(_tuning_seconds(ground)):
        return None, usual
    tuning = tune(shop, tried, shop.final_parts(tried.features), train=bool(space))
    return tuning, tuning.params[tuning.chosen]


def _tuning_seconds(ground: Ground) -> float:
    """About what the last tuning takes, and the fits after it: each as long as one of a fold."""
    if ground.deadline is None:
        return 0.0
    shop, chosen = ground.shop, ground.chosen
    a_fold = chosen.seconds / len(shop.folds)
    if chosen.tried.portfolio and shop.tunes_once():
        return 4 * a_fold  # up to twice the rounds on one split, and two fits
    return 2 * a_fold  # a fold tuned as well


def around(params: dict[str, Any]) -> list[int]:
    """Numbers of rounds about the usual one, from which the last tuning chooses.

    >>> around({"max_iter": 100})
    [25, 50, 75, 100, 150, 200]
    """
    usual = params["max_iter"]
    return sorted({max(1, round(share * usual)) for share in (0.25, 0.5, 0.75, 1.0, 1.5, 2.0)})


def _with_gain(
    ground: Ground, model: Any, dull: Any, found: Evaluation, bold: Any = None
) -> tuple[Final, Interval]:
    """The final record with the gain over the yardstick, and the score whose gain it is.

    ``bold`` is the model before weak evidence drew it to the shares of the classes: what it may
    still gain is not excluded.
    """
    shop, split, scorer = ground.shop, ground.split, ground.shop.scorer
    name, ordered = scorer.task.metric, split.kind == "sequential"
    owner = ground.plan.query or split.groups
    units = None if shop.groups is None or ordered else shop.groups[split.test]
    query = None if shop.query is None else shop.query[split.test]
    blocks = make_blocks(len(split.test), units, ordered=ordered)
    rows = Judged(found.y, blocks, query, units is None and not ordered, ordered)
    X, challenger = shop.frame[split.test], ground.challenger
    final = found.final if rows.apart else _in_blocks(scorer.task, rows, found, model, X)
    if challenger is not ground.chosen:
        params = usual_parameters(challenger.params)
        model = build_model(shop, challenger, split.train, params, _costs(ground, challenger, None))
    others = _time_yardsticks(ground) if ordered else _group_yardsticks(ground)
    if scorer.metric.needs == "probabilities":
        others = [with_shares(shop, one, split) for one in others]
    yardstick, folds = strongest(shop, _guess(ground), others)
    told, base = told_by(scorer, model, X), told_of(shop, yardstick, split.test, dull)
    every = np.concatenate([split.train, split.test])
    gain = find_gain(scorer, rows, told, base, ground.plan.useful, shop.y[every])
    if bold is not None:
        other = find_gain(
            scorer, rows, told_by(scorer, bold, X), base, ground.plan.useful, shop.y[every]
        )
        gain = gain._replace(high=max(gain.high, other.high), needed=other.needed)
    known = found.final.table[name]
    if challenger is not ground.chosen:
        known = metric_of(scorer, model, X, found.y, query)
    score = score_interval(scorer, rows, told, known, gain.baseline)
    if gain.scarce is not None and not gain.scarce.test:  # of one class or number only
        score = score._replace(low=math.nan, high=math.nan, method="one value")
    n = len(split.test) if units is None else len(np.unique(units))
    least = least_units(gain.useful, gain.baseline, errors=scorer.sign < 0)
    gain = gain._replace(
        least=least,
        needed=rows_needed(gain, least, n),
        yardstick=yardstick.name,
        units="rows" if units is None else str(owner or (DIFFERENT if n < len(units) else "rows")),
        n=n,
        total=len(every) if shop.groups is None else len(np.unique(shop.groups[every])),
        folds=tuple((scorer.sign * (challenger.scores - folds)).tolist()),
        held=_held(ground, challenger, yardstick) if challenger is ground.chosen else 1.0,
    )
    final = final._replace(gain=gain)
    if challenger is ground.chosen:
        final = final._replace(table=with_metric(final.table, name, score))
    return final, score


def _in_blocks(task: Task, rows: Judged, found: Evaluation, model: Any, X: Any) -> Final:
    """The measures beside the study's own, where test rows hang together."""
    final = found.final
    if task.kind not in (*CLASSES, "regression"):
        return final
    table = final.table
    for name, interval in blocked_intervals(task, rows, table, model, X).items():
        table = with_metric(table, name, interval)
    by_class = final.by_class
    if by_class:
        by_class = blocked_recall(by_class, found.said.prediction, found.y, rows.blocks)
    return final._replace(table=table, by_class=by_class)


def _held(ground: Ground, challenger: Outcome, yardstick: Yardstick) -> float:
    """What the learning rows say of the gain, each judged by a model that had not seen it."""
    shop, split = ground.shop, ground.split
    if shop.query is not None:
        return 1.0
    rows = np.concatenate([judge for _, judge in shop.folds])
    model, base = told_in_folds(shop, challenger), told_in_folds(shop, _guess(ground))
    if yardstick.said is not None:
        base = told_of(shop, yardstick, rows)
    if model is None or base is None:
        return 1.0
    ordered = split.kind == "sequential"
    units = None if shop.groups is None or ordered else shop.groups[rows]
    blocks = make_blocks(len(rows), units, ordered=ordered)
    judged = Judged(shop.y[rows], blocks, ordered=ordered)
    return held_p_value(
        shop.scorer,
        judged,
        model,
        base,
        twice=len(shop.folds) > 1 and not ordered,
        tried=len(ground.trained.outcomes) - 1,
    )


def _time_yardsticks(ground: Ground) -> list[Yardstick]:
    split = ground.split
    if split.time is None or split.groups or ground.shop.scorer.task.kind in MANY:
        return []
    order = np.concatenate([split.train, split.test])
    return time_yardsticks(ground.shop.y, order, ground.cells[split.time])


def _group_yardsticks(ground: Ground) -> list[Yardstick]:
    shop, split, name = ground.shop, ground.split, ground.known
    if name is None or split.groups or shop.scorer.task.kind in MANY:
        return []
    codes = np.unique(group_codes(read_column(ground.cells[name])), return_inverse=True)[1]
    return [group_yardstick(shop, codes, name, split)]


def _guess(ground: Ground) -> Outcome:
    return next(one for one in ground.trained.outcomes if one.complexity == 0)


def _costs(ground: Ground, chosen: Outcome, cut: Cut | None) -> Any:
    """The costs by which the saved model decides; None: the likeliest class."""
    scorer, task = ground.shop.scorer, ground.shop.scorer.task
    if not hasattr(chosen.models[0], "predict_proba") or chosen.complexity == 0:
        return None
    if ground.plan.cost_matrix is not None and task.kind in CLASSES:
        return np.asarray(ground.plan.cost_matrix, dtype=np.float64)
    if scorer.shares is not None and task.kind == "multiclass":
        return balancing_costs(scorer.shares)
    if cut is None or not cut.moved:
        return None
    classes = chosen.models[0].classes_
    return threshold_costs(cut.threshold, int(np.flatnonzero(classes == task.positive)[0]))


def _about(ground: Ground, tested: Any, found: Evaluation, cut: Cut | None) -> dict[str, Any]:
    """What a model file says of the study it comes from; score and calibration are the tested's."""
    shop, split, said = ground.shop, ground.split, found.said
    task = shop.scorer.task
    return {
        "target": list(task.target),
        "kind": task.kind,
        "nature": task.nature,
        "classes": [str(label) for label in task.classes],
        "positive": None if task.positive is None else str(task.positive),
        "metric": task.metric,
        "score": found.final.table[task.metric].to_dict(),
        "name": ground.chosen.name,
        "threshold": None if cut is None else cut.threshold,
        "columns": shop.own_kinds(),
        "lags": shop.lags.names() if shop.lags and ground.chosen.tried.features.get("lags") else [],
        "forms": {name: shop.forms[name] for name in task.target if name in shop.forms},
        "query": ground.plan.query,
        "groups": split.groups if split.kind == "groups" else None,
        "time": split.time if split.kind == "sequential" else None,
        "digest": ground.digest,
        "rows": ground.cells.height,
        "calibration": calibration_scores(
            task,
            getattr(tested, "classes_", None),
            said.prediction,
            said.probability,
            found.y,
            split.kind,
        ),
        "tested": {"learned": len(split.train), "on": len(split.test)},
    }


def _of_rows(ground: Ground, rows: IntArray) -> dict[str, Any]:
    """What a model file says of the rows this model has learned from."""
    shop = ground.shop
    frame, kinds = shop.frame[rows], shop.own_kinds()
    forms = {name: form for name, form in shop.forms.items() if name in kinds}
    return {
        "training": sketch_columns(frame, shop.seen_kinds(ground.chosen.tried.features)),
        "learned": len(rows),
        "marks": sketch_rows(row_marks(frame, kinds, forms, shop.y[rows])) | {"forms": forms},
    }


def _diagnosis(ground: Ground) -> Diagnosis:
    """Too simple, too rich, or neither."""
    chosen, sign, task = ground.chosen, ground.shop.scorer.sign, ground.shop.scorer.task
    if chosen.complexity == 0:
        gap = sign * float(chosen.train_scores.mean() - chosen.scores.mean())
        return Diagnosis("uninformative", gap, KEPT_GUESSING, LEFT_TO_DO["uninformative"])
    richer = [o for o in ground.trained.outcomes if o.complexity > chosen.complexity]
    rich = max(richer, key=lambda o: sign * o.scores.mean()) if richer else None
    found = diagnose_fit(
        chosen.train_scores,
        chosen.scores,
        baseline=_guess(ground).scores,
        richer=None if rich is None or not ground.choice.signal else rich.scores,
        greater_is_better=task.greater_is_better,
        alpha=ground.plan.alpha,
    )
    return found._replace(remedies=LEFT_TO_DO[found.kind])


def _explain(
    ground: Ground, found: Conclusion, tuning: Tuning | None, cut: Cut | None
) -> Conclusion:
    """Insight, residuals, the score with left-out columns, and findings about the fit."""
    shop, trained, chosen = ground.shop, ground.trained, ground.chosen
    linear = next((o for o in trained.outcomes if o.complexity == 1), None)
    curve = None if tuning is None or len(tuning.params) < 2 else tuning
    insight, missing = explain(shop, chosen, linear, curve, late=ground.late)
    skipped = [*found.skipped, *missing]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        health = residual_record(shop)
    beside = None
    if ground.hidden and ground.challenger.complexity > 0:
        if ground.late():
            skipped.append("the score with the columns that were left out")
        else:
            beside = _with_hidden(ground)
    final = found.evaluation.final._replace(residual_health=health, with_left_out=beside)
    evaluation = found.evaluation._replace(final=final)
    n = sum(len(judge) for _, judge in shop.folds)
    facts = Facts(
        shop.scorer.task,
        trained,
        ground.choice,
        ground.rows,
        evaluation,
        found.diagnosis,
        insight,
        health,
        cut,
        n,
        ground.plan.alpha,
        shop,
        getattr(trusted(found.tested[-1]), "beta", 1.0),
    )
    return found._replace(
        evaluation=evaluation, insight=insight, findings=fit_findings(facts), skipped=tuple(skipped)
    )


def _with_hidden(ground: Ground) -> dict[str, Any]:
    """The score of the model that was judged with the columns left out as leaks or names."""
    chosen, shop = ground.challenger, ground.wider()
    metric = shop.scorer.task.metric
    tried = chosen.tried  # with its own parameters: those found without the columns need not suit
    outcome = run_candidate(shop, tried, deadline=ground.deadline, step=lambda fold: None)
    n = sum(len(judge) for _, judge in shop.folds)
    one = fold_interval(outcome.scores, shop.ratio(), metric, n)
    return {
        "columns": list(ground.hidden),
        "metric": metric,
        "with": one.to_dict(),
        "without": fold_interval(chosen.scores, shop.ratio(), metric, n).to_dict(),
    }
