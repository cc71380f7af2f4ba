r"""The gain over the yardstick on the test rows: the one claim of a study, tested once.

    gain = score of the model - score of the yardstick      (the other way round for errors)

Both are measured on the same rows, so what makes rows hard for both cancels: the interval comes
from leaving out blocks of rows of both at once (``jackknife``), on a scale without edges (the log
of the ratio of two errors, of the odds ratio of two shares), and is told as a gain over the score
that the yardstick had. The verdict follows from it:

    shown       the interval lies above 0, the folds agree, and the same answers dealt out to the
                rows at random do worse (``dealing``); or the test rows are better and the learning
                rows, each judged in its fold, prove it by themselves (``held_p_value``)
    excluded    the interval lies below a useful gain, and the test rows are as many as a model
                with a useful gain needs to be told from the yardstick (``least_units``)
    not shown   anything else, and always where (nearly) all test rows have one class or number;
                ``needed`` rows would settle it

Learning rows judged in their folds also chose the model, and the folds teach one another: with
B_ij what fold j teaches about i, T = sum B_ij and B_ij = B_ji the variance of T is 2 sum Var B_ij,
while the folds one by one show sum Var B_ij. Their variance is doubled and their p-value multiplied
by the number of models tried; with both ways together fewer than 5 % of useless tables are "shown".

A useful gain is a tenth of the yardstick's error, or 0.05 where more is better, unless told.
"""

import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.evaluation.intervals.intervals import Interval
from pellucid.evaluation.metrics.metrics import predictions_for
from pellucid.study.judging.dealing import PAIRED, dealt_share, find_scarce
from pellucid.study.judging.jackknife import (
    Spread,
    bootstrap,
    jackknife,
    scale_of,
    scaled_interval,
    tame_limit,
    unseen_share,
)
from pellucid.study.judging.measure import BOUNDS, DEVIANCES, Scorer, mean_f1, mean_gain
from pellucid.study.records import CHANCE, Gain

USEFUL_SHARE, USEFUL_POINTS = 0.1, 0.05
Z2 = 1.96**2
NO_BOUNDS = (-math.inf, math.inf)
NOTHING = (math.nan, math.nan, math.nan)  # low, high and p-value of what rows cannot say
EXTREME = ("max_error",)  # one row says it all, and the next may say more
ORDER = ("median_ae", *EXTREME)  # of which no row has a share
MEAN_LOSSES = ("rmse", "mse", "mae", "log_loss", "brier", *DEVIANCES)  # no row can lower them


class Told(NamedTuple):
    """What someone says of rows, as the measure needs it; ``labels`` order its columns."""

    said: Any
    labels: Any = None


def told_by(scorer: Scorer, model: BaseEstimator, X: Any) -> Told:
    """What a fitted model says of these rows."""
    metric = scorer.metric
    labels = getattr(model, "classes_", None)
    if metric.name == "mean_cost":
        return Told(scorer.decide(model, X), scorer.labels_of(model))
    if scorer.task.kind in ("ranking", "multilabel") or metric.needs == "labels":
        return Told(scorer.said(model, X), labels)
    if metric.needs == "probabilities" and labels is not None:
        return Told(scorer.probabilities(model, X), scorer.labels_of(model))
    said = predictions_for(metric, model, X)
    positive = scorer.task.positive
    earlier = positive is not None and labels is not None and positive == labels[0]
    if earlier and metric.needs == "scores" and np.ndim(said) == 1:
        said = -np.asarray(said)  # scores are those of the later label
    return Told(said, labels)


def measured(scorer: Scorer, y: Any, told: Told, query: ArrayLike | None = None) -> float:
    """The measure of what was said; NaN where these rows leave it undefined."""
    task, metric = scorer.task, scorer.metric
    if task.kind == "ranking" and metric.name == "ndcg":
        return mean_gain(y, told.said, query)
    if task.kind == "multilabel" and metric.name == "f1":
        return mean_f1(np.asarray(y), np.asarray(told.said))
    labels = told.labels
    if metric.needs == "labels" and metric.name != "mean_cost":
        labels = np.asarray(task.classes) if task.kind == "binary" else None
    positive = task.positive if task.kind == "binary" else None
    return scorer.defined(metric.score(y, told.said, labels=labels, positive=positive))


DIFFERENT = "different rows"  # what is counted where some are copies


class Judged(NamedTuple):
    """Rows that judge, and how they hang together."""

    y: Any
    blocks: IntArray  # independent of each other
    query: Any = None
    apart: bool = True  # is every row independent of the others?
    ordered: bool = False  # in time

    def value(self, scorer: Scorer, told: Told, rows: IntArray) -> float:
        query = None if self.query is None else np.asarray(self.query)[rows]
        part = told._replace(said=np.asarray(told.said)[rows])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is undefined is NaN
            return measured(scorer, np.asarray(self.y)[rows], part, query)


def in_codes(scorer: Scorer, rows: Judged, *tolds: Told) -> tuple[Scorer, Judged, list[Told]]:
    """The same with whole numbers for labels in words, which are slow to compare again and again.

    >>> from pellucid.study.judging.measure import make_scorer
    >>> from pellucid.study.records import Task
    >>> task = Task("binary", ("y",), ("no", "yes"), "yes", "accuracy", True, 0, "")
    >>> rows = Judged(np.array(["no", "yes", "no"]), np.arange(3))
    >>> told = Told(np.array(["no", "no", "yes"]), np.array(["no", "yes"]))
    >>> coded = in_codes(make_scorer(task, None), rows, told)
    >>> coded[1].y.tolist(), coded[2][0].said.tolist(), coded[0].task.positive
    ([0, 1, 0], [0, 0, 1], 1)
    """
    y, task = np.asarray(rows.y), scorer.task
    if y.dtype.kind not in "OU" or y.ndim != 1 or not task.classes:
        return scorer, rows, list(tolds)
    words = [np.asarray(t.said) for t in tolds if np.asarray(t.said).dtype.kind in "OU"]
    known = [np.asarray(t.labels) for t in tolds if t.labels is not None]
    names = np.unique(np.concatenate([y, np.asarray(task.classes, dtype=y.dtype), *words, *known]))

    def code(labels: Any) -> Any:
        words = np.asarray(labels)
        return np.searchsorted(names, words) if words.dtype.kind in "OU" else labels

    classes = tuple(int(c) for c in code(np.asarray(task.classes, dtype=y.dtype)))
    positive = None if task.positive is None else classes[task.classes.index(task.positive)]
    told = [
        t._replace(said=code(t.said), labels=t.labels if t.labels is None else code(t.labels))
        for t in tolds
    ]
    coded = scorer._replace(task=task._replace(classes=classes, positive=positive))
    return coded, rows._replace(y=code(y)), told


def held_p_value(
    scorer: Scorer, rows: Judged, model: Told, yardstick: Told, *, twice: bool, tried: int
) -> float:
    """Of "no gain", one-sided, from learning rows judged in their folds, for all models tried."""
    scorer, rows, (model, yardstick) = in_codes(scorer, rows, model, yardstick)
    if find_scarce(scorer.task, scorer.metric.name, rows.y, rows.y) is not None:
        return 1.0
    spread = _spread(scorer, rows, model, yardstick, scale_of(NO_BOUNDS))
    if not math.isfinite(spread.error) or not spread.estimate > 0:
        return 1.0
    wide = spread._replace(error=spread.error * (math.sqrt(2) if twice else 1.0))
    p_value = min(1.0, tried * wide.p_value() / 2)
    dealt = dealt_share(scorer, rows, model) if p_value < CHANCE else None
    return p_value if dealt is None else max(p_value, dealt)


def useful_gain(scorer: Scorer, yardstick: float, asked: float | None) -> float:
    """What a gain must be to matter."""
    if asked is not None:
        return asked
    return USEFUL_POINTS if scorer.metric.greater_is_better else USEFUL_SHARE * abs(yardstick)


def least_units(useful: float, yardstick: float, *, errors: bool) -> int:
    """From how many rows on a useful gain has an interval above 0.

    The interval of a model drawn almost to guessing is short whatever the rows hold; it says
    something of the table only where a useful model would have been seen. Of squared errors with
    the share r explained, the gain in units of the variance is r and a row's part of it has the
    variance 4 r (1 - r) + 2 r^2; of shares, u of the rows change from wrong to right:

        m = z^2 (4 (1 - r)/r + 2),   r = 1 - (1 - u)^2        or   m = z^2 / u

    >>> least_units(1.0, 10.0, errors=True), least_units(0.05, 0.6, errors=False)
    (74, 77)
    """
    u = useful / abs(yardstick) if errors and yardstick else useful
    if not u > 0:
        return 0
    r = 1 - (1 - min(u, 1.0)) ** 2
    return math.ceil(Z2 * (4 * (1 - r) / r + 2 if errors else 1 / u))


def find_gain(
    scorer: Scorer,
    rows: Judged,
    model: Told,
    yardstick: Told,
    asked: float | None = None,
    table: Any = None,
) -> Gain:
    """The gain of the model over the yardstick, its interval, and how many rows would settle it.

    ``table`` is the target of all rows, to count what too few of the judged ones have.
    """
    table = rows.y if table is None else table
    scarce = find_scarce(scorer.task, scorer.metric.name, rows.y, table)
    scorer, rows, (model, yardstick) = in_codes(scorer, rows, model, yardstick)
    every = np.arange(len(rows.blocks))
    base, score = (rows.value(scorer, told, every) for told in (yardstick, model))
    useful = useful_gain(scorer, base, asked)
    if scarce is not None:
        needed = scarce.times_needed() if scarce.table else math.inf
        open_ = Gain(scorer.sign * (score - base), *NOTHING, useful, base, needed)
        return open_._replace(scarce=scarce)
    if scorer.metric.name in PAIRED and rows.apart:
        spread = paired_shares(*(_right(rows.y, told.said) for told in (model, yardstick)))
        right = base if scorer.metric.greater_is_better else 1 - base
        low, high = (min(max(end, -right), 1 - right) for end in spread.limits())
        goal = useful
    else:
        scale = scale_of(BOUNDS.get(scorer.metric.name, NO_BOUNDS))
        spread = _spread(scorer, rows, model, yardstick, scale)
        if not math.isfinite(spread.error):  # at an edge of the scale: plain differences
            scale = scale_of(NO_BOUNDS)
            spread = _spread(scorer, rows, model, yardstick, scale)
        there, back = scale
        start, sign = there(base), scorer.sign
        ends = (sign * (back(start + sign * end) - base) for end in spread.limits())
        reach = sorted(sign * (end - base) for end in BOUNDS.get(scorer.metric.name, NO_BOUNDS))
        low, high = (min(max(end, reach[0]), reach[1]) for end in ends)
        if not math.isfinite(spread.error):
            low, high = NOTHING[:2]
        wanted = _there(there, base + sign * useful)
        goal = sign * (wanted - start) if math.isfinite(wanted) else math.inf
    gain = scorer.sign * (score - base)
    needed = times_needed(spread, goal)
    dealt = dealt_share(scorer, rows, model) if low > 0 else None
    return Gain(gain, low, high, spread.p_value(), useful, base, needed, dealt=dealt)


def rows_needed(gain: Gain, least: int, n: int) -> float:
    """How many times the ``n`` units among the test rows would settle it.

    A gain as large as the one seen is settled once its interval leaves 0 out; a smaller one by
    denying a useful gain, and for that there must be ``least`` units.

    >>> large = Gain(4.0, -0.5, 8.0, 0.07, 2.0, 20.0, 1.1)
    >>> rows_needed(large, 74, 60), rows_needed(large._replace(estimate=0.1), 74, 60)
    (1.1, 1.2333333333333334)
    """
    large = 2 * gain.estimate >= gain.useful
    return gain.needed if large or gain.scarce is not None else max(gain.needed, least / n)


def _there(there: Callable[[float], float], value: float) -> float:
    """A value on the scale; far away where it is beyond an edge."""
    try:
        return there(value)
    except (ValueError, ZeroDivisionError):
        return math.inf


def _spread(
    scorer: Scorer, rows: Judged, model: Told, yardstick: Told, scale: tuple[Any, ...]
) -> Spread:
    """The gain on a scale; with an infinite error where it is undefined."""
    there, sign, m = scale[0], scorer.sign, int(rows.blocks.max()) + 1

    def gain(at: IntArray) -> float:
        both = (there(rows.value(scorer, told, at)) for told in (model, yardstick))
        return sign * (next(both) - next(both))

    if scorer.metric.name in EXTREME:
        return Spread(math.nan, math.inf, 1.0)
    try:
        found = (bootstrap if scorer.metric.name in ORDER else jackknife)(gain, rows.blocks)
    except (ValueError, ZeroDivisionError):
        return Spread(math.nan, math.inf, 1.0)
    if not math.isfinite(found.error):
        return found._replace(error=math.inf)
    if found.error <= 1e-12 * abs(found.estimate):  # no row differs from any other
        return found._replace(error=abs(found.estimate) * unseen_share(m) / 2)
    return found


def _right(y: Any, said: Any) -> Array:
    equal = np.asarray(y) == np.asarray(said)
    return (equal.all(axis=1) if equal.ndim == 2 else equal).astype(np.float64)


def paired_shares(a: Array, b: Array) -> Spread:
    """The difference of two shares on the same rows; one pair each way is added.

    >>> found = paired_shares(np.array([1.0, 1, 1, 0]), np.array([1.0, 0, 0, 0]))
    >>> round(found.estimate, 3), round(found.error, 3)
    (0.333, 0.304)

    References: Bonett & Price (2012).
    """
    n = len(a) + 2
    p, q = (float((a > b).sum()) + 1) / n, (float((b > a).sum()) + 1) / n
    return Spread(p - q, math.sqrt((p + q - (p - q) ** 2) / n), 1e6)


def times_needed(spread: Spread, useful: float) -> float:
    """How many times the rows exclude 0 or a useful gain, if the gain stays as it is.

    >>> round(times_needed(Spread(1.0, 1.0, 1e6), 0.5), 2)
    3.84
    """
    low, high = spread.limits()
    distance = max(spread.estimate, useful - spread.estimate)
    return float(((high - low) / 2 / distance) ** 2) if 0 < distance < math.inf else math.inf


def score_interval(
    scorer: Scorer, rows: Judged, told: Told, known: Interval, reach: float
) -> Interval:
    """The interval of the study's measure on the test rows; never of width 0.

    Shares of right answers among independent rows keep Wilson's (``known``); ``reach`` is the
    error of the yardstick, as far as a row without a mistake can be from one with a mistake.
    """
    scorer, rows, (told,) = in_codes(scorer, rows, told)
    metric = scorer.metric
    if rows.apart and known.low < known.high and known.method in ("wilson", "delong"):
        return known
    if metric.name in ORDER:  # the jackknife does not see how a median varies
        return known
    bounds = BOUNDS.get(metric.name, NO_BOUNDS)
    found = scaled_interval(lambda at: rows.value(scorer, told, at), rows.blocks, bounds)
    if found is not None and metric.name in MEAN_LOSSES:
        tame = tame_limit(lambda at: rows.value(scorer, told, at), rows.blocks, bounds)
        return found._replace(low=max(found.low, tame))
    if found is not None:
        return found
    if (rows.apart and known.low < known.high) or math.isnan(known.low):
        return known
    p = unseen_share(int(rows.blocks.max()) + 1)
    if metric.greater_is_better:
        return known._replace(low=known.estimate - p * abs(known.estimate - reach), method="exact")
    grow = math.sqrt(p) if metric.name in ("rmse", "nrmse") else p
    return known._replace(high=known.estimate + grow * reach, method="exact")
