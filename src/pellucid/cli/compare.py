"""``pellucid compare DATA --target COL --models a,b``: which differences are more than chance?"""

import math
from pathlib import Path
from typing import Any

import click

from pellucid.cli.shared.options import (
    Code,
    Stop,
    check_json,
    check_output,
    common,
    console,
    grid,
    print_json,
)
from pellucid.cli.shared.tables import check_columns, read_table

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
@click.option("--groups", help="Column of rows that belong together.")
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
    names = None if models is None else [n.strip() for n in models.split(",") if n.strip()]
    if names is not None and len(set(names)) < 2:
        raise Stop(Code.USAGE, f"--models needs at least two names, got {models!r}")
    frame = read_table(data, sql)
    check_columns(frame, [target, *drop, *(c for c in (time_column, groups) if c)])
    from pellucid.study.tables.contestants import contestants, open_table

    table = open_table(
        frame,
        target,
        task=task,
        metric=metric,
        drop=drop,
        seed=seed,
        groups=groups,
        time=time_column,
    )
    chosen = contestants(table, names)
    record, ropes = judge(table, chosen, cv, repeats, test, correction, alpha, rope, seed)
    answer = (
        {"schema": "pellucid-comparison/1"}
        | record.to_dict()
        | {
            "rope": ropes,
            "left_out": table.left_out,
            "rows": len(table.y),
            "folds": cv,
            "repeats": repeats,
            "seed": seed,
            "split": split_words(table),
        }
        | about(data, target)
    )
    if out is not None:
        from pellucid.report.writing import dump, write_text

        write_text(out, dump(answer))
    if as_json:
        print_json(answer)
    elif not quiet:
        show(record, ropes, rope, table)


def judge(
    table: Any,
    chosen: dict[str, Any],
    cv: int,
    repeats: int,
    test: str,
    correction: str,
    alpha: float,
    rope: float | None,
    seed: int,
) -> tuple[Any, list[dict[str, Any]]]:
    """The comparison, and where asked the probabilities that a difference matters."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    from pellucid.evaluation import compare as compare_models

    if test == "5x2cv" and not table.free:
        text = f"--test 5x2cv halves the rows at random, but: {table.arrangement.reason}"
        raise Stop(Code.USAGE, text)
    folds = table.folds(cv, repeats)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of values that tuning only tries
        record = compare_models(
            chosen,
            table.X,
            table.y,
            metric=table.task.metric,
            cv=folds,
            test=test,
            correction=correction,
            random_state=seed,
            alpha=alpha,
        )
    return record, [] if rope is None else practical(record, rope)


def split_words(table: Any) -> dict[str, str]:
    """How the rows were divided, for the record."""
    found = table.arrangement
    return {"kind": found.kind, "reason": found.reason}


def about(data: str, target: str) -> dict[str, Any]:
    """What a record says of its table and its command."""
    from pellucid.cli.shared.outputs import command_line

    source = data if "://" not in data else "a database"
    return {"source": source, "target": target, "command": command_line(data)}


def practical(record: Any, rope: float) -> list[dict[str, Any]]:
    """The best model against each other one: worse, practically equal, better."""
    from pellucid.evaluation import bayesian_comparison

    sign = 1 if record.greater_is_better else -1
    best = max(range(len(record.names)), key=lambda i: sign * record.summaries[i].mean)
    ratio = 1.0 if record.test == "5x2cv" else record.summaries[best].test_ratio
    found = []
    for i, name in enumerate(record.names):
        if i != best:
            difference = sign * (record.scores[best] - record.scores[i])
            parts = bayesian_comparison(difference, test_ratio=ratio, rope=rope)
            row = {"model": record.names[best], "against": name, "rope": rope}
            found.append(row | dict(zip(("worse", "equal", "better"), parts, strict=True)))
    return found


def show(record: Any, ropes: list[dict[str, Any]], rope: float | None, table: Any) -> None:
    """Sentence, scores, matrix, practical differences."""
    from rich.text import Text

    from pellucid.report.words import fixed, places_for
    from pellucid.study.judging.measure import BOUNDS

    screen = console()
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
        between = f"{fixed(low, places)} – {fixed(high, places)}"
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


def matrix(record: Any, order: list[int]) -> Any:
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
