"""``pellucid demo [METHOD]``: the course's own example, beside the expected numbers."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pellucid.cli.shared.options import Code, Stop, check_output, common, console, grid, print_json
from pellucid.study.errors import nearest

if TYPE_CHECKING:
    from pellucid.study.examples.examples import Outcome


@click.command()
@click.argument("method", required=False)
@click.option("--list", "only_list", is_flag=True, help="List the examples.")
@click.option("--all", "everything", is_flag=True, help="Run every example.")
@common("json", "quiet", "threads", "out", "overwrite")
def demo(
    method: str | None,
    only_list: bool,
    everything: bool,
    as_json: bool,
    quiet: bool,
    out: Path | None,
    overwrite: bool,
) -> None:
    """Run the course's example of METHOD and print it beside the expected numbers.

    Without METHOD the examples are listed. Exit code 1 when a number does not agree.
    """
    if out is not None:
        check_output(out, overwrite)
    from pellucid.study.examples.examples import all_demos, run_demo

    demos = all_demos()
    if only_list or (method is None and not everything):
        listing = [d._asdict() for d in demos.values()]
        keep = ("name", "family", "what")
        answer: dict[str, Any] = {"demos": [{key: d[key] for key in keep} for d in listing]}
        finish(answer, out, as_json)
        if not (as_json or quiet):
            show_list(demos)
        return
    if not everything and method not in demos:
        raise Stop(Code.USAGE, nearest("example", str(method), demos))
    outcomes = [run_demo(d) for d in demos.values() if everything or d.name == method]
    answer = {"demos": [o.to_dict() for o in outcomes], "agrees": all(o.agrees for o in outcomes)}
    finish(answer, out, as_json)
    if not (as_json or quiet):
        if everything:
            show_all(outcomes)
        else:
            show(outcomes[0])
    if not answer["agrees"]:
        raise click.exceptions.Exit(Code.FAILED_CHECK)


def finish(answer: dict[str, Any], out: Path | None, as_json: bool) -> None:
    """Keep and print the record as JSON where asked."""
    if out is not None:
        from pellucid.core.records import plain
        from pellucid.report.writing import dump, write_text

        write_text(out, dump(plain(answer)))
    if as_json:
        print_json(answer)


def show_list(demos: dict[str, Any]) -> None:
    rows, last = [], ""
    for d in demos.values():
        rows.append((d.family if d.family != last else "", d.name, d.what))
        last = d.family
    console().print(grid(("family", "example", "what it shows"), rows))


def show(outcome: "Outcome") -> None:
    """One example: computed and expected one under the other, so that digits line up."""
    from rich.text import Text

    from pellucid.study.examples.examples import side_by_side

    screen = console()
    screen.print(Text(f"{outcome.demo.name}: {outcome.demo.what}", style="bold"))
    screen.print()
    rows: list[tuple[Any, ...]] = []
    for line in outcome.lines:
        mark = Text("agrees", style="green") if line.agrees else Text("differs", style="bold red")
        rows.append((line.what, "computed", side_by_side(line.value), mark))
        expected = Text(side_by_side(line.expected), style="dim")
        rows.append(("", Text("expected", style="dim"), expected, ""))
    screen.print(grid(("", "", "", ""), rows))


def show_all(outcomes: list[Any]) -> None:
    """One line for every example."""
    from rich.text import Text

    screen = console()
    rows = []
    for o in outcomes:
        wrong = [line.what for line in o.lines if not line.agrees]
        mark = Text("differs", style="bold red") if wrong else Text("agrees", style="green")
        numbers = f"{len(o.lines)} quantities" if not wrong else ", ".join(wrong)
        rows.append((o.demo.name, o.demo.what, numbers, mark))
    screen.print(grid(("example", "what it shows", "", ""), rows))
    good = sum(o.agrees for o in outcomes)
    screen.print(f"\n{good} of {len(outcomes)} examples agree with the course's numbers.")
