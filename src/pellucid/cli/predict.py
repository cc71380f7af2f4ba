"""``pellucid predict MODEL DATA``: answers for new rows, block by block, in their order."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from pellucid.cli.shared.options import (
    Code,
    Stop,
    check_output,
    common,
    console,
    print_json,
    say,
    sentence,
)
from pellucid.cli.shared.start import start_sklearn, uncollected
from pellucid.cli.shared.tables import answering, load_model, need_columns, open_rows

if TYPE_CHECKING:
    import polars as pl

    from pellucid.study.saved.prediction import Application, Tally

SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)
UNLIKE = ("sequential", "groups")  # splits whose rows are not exchangeable


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data")
@click.option("--proba", is_flag=True, help="Add the probability of every class.")
@click.option("--interval", type=SHARE, metavar="P", help="Add limits that cover with chance P.")
@click.option("--threshold", type=float, metavar="T", help="Say yes from probability T on.")
@click.option("--sets", type=SHARE, metavar="P", help="Add sets of classes that cover with P.")
@click.option("--copy", multiple=True, metavar="COL", help="Put this column of DATA in front.")
@click.option("--sql", help="Query, when DATA is a database URL.")
@common("json", "quiet", "threads", "out", "overwrite")
def predict(
    model: Path,
    data: str,
    proba: bool,
    interval: float | None,
    threshold: float | None,
    sets: float | None,
    copy: tuple[str, ...],
    sql: str | None,
    as_json: bool,
    quiet: bool,
    out: Path | None,
    overwrite: bool,
) -> None:
    """Predict every row of DATA with MODEL and write CSV, to standard output unless --out is given.

    Columns the model does not know are ignored. Rows unlike the training rows are counted.
    """
    if out is not None:
        check_output(out, overwrite)
    with uncollected():
        start_sklearn()
        from pellucid.data.sql import without_password
        from pellucid.study.saved.prediction import Application, Asked

        shown = without_password(data)
        fitted = load_model(model)
        with answering(model):
            application = Application(fitted, Asked(proba, interval, threshold, sets))
    table = open_rows(data, sql)
    need_columns(application.columns or [], list(table.schema))
    need_columns(copy, list(table.schema), "--copy")
    if table.n_rows == 0:
        raise Stop(Code.TASK, f"{shown} has no rows to predict")
    if as_json and out is None:
        parts: list[Any] = []
        with answering(model):
            tally = run(application, table, copy, shown, parts.append, quiet=True)
        import polars

        frame = polars.concat(parts)
        print_json(summary(tally, out) | {"predictions": frame.to_dict(as_series=False)})
        return
    with answering(model), sink(out) as write:
        tally = run(application, table, copy, shown, write, quiet=quiet or out is None)
    if as_json:
        print_json(summary(tally, out))
    elif not quiet:
        for line in notes(tally, application, out):
            say(line, err=True)


def run(
    application: "Application",
    table: Any,
    copy: tuple[str, ...],
    shown: str,
    write: Any,
    *,
    quiet: bool,
) -> Any:
    """Predict block by block; what goes wrong with a block is a fault of the data (exit 3)."""
    from pellucid.study.saved.prediction import QuestionError, Tally, predict_blocks

    tally = Tally()
    with progress(table.n_rows, quiet) as advance, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for answers, strange in predict_blocks(application, table, copy, shown):
                write(answers)
                tally = tally.add(answers.height, strange)
                advance(answers.height)
        except QuestionError:
            raise
        except (ValueError, TypeError) as error:
            raise Stop(Code.DATA, f"{shown}: {sentence(error)}") from error
    return tally


@contextmanager
def sink(out: Path | None) -> Iterator[Any]:
    """A function that writes blocks as CSV; a file appears whole or not at all."""
    from pellucid.core.runtime.atomic import replacing

    if out is None:
        yield csv_writer(sys.stdout.buffer)
        return
    with replacing(str(out)) as file:
        yield csv_writer(file)


def csv_writer(file: BinaryIO) -> Any:
    """Write frames one after the other, the names once."""
    from pellucid.data.write import safe_cells

    state = {"header": True}

    def write(frame: "pl.DataFrame") -> None:
        text = safe_cells(frame).write_csv(include_header=state["header"])
        file.write(text.encode("utf-8"))
        state["header"] = False

    return write


@contextmanager
def progress(rows: int, quiet: bool) -> Iterator[Any]:
    """A bar with the time left on a terminal; nothing in a pipe."""
    if quiet or not sys.stderr.isatty():
        yield lambda n: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    screen = console(stderr=True)
    columns = (BarColumn(30), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task("", total=rows)
        yield lambda n: bar.advance(task, n)


def summary(tally: "Tally", out: Path | None) -> dict[str, Any]:
    return {"out": None if out is None else str(out), **tally._asdict()}


def notes(tally: "Tally", application: "Application", out: Path | None) -> list[str]:
    """What a person should know about the answers, one line each."""
    lines = [] if out is None else [f"{out}: {tally.rows:,} rows"]
    for count, cells, text in (
        (tally.rows_unseen, tally.unseen, "with levels never seen in training"),
        (tally.rows_outside, tally.outside, "outside the range of the training rows"),
    ):
        if count:
            most = sorted(cells.items(), key=lambda pair: -pair[1])
            named = ", ".join(f"{name} {n:,}" for name, n in most[:5])
            named += ", ..." if len(most) > 5 else ""
            lines.append(f"{count:,} of {tally.rows:,} rows {text} ({named})")
    for name, count in tally.unread.items():
        plural = "cells that cannot be read, such as" if count > 1 else "cell that cannot be read,"
        counts = "they count" if count > 1 else "it counts"
        lines.append(
            f"the column {name!r} holds {count:,} {plural} {tally.examples[name]!r}; {counts} as "
            "missing"
        )
    calibration = application.about.get("calibration") or {}
    asked = application.asked
    covers = asked.interval is not None or asked.sets is not None
    if covers and application.limits is not None and calibration.get("split") in UNLIKE:
        why = "later rows" if calibration["split"] == "sequential" else "rows of other groups"
        lines.append(
            f"the limits come from {why} than the model learned from; they cover new rows only as "
            "far as those are like these"
        )
    about = application.about
    tested = about.get("tested") or {"learned": 0, "on": 0}
    refitted = about.get("learned", 0) > tested["learned"]
    if covers and application.limits is not None and refitted:
        lines.append(
            f"the limits are those of tested.pellucid on {tested['on']:,} rows it had not met; "
            "this model has learned from these too, and has none left to be judged on"
        )
    return lines
