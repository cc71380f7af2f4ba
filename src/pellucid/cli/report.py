"""``pellucid report FILE.json``: the page again, from its data alone."""

from pathlib import Path
from typing import Any

import click

from pellucid.cli.shared.options import Code, Stop, check_output, common, print_json, say

# what a record that is not whole makes a page run into
BROKEN = (LookupError, TypeError, AttributeError, StopIteration, ValueError, ArithmeticError)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@common("json", "quiet", "out", "overwrite")
def report(file: Path, as_json: bool, quiet: bool, out: Path | None, overwrite: bool) -> None:
    """Render the HTML page of a record again: of learn, cluster, reduce, anomalies, compare, sweep.

    FILE is the report.json of a folder, or what --out of compare and sweep has kept. Written beside
    FILE with the ending .html unless --out says otherwise.
    """
    data = read_report(file)
    target = out if out is not None else file.with_suffix(".html")
    check_output(target, overwrite)

    from jinja2 import TemplateError

    from pellucid.report.tables.pages import render_record
    from pellucid.report.writing import write_text

    try:
        page = render_record(data)
    except (*BROKEN, TemplateError) as error:
        text = f"{file} is not a whole report: {type(error).__name__} at {error}"
        raise Stop(Code.DATA, text) from error
    write_text(target, page)
    if as_json:
        print_json({"report": str(target), "bytes": len(page.encode())})
    elif not quiet:
        say(target)


def read_report(file: Path) -> dict[str, Any]:
    """The JSON of a report, or one sentence about why it is none."""
    from pellucid.core.runtime.json_text import read_json
    from pellucid.core.runtime.whole_file import read_whole
    from pellucid.report.tables.pages import PAGES

    try:
        data = read_json(read_whole(file), str(file))
    except ValueError as error:
        raise Stop(Code.DATA, str(error)) from error
    if not isinstance(data, dict) or data.get("schema") not in tuple(PAGES):
        commands = "learn, cluster, reduce, anomalies, compare or sweep"
        raise Stop(Code.DATA, f"{file} is not a record of `pellucid {commands}`")
    return data
