"""``pellucid data list|show|make``: the bundled tables and the generators."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pellucid.cli.shared.options import check_output, common, console, grid, print_json, say
from pellucid.study.errors import nearest

if TYPE_CHECKING:
    import polars as pl

    from pellucid.data.catalog import DataInfo

WIDTH = 100  # of a shown table; columns that do not fit are named below it
CELL = 24  # the widest cell


@click.group()
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def data() -> None:
    """List, show and make the bundled tables and generators."""


@data.command("list")
@common("json", "quiet")
def list_command(as_json: bool, quiet: bool) -> None:
    """List the names, with their kind and size."""
    from pellucid.data import list_data

    entries = list_data()
    if as_json:
        print_json({"data": [entry._asdict() for entry in entries]})
    elif not quiet:
        rows = [
            (e.name, e.kind, cell_text(e.rows), cell_text(e.columns), e.description)
            for e in entries
        ]
        columns = ("name", "kind", "rows", "columns", "what it is")
        console().print(grid(columns, rows, right=(2, 3)))


@data.command()
@click.argument("name")
@click.option("--rows", default=8, show_default=True, type=click.IntRange(0), help="Rows to show.")
@common("json", "quiet", "seed")
def show(name: str, rows: int, as_json: bool, quiet: bool, seed: int) -> None:
    """Show the first rows of NAME and the types of its columns."""
    entry = find(name)
    if entry.kind == "network":
        show_network(entry, rows, as_json, quiet)
        return
    frame = frame_of(entry, None, seed, {})
    types = {column: str(kind) for column, kind in frame.schema.items()}
    head = frame.head(rows)
    if as_json:
        print_json({**entry._asdict(), "rows": len(frame), "types": types, "head": head.to_dicts()})
    elif not quiet:
        columns, cells, hidden = fitting(head, types)
        screen = console()
        screen.print(f"{entry.name}: {len(frame)} rows, {len(types)} columns. {entry.description}")
        numeric = [j for j, column in enumerate(columns) if frame.schema[column].is_numeric()]
        screen.print("", grid(columns, cells, right=numeric))
        if hidden:
            named = ", ".join(f"{column} ({types[column]})" for column in hidden)
            screen.print("", f"and {len(hidden)} more columns: {named}")


def show_network(entry: "DataInfo", rows: int, as_json: bool, quiet: bool) -> None:
    """A network is a file: say where it is and show how it begins."""
    from pellucid.data import load_network

    path = load_network(entry.name)
    lines = Path(path).read_text(encoding="utf-8").splitlines()[:rows]
    if as_json:
        print_json({**entry._asdict(), "path": path, "head": lines})
    elif not quiet:
        say(f"{entry.name}: {entry.columns} variables. {entry.description}\n{path}\n")
        say("\n".join(lines))


@data.command()
@click.argument("name")
@click.option("--n-samples", type=click.IntRange(1), help="Rows to make (default: its own).")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Another setting of the generator, as JSON: --set noise=0.5 (repeatable).",
)
@common("json", "quiet", "seed", "out", "overwrite")
def make(
    name: str,
    n_samples: int | None,
    settings: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    seed: int,
    out: Path | None,
    overwrite: bool,
) -> None:
    """Write the data of NAME as CSV, or into --out FILE.csv or FILE.parquet.

    NAME is a generator or a bundled table.
    """
    entry = find(name)
    if out is not None:
        if out.suffix not in (".csv", ".parquet"):
            raise click.UsageError(f"--out must end in .csv or .parquet, got {str(out)!r}")
        check_output(out, overwrite)
    frame = frame_of(entry, n_samples, seed, dict(map(setting, settings)))
    if out is not None:
        write(frame, out)
    if as_json:
        record = {"name": entry.name, "rows": len(frame), "columns": frame.columns}
        values = {"out": str(out)} if out else {"data": frame.to_dict(as_series=False)}
        print_json({**record, **values})
    elif out is None:
        print_csv(frame)
    elif not quiet:
        say(f"{out}: {len(frame)} rows, {len(frame.columns)} columns")


def find(name: str) -> Any:
    """The entry of a name, or an answer with the nearest names."""
    from pellucid.data import list_data

    entries = {entry.name: entry for entry in list_data()}
    if name not in entries:
        raise click.UsageError(nearest("table or generator", name, entries))
    return entries[name]


def setting(text: str) -> tuple[str, Any]:
    """Read NAME=VALUE; the value is JSON."""
    import json

    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except ValueError as error:
        raise click.UsageError(f"--set takes NAME=VALUE with a JSON value, got {text!r}") from error


def frame_of(entry: "DataInfo", n_samples: int | None, seed: int, settings: dict[str, Any]) -> Any:
    """A bundled table, or what a generator makes, as a Polars frame."""
    from pellucid.data import load_table, make

    if entry.kind == "generator":
        return make(entry.name, **generator_settings(entry, n_samples, seed), **settings)
    if entry.kind == "network":
        raise click.UsageError(f"{entry.name} is a network, not a table; see `data show`")
    if n_samples is not None or settings:
        raise click.UsageError(f"{entry.name} is a table; --n-samples and --set are for generators")
    return load_table(entry.name)


def generator_settings(entry: "DataInfo", n_samples: int | None, seed: int) -> dict[str, Any]:
    """Rows and seed in the words of the generator: some count rows per class, one has no seed."""
    from inspect import signature

    from pellucid import data

    known = signature(getattr(data, f"make_{entry.name}")).parameters
    settings: dict[str, Any] = {"random_state": seed} if "random_state" in known else {}
    if n_samples is None:
        return settings
    if "n_samples" in known:
        return {**settings, "n_samples": n_samples}
    classes = entry.rows // known["n_per_class"].default
    if n_samples % classes:
        raise click.UsageError(
            f"{entry.name} has {classes} classes of equal size: "
            f"--n-samples must be a multiple of {classes}, got {n_samples}"
        )
    return {**settings, "n_per_class": n_samples // classes}


def fitting(
    head: "pl.DataFrame", types: dict[str, str]
) -> tuple[list[str], list[list[str]], list[str]]:
    """The columns that fit into WIDTH, their types and cells, and the columns that do not."""
    shown: list[list[str]] = []
    width = 0
    for column in head.columns:
        cells = [types[column], *(cell_text(value) for value in head[column])]
        width += max(len(text) for text in [column, *cells]) + 2
        if width > WIDTH:
            break
        shown.append(cells)
    rows = [list(row) for row in zip(*shown, strict=True)]
    return head.columns[: len(shown)], rows, head.columns[len(shown) :]


def cell_text(value: object) -> str:
    """A cell for reading: six digits, at most CELL characters, nothing for a missing value."""
    text = "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= CELL else f"{text[: CELL - 1]}…"


def print_csv(frame: "pl.DataFrame") -> None:
    from pellucid.data import write_csv

    write_csv(frame, sys.stdout)


def write(frame: "pl.DataFrame", out: Path) -> None:
    """Write the file whole or not at all."""
    from pellucid.data import write_csv

    if out.suffix == ".csv":
        write_csv(frame, out)
        return
    part = out.with_name(f".{out.name}.part")
    try:
        frame.write_parquet(part)
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)
