"""Findings about the table itself, PEL101 to PEL117; none of them asks what tells of the target."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.algebra.linalg import EPS
from pellucid.core.algebra.relations import exact_relations
from pellucid.core.arrays.typing import Array, BoolArray
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.study.checks.column_rows import level_names
from pellucid.study.checks.findings import finding
from pellucid.study.reading.equality import Copies
from pellucid.study.reading.number_forms import PLAIN
from pellucid.study.reading.profiles import NUMBERS, Column, clock_unit, moment_name
from pellucid.study.reading.refusals import LARGEST
from pellucid.study.records import Finding

LEAST = 20  # rows: fewer are too few to call a column an identifier
DISTINCT_SHARE = 0.95
MANY_LEVELS = 50
MOST_SPELLED = 2000  # levels of a column that people have spelled
NEARLY = 0.995
CONDITION, INFLATION = 30.0, 10.0
SCALES = 1000.0
MOST_COLUMNS = 1500  # columns of a correlation matrix that is affordable
ENOUGH_ROWS = 20_000  # rows that settle whether a linear relation may be exact; all rows confirm it
YEARS = (1600, 2100)
MOST_RELATIONS = 20
MANY_ROWS = 50_000  # rows that settle a correlation


HALF = (
    "Ask why more than half is missing, or drop the column. Until then a gap is filled with the "
    "median and marked, or becomes a level of its own."
)


COARSE_ROWS = "Where columns have few values, different rows agree by chance."
ALONE = "Nothing: each counts as a row of its own. Remove them if they are an accident after all."


class Sheet(NamedTuple):
    """The table as the checks see it."""

    columns: dict[str, Column]
    inputs: tuple[str, ...]  # not the target, time, groups, query or dropped columns
    copies: Copies
    n_rows: int
    identifiers: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()  # by the plan


Check = Callable[[Sheet], list[Finding]]


def check_data(sheet: Sheet) -> list[Finding]:
    """Everything about the columns but the target's relation to them."""
    found: list[Finding] = []
    for test in (missing, constant, repeated, levels, extremes, mixed, written, spelled, dates):
        found += test(sheet)
    if sheet.identifiers:
        found.append(_identifier_finding(sheet, sheet.identifiers))
    named = set(sheet.identifiers)
    useful = [n for n in sheet.inputs if n not in named and sheet.columns[n].distinct > 1]
    found += shape(useful, sheet.n_rows)
    with single_threaded_blas():
        return found + linear(sheet, [n for n in useful if sheet.columns[n].kind in NUMBERS])


def missing(sheet: Sheet) -> list[Finding]:
    """PEL101: which columns have gaps, the wide ones apart."""
    n = sheet.n_rows
    share = {name: sheet.columns[name].missing / n for name in sheet.inputs}
    found = []
    for severity, low, high in (("warning", 0.5, 1.0), ("info", 0.0, 0.5)):
        some = {name: s for name, s in share.items() if low < s <= high and s < 1}
        if some:
            some = dict(sorted(some.items(), key=lambda pair: -pair[1]))
            cells = sum(sheet.columns[name].missing for name in some)
            one = finding("PEL101", some, severity=severity, share=some, cells=cells)
            found.append(one._replace(fix=HALF) if severity == "warning" else one)
    return found


def is_constant(column: Column) -> bool:
    return column.distinct <= 1 and column.missing in (0, len(column.cells))


def constant(sheet: Sheet) -> list[Finding]:
    """PEL102 and PEL103. One value with gaps varies by its gaps: it is not constant."""
    found = []
    columns = [sheet.columns[name] for name in sheet.inputs]
    still = {c.name: c.counts[0][0] if c.counts else None for c in columns if is_constant(c)}
    if still:
        found.append(finding("PEL102", still, value=still))
    top = {c.name: _top(c) / c.filled for c in columns if c.distinct > 1}
    nearly = {name: share for name, share in top.items() if share > NEARLY}
    if nearly:
        found.append(finding("PEL103", nearly, share=nearly))
    return found


def _top(column: Column) -> int:
    if column.order is not None:
        return column.order.top
    return column.counts[0][1] if column.counts and column.kind != "list" else 0


def repeated(sheet: Sheet) -> list[Finding]:
    """PEL104: rows that repeat another."""
    copies = sheet.copies
    if not copies.surplus:
        return []
    share = copies.surplus / sheet.n_rows
    grave = share >= 0.01 and not copies.by_chance
    first = np.flatnonzero(copies.first != np.arange(sheet.n_rows))[:5]
    found = finding(
        "PEL104",
        severity="warning" if grave else "info",
        rows=copies.surplus,
        share=share,
        expected_by_chance=copies.expected,
        by_chance=copies.by_chance,
        examples=[[int(copies.first[row]), int(row)] for row in first],
    )
    return [found._replace(why=COARSE_ROWS, fix=ALONE) if copies.by_chance else found]


def identifiers(sheet: Sheet) -> list[str]:
    """PEL105: columns that name their rows; copies of rows count once.

    Rows that chance makes equal are no copies: the age in a table of ages and a class comes back.
    """
    if sheet.n_rows < LEAST:
        return []
    rows = sheet.copies.first == np.arange(sheet.n_rows) if sheet.copies.real else None
    return [name for name in sheet.inputs if is_identifier(sheet.columns[name], rows)]


def is_identifier(column: Column, rows: BoolArray | None = None, *, rising: bool = True) -> bool:
    """Different in (almost) every row, and a name rather than a measurement.

    >>> import polars as pl
    >>> from pellucid.study.reading.profiles import read_column
    >>> is_identifier(read_column(pl.Series([f"A{i:04}" for i in range(40)])))
    True
    """
    n = column.filled
    if rows is not None:
        n = int((rows & column.cells.is_not_null().to_numpy()).sum())
    if n < LEAST:
        return False
    if column.kind == "category":
        amounts = column.strays is not None and column.strays.mixed
        return column.distinct > DISTINCT_SHARE * n and not amounts
    if column.kind != "whole" or column.distinct < n or column.order is None:
        return False
    x = cells_in(column, rows)
    x = x[~np.isnan(x)]
    if time_like(column, x):
        return False
    span = column.order.high - column.order.low + 1
    counted = rising and column.cells.dtype.is_integer()  # a measurement may be sorted too
    return span < 2 * n or (counted and bool((np.diff(x) > 0).all()))


def time_like(column: Column, x: Array) -> str:
    """Years, or a count since 1970, that rise from row to row are a time; '' if they are not."""
    if column.order is None or column.kind != "whole":
        return ""
    ends = (column.order.low, column.order.high)
    unit = clock_unit(*ends)
    name = f"{unit} since 1970" if unit else ""
    if YEARS[0] <= ends[0] and ends[1] <= YEARS[1]:
        name = "year"
    return name if column.distinct >= 10 and bool((np.diff(x) >= 0).all()) else ""


def _identifier_finding(sheet: Sheet, names: Sequence[str]) -> Finding:
    some = {name: sheet.columns[name].distinct for name in names}
    examples = {name: [str(c) for c in sheet.columns[name].cells.head(3)] for name in names}
    return finding("PEL105", names, distinct=some, rows=sheet.n_rows, examples=examples)


def levels(sheet: Sheet) -> list[Finding]:
    """PEL106, identifiers apart."""
    named = set(sheet.identifiers)
    many = {
        name: sheet.columns[name].distinct
        for name in sheet.inputs
        if sheet.columns[name].kind == "category"
        and sheet.columns[name].distinct > MANY_LEVELS
        and name not in named
    }
    return [finding("PEL106", many, levels=many)] if many else []


def extremes(sheet: Sheet) -> list[Finding]:
    """PEL112: codes that stand for missing cells, and cells far from all others."""
    codes: dict[str, Any] = {}
    far: dict[str, Any] = {}
    for name in sheet.inputs:
        order = sheet.columns[name].order
        if order is None or sheet.columns[name].kind not in NUMBERS:
            continue
        if order.codes:
            codes[name] = {f"{value:g}": count for value, count in order.codes}
        if order.infinite:
            codes.setdefault(name, {})["infinite"] = order.infinite
        if order.far:
            bounds = {"low": order.far_low, "high": order.far_high}
            far[name] = {"cells": order.far, "share": order.far / order.n, "bounds": bounds}
    found = []
    if codes:
        found.append(finding("PEL112", codes, severity="warning", sentinels=codes))
    if far:
        found.append(finding("PEL112", far, outliers=far))
    return found


def mixed(sheet: Sheet) -> list[Finding]:
    """PEL113: numbers and text in one column."""
    some = {n: s for n, c in sheet.columns.items() if (s := c.strays) and n not in sheet.dropped}
    if not some:
        return []
    return [
        finding(
            "PEL113",
            some,
            numeric_share={name: s.numeric_share for name, s in some.items()},
            cells={name: s.cells for name, s in some.items()},
            examples={name: list(s.examples) for name, s in some.items()},
            rows={name: list(s.rows) for name, s in some.items()},
            read_as={name: sheet.columns[name].kind for name in some},
        )
    ]


def written(sheet: Sheet) -> list[Finding]:
    """PEL116: text that was read as numbers, and how; a warning where a mark was in doubt."""
    found = []
    some = {
        n: c for n, c in sheet.columns.items() if c.kind in NUMBERS and c.form not in ("", PLAIN)
    }
    for severity, doubt in (("warning", True), ("info", False)):
        forms = {n: c.form for n, c in some.items() if c.doubt == doubt and n not in sheet.dropped}
        if forms:
            found.append(finding("PEL116", forms, severity=severity, form=forms))
    return found


def spelled(sheet: Sheet) -> list[Finding]:
    """PEL117: yes, Yes and "yes " in one column."""
    some: dict[str, list[str]] = {}
    for name, column in sheet.columns.items():
        if column.kind != "category" or name in sheet.dropped or name in sheet.identifiers:
            continue
        if column.distinct > MOST_SPELLED:
            continue
        alike: dict[str, list[str]] = {}
        for level in level_names(column.cells):
            alike.setdefault(" ".join(level.split()).casefold(), []).append(level)
        same = [found for found in alike.values() if len(found) > 1]
        if same:
            some[name] = [" = ".join(repr(level) for level in found) for found in same]
    return [finding("PEL117", some, same=some)] if some else []


def dates(sheet: Sheet) -> list[Finding]:
    """PEL114: columns of dates; whether the rows are in their order."""
    some = {}
    for name, column in sheet.columns.items():
        form = time_form(column)
        if not form or column.order is None or column.distinct < 2:
            continue
        low: Any = column.order.low
        high: Any = column.order.high
        if column.kind == "date":
            low, high = (moment_name(cell) for cell in (column.cells.min(), column.cells.max()))
        some[name] = {"form": form, "low": low, "high": high, "in_row_order": in_row_order(column)}
    return [finding("PEL114", some, columns=some)] if some else []


def time_form(column: Column) -> str:
    """How a column of times is written; '' where it is none."""
    if column.kind == "date":
        return column.form or "date"
    if column.kind == "whole" and column.numbers is not None:
        return time_like(column, column.numbers[~np.isnan(column.numbers)])
    return ""


def in_row_order(column: Column) -> bool:
    """Do the rows follow the times, with at least ten different ones?"""
    if column.numbers is None or column.distinct < 10:
        return False
    x = column.numbers[~np.isnan(column.numbers)]
    return bool((np.diff(x) >= 0).all())


def shape(useful: Sequence[str], n: int) -> list[Finding]:
    """PEL110, PEL111, PEL115: rows against columns."""
    p = len(useful)
    found = []
    if p >= n > 0:
        found.append(finding("PEL110", rows=n, columns=p))
    elif n < 10 * p:
        found.append(finding("PEL111", rows=n, columns=p, rows_per_column=n / p))
    if p and 0.01 ** (1 / p) > 0.5:
        found.append(finding("PEL115", columns=p, edge=0.01 ** (1 / p)))
    return found


# --- linear relations between numeric columns


def linear(sheet: Sheet, names: list[str]) -> list[Finding]:
    """PEL107, PEL108, PEL109 of the numeric columns that vary, and whose squares are numbers."""
    names = [n for n in names if largest(sheet.columns[n]) <= LARGEST]
    sd = {n: sheet.columns[n].order.sd for n in names}  # type: ignore[union-attr]
    found = []
    if len(sd) > 1 and max(sd.values()) > SCALES * min(sd.values()):
        ends = (min(sd, key=sd.__getitem__), max(sd, key=sd.__getitem__))
        ratio = sd[ends[1]] / sd[ends[0]] if sd[ends[0]] else None
        found.append(finding("PEL109", ends, sds={n: sd[n] for n in ends}, ratio=ratio))
    if len(names) < 2 or sheet.n_rows < 3:
        return found
    relations, independent = collinear(sheet, names)
    found += relations
    return found + correlated(sheet, independent)


def largest(column: Column) -> float:
    order = column.order
    return 0.0 if order is None else max(abs(order.low), abs(order.high))


def cells_in(column: Column, rows: BoolArray | None = None) -> Array:
    """The numbers of a numeric column in these rows; None for all."""
    x: Any = column.numbers
    return x if rows is None else x[rows]


def matrix(
    columns: dict[str, Column], names: Sequence[str], rows: BoolArray | None = None
) -> Array:
    """Numeric columns side by side, rows with a gap (or infinity) left out."""
    X = np.column_stack([cells_in(columns[n], rows) for n in names])
    complete = np.isfinite(X).all(axis=1)
    return X if complete.all() else X[complete]


def spaced(n: int, most: int) -> Any:
    """At most so many evenly spaced rows; None for all."""
    return None if n <= most else np.linspace(0, n - 1, most).astype(np.intp)


def collinear(sheet: Sheet, names: list[str]) -> tuple[list[Finding], list[str]]:
    """PEL107: one finding per relation, and the columns that are left independent.

    Columns with many gaps are looked at in the rows that all share; with at least as many columns
    as rows every column depends on the others, and only copies of a column are named.
    """
    full = [n for n in names if sheet.columns[n].order.n >= 0.8 * sheet.n_rows]  # type: ignore[union-attr]
    if len(full) < 2 or len(full) > MOST_COLUMNS:
        return _copied(sheet, names)
    X = matrix(sheet.columns, full, spaced(sheet.n_rows, ENOUGH_ROWS))
    if len(X) < len(full) + 3:
        return _copied(sheet, names)
    result = exact_relations(X, intercept=True)
    found, dependent = [], set()
    for relation in result.relations:
        if not relation.coefficients:
            continue
        members = (relation.column, *relation.coefficients)
        where = tuple(full[j] for j in sorted(members))
        if sheet.n_rows > ENOUGH_ROWS and not _holds(sheet, full, relation):
            continue
        dependent.add(full[relation.column])
        found.append(finding("PEL107", where, relation=relation.sentence(tuple(full))))
    rest = [n for n in names if n not in dependent]
    if len(found) > MOST_RELATIONS:
        where = tuple(sorted({n for item in found for n in item.where}))
        texts = [item.evidence["relation"] for item in found]
        found = [finding("PEL107", where, relations=texts)]
    return found, rest


def _holds(sheet: Sheet, names: list[str], relation: Any) -> bool:
    """Does a relation found in some rows hold in all of them?"""
    members = [relation.column, *relation.coefficients]
    X = matrix(sheet.columns, [names[j] for j in members])
    c = np.array(list(relation.coefficients.values()))
    r = X[:, 0] - relation.intercept - X[:, 1:] @ c
    size = np.abs(X[:, 0]).max() + np.abs(X[:, 1:]).max(axis=0) @ np.abs(c)
    return bool(np.abs(r).max() <= 1e4 * len(members) * EPS * size)


def _copied(sheet: Sheet, names: list[str]) -> tuple[list[Finding], list[str]]:
    """Columns that equal an earlier one cell by cell."""
    first: dict[bytes, str] = {}
    pairs: dict[str, list[str]] = {}
    for name in names:
        x = cells_in(sheet.columns[name])
        original = first.setdefault((x + 0.0).tobytes(), name)
        if original != name:
            pairs.setdefault(original, [original]).append(name)
    found = [
        finding("PEL107", tuple(group), relation=" = ".join(group)) for group in pairs.values()
    ]
    copies = {name for group in pairs.values() for name in group[1:]}
    return found[:MOST_RELATIONS], [n for n in names if n not in copies]


def correlated(sheet: Sheet, names: list[str]) -> list[Finding]:
    """PEL108: condition number and variance inflation from one correlation matrix."""
    names = [n for n in names if sheet.columns[n].order.n >= 0.8 * sheet.n_rows]  # type: ignore[union-attr]
    if not 2 <= len(names) <= MOST_COLUMNS:
        return []
    X = matrix(sheet.columns, names, spaced(sheet.n_rows, MANY_ROWS))
    if len(X) < 2 * len(names) + 3:
        return []
    sd = X.std(axis=0)
    alive = sd > 0
    names = [n for n, kept in zip(names, alive, strict=True) if kept]
    if len(names) < 2:
        return []
    Z = (X[:, alive] - X[:, alive].mean(axis=0)) / sd[alive]
    R = Z.T @ Z / len(Z)
    value, vector = np.linalg.eigh(R)
    value = np.maximum(value, len(R) * EPS * value[-1])
    condition = float(np.sqrt(value[-1] / value[0]))
    inflation = (vector**2 / value) @ np.ones(len(value))  # diagonal of the inverse
    if condition <= CONDITION and inflation.max() <= INFLATION:
        return []
    chosen = inflation > INFLATION
    if not chosen.any():
        chosen = np.abs(vector[:, 0]) > 0.3
    order = [j for j in np.argsort(-inflation, kind="stable") if chosen[j]]
    vif = {names[j]: float(inflation[j]) for j in order}
    strongest = _strongest(R, names)
    evidence: dict[str, Any] = {
        "condition_number": condition,
        "variance_inflation": vif,
        "strongest": strongest,
    }
    if sheet.n_rows > len(Z):
        evidence["rows"] = len(Z)
    return [finding("PEL108", tuple(vif), **evidence)]


def _strongest(R: Array, names: list[str]) -> dict[str, Any]:
    """The pair with the largest correlation."""
    off = np.abs(R) - np.eye(len(R))
    i, j = divmod(int(off.argmax()), len(R))
    return {"columns": [names[min(i, j)], names[max(i, j)]], "correlation": float(R[i, j])}
