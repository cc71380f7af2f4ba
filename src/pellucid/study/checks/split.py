"""Findings about the split, PEL303, PEL304 and PEL308: rows that should not be on both sides."""

import numpy as np

from pellucid.study.checks.data import in_row_order, time_form
from pellucid.study.checks.findings import finding
from pellucid.study.reading.equality import Copies
from pellucid.study.reading.profiles import Column
from pellucid.study.records import Finding, Plan, SplitRecord, Task
from pellucid.study.splits.owners import near_copies

MANY = 10  # levels
PARTED = "The order of time, or the groups, part them: remove them if they are an accident."


def split_findings(
    columns: dict[str, Column], copies: Copies, task: Task, plan: Plan, split: SplitRecord
) -> list[Finding]:
    """What a split does to copies, to time and to groups."""
    found = []
    if copies.real:
        across = straddling(copies, split)
        grave = "warning" if across else "info"
        one = finding("PEL303", severity=grave, rows=copies.surplus, on_both_sides=across)
        found.append(one._replace(fix=PARTED) if across else one)
    found += _found_groups(columns, plan, split)
    if split.kind not in ("random", "stratified"):
        return found
    rows = np.sort(np.concatenate([split.train, split.test]))
    near = len(rows) - len(np.unique(near_copies(columns, task, plan, rows)))
    if near and not copies.real:
        found.append(finding("PEL303", severity="warning", rows=near, on_both_sides=0, nearly=True))
    asked = {n: c for n, c in columns.items() if n not in task.target and n not in plan.drop}
    times = [n for n, c in asked.items() if time_form(c) and c.distinct >= 10]
    if times:
        order = {n: in_row_order(columns[n]) for n in times}
        grave = "warning" if any(order.values()) else "info"
        found.append(finding("PEL304", times, severity=grave, looks_like="time", in_order=order))
    kept = {
        n: c
        for n, c in asked.items()
        if n not in plan.keep and plan.groups is None and plan.known_groups is None
    }
    owners = {n: c.distinct for n, c in kept.items() if looks_like_groups(c)}
    if owners:
        found.append(finding("PEL304", owners, looks_like="groups", groups=owners))
    ranks = [n for n, c in asked.items() if n not in (*times, *owners) and _orders_rows(c)]
    if ranks:
        found.append(finding("PEL304", ranks, severity="info", looks_like="the order of the rows"))
    return found


def _orders_rows(column: Column) -> bool:
    """Do whole numbers that return (the days of hours) rise with the rows?"""
    returns = column.kind == "whole" and column.distinct < column.filled
    return returns and in_row_order(column)


def straddling(copies: Copies, split: SplitRecord) -> int:
    """Test rows that equal a training row."""
    side = np.zeros(len(copies.first), dtype=bool)
    side[split.train] = True
    taught = np.zeros(len(copies.first), dtype=bool)
    np.logical_or.at(taught, copies.first, side)
    return int(taught[copies.first[split.test]].sum())


def _found_groups(columns: dict[str, Column], plan: Plan, split: SplitRecord) -> list[Finding]:
    """PEL308: the groups were found, not named."""
    if split.kind != "groups" or split.groups in (None, plan.groups):
        return []
    column = columns[split.groups]
    n, rows = column.distinct, column.filled / max(column.distinct, 1)
    return [finding("PEL308", split.groups, groups=n, rows_per_group=rows, reason=split.reason)]


def looks_like_groups(column: Column) -> bool:
    """A column of codes whose values return, though nothing in the table belongs to them.

    Texts that differ in a number only, or running whole numbers in blocks of like size.

    >>> import polars as pl
    >>> from pellucid.study.reading.profiles import read_column
    >>> looks_like_groups(read_column(pl.Series("who", [i // 4 for i in range(80)])))
    True
    >>> looks_like_groups(read_column(pl.Series("grade", [i * i % 17 for i in range(80)])))
    False
    """
    n, levels = column.filled, column.distinct
    if levels < MANY or n < 2 * levels or column.missing:
        return False
    if column.kind == "category":
        patterns = column.cells.unique().str.replace_all(r"\d+", "0")
        return patterns.n_unique() == 1 and "0" in patterns[0]
    if column.kind != "whole" or column.order is None or column.numbers is None:
        return False
    running = column.order.high - column.order.low < 2 * levels
    runs = np.flatnonzero(np.diff(column.numbers)) + 1
    sizes = np.diff(np.r_[0, runs, n])
    return running and len(sizes) == levels and bool(sizes.var() < sizes.mean() / 4)
