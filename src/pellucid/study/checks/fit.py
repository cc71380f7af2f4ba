"""Findings about the fit (PEL4xx) and the evaluation (PEL5xx), once everything is measured."""

import warnings
from typing import Any, NamedTuple

import numpy as np

from pellucid.evaluation.validation.diagnosis import Diagnosis
from pellucid.study.candidates.choice import Choice
from pellucid.study.candidates.training import Trained, Workshop
from pellucid.study.checks.dispersion import LEVEL, learned_dispersion
from pellucid.study.checks.findings import finding
from pellucid.study.checks.leaks import selection_finding
from pellucid.study.judging.final_score import Evaluation
from pellucid.study.judging.measure import BALANCED, DEVIANCES, SHARES
from pellucid.study.judging.threshold_choice import Cut
from pellucid.study.reading.target_arrays import CLASSES
from pellucid.study.records import Finding, Insight, LeaderboardRow, Task
from pellucid.study.wording import listed

OVER_TIME = (
    "Each fold is a later stretch of time: look at how the scores change from one to the next."
)
OVER_GROUPS = "Each fold holds other groups: more groups tell more than more rows of the same."
DRAWN = (
    "The folds hardly bear out what it says, so its probabilities are drawn to {:.2g} of the way "
    "from the shares of the classes"
)
WEIGHED = "Find inputs that mark it: what a mistake costs is in the labels already."
SPREAD, ECE, RECALL, DELTA, DOUBT = 0.1, 0.05, 0.5, 0.05, 0.8


class Facts(NamedTuple):
    """What the rules look at."""

    task: Task
    trained: Trained
    choice: Choice
    rows: tuple[LeaderboardRow, ...]
    evaluation: Evaluation
    diagnosis: Diagnosis
    insight: Insight
    health: dict[str, Any] | None
    cut: Cut | None
    n_judged: int
    alpha: float
    shop: Workshop
    trust: float = 1.0  # in the probabilities of the tested model


def fit_findings(facts: Facts) -> list[Finding]:
    """Every finding that holds, in order of code."""
    rules = (
        _bound,
        _diagnosed,
        _linear,
        _separated,
        _guessing,
        _constant,
        _unconverged,
        _networks,
        _residuals,
        _informative,
        _classes,
        _zero_counts,
        _singular,
        _overdispersed,
        _spreading,
        _ties,
        _calibration,
        _threshold,
        _spread,
        _outside,
    )
    found: list[Finding] = []
    for rule in rules:
        found += rule(facts)
    return sorted(found, key=lambda one: one.code)


def _chosen(facts: Facts) -> LeaderboardRow:
    return next(row for row in facts.rows if row.chosen)


def _bound(facts: Facts) -> list[Finding]:
    if facts.task.metric not in SHARES:
        return []
    found = selection_finding(len(facts.rows), facts.n_judged, delta=DELTA)
    return [] if found is None else [found]


def _diagnosed(facts: Facts) -> list[Finding]:
    code = {"underfit": "PEL401", "overfit": "PEL402"}.get(facts.diagnosis.kind)
    if code is None or not facts.choice.signal:
        return []
    return [
        finding(code, _chosen(facts).name, gap=facts.diagnosis.gap, said=facts.diagnosis.sentence)
    ]


def _linear(facts: Facts) -> list[Finding]:
    richer = [row.name for row in facts.rows if row.complexity > 1]
    chosen = _chosen(facts)
    if chosen.complexity != 1 or not richer:
        return []
    return [finding("PEL403", chosen.name, compared=richer)]


def _separated(facts: Facts) -> list[Finding]:
    """The logistic fit without a penalty, or one of a fold, has found a hyperplane."""
    table = facts.insight.coefficients or {}
    names = [one.name for one in facts.trained.outcomes if "SeparationWarning" in one.heard]
    if table.get("separation", "none") != "none":
        names.insert(0, "logistic regression without a penalty")
    if not names:
        return []
    return [finding("PEL404", names, separation=table.get("separation", "complete"))]


def _guessing(facts: Facts) -> list[Finding]:
    gain = facts.evaluation.final.gain
    if gain is None or gain.verdict() != "excluded":
        return []
    low, high = (np.nan, np.nan) if gain is None else (gain.low, gain.high)
    return [finding("PEL405", facts.task.target, gain_low=low, gain_high=high)]


def _constant(facts: Facts) -> list[Finding]:
    said = np.asarray(facts.evaluation.said.prediction)
    constant = len(said) > 1 and (said == said[0]).all()
    if not constant or _chosen(facts).complexity == 0:
        return []
    found = finding("PEL406", _chosen(facts).name, value=str(said[0]))
    if facts.trust < DOUBT:
        found = found._replace(why=f"{DRAWN.format(facts.trust)}, and one class is always ahead.")
    return [found]


def _unconverged(facts: Facts) -> list[Finding]:
    names = [(one.name, one.unconverged) for one in facts.trained.outcomes if one.unconverged]
    if not names:
        return []
    return [finding("PEL407", [name for name, _ in names], folds=dict(names))]


def _networks(facts: Facts) -> list[Finding]:
    """Steps too large and gradients that vanish, where a network was tried."""
    nets = [one for one in facts.trained.outcomes if hasattr(one.models[0], "network_")]
    if not nets:
        return []
    from pellucid.study.checks.network import network_findings  # loads the networks

    return network_findings(nets, facts.shop)


def _residuals(facts: Facts) -> list[Finding]:
    health = facts.health
    if health is None:
        return []
    found = []
    # its p-value counts rows as independent, and counts and amounts have a bend of their own
    straight = facts.shop.kind == "random" and facts.task.metric not in DEVIANCES
    if "nonlinear" in health["problems"] and straight and _chosen(facts).complexity <= 1:
        found.append(_curved(facts, health["p_value"]))
    if health["cook"] is not None and health["cook"] > 1:
        found.append(finding("PEL411", f"row {health['row']}", cook=health["cook"]))
    return found


def _curved(facts: Facts, p_value: float) -> Finding:
    """Curved residuals of the linear model; a note where models that bend were tried."""
    bent = [row.name for row in facts.rows if row.complexity > 1]
    one = finding("PEL409", facts.task.target, p_value=p_value)
    if not bent:
        return one
    return one._replace(
        severity="info",
        why="The relation bends, but not so that a model that bends predicts new rows better here.",
        fix=f"Tried and not shown to be better: {listed(bent, 3)}. A transformed target, such as a "
        "logarithm, may do more.",
    )


def _informative(facts: Facts) -> list[Finding]:
    found = facts.insight.importance or []
    idle = [one["name"] for one in found if not one["low"] > 0 and one["estimate"] <= 0]
    if not idle or not facts.choice.signal:
        return []
    return [finding("PEL410", idle[:20], columns=len(idle))]


def _classes(facts: Facts) -> list[Finding]:
    by_class = facts.evaluation.final.by_class
    if by_class is None or not facts.choice.signal:
        return []
    said = {str(value) for value in np.unique(facts.evaluation.said.prediction).tolist()}
    if len(said) < 2:
        return []  # constant predictions: PEL406
    never = [str(one["label"]) for one in by_class if str(one["label"]) not in said and one["n"]]
    found = [finding("PEL412", never, test_rows=facts.evaluation.final.n)] if never else []
    missed = {
        str(one["label"]): one["recall"]
        for one in by_class
        if one["n"] and one["recall"] < RECALL and str(one["label"]) not in never
    }
    some = len(missed) < sum(
        one["n"] > 0 for one in by_class
    )  # all: the model is bad, not one-sided
    found += [finding("PEL506", list(missed), recall=missed)] if missed and some else []
    if facts.task.metric in BALANCED or facts.shop.scorer.cost_matrix is not None:
        return [one._replace(fix=WEIGHED) for one in found]
    return found


def _zero_counts(facts: Facts) -> list[Finding]:
    """Models that count: pairs of class and level that some fold has never seen."""
    zeros = {}
    for one in facts.trained.outcomes:
        counts = [np.asarray(m.feature_count_) for m in one.models if hasattr(m, "feature_count_")]
        pairs = max((int((c == 0).sum()) for c in counts), default=0)
        if pairs or "ZeroCountWarning" in one.heard:
            zeros[one.name] = pairs
    return [finding("PEL414", list(zeros), pairs=zeros)] if zeros else []


def _singular(facts: Facts) -> list[Finding]:
    """Classes too small for a covariance of their own, where discriminants were tried."""
    keys = [o.key for o in facts.trained.outcomes] + [f.key for f in facts.trained.failed]
    if facts.task.kind not in CLASSES or not {"lda", "qda", "rda"} & set(keys):
        return []
    shop = facts.shop
    p = shop.outer_part(0, {"reference": True}).Z_learn.shape[1]
    labels, sizes = np.unique(shop.y[shop.folds[0][0]], return_counts=True)
    few = {str(c): int(n) for c, n in zip(labels.tolist(), sizes, strict=True) if n <= p}
    said = [f.why for f in facts.trained.failed if f.key in ("lda", "qda", "rda")]
    singular = [why for why in said if "full rank" in why or "singular" in why]
    if not few and not singular:
        return []
    severity = None if singular else "info"  # shared or shrunk matrices have coped
    return [
        finding("PEL415", list(few)[:20], severity=severity, rows=few, features=p, said=singular)
    ]


def _overdispersed(facts: Facts) -> list[Finding]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = learned_dispersion(facts.shop)
    if found is None or not (found.dispersion > 1 and found.p_value < LEVEL):
        return []
    return [finding("PEL416", facts.task.target, **found._asdict())]


def _spreading(facts: Facts) -> list[Finding]:
    growth = facts.shop.growth
    if growth is None or not growth.grows or not facts.choice.signal:
        return []
    return [finding("PEL417", facts.task.target, **growth._asdict())]


def _ties(facts: Facts) -> list[Finding]:
    if not facts.choice.signal:
        return []
    level = [
        row.name
        for row in facts.rows
        if row.complexity > 0 and (row.best or row.p_value >= facts.alpha)
    ]
    return [finding("PEL501", level, models=len(level))] if len(level) > 1 else []


def _calibration(facts: Facts) -> list[Finding]:
    found = facts.evaluation.final.reliability
    if found is None or not found["ece"] > ECE or not found["ece"] > found["band"]:
        return []
    return [finding("PEL502", _chosen(facts).name, ece=found["ece"], band=found["band"])]


def _threshold(facts: Facts) -> list[Finding]:
    if facts.cut is None or not facts.cut.moved:
        return []
    return [
        finding(
            "PEL503",
            str(facts.task.positive),
            threshold=facts.cut.threshold,
            said=facts.cut.curve["why"],
        )
    ]


def _spread(facts: Facts) -> list[Finding]:
    one = _chosen(facts).interval
    if _chosen(facts).complexity == 0 or one.estimate == 0:
        return []
    if not one.standard_error > SPREAD * abs(one.estimate):
        return []
    found = finding(
        "PEL504", _chosen(facts).name, mean=one.estimate, standard_error=one.standard_error
    )
    if facts.shop.kind == "sequential":
        return [found._replace(fix=OVER_TIME)]
    return [found._replace(fix=OVER_GROUPS) if facts.shop.kind == "groups" else found]


def _outside(facts: Facts) -> list[Finding]:
    """The two intervals do not meet: chance alone would hardly part them."""
    if _chosen(facts).complexity == 0:
        return []  # what guessing gets is the share of the rows, in every part
    cv, test = _chosen(facts).interval, facts.evaluation.final.table[facts.task.metric]
    limits = (test.low, test.high) if np.isfinite(test.low) else (test.estimate, test.estimate)
    apart = limits[0] > cv.high or limits[1] < cv.low
    moved = facts.task.kind in CLASSES and facts.cut is not None and facts.cut.moved
    if not apart or (moved and facts.task.metric not in ("average_precision", "mean_cost")):
        return []
    return [finding("PEL505", _chosen(facts).name, test=test.estimate, low=cv.low, high=cv.high)]
