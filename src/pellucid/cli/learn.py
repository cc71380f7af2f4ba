"""``pellucid learn DATA --target COL``: one honest study, a report, a model and a script."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pellucid.cli.shared.options import Code, common, console, grid, print_json, say
from pellucid.cli.shared.start import SPLITTERS, start_sklearn, uncollected
from pellucid.cli.shared.tables import check_roles, read_costs, read_studied
from pellucid.report.folders import check_folder

if TYPE_CHECKING:
    from pellucid.study.learning import Study
    from pellucid.study.records import Finding, StudyRecord

SHOWN = 12  # findings on the terminal; the report has them all
NARROW = 92  # columns of the terminal below which the seconds of the models are not shown
PARTS = {  # of the whole study, in percent
    "split": (1, 2),
    "audit": (2, 4),
    "features": (4, 5),
    "train": (5, 75),
    "suspicion": (75, 77),
    "evaluate": (77, 95),
    "verdict": (95, 100),
}


@click.command()
@click.argument("data")
@click.option("--target", "targets", multiple=True, help="Column to predict.  [required]")
@click.option(
    "--task", default="auto", show_default=True, help="Kind of task; ordinal: classes in order."
)
@click.option("--metric", default="auto", show_default=True, help="Measure to judge by.")
@click.option("--time", "time_column", help="Column that orders the rows in time.")
@click.option("--groups", help="Column of rows that belong together; none: look for none.")
@click.option("--known-groups", help="Column of groups that new rows will belong to too.")
@click.option("--query", help="Column of the lists to rank.")
@click.option("--cost", type=click.Path(path_type=Path), help="CSV of costs: truth x decision.")
@click.option("--drop", multiple=True, help="Column to leave out; several with commas.")
@click.option("--keep", multiple=True, help="Column to keep although the audit would drop it.")
@click.option("--ignore", multiple=True, help="Code of a finding to leave unsaid.")
@click.option("--candidates", help="Models to try, comma separated.")
@click.option(
    "--effort",
    type=click.Choice(["quick", "standard", "thorough"]),
    default="standard",
    show_default=True,
)
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), help="Seconds.")
@click.option(
    "--test-size",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.2,
    show_default=True,
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Level of the tests.",
)
@click.option(
    "--useful",
    type=click.FloatRange(min=0, min_open=True),
    help="Least gain over guessing that matters, in units of the measure.",
)
@click.option(
    "--sample",
    type=click.IntRange(min=10),
    help="Rows to study, drawn at random.  [default: all; 250,000 of a table of millions]",
)
@click.option(
    "--prefer",
    type=click.Choice(["strong", "simple", "explainable"]),
    default="strong",
    show_default=True,
    help="Which of good models is taken: the best (a simpler one only if shown level), "
    "the simplest not shown worse, or the best that a person can read.",
)
@click.option("--strict", is_flag=True, help="Exit 1 on a warning too.")
@click.option("--sql", help="Query, when DATA is a database URL.")
@common("json", "quiet", "seed", "threads", "out", "overwrite")
def learn(
    data: str,
    targets: tuple[str, ...],
    task: str,
    metric: str,
    time_column: str | None,
    groups: str | None,
    known_groups: str | None,
    sample: int | None,
    query: str | None,
    cost: Path | None,
    drop: tuple[str, ...],
    keep: tuple[str, ...],
    ignore: tuple[str, ...],
    candidates: str | None,
    effort: str,
    time_limit: float | None,
    test_size: float,
    alpha: float,
    useful: float | None,
    prefer: str,
    strict: bool,
    sql: str | None,
    as_json: bool,
    quiet: bool,
    seed: int,
    out: Path | None,
    overwrite: bool,
) -> None:
    """Study DATA: can the target be predicted, how well, and by what?

    Leaves a folder with report.html, report.json, model.pellucid (it has learned from all rows),
    tested.pellucid (the model that was scored), repeat.py and predictions.csv.
    """
    folder = out if out is not None else Path(f"pellucid-{stem(data)}")
    check_folder(folder, overwrite)
    with uncollected():
        start_sklearn(*SPLITTERS)
    rows = read_studied(data, sql, sample, seed)
    frame = rows.frame
    if not targets:
        raise click.UsageError(f"give --target, one of the columns {listed(frame.columns)}")
    drop, keep = columns_of(drop, frame.columns), columns_of(keep, frame.columns)
    check_roles(frame, [*targets, *drop, *keep], groups, time_column, query, known_groups)
    with uncollected():  # heavy: what cannot work has ended by now
        from pellucid.cli.shared.ahead import compiling_ahead
        from pellucid.cli.shared.outputs import command_line
        from pellucid.data.sql import without_password
        from pellucid.report.writing import write
        from pellucid.study import Plan, Study

    plan = Plan(
        time=time_column,
        groups=groups,
        query=query,
        drop=drop,
        keep=keep,
        test_size=test_size,
        alpha=alpha,
        time_limit=time_limit,
        useful=useful,
        known_groups=known_groups,
        sample=sample,
        prefer=prefer,
        candidates=None if candidates is None else tuple(candidates.split(",")),
    )
    asked: dict[str, Any] = {"task": task, "metric": metric, "effort": effort, "ignore": ignore}
    if cost is not None:
        classes = Study(rows, list(targets), plan=plan, random_state=seed, **asked).task.classes
        plan = plan._replace(cost_matrix=read_costs(cost, classes))
    name = Path(data).name if "://" not in data else "a database"
    about = {"source": without_password(data), "name": name, "sql": sql}
    about["command"] = command_line(data)
    study = None
    try:
        with compiling_ahead(), progress(quiet or as_json) as say:
            study = Study(rows, list(targets), plan=plan, random_state=seed, progress=say, **asked)
            record = study.run()
    except KeyboardInterrupt:
        if study is not None:
            keep_partial(study, about, folder, overwrite)
        raise
    record = record._replace(reproduction=record.reproduction | about)
    paths = write(record, folder, overwrite=overwrite)
    if as_json:
        print_json(record.to_dict() | {"files": [str(path) for path in paths]})
    elif not quiet:
        show(record, paths)
    severities = {finding.severity for finding in record.findings}
    if "error" in severities or (strict and "warning" in severities):
        raise click.exceptions.Exit(Code.FAILED_CHECK)


def columns_of(given: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    """Names of columns, several with commas between them where that is no name itself.

    >>> columns_of(["a,b", "c,d"], ["a", "b", "c,d"])
    ('a', 'b', 'c,d')
    """
    parts = [[name] if name in columns else name.split(",") for name in given]
    return tuple(name for some in parts for name in some)


def listed(names: Sequence[str], most: int = 12) -> str:
    """
    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def stem(data: str) -> str:
    """The name of the folder: of the file, without its endings.

    >>> stem("tables/sales.csv.gz"), stem("-"), stem("sqlite:///shop.db?timeout=5")
    ('sales', 'stdin', 'shop')
    >>> stem("postgresql://ann:p.w@host")
    'host'
    """
    if data == "-":
        return "stdin"
    if "://" in data:
        from pellucid.data.sql import without_password

        address = without_password(data).partition("://")[2]
        data = address.partition("?")[0].rpartition("@")[2]
    name = Path(data).name.split(".", 1)[0]
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in name) or "table"


def keep_partial(study: "Study", about: dict[str, Any], folder: Path, overwrite: bool) -> None:
    """Write what an interrupted study had found, if it had found anything."""
    from pellucid.report.writing import write

    try:
        record = study.record()
    except ValueError:  # before the first stage was done
        return
    record = record._replace(reproduction=record.reproduction | about)
    paths = write(record, folder, overwrite=overwrite)
    say(f"partial report: {paths[0]}", err=True)


def position(stage: str, done: int, total: int, told: int) -> float:
    """How far the whole study is, in percent: training takes the greater part.

    ``told`` is the number of steps of this stage that were said before.

    >>> position("audit", 2, 7, 0), position("train", 20, 40, 7), position("verdict", 7, 7, 1)
    (2.0, 40.0, 96.0)
    """
    begin, end = PARTS.get(stage, (0, 0))
    share = done / total if stage == "train" else min(told / 5, 1)
    return begin + (end - begin) * share


@contextmanager
def progress(silent: bool) -> Iterator[Callable[[str, int, int, str], None]]:
    """A bar with the time left on a terminal; nothing in a pipe."""
    screen = console(stderr=True)
    if silent or not screen.is_terminal:
        yield lambda stage, done, total, text: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    wide = 30 if screen.width >= 100 else 10
    columns = (
        TextColumn("{task.fields[stage]:<9}"),
        BarColumn(wide),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    room = max(10, screen.width - wide - 20)  # the bar keeps its length
    told: dict[str, int] = {}
    with Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task("", total=100, stage="reading")

        def say(stage: str, done: int, total: int, text: str) -> None:
            at = position(stage, done, total, told.get(stage, 0))
            told[stage] = told.get(stage, 0) + 1
            line = text if len(text) <= room else f"{text[: room - 1]}…"
            bar.update(task, stage=stage, completed=at, description="" if line == stage else line)

        yield say


def show(record: "StudyRecord", paths: list[Path]) -> None:
    """Verdict, leaderboard, findings, files: nothing wider than 100 columns."""
    from rich.text import Text

    screen = console()
    if record.verdict is not None:
        screen.print()
        screen.print(Text(record.verdict.text[0], style="bold"))
        for sentence in record.verdict.text[1:]:
            screen.print(sentence)
    if record.leaderboard:
        screen.print()
        screen.print(board(record, screen.width))
    listed = [f for f in record.findings if f.severity != "info"] or list(record.findings)
    if listed:
        screen.print()
        screen.print(grid(("finding", "what", "where"), [finding_row(f) for f in listed[:SHOWN]]))
        hidden = len(record.findings) - min(len(listed), SHOWN)
        if hidden:
            screen.print(f"and {hidden} more in the report", style="dim")
    if record.partial:
        screen.print(f"\n{record.partial}")
    others = ", ".join(path.name for path in paths[1:])
    screen.print(f"\nReport: {paths[0]}")
    screen.print(f"Beside it: {others}", style="dim")


def board(record: "StudyRecord", width: int = 100) -> Any:
    """The leaderboard as a table; the chosen row is marked."""
    from rich.text import Text

    from pellucid.report.words import ends, fixed, p_value, places_for

    intervals = [row.interval for row in record.leaderboard]
    ranges = [(i.low, i.high) for i in intervals]
    rows, places = [], places_for([i.estimate for i in intervals], ranges=ranges)
    for row in record.leaderboard:
        i = row.interval
        cells = (
            "→" if row.chosen else " ",
            row.name,
            fixed(i.estimate, places),
            ends(i.low, i.high, places=places, joint=" – "),
            "best" if row.best else p_value(row.p_value),
            str(row.complexity),
            f"{row.seconds:.1f}",
        )
        style = "bold" if row.chosen else ""
        rows.append(tuple(Text(cell, style=style) for cell in cells))
    metric = record.task.metric.replace("_", " ")
    columns = ("", "model", metric, "95 % interval", "p", "complexity", "seconds")
    shown = len(columns) - (width < NARROW)
    return grid(columns[:shown], [row[:shown] for row in rows], right=range(2, shown))


def finding_row(finding: "Finding") -> tuple[Any, ...]:
    from rich.text import Text

    colours = {"error": "red", "warning": "yellow", "info": "dim"}
    where = ", ".join(finding.where[:4]) + (", ..." if len(finding.where) > 4 else "")
    return (
        Text(finding.code, style=colours[finding.severity]),
        finding.title,
        where if len(where) <= 40 else f"{where[:37]}...",
    )
