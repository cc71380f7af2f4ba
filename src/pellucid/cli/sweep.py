"""``pellucid sweep DATA --target COL --model NAME``: the score along one parameter."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pellucid.cli.shared.options import (
    check_json,
    check_output,
    common,
    console,
    grid,
    print_json,
)
from pellucid.cli.shared.outputs import keep_json, with_command
from pellucid.cli.shared.tables import check_roles, read_table

if TYPE_CHECKING:
    from pellucid.study.tables.parameter_sweep import SweptParameter

BAR = 24  # columns of a bar


@click.command()
@click.argument("data")
@click.option("--target", required=True, help="Column to predict.")
@click.option("--model", required=True, help="A name of `learn --candidates`, or a class.")
@click.option("--parameter", help="Its parameter (default: the one a study would tune).")
@click.option("--values", help="Values, comma separated, the simplest first.")
@click.option("--task", default="auto", show_default=True, help="Kind of task.")
@click.option("--metric", default="auto", show_default=True, help="Measure to judge by.")
@click.option("--time", "time_column", help="Column that orders the rows in time.")
@click.option("--groups", help="Column of rows that belong together; none: look for none.")
@click.option("--drop", multiple=True, help="Column to leave out.")
@click.option("--cv", type=click.IntRange(2), default=10, show_default=True, help="Folds.")
@click.option("--bias-variance", "parts", is_flag=True, help="Split the error into its parts.")
@click.option("--sql", help="Query, when DATA is a database URL.")
@common("json", "quiet", "seed", "threads", "out", "overwrite")
def sweep(
    data: str,
    target: str,
    model: str,
    parameter: str | None,
    values: str | None,
    task: str,
    metric: str,
    time_column: str | None,
    groups: str | None,
    drop: tuple[str, ...],
    cv: int,
    parts: bool,
    sql: str | None,
    as_json: bool,
    quiet: bool,
    seed: int,
    out: Path | None,
    overwrite: bool,
) -> None:
    """Fit a model for every value of a parameter: training and test score, best and simplest.

    --out FILE keeps the record as JSON.
    """
    if out is not None:
        check_json(out)
        check_output(out, overwrite)
    frame = read_table(data, sql)
    check_roles(frame, [target, *drop], groups, time_column)
    from pellucid.study.tables.parameter_sweep import sweep_parameter

    found = sweep_parameter(
        frame,
        target,
        model,
        parameter,
        values,
        task=task,
        metric=metric,
        time=time_column,
        groups=groups,
        drop=drop,
        cv=cv,
        bias_variance=parts,
        random_state=seed,
    )
    record = with_command(found.to_dict(), data)
    keep_json(record, out)
    if as_json:
        print_json(record)
    elif not quiet:
        show(found)


def show(found: "SweptParameter") -> None:
    """One line per value: training and test score, a bar, the parts of the error."""
    from rich.text import Text

    from pellucid.report.words import fixed, number, places_for
    from pellucid.study.tables.parameter_sweep import value_words

    screen = console()
    curve, split, listed = found.curve, found.bias_variance, found.values
    metric = curve.metric.replace("_", " ")
    screen.print(Text(str(found), style="bold"))
    screen.print()
    means = [s.mean for s in curve.test_summary]
    places = places_for(means)
    finite = [m for m in means if m == m]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    rows = []
    for i, value in enumerate(listed):
        tr, te = curve.train_summary[i], curve.test_summary[i]
        marks = [
            w for w, at in (("best", curve.best), ("simplest", curve.one_standard_error)) if at == i
        ]
        share = (te.mean - low) / ((high - low) or 1.0) if te.mean == te.mean else 0.0
        bar = "▇" * max(1, round(share * BAR)) if te.mean == te.mean else "no score"
        parts: tuple[str, ...] = ()
        if split:
            parts = tuple(number(split[i][k]) for k in ("bias2", "variance", "total"))
        spread = f"± {fixed(te.standard_error, places)}"
        cells = (value_words(value), fixed(tr.mean, places), fixed(te.mean, places), spread, *parts)
        style = "bold" if i == curve.one_standard_error else ""
        last = (", ".join(marks),) if split else (", ".join(marks), bar)
        rows.append(tuple(Text(c, style=style) for c in (*cells, *last)))
    columns = [found.parameter, f"train {metric}", f"test {metric}", "error"]
    columns += ["bias²", "variance", "total"] if split else []
    columns += [""] if split else ["", ""]
    screen.print(grid(columns, rows, right=range(1, 7 if split else 4)))
    collapsed = [
        value_words(v) for v, flags in zip(listed, curve.collapsed, strict=True) if flags.any()
    ]
    if collapsed:
        screen.print(f"\ncollapsed fits (one constant prediction) at: {', '.join(collapsed)}")
    for note in dict.fromkeys(n for row in split for n in row["notes"]):
        screen.print(Text(f"\n{note}", style="dim"))
    if found.table.arrangement.reason:
        screen.print(Text(f"\n{found.table.arrangement.reason}", style="dim"))
