r"""The verdict: a few plain sentences that a statistician would sign.

    suspect     the score falls apart without some columns, or rests on neighbouring rows
                (checks.suspicion, checks.neighbours)
    shown       the interval of the gain over the yardstick excludes 0, and the folds agree
    not_shown   it holds both 0 and a useful gain
    excluded    it excludes a useful gain

The first that holds. The evidence decides, never a count of rows: eight rows can show what is
plain, and a thousand can show nothing. The sentences say what predicts what, how well on rows
never seen, against what, why this kind of model, and the one thing to do next.
"""

import math
import shlex
from functools import partial
from typing import Any, NamedTuple

from pellucid.core.figures import figures, told_apart
from pellucid.evaluation.intervals.intervals import Interval
from pellucid.study.judging.gain import DIFFERENT
from pellucid.study.reading.number_forms import marks_of
from pellucid.study.records import PERFECT, Finding, Gain, LeaderboardRow, Task, Verdict

SHARES = ("accuracy", "subset_accuracy")
JOINED = ("average", "stack")  # of several models
NAMED = {
    "mse": "mse",
    "r2": "r2, the share of the spread explained,",
    "f1": "F1",
    "log_loss": "log loss",
    "balanced_accuracy": "balanced accuracy (the mean share found of each class)",
    "average_precision": "average precision",
    "roc_auc": "area under the ROC curve",
    "mean_cost": "mean cost",
    "ndcg": "ndcg",
    "mcc": "Matthews correlation",
    "poisson_deviance": "Poisson deviance",
    "gamma_deviance": "Gamma deviance",
    "tweedie_deviance": "Tweedie deviance",
}
MISSES = ("rmse", "mae", "median_ae")
CURRENCIES = "$€£¥₹"
# statements about the choice, and what the study has seen to itself: nothing to mend
DONE = (102, 103, 104, 105, 301, 302, 303, 308, 309, 310, 402, 403, 404, 405, 414, 415, 416, 417)
LEAVES_NEXT = tuple(f"PEL{n}" for n in (*DONE, 501, 503))
LATER = ("PEL108", "PEL208", "PEL306", "PEL504")  # true, but nothing that would change the verdict
# of a model that is not shown to be one: which rows it gets wrong decides nothing
OF_A_MODEL = ("PEL202", "PEL306", "PEL412", "PEL502", "PEL506")
RAISED = ("PEL117",)  # of the target: the question itself is another one
BEYOND = 10  # times the yardstick's error, or 1: a loss as large as that is no figure to print
ALL = 0.95  # of the yardstick's error: a gain as large as that leaves none
LEAKS = ("PEL301", "PEL302")
FALLS_APART = "the score falls apart without the columns named"
BY_NEIGHBOURS = "the score rests on rows next to each other in the file"
RECKONED = "the target is the difference of two dates in the table"
GIVEN_AWAY = "columns that give the target away were kept, since no other is left"
REASONS = {  # by ``Gain.reason``
    "interval": "the interval of the gain over the yardstick lies above 0, and the folds agree",
    "held": "the learning rows held out in the folds show a gain, and the test rows agree",
    "excluded": "the interval of the gain lies below a useful gain",
    "scarce": "too few test rows differ in the target for a gain to be seen",
    "undefined": "the gain has no interval on the test rows",
    "folds": "the interval of the gain lies above 0, but the folds do not agree",
    "dealt": "the interval of the gain lies above 0, but the same answers dealt out to the test "
    "rows at random score as well too often",
    "same": "the model scores on the test rows exactly as the yardstick does",
    "few": "the interval of the gain lies below a useful gain, but the test rows are too few for "
    "one to be seen",
    "open": "the interval of the gain holds both 0 and a useful gain",
}
ROUNDED = 1e-6  # hundredths: a sum of rows is rounded by less
RARE = 0.1  # share of rows up to which those of a class are counted by themselves


class Case(NamedTuple):
    """What a verdict is made of."""

    task: Task
    score: Interval  # of the model on the test rows
    gain: Gain  # over the yardstick
    challenger: str  # the model whose gain it is
    leaderboard: tuple[LeaderboardRow, ...]
    findings: tuple[Finding, ...]
    alpha: float
    partial: str = ""
    suspicion: Any = None
    asked: bool = False  # was a useful gain named?
    notes: tuple[str, ...] = ()  # what the model needs, and which question it answers
    taken: str = "simple"  # why the chosen model is not the best in the folds
    beside: Any = None  # the scores with and without the columns that were left out
    unit: str = ""  # of the target, as its cells are written

    @property
    def target(self) -> str:
        return " and ".join(self.task.target)


def figure(x: float, digits: int = 3) -> str:
    """Three significant digits, thousands with commas; a power of ten far from 1.

    >>> figure(0.12345), figure(1234567.0), figure(3.0), figure(9.112e-13)
    ('0.123', '1,230,000', '3', '9.11e-13')
    """
    none, near = "undefined", x == 0 or 1e-6 <= abs(x) < 1e12
    return figures(float(x) or 0.0, digits, plain=near, commas=1e3, missing=none, infinite=none)


def between(low: float, high: float) -> str:
    """The ends of an interval, with as many digits as it takes to tell them apart.

    >>> between(0.1, 0.34), between(0.41201, 0.41234), between(2.0, 2.0)
    ('0.1 to 0.34', '0.412 to 0.4123', '2 to 2')
    """
    return " to ".join(told_apart(low, high, figure))


def percent(x: float, places: int = 0) -> str:
    """A share in hundredths; one decimal near the ends, or more ``places``.

    >>> percent(0.976), percent(0.9987), percent(1.0), percent(0.9999), percent(0.7062, 1)
    ('98', '99.9', '100', '99.99', '70.6')
    """
    hundred = 100 * x
    gap = min(hundred, 100 - hundred)  # what is not all or nothing is not said to be
    least = math.ceil(-math.log10(gap)) if ROUNDED < gap < 1 else 0
    return f"{hundred:.{max(places, least)}f}"


def kind_of(case: Case) -> str:
    """The kind of verdict, the first that holds."""
    doubted = (case.suspicion is not None and case.suspicion.perfect) or kept_leaks(case)
    if doubted and case.gain.verdict() == "shown":
        return "suspect"
    return case.gain.verdict()


def reach_verdict(case: Case) -> Verdict:
    """The verdict of a finished study."""
    chosen = next(row for row in case.leaderboard if row.chosen)
    kind = kind_of(case)
    sentences = {
        "suspect": _suspect,
        "shown": _shown,
        "not_shown": _not_shown,
        "excluded": _excluded,
    }[kind](case)
    sentences += leaks(case, kind) or names_of_rows(case) if kind != "suspect" else []
    sentences += [remark(case)] if kind == "shown" else []
    sentences += case.notes
    sentences += [f"The study is not whole: {case.partial}."] if case.partial else []
    if kind != "suspect":
        sentences += next_step(case, kind)
    return Verdict(
        kind,
        tuple(s for s in sentences if s)[:6],
        case.task.metric,
        case.score,
        case.gain.baseline,
        chosen.name,
        (_reason(case, kind),),
    )


def _reason(case: Case, kind: str) -> str:
    """Why it is this verdict, in the words of the evidence."""
    if kind != "suspect":
        return REASONS[case.gain.reason()]
    if case.suspicion is None or not case.suspicion.perfect:
        return GIVEN_AWAY
    if case.suspicion.how == "times":
        return RECKONED
    return BY_NEIGHBOURS if case.suspicion.of_neighbours() else FALLS_APART


# --- what was achieved ---------------------------------------------------------------------------


def article(name: str) -> str:
    """A model's name at the start of a sentence.

    >>> article("decision tree"), article("ridge regression"), article("average of a and boosting")
    ('A decision tree', 'Ridge regression', 'An average of a and boosting')
    """
    if name.startswith("average"):
        return f"An {name}"
    if name.startswith("stack"):
        return f"A {name}"
    plural = name.endswith("neighbours") or name.startswith(("lasso", "naive Bayes", "linear d"))
    mass = (
        "regression",
        "analysis",
        "boosting",
        "splines",
        "products",
        "words",
        "label",
        "lags",
        "scale",
    )
    if plural or name.endswith(mass):
        return name[0].upper() + name[1:]
    return f"{'An' if name[0] in 'aeiou' else 'A'} {name}"


def in_unit(text: str, unit: str) -> str:
    """A number with the unit of its column: a currency stands before it.

    >>> in_unit("1,430", "$"), in_unit("4.7", "%"), in_unit("6.3", "kg"), in_unit("5", "")
    ('$1,430', '4.7%', '6.3 kg', '5')
    >>> in_unit("-5", "$")
    '-$5'
    """
    if unit and unit in CURRENCIES:
        return f"-{unit}{text[1:]}" if text.startswith("-") else f"{unit}{text}"
    return text + unit if unit in ("", "%") else f"{text} {unit}"


def sized(case: Case, value: float) -> str:
    """An amount of the target; of squares and shares of it the bare number."""
    return in_unit(figure(value), case.unit if case.task.metric in MISSES else "")


def amount(case: Case, value: float, *, again: bool = False) -> str:
    """A score in words; a measure that needs a word of explanation gets it once, not ``again``."""
    return in_words(case.task.metric, value, case.unit, again=again)


def in_words(
    metric: str, value: float, unit: str = "", *, again: bool = False, digits: int = 3
) -> str:
    """
    >>> in_words("rmse", 4.9, "kg"), in_words("accuracy", 0.81), in_words("f1", 0.7)
    ('misses by 4.9 kg', 'is right 81 times in 100', 'has F1 0.7')
    """
    if metric in SHARES:
        what = "gets all labels right" if metric == "subset_accuracy" else "is right"
        return f"{what} {percent(value)} times in 100"
    if metric in MISSES:
        return f"misses by {in_unit(figure(value, digits), unit)}"
    name = NAMED.get(metric, metric.replace("_", " "))
    return f"has {name.split(' (')[0].split(',')[0] if again else name} {figure(value, digits)}"


def limits(case: Case, low: float, high: float) -> str:
    """The ends of an interval of the measure, finer where they would look equal."""
    if case.task.metric not in SHARES:
        return between(low, high)
    return " to ".join(told_apart(low, high, percent, 0))


def achievement(case: Case) -> str:
    """How well, with the interval and the yardstick beside it."""
    s, metric, name = case.score, case.task.metric, article(case.challenger)
    near = f"95 % interval {limits(case, s.low, s.high)}"
    beside = f"{yardstick_words(case)} {amount(case, case.gain.baseline, again=True)}"
    if metric in SHARES:
        finer = percent(s.low) == percent(s.high) and s.low < s.high  # many rows
        right = percent(s.estimate, 1 if finer else 0)
        what = "gets all labels of" if metric == "subset_accuracy" else "is right about"
        end = " right" if metric == "subset_accuracy" else ""
        return f"{name} {what} {case.target}{end} {right} times in 100 ({near}); {beside}."
    if metric in MISSES:
        said = "" if metric == "rmse" else f"{metric}; "
        return (
            f"{name} predicts {case.target} within {sized(case, s.estimate)} ({said}{near}); "
            f"{beside}."
        )
    said = NAMED.get(metric, metric.replace("_", " "))
    what = f"predicts {case.target} with"
    if case.task.kind == "binary" and metric in ("average_precision", "f1", "roc_auc"):
        what = f"finds {case.target} = {case.task.positive} with"
    return f"{name} {what} {said} {figure(s.estimate)} ({near}); {beside}."


def yardstick_words(case: Case) -> str:
    if case.gain.yardstick == "guessing" and case.task.metric in SHARES:
        return "always naming the commonest class"
    return case.gain.yardstick


def _whom(case: Case) -> str:
    """The yardstick as something a model is told from."""
    return "guessing" if case.gain.yardstick == "guessing" else yardstick_words(case)


def rows_words(case: Case) -> str:
    """The test rows, as evidence is counted."""
    n = case.gain.n
    if case.gain.units == DIFFERENT:
        return f"{n:,} {DIFFERENT}"
    if case.gain.units == "rows":
        return "one row" if n == 1 else f"{n:,} rows"
    return f"{n:,} groups ({case.gain.units})"


def points(case: Case, gain: float) -> str:
    """A gain in units a reader knows; shares are counted in points of a hundred."""
    return with_points(case, gain_figure(case, gain))


def gain_figure(case: Case, gain: float, digits: int = 3) -> str:
    """The bare figure of a gain."""
    if case.task.metric not in SHARES:
        return figure(gain, digits)
    hundred = 100 * gain
    text = f"{hundred:.{(0 if abs(gain) >= 0.1 else 1) + digits - 3}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return figure(hundred, 2) if text in ("0", "-0") else text  # what is not 0 is not said to be


def with_points(case: Case, text: str) -> str:
    """The figure of a gain with its unit."""
    if case.task.metric in SHARES:
        return f"{text} point{'' if text == '1' else 's'} of accuracy"
    return in_unit(text, case.unit if case.task.metric in MISSES else "")


def gain_limits(case: Case) -> str:
    """The ends of the interval of the gain, finer where they would look equal."""
    low, high = told_apart(case.gain.low, case.gain.high, partial(gain_figure, case))
    if case.task.metric in MISSES and case.unit in CURRENCIES:
        low = in_unit(low, case.unit)
    return f"{low} and {with_points(case, high)}"


def below_useful(case: Case) -> list[str]:
    """The upper end of the interval and the useful gain above it, told apart."""
    ends = told_apart(case.gain.high, case.gain.useful, partial(gain_figure, case))
    return [with_points(case, end) for end in ends]


# --- the four kinds ------------------------------------------------------------------------------


def _shown(case: Case) -> list[str]:
    small = ""
    if case.gain.high < case.gain.useful:
        high, useful = below_useful(case)
        small = f" The gain is real but small: at most {high}, where {useful} would be useful."
    rows = f"Both on {rows_words(case)} set aside and used once.{small}"
    if case.gain.reason() == "held":
        rows = (
            f"The {rows_words(case)} set aside and used once agree, but are too few alone; the "
            "learning rows, each predicted without being learned from, show it "
            f"(p = {max(case.gain.held, 1e-4):.1g}).{small}"
        )
    return [f"Yes. {achievement(case)}", rows, why(case)]


def _not_shown(case: Case) -> list[str]:
    g, reason = case.gain, case.gain.reason()
    model, yardstick = apart(case, case.score.estimate, g.baseline, again=False)
    head = (
        f"Not shown. {which(case)} ({case.challenger}) {model} where {yardstick_words(case)} "
        f"{yardstick}"
    )
    settle = needed_words(case) if math.isfinite(g.needed) and g.needed > 1 else ""
    if reason == "scarce":
        return [f"{head}.", *scarce_words(case)]
    if reason == "undefined":
        return [f"{head}.", "What the gain is these rows cannot say.", ""]
    if reason == "same":
        return [
            f"{head}.",
            f"It scores exactly as {_whom(case)} does, whichever of these rows are left out, so "
            "they do not judge it.",
            settle,
        ]
    if reason == "dealt":
        return [
            f"{head}, but its answers dealt out to these rows at random score as well "
            f"{percent(g.dealt or 0.0)} times in 100.",
            "Such a gain can come from the level of the answers, or be luck: it is not shown that "
            "the columns tell one row from another.",
            "",
        ]
    if reason == "folds":
        head += ", but the folds of the learning rows do not agree with that"
    elif g.estimate > 0:
        luck = f"p = {max(g.p_value, 0.001):.2g}"
        head += (
            f", but with {rows_words(case)} set aside a gain like that can still be luck ({luck})"
        )
    return [f"{head}.", _possible(case), f"{_too_few(case)} {settle}".strip()]


def _possible(case: Case) -> str:
    """The gain that the test rows leave possible."""
    g, more = case.gain, case.task.greater_is_better
    if not -g.low > BEYOND * (max(abs(g.baseline), 1.0) if more else abs(g.baseline)):
        return f"What these rows can say: the gain lies between {gain_limits(case)} (95 %)."
    if not more and g.high > ALL * g.baseline:
        return "These rows leave any gain possible (95 %)."
    # the lower end, of a handful of rows, is a number nobody can use
    return f"What these rows can say: the gain is at most {points(case, g.high)} (95 %)."


def _too_few(case: Case) -> str:
    """Whether a useful gain would have been seen, where none is in sight."""
    g = case.gain
    if not (g.n < g.least and g.estimate < g.useful) or g.low > 0:
        return ""
    rows, useful = rows_words(case), f"a useful gain ({points(case, g.useful)})"
    few = f"{rows} are too few to show {useful}"
    if g.high < g.useful:
        useful = f"a useful gain ({below_useful(case)[1]})"
        few = f"That is less than {useful}, but {rows} are too few to show one"
    return (
        f"{few}: a model that has one would need about {two_digits(g.least)} set aside to be told "
        f"from {_whom(case)}."
    )


def scarce_words(case: Case) -> list[str]:
    """Of what there are too few test rows, and how many even a perfect model would need."""
    s = case.gain.scarce
    assert s is not None
    few = (
        f"Of the {s.rows:,} rows {s.table:,} {'has' if s.table == 1 else 'have'} {s.what}, of the "
        f"{s.tested:,} set aside {s.test or 'none'}: too few to show that a model tells them apart."
    )
    if not 0 < s.table < RARE * s.rows:
        return [few, ""]
    times = s.times_needed()
    return [
        few,
        f"Even a model that is always right would need about {PERFECT} of them set aside: about "
        f"{two_digits(times * s.table)} in {two_digits(times * s.rows)} rows like these.",
    ]


def two_digits(n: float) -> str:
    """A number of rows to two digits.

    >>> two_digits(7432), two_digits(25), two_digits(74)
    ('7,400', '25', '74')
    """
    digits = max(0, int(math.log10(max(n, 1))) - 1)
    return f"{int(round(n / 10**digits) * 10**digits):,}"


def needed_words(case: Case) -> str:
    """How many rows of the table would settle it, to two digits."""
    total = case.gain.needed * case.gain.total
    if total >= 1e9:
        return "No number of rows that can be had would settle it."
    what = case.gain.units
    if what not in ("rows", DIFFERENT):
        what = f"groups ({what})"
    return f"About {two_digits(total)} {what} would settle it."


def which(case: Case) -> str:
    """What to call the model whose gain was tested; the leaderboard has the best first."""
    models = [row.name for row in case.leaderboard if row.complexity > 0]
    if models[:1] != [case.challenger]:
        return "The model taken"
    return "The best model" if case.leaderboard[0].complexity else "The best model after guessing"


def _excluded(case: Case) -> list[str]:
    g = case.gain
    told = "you asked for" if case.asked else "a useful gain would be"
    tried = sum(row.complexity > 0 for row in case.leaderboard)
    high, useful = below_useful(case)
    more = "" if g.high <= 0 else f" by more than {high}"
    beaten = f"{yardstick_words(case)}{more} (95 %), and {told} {useful}"
    return [
        f"No. {which(case)} ({case.challenger}) does not beat {beaten}.",
        f"It {amount(case, case.score.estimate)} where {yardstick_words(case)} "
        f"{amount(case, g.baseline, again=True)}, on {rows_words(case)} set aside and used once.",
        f"{f'{tried} models were tried. ' if tried > 1 else ''}More rows of this kind will not "
        f"change that; other columns might say more about {case.target}.",
    ]


def _suspect(case: Case) -> list[str]:
    s = case.suspicion
    if s is None or not s.perfect:
        return _only_leaks(case)
    if s.of_neighbours():
        return _by_neighbours(case)
    drop = ",".join(shlex.quote(name) for name in s.columns)
    them = "it" if len(s.columns) == 1 else "them"
    wide = f" (95 % interval {limits(case, s.without.low, s.without.high)})"
    without = (
        f"Without {them} the model {amount(case, s.without.estimate, again=True)}"
        f"{wide if s.without.low < s.without.high else ''}; with {them} it "
        f"{amount(case, s.with_columns.estimate, again=True)} "
        f"({limits(case, s.with_columns.low, s.with_columns.high)}) on the same folds; guessing "
        f"{amount(case, s.guessing, again=True)}."
    )
    remedy = (
        f"If you will not know {them} when you predict, use `--drop {drop}`; if you will, "
        f"`{_keep(list(s.columns))}` says so."
    )
    if s.how == "groups":
        without = without.replace("Without it the model", f"Judged on {drop} it has not seen, it")
        without = without.replace("with it it", "judged on those it knows it")
        remedy = f"If new rows will be of other {drop}, use `--groups {drop}`."
    return [
        f"Too good to be true. {achievement(case)[:-1]}, and {s.sentence}.",
        without,
        remedy,
    ]


NAME_THEM = (
    "If rows belong to people, machines, batches or moments, name the column that says so "
    "(`--groups` or `--time`), or add one"
)


def _by_neighbours(case: Case) -> list[str]:
    """The model knows rows by their neighbours in the file."""
    s = case.suspicion
    mixed = amount(case, s.with_columns.estimate, again=True)
    if s.how == "moved":
        judged = (
            f"Moved some way along the file, to rows it does not belong to, {case.target} is told "
            f"as well: the model {amount(case, s.without.estimate, again=True)}; in its place it "
            f"{mixed}. Guessing {amount(case, s.guessing, again=True)}"
        )
    else:
        judged = f"{_in_stretches(case)}; on as many rows at random it {mixed}"
        judged = judged[0].upper() + judged[1:]
    return [
        f"Too good to be true. {achievement(case)[:-1]}, but {s.sentence}.",
        f"{judged}.",
        f"{NAME_THEM}; if new rows will stand among these, `--groups none` says so.",
    ]


def _in_stretches(case: Case) -> str:
    s = case.suspicion
    wide = f" (95 % interval {limits(case, s.without.low, s.without.high)})"
    return (
        "where whole stretches of the file are kept apart, the model "
        f"{amount(case, s.without.estimate, again=True)}"
        f"{wide if s.without.low < s.without.high else ''} and guessing "
        f"{amount(case, s.guessing, again=True)}"
    )


def remark(case: Case) -> str:
    """Columns that carry the score, what is left without them if that is known, what to check."""
    s = case.suspicion
    if s is None:
        return _alone(case)
    if s.of_neighbours():
        return f"{s.sentence[0].upper()}{s.sentence[1:]}: {_in_stretches(case)}. {NAME_THEM}."
    them, are = ("it", "it is") if len(s.columns) == 1 else ("them", "they are")
    drop = ",".join(shlex.quote(name) for name in s.columns)
    return (
        f"{s.sentence[0].upper()}{s.sentence[1:]}: without {them} the model "
        f"{amount(case, s.without.estimate, again=True)} on the folds. Check that {are} known "
        f"before {case.target} is; if not, use `--drop {drop}`."
    )


def _alone(case: Case) -> str:
    """Measurements that order the learning rows as the target does, and were kept."""
    names = [name for f in case.findings if f.evidence.get("kept") for name in f.where]
    if not names:
        return ""
    drop = ",".join(shlex.quote(name) for name in names)
    says, are = ("says", "it is") if len(names) == 1 else ("each say", "they are")
    return (
        f"On the learning rows {_listed(names)} {says} nearly all about {case.target}. Check that "
        f"{are} known before {case.target} is; if not, use `--drop {drop}`."
    )


def _only_leaks(case: Case) -> list[str]:
    """Columns that give the target away, kept since no other is left to learn from."""
    names = kept_leaks(case)
    one = len(names) == 1
    it, verb = ("it", "gives") if one else ("them", "give")
    return [
        f"Too good to be true. {achievement(case)[:-1]}, and {_listed(names)} {verb} it away.",
        f"No other column is left to learn from, so {'it was' if one else 'they were'} kept.",
        f"If you will not know {it} when you predict, this model is of no use; if you will, "
        f"`{_keep(names)}` says so.",
    ]


def why(case: Case) -> str:
    """Why this kind of model: ties are said as ties, and what the simplest one does."""
    chosen = next(row for row in case.leaderboard if row.chosen)
    best = next(row for row in case.leaderboard if row.best)
    linear = [row for row in case.leaderboard if row.complexity == 1]
    if chosen.key in JOINED:
        return _beside(case, chosen)
    if chosen.complexity > 1 and linear and all(row.p_value < case.alpha for row in linear):
        sign = 1 if case.task.greater_is_better else -1
        nearest = max(linear, key=lambda row: sign * row.interval.estimate)
        both = apart(case, chosen.interval.estimate, nearest.interval.estimate)
        return (
            f"On the folds it {both[0]}; the best linear model ({nearest.name}) {both[1]}: the "
            "bends matter."
        )
    if chosen.best:
        level = [
            row.name
            for row in case.leaderboard
            if not row.best and row.complexity > 0 and row.p_value >= case.alpha
        ]
        if level:
            return (
                f"{article(chosen.name)} also has the best mean on the folds; "
                f"{_listed(level)} cannot be told apart from it."
            )
        if sum(row.complexity > 0 for row in case.leaderboard) < 2:
            return ""
        return f"{article(chosen.name)} is significantly better than every other model tried."
    return f"{article(best.name)} has the best mean on the folds, {TAKEN[case.taken]}."


def _beside(case: Case, chosen: LeaderboardRow) -> str:
    """What the best single model does beside the average or stack."""
    single = next(r for r in case.leaderboard if r.key not in JOINED and r.complexity > 0)
    both = apart(case, chosen.interval.estimate, single.interval.estimate)
    return f"On the folds it {both[0]}; the best single model ({single.name}) {both[1]}."


def apart(case: Case, one: float, other: float, *, again: bool = True) -> list[str]:
    """Two scores in words, with as many digits as it takes to tell them apart; 5 at most.

    A measure that needs a word of explanation gets it with the first, unless it is said ``again``.
    """

    def told(value: float, digits: int, *, again: bool) -> str:
        return in_words(case.task.metric, value, case.unit, again=again, digits=digits)

    differ = (d for d in (3, 4, 5) if told(one, d, again=True) != told(other, d, again=True))
    digits = next(differ, 3)
    return [told(one, digits, again=again), told(other, digits, again=True)]


TAKEN = {  # why another model than the best in the folds is taken
    "level": "but the simpler model is shown to be level with it, so that is taken",
    "simple": "but the difference is within chance, so the simpler model is taken",
    "probabilities": "but the difference is within one standard error, and the probabilities of "
    "the model taken are better",
    "explainable": "but a model that a person can read was asked for",
    "steady": "but guessing is as good in half of the folds or more, so a steadier model is taken",
}


def _listed(names: list[str]) -> str:
    """
    >>> _listed(["average of a and b", "c"]), _listed(["a", "b", "c", "d"])
    ('average of a and b, and c', 'a, b and 2 others')
    >>> _listed(["average of a, b and c", "a", "b", "c"])
    'average of a, b and c; a; and 2 others'
    """
    if len(names) > 3:
        names = [*names[:2], f"{len(names) - 2} others"]
    if len(names) == 1:
        return names[0]
    if any("," in name for name in names):
        return f"{'; '.join(names[:-1])}; and {names[-1]}"
    last = ", and" if any(" and " in name for name in names) else " and"
    return f"{', '.join(names[:-1])}{last} {names[-1]}"


def leaked(case: Case) -> list[str]:
    found = [f for f in case.findings if f.code in LEAKS and not f.evidence.get("kept")]
    return [name for f in found if f.severity != "error" for name in f.where]


def kept_leaks(case: Case) -> list[str]:
    """Columns that give the target away, in the model because nothing else is left."""
    return [n for f in case.findings if f.evidence.get("nothing_else") for n in f.where]


def leaks(case: Case, kind: str) -> list[str]:
    """Columns that give the target away, once they are left out, and what they would have done."""
    names = leaked(case)
    if not names:
        return []
    verb = "was left out: it gives" if len(names) == 1 else "were left out: they give"
    text = f"{_listed(names)} {verb} the target away"
    it = "it is" if len(names) == 1 else "they are"
    if case.beside and _gained(case) > 0:
        text += f". {_with_and_without(case, names)}"
    if kind == "shown":  # other verdicts have it as what to do next
        text += f" (`{_keep(names)}` if {it} known before the target)"
    return [f"{text}."]


def names_of_rows(case: Case) -> list[str]:
    """Columns taken for names of the rows, where the model would be better with them by a useful
    gain and by more than a standard error."""
    found = [f for f in case.findings if f.code == "PEL105"]
    shown = {name: f.evidence["examples"][name] for f in found for name in f.where}
    names = [name for name in case.beside["columns"] if name in shown] if case.beside else []
    if not names:
        return []
    error = case.beside["without"]["standard_error"]
    if _gained(case) < max(case.gain.useful, error):
        return []
    one = len(names) == 1
    were = "was left out: it looks like a name" if one else "were left out: they look like names"
    it = "it is no name" if one else "they are no names"
    text = (
        f"{_listed(names)} {were} of the rows. {_with_and_without(case, names)}. If {it}, learn "
        f"again with `{_keep(names)}`"
    )
    if one and all(cell.lstrip("-").isdigit() for cell in shown[names[0]]):
        text += f" (and `--time {shlex.quote(names[0])}` if new rows come later)"
        text += "; if it only numbers rows that had been sorted, new rows cannot have that score"
    return [f"{text}."]


def _gained(case: Case) -> float:
    """By how much the score with the columns that were left out is better."""
    gained = case.beside["with"]["estimate"] - case.beside["without"]["estimate"]
    return float(gained if case.task.greater_is_better else -gained)


def _with_and_without(case: Case, names: list[str]) -> str:
    """Both scores; ``names`` have been said, others that were left out with them have not."""
    left = case.beside["columns"]
    them = "it" if len(names) == 1 else "them"
    them = them if set(left) <= set(names) else _listed(left)
    scores = (case.beside[which]["estimate"] for which in ("with", "without"))
    told = "; without, it ".join(amount(case, score, again=True) for score in scores)
    return f"With {them}, the model {told}, on the folds"


def _keep(names: list[str]) -> str:
    return " ".join(f"--keep {shlex.quote(name)}" for name in names[:3])


def next_step(case: Case, kind: str) -> list[str]:
    """The one thing to do next: the gravest finding with a remedy."""
    rank = {"error": 0, "warning": 1, "info": 2}
    if kind != "shown" and (names := leaked(case)):
        it, them = ("it is", "it") if len(names) == 1 else ("they are", "them")
        return [
            f"Next, if {it} known before the target, learn again and keep {them} "
            f"(`{_keep(names)}`)."
        ]
    aside = LEAVES_NEXT if kind == "shown" else (*LEAVES_NEXT, *OF_A_MODEL)
    open_ = [f for f in case.findings if f.code not in aside and rank[f.severity] < 2]
    if kind == "excluded":  # no model is better for a remedy, but for what makes learning idle
        open_ = [f for f in open_ if f.code == "PEL311"]
    if not open_:
        return []
    asked = {f.code for f in open_ if f.code in RAISED and set(f.where) & set(case.task.target)}
    first = min(
        open_,
        key=lambda f: (
            rank[f.severity],
            f.code not in asked,
            f.code in LATER,
            -int(f.code[3]),
            f.code,
        ),
    )
    where, remedy = _pointed(first)
    return [f"Next, {first.title[0].lower()}{first.title[1:]}{where}: {_small(remedy)}."]


def _pointed(first: Finding) -> tuple[str, str]:
    """Where, in brackets, and what to do; cells are shown, since a sentence has no table beside it.

    >>> from pellucid.study.checks.findings import finding
    >>> cells = {"cells": {"rent": 4}, "examples": {"rent": ["n. d."]}, "rows": {"rent": [34]}}
    >>> _pointed(finding("PEL113", "rent", **cells))[0]
    " (rent: 4 cells, such as 'n. d.' in row 34)"
    >>> _pointed(finding("PEL116", "spend", form={"spend": "1,234.5"}))[0]
    ' (spend: a comma parts thousands)'
    >>> _pointed(finding("PEL112", "age", sentinels={"age": {"-999": 3}}))[0]
    ' (age: -999 in 3 cells)'
    """
    names, seen = first.where, first.evidence
    name = names[0] if names else ""
    remedy = first.fix.split(". ")[0].rstrip(".")
    if name in seen.get("examples", {}) and first.code == "PEL113":
        n, row = seen["cells"][name], seen["rows"][name][0]
        cell = repr(seen["examples"][name][0])
        shown = f"{n:,} cells, such as {cell} in row {row}"
        shown = f"one cell, {cell}, in row {row}" if n == 1 else shown
        remedy = "correct them (rows are counted from 0, without the header), or leave them empty"
    elif name in seen.get("form", {}) and first.code == "PEL116":
        marks = marks_of(seen["form"][name])
        role, other = "begins decimals", "parts thousands"
        if marks.group:
            role, other = other, role
        mark = {",": "a comma", ".": "a point"}.get(marks.group or marks.decimal, "a mark")
        shown, remedy = f"{mark} {role}", f"if it {other}, write plain numbers such as 1234.5"
    elif name in seen.get("sentinels", {}):
        codes = seen["sentinels"][name].items()
        shown = _listed([f"{code} in {n:,} cell{'s' if n > 1 else ''}" for code, n in codes])
    else:
        return f" ({', '.join(names[:3])})" if names else "", remedy
    more = f"; {_listed(list(names[1:]))} too" if len(names) > 1 else ""
    return f" ({name}: {shown}{more})", remedy


def _small(text: str) -> str:
    """The first letter small, unless it is a name of several capitals."""
    return text if len(text) > 1 and text[1].isupper() else text[0].lower() + text[1:]
