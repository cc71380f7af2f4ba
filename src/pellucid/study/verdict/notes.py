"""Sentences of a verdict: what the model needs, what it predicts, which question it answers."""

import shlex
from typing import Any, NamedTuple

from pellucid.study.candidates.limited import LimitedRegressor
from pellucid.study.columns.lags import Lags
from pellucid.study.judging.calibration import trusted
from pellucid.study.judging.final_score import STEPS
from pellucid.study.judging.measure import BALANCED
from pellucid.study.records import Final, SplitRecord, Task
from pellucid.study.verdict.verdict import figure, in_words

TOLD = 0.8  # a trust above this is not worth a sentence
NOTHING = 0.005  # below this it rounds to none


class Facts(NamedTuple):
    """What the sentences are made of."""

    task: Task
    split: SplitRecord
    lags: Lags | None  # where the model whose gain is tested uses them
    last: Any  # that model, fitted; None where another one is kept
    final: Final
    known: str | None  # groups that new rows belong to too
    unit: str = ""  # of the target, as its cells are written


def notes(facts: Facts) -> tuple[str, ...]:
    """Every sentence that holds."""
    found = [_lags(facts), _log_scale(facts), _steps(facts), _labels(facts), _trust(facts)]
    found.append(_groups(facts))
    return tuple(sentence for sentence in found if sentence)


def _lags(facts: Facts) -> str:
    if facts.lags is None:
        return ""
    text = (
        f"It starts from the {facts.lags.target} of the row before, in the order of "
        f"{facts.lags.time}: new rows are predicted one step ahead of what is known."
    )
    beyond = facts.final.ahead
    if beyond is None:
        return f"{text} Further ahead the last {facts.lags.target} known stands for it."
    steps = "1 step" if beyond["steps"] == 1 else f"{beyond['steps']} steps"
    score = in_words(facts.task.metric, beyond["score"]["estimate"], facts.unit, again=True)
    return (
        f"{text} Rows more than {steps} ahead are predicted by {beyond['name']}, which does not "
        f"need it and {score} on the rows set aside."
    )


def _log_scale(facts: Facts) -> str:
    last = facts.last.estimator_ if isinstance(facts.last, LimitedRegressor) else facts.last
    factor = getattr(last, "smearing_", None)
    if factor is None:
        return ""
    return (
        f"It is fitted to the logarithm and predicts the mean of {facts.task.target[0]}, "
        f"{figure(factor)} times what its exponential says (smearing)."
    )


def _steps(facts: Facts) -> str:
    table, guess = facts.final.table, facts.final.baseline
    if facts.last is None or STEPS not in table or STEPS not in guess:
        return ""
    return (
        f"Its label is {figure(table[STEPS].estimate)} steps off on average; the commonest is "
        f"{figure(guess[STEPS].estimate)} steps off."
    )


def _labels(facts: Facts) -> str:
    """Which label it says where the measure asked for is not about the likeliest one."""
    alike = facts.task.kind == "multiclass" and facts.task.metric in BALANCED
    if not alike or not hasattr(facts.last, "loss_matrix_"):
        return ""
    return (
        "Its label is the class that is most above its share, not the likeliest one: every class "
        "counts alike, as asked."
    )


def _trust(facts: Facts) -> str:
    """How far its probabilities are trusted, where the folds ask for less than they say."""
    beta = getattr(trusted(facts.last), "beta", 1.0)
    if beta > TOLD:
        return ""
    if beta < NOTHING:
        return (
            "Its probabilities are drawn all but wholly to the shares of the classes: the folds "
            "bear out next to nothing of what they say."
        )
    return (
        f"Its probabilities are drawn towards the shares of the classes, to {figure(beta)} of what "
        "they say: as far as the folds bear them out."
    )


def _groups(facts: Facts) -> str:
    own, known = facts.split.groups, facts.known
    if facts.split.kind == "groups" and own:
        return (
            f"This is about a new {own}, of which no row is known; --known-groups "
            f"{shlex.quote(own)} asks about new rows of known ones."
        )
    if known is None:
        return ""
    return (
        f"This is about new rows of a known {known}; --groups {shlex.quote(known)} asks about a "
        f"new {known}."
    )
