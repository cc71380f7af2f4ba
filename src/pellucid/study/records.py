"""The records of a study: what each stage found, as plain data.

A study is a sequence of stages, and each leaves one record; ``StudyRecord`` holds them all. The
report, the command line and ``report.json`` are renderings of these records, so whatever they
show stands here first. ``to_dict`` gives JSON-safe copies (NaN becomes null).

    formalise -> Task           what is to be predicted, and by which measure it is judged
    audit     -> Audit          what is wrong or remarkable about the table
    split     -> SplitRecord    which rows teach, which rows judge, and why
    features  -> FeatureRecord  what becomes of every column
    train     -> LeaderboardRow one row per candidate, on identical folds
    evaluate  -> Final          the one use of the test rows, and what the errors look like
    verdict   -> Verdict        at most five sentences
"""

import math
import os
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import pellucid
from pellucid.core.arrays.typing import IntArray
from pellucid.core.readable import readable
from pellucid.core.records import plain
from pellucid.core.runtime.atomic import replacing
from pellucid.evaluation.intervals.intervals import Interval, MetricTable

if TYPE_CHECKING:  # a saved model is read without what compares and diagnoses
    from pellucid.evaluation import Comparison, Diagnosis

KINDS = (
    "binary",
    "multiclass",
    "multilabel",
    "regression",
    "multi_output_regression",
    "ranking",
    "clustering",
    "anomaly",
)
VERDICTS = ("suspect", "shown", "not_shown", "excluded")
CHANCE = 0.025  # one side of 95 %
# Of c test rows of a rare class in n, right ones gain d each: the gain is c d / n with the standard
# error sqrt(c) d / n, known with 2 c degrees of freedom. It is seen from t(2 c) < sqrt(c) on.
PERFECT = 5
SEVERITIES = ("info", "warning", "error")
SHORT = 400  # characters of a verdict at a prompt


@readable
class Plan(NamedTuple):
    """What the user knows about the table and the program cannot.

    ``time`` and ``groups`` name the column that orders the rows or holds them together, ``query``
    the lists of a ranking; ``drop`` and ``keep`` overrule the audit; ``cost_matrix`` has a row per
    true class and a column per decision (classes in sorted order); ``candidates`` restricts the
    models by name; ``time_limit`` is in seconds, and a study stopped by it says what is missing;
    ``test_size`` is the share of the rows kept for the end, ``alpha`` the level of the tests;
    ``useful`` is the least gain over the yardstick that matters, in units of the measure;
    ``known_groups`` names groups whose rows are alike and of which new rows are other rows: they
    are split at random, and the mean of the group is a yardstick; ``sample`` is the number of rows
    to study, drawn at random: by default all, or 250,000 of a table of millions of rows;
    ``prefer`` says which of good models is taken: "strong" (the best in the folds, unless a simpler
    one is shown to be level with it), "simple" (the simplest that is not shown to be worse) or
    "explainable" (the strongest that a person can read).

    >>> Plan(groups="patient").test_size
    0.2
    """

    time: str | None = None
    groups: str | None = None
    query: str | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    cost_matrix: Any = None
    test_size: float = 0.2
    alpha: float = 0.05
    candidates: tuple[str, ...] | None = None
    time_limit: float | None = None
    useful: float | None = None
    known_groups: str | None = None
    sample: int | None = None
    prefer: str = "strong"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return plain(self._asdict())


@readable
class Task(NamedTuple):
    """Task, measure and experience: chosen before training, then frozen.

    >>> Task("regression", ("y",), (), None, "rmse", False, 0, "y holds numbers").metric
    'rmse'
    """

    kind: str  # one of KINDS
    target: tuple[str, ...]  # names of the target columns, () for clustering and anomaly
    classes: tuple[Any, ...]  # sorted labels; () for numbers
    positive: Any  # binary: the rarer class, else the later label; None otherwise
    metric: str  # by which models are judged
    greater_is_better: bool  # of the measure
    unlabelled: int  # rows whose target is missing
    reason: str  # why this kind and this measure, in one or two sentences
    alternatives: tuple[str, ...] = ()  # other kinds that would make sense
    nature: str = ""  # "counts": whole numbers that count something; "ordered": labels in order
    order: tuple[Any, ...] = ()  # of ordered labels, from least to greatest

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return plain(self._asdict())


@readable
class Finding(NamedTuple):
    """One thing to know, with its evidence and what to do about it.

    >>> Finding("PEL102", "info", "Constant column", ("a",), {}, "It is mute.", "Drop it.").code
    'PEL102'
    """

    code: str  # "PEL101"
    severity: str  # one of SEVERITIES
    title: str  # "Missing values"
    where: tuple[str, ...]  # columns, models or classes concerned
    evidence: dict[str, Any]  # the numbers
    why: str  # why it matters
    fix: str  # what to do about it

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return plain(self._asdict())


@readable
class ColumnProfile(NamedTuple):
    """What one column of the table looks like.

    >>> ColumnProfile("age", "whole", "input", 0, 61, 18, 93).role
    'input'
    """

    name: str  # of the column
    kind: str  # number, whole, truth, category, text, date, list, empty
    role: str  # input, target, time, groups, query, left_out
    missing: int  # empty cells
    distinct: int  # different values
    low: Any = None  # numbers and dates: least and greatest value
    high: Any = None  # the greatest value
    middle: float | None = None  # numbers: median
    spread: float | None = None  # numbers: standard deviation
    counts: tuple[tuple[str, int], ...] = ()  # commonest levels, or bins of a histogram
    note: str = ""  # why it is left out

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return plain(self._asdict())


@readable
class Audit(NamedTuple):
    """Findings about a table, its columns, and a digest that names its contents.

    >>> Audit((), (), 0, 0, "").to_dict()["n_rows"]
    0
    """

    findings: tuple[Finding, ...]  # the gravest first
    columns: tuple[ColumnProfile, ...]  # in the order of the table
    n_rows: int  # of the table
    n_columns: int  # of the table
    digest: str  # sha256 of the contents

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return plain(
            self._asdict()
            | {
                "findings": [f.to_dict() for f in self.findings],
                "columns": [c.to_dict() for c in self.columns],
            }
        )


@readable
class SplitRecord(NamedTuple):
    """Row numbers of the table: the test rows, the rest, and the folds within the rest.

    >>> import numpy as np
    >>> SplitRecord("random", np.arange(8), np.arange(8, 10), (), "why").to_dict()["n_test"]
    2
    """

    kind: str  # stratified, random, groups, sequential
    train: IntArray  # rows to learn from
    test: IntArray  # rows that judge at the end
    folds: tuple[tuple[IntArray, IntArray], ...]  # (learn, judge), row numbers of the table
    reason: str  # why the rows are divided so
    time: str | None = None  # the column that orders the rows
    groups: str | None = None  # the column whose rows stay together, named or found
    copies: int = 0  # rows of a random split that stay beside the row they repeat

    def to_dict(self) -> dict[str, Any]:
        """Sizes and rows; the folds by their judging rows alone."""
        sizes = [[len(a), len(b)] for a, b in self.folds]
        return plain(
            {
                "kind": self.kind,
                "reason": self.reason,
                "n_train": len(self.train),
                "n_test": len(self.test),
                "fold_sizes": sizes,
            }
        )


@readable
class ColumnPlan(NamedTuple):
    """What becomes of one column.

    >>> ColumnPlan("sex", "category", "one column per level", 3).n_features
    3
    """

    name: str  # of the column
    kind: str  # as in ColumnProfile
    treatment: str  # "median for missing cells, indicator, standardised"
    n_features: int  # columns it becomes on the training rows


@readable
class FeatureRecord(NamedTuple):
    """How the table becomes numbers; the same steps are refitted inside every fold.

    >>> FeatureRecord((), (("id", "PEL105"),), 275, 12, 12, "enough rows").to_dict()["left_out"]
    [['id', 'PEL105']]
    """

    columns: tuple[ColumnPlan, ...]  # those that models see
    left_out: tuple[tuple[str, str], ...]  # (column, why)
    n_rows: int  # learning rows
    n_features: int  # numbers per row
    rank: int | None  # of the training matrix; None where it was not computed
    advice: str  # "12 features for 275 rows: 22 rows for each" or an offer of selection or PCA

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return plain(self._asdict() | {"columns": [c._asdict() for c in self.columns]})


@readable
class Candidate(NamedTuple):
    """A model to try: ``space`` is searched simplest first inside every fold.

    >>> Candidate("guessing", "guess", None, {}, 0, "what any model must beat").complexity
    0
    """

    name: str  # "logistic regression", as a person says it
    key: str  # "logistic", as --candidates takes it
    estimator: Any  # not fitted
    space: dict[str, list[Any]]
    complexity: int  # 0 guessing, 1 linear, 2 splines, trees, neighbours, 4 ensembles, 5 networks,
    # 6 averages of several models
    reason: str  # why it is tried
    scaled: bool = True  # does it want standardised columns?


@readable
class LeaderboardRow(NamedTuple):
    """One candidate on the folds that all share.

    >>> score = Interval(0.9, 0.85, 0.95, 0.02, "corrected t", 5)
    >>> LeaderboardRow("ridge", "ridge", score, 0.92, 0.1, 1, 0.3, True, False, (0.9,), {}).chosen
    True
    """

    name: str  # as a person says it
    key: str  # as --candidates takes it
    interval: Interval  # mean of the folds, corrected for overlap
    train_score: float  # mean on the rows learned from
    seconds: float  # to tune and fit on all folds
    complexity: int  # as in Candidate
    p_value: float  # one-sided: is it worse than the best? Holm; nan for the best itself
    chosen: bool  # is it the one that is refitted?
    best: bool  # has it the best mean?
    folds: tuple[float, ...]  # score of every fold
    parameters: dict[str, Any]  # of the chosen one from all learning rows, else of most folds
    note: str = ""  # "not converged in 2 of 5 folds", "stopped by the time limit"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return plain(self._asdict() | {"interval": self.interval.to_dict()})


class Scarce(NamedTuple):
    """Of what too few test rows are there for a gain to be seen.

    >>> Scarce("ill = yes", 0, 60, 2, 300).times_needed()
    12.5
    """

    what: str  # a clause: "ill = yes", "another class than a"
    test: int  # rows that have it among
    tested: int  # the test rows
    table: int  # and among
    rows: int  # all

    def times_needed(self) -> float:
        """How many times the rows a model that is always right would need to be seen."""
        return PERFECT * self.rows / (self.tested * self.table)


class Gain(NamedTuple):
    """How much better than the yardstick the model is on the test rows; above 0 is better.

    >>> Gain(4.0, 1.5, 6.5, 0.004, 1.0, 11.0, 0.4).verdict()
    'shown'
    """

    estimate: float  # in units of the measure
    low: float  # 95 %; nan where the test rows cannot say
    high: float
    p_value: float  # of "there is none", two-sided
    useful: float  # from here on a gain matters
    baseline: float  # the yardstick's score
    needed: float  # that many times the rows would settle it
    yardstick: str = "guessing"  # what the model is measured against
    units: str = "rows"  # what is counted: rows, different rows, or the groups of a column
    n: int = 0  # of them among the test rows
    total: int = 0  # of them in the table
    folds: tuple[float, ...] = ()  # gain in every fold
    held: float = 1.0  # p-value of the learning rows held out in the folds, for all models tried
    least: int = 0  # units among the test rows from which on a useful gain could be shown
    dealt: float | None = None  # share of random deals of its answers that score as well
    scarce: Scarce | None = None  # what too few test rows have

    def folds_agree(self) -> bool:
        """Whether the folds see a gain too: on average and in most of them."""
        above = sum(gain > 0 for gain in self.folds)
        return not self.folds or (sum(self.folds) > 0 and 2 * above > len(self.folds))

    def reason(self) -> str:
        """Which evidence decides; the first that holds.

        shown       interval (above 0, and neither the folds nor deals say otherwise), or held
        excluded    excluded: the interval lies below a useful gain, of rows enough to see one
        not_shown   scarce, undefined, folds, dealt (above 0, but ...), same (as the yardstick),
                    few (below a useful gain, of too few rows), or open (holds 0 and a useful gain)
        """
        by_level = self.dealt is not None and self.dealt >= CHANCE
        if self.scarce is None and self.low > 0 and self.folds_agree() and not by_level:
            return "interval"
        if self.held < CHANCE and self.estimate > 0 and (self.scarce is None or self.scarce.test):
            return "held"
        if self.scarce is not None:
            return "scarce"
        if self.high < self.useful and self.n >= self.least:
            return "excluded"
        if not (math.isfinite(self.low) and math.isfinite(self.high)):
            return "undefined"
        if self.low > 0:
            return "dealt" if self.folds_agree() else "folds"
        if self.low == self.high:
            return "same"
        return "few" if self.high < self.useful else "open"

    def verdict(self) -> str:
        """Shown, excluded or not shown; see ``study.judging.gain``."""
        shown = {"interval": "shown", "held": "shown", "excluded": "excluded"}
        return shown.get(self.reason(), "not_shown")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        scarce = None if self.scarce is None else self.scarce._asdict()
        return plain(self._asdict() | {"scarce": scarce})


@readable
class Suspicion(NamedTuple):
    """Why a score is too good to be true, and what is left of it without the reason.

    >>> near, far = Interval(0.1, 0, 0.2, 0.1, "", 80), Interval(3.0, 2, 4, 0.5, "", 80)
    >>> Suspicion(("low", "high"), "combination", "it is their mean", near, far, 8.0, "rmse").how
    'combination'
    """

    columns: tuple[str, ...]  # that explain it
    how: str  # bins, noisy, missing, text, combination, times, groups, stretches or moved
    sentence: str  # a clause: "nearly all of it comes from a and b, whose mean it is"
    with_columns: Interval  # the chosen model on the folds
    without: Interval  # refitted without the columns, with rows kept together, or target moved
    guessing: float  # on the same folds
    metric: str  # of all three
    perfect: bool = True  # the verdict is suspect; else this is a remark

    def of_neighbours(self) -> bool:
        """Whether rows next to each other in the file are the reason (checks.neighbours)."""
        return self.how in ("stretches", "moved")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        intervals = {"with_columns": self.with_columns, "without": self.without}
        return plain(self._asdict() | {k: one.to_dict() for k, one in intervals.items()})


@readable
class Final(NamedTuple):
    """The one use of the test rows. Every member but ``table`` is plain data for a picture.

    classification   ``confusion`` {labels, counts}; ``reliability`` {predicted, observed, low,
                     high, counts, ece, band}; ``threshold`` {name, thresholds, precision, recall,
                     cost or None, chosen, why} (binary); ``by_class`` [{label, n, precision,
                     recall, recall_low, recall_high}]
    regression       ``residuals`` {actual, predicted} (at most 2,000 points), ``residual_health``
                     {kind, sentence}
    both             ``worst`` [{row, actual, predicted, loss, cells: {column: value}}]

    >>> Final(MetricTable({}), 69, MetricTable({}), wrong=1).wrong
    1
    """

    table: MetricTable  # every measure with its interval
    n: int  # test rows
    baseline: MetricTable  # of guessing, on the same rows
    wrong: int | None = None  # rows classified wrongly
    confusion: dict[str, Any] | None = None
    reliability: dict[str, Any] | None = None
    threshold: dict[str, Any] | None = None
    by_class: list[dict[str, Any]] | None = None
    residuals: dict[str, Any] | None = None
    residual_health: dict[str, Any] | None = None
    worst: list[dict[str, Any]] | None = None
    predictions: list[dict[str, Any]] | None = None  # of all test rows: row, actual, prediction...
    with_left_out: dict[str, Any] | None = None  # score with the columns that were left out
    gain: Gain | None = None  # over the yardstick
    slices: list[dict[str, Any]] | None = None  # where it is wrong most (``judging.slices``)
    roc: dict[str, Any] | None = None  # binary: {false, true} positive rates, area
    ahead: dict[str, Any] | None = None  # beyond the lags: {steps, name, score, curve, level}

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return plain(
            self._asdict()
            | {"table": MetricTable.to_dict(self.table)}  # the intervals alone
            | {"baseline": MetricTable.to_dict(self.baseline)}
            | {"predictions": None}  # they are a file of their own
            | {"gain": None if self.gain is None else self.gain.to_dict()}
        )


@readable
class Insight(NamedTuple):
    """Why the model says what it says. Plain data; None where a part does not apply.

    ``coefficients``      {rows: [{name, estimate, standard_error, statistic, p_value, low, high}],
                          valid, reason, notes}: of the linear model (chosen or baseline)
    ``importance``        [{name, estimate, low, high}] permutation importance on the learning rows
                          held out fold by fold, in units of the measure, largest first
    ``dependence``        [{name, values, mean, low, high, kind, output}] partial dependence of the
                          strongest; ``output`` says of what
    ``learning_curve``    {sizes, train, train_low, train_high, test, test_low, test_high}: low and
                          high are one standard error away
    ``complexity_curve``  {parameter, values, train, test, test_se, chosen, rule}

    >>> Insight().to_dict()["importance"] is None
    True
    """

    coefficients: dict[str, Any] | None = None
    importance: list[dict[str, Any]] | None = None
    dependence: list[dict[str, Any]] | None = None
    learning_curve: dict[str, Any] | None = None
    complexity_curve: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return plain(self._asdict())


@readable
class Verdict(NamedTuple):
    """The answer in a few plain sentences, uncertainty included.

    >>> score = Interval(0.9, 0.85, 0.95, 0.02, "wilson", 70)
    >>> print(Verdict("shown", ("Yes.", "Why."), "accuracy", score, 0.5, "forest", ()))
    Yes. Why.
    """

    kind: str  # one of VERDICTS
    text: tuple[str, ...]  # sentences; the first is the headline
    metric: str  # by which the models were judged
    interval: Interval  # of the model on the test rows
    baseline: float  # the yardstick (``Final.gain`` names it), on the same rows
    chosen: str  # name of the candidate
    reasons: tuple[str, ...]  # of the choice

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return plain(self._asdict() | {"interval": self.interval.to_dict()})

    def __str__(self) -> str:
        return " ".join(self.text)


class Learned(NamedTuple):
    """How many rows the tested and the saved model have learned from; equal if not refitted.

    >>> Learned(275, 344).refitted
    True
    """

    tested: int
    model: int

    @property
    def refitted(self) -> bool:
        """Has the saved model learned from the test rows too?"""
        return self.model > self.tested

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"tested": self.tested, "model": self.model}


@readable
class StudyRecord(NamedTuple):
    """Everything a study found, in the order in which it found it.

    >>> StudyRecord._fields[:4]
    ('task', 'audit', 'split', 'features')
    """

    task: Task  # what is predicted, and by which measure
    audit: Audit  # what is remarkable about the table
    split: SplitRecord | None  # which rows teach and which judge
    features: FeatureRecord | None  # what becomes of every column
    baseline: LeaderboardRow | None  # guessing
    leaderboard: tuple[LeaderboardRow, ...]  # best first
    comparison: "Comparison | None"  # the tests of every pair of candidates
    final: Final | None  # the one use of the test rows
    diagnosis: "Diagnosis | None"  # over- or underfitting, and what would help
    insight: Insight | None  # why the model says what it says
    findings: tuple[Finding, ...]  # of every stage
    verdict: Verdict | None  # the answer in words
    card: dict[str, Any] | None  # of the fitted model
    model: Any  # the fitted Pipeline to use: it has learned from all rows, the test rows too
    reproduction: dict[str, Any]  # source, rows, seed, effort, plan, versions, digest, command
    partial: str = ""  # why the record is incomplete; "" when it is whole
    suspicion: Suspicion | None = None  # why the score is too good to be true
    tested: Any = None  # the same model fitted on the learning rows alone: ``final`` is its score
    learned: Learned | None = None  # from how many rows each of the two

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe, without the models and the per-row predictions."""

        def one(record: Any) -> Any:
            return None if record is None else record.to_dict()

        return {
            "schema": "pellucid-report/1",
            "task": one(self.task),
            "audit": one(self.audit),
            "split": one(self.split),
            "features": one(self.features),
            "baseline": one(self.baseline),
            "leaderboard": [row.to_dict() for row in self.leaderboard],
            "comparison": one(self.comparison),
            "final": one(self.final),
            "diagnosis": one(self.diagnosis),
            "insight": one(self.insight),
            "findings": [finding.to_dict() for finding in self.findings],
            "verdict": one(self.verdict),
            "card": plain(self.card),
            "reproduction": plain(self.reproduction),
            "partial": self.partial,
            "suspicion": one(self.suspicion),
            "learned": one(self.learned),
        }

    def __repr__(self) -> str:
        """Size and verdict, as many of its sentences as are short; the members hold the rest."""
        text = self.verdict.text if self.verdict else (self.partial or "not finished",)
        size = f"study of {self.audit.n_rows:,} rows, {self.audit.n_columns} columns"
        kept = max(i for i in range(1, len(text) + 1) if i == 1 or len(" ".join(text[:i])) <= SHORT)
        more = " ..." if kept < len(text) else ""
        return f"<{size}: {' '.join(text[:kept])[:SHORT]}{more}>"

    def __str__(self) -> str:
        """The verdict, whole."""
        return str(self.verdict) if self.verdict else repr(self)

    def _repr_html_(self) -> str:
        """The report, for a notebook."""
        page = escape(pellucid.report.render(self), quote=True)
        return (
            f'<iframe title="study" srcdoc="{page}" sandbox style="width:100%;height:70vh;'
            'border:1px solid #8884"></iframe>'
        )

    def report(self, path: str | os.PathLike[str]) -> str:
        """Write the report, one HTML page, to ``path``, and return that."""
        with replacing(os.fspath(path)) as file:
            file.write(pellucid.report.render(self).encode("utf-8"))
        return os.fspath(path)

    def predict(self, table: object) -> Any:
        """What the model says of new rows: a frame, columns by name, or a file.

        Columns that the study left out may be there or not.
        """
        return self._fitted("predict with").predict(self._inputs(table))

    def predict_proba(self, table: object) -> Any:
        """The probability of every class, in the order of ``model.classes_``."""
        return self._fitted("predict with").predict_proba(self._inputs(table))

    def _fitted(self, purpose: str) -> Any:
        if self.model is None:
            raise ValueError(f"there is no model to {purpose}: {self.partial}")
        return self.model

    def _inputs(self, table: object) -> Any:
        from pellucid.data import load
        from pellucid.study.saved.prediction import missing_columns, needed_columns, wanted_columns

        rows = load(table)
        needed = needed_columns(self.model)
        lost = missing_columns(needed, rows.columns)
        if lost:
            raise ValueError(f"the model needs the column {lost[0]!r}, which the table lacks")
        wanted = wanted_columns(self.model, rows.columns)
        return rows if wanted is None else rows.select(wanted)

    def save(self, path: str | os.PathLike[str], *, slim: bool = False) -> None:
        """Write the model to use; ``pellucid.load`` brings it back."""
        from pellucid.persist import save

        save(self._fitted("save"), path, slim=slim)
