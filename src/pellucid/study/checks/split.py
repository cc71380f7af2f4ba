"""Findings about the split, PEL303 and PEL304: rows that should not be on both sides."""

import re

import numpy as np

from pellucid.study.checks.data import in_row_order, time_form
from pellucid.study.checks.findings import finding
from pellucid.study.reading.equality import Copies
from pellucid.study.reading.profiles import Column
from pellucid.study.records import Finding, Plan, SplitRecord, Task

OWNER = re.compile(
    r"(^|[^a-z])(id|ids|uuid|patient|subject|person|participant|user|customer|client|household|"
    r"family|group|session|device|animal|player|student|account|owner)([^a-z]|id$|$)"
)


def split_findings(
    columns: dict[str, Column], copies: Copies, task: Task, plan: Plan, split: SplitRecord
) -> list[Finding]:
    """What a split does to copies, to time and to groups."""
    found = []
    if copies.real:
        across = straddling(copies, split)
        grave = "warning" if across else "info"
        found.append(finding("PEL303", severity=grave, rows=copies.surplus, on_both_sides=across))
    if split.kind not in ("random", "stratified"):
        return found
    asked = {n: c for n, c in columns.items() if n not in task.target and n not in plan.drop}
    times = [n for n, c in asked.items() if time_form(c) and c.distinct >= 10]
    if times:
        order = {n: in_row_order(columns[n]) for n in times}
        grave = "warning" if any(order.values()) else "info"
        found.append(finding("PEL304", times, severity=grave, looks_like="time", in_order=order))
    owners = {n: c.distinct for n, c in asked.items() if looks_like_groups(c)}
    if owners:
        found.append(finding("PEL304", owners, looks_like="groups", groups=owners))
    return found


def straddling(copies: Copies, split: SplitRecord) -> int:
    """Test rows that equal a training row."""
    side = np.zeros(len(copies.first), dtype=bool)
    side[split.train] = True
    taught = np.zeros(len(copies.first), dtype=bool)
    np.logical_or.at(taught, copies.first, side)
    return int(taught[copies.first[split.test]].sum())


def looks_like_groups(column: Column) -> bool:
    """A column named after owners of rows, whose values return: several rows for most of them.

    >>> import polars as pl
    >>> from pellucid.study.reading.profiles import read_column
    >>> looks_like_groups(read_column(pl.Series("patient_id", [i // 4 for i in range(80)])))
    True
    """
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column.name).lower()
    if column.kind not in ("category", "whole") or not OWNER.search(name):
        return False
    return column.distinct >= 10 and column.filled >= 2 * column.distinct
