"""``pellucid anomalies DATA``: the rows unlike the others, and why."""

from pathlib import Path
from typing import Any

import click

from pellucid.cli.shared.options import common, console, grid, print_json
from pellucid.cli.shared.tables import check_columns, read_table
from pellucid.report.folders import check_folder

FILES = ("report.html", "report.json", "anomalies.csv")
SHOWN = 12  # rows on the terminal


@click.command()
@click.argument("data")
@click.option(
    "--share",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.01,
    show_default=True,
    help="Share of the rows to list.",
)
@click.option(
    "--method",
    default="normal",
    show_default=True,
    help="normal, isolation, neighbours, envelope, density or svm.",
)
@click.option("--drop", multiple=True, help="Column to leave out.")
@click.option("--sql", help="Query, when DATA is a database URL.")
@common("json", "quiet", "seed", "threads", "out", "overwrite")
def anomalies(
    data: str,
    share: float,
    method: str,
    drop: tuple[str, ...],
    sql: str | None,
    as_json: bool,
    quiet: bool,
    seed: int,
    out: Path | None,
    overwrite: bool,
) -> None:
    """List the rows of DATA that are unlike the others, with the cells that make them so.

    Leaves a folder with report.html, report.json and anomalies.csv (every row with its score).
    """
    from pellucid.cli.shared.outputs import default_folder, with_command, write_folder

    folder = out if out is not None else default_folder(data, "anomalies")
    check_folder(folder, overwrite, FILES)
    from pellucid.study.tables.anomalies import find_anomalies, find_detector

    find_detector(method)
    frame = read_table(data, sql)
    check_columns(frame, drop)
    from pellucid.report.tables.anomaly_page import with_reasons

    found = find_anomalies(frame, share, method=method, drop=drop, random_state=seed)
    record = with_command(found.to_dict(), data)
    table = with_reasons(found.to_frame(), record)
    paths = write_folder(folder, record, {"anomalies.csv": table}, None)
    if as_json:
        print_json(record | {"files": [str(path) for path in paths]})
    elif not quiet:
        show(record, paths)


def show(record: dict[str, Any], paths: list[Path]) -> None:
    """Verdict, the oddest rows with reasons, files."""
    from rich.text import Text

    from pellucid.report.tables.anomaly_page import row_reasons

    screen = console()
    said = record["verdict"]
    screen.print(Text(said[0], style="bold"))
    for line in said[1:]:
        screen.print(line)
    screen.print()
    rows = row_reasons(record)
    lines = [(str(i), f"{score:.1f}", words) for i, score, words in rows[:SHOWN]]
    screen.print(grid(("row", "score", "why"), lines, right=(0, 1)))
    if len(rows) > SHOWN:
        screen.print(f"and {len(rows) - SHOWN} more in the report", style="dim")
    screen.print()
    screen.print(grid(("", ""), [(path.name, str(path)) for path in paths]))
