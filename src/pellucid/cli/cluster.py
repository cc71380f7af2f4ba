"""``pellucid cluster DATA``: groups of rows, if there are any."""

from pathlib import Path
from typing import Any

import click

from pellucid.cli.common import common, console, grid, print_json
from pellucid.cli.tables import check_columns, read_table

FILES = ("report.html", "report.json", "clusters.csv", "model.pellucid")
DISTANCES = ("euclidean", "manhattan", "cosine")


@click.command()
@click.argument("data")
@click.option("--k", "counts", default="auto", show_default=True,
              help="Number of groups: 3, 2..10, 2,4,8 or auto (2..10).")  # fmt: skip
@click.option("--method", default="kmeans", show_default=True,
              help="kmeans, bisecting, fuzzy, gmm, agglomerative, divisive, spectral.")  # fmt: skip
@click.option("--distance", type=click.Choice(DISTANCES), default="euclidean", show_default=True)
@click.option("--no-scale", is_flag=True, help="Take the columns in their own units.")
@click.option("--restarts", type=click.IntRange(1), default=10, show_default=True,
              help="Starts for every number of groups.")  # fmt: skip
@click.option("--drop", multiple=True, help="Column to leave out.")
@click.option("--sql", help="Query, when DATA is a database URL.")
@common("json", "quiet", "seed", "threads", "out", "overwrite")
def cluster(
    data: str, counts: str, method: str, distance: str, no_scale: bool, restarts: int,
    drop: tuple[str, ...], sql: str | None, as_json: bool, quiet: bool, seed: int,
    out: Path | None, overwrite: bool,
) -> None:  # fmt: skip
    """Group the rows of DATA. "None" and "several" are possible answers.

    Leaves a folder with report.html, report.json, clusters.csv and model.pellucid.
    """
    from pellucid.cli.outputs import check_files, command_line, default_folder, write_folder

    folder = out if out is not None else default_folder(data, "clusters")
    check_files(folder, FILES, overwrite)
    from pellucid.cli.grouping import find_method, group_rows, memberships, read_counts

    find_method(method)
    frame = read_table(data, sql)
    check_columns(frame, drop)
    from pellucid.cli.inputs import about, open_inputs

    inputs = open_inputs(frame, drop=drop, scale=not no_scale)
    listed = read_counts(counts, len(inputs.Z))
    other = inputs.plain if not no_scale else open_inputs(frame, drop=drop).Z
    with progress(quiet or as_json) as say:
        found = group_rows(
            inputs, other, listed, name=method, distance=distance, restarts=restarts, seed=seed,
            free=len(listed) > 1, say=say,
        )  # fmt: skip
    from sklearn.pipeline import Pipeline

    from pellucid.cli.cluster_page import cluster_page, verdict
    from pellucid.cli.pages import render_page

    labels = found.chosen.labels
    sure = memberships(found.chosen.model, inputs.Z, labels)
    record = {"schema": "pellucid-clusters/1", "verdict": list(verdict(found))}
    record |= found.to_dict() | about(data, inputs, seed) | {"command": command_line()}
    page = render_page(cluster_page(found, inputs, data, command_line()))
    model = Pipeline([("features", inputs.features), ("model", found.chosen.model)])
    columns = {"row": list(range(len(labels))), "cluster": labels, "membership": sure.round(4)}
    paths = write_folder(folder, page, record, {"clusters.csv": columns}, model)
    if as_json:
        print_json(record | {"files": [str(path) for path in paths]})
    elif not quiet:
        show(found, inputs, paths)


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


def show(found: Any, inputs: Any, paths: list[Path]) -> None:
    """Verdict, criteria by k, groups, findings, files."""
    from rich.text import Text

    from pellucid.cli.cluster_page import group_words, verdict
    from pellucid.cli.grouping import traits
    from pellucid.cli.learn import finding_row
    from pellucid.report.words import number

    screen = console()
    said = verdict(found)
    screen.print(Text(said[0], style="bold"))
    for line in said[1:]:
        screen.print(line)
    screen.print()
    rows = []
    for m in found.tried:
        marks = [name.replace("_", " ") for name, k in found.choices.items() if k == m.k]
        cells = (m.k, number(m.error), f"{m.silhouette:.3f}", number(m.calinski_harabasz),
                 f"{m.stability:.3f}", ", ".join(marks))  # fmt: skip
        style = "bold" if m.k == found.chosen.k else ""
        rows.append(tuple(Text(str(c), style=style) for c in cells))
    columns = ("k", "error", "silhouette", "Calinski-Harabasz", "stability", "favourite of")
    screen.print(grid(columns, rows, right=range(5)))
    screen.print()
    lines = zip(*group_words(found, traits(inputs, found.chosen.labels, 3), inputs), strict=True)
    screen.print(grid(("group", "rows", "what sets it apart"), lines, right=(0, 1)))
    if found.findings:
        screen.print()
        screen.print(grid(("finding", "", "where"), [finding_row(f) for f in found.findings]))
    screen.print()
    screen.print(grid(("", ""), [(path.name, str(path)) for path in paths]))
