"""``pellucid teach list|sheet|check``: exercises with fresh numbers for every student."""

from pathlib import Path

import click

from pellucid.cli.shared.options import (
    Code,
    Stop,
    check_output,
    common,
    console,
    grid,
    print_json,
    say,
)
from pellucid.study.errors import nearest


@click.group()
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def teach() -> None:
    """List exercises, write sheets with solutions and graders, grade a filled sheet."""


@teach.command("list")
@click.argument("topic", required=False)
@common("json", "quiet")
def list_command(topic: str | None, as_json: bool, quiet: bool) -> None:
    """List the exercises of TOPIC, or of all topics."""
    from pellucid.teach import exercises

    found = exercises(None if topic is None else known(topic))
    if as_json:
        rows = [{"address": e.address, "title": e.title, "steps": len(e.steps)} for e in found]
        print_json({"exercises": rows})
    elif not quiet:
        cells = [(e.address, str(len(e.steps)), e.title) for e in found]
        console().print(grid(("exercise", "steps", "title"), cells, right=(1,)))


@teach.command()
@click.argument("topic")
@click.option("--out", type=click.Path(path_type=Path), help="Folder to write to (default: here).")
@common("json", "quiet", "seed", "overwrite")
def sheet(
    topic: str, out: Path | None, as_json: bool, quiet: bool, seed: int, overwrite: bool
) -> None:
    """Write the sheet of TOPIC, its solution and a grader for nbgrader.

    TOPIC is a topic such as regression, or one exercise such as regression/line. Each --seed is
    another student with other numbers.
    """
    from pellucid.teach import write_sheet
    from pellucid.teach.writing import files_of

    known(topic)
    folder = out if out is not None else Path()
    for name in files_of(topic, seed) if folder.is_dir() else ():
        check_output(folder / name, overwrite)
    written = write_sheet(topic, seed, folder)
    if as_json:
        print_json({"topic": topic, "seed": seed, "files": [str(path) for path in written]})
    elif not quiet:
        say("\n".join(map(str, written)))


@teach.command()
@click.argument("notebook", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    default=60.0,
    show_default=True,
    help="Time that the cells may take.",
)
@common("json", "quiet")
def check(notebook: Path, seconds: float, as_json: bool, quiet: bool) -> None:
    """Grade a filled sheet: which steps are right, and what went wrong in the others.

    The code of NOTEBOOK is run on this machine, in a process of its own: grade only what you would
    open and run. The exit code is 0 when every step is right.
    """
    from pellucid.teach import grade_notebook

    graded = grade_notebook(notebook, seconds)
    steps = sum(len(report.verdicts) for report in graded.reports.values())
    right = sum(v.right for report in graded.reports.values() for v in report.verdicts)
    if as_json:
        reports = {
            address: [verdict._asdict() for verdict in report.verdicts]
            for address, report in graded.reports.items()
        }
        faults = list(graded.faults)
        found = {"seed": graded.seed, "score": graded.score, "reports": reports, "faults": faults}
        print_json(found)
    elif not quiet:
        for address, report in graded.reports.items():
            say(f"{address}\n{report}\n")
        for fault in graded.faults:
            say(fault, err=True)
        say(
            f"seed {graded.seed}, exercises: {len(graded.reports)}, steps right: {right} of {steps}"
        )
    if right < steps:
        raise Stop(Code.FAILED_CHECK, f"{steps - right} of {steps} steps not right yet")


def known(topic: str) -> str:
    """The topic, or an answer with the nearest names."""
    from pellucid.teach import exercises
    from pellucid.teach.catalogue import TOPICS

    name = topic.partition("/")[0]
    if name not in TOPICS:
        raise click.UsageError(nearest("topic", name, TOPICS))
    addresses = [e.address for e in exercises(name)]
    if "/" in topic and topic not in addresses:
        raise click.UsageError(nearest("exercise", topic, addresses))
    return topic
