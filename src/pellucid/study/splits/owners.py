r"""Units that own rows (a person, a chick, a shop), found from the data and not by name.

A unit returns in several rows, and what belongs to it does not change from row to row. With s(v)
the share of the variance of a column v that lies between the levels of a candidate g, corrected
for the number L of levels,

    s(v) = 1 - [W / (n - L)] / [T / (n - 1)],    W, T the squares within levels and in all

(Gini impurities for levels), g is taken for a unit when one of these holds:

    own       columns with s >= 0.9 tell at least 40 % of the levels apart: the age and sex of
              a person, the area of a shop. Such columns have one value in nearly all rows of a
              level; where they only vary little, the target must belong to the level too
              (s >= 0.7), since the places of the houses of a district are near each other and
              the houses are not rows of one thing. A level of an ordinary category (colour,
              species) has nothing of its own; a hierarchy (maker, country; postal code, city) has
              one column of fewer names at most.
    occasion  each level meets each value of a numeric column about once (visit 1, 2, 3 of every
              person), and some other column, or the level of the target, belongs to it.
    alike     the target and at least half of the other columns have s >= 0.7 (0.5 where that of
              the target is 0.9).
    blocks    the target has s >= 0.9 and the rows of each level stand together in the table.

A quantity (age in years, month) repeats too, but its neighbours are alike. Codes have no such
order: the level means m_1, m_2, ... in the order of the values (of names that stand together in the
table: in that order, since Jan, Feb, Mar are no names of units) must be rough, with von Neumann's
ratio sum (m_i+1 - m_i)^2 / sum (m_i - m)^2 at least 1; it is about 2 for codes and near 0 for a
curve. And numbers are codes only if their size says little about the columns that vary within them
(rank correlation of the levels): a person without a name may still be known by a height and a
weight that come back together. The target is used as in a stratified split: to choose who judges,
not to predict.

Reference: J. von Neumann (1941), Distribution of the ratio of the mean square successive
difference to the variance.
"""

import shlex
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.study.checks.data import time_form
from pellucid.study.checks.leaks import average_ranks
from pellucid.study.reading.profiles import NUMBERS, Column
from pellucid.study.records import Plan, Task
from pellucid.study.wording import listed

LEAST_LEVELS = 8  # fewer units than this cannot be told from the levels of a category
MANY_LEVELS = 10  # where the target is the evidence
LEAST_OF_A_CLASS, LEAST_UNITS = 5, 3  # a class of so many rows must be in so many units
LEAST_ROWS = 2.0  # per level, on average
OWN, ALIKE, SIMILAR = 0.9, 0.7, 0.5  # shares of the variance between levels
TOLD_APART = 0.4  # of the levels, by what they own
REPEATED = 0.9  # of the rows of a level, where a column belongs to it
ROUGH = 1.0  # von Neumann's ratio of codes is about 2, of a curve near 0
FILLED = 0.6  # of the grid of units and occasions
CALENDAR = 12  # so many levels may be months or weekdays
EVEN = 1e-9  # the same, where every level has the same mean: a plan, not a quantity
EFFECT = 4.0  # mean square between levels over that within, beside the occasion
RELATED = (0.3, 0.6)  # rank correlation above which numbers are sizes; the latter for 1, 2, 3 ...
LUCK = 3.3  # standard errors of a rank correlation
MOST_PER_LEVEL = 100  # rows, where nothing but the target speaks for a unit
WIDE = 50  # levels of a category whose shares are compared level by level
TWINS, NEAR = 0.2, 0.05  # share of rows with a near copy; its distance in those of the fifth
SEARCHED = 5  # columns in which neighbours are looked for
ENOUGH, MOST_ROWS = 10_000, 20_000  # rows in which units, and near copies, are looked for
MOST_COLUMNS = 60  # other columns looked at
MOST_ASKED = 30  # columns that may own rows; names first, then those of most levels


class Owner(NamedTuple):
    """A column whose levels own their rows, with the evidence."""

    name: str
    groups: int
    rule: str  # own, occasion, alike or blocks
    columns: tuple[str, ...]  # the columns that are (nearly) fixed within a group
    occasion: str = ""  # the column whose values every group meets once

    def why(self) -> str:
        """The evidence as a clause.

        >>> Owner("chick", 50, "occasion", ("diet",), "day").why()
        'each has one row per day, and diet never changes within it'
        """
        fixed = listed(self.columns, 3)
        verb = "change" if len(self.columns) > 1 else "changes"
        if self.rule == "occasion":
            more = f", and {fixed} never {verb} within it" if fixed else ""
            return f"each has one row per {self.occasion}{more}"
        if self.rule == "own":
            return f"{fixed} hardly {verb} within it"
        if self.rule == "blocks":
            return f"its rows stand together and {fixed} hardly {verb} within it"
        return f"its rows are alike in {fixed}"

    def reason(self) -> str:
        """Why the rows were divided so, and how to overrule it."""
        return (
            f"{self.name} was found, not named: {self.why()}. If new rows will come from the same "
            f"{self.name}, say --known-groups {shlex.quote(self.name)} or --groups none."
        )


def near_copies(columns: dict[str, Column], task: Task, plan: Plan, rows: IntArray) -> IntArray:
    """A number for every given row: rows that all but repeat each other share one.

    Of the standardised numbers, a near copy is at a twentieth of the distance of the fifth
    neighbour or nearer. In p dimensions chance does that in 4 * 0.05^p of the rows, so it counts
    from p = 2 on, and if a fifth of the rows have one. Tables in which five rows agree in all
    numbers are too coarse to tell.

    >>> import polars as pl
    >>> from pellucid.study.reading.profiles import read_columns
    >>> x = np.random.default_rng(0).normal(size=(60, 3))
    >>> frame = pl.DataFrame(np.vstack([x, x + 1e-5])).with_columns(y=pl.Series(range(120)))
    >>> task = Task("regression", ("y",), (), None, "rmse", False, 0, "")
    >>> len(np.unique(near_copies(read_columns(frame), task, Plan(), np.arange(120))))
    60
    """
    alone = np.arange(len(rows))
    names = [n for n in columns if n not in (*task.target, *plan.drop)]
    used = [columns[n] for n in names if columns[n].kind == "number" and not columns[n].missing]
    if not 2 <= len(used) <= MOST_COLUMNS or not 50 <= len(rows) <= MOST_ROWS:
        return alone
    used.sort(key=lambda column: -column.distinct)
    X = np.column_stack([c.numbers[rows] for c in used])  # type: ignore[index]
    sd = X.std(axis=0)
    Z = X[:, sd > 0] / sd[sd > 0]
    if np.linalg.matrix_rank(Z - Z.mean(axis=0)) < 2:
        return alone
    place = cKDTree(Z[:, :SEARCHED]).query(Z[:, :SEARCHED], k=6)[1]  # confirmed in all columns
    far = np.column_stack([np.linalg.norm(Z - Z[place[:, j]], axis=1) for j in range(6)])
    near = (far[:, 1:5] < NEAR * far[:, 5:]) & (far[:, 1:5] > 0)  # equal rows are copies
    if not (far[:, 5] > 0).all() or near.any(axis=1).mean() < TWINS:
        return alone
    i, j = np.nonzero(near)
    edges = coo_array((np.ones(len(i)), (i, place[i, j + 1])), shape=(len(rows), len(rows)))
    return np.asarray(connected_components(edges, directed=False)[1], dtype=np.intp)


def named_groups(plan: Plan, names: Sequence[str]) -> str | None:
    """The column of groups that the plan names; the word none stands for no groups at all.

    >>> named_groups(Plan(groups="none"), ["a"]), named_groups(Plan(groups="none"), ["none"])
    (None, 'none')
    """
    return None if plan.groups == "none" and "none" not in names else plan.groups


def splits_by(units: IntArray, y: IntArray | None) -> bool:
    """Are there units enough, and is every common class in several of them?"""
    if int(units.max()) + 1 < LEAST_LEVELS:
        return False
    if y is None:
        return True
    pairs = np.unique(y * (int(units.max()) + 1) + units) // (int(units.max()) + 1)
    return bool((np.bincount(pairs)[np.bincount(y) >= LEAST_OF_A_CLASS] >= LEAST_UNITS).all())


def find_owner(columns: dict[str, Column], task: Task, plan: Plan, rows: IntArray) -> Owner | None:
    """The column whose levels own rows, by the strongest evidence; None where there is none.

    >>> import polars as pl
    >>> from pellucid.study.reading.profiles import read_columns
    >>> who = [f"p{i // 4}" for i in range(80)]
    >>> frame = pl.DataFrame({"who": who, "age": [(i // 4) ** 2 % 83 for i in range(80)],
    ...                       "y": [i * i % 7 for i in range(80)]})
    >>> task = Task("regression", ("y",), (), None, "rmse", False, 0, "")
    >>> find_owner(read_columns(frame), task, Plan(), np.arange(80)).why()
    'age hardly changes within it'
    """
    if len(task.target) != 1 or len(rows) < LEAST_ROWS * LEAST_LEVELS:
        return None
    names = [n for n in columns if n not in task.target and n not in plan.drop]
    asked = [n for n in names if n not in plan.keep and _may_own(columns[n])]
    asked.sort(key=lambda n: (columns[n].kind != "category", -columns[n].distinct))
    found = [
        owner
        for name in asked[:MOST_ASKED]
        if (owner := _judged(name, columns, names, task.target[0], rows)) is not None
    ]
    rank = {"own": 0, "occasion": 1, "alike": 2, "blocks": 3}
    key = lambda o: (rank[o.rule], -len(o.columns), o.groups)  # noqa: E731
    return min(found, key=key, default=None)


def one_target_each(columns: dict[str, Column], y: Array, task: Task) -> Owner | None:
    """A column of codes, each with several rows and (nearly) one target; None if there is none."""
    classes = None if task.kind == "regression" else np.unique(y, return_inverse=True)[1]
    numbers = np.asarray(y, dtype=np.float64) if classes is None else None
    for name, column in columns.items():
        if not _may_own(column):
            continue
        g = _levels(column, np.arange(len(y)))
        L = int(g.max()) + 1
        tie = _tie(View(column, numbers, classes), g)
        codes = MANY_LEVELS <= L >= len(y) / MOST_PER_LEVEL and _are_codes(
            column, [tie], np.zeros(L, dtype=np.intp)
        )
        if codes and tie.share >= OWN:
            return Owner(name, L, "blocks", task.target)
    return None


def _levels(column: Column, rows: IntArray) -> IntArray:
    """The number of each row's level, in the order of the values.

    Names whose rows stand together are in the order of the table.

    >>> from pellucid.study.reading.profiles import read_column
    >>> _levels(read_column(pl.Series(["Jan", "Jan", "Feb", "Mar"])), np.arange(4)).tolist()
    [0, 0, 1, 2]
    """
    cells = column.cells.gather(rows)
    if column.kind != "category":
        cells = cells.rank("dense").fill_null(0)
        return np.unique(cells.to_numpy(), return_inverse=True)[1]
    frame = cells.alias("cell").to_frame().with_row_index("row")
    first = frame.select(pl.col("row").min().over("cell")).to_series().to_numpy()
    seen, code = np.unique(first, return_inverse=True)
    if int((np.diff(code) != 0).sum()) == len(seen) - 1:
        return np.asarray(code, dtype=np.intp)
    place = cells.gather(seen).rank("ordinal").fill_null(0).to_numpy()
    return np.unique(place, return_inverse=True)[1][code]


def _some_levels(column: Column, rows: IntArray) -> tuple[IntArray, IntArray]:
    """At most about ENOUGH rows: all rows of some levels, or a part of them; and the levels."""
    g = _levels(column, rows)
    if len(rows) <= ENOUGH:
        return rows, g
    L = int(g.max()) + 1
    order = np.random.default_rng(0).permutation(L)
    taken = np.zeros(L, dtype=bool)
    taken[order[: max(2 * LEAST_LEVELS, int(L * ENOUGH / len(rows)))]] = True
    at = rows[taken[g]]
    at = at[:: max(1, len(at) // ENOUGH)]  # levels of very many rows
    return at, _levels(column, at)


def _may_own(column: Column) -> bool:
    """Names or numbers of which each is in several rows; not a time."""
    if column.kind not in ("category", *NUMBERS) or time_form(column):
        return False
    few = column.missing >= 0.05 * len(column.cells)
    return not few and LEAST_LEVELS <= column.distinct <= column.filled / LEAST_ROWS


class View(NamedTuple):
    """A column as what variances need: numbers, or codes of levels."""

    column: Column
    numbers: Array | None
    codes: IntArray | None


def _view(column: Column, rows: IntArray) -> View | None:
    if column.kind in (*NUMBERS, "truth", "date") and column.numbers is not None:
        x = column.numbers[rows]
        seen = np.isfinite(x)
        if seen.sum() < 0.5 * len(x) or np.ptp(x[seen]) == 0:
            return None
        return View(column, np.where(seen, x, np.nan), None)
    if column.kind != "category":
        return None
    return View(column, None, _levels(column, rows))


class Tie(NamedTuple):
    """How a column hangs on the levels of a candidate."""

    share: float  # of its variance between the levels
    rough: float  # von Neumann's ratio of the level means
    told: IntArray  # a number for each level: equal numbers are not told apart
    mean: Array  # of each level; empty for categories


def _tie(view: View, g: IntArray) -> Tie:
    """Share and roughness of a column over the levels g = 0, 1, ... in the order of values."""
    if view.numbers is not None:
        seen = np.isfinite(view.numbers)
        x, level = view.numbers[seen], g[seen]
        x = (x - x.mean()) / (x.std() or 1.0)
        count = np.bincount(level, minlength=int(g.max()) + 1)
        known = count > 0
        mean = np.bincount(level, x, minlength=len(count)) / np.maximum(count, 1)
        within, total = float(((x - mean[level]) ** 2).sum()), float(x @ x)
        M = mean[known][:, None]
        error = np.sqrt(within / max(len(x) - known.sum(), 1))
        told = np.round(mean / max(2 * error, 1e-9)).astype(np.int64)
        return Tie(_share(within, total, len(x), int(known.sum())), _roughness(M), told, mean)
    codes: IntArray = view.codes  # type: ignore[assignment]
    L, K, n = int(g.max()) + 1, int(codes.max()) + 1, len(g)
    pair, counts = np.unique(g * K + codes, return_counts=True)
    size = np.bincount(g, minlength=L)
    within = n - float((counts**2 / size[pair // K]).sum())
    share = np.bincount(codes) / n
    total = n * (1 - float(share @ share))
    order = np.argsort(counts, kind="stable")
    told = np.zeros(L, dtype=np.int64)
    told[pair[order] // K] = pair[order] % K  # the commonest comes last
    M = np.zeros((L, min(K, WIDE)))
    near = pair % K < WIDE
    M[pair[near] // K, pair[near] % K] = counts[near] / size[pair[near] // K]
    return Tie(_share(within, total, n, L), _roughness(M), told, np.empty(0))


def _share(within: float, total: float, n: int, levels: int) -> float:
    if total <= 0 or n <= levels + 1:
        return 0.0
    return 1 - (within / (n - levels)) / (total / (n - 1))


def _roughness(M: Array) -> float:
    """Von Neumann's ratio of the rows of M.

    >>> _roughness(np.arange(20.0)[:, None]) < 0.1, _roughness(np.eye(20)) > 1.9
    (True, True)
    """
    total = float(((M - M.mean(axis=0)) ** 2).sum())
    return float((np.diff(M, axis=0) ** 2).sum()) / total if total > 0 else 0.0


def _judged(
    name: str, columns: dict[str, Column], names: list[str], goal_name: str, rows: IntArray
) -> Owner | None:
    """Whether the levels of a column own their rows."""
    at, g = _some_levels(columns[name], rows)
    views = {n: v for n in names[:MOST_COLUMNS] if (v := _view(columns[n], at)) is not None}
    target = _view(columns[goal_name], at)
    size = np.bincount(g)
    L, n = len(size), len(g)
    if LEAST_LEVELS > L or n < LEAST_ROWS * L or (size > 1).sum() < L / 2:
        return None
    others = [n for n in views if n != name and not _alias(views[n], g)]
    if columns[name].kind == "number" and all(
        _repeats(view, g) for view in (*(views[other] for other in others), target) if view
    ):
        return None  # whole rows come back: copies, which are kept together in any case
    ties = {other: _tie(views[other], g) for other in others}
    fixed = [other for other in others if ties[other].share >= OWN]
    goal = None if target is None else _tie(target, g)
    varying = [tie for other, tie in ties.items() if other not in fixed]
    profile = _profiles([ties[other].told for other in fixed], L)
    if not _are_codes(columns[name], varying + ([] if goal is None else [goal]), profile):
        return None
    own = [other for other in fixed if ties[other].rough >= ROUGH]
    if own and _told_apart(own, ties) >= TOLD_APART * L:
        firm = [other for other in own if _repeats(views[other], g)]
        names_alone = len(firm) == 1 and views[firm[0]].numbers is None
        if firm and not names_alone and _told_apart(firm, ties) >= TOLD_APART * L:
            return Owner(name, L, "own", tuple(own))
        if goal is not None and goal.share >= ALIKE:
            return Owner(name, L, "own", tuple(own))
    if target is None or goal is None:
        return None
    for other in others:
        if _is_occasion(views[other], g) and _has_effect(
            target, g, views[other], profile, fixed=bool(fixed)
        ):
            return Owner(name, L, "occasion", tuple(fixed), other)
    if goal.rough < ROUGH or L < MANY_LEVELS:
        return None
    least = SIMILAR if goal.share >= OWN else ALIKE
    alike = [other for other in others if ties[other].share >= least]
    called = target.column.name
    if goal.share >= least and alike and len(alike) >= len(others) / 2:
        return Owner(name, L, "alike", (*alike, called))
    if goal.share >= OWN and int((np.diff(g) != 0).sum()) == L - 1:
        return Owner(name, L, "blocks", (called,))
    return None


def _told_apart(names: list[str], ties: dict[str, Tie]) -> int:
    """How many levels these columns tell apart."""
    return len(np.unique(np.column_stack([ties[name].told for name in names]), axis=0))


def _repeats(view: View, g: IntArray) -> bool:
    """Whether nearly all rows of a level have one value.

    >>> from pellucid.study.reading.profiles import read_column
    >>> view = View(read_column(pl.Series([1.5])), np.array([1.5, 1.5, 2.5, 2.6]), None)
    >>> _repeats(view, np.array([0, 0, 1, 1])), _repeats(view, np.array([0, 0, 1, 2]))
    (False, True)
    """
    if view.numbers is not None:
        seen = np.isfinite(view.numbers)
        level, codes = g[seen], np.unique(view.numbers[seen], return_inverse=True)[1]
    else:
        level, codes = g, np.asarray(view.codes)
    K = int(codes.max()) + 1
    pair, counts = np.unique(level * K + codes, return_counts=True)
    most = np.zeros(int(g.max()) + 1, dtype=np.intp)
    np.maximum.at(most, pair // K, counts)
    return bool(most.sum() >= REPEATED * len(level))


def _alias(view: View, g: IntArray) -> bool:
    """Another name for the same levels: text or running numbers, (almost) one to one."""
    if view.codes is None:
        order = view.column.order
        x: Array = view.numbers  # type: ignore[assignment]
        if view.column.kind != "whole" or order is None or not np.isfinite(x).all():
            return False
        codes = np.unique(x, return_inverse=True)[1]
        if order.high - order.low >= 2 * len(np.unique(codes)):
            return False
    else:
        codes = view.codes
    L, K = int(g.max()) + 1, int(codes.max()) + 1
    return min(L, K) >= 0.8 * max(L, K) >= 0.7 * len(np.unique(g * K + codes))


def _profiles(told: list[IntArray], L: int) -> IntArray:
    """A number for what each level has fixed, all 0 where that is nothing or tells most apart.

    Codes are often given out in the order of a treatment or a site; what is to be rough or
    unrelated to the code is compared within these.
    """
    if not told:
        return np.zeros(L, dtype=np.intp)
    found = np.unique(np.column_stack(told), axis=0, return_inverse=True)[1].ravel()
    return found if found.max() < L / 6 else np.zeros(L, dtype=np.intp)


def _within(mean: Array, profile: IntArray) -> Array:
    return mean - (np.bincount(profile, mean) / np.bincount(profile))[profile]


def _are_codes(column: Column, varying: list[Tie], profile: IntArray) -> bool:
    """Names, or numbers whose size says little about what varies within them."""
    if column.kind == "category":
        return True
    L, order = len(profile), column.order if column.kind == "whole" else None
    running = order is not None and order.high - order.low < 2 * L
    limit = max(RELATED[running], LUCK / np.sqrt(L - 1))
    sizes = [tie.mean for tie in varying if len(tie.mean) == L and tie.share > 0.05]
    return all(abs(_rank_correlation(_within(mean, profile))) < limit for mean in sizes)


def _rank_correlation(mean: Array) -> float:
    """Of level means with the order of the levels."""
    rank = average_ranks(mean)
    return float(np.corrcoef(rank, np.arange(len(mean)))[0, 1]) if np.ptp(rank) > 0 else 0.0


def _is_occasion(view: View, g: IntArray) -> bool:
    """Does each level meet each of several numbers about once?"""
    if view.numbers is None or not np.isfinite(view.numbers).all():
        return False
    value = np.unique(view.numbers, return_inverse=True)[1]
    T, L, n = int(value.max()) + 1, int(g.max()) + 1, len(g)
    if T < 3 or n < FILLED * L * T:
        return False
    return len(np.unique(g * T + value)) >= 0.98 * n


def _has_effect(
    target: View, g: IntArray, occasion: View, profile: IntArray, *, fixed: bool
) -> bool:
    """Does the level matter for the target beside the occasion, and not as a quantity does?"""
    if target.numbers is None:
        tie = _tie(target, g)
    else:
        times: Array = occasion.numbers  # type: ignore[assignment]
        value = np.unique(times, return_inverse=True)[1]
        y = np.nan_to_num(target.numbers - np.nanmean(target.numbers))
        y = y - (np.bincount(value, y) / np.bincount(value))[value]
        tie = _tie(target._replace(numbers=y), g)
    L, n = int(g.max()) + 1, len(g)
    between = (n - 1 - (n - L) * (1 - tie.share)) / (L - 1)  # mean square, in total variances
    strong = L > CALENDAR and between >= EFFECT * (1 - tie.share)
    rough = tie.rough
    if len(tie.mean) == L:
        rough = _roughness(_within(tie.mean, profile)[:, None])
    balanced = fixed and between < EVEN  # each has the same share, as of one choice among four
    return balanced or (rough >= ROUGH and (fixed or strong))
