r"""Which rows teach and which rows judge.

The test rows are set aside first and not touched until the end; the folds divide the rest as
``evaluation.suggest_split`` advises. What must not be on both sides is a *unit*: a group, the list
of a query, a row with its copies. Units are the connected parts of "same group or equal row".

    time      the latest rows judge; rows of one moment stay together, a group is as late as its
              last row; folds train on the past and judge what follows
    groups    whole units, the draw among 50 whose size and class shares are nearest the plan's;
              a column named in the plan, or one whose levels own their rows (``owners``)
    classes   each class gives its share (largest remainders), a class of one row teaches only;
              in the folds, a class with fewer rows than folds sends each row to another fold
    else      at random

Rows without a target are in neither part.
"""

import warnings
from math import ceil
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.model_selection import StratifiedGroupKFold

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import BoolArray, IntArray
from pellucid.data.loader import known_columns
from pellucid.evaluation import suggest_split
from pellucid.study.checks.data import in_row_order, is_identifier, time_form
from pellucid.study.reading.equality import Copies, without_names
from pellucid.study.reading.profiles import Column, read_columns
from pellucid.study.records import Plan, SplitRecord, Task
from pellucid.study.splits.owners import find_owner, named_groups, near_copies, splits_by

DRAWS = 50  # of groups, the best of which is taken
LEAST = 4  # rows with a target
LEAST_PAST = 6  # rows from which a step forward learns, where there are steps enough
Folds = list[tuple[IntArray, IntArray]]


def make_split(
    frame: pl.DataFrame, task: Task, plan: Plan | None = None, random_state: int = 0
) -> SplitRecord:
    """Test rows, training rows and folds, with the reason.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    task : Task
        What is predicted, as ``detect_task`` gives it.
    plan : Plan, optional
        ``time``, ``groups`` and ``query`` name columns; ``test_size`` is the share of the test.
        Without any of them, rows that are in the order of their only date column are a sequence,
        and units that own rows (``find_owner``) are groups; ``groups="none"`` forbids that.
    random_state : int, default=0
        The seed of the draws.

    Examples
    --------
    >>> import polars
    >>> from pellucid.study import detect_task, make_split
    >>> frame = polars.DataFrame({"x": range(100), "y": ["a", "b", "b", "b"] * 25})
    >>> split = make_split(frame, detect_task(frame["y"]))
    >>> split.kind, len(split.train), len(split.test), len(split.folds)
    ('stratified', 80, 20, 10)
    """
    plan = Plan() if plan is None else plan
    check.fraction(test_size=plan.test_size)
    asked, plan = plan.groups, plan._replace(groups=named_groups(plan, frame.columns))
    named = [n for n in (plan.time, plan.groups, plan.query) if n]
    known_columns([*task.target, *named, *plan.drop], dict(frame.schema), "the table")
    columns = read_columns(frame)
    rows = labelled_rows(columns, task)
    if len(rows) < LEAST:
        raise ValueError(f"{len(rows)} rows have a target; a split needs at least {LEAST}")
    rng = np.random.default_rng(random_state)
    owner = plan.query or plan.groups
    time = plan.time or _implied_time(columns, task, plan)
    if time is not None:
        return _by_time(columns[time], columns[owner] if owner else None, rows, plan)
    copies = _copies(columns, task, plan)
    units = _units(columns[owner] if owner else None, copies, rows, frame.height)
    y = _classes(columns, task, rows)
    seed = int(rng.integers(2**31))
    if owner:
        split = _by_groups(rows, units, y, plan, rng, owner)
        return split if plan.query else split._replace(groups=owner)
    found = None if asked or plan.known_groups else find_owner(columns, task, plan, rows)
    if found is not None:
        whole = _units(columns[found.name], copies, rows, frame.height)
        if splits_by(whole, y):
            split = _by_groups(rows, whole, y, plan, rng, found.name)
            return split._replace(groups=found.name, reason=f"{split.reason} {found.reason()}")
    if not copies.real:
        units = near_copies(columns, task, plan, rows)
    return _at_random(rows, units, y, plan, rng, seed)


def copied_rows(
    columns: dict[str, Column], task: Task, plan: Plan, rows: IntArray
) -> IntArray | None:
    """A number for every row of the table, the same for copies; None where no row has one."""
    copies = _copies(columns, task, plan)
    if copies.real:
        return copies.first
    first, place = np.unique(
        near_copies(columns, task, plan, rows), return_index=True, return_inverse=True
    )[1:]
    codes = np.arange(len(copies.first))
    codes[rows] = rows[first[place]]
    return None if len(first) == len(rows) else codes


def labelled_rows(columns: dict[str, Column], task: Task) -> IntArray:
    """Rows whose every target is known."""
    first = next(iter(columns.values()))
    known = np.ones(len(first.cells), dtype=bool)
    for name in task.target:
        column = columns[name]
        known &= column.cells.is_not_null().to_numpy()
        if column.numbers is not None:
            known &= np.isfinite(column.numbers)
    return np.flatnonzero(known)


def _implied_time(columns: dict[str, Column], task: Task, plan: Plan) -> str | None:
    """The only column of times whose order the rows have, if nothing else is planned."""
    if plan.groups or plan.query or not task.target:
        return None
    times = [n for n, c in columns.items() if n not in task.target and time_form(c)]
    times = [n for n in times if n not in plan.drop and columns[n].distinct > 1]
    times = [n for n in times if not columns[n].missing and in_row_order(columns[n])]
    return times[0] if len(times) == 1 else None


def _copies(columns: dict[str, Column], task: Task, plan: Plan) -> Copies:
    """Equal rows, whatever names them."""
    copies = Copies(list(columns.values()))
    own = copies.first == np.arange(len(copies.first))
    named = [n for n, c in columns.items() if is_identifier(c, None if own.all() else own)]
    rest = [c for n, c in columns.items() if n not in named and n not in plan.drop]
    inputs = [c for c in rest if c.name not in task.target]
    return without_names(copies, rest) if named and inputs else copies


def _units(owner: Column | None, copies: Copies, rows: IntArray, n: int) -> IntArray:
    """A number for every labelled row: rows with the same number stay together."""
    parts = [np.arange(n)] if owner is None else [group_codes(owner)]
    if copies.real:
        parts.append(copies.first)
    if len(parts) == 1:
        return np.unique(parts[0][rows], return_inverse=True)[1]
    a, b = (np.unique(part, return_inverse=True)[1] for part in parts)
    offset = int(a.max()) + 1
    size = offset + int(b.max()) + 1
    edges = coo_array((np.ones(n), (a, b + offset)), shape=(size, size))
    unit = connected_components(edges, directed=False)[1][a]
    return np.unique(unit[rows], return_inverse=True)[1]


def group_codes(column: Column) -> IntArray:
    """Numbers of the values of a column; every missing cell is a value of its own."""
    rank = column.cells.rank("dense").fill_null(0).to_numpy().astype(np.intp)
    gap = rank == 0
    rank[gap] = rank.max() + 1 + np.arange(int(gap.sum()))
    return rank


def _classes(columns: dict[str, Column], task: Task, rows: IntArray) -> IntArray | None:
    if task.kind not in ("binary", "multiclass"):
        return None
    cells = columns[task.target[0]].cells.gather(rows)
    return cells.rank("dense").to_numpy().astype(np.intp) - 1


# --- time


def _by_time(time: Column, owner: Column | None, rows: IntArray, plan: Plan) -> SplitRecord:
    """The latest rows judge; nobody learns from the future."""
    moment = _row_moments(time, owner, rows)
    order = np.argsort(moment, kind="stable")
    at = moment[order]
    n_test = ceil(plan.test_size * len(rows))
    cut = nearest_change(at, len(rows) - n_test)
    if cut is None:
        raise ValueError(f"{time.name!r} has one value only: there is no before and after")
    train, test = rows[order[:cut]], rows[order[cut:]]
    folds = _forward(train, at[:cut])
    reason = (
        f"The rows have an order in time ({time.name}): the last {len(test)} judge, and every "
        "fold learns from the past and judges what follows. Rows of one moment stay together."
    )
    if time.missing:
        reason += f" {time.missing} rows without a time count as the earliest."
    if owner is not None:
        reason += f" A group of {owner.name} is as late as its last row."
    return SplitRecord("sequential", train, test, tuple(folds), reason, time.name, plan.groups)


def _row_moments(time: Column, owner: Column | None, rows: IntArray) -> IntArray:
    """Ranks of the moments of these rows; a group is as late as its last row."""
    moment = _moments(time)[rows]
    if owner is None:
        return moment
    code = np.unique(group_codes(owner)[rows], return_inverse=True)[1]
    last = np.full(int(code.max()) + 1, -1, dtype=np.intp)
    np.maximum.at(last, code, moment)
    return last[code]


def row_units(frame: pl.DataFrame, task: Task, plan: Plan, rows: IntArray) -> IntArray:
    """What must not be torn apart: the moments of these rows where time orders them, else groups.

    >>> frame = pl.DataFrame({"day": [3, 1, 1, 2], "who": ["a", "b", "a", "b"], "y": [1, 2, 3, 4]})
    >>> task = Task("regression", ("y",), (), None, "rmse", False, 0, "", ())
    >>> row_units(frame, task, Plan(time="day"), np.arange(4)).tolist()
    [3, 1, 1, 2]
    >>> row_units(frame, task, Plan(groups="who"), np.array([0, 1, 3])).tolist()
    [0, 1, 1]
    """
    columns = read_columns(frame)
    owner = plan.query or plan.groups
    time = plan.time or _implied_time(columns, task, plan)
    if time is not None:
        return _row_moments(columns[time], columns[owner] if owner else None, rows)
    codes = np.arange(frame.height) if owner is None else group_codes(columns[owner])
    return np.unique(codes[rows], return_inverse=True)[1]


def _moments(column: Column) -> IntArray:
    """Ranks of the times; rows without one come first."""
    if column.kind not in ("date", "whole", "number"):
        raise ValueError(
            f"time must name a column of dates or numbers, {column.name!r} is {column.kind}"
        )
    return column.cells.rank("dense").fill_null(0).to_numpy().astype(np.intp)


def nearest_change(at: IntArray, cut: int) -> int | None:
    """The change of moment nearest to ``cut``, None where there is none.

    >>> nearest_change(np.array([0, 0, 0, 1, 1]), 1), nearest_change(np.array([2, 2]), 1)
    (3, None)
    """
    changes = np.flatnonzero(np.diff(at)) + 1
    if not len(changes):
        return None
    return int(changes[np.abs(changes - cut).argmin()])


def _forward(train: IntArray, at: IntArray) -> Folds:
    """Steps forward in time, their edges at changes of moment."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer steps than five are seen in the record
        if len(train) < 3:
            return []
        splitter = suggest_split(len(train), order=True).splitter
    folds: Folds = []
    previous = 0
    for _, judge in splitter.split(train):
        start = nearest_change(at, int(judge[0]))
        end = len(train) if judge[-1] == len(train) - 1 else nearest_change(at, int(judge[-1]) + 1)
        if start is None or end is None or start < max(previous, 1) or end <= start:
            continue
        folds.append((train[:start], train[start:end]))
        previous = end
    later = [fold for fold in folds if len(fold[0]) >= LEAST_PAST]
    return later if len(later) >= 2 else folds


# --- groups


def _by_groups(
    rows: IntArray,
    units: IntArray,
    y: IntArray | None,
    plan: Plan,
    rng: np.random.Generator,
    owner: str,
) -> SplitRecord:
    """Whole units on one side, of several draws the one nearest to the plan."""
    m = int(units.max()) + 1
    if m < 3:
        raise ValueError(
            f"{owner!r} has {m} group(s) that share no row; test and folds need at least 3"
        )
    size = np.bincount(units)
    goal = plan.test_size * len(rows)
    best, least = np.zeros(m, dtype=bool), np.inf
    for _ in range(DRAWS):
        taken = _draw(size, goal, rng)
        cost = _misfit(taken[units], y, goal)
        if cost < least:
            best, least = taken, cost
    inside = best[units]
    train, test = rows[~inside], rows[inside]
    rest = None if y is None else y[~inside]
    folds, said = _group_folds(train, np.unique(units[~inside], return_inverse=True)[1], rest)
    reason = (
        f"Rows with the same {owner} belong together ({m} groups): whole groups judge, so that "
        f"the score holds for new ones. {said.replace('Rows belong', 'The other rows belong', 1)}"
    )
    return SplitRecord("groups", train, test, tuple(folds), reason)


def _draw(size: IntArray, goal: float, rng: np.random.Generator) -> BoolArray:
    """Units in random order until the goal is met as nearly as they allow; two are left over."""
    taken = np.zeros(len(size), dtype=bool)
    order = rng.permutation(len(size))[: len(size) - 2]
    total = np.cumsum(size[order])
    k = max(1, int(np.searchsorted(total, goal, "right")))
    if k < len(order) and total[k] - goal < goal - total[k - 1]:
        k += 1
    taken[order[:k]] = True
    return taken


def _misfit(inside: BoolArray, y: IntArray | None, goal: float) -> float:
    cost = abs(float(inside.sum()) - goal) / len(inside)
    if y is not None:
        counts = np.bincount(y)
        there = np.bincount(y[inside], minlength=len(counts))
        cost += float(np.abs(there / max(1, inside.sum()) - counts / len(y)).max())
        cost += float(((there == counts) | ((there == 0) & (counts > 4))).sum())
    return cost


def _group_folds(train: IntArray, units: IntArray, y: IntArray | None) -> tuple[Folds, str]:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        advice = suggest_split(len(train), groups=units)
    said = [str(w.message) for w in heard]
    pairs = [(train[a], train[b]) for a, b in advice.splitter.split(train, None, units)]
    reason, k = advice.reason, advice.splitter.n_splits
    if y is not None and _lacks_a_class(pairs, train, y):
        for fewer in range(k, 1, -1):
            other = _balanced(train, units, y, fewer)
            if not _lacks_a_class(other, train, y):
                pairs, reason = other, reason.replace(f"{k} folds", f"{fewer} folds")
                said.append("folds also balance the classes")
                break
    return pairs, _sentence(reason, said)


def _balanced(train: IntArray, units: IntArray, y: IntArray, k: int) -> Folds:
    """Folds of whole units with about the same shares of the classes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pairs = StratifiedGroupKFold(k).split(train, y, units)
        return [(train[a], train[b]) for a, b in pairs if len(b)]


def _lacks_a_class(pairs: Folds, train: IntArray, y: IntArray) -> bool:
    """Does some fold learn without a class that the others know, or judge one class only?"""
    label = np.full(int(train.max()) + 1, -1, dtype=np.intp)
    label[train] = y
    known = len(np.unique(y))
    lacks = any(len(np.unique(label[learn])) < known for learn, _ in pairs)
    return lacks or any(len(np.unique(label[judge])) < min(known, 2) for _, judge in pairs)


# --- at random


def _at_random(
    rows: IntArray,
    units: IntArray,
    y: IntArray | None,
    plan: Plan,
    rng: np.random.Generator,
    seed: int,
) -> SplitRecord:
    """Units at random, each class by its share."""
    first = np.unique(units, return_index=True)[1]  # a row that stands for each unit
    m = len(first)
    if m < LEAST:
        raise ValueError(f"only {m} rows differ from each other; a split needs at least {LEAST}")
    size = np.bincount(units)
    labels = None if y is None else y[first]
    strata = np.zeros(m, dtype=np.intp) if labels is None else labels
    taken = _stratified(strata, size, plan.test_size, rng, spare=labels is not None)
    inside = taken[units]
    train, test = rows[~inside], rows[inside]
    kept = np.flatnonzero(~taken)
    unit_folds, said = _folds(len(kept), None if labels is None else labels[kept], plan, seed)
    place = np.full(m, -1, dtype=np.intp)
    place[kept] = np.arange(len(kept))
    folds = [_expanded(a, b, place[units[~inside]], train) for a, b in unit_folds]
    kind = "random" if y is None else "stratified"
    what = "at random" if y is None else "at random within each class"
    reason = (
        f"No column was found that orders or groups the rows: {len(test):,} of {len(rows):,} "
        f"judge, drawn {what}."
    )
    more = len(rows) - m
    if more:
        copies = (
            "1 copy of a row, exact or near, stays"
            if more == 1
            else (f"{more:,} copies of rows, exact or near, stay")
        )
        reason += f" {copies} beside {'its' if more == 1 else 'their'} original."
    return SplitRecord(kind, train, test, tuple(folds), f"{reason} {said}", copies=more)


def _expanded(a: IntArray, b: IntArray, place: IntArray, train: IntArray) -> Any:
    """Folds of units as folds of rows."""
    side = np.zeros(int(place.max()) + 1, dtype=np.int8)
    side[a], side[b] = 1, 2
    return train[side[place] == 1], train[side[place] == 2]


def _stratified(
    strata: IntArray, size: IntArray, share: float, rng: np.random.Generator, *, spare: bool
) -> BoolArray:
    """Units for the test: of each stratum its share of rows, the rest by largest remainders."""
    rows = np.bincount(strata, size)
    wanted = share * rows
    quota = np.floor(wanted + 1e-9)
    goal = min(ceil(share * size.sum()), int(size.sum()) - 2)
    for j in np.argsort(quota - wanted, kind="stable")[: max(0, goal - int(quota.sum()))]:
        quota[j] += 1
    if spare:
        quota = np.minimum(quota, rows - 1)  # a class of one row teaches
    taken = np.zeros(len(strata), dtype=bool)
    order = rng.permutation(len(strata))
    order = order[np.argsort(strata[order], kind="stable")]
    start = 0
    for j, count in enumerate(np.bincount(strata, minlength=len(rows))):
        members = order[start : start + count]
        start += count
        total = np.cumsum(size[members])
        taken[members[: np.searchsorted(total, quota[j] + 1e-9, "right")]] = True
    if not taken.any():
        taken[order[np.argmin(size[order] + (rows[strata[order]] < 2) * size.sum())]] = True
    return taken


def _folds(n: int, y: IntArray | None, plan: Plan, seed: int) -> tuple[Folds, str]:
    """Folds as advised; classes with fewer rows than folds are dealt out one by one."""
    counts = None if y is None else np.bincount(y)
    common = np.arange(n) if y is None else np.flatnonzero(counts[y] >= 5)  # type: ignore[index]
    if y is not None and len(common) < 0.5 * n:
        common = np.arange(n)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        labels = None if y is None else y[common].astype(str)
        advice = suggest_split(max(2, len(common)), y=labels)
    splitter = advice.splitter
    splitter.random_state = seed
    reason = f"{splitter.get_n_splits()} folds of the rest compare the models on the same rows."
    if advice.kind == "hold_out":  # the test rows are set aside already
        splitter.test_size, splitter.validation_size = 0, plan.test_size / (1 - plan.test_size)
        reason = f"{n} rows are enough for one validation part; folds would say hardly more."
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes of few rows have their own finding
        pairs = list(splitter.split(common, None if y is None else y[common]))
    folds = [(common[a], common[b]) for a, b in pairs]
    if len(common) < n:
        folds = _dealt(folds, np.setdiff1d(np.arange(n), common), y, seed)  # type: ignore[arg-type]
    return folds, _sentence(reason, [str(w.message) for w in heard])


def _dealt(folds: Folds, rare: IntArray, y: IntArray, seed: int) -> Folds:
    """Rare rows, each class over different folds; a single row is never judged."""
    rng = np.random.default_rng(seed)
    k = len(folds)
    judge: list[list[int]] = [[] for _ in folds]
    for label in np.unique(y[rare]):
        members = rng.permutation(rare[y[rare] == label])
        if len(members) > 1:
            for fold, row in zip(rng.permutation(max(k, len(members))), members, strict=False):
                judge[fold % k].append(int(row))
    result = []
    for (a, b), more in zip(folds, judge, strict=True):
        b = np.sort(np.concatenate([b, np.array(more, dtype=np.intp)]))
        a = np.sort(np.concatenate([a, np.setdiff1d(rare, more)]))
        result.append((a.astype(np.intp), b.astype(np.intp)))
    return result


def _sentence(reason: str, more: list[str]) -> str:
    text = ". ".join([reason.rstrip("."), *more]) + "."
    return text[0].upper() + text[1:]
