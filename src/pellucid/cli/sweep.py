"""``pellucid sweep DATA --target COL --model NAME``: the score along one parameter."""

import json
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

MODELS = 50  # training sets of --bias-variance
KEPT = 0.3  # share of the rows at which bias and variance are measured
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
@click.option("--groups", help="Column of rows that belong together.")
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
    check_columns(frame, [target, *drop, *(c for c in (time_column, groups) if c)])
    from pellucid.cli.compare import about, split_words
    from pellucid.study.tables.contestants import contestant, open_table

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
    pipeline = contestant(table, model, tuned=False)
    parameter, listed = what_to_sweep(table, model, pipeline, parameter, values)
    curve, split = run(table, pipeline, parameter, listed, cv, parts, seed)
    answer = {"schema": "pellucid-sweep/1"} | curve.to_dict()
    answer |= {"parameter": parameter, "model": model, "folds": cv, "seed": seed}
    answer |= {"left_out": table.left_out, "bias_variance": split, "rows": len(table.y)}
    answer |= {"split": split_words(table)} | about(data, target)
    if out is not None:
        from pellucid.report.writing import dump, write_text

        write_text(out, dump(answer))
    if as_json:
        print_json(answer)
    elif not quiet:
        show(curve, split, model, parameter, listed, table)


def read_values(text: str) -> list[Any]:
    """Values as JSON where they are, as words where they are not.

    >>> read_values("1, 0.5,sqrt,null,[8,4]")
    [1, 0.5, 'sqrt', None, [8, 4]]
    """
    try:
        return json.loads(f"[{text}]")
    except json.JSONDecodeError:
        pass
    found, depth, start = [], 0, 0
    for at, letter in enumerate(f"{text},"):
        depth += (letter in "[{(") - (letter in "]})")
        if letter == "," and depth == 0:
            word = text[start:at].strip()
            start = at + 1
            try:
                found.append(json.loads(word))
            except json.JSONDecodeError:
                found.append(word)
    return found


def what_to_sweep(
    table: Any, name: str, pipeline: Any, parameter: str | None, values: str | None
) -> tuple[str, list[Any]]:
    """The parameter and its values, as asked or as a study would tune them."""
    from pellucid.study.errors import nearest
    from pellucid.study.tables.contestants import own_space

    own = own_space(table, name)
    known = list(pipeline["model"].get_params())
    if parameter is None:
        if len(own) != 1:
            raise Stop(Code.USAGE, f"--parameter is needed; {name} has: {', '.join(known)}")
        parameter = next(iter(own))
    if parameter not in known:
        raise Stop(Code.USAGE, nearest(f"parameter of {name}", parameter, known))
    listed = own.get(parameter, []) if values is None else read_values(values)
    listed = [tuple(v) if isinstance(v, list) else v for v in listed]
    if len(listed) < 2:
        raise Stop(Code.USAGE, f"--values needs at least two values of {parameter}, got {values!r}")
    return parameter, listed


def run(
    table: Any, pipeline: Any, parameter: str, listed: list[Any], cv: int, parts: bool, seed: int
) -> tuple[Any, list[dict[str, Any]]]:
    """The curve over the folds; with ``parts`` also bias, variance and total of every value."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    from pellucid.evaluation import complexity_curve

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        curve = complexity_curve(
            pipeline,
            table.X,
            table.y,
            parameter=f"model__{parameter}",
            values=listed,
            metric=table.task.metric,
            cv=table.folds(cv),
            random_state=seed,
        )
        split = decompose(table, pipeline, parameter, listed, seed) if parts else []
    return curve, split


def decompose(
    table: Any, pipeline: Any, parameter: str, listed: list[Any], seed: int
) -> list[dict[str, Any]]:
    """Bias, variance and total at rows kept aside, over bootstrap training sets."""
    import numpy as np
    from sklearn.base import clone

    from pellucid.evaluation import BootstrapDraw, bias_variance

    if np.ndim(table.y) > 1:
        raise Stop(Code.TASK, "--bias-variance works for one target column")
    aside, rest = set_aside(table, np.random.default_rng(seed))
    draw = BootstrapDraw(table.X[rest], table.y[rest])
    loss = "zero_one" if table.classifies else "squared"
    found = []
    for value in listed:
        model = clone(pipeline).set_params(**{f"model__{parameter}": value})
        p = bias_variance(
            model,
            draw,
            table.X[aside],
            y_test=table.y[aside],
            loss=loss,
            n_models=MODELS,
            random_state=seed,
        )
        row = {"value": value, "bias2": p.bias2, "variance": p.variance, "total": p.total}
        found.append(row | {"loss": loss, "notes": list(p.notes)})
    return found


def set_aside(table: Any, rng: Any) -> tuple[Any, Any]:
    """The rows at which bias and variance are measured, and the others.

    Drawn at random; whole groups where rows are grouped, the last rows where time orders them.
    """
    import numpy as np

    n, units = len(table.y), table.arrangement.units
    count = max(1, int(KEPT * n))
    if table.arrangement.kind == "sequential":
        late = units >= units[n - count]
        late = late if not late.all() else units > units[0]
        return np.flatnonzero(late), np.flatnonzero(~late)
    order = rng.permutation(int(units.max()) + 1)
    if table.free:
        return order[:count], order[count:]
    sizes = np.bincount(units)[order]
    taken = order[: max(1, min(len(order) - 1, int(np.searchsorted(np.cumsum(sizes), count))))]
    inside = np.isin(units, taken)
    return np.flatnonzero(inside), np.flatnonzero(~inside)


def show(
    curve: Any,
    split: list[dict[str, Any]],
    model: str,
    parameter: str,
    listed: list[Any],
    table: Any,
) -> None:
    """One line per value: training and test score, a bar, the parts of the error."""
    from rich.text import Text

    from pellucid.report.words import fixed, number, places_for

    screen = console()
    metric = curve.metric.replace("_", " ")
    best, simple = listed[curve.best], listed[curve.one_standard_error]
    rule = "the same by" if best == simple else f"{word(simple)} by"
    said = f"{model}: {parameter} = {word(best)} is best, {rule} the rule of one standard error."
    screen.print(Text(said, style="bold"))
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
        cells = (word(value), fixed(tr.mean, places), fixed(te.mean, places), spread, *parts)
        style = "bold" if i == curve.one_standard_error else ""
        last = (", ".join(marks),) if split else (", ".join(marks), bar)
        rows.append(tuple(Text(c, style=style) for c in (*cells, *last)))
    columns = [parameter, f"train {metric}", f"test {metric}", "error"]
    columns += ["bias²", "variance", "total"] if split else []
    columns += [""] if split else ["", ""]
    screen.print(grid(columns, rows, right=range(1, 7 if split else 4)))
    collapsed = [word(v) for v, flags in zip(listed, curve.collapsed, strict=True) if flags.any()]
    if collapsed:
        screen.print(f"\ncollapsed fits (one constant prediction) at: {', '.join(collapsed)}")
    for note in dict.fromkeys(n for row in split for n in row["notes"]):
        screen.print(Text(f"\n{note}", style="dim"))
    if table.arrangement.reason:
        screen.print(Text(f"\n{table.arrangement.reason}", style="dim"))


def word(value: Any) -> str:
    """
    >>> word(0.001), word(None), word((8, 4))
    ('0.001', 'None', '(8, 4)')
    """
    return f"{value:.4g}" if isinstance(value, float) else str(value)
