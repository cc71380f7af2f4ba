"""``pellucid cluster DATA``: groups of rows, if there are any."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pellucid.cli.shared.options import common, console, grid, print_json
from pellucid.cli.shared.tables import check_columns, read_table
from pellucid.report.folders import check_folder

if TYPE_CHECKING:
    from pellucid.study.records import Finding

FILES = ("report.html", "report.json", "clusters.csv", "model.pellucid")
DISTANCES = ("euclidean", "manhattan", "cosine")


@click.command()
@click.argument("data")
@click.option(
    "--k",
    "counts",
    default="auto",
    show_default=True,
    help="Number of groups: 3, 2..10, 2,4,8 or auto (2..10).",
)
@click.option(
    "--method",
    default="kmeans",
    show_default=True,
    help="kmeans, bisecting, fuzzy, gmm, agglomerative, divisive, spectral, or dbscan "
    "and hdbscan, which find the number themselves.",
)
@click.option("--distance", type=click.Choice(DISTANCES), default="euclidean", show_default=True)
@click.option("--no-scale", is_flag=True, help="Take the columns in their own units.")
@click.option(
    "--restarts",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Starts for every number of groups.",
)
@click.option("--drop", multiple=True, help="Column to leave out.")
@click.option("--sql", help="Query, when DATA is a database URL.")
@common("json", "quiet", "seed", "threads", "out", "overwrite")
def cluster(
    data: str,
    counts: str,
    method: str,
    distance: str,
    no_scale: bool,
    restarts: int,
    drop: tuple[str, ...],
    sql: str | None,
    as_json: bool,
    quiet: bool,
    seed: int,
    out: Path | None,
    overwrite: bool,
) -> None:
    """Group the rows of DATA. "None" and "several" are possible answers.

    Leaves a folder with report.html, report.json, clusters.csv and model.pellucid.
    """
    from pellucid.cli.shared.outputs import default_folder, with_command, write_folder

    folder = out if out is not None else default_folder(data, "clusters")
    check_folder(folder, overwrite, FILES)
    from pellucid.study.tables.groups import check_count, group_table

    check_count(method, counts)
    frame = read_table(data, sql)
    check_columns(frame, drop)
    with progress(quiet or as_json) as say:
        found = group_table(
            frame,
            counts,
            method=method,
            distance=distance,
            scale=not no_scale,
            restarts=restarts,
            drop=drop,
            random_state=seed,
            progress=say,
        )
    record = with_command(found.to_dict(), data)
    paths = write_folder(folder, record, {"clusters.csv": found.to_frame()}, found.model)
    if as_json:
        print_json(record | {"files": [str(path) for path in paths]})
    elif not quiet:
        show(record, found.grouping.findings, paths)


def progress(silent: bool) -> Any:
    """What is being done, on a terminal only: call the value with a text."""
    from contextlib import contextmanager

    @contextmanager
    def spinner() -> Any:
        screen = console(stderr=True)
        if silent or not screen.is_terminal:
            yield lambda text: None
            return
        with screen.status("reading") as status:
            yield lambda text: status.update(text)

    return spinner()


def show(record: dict[str, Any], findings: "Sequence[Finding]", paths: list[Path]) -> None:
    """Verdict, criteria by k, groups, findings, files."""
    from rich.text import Text

    from pellucid.cli.learn import finding_row
    from pellucid.report.tables.cluster_page import group_rows
    from pellucid.report.words import fixed, number

    screen = console()
    screen.print(Text(record["verdict"][0], style="bold"))
    for line in record["verdict"][1:]:
        screen.print(line)
    screen.print()
    rows = []
    for m in record["tried"]:
        marks = [name.replace("_", " ") for name, k in record["choices"].items() if k == m["k"]]
        ratio = number(m["calinski_harabasz"])
        cells = (
            str(m["k"]),
            number(m["error"]),
            fixed(m["silhouette"]),
            ratio,
            fixed(m["stability"]),
            ", ".join(marks),
        )
        style = "bold" if m["k"] == record["k"] else ""
        rows.append(tuple(Text(c, style=style) for c in cells))
    columns = ("k", "error", "silhouette", "Calinski-Harabasz", "stability", "favourite of")
    many = len(rows) > 1
    screen.print(
        grid(columns[: 6 if many else 5], [r[: 6 if many else 5] for r in rows], right=range(5))
    )
    if record["groups"]:
        screen.print()
        lines = [(name.removeprefix("group "), *rest) for name, *rest in group_rows(record, 3)]
        screen.print(grid(("group", "rows", "what sets it apart"), lines, right=(0, 1)))
    if findings:
        screen.print()
        screen.print(grid(("finding", "", "where"), [finding_row(f) for f in findings]))
    screen.print()
    screen.print(grid(("", ""), [(path.name, str(path)) for path in paths]))
