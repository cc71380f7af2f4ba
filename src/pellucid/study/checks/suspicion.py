r"""A near-perfect score is asked for its reason, on the learning rows and their folds alone.

With e the share of guessing's error that a model leaves (the root of 1 - R^2 for numbers), a score
is near perfect if e <= 0.1 for classes, 0.02 for an AUC, sqrt(0.02) for numbers (R^2 >= 0.98, a
typical miss of a seventh of the spread). Few honest tables reach that, and those that do reach it
from many columns. So a reason must be short, and two things must hold of it:

    it explains    the chosen model, refitted with the reason alone, is (nearly) as good
    it is needed   refitted without it the error is at least three times as large, by at least a
                   fifth of guessing's error, and the intervals over the folds do not meet

    single columns  the best ones out of fold; several only if each explains the score by itself,
                    and no more than a third of the columns
    combinations    a number that is the sum, difference, mean, product or ratio of a few columns,
                    or follows from them up to its own rounding (R^2 >= 0.999)
    times           a number that is the difference of two dates (``time_differences``): suspect
                    whatever the score, since a model may or may not find it
    groups          a column whose levels hold one target each, which is asked by folds of whole
                    levels

A strong score that is not near perfect (e <= 0.25, 0.1 for an AUC) is asked the same about columns;
there the answer is a remark beside the verdict, since one honest column may say so much.

So may one measurement be all that a near-perfect score needs: a class that begins at a threshold of
it, a number on a line with little noise. What tells it from a copy is the rest of the table. Where
the other columns do predict, usefully and beyond luck, the score is better than the table makes
plausible. Where they say nothing, the score had to fall apart, and that is no evidence: a remark.
A column that repeats the target's own values up to noise, a code, bins of the target, or a value
that one class alone has, is no such measurement.

A table whose columns each predict well (iris, digits) loses little by any of them. Rows that
repeat others, exactly or nearly, are kept on one side by the split itself.
"""

import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.evaluation import Interval
from pellucid.evaluation.hypotheses.significance import student_critical
from pellucid.study.candidates.choice import Choice
from pellucid.study.candidates.leaderboard import usual_parameters
from pellucid.study.candidates.training import Outcome, Workshop, run_candidate
from pellucid.study.checks.data import spaced
from pellucid.study.checks.findings import finding
from pellucid.study.checks.leaks import (
    AUC,
    FEW_VALUES,
    FINE,
    ROUNDING,
    cells_of,
    coded_auc,
    coded_means,
    folds_of,
    is_measured,
    is_rounded,
    is_threshold,
    is_tight,
    plain_auc,
    switch_of,
)
from pellucid.study.checks.leaks import unit_of as _unit
from pellucid.study.checks.time_differences import DAY, step_of, time_difference
from pellucid.study.judging.gain import useful_gain
from pellucid.study.judging.measure import DEVIANCES, fold_interval
from pellucid.study.reading.profiles import NUMBERS, Column, read_columns
from pellucid.study.records import Finding, Plan, Suspicion
from pellucid.study.splits.owners import Owner, one_target_each
from pellucid.study.wording import listed

NEAR_CLASS, NEAR_AUC, NEAR_NUMBER = 0.1, 0.02, 0.02**0.5  # of guessing's error
STRONG, STRONG_AUC = 0.25, 0.1  # the same, of scores whose reason is remarked upon
SLACK = 1.25  # times these for a reason by itself
APART, GAP = 3.0, 0.2  # times the error, and shares of guessing's error
SCREEN = 0.9  # out-of-fold R^2 or AUC from which a single column is asked
MOST_SINGLES = 4
SAMPLE = 20_000  # rows looked at
FEWER = 2_000  # of them for differences of times: these hold row by row
SIMPLE, EQUAL, MOST_PARTS = 0.999, 0.02, 6  # R^2, slack of coefficients, columns of a combination
MEASURE, RULE = "measure", "rule"  # one column that is no copy by its looks; and orders classes
HONEST = (MEASURE, RULE)
ALONE = 0.5  # of what the best single column leaves: with more it needs no others
TIMES = "times"  # the target is the difference of two dates
SQUARED = ("rmse", "mse", "mae", "nrmse", "median_ae", "max_error", "r2", *DEVIANCES)


class Reason(NamedTuple):
    """What may explain a score."""

    columns: tuple[str, ...]
    how: str
    sentence: str


class Bench:
    """The chosen model, refitted on other columns or other folds."""

    def __init__(self, shop: Workshop, chosen: Outcome, guess: Outcome) -> None:
        self.shop, self.chosen, self.guess = shop, chosen, float(guess.scores.mean())
        self.metric = shop.scorer.task.metric
        space = {name: [value] for name, value in usual_parameters(chosen.params).items()}
        candidate = chosen.tried.candidate._replace(space=space)
        self.tried = chosen.tried._replace(candidate=candidate)

    @property
    def limit(self) -> float:
        """The share of guessing's error below which a score is near perfect."""
        if self.metric in SQUARED:
            return NEAR_NUMBER
        return NEAR_AUC if self.metric == "roc_auc" else NEAR_CLASS

    @property
    def strong(self) -> float:
        """The share below which a score is strong."""
        return STRONG_AUC if self.metric == "roc_auc" else STRONG

    def left(self, score: float) -> float:
        """The share of guessing's error that a score leaves."""
        if self.shop.scorer.metric.greater_is_better:
            share = (1 - score) / (1 - self.guess) if self.guess < 1 else 1.0
        else:
            share = score / self.guess if self.guess > 0 else 1.0
        squared = self.metric in ("mse", "r2", *DEVIANCES)
        return float(max(share, 0.0) ** (0.5 if squared else 1.0))

    def refit(self, names: Sequence[str], folds: Any = None, groups: Any = None) -> Interval | None:
        """The score with these columns alone, over these folds; None where it cannot be had."""
        if not names:
            return Interval(self.guess, self.guess, self.guess, 0.0, "guessing", 0)
        shop = self.shop.restricted(names)
        if folds is not None:
            shop.folds, shop.kind, shop.groups = folds, "groups", groups
        try:
            outcome = run_candidate(shop, self.tried, deadline=None, step=lambda fold: None)
        except (ValueError, np.linalg.LinAlgError):
            return None  # a column by itself may not vary in some fold
        return self.interval(outcome.scores, shop)

    def interval(self, scores: Array, shop: Workshop | None = None) -> Interval:
        shop = self.shop if shop is None else shop
        n = sum(len(judge) for _, judge in shop.folds)
        return fold_interval(scores, shop.ratio(), self.metric, n)

    def predicts(self, rest: Interval, useful: float | None) -> bool:
        """Do the other columns predict, by a useful gain over guessing and beyond luck?"""
        gain = self.shop.scorer.sign * (rest.estimate - self.guess)
        t = student_critical(0.05, len(self.chosen.scores) - 1, "two-sided")
        least = useful_gain(self.shop.scorer, self.guess, useful)
        return bool(gain >= least and gain > t * rest.standard_error)

    def falls_apart(self, whole: Interval, rest: Interval) -> bool:
        """Is the rest so much worse that the score was the reason's?"""
        e, f = self.left(whole.estimate), self.left(rest.estimate)
        t = student_critical(0.05, len(self.chosen.scores) - 1, "two-sided")
        fall = self.shop.scorer.sign * (whole.estimate - rest.estimate)
        apart = fall > t * (whole.standard_error + rest.standard_error)
        return apart and f >= APART * e and f - e >= GAP


def find_suspicion(
    shop: Workshop,
    outcomes: list[Outcome],
    choice: Choice,
    table: pl.DataFrame,
    rows: IntArray,
    plan: Plan,
    deadline: float | None = None,
) -> Suspicion | None:
    """Why the score of a study is too good to be true; None where it is not, or time is over.

    ``rows`` are the learning rows of the whole ``table``, with the columns that were left out.
    """
    chosen, best = outcomes[choice.chosen], outcomes[choice.best]
    guess = next(one for one in outcomes if one.complexity == 0)
    task = shop.scorer.task
    if task.kind == "regression" and (deadline is None or time.monotonic() < deadline):
        between = _between(Bench(shop, chosen, guess), rows, plan)
        if between is not None:
            return between
    if chosen.complexity == 0 or task.kind not in ("binary", "multiclass", "regression"):
        return None
    bench = Bench(shop, chosen, guess)
    least = min(bench.left(float(one.scores.mean())) for one in (chosen, best))
    if least > bench.strong:
        return None
    whole, perfect = bench.interval(chosen.scores), least <= bench.limit
    # a tree may miss what a line sees in the other columns
    linear = [one for one in outcomes if one.complexity == 1 and one is not chosen][:1]
    remark = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for reason, rest in _reasons(bench, table, rows, plan, perfect=perfect):
            if deadline is not None and time.monotonic() > deadline:
                return remark
            if rest is None or not bench.falls_apart(whole, rest):
                continue
            names = [name for name in shop.kinds if name not in reason.columns]
            rests = [Bench(shop, one, guess).refit(names) for one in linear if reason.how in HONEST]
            told = any(bench.predicts(one, plan.useful) for one in (rest, *rests) if one)
            grave = (perfect or reason.how == RULE) and (reason.how not in HONEST or told)
            found = Suspicion(*reason, whole, rest, bench.guess, bench.metric, grave)
            if grave or not perfect:
                return found
            remark = found  # unless another reason is graver
    return remark


def suspicion_finding(found: Suspicion) -> Finding:
    """PEL307, PEL309 where the score is strong only, PEL310 of neighbours, PEL311 of dates; with
    both scores."""
    evidence = found.to_dict()
    del evidence["columns"], evidence["perfect"]
    if found.of_neighbours():
        grave = "error" if found.perfect else "warning"
        return finding("PEL310", found.columns, severity=grave, **evidence)
    if found.how == TIMES:
        return finding("PEL311", found.columns, **evidence)
    return finding("PEL307" if found.perfect else "PEL309", found.columns, **evidence)


def _reasons(
    bench: Bench, table: pl.DataFrame, rows: IntArray, plan: Plan, *, perfect: bool
) -> Iterator[tuple[Reason, Interval | None]]:
    """Every reason that explains the score, with what is left without it."""
    shop, task = bench.shop, bench.shop.scorer.task
    pick = spaced(len(rows), SAMPLE)
    at = rows if pick is None else rows[pick]
    y = np.asarray(shop.y)[at]
    names = list(shop.kinds)
    columns = {c.name: c for c in read_columns(shop.frame[at]).values()}
    may = [name for name in shop.own_kinds() if name not in plan.keep]  # the past is no leak
    if len(names) > 1:
        asked = [columns[n] for n in may]
        if task.kind == "regression" and (parts := _combination(asked, y)):
            yield parts, bench.refit([n for n in names if n not in parts.columns])
        if some := _singles(bench, asked, y, len(names)):
            yield some, bench.refit([n for n in names if n not in some.columns])
    apart = plan.groups or plan.known_groups
    if perfect and shop.kind in ("random", "stratified") and not apart:
        aside = {*task.target, *plan.drop, *plan.keep}
        others = read_columns(table[at].select(n for n in table.columns if n not in aside))
        classes = task.kind != "regression"
        goal = _codes(y) if classes else y
        codes = {n: c for n, c in others.items() if not is_measured(c, goal, classes=classes)}
        if owner := one_target_each(codes, y, task):
            yield _by_owner(bench, table, owner)


# --- single columns


def _singles(bench: Bench, columns: list[Column], y: Any, p: int) -> Reason | None:
    """The columns that explain the score each by itself."""
    n = np.arange(len(y))
    coded = y if bench.shop.scorer.task.kind == "regression" else _codes(y)
    folds = folds_of(columns, n, coded)
    scores = {c.name: _screened(c, folds, coded, bench) for c in columns}
    asked = sorted((n for n in scores if scores[n] >= SCREEN), key=lambda n: -scores[n])
    found, enough = [], max(bench.limit, bench.left(float(bench.chosen.scores.mean())))
    for name in asked[:MOST_SINGLES]:
        alone = bench.refit([name])
        if alone is not None and bench.left(alone.estimate) <= SLACK * enough:
            found.append(name)
    if not found or len(found) > max(1, p // 3):
        return None
    one, *more = (c for c in columns if c.name in found)
    classes = bench.shop.scorer.task.kind != "regression"
    if (
        classes
        and more
        and not any(is_tight(c, _codes(y)) for c in (one, *more))
        and not any(switch_of(c, y) for c in (one, *more))
    ):
        return None  # several measurements that tell easy classes, none of them a copy
    target = bench.shop.scorer.task.target[0]
    how, clause = _how(one, y, target, scores[one.name], classes=classes)
    if len(found) > 1:
        clause = f"each of which gives {target} away by itself"
    clause = f", {clause}" if enough <= bench.limit or how == RULE else ""
    return Reason(tuple(found), how, f"nearly all of it comes from {listed(found)}{clause}")


def _screened(column: Column, folds: IntArray, y: Any, bench: Bench) -> float:
    """Out-of-fold AUC or R^2 of a column by itself; 1 for dates, which only a model can read.

    Texts that name the target are found before training (``leaks``); a text from which a model
    learns the target is what text is for.
    """
    if column.kind in ("text", "list"):
        return 0.0
    if column.kind == "date":
        return 1.0
    cell = cells_of(column)
    if cell is None:
        return 0.0
    if bench.shop.scorer.task.kind != "regression":
        score = coded_auc(cell, folds, y)
        if column.numbers is None or y.max() != 1:
            return score
        return max(score, plain_auc(column.numbers, y == 1))
    said = coded_means(cell, folds, y)
    scores = [np.corrcoef(said, y)[0, 1] ** 2 if np.ptp(said) > 0 else 0.0]
    if column.numbers is not None and column.distinct > 1:
        seen = np.isfinite(column.numbers)
        if seen.mean() > 0.9 and np.ptp(column.numbers[seen]) > 0:
            scores.append(np.corrcoef(column.numbers[seen], y[seen])[0, 1] ** 2)
    return float(max(scores))


def _codes(y: Any) -> IntArray:
    return np.unique(y, return_inverse=True)[1]


def _how(column: Column, y: Any, target: str, score: float, *, classes: bool) -> tuple[str, str]:
    """The kind of a column that explains the score by itself, and a clause about it."""
    if column.kind in ("text", "list"):
        return "text", f"whose words give {target} away"
    if classes:
        switch = switch_of(column, y)
        if switch:
            is_ = "filled or empty" if switch == "empty" else f"{switch} or not"
            return "missing", f"which is {is_} as {target} is"
        if not is_threshold(column, _codes(y)):
            return "noisy", f"which tells {target} almost by itself"
        return RULE if score >= AUC else MEASURE, f"which tells {target} almost by itself"
    if column.distinct <= min(64, len(y) / 5):
        return "bins", f"which sorts {target} into {column.distinct} steps"
    x, number = column.numbers, column.kind in NUMBERS and column.distinct > FEW_VALUES
    exact = x is None or not number or is_rounded(x, y) or _repeats(column, y)
    how = "noisy" if exact else MEASURE
    return how, f"which follows {target} almost exactly"


def _repeats(column: Column, y: Array) -> bool:
    """Does a column hold the target's own values, as nearly as the line through it does?

    >>> from pellucid.study.reading.profiles import read_column
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=60)
    >>> copy = y + 0.1 * rng.normal(size=60)
    >>> [_repeats(read_column(pl.Series(x)), y) for x in (copy, 3 * copy, copy + 1)]
    [True, False, False]
    """
    x: Any = column.numbers
    seen = np.isfinite(x)
    x, y = x[seen], y[seen]
    slope, level = np.polyfit(x, y, 1)
    own, line = ((y - x) ** 2).mean(), ((y - level - slope * x) ** 2).mean()
    return bool(own <= SLACK**2 * line)


# --- combinations


def _between(bench: Bench, rows: IntArray, plan: Plan) -> Suspicion | None:
    """The target is the difference of two dates, with what is left without them."""
    shop = bench.shop
    pick = spaced(len(rows), FEWER)
    at = rows if pick is None else rows[pick]
    kinds = {n: k for n, k in shop.own_kinds().items() if n not in plan.keep}
    names = [n for n, kind in kinds.items() if kind in ("date", *NUMBERS)]
    columns = list(read_columns(shop.frame[at].select(names)).values())
    told = time_difference(columns, np.asarray(shop.y)[at], shop.scorer.task.target[0])
    if told is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rest = bench.refit([n for n in shop.kinds if n not in told.names])
    if rest is None:
        return None
    whole = bench.interval(bench.chosen.scores)
    return Suspicion(told.names, TIMES, told.clause, whole, rest, bench.guess, bench.metric)


def _combination(columns: list[Column], y: Array) -> Reason | None:
    """A few columns whose sum, mean, difference, product or ratio is the target; dates in days."""
    usable, cells = [], []
    for c in columns:
        filled = c.kind in (*NUMBERS, "date") and c.distinct > 2 and c.numbers is not None
        if filled and np.isfinite(c.numbers).mean() > 0.9:  # type: ignore[arg-type]
            usable.append(c)
            cells.append(c.numbers / DAY if c.kind == "date" else c.numbers)  # type: ignore[operator]
    if len(usable) < 2:
        return None
    X = np.column_stack(cells)  # type: ignore[arg-type]
    full = np.isfinite(X).all(axis=1)
    X, y = X[full], y[full]
    if len(y) < 20 + X.shape[1] or np.ptp(y) == 0:
        return None
    clause, chosen = _sum_clause(X, y)
    if not clause and (y != 0).all():
        numbers = np.array([c.kind != "date" for c in usable])
        some = np.flatnonzero((X != 0).all(axis=0) & numbers)
        clause, own = _product_clause(np.log(np.abs(X[:, some])), np.log(np.abs(y)))
        chosen = [int(some[j]) for j in own]
        if clause and not _same_signs(X[:, chosen], y):
            clause = ""
    if not clause:
        return None
    names = tuple(usable[j].name for j in sorted(chosen))
    return Reason(names, "combination", f"nearly all of it comes from {listed(names)}, {clause}")


def _forward(X: Array, y: Array) -> tuple[list[int], Array, Array]:
    """Columns one by one until R^2 >= 0.999: those, their coefficients and the residuals.

    The first two are the best pair, since the parts of a sum may say little one by one.
    """
    alive = np.flatnonzero(X.std(axis=0) > 0)
    Z = (X[:, alive] - X[:, alive].mean(axis=0)) / X[:, alive].std(axis=0)
    t = y - y.mean()
    if Z.shape[1] < 2:
        return [], np.empty(0), t
    r, R = Z.T @ t / len(t), Z.T @ Z / len(t)
    free = 1 - R**2
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = (r[:, None] ** 2 + r**2 - 2 * np.outer(r, r) * R) / free
    gain[(free < 1e-9) | ~np.isfinite(gain)] = 0.0
    chosen = [int(j) for j in np.unravel_index(int(gain.argmax()), gain.shape)]
    while True:
        c = np.linalg.lstsq(Z[:, chosen], t, rcond=None)[0]
        e = t - Z[:, chosen] @ c
        if e @ e <= (1 - SIMPLE) * (t @ t) or len(chosen) >= min(MOST_PARTS, Z.shape[1]):
            break
        more = np.abs(Z.T @ e)
        more[chosen] = -1.0
        chosen.append(int(more.argmax()))
    own = [int(alive[j]) for j in chosen]
    return own, c / X[:, own].std(axis=0), e


def _sum_clause(X: Array, y: Array) -> tuple[str, list[int]]:
    chosen, c, e = _forward(X, y)
    if len(chosen) < 2 or e.std() > ALONE * _left_by_one(X[:, chosen], y):
        return "", []
    if e @ e <= (1 - SIMPLE) * float(((y - y.mean()) ** 2).sum()):
        size, k = np.abs(c), len(c)
        if np.ptp(size) <= EQUAL * size.max():
            if abs(size.mean() * k - 1) <= EQUAL and (c > 0).all():
                return "whose mean it is", chosen
            if abs(size.mean() - 1) <= EQUAL:
                return f"whose {'sum' if (c > 0).all() else 'difference'} it is", chosen
        unit = _unit(y)
        if unit and e.std() <= ROUNDING * unit and y.std() >= FINE * unit:
            return "from which it follows up to rounding", chosen
    return _coarse_clause(X, y, chosen)


def _left_by_one(X: Array, y: Array) -> float:
    """The spread of y that the best single column leaves."""
    r = (X - X.mean(axis=0)).T @ (y - y.mean()) / (len(y) * X.std(axis=0) * y.std())
    return float(y.std() * np.sqrt(max(1 - (r**2).max(), 0.0)))


def _coarse_clause(X: Array, y: Array, chosen: list[int]) -> tuple[str, list[int]]:
    """The first columns from which y follows up to its own steps, in every row."""
    step = step_of(y)
    for k in range(2, len(chosen) + 1):
        own = chosen[:k]
        scale = X[:, own].std(axis=0)
        Z = (X[:, own] - X[:, own].mean(axis=0)) / scale
        c = np.linalg.lstsq(Z, y - y.mean(), rcond=None)[0]
        # the residuals fill a step, sd 1/12^(1/2); a fitted value errs by that times (k+1)/n)^(1/2)
        room = step * (1 + 4 * np.sqrt((k + 1) / len(y) / 12))
        if np.ptp(y - Z @ c) <= room:
            size = np.abs(c / scale)
            if k == 2 and np.ptp(size) <= EQUAL * size.max():
                what = "sum" if c.prod() > 0 else "difference"
                times = "" if abs(size.mean() - 1) <= EQUAL else f", times {size.mean():.3g},"
                return f"whose {what}{times} it is up to rounding", own
            return "from which it follows up to rounding", own
    return "", []


def _product_clause(X: Array, y: Array) -> tuple[str, list[int]]:
    chosen, c, e = _forward(X, y)
    if len(chosen) < 2 or e @ e > (1 - SIMPLE) * float(((y - y.mean()) ** 2).sum()):
        return "", []
    if (np.abs(np.abs(c) - 1) > EQUAL).any():
        return "", []
    return f"whose {'product' if (c > 0).all() else 'ratio'} it is", chosen


def _same_signs(X: Array, y: Array) -> bool:
    """Is the sign of y that of the product, or its opposite, in every row?"""
    agree = np.sign(X).prod(axis=1) == np.sign(y)
    return bool(agree.all() or not agree.any())


# --- rows that should stay together


def _together(bench: Bench, groups: IntArray, names: Sequence[str]) -> Interval | None:
    """The score over folds of whole groups; ``groups`` has a number for every row of the table."""
    shop = bench.shop
    rows = np.unique(np.concatenate([np.concatenate(fold) for fold in shop.folds]))
    k = min(5, len(np.unique(groups[rows])))
    if k < 3:
        return None
    classes = shop.scorer.task.kind != "regression"
    splitter = StratifiedGroupKFold(k) if classes else GroupKFold(k)
    pairs = splitter.split(rows, np.asarray(shop.y)[rows], groups[rows])
    return bench.refit(names, [(rows[a], rows[b]) for a, b in pairs], groups)


def _by_owner(bench: Bench, table: pl.DataFrame, owner: Owner) -> tuple[Reason, Interval | None]:
    """The same columns but the owner, judged on owners that were not seen."""
    cells = table[owner.name].rank("dense").fill_null(0).to_numpy().astype(np.intp)
    names = [name for name in bench.shop.kinds if name != owner.name]
    clause = f"nearly all of it comes from other rows of the same {owner.name}"
    return Reason((owner.name,), "groups", clause), _together(bench, cells, names)
