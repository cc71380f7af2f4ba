r"""Rows that depend on each other though no column names what they share: PEL310.

The rows of one person, machine or moment often stand together in a file. Folds at random put
neighbours on both sides, and a model then knows a row by its neighbours. The order of the rows is
the only trace of that, and it is asked in three steps, on the learning rows.

    screen     With m_k the mean squared difference in ranks (levels: the share that differ) of
               rows k apart, neighbours lack a = 1 - m_1 / m_far of the variation, far being h to
               2h - 1 rows apart, h = 16 or less. A column is alike if a >= 0.1 and that is no luck.
               The target and an input must both be alike.
    stretches  The chosen model and guessing are refitted over five folds of whole stretches of
               rows, with a gap of half a stretch to the rows they learn from, and over folds at
               random of the same sizes. The score rests on neighbours if the random folds show a
               gain, and the stretches show none that is certain and at most half as large.
    moved      In the same random folds the target is moved along the file by a tenth to nine tenths
               of its rows. It stays as smooth as it was, but tells nothing of its new rows. If one
               of 19 such targets is told as well as the true one, neighbours explain the score:
               two walks seem related in every stretch.

Where only the random folds show a gain with certainty, or one that is certainly larger by a
quarter, that is a remark beside the verdict.

A file that is sorted explains itself. Columns that follow the key hardly move within 16 rows, so
they are not alike; keys do not count, and rows are compared, and cut into stretches, among those
of equal keys and of one class, so that no class is missing where a model learns. In a file
sorted by a quantity the stretches are five times as many and as short, so that nothing is far from
what was learned. In a sorted file no target is moved. The repeated runs of an experiment at one
setting, equal in every input, count as one row in the screen.

References: J. von Neumann (1941), Distribution of the ratio of the mean square successive
difference to the variance; K. D. Harris (2020), Nonsense correlations in neuroscience.
"""

import math
import time
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from pellucid.core.arrays.typing import Array, BoolArray, IntArray
from pellucid.evaluation import Interval
from pellucid.evaluation.hypotheses.significance import student_critical
from pellucid.evaluation.splits.folds import FAILURES
from pellucid.evaluation.validation.fold_summary import cv_summary
from pellucid.study.candidates.choice import Choice
from pellucid.study.candidates.training import Fold, Outcome, Workshop, run_candidate
from pellucid.study.checks.column_rows import level_codes
from pellucid.study.checks.data import spaced
from pellucid.study.checks.leaks import average_ranks
from pellucid.study.checks.suspicion import Bench
from pellucid.study.judging.measure import fold_interval
from pellucid.study.reading.profiles import Column, read_columns
from pellucid.study.records import Plan, Suspicion
from pellucid.study.wording import listed

FAR, LEAST_FAR = 16, 2  # rows apart
LEAST_ROWS = 40
ALIKE = 0.1  # of the variation among rows that are far apart
LUCK_TARGET, LUCK = 0.01, 1e-4  # chances of such a column where the order says nothing
SORTED = 0.95  # of the steps of a key go one way
FEW_LEVELS = 7  # standing together they are sorted, whatever the order of the names
NAMES = 0.9  # of the settings have a value of their own: two such columns describe individuals
COARSE = 8  # rows with equal keys, on average, from which on they are compared among themselves
FOLDS, FINER = 5, 5
SHIFTS = 19  # moved targets: none is told better than one that tells nothing in 5 % of the cases
SAMPLE, CHUNK = 5000, 250  # rows looked at, in chunks of neighbours
MOST_COLUMNS = 100
AT_RANDOM, KINDS = ("random", "stratified"), ("binary", "multiclass", "regression")
KEPT, LESS = 0.5, 0.75  # of the gain: what is gone, what is a remark


class Line(NamedTuple):
    """A column along the file."""

    name: str
    value: Array  # ranks, or numbers of levels
    ordered: bool


class Order(NamedTuple):
    """What the order of the rows shows."""

    alike: tuple[str, ...]  # inputs in which neighbours are alike, as they are in the target
    sequences: IntArray  # rows to be compared among themselves have one number
    fine: bool  # the file is sorted by a quantity
    plain: bool  # it is sorted by nothing


def find_neighbours(
    shop: Workshop,
    outcomes: list[Outcome],
    choice: Choice,
    target: Column,
    plan: Plan,
    deadline: float | None = None,
) -> Suspicion | None:
    """Whether the score rests on neighbours in the file; None where it does not, or time is over.

    ``target`` is the column of the whole table. Nothing is asked where the plan names time or
    groups, or says that there are none.
    """
    chosen, kind = outcomes[choice.chosen], shop.scorer.task.kind
    named = plan.groups or plan.known_groups or plan.query or shop.kind not in AT_RANDOM
    if named or chosen.complexity == 0 or kind not in KINDS:
        return None
    every = np.unique(np.concatenate([np.concatenate(fold) for fold in shop.folds]))
    if shop.groups is not None:  # copies, which the folds keep together: one row of each
        every = every[np.sort(np.unique(shop.groups[every], return_index=True)[1])]
    places, chunk = neighbours_of(len(every))
    rows, some = every[places], spaced(len(shop.kinds), MOST_COLUMNS)
    names = list(shop.kinds) if some is None else [list(shop.kinds)[j] for j in some]
    inputs = read_columns(shop.frame[rows].select(names))
    order = row_order(_at(target, rows), inputs, chunk, classes=kind != "regression")
    if order is None:
        return None
    guess = next(one for one in outcomes if one.complexity == 0)
    refits = Refits(Bench(shop, chosen, guess), guess, rows, order)
    end = math.inf if deadline is None else deadline
    try:
        found = rests_on_neighbours(refits, lambda: time.monotonic() > end)
    except FAILURES:  # a score is undefined in some stretch
        return None
    if found is None:
        return None
    return Suspicion(
        order.alike,
        found.how,
        f"rows next to each other in the file are alike in {target.name} and in "
        f"{listed(order.alike, 3)}",
        found.mixed.score,
        found.other.score,
        found.other.guessing,
        refits.bench.metric,
        found.gone,
    )


def _at(column: Column, rows: IntArray) -> Column:
    numbers = None if column.numbers is None else column.numbers[rows]
    return column._replace(cells=column.cells.gather(rows), numbers=numbers)


def neighbours_of(n: int) -> tuple[IntArray, IntArray]:
    """All of n rows in one chunk; of very many evenly spaced chunks of neighbours.

    >>> rows, chunk = neighbours_of(1_000_000)
    >>> len(rows), int(chunk.max()) + 1, rows[[0, 1, -1]].tolist()
    (5000, 20, [0, 1, 999999])
    """
    if n <= SAMPLE:
        return np.arange(n), np.zeros(n, dtype=np.intp)
    k = SAMPLE // CHUNK
    start = np.linspace(0, n - CHUNK, k).astype(np.intp)
    return (start[:, None] + np.arange(CHUNK)).ravel(), np.repeat(np.arange(k), CHUNK)


# --- the screen


def row_order(
    target: Column, inputs: dict[str, Column], chunk: IntArray, *, classes: bool
) -> Order | None:
    """The inputs in which neighbours are alike; None where that is luck or sorting, or the target
    is not.

    >>> import polars as pl
    >>> rng = np.random.default_rng(0)
    >>> x, y = np.cumsum(rng.normal(size=(2, 200)), axis=1)
    >>> one = np.zeros(200, dtype=int)
    >>> def asked(x, y):
    ...     columns = read_columns(pl.DataFrame({"x": x, "y": y}))
    ...     return row_order(columns["y"], {"x": columns["x"]}, one, classes=False)
    >>> asked(x, y).alike, asked(np.sort(x), y), asked(rng.permutation(x), y)
    (('x',), None, None)
    """
    whole = _line(target, codes=classes)
    lines = [line for c in inputs.values() if (line := _line(c)) is not None]
    run, first = _settings(lines, len(chunk))
    if whole is None or len(first) < LEAST_ROWS:
        return None
    *lines, goal = (line._replace(value=line.value[first]) for line in (*lines, whole))
    keys, tied, fine = _sorted_by([*lines, goal])
    block = np.concatenate([[0], np.cumsum(~tied)])
    among = _joined(block, chunk[first])
    if goal.name not in keys and not _is_alike(goal, among, LUCK_TARGET):
        return None
    if classes:
        among = _joined(among, goal.value)
    free = [line for line in lines if line.name not in keys]
    alike = [line.name for line in free if _is_alike(line, among, LUCK / len(free))]
    if not alike:
        return None
    sequences = _joined(block[run], whole.value) if classes else block[run]
    return Order(tuple(alike), sequences, fine, not keys)


def _settings(lines: list[Line], n: int) -> tuple[IntArray, IntArray]:
    """The run of every row and the first row of every run: of equal inputs where an experiment was
    repeated at each of its settings, else every row by itself.

    >>> dose, size = np.repeat([3.0, 1.0, 2.0, 1.0], 2), np.repeat([1.0, 1.0, 2.0, 2.0], 2)
    >>> _settings([Line("dose", dose, True), Line("size", size, True)], 8)[1].tolist()
    [0, 2, 4, 6]
    """
    alone = np.arange(n), np.arange(n)
    if not lines:
        return alone
    X = np.column_stack([line.value for line in lines])
    new = np.concatenate([[True], (np.diff(X, axis=0) != 0).any(axis=1)])
    first = np.flatnonzero(new)
    distinct = len(np.unique(X[first], axis=0))
    names = sum(len(np.unique(x)) >= NAMES * distinct for x in X.T)
    if 2 * len(first) > n or names > 1:
        return alone
    return np.cumsum(new) - 1, first


def _joined(a: IntArray, b: Array | IntArray) -> IntArray:
    """A number for every pair of whole numbers."""
    return np.unique(a * (int(b.max()) + 1) + b, return_inverse=True)[1]


def _line(column: Column, *, codes: bool = False) -> Line | None:
    """Ranks of numbers, missing ones lowest; numbers of levels; None for texts and constants."""
    if column.numbers is not None and not codes:
        value = average_ranks(np.where(np.isnan(column.numbers), -np.inf, column.numbers))
    elif column.kind == "category" or codes:
        value = level_codes(column.cells).astype(np.float64)
    else:
        return None
    if value.min() == value.max():
        return None
    return Line(column.name, value, column.numbers is not None and not codes)


def _sorted_by(lines: list[Line]) -> tuple[list[str], BoolArray, bool]:
    """The columns by which the file is sorted, one within another; whether each row equals the next
    in those of few values; and whether one is of many.

    >>> slow, fast = np.repeat([0.0, 1.0, 2.0], 20), np.tile(np.arange(20.0), 3)
    >>> keys, tied, fine = _sorted_by([Line("fast", fast, True), Line("slow", slow, True)])
    >>> keys, int((~tied).sum()), fine
    (['fast', 'slow'], 2, True)
    """
    n = len(lines[0].value)
    steps = {line.name: _steps(line) for line in lines}
    keys: list[str] = []
    tied, fine = np.ones(n - 1, dtype=bool), False
    while found := [key for key in steps if key not in keys and _one_way(steps[key][:, tied])]:
        keys += found
        among = tied
        for name in found:
            equal = among & (steps[name][0] == 0)
            if COARSE * int((~equal).sum() + 1) <= n:
                among = equal
            else:
                fine = True
        tied = among
        if fine:
            break
    return keys, tied, fine


def _steps(line: Line) -> Array:
    """The steps from row to row; of a few levels also in the order in which they appear."""
    steps = [np.diff(line.value)]
    if not line.ordered:
        first, code = np.unique(line.value, return_index=True, return_inverse=True)[1:]
        if len(first) <= FEW_LEVELS:
            steps.append(np.diff(np.argsort(np.argsort(first))[code]))
    return np.array(steps)


def _one_way(steps: Array) -> bool:
    """Do the steps of a column, in one of its orders, nearly all go one way?"""
    up, down = (steps > 0).sum(axis=1), (steps < 0).sum(axis=1)
    return bool((np.maximum(up, down) >= np.maximum(SORTED * (up + down), 1)).any())


def _is_alike(line: Line, sequences: IntArray, luck: float) -> bool:
    """Do neighbours of a sequence differ less than rows far apart, by more than luck?"""
    by = np.argsort(sequences, kind="stable")
    s, x = sequences[by], line.value[by]
    size = np.bincount(s)
    h = int(np.clip(size @ size / len(s) // 4, LEAST_FAR, FAR))

    def differences(lag: int) -> Array:
        d = (x[lag:] - x[:-lag])[s[lag:] == s[:-lag]]
        return d**2 if line.ordered else (d != 0) * 1.0

    near = differences(1)
    far = np.concatenate([differences(lag) for lag in range(h, min(2 * h, len(s)))])
    if len(far) < LEAST_ROWS or far.var() == 0:
        return False
    gap = float(far.mean() - near.mean())
    z = gap / math.sqrt(far.var() / len(near))
    return gap >= ALIKE * far.mean() and norm.sf(z) <= luck


# --- the refits


def stretch_folds(sequences: IntArray, finer: int = 1) -> list[Fold]:
    """Folds of whole stretches of each sequence, with a gap of half a stretch on either side.

    Each sequence is cut into five parts, or ``finer`` times as many that are dealt out in turn.

    >>> learn, judge = stretch_folds(np.zeros(20, dtype=int))[1]
    >>> judge.tolist(), learn.tolist()
    ([4, 5, 6, 7], [0, 1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19])
    """
    by = np.argsort(sequences, kind="stable")
    size = np.bincount(sequences)[sequences[by]]
    first = np.searchsorted(sequences[by], sequences[by])
    place = np.arange(len(by))
    parts = FOLDS * finer
    fold = (place - first) * parts // size % FOLDS
    gap = size // (2 * parts)
    low, high = np.maximum(place - gap, first), np.minimum(place + gap, first + size - 1)
    folds = []
    for k in range(FOLDS):
        count = np.concatenate([[0], np.cumsum(fold == k)])
        near = count[high + 1] > count[low]
        folds.append((np.sort(by[~near]), np.sort(by[fold == k])))
    return folds


class Refit(NamedTuple):
    """The score over some folds, and the share of guessing's error that the model takes away."""

    score: Interval
    guessing: float
    mean: float
    error: float

    def certain(self) -> bool:
        """Does its 95 % interval lie above 0?"""
        return self.mean > _half_width(self.error)


def _half_width(error: float) -> float:
    return student_critical(0.05, FOLDS - 1, "two-sided") * error


class Refits:
    """The chosen model and guessing, refitted on some rows in the order of the file."""

    def __init__(self, bench: Bench, guess: Outcome, rows: IntArray, order: Order) -> None:
        self.bench, self.guess, self.rows, self.order = bench, guess, rows, order
        self.mix = np.random.default_rng(bench.shop.seed).permutation(len(rows))

    def apart(self) -> Refit:
        """Over whole stretches."""
        return self._gain(np.arange(len(self.rows)), 0)

    def mixed(self, shift: int = 0) -> Refit:
        """Over random parts as large as the stretches, the target moved by so many rows."""
        return self._gain(self.mix, shift)

    def _gain(self, by: IntArray, shift: int) -> Refit:
        shop, rows = self.bench.shop.restricted(list(self.bench.shop.kinds)), self.rows[by]
        shop.y = shop.y.copy()
        shop.y[self.rows] = np.roll(shop.y[self.rows], shift)
        sequences = np.roll(self.order.sequences, shift)[by]
        folds = stretch_folds(sequences, FINER if self.order.fine else 1)
        shop.folds = [(rows[a], rows[b]) for a, b in folds]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, base = (
                run_candidate(shop, tried, deadline=None, step=lambda fold: None).scores
                for tried in (self.bench.tried, self.guess.tried)
            )
        metric, ratio = shop.scorer.metric, shop.ratio()
        error = float((1 - base if metric.greater_is_better else base).mean())
        if not error > 0:
            raise ValueError("guessing makes no error")
        gain = cv_summary(shop.scorer.sign * (model - base) / error, test_ratio=ratio)
        score = fold_interval(model, ratio, self.bench.metric, len(rows))
        return Refit(score, float(base.mean()), gain.mean, gain.standard_error)


class Doubt(NamedTuple):
    """What the neighbours have done: ``how`` is "stretches" or "moved"."""

    how: str
    mixed: Refit
    other: Refit  # over the stretches, or of the moved target
    gone: bool  # the score rests on neighbours; else a part of it may


def rests_on_neighbours(refits: Refits, late: Callable[[], bool]) -> Doubt | None:
    """Whether a gain over guessing is left without neighbours; None if it is, or time is over."""
    apart = refits.apart()
    if late():
        return None
    mixed = refits.mixed()
    unsure, known = not apart.certain(), mixed.certain()
    if known and unsure and apart.mean <= KEPT * mixed.mean:
        return Doubt("stretches", mixed, apart, gone=True)
    n, sign = len(refits.rows), refits.bench.shop.scorer.sign
    moves = np.linspace(n / 10, 9 * n / 10, SHIFTS if refits.order.plain and known else 0)
    for shift in moves.astype(int):
        if late():
            return None
        moved = refits.mixed(int(shift))
        if sign * (moved.score.estimate - mixed.score.estimate) >= 0:
            return Doubt("moved", mixed, moved, gone=True)
    less = mixed.mean - apart.mean > _half_width(math.hypot(mixed.error, apart.error))
    if unsure or (less and apart.mean <= LESS * mixed.mean):
        return Doubt("stretches", mixed, apart, gone=False)
    return None
