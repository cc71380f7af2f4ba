r"""The verdict: at most five plain sentences that a statistician would sign.

    no_signal        no candidate beats guessing on rows held out (judging.signal; Holm, alpha)
    inconclusive     fewer than 30 test rows, or an interval wider than the gain over guessing
    linear_suffices  the chosen model is linear
    complex_pays     a richer model is significantly better than every linear one

The first that holds. The sentences say what predicts what, how well on rows never seen, against
guessing, why this kind of model, and the one thing to fix next.
"""

import shlex
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.figures import figures
from pellucid.evaluation.intervals.intervals import Interval
from pellucid.study.records import Finding, LeaderboardRow, Task, Verdict

FEW_ROWS = 30
SHARES = {"accuracy": "is right", "subset_accuracy": "gets all labels right"}
NAMED = {
    "rmse": "rmse, the typical miss",
    "mae": "the mean absolute miss",
    "mse": "mse",
    "r2": "r2, the share of the spread explained",
    "f1": "F1",
    "log_loss": "log loss",
    "balanced_accuracy": "balanced accuracy, the mean share found of each class",
    "average_precision": "average precision",
    "roc_auc": "area under the ROC curve",
    "mean_cost": "mean cost",
    "ndcg": "ndcg",
    "mcc": "Matthews correlation",
}
MISSES = ("rmse", "mae", "median_ae")
# statements about the choice, and what the study has seen to itself: nothing to mend
LEAVES_NEXT = (
    "PEL102",
    "PEL103",
    "PEL104",
    "PEL105",
    "PEL301",
    "PEL302",
    "PEL303",
    "PEL403",
    "PEL404",
    "PEL405",
    "PEL414",
    "PEL415",
    "PEL501",
    "PEL503",
)
LEAKS = ("PEL301", "PEL302")


class Case(NamedTuple):
    """What a verdict is made of."""

    task: Task
    score: Interval  # of the chosen model on the test rows
    baseline: float  # of guessing on the same rows
    n_test: int
    leaderboard: tuple[LeaderboardRow, ...]
    signal: bool
    findings: tuple[Finding, ...]
    alpha: float
    partial: str = ""


def figure(x: float) -> str:
    """Three significant digits, thousands with commas.

    >>> figure(0.12345), figure(1234567.0), figure(3.0)
    ('0.123', '1,230,000', '3')
    """
    none = "undefined"
    return figures(float(x) or 0.0, 3, plain=True, commas=1e3, missing=none, infinite=none)


def percent(x: float) -> str:
    """A share in hundredths; one decimal near the ends.

    >>> percent(0.976), percent(0.9987), percent(1.0)
    ('98', '99.9', '100')
    """
    hundred = 100 * x
    near = 0 < hundred < 1 or 99 < hundred < 100
    return f"{hundred:.1f}" if near else f"{hundred:.0f}"


def kind_of(case: Case, chosen: LeaderboardRow) -> tuple[str, str]:
    """The kind of verdict and the reason for it."""
    s = case.score
    if not case.signal:
        return "no_signal", f"no model beats guessing at the level {case.alpha:g} (Holm)"
    if case.n_test < FEW_ROWS:
        return "inconclusive", f"only {case.n_test} test rows; {FEW_ROWS} are the least"
    gain = abs(s.estimate - case.baseline)
    better = (s.estimate > case.baseline) == case.task.greater_is_better
    if not better or not np.isfinite(s.low) or s.high - s.low > gain:
        return "inconclusive", "the interval of the test score is wider than the gain over guessing"
    if chosen.complexity <= 1:
        return "linear_suffices", "no richer model is significantly better than the linear one"
    return "complex_pays", "every linear model is significantly worse"


def reach_verdict(case: Case) -> Verdict:
    """The verdict of a finished study."""
    chosen = next(row for row in case.leaderboard if row.chosen)
    kind, reason = kind_of(case, chosen)
    sentences = [headline(case, kind, chosen), against(case, kind), why(case, kind, chosen)]
    sentences += [f"The study is not whole: {case.partial}."] if case.partial else []
    if not case.partial or kind == "no_signal":  # "nothing predicts it" is not said without them
        sentences += leaks(case)
    sentences += next_step(case, kind)
    return Verdict(
        kind,
        tuple(s for s in sentences if s)[:5],
        case.task.metric,
        case.score,
        case.baseline,
        chosen.name,
        (reason,),
    )


def _article(name: str) -> str:
    plural = name.endswith("neighbours") or name.startswith(("lasso", "naive Bayes", "linear d"))
    mass = name.endswith(
        ("regression", "analysis", "boosting", "splines", "products", "words", "label")
    )
    if plural or mass:
        return name[0].upper() + name[1:]
    return f"{'An' if name[0] in 'aeiou' else 'A'} {name}"


def headline(case: Case, kind: str, chosen: LeaderboardRow) -> str:
    target = " and ".join(case.task.target)
    if kind == "no_signal":
        return f"No. Nothing here predicts {target} better than guessing."
    start = "Yes."
    if kind == "inconclusive":
        start = "Probably." if _excludes(case) else "Perhaps."
    return f"{start} {achievement(case, chosen, target)}"


def _excludes(case: Case) -> bool:
    """Whether the interval of the score lies wholly on the better side of guessing."""
    s = case.score
    return s.low > case.baseline if case.task.greater_is_better else s.high < case.baseline


def achievement(case: Case, chosen: LeaderboardRow, target: str) -> str:
    """How well, in the words of the measure."""
    s, metric, name = case.score, case.task.metric, _article(chosen.name)
    if metric in SHARES:
        three = [percent(value) for value in (s.estimate, s.low, s.high)]
        if len(set(three)) == 1 and s.low < s.high:  # many rows: the interval is finer than that
            three = [f"{100 * value:.1f}" for value in (s.estimate, s.low, s.high)]
        limits = f"95 % interval {three[1]} to {three[2]}"
        what = (
            "gets all labels of a new row right"
            if metric == "subset_accuracy"
            else (f"names the {target} of a new row right")
        )
        return f"{name} {what} {three[0]} times in 100 ({limits})."
    limits = f"95 % interval {figure(s.low)} to {figure(s.high)}"
    if metric in MISSES:
        return (
            f"Predictions of {target} by {chosen.name} miss by {figure(s.estimate)} on average "
            f"({metric}; {limits})."
        )
    said = NAMED.get(metric, metric)
    if case.task.kind == "binary" and metric in ("average_precision", "f1"):
        return (
            f"{name} finds {target} = {case.task.positive} with {said} {figure(s.estimate)} "
            f"({limits})."
        )
    return f"{name} predicts {target} with {said} {figure(s.estimate)} ({limits})."


def against(case: Case, kind: str) -> str:
    """What guessing does on the same rows."""
    b, metric = case.baseline, case.task.metric
    if metric in SHARES:
        guess = f"{percent(b)} times in 100"
        text = f"Always naming the commonest class is right {guess}"
    elif metric in MISSES:
        guess = figure(b)
        text = f"Guessing the mean misses by {guess}"
    else:
        guess = figure(b)
        text = f"Guessing gives {guess}"
    rows = f"{case.n_test:,} test rows that were set aside and used once"
    if case.n_test == 1:
        rows = "one test row that was set aside and used once"
    if kind == "no_signal":
        models = [row for row in case.leaderboard if row.complexity > 0]
        tried = f"{len(models)} models" if len(models) != 1 else "the one model"
        return f"{text} on {rows}; {tried} tried on the learning rows did no better than chance."
    if kind == "inconclusive":
        if case.n_test < FEW_ROWS:
            return f"{text} on the same rows, but {case.n_test} test rows are too few to be sure."
        if _excludes(case):
            return (
                f"{text} on {rows}; the model is better than that, but by how much these rows "
                "cannot say."
            )
        return f"{text} on {rows}; the difference may be chance."
    return f"{text} on the same {rows}."


def why(case: Case, kind: str, chosen: LeaderboardRow) -> str:
    """Why this kind of model: ties are said as ties."""
    if kind == "no_signal":
        return ""
    best = next(row for row in case.leaderboard if row.best)
    linear = [row for row in case.leaderboard if row.complexity == 1]
    if chosen.best:
        level = [
            row.name
            for row in case.leaderboard
            if not row.best and row.complexity > 0 and row.p_value >= case.alpha
        ]
        if level:
            return (
                f"{_article(chosen.name)} also has the best mean on the folds; "
                f"{_listed(level)} cannot be told apart from it."
            )
        return f"{_article(chosen.name)} is significantly better than every other model tried."
    text = (
        f"{_article(best.name)} has the best mean on the folds, but the difference is within "
        "chance, so the simpler model is taken"
    )
    if chosen.complexity > 1 and linear:
        worse = all(row.p_value < case.alpha for row in linear)
        text += (
            "; every linear model is significantly worse"
            if worse
            else "; the linear models are further behind"
        )
    return text + "."


def _listed(names: list[str]) -> str:
    if len(names) > 3:
        return f"{', '.join(names[:2])} and {len(names) - 2} others"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def leaked(case: Case) -> list[str]:
    return [n for f in case.findings if f.code in LEAKS and f.severity != "error" for n in f.where]


def leaks(case: Case) -> list[str]:
    """Columns that give the target away, once they are left out."""
    names = leaked(case)
    if not names:
        return []
    verb = "was left out: it gives" if len(names) == 1 else "were left out: they give"
    return [f"{_listed(names)} {verb} the target away."]


def next_step(case: Case, kind: str) -> list[str]:
    """The one thing to fix next: the gravest finding with a remedy."""
    rank = {"error": 0, "warning": 1, "info": 2}
    if kind == "no_signal" and (names := leaked(case)):
        it, them = ("it is", "it") if len(names) == 1 else ("they are", "them")
        keep = " ".join(f"--keep {shlex.quote(name)}" for name in names[:3])
        return [f"Next, if {it} known before the target, learn again and keep {them} ({keep})."]
    open_ = [f for f in case.findings if f.code not in LEAVES_NEXT and rank[f.severity] < 2]
    if not open_:
        if kind == "no_signal":
            return ["Next, look for other columns that could bear on it, or more rows."]
        if kind == "inconclusive":
            return ["Next, collect more rows."]
        return []
    first = min(open_, key=lambda f: (rank[f.severity], -int(f.code[3]), f.code))
    where = f" ({', '.join(first.where[:3])})" if first.where else ""
    remedy = first.fix.split(". ")[0].rstrip(".")
    return [f"Next, {first.title[0].lower()}{first.title[1:]}{where}: {_small(remedy)}."]


def _small(text: str) -> str:
    """The first letter small, unless it is a name of several capitals."""
    return text if len(text) > 1 and text[1].isupper() else text[0].lower() + text[1:]


def empty_interval(n: int) -> Any:
    """An interval that says nothing, for a study that was stopped."""
    nan = float("nan")
    return Interval(nan, nan, nan, nan, "none", n)
