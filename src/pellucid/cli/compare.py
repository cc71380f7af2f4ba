"""``pellucid compare DATA --target COL --models a,b``: which differences are more than chance?"""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    from pellucid.evaluation import Comparison
    from pellucid.study.tables.comparison import ComparedCandidates

TESTS = ("corrected_t", "paired_t", "5x2cv", "mcnemar")
CORRECTIONS = ("holm", "bonferroni", "sidak", "benjamini_hochberg")
WIDE = 7  # models whose names fit above a significance matrix


@click.command()
@click.argument("data")
@click.option("--target", required=True, help="Column to predict.")
@click.option("--models", help="Models, comma separated (default: those of a standard study).")
@click.option("--task", default="auto", show_default=True, help="Kind of task.")
@click.option("--metric", default="auto", show_default=True, help="Measure to judge by.")
@click.option("--time", "time_column", help="Column that orders the rows in time.")
@click.option("--groups", help="Column of rows that belong together; none: look for none.")
@click.option("--drop", multiple=True, help="Column to leave out.")
@click.option("--cv", type=click.IntRange(2), default=10, show_default=True, help="Folds.")
@click.option(
    "--repeats",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Times the folds are dealt anew.",
)
@click.option("--test", type=click.Choice(TESTS), default="corrected_t", show_default=True)
@click.option("--correction", type=click.Choice(CORRECTIONS), default="holm", show_default=True)
@click.option("--rope", type=click.FloatRange(min=0), help="Differences up to this do not matter.")
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Level of the tests.",
)
@click.option("--sql", help="Query, when DATA is a database URL.")
@common("json", "quiet", "seed", "threads", "out", "overwrite")
def compare(
    data: str,
    target: str,
    models: str | None,
    task: str,
    metric: str,
    time_column: str | None,
    groups: str | None,
    drop: tuple[str, ...],
    cv: int,
    repeats: int,
    test: str,
    correction: str,
    rope: float | None,
    alpha: float,
    sql: str | None,
    as_json: bool,
    quiet: bool,
    seed: int,
    out: Path | None,
    overwrite: bool,
) -> None:
    """Judge models on the same folds of DATA and test every difference.

    A model is a name of `pellucid learn --candidates` (ridge, tree, ...), tuned inside every fold,
    or a class of Pellucid (LinearRegression) as it comes. --out FILE keeps the record as JSON.
    """
    if out is not None:
        check_json(out)
        check_output(out, overwrite)
    from pellucid.study.tables.comparison import compare_candidates, model_list

    names = model_list(models)
    frame = read_table(data, sql)
    check_roles(frame, [target, *drop], groups, time_column)
    found = compare_candidates(
        frame,
        target,
        names,
        task=task,
        metric=metric,
        time=time_column,
        groups=groups,
        drop=drop,
        cv=cv,
        repeats=repeats,
        test=test,
        correction=correction,
        rope=rope,
        alpha=alpha,
        random_state=seed,
    )
    record = with_command(found.to_dict(), data)
    keep_json(record, out)
    if as_json:
        print_json(record)
    elif not quiet:
        show(found, rope)


def show(found: "ComparedCandidates", rope: float | None) -> None:
    """Sentence, scores, matrix, practical differences."""
    from rich.text import Text

    from pellucid.report.words import ends, fixed, places_for
    from pellucid.study.judging.measure import BOUNDS

    screen, record, ropes, table = console(), found.comparison, found.rope, found.table
    screen.print(Text(record.sentence, style="bold"))
    screen.print()
    sign = 1 if record.greater_is_better else -1
    order = sorted(range(len(record.names)), key=lambda i: -sign * record.summaries[i].mean)
    places = places_for([s.mean for s in record.summaries])
    rows = []
    floor, ceiling = BOUNDS.get(record.metric, (-math.inf, math.inf))
    for i in order:
        s = record.summaries[i]
        low, high = max(s.low, floor), min(s.high, ceiling)
        between = ends(low, high, places=places, joint=" – ")
        rows.append((record.names[i], fixed(s.mean, places), between))
    metric = record.metric.replace("_", " ")
    screen.print(grid(("model", metric, "95 % interval"), rows, right=(1, 2)))
    screen.print()
    screen.print(matrix(record, order))
    if ropes:
        screen.print()
        screen.print(f"Does the difference matter (more than {rope:g} of {metric})?")
        cells = [
            (r["model"], r["against"], *(f"{r[k]:.3f}" for k in ("worse", "equal", "better")))
            for r in ropes
        ]
        screen.print(grid(("", "against", "worse", "equal", "better"), cells, right=(2, 3, 4)))
    if table.arrangement.reason:
        screen.print()
        screen.print(Text(table.arrangement.reason, style="dim"))
    if table.left_out:
        screen.print()
        for name, why in table.left_out.items():
            screen.print(Text(f"left out: {name}: {why}", style="dim"))


def matrix(record: "Comparison", order: list[int]) -> Any:
    """Adjusted p-values; bold where the model of the row is significantly better."""
    from rich.text import Text

    from pellucid.report.words import p_value

    heads = [record.names[i] for i in order]
    numbered = len(heads) > WIDE or sum(len(h) + 2 for h in heads) > 62
    rows = []
    for place, i in enumerate(order, start=1):
        cells = []
        for j in order:
            said = "" if i == j else p_value(float(record.adjusted[i, j]))
            cells.append(Text(said, style="bold green" if record.better[i, j] else "dim"))
        rows.append((f"{place} {record.names[i]}" if numbered else record.names[i], *cells))
    columns = [str(k) for k in range(1, len(heads) + 1)] if numbered else heads
    note = f"p ({record.test.replace('_', ' ')}, {record.correction.replace('_', '-')})"
    return grid((note, *columns), rows, right=range(1, len(heads) + 1))
