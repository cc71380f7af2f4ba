r"""Findings about the target, PEL201 to PEL208, on the rows that may be looked at.

Equal inputs with different targets bound every model's training error from below: of a group of
equal rows with class counts n_k, at least n - max_k n_k are wrong; of numbers, the squares within
the group remain.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.study.checks.data import is_identifier
from pellucid.study.checks.findings import finding
from pellucid.study.reading.equality import comparable, first_equal
from pellucid.study.reading.profiles import Column, read_column
from pellucid.study.reading.tasks import rare_share
from pellucid.study.records import Finding, Task

SKEWED = 2.0
FEW = 5  # rows of a class
GRAVE = 0.05  # share of rows, or of variance, that no model can get right


class Target(NamedTuple):
    """The labelled rows that may be looked at, and their targets."""

    name: str
    rows: IntArray
    codes: IntArray | None  # class numbers, for classes
    values: Array | None  # numbers
    classes: tuple[Any, ...]


def read_targets(column: Column, task: Task, rows: IntArray | None) -> list[Target]:
    """A target column as class numbers or as numbers; of lists, each common label by itself."""
    labelled = column.cells.is_not_null().to_numpy()
    if column.numbers is not None:
        labelled = labelled & np.isfinite(column.numbers)
    keep = np.flatnonzero(labelled) if rows is None else rows[labelled[rows]]
    if column.kind == "list":
        return [_label_target(column, label, keep) for label, _ in column.counts]
    two_valued = task.kind == "multilabel" and column.distinct <= 2
    if task.kind in ("binary", "multiclass") or two_valued:
        values, codes = _encoded(column.cells.gather(keep))
        return [Target(column.name, keep, codes, None, tuple(values))]
    if column.numbers is None:
        return []
    return [Target(column.name, keep, None, column.numbers[keep], ())]


def _label_target(column: Column, label: str, rows: IntArray) -> Target:
    """Whether the list of each row holds a label."""
    cells = column.cells.gather(rows)
    if cells.dtype != pl.List:
        cells = cells.str.split(";").list.eval(pl.element().str.strip_chars())
    held = cells.cast(pl.List(pl.String)).list.contains(label).to_numpy()
    return Target(f"{column.name}: {label}", rows, held.astype(np.intp), None, (False, True))


def _encoded(cells: pl.Series) -> tuple[list[Any], IntArray]:
    """Sorted distinct values and the number of each cell's value."""
    values = cells.unique().sort()
    codes = cells.rank("dense").to_numpy().astype(np.intp) - 1 if len(cells) else np.zeros(0, int)
    return values.to_list(), codes


def gathered(column: Column, rows: IntArray | None) -> Column:
    """The column read again in these rows."""
    return column if rows is None else read_column(column.cells.gather(rows))


def check_target(
    column: Column, target: Target | None, task: Task, n_rows: int, rows: IntArray | None
) -> list[Finding]:
    """PEL201 to PEL207 of one target column."""
    found = []
    if column.missing:
        share = column.missing / n_rows
        grave = "warning" if share > 0.5 else "info"
        found.append(
            finding("PEL201", column.name, severity=grave, rows=column.missing, share=share)
        )
    if task.alternatives and task.kind not in ("clustering", "anomaly"):
        found.append(
            finding(
                "PEL207",
                column.name,
                task=task.kind,
                alternatives=list(task.alternatives),
                values=column.distinct,
            )
        )
    if target is None or not len(target.rows):
        return found
    seen = gathered(column, rows)
    if seen.distinct <= 1:
        value = seen.counts[0][0] if seen.counts else None
        return [*found, finding("PEL204", column.name, value=value, rows=len(target.rows))]
    if _names_rows(seen):
        return [*found, finding("PEL205", column.name, distinct=seen.distinct, rows=seen.filled)]
    if target.codes is not None:
        return found + _class_findings(target)
    return found + _skew(target)


def _names_rows(column: Column) -> bool:
    if column.kind in ("category", "text") and column.filled >= 20:
        return column.distinct > 0.95 * column.filled
    return is_identifier(column, rising=False)


def _class_findings(target: Target) -> list[Finding]:
    """PEL202 and PEL203."""
    counts = np.bincount(target.codes, minlength=len(target.classes))  # type: ignore[arg-type]
    n, k = int(counts.sum()), len(counts)
    found = []
    sizes = {str(label): int(c) for label, c in zip(target.classes, counts, strict=True)}
    if counts.min() < rare_share(k) * n:
        least = str(target.classes[int(counts.argmin())])
        found.append(
            finding(
                "PEL202",
                target.name,
                minority=least,
                share=int(counts.min()) / n,
                below=rare_share(k),
                counts=sizes,
            )
        )
    few = {label: c for label, c in sizes.items() if c < FEW}
    if few:
        one = finding("PEL203", target.name, rows=few)
        found.append(one if len(sizes) > 2 else one._replace(fix="Collect more rows of it."))
    return found


def _skew(target: Target) -> list[Finding]:
    """PEL206: the third standardised moment."""
    y = target.values
    z = y - y.mean()  # type: ignore[union-attr]
    sd = float(np.sqrt((z**2).mean()))
    skewness = float(((z / sd) ** 3).mean()) if sd > 0 else 0.0
    if abs(skewness) <= SKEWED:
        return []
    positive = bool(y.min() > 0)  # type: ignore[union-attr]
    found = finding("PEL206", target.name, skewness=skewness, all_positive=positive)
    return [found if positive else found._replace(fix=f"{found.fix.split(';')[0]}.")]


def contradictions(columns: Sequence[Column], target: Target) -> list[Finding]:
    """PEL208: equal inputs, different targets."""
    if not columns or len(target.rows) < 2:
        return []
    cells = comparable(columns)
    if len(target.rows) < cells.height:
        cells = cells[target.rows]
    first = first_equal(cells)
    group, size = np.unique(first, return_inverse=True, return_counts=True)[1:]
    shared = size[group] > 1
    if not shared.any():
        return []
    group = np.unique(group[shared], return_inverse=True)[1]
    n = len(target.rows)
    if target.codes is not None:
        wrong, rows = _wrong(group, target.codes[shared])
        if not wrong:
            return []
        grave = "warning" if wrong / n >= GRAVE else "info"
        evidence = {"rows": rows, "least_errors": wrong, "least_error_rate": wrong / n}
        return [finding("PEL208", target.name, severity=grave, **evidence)]
    y = target.values[shared]  # type: ignore[index]
    size = np.bincount(group)
    mean = np.bincount(group, y) / size
    squares = np.bincount(group, (y - mean[group]) ** 2)
    differs = np.zeros(len(size), dtype=bool)
    differs[group[y != y[np.unique(group, return_index=True)[1]][group]]] = True
    if not differs.any():
        return []
    all_squares = float(((target.values - target.values.mean()) ** 2).sum())  # type: ignore[union-attr]
    within = float(squares[differs].sum())
    share = within / all_squares if all_squares > 0 else 0.0
    evidence = {
        "rows": int(size[differs].sum()),
        "least_rmse": float(np.sqrt(within / n)),
        "greatest_r2": 1 - share,
    }
    grave = "warning" if share >= GRAVE else "info"
    return [finding("PEL208", target.name, severity=grave, **evidence)]


def _wrong(group: IntArray, y: IntArray) -> tuple[int, int]:
    """Rows that the commonest class of their group gets wrong, and rows of mixed groups."""
    k = int(y.max()) + 1
    pair, count = np.unique(group * k + y, return_counts=True)
    owner = pair // k
    size, best = np.bincount(owner, count), np.zeros(int(owner.max()) + 1)
    np.maximum.at(best, owner, count)
    return int((size - best).sum()), int(size[size > best].sum())
