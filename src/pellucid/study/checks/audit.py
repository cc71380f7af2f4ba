"""The audit: what is wrong or remarkable about a table, before anything is learned from it.

Every check is a function from the columns, read once, to findings (``data``,
``target``, ``leaks``). Whatever looks at the target sees the given rows only, in a
study the training rows. Columns that name their rows, give the target away, or never vary are left
out of the models of a study, and said to be.
"""

from collections.abc import Sequence

import polars as pl

from pellucid.core.arrays.typing import IntArray
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.data import load
from pellucid.data.loader import describe, known_columns, name_list
from pellucid.study.checks.data import (
    Sheet,
    check_data,
    identifiers,
    is_constant,
    largest,
    time_form,
)
from pellucid.study.checks.findings import Codes, code_set, sorted_findings
from pellucid.study.checks.leaks import (
    Sum,
    exact_sum,
    kept_finding,
    measured_columns,
    single_columns,
    single_finding,
    sum_finding,
    telling_columns,
)
from pellucid.study.checks.split import split_findings
from pellucid.study.checks.target import Target, check_target, contradictions, read_targets
from pellucid.study.reading.equality import Copies, digest, without_names
from pellucid.study.reading.profiles import Column, profiles, read_columns, typed_frame
from pellucid.study.reading.refusals import LARGEST
from pellucid.study.reading.tasks import detect_task
from pellucid.study.records import Audit, Finding, Plan, SplitRecord, Task
from pellucid.study.splits.owners import named_groups

JUDGED = ("binary", "multiclass", "regression")  # of these the folds ask where a score comes from
MOST_SUMS = 5  # relations of the target that are looked for one after the other


def audit(data: object, target: str | Sequence[str] | None = None, *, ignore: Codes = ()) -> Audit:
    """Look a table over: missing cells, identifiers, duplicates, leaks, a target that cannot work.

    Parameters
    ----------
    data : path, frame, dict, array or anything else that ``pellucid.data.load`` reads
    target : str or list of str, optional
        The column(s) to predict; without it only the columns themselves are looked at.
    ignore : codes, optional
        Findings not to report, such as ``["PEL101"]``.

    Returns
    -------
    Audit
        ``findings`` (gravest first), ``columns``, ``n_rows``, ``n_columns``, ``digest``.

    Examples
    --------
    >>> from pellucid.study import audit
    >>> table = {"x": [float(i) ** 2 for i in range(40)], "id": [f"P{i}" for i in range(40)],
    ...          "y": ["a", "b"] * 20}
    >>> [(f.code, f.where) for f in audit(table, "y").findings]
    [('PEL105', ('id',))]
    """
    raw = load(data)
    names = name_list(target, "target")
    known_columns(names, dict(raw.schema), describe(data))
    if not raw.height:
        raise ValueError("the table has no rows")
    columns = read_columns(raw)
    frame = typed_frame(raw, columns)
    task = (
        detect_task(frame[target] if isinstance(target, str) else frame[names])
        if names
        else (detect_task())
    )
    return audit_table(frame, task, ignore=ignore, bare=True, columns=columns)[0]


def audit_table(
    frame: pl.DataFrame,
    task: Task,
    plan: Plan | None = None,
    *,
    rows: IntArray | None = None,
    split: SplitRecord | None = None,
    ignore: Codes = (),
    bare: bool = False,
    columns: dict[str, Column] | None = None,
) -> tuple[Audit, tuple[tuple[str, str], ...]]:
    """The audit inside a study, and the columns to leave out, each with the reason.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    task : Task
        What is predicted, as ``detect_task`` gives it.
    plan : Plan, optional
        ``drop`` and ``keep`` overrule the audit; time, groups and query columns are no inputs.
    rows : array of row numbers, optional
        What looks at the target looks at these rows only; the training rows of ``split`` if that
        is given, else all.
    split : SplitRecord, optional
        Adds the findings about the split itself, PEL303 and PEL304.
    ignore : codes, optional
        A code that is ignored is neither reported nor acted upon.
    bare : bool, default=False
        Nothing is left out, because nothing is learned: leaks are errors.
    columns : dict, optional
        The columns as ``read_columns`` gives them, where they have been read before.

    Examples
    --------
    >>> import polars
    >>> from pellucid.study import Plan, audit_table, detect_task
    >>> y = [0, 1] * 20
    >>> frame = polars.DataFrame({"x": [i * i / 7 for i in range(40)], "copy": y, "y": y})
    >>> audit_table(frame, detect_task(frame["y"]), Plan())[1]
    (('copy', 'gives the target away (PEL301)'),)
    """
    plan = Plan() if plan is None else plan
    ignored = code_set(ignore)
    if rows is None and split is not None:
        rows = split.train
    given = plan
    groups = named_groups(plan, frame.columns) if split is None else split.groups
    plan = plan._replace(groups=groups)
    named = [n for n in (plan.time, plan.groups, plan.query) if n]
    known_columns([*task.target, *named, *plan.drop, *plan.keep], dict(frame.schema), "the table")
    columns = read_columns(frame) if columns is None else columns
    sheet = read_sheet(columns, task, plan, frame.height)
    left = Left(plan, bare, ignored)
    found = check_data(sheet)
    left.add(sheet.identifiers, "PEL105", "names the rows")
    still = [n for n in sheet.inputs if is_constant(columns[n])]
    left.add(still, "PEL102", "never varies")
    if task.target:
        found += target_findings(columns, sheet, task, rows, left)
    if split is not None:
        found += split_findings(columns, sheet.copies, task, given, split)
    roles = dict.fromkeys(task.target, "target") | dict.fromkeys(left.why, "left_out")
    for role in ("time", "groups", "query"):
        if getattr(plan, role):
            roles[getattr(plan, role)] = role
    record = Audit(
        sorted_findings(_without(found, left.why), ignored),
        profiles(columns.values(), roles, left.why),
        frame.height,
        frame.width,
        digest(columns.values()),
    )
    return record, tuple(left.why.items())


def _without(found: list[Finding], gone: dict[str, str]) -> list[Finding]:
    """The findings without the gaps (PEL101) of columns that no model sees."""
    kept = []
    for one in found:
        where = tuple(name for name in one.where if name not in gone)
        if one.code != "PEL101" or where == one.where:
            kept.append(one)
        elif where:
            share = {name: one.evidence["share"][name] for name in where}
            kept.append(one._replace(where=where, evidence=one.evidence | {"share": share}))
    return kept


class Left:
    """The columns to leave out, with the reason: what the plan keeps or the user ignores stays."""

    def __init__(self, plan: Plan, bare: bool, ignored: frozenset[str]) -> None:
        self.plan, self.bare, self.ignored = plan, bare, ignored
        self.why = {} if bare else dict.fromkeys(plan.drop, "dropped by the plan")

    def add(self, names: Sequence[str], code: str, why: str) -> bool:
        """Leave these columns out; False if one of them stays."""
        if self.bare or code in self.ignored:
            return False
        for name in names:
            if name not in self.plan.keep:
                self.why.setdefault(name, f"{why} ({code})")
        return not set(names) & set(self.plan.keep)


def read_sheet(columns: dict[str, Column], task: Task, plan: Plan, n_rows: int) -> Sheet:
    """The table for the checks; equal rows are judged without the columns that name them."""
    aside = {*task.target, plan.time, plan.groups, plan.query, *plan.drop}
    inputs = tuple(name for name in columns if name not in aside)
    copies = Copies(list(columns.values()))
    sheet = Sheet(columns, inputs, copies, n_rows, dropped=tuple(plan.drop))
    names = tuple(identifiers(sheet))
    named = set(names)
    if set(inputs) - named and named:
        rest = [columns[name] for name in columns if name not in named]
        copies = without_names(copies, rest)
    return sheet._replace(copies=copies, identifiers=names)


def target_findings(
    columns: dict[str, Column], sheet: Sheet, task: Task, rows: IntArray | None, left: Left
) -> list[Finding]:
    """PEL201 to PEL302, on the rows that may be looked at."""
    found: list[Finding] = []
    targets: list[Target] = []
    for name in task.target:
        some = read_targets(columns[name], task, rows)
        first = some[0] if len(some) == 1 else None
        found += check_target(columns[name], first, task, sheet.n_rows, rows)
        targets += some
    aside = {*left.why, *sheet.identifiers}
    usable = [n for n in sheet.inputs if n not in aside]
    asked = [columns[n] for n in usable if columns[n].distinct > 0]
    with single_threaded_blas():
        leaks = _leaks(asked, targets, left, folds=not left.bare and task.kind in JUDGED)
    if usable and all(n in left.why for n in usable) and not left.bare:
        for name in usable:  # without them nothing is left: kept, and doubted (``suspicion``)
            del left.why[name]
        leaks = [
            one._replace(severity="error", evidence=one.evidence | {"nothing_else": True})
            for one in leaks
        ]
    found += leaks
    if len(targets) == 1:
        inputs = [columns[n] for n in usable if n not in left.why]
        found += contradictions(inputs, targets[0])
    return found


def _leaks(asked: list[Column], targets: list[Target], left: Left, *, folds: bool) -> list[Finding]:
    """PEL301 and PEL302, for every target; a column of the first is not asked again.

    A time may rise with the target; what gives that away is only whether it is filled. ``folds``
    says that the folds of a study will ask about a measurement that tells the target. Numbers whose
    squares overflow, which a study refuses by name, are compared with nothing.
    """
    found: list[Finding] = []
    for target in targets:
        valued = [c for c in asked if not time_form(c) and largest(c) <= LARGEST]
        scores = {name: ("copy", s) for name, s in single_columns(valued, target).items()}
        scores = telling_columns(asked, target) | scores
        copies = [c for c in asked if folds and scores.get(c.name, ("",))[0] == "copy"]
        kept = measured_columns(copies, target) - {*left.plan.keep}
        for name, (how, score) in scores.items():
            if name in kept:
                found.append(kept_finding({name: score}, target))
                continue
            gone = left.add([name], "PEL301", "gives the target away")
            found.append(single_finding({name: score}, target, left_out=gone, how=how))
        asked = [column for column in asked if column.name not in scores]
        valued = [column for column in valued if column.name not in scores]
        for _ in range(MOST_SUMS):
            total: Sum | None = exact_sum(valued, target)
            if total is None:
                break
            gone = left.add(total.names, "PEL302", "is part of the target")
            found.append(sum_finding(total, left_out=gone))
            asked = [column for column in asked if column.name not in total.names]
            valued = [column for column in valued if column.name not in total.names]
    return found
