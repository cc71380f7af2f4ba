"""``pellucid reduce DATA``: the few directions in which the rows differ."""

from pathlib import Path
from typing import Any

import click

from pellucid.cli.shared.options import common, console, grid, print_json
from pellucid.cli.shared.tables import check_columns, read_table
from pellucid.report.folders import check_folder

FILES = ("report.html", "report.json", "scores.csv", "loadings.csv", "model.pellucid")
SHOWN = 12  # features on the terminal


@click.command()
@click.argument("data")
@click.option(
    "--components",
    default="auto",
    show_default=True,
    help="Number, share of the spread (0.9), or auto: those beyond noise.",
)
@click.option("--method", default="pca", show_default=True, help="pca.")
@click.option("--no-scale", is_flag=True, help="Take the columns in their own units.")
@click.option("--drop", multiple=True, help="Column to leave out.")
@click.option("--sql", help="Query, when DATA is a database URL.")
@common("json", "quiet", "seed", "threads", "out", "overwrite")
def reduce(
    data: str,
    components: str,
    method: str,
    no_scale: bool,
    drop: tuple[str, ...],
    sql: str | None,
    as_json: bool,
    quiet: bool,
    seed: int,
    out: Path | None,
    overwrite: bool,
) -> None:
    """Replace the columns of DATA by a few that hold most of what varies.

    Leaves a folder with report.html, report.json, scores.csv, loadings.csv and model.pellucid.
    """
    from pellucid.cli.shared.outputs import default_folder, with_command, write_folder

    folder = out if out is not None else default_folder(data, "components")
    check_folder(folder, overwrite, FILES)
    from pellucid.study.tables.reduction import find_method, reduce_table

    find_method(method)
    frame = read_table(data, sql)
    check_columns(frame, drop)
    found = reduce_table(
        frame, components, method=method, scale=not no_scale, drop=drop, random_state=seed
    )
    record = with_command(found.to_dict(), data)
    tables = {"scores.csv": found.to_frame(), "loadings.csv": found.loadings_frame()}
    paths = write_folder(folder, record, tables, found.model)
    if as_json:
        print_json(record | {"files": [str(path) for path in paths]})
    elif not quiet:
        show(record, paths)


def show(record: dict[str, Any], paths: list[Path]) -> None:
    """Verdict, scree, loadings, files."""
    from rich.text import Text

    from pellucid.report.words import number

    screen = console()
    screen.print(Text(record["verdict"][0], style="bold"))
    for line in record["verdict"][1:]:
        screen.print(line)
    screen.print()
    values, spans, noise = (
        record[key] for key in ("eigenvalues", "eigenvalue_intervals", "noise_eigenvalues")
    )
    total, kept, rows = sum(values) or 1.0, 0.0, []
    for k, value in enumerate(values[:SHOWN]):
        kept += value / total
        cells = (
            str(k + 1),
            number(value),
            f"{number(spans[k][0])} – {number(spans[k][1])}",
            number(noise[k]),
            f"{value / total:.1%}",
            f"{kept:.1%}",
            bar(value / (values[0] or 1.0)),
        )
        style = "bold" if k < record["components"] else "dim"
        rows.append(tuple(Text(cell, style=style) for cell in cells))
    columns = ("component", "variance", "95 % interval", "noise", "share", "kept", "")
    screen.print(grid(columns, rows, right=range(6)))
    screen.print()
    d, names, loadings = min(record["components"], 6), record["features"], record["loadings"]
    order = sorted(range(len(names)), key=lambda j: -max(map(abs, loadings[j][:d])))[:SHOWN]
    lines = [(names[j], *(f"{v:+.2f}" for v in loadings[j][:d])) for j in order]
    heads = ("correlation with", *(f"component {k + 1}" for k in range(d)))
    screen.print(grid(heads, lines, right=range(1, d + 1)))
    if len(names) > SHOWN:
        screen.print(f"and {len(names) - SHOWN} more features in loadings.csv", style="dim")
    screen.print()
    screen.print(grid(("", ""), [(path.name, str(path)) for path in paths]))


def bar(share: float) -> str:
    """
    >>> bar(0.25)
    '▇▇▇▇▇▇'
    """
    return "▇" * max(1, round(24 * share)) if share > 0 else ""
