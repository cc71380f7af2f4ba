"""``pellucid evaluate MODEL DATA``: how good a saved model is on rows whose answers are known."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pellucid.cli.audit import keep, short
from pellucid.cli.shared.options import (
    Code,
    Stop,
    check_json,
    check_output,
    common,
    console,
    grid,
    print_json,
    sentence,
)
from pellucid.cli.shared.tables import (
    answering,
    check_columns,
    load_model,
    need_columns,
    read_costs,
    read_table,
)

if TYPE_CHECKING:
    from rich.console import Console

    from pellucid.study.saved.drift import ColumnDrift, DriftReport
    from pellucid.study.saved.evaluation import Judgement

MOST_CLASSES = 8  # of a confusion table on the terminal
SUMS = ("rss", "log_loss_sum")  # they grow with the rows; the JSON has them


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data")
@click.option("--target", "targets", multiple=True, help="Column with the answers.")
@click.option("--cost", type=click.Path(path_type=Path), help="CSV of costs: truth x decision.")
@click.option("--by", metavar="COL", help="Measure every group of this column.")
@click.option("--sql", help="Query, when DATA is a database URL.")
@common("json", "quiet", "threads", "out", "overwrite")
def evaluate(
    model: Path,
    data: str,
    targets: tuple[str, ...],
    cost: Path | None,
    by: str | None,
    sql: str | None,
    as_json: bool,
    quiet: bool,
    out: Path | None,
    overwrite: bool,
) -> None:
    """Score MODEL on DATA, with intervals, and compare DATA with the training rows.

    The target of the study is taken unless --target names another. --out FILE keeps the record
    as JSON.
    """
    if out is not None:
        check_json(out)
        check_output(out, overwrite)
    fitted = load_model(model)
    frame = read_table(data, sql)
    from pellucid.data.sql import without_password

    shown = without_password(data)
    if frame.height == 0:
        raise Stop(Code.TASK, f"{shown} has no rows")
    from pellucid.study.errors import TaskError
    from pellucid.study.saved.evaluation import judge
    from pellucid.study.saved.prediction import needed_columns, take_apart

    names = list(targets or take_apart(fitted).about.get("target") or [])
    if not names:
        raise click.UsageError("the model does not say what it predicts; name it with --target")
    check_columns(frame, [*names, *([by] if by else [])])
    needed = needed_columns(fitted) or []
    need_columns(needed, frame.columns)
    if taken := [name for name in names if name in needed]:
        text = f"{taken[0]!r} is a column the model predicts from, not what it predicts"
        raise Stop(Code.DATA, f"{text}; give --target the column of the true answers")
    costs = None if cost is None else read_costs(cost, getattr(fitted, "classes_", ()))
    try:
        with answering(model):
            found = judge(fitted, frame, names, cost_matrix=costs, by=by)
    except TaskError:
        raise
    except (ValueError, TypeError) as error:
        raise Stop(Code.DATA, f"{shown}: {sentence(error)}") from error
    if out is not None:
        keep(found, out)
    if as_json:
        print_json(found.to_dict())
    elif not quiet:
        show(found, model, shown)


def show(found: "Judgement", model: Path, data: str) -> None:
    """Measures, the sentence on change, confusion, groups, drift."""
    screen = console()
    target = ", ".join(short(name, 40) for name in found.task.target)
    line = f"{short(model, 40)} on {short(data, 40)}: {target} of {found.n:,} rows"
    left = f" ({found.unlabelled:,} without an answer left out)" if found.unlabelled else ""
    screen.print(line + left)
    if text := flattered(found):
        screen.print(text, style="yellow")
    if found.unknown:
        named = ", ".join(short(label, 20) for label in found.unknown[:5])
        screen.print(f"The model has never seen these classes, so it cannot name them: {named}")
    screen.print()
    screen.print(measures(found))
    for text in (together_sentence(found), change_sentence(found), cost_sentence(found)):
        if text:
            screen.print()
            screen.print(text)
    table = getattr(found.table, "confusion", None)
    if table is not None and len(table.labels) <= MOST_CLASSES:
        screen.print()
        screen.print(confusion(table))
    if found.by is not None:
        screen.print()
        screen.print(groups(found))
    if found.drift is not None:
        screen.print()
        show_drift(screen, found.drift)


def flattered(found: "Judgement") -> str:
    """Whether the model has learned from these rows, and which score to believe then."""
    met, text = found.overlap, ""
    if met is not None and met.beyond_chance:
        some = "all" if met.learned == met.checked else f"{100 * met.share:.0f} %"
        looked = "" if met.checked == found.n else f", by a sample of {met.checked:,}"
        text = f"The model has learned from {some} of these {found.n:,} rows{looked}"
    elif met is None and found.same_table:
        text = "This is the table the model was made from"
    if not text:
        return ""
    honest = "The study's own test score is the honest one."
    if found.tested is not None and found.refitted:
        honest = (
            f"The honest score is that of tested.pellucid, which had not met the "
            f"{found.tested['on']:,} test rows of the study; this model has learned from them too."
        )
    return f"{text}: they flatter it. {honest}"


def number(value: "float | None", digits: int = 4) -> str:
    from pellucid.core.figures import figures

    rounded = None if value is None else float(f"{value:.{digits}g}")
    return figures(rounded, max(digits, 6), whole=(1e4, 1e9), commas=1e4)


def ends(low: "float | None", high: "float | None") -> tuple[str, str]:
    """Both ends of an interval, told apart."""
    from pellucid.core.figures import told_apart

    return told_apart(low, high, number, 4)


def said(metric: str) -> str:
    return metric.replace("f_beta", "f1").replace("_", " ")


def measures(found: "Judgement") -> Any:
    """Every measure; the study's own first and bold."""
    from rich.text import Text

    names = sorted(found.table, key=lambda name: name != found.task.metric)
    names = [name for name in names if name not in SUMS]
    rows = []
    for name in names:
        one = found.table[name]
        style = "bold" if name == found.task.metric else ""
        cells = (said(name), number(one.estimate), *ends(one.low, one.high))
        rows.append(tuple(Text(cell, style=style) for cell in cells))
    return grid(("measure", "estimate", "low", "high"), rows, right=(1, 2, 3))


def change_sentence(found: "Judgement") -> str:
    """Against the test rows of the study."""
    if found.before is None:
        return ""
    name, before = said(found.task.metric), found.before
    whose = "of tested.pellucid " if found.refitted else ""
    text = (
        f"On the study's test rows {name} {whose}was {number(before['estimate'])} "
        f"({' to '.join(ends(before['low'], before['high']))})"
    )
    if found.change is None or flattered(found):
        return f"{text}."
    p = found.change["p_value"]
    if p > 0.05:
        return f"{text}; the difference is no larger than chance makes it (p = {p:.2g})."
    way = "worse" if found.change["worse"] else "better"
    return f"{text}; here it is {way}, by more than chance (p = {p:.2g})."


def together_sentence(found: "Judgement") -> str:
    """What the intervals count where rows are not independent."""
    if found.together is None:
        return ""
    column, kind, blocks = found.together
    if blocks == 0 and kind == "groups":
        return (
            f"There is no column {column!r}, so every row counts by itself: where rows hang "
            "together, the intervals are too narrow."
        )
    if blocks == 0:
        return f"There is no column {column!r}: rows are taken as they stand, each by itself."
    what = f"groups ({column})" if kind == "groups" else f"stretches of {column}"
    return f"Rows hang together: the intervals are those of {blocks:,} {what}."


def cost_sentence(found: "Judgement") -> str:
    if found.costs is None:
        return ""
    text = f"A decision costs {number(found.costs['as_it_decides'])} on average"
    best = found.costs["by_least_cost"]
    return (
        f"{text}."
        if best is None
        else (
            f"{text}; deciding by least expected cost with these costs it would be {number(best)}."
        )
    )


def confusion(table: Any) -> Any:
    """Counts; rows are the truth, columns what the model says."""
    labels = [short(label, 12) for label in table.labels]
    rows = [(f"is {labels[i]}", *(f"{c:,.0f}" for c in row)) for i, row in enumerate(table.counts)]
    columns = ("", *(f"said {label}" for label in labels))
    return grid(columns, rows, right=range(1, len(columns)))


def groups(found: "Judgement") -> Any:
    """The measure of every group."""
    rows = []
    for one in found.groups:
        i = one.interval
        cells = ("-", "-", "-") if i is None else tuple(map(number, (i.estimate, i.low, i.high)))
        rows.append((short(one.group, 30), f"{one.n:,}", *cells, short(one.note, 40)))
    columns = (short(found.by, 30), "rows", said(found.task.metric), "low", "high", "")
    wide = len(columns) if any(row[-1] for row in rows) else -1
    return grid(columns[:wide], [row[:wide] for row in rows], right=(1, 2, 3, 4))


def show_drift(screen: "Console", drift: "DriftReport") -> None:
    """A sentence, and the columns that are not as in training."""
    tested = sum(c.p_value == c.p_value for c in drift.columns)
    if drift.drifted:
        verb = "is" if len(drift.drifted) == 1 else "are"
        screen.print(
            f"{len(drift.drifted)} of {tested} columns {verb} distributed otherwise than "
            "in training (Holm, 5 %)."
        )
    elif tested:
        screen.print("No column is distributed otherwise than in training (Holm, 5 %).")
    for finding in drift.findings():
        e = finding.evidence
        parts = [
            f"{e[key]:,} {'row' if e[key] == 1 else 'rows'} {text}"
            for key, text in (
                ("rows_with_unseen_levels", "with levels never seen in training"),
                ("rows_out_of_range", "outside the range of the training rows"),
            )
            if e[key]
        ]
        screen.print(f"{finding.code} {' and '.join(parts)}.", style="yellow")
    odd = [c for c in drift.columns if c.name in drift.drifted or c.unseen or c.outside]
    if odd:
        rows = [drift_row(c) for c in sorted(odd, key=lambda c: (c.adjusted, c.name))]
        columns = ("column", "test", "distance", "p", "unseen", "outside", "missing")
        screen.print()
        screen.print(grid(columns, rows, right=(2, 3, 4, 5, 6)))


def drift_row(c: "ColumnDrift") -> tuple[str, ...]:
    from pellucid.report.words import p_value

    missing = (
        ""
        if not (c.missing_before or c.missing_now)
        else (f"{100 * c.missing_before:.2g} → {100 * c.missing_now:.2g} %")
    )
    return (
        short(c.name, 24),
        c.test.split(";")[0],
        number(c.distance),
        p_value(c.adjusted),
        f"{c.unseen:,}" if c.unseen else "",
        f"{c.outside:,}" if c.outside else "",
        missing,
    )
