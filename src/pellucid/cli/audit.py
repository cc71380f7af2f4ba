"""``pellucid audit DATA``: what is wrong or remarkable about a table."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pellucid.cli.shared.options import Code, Stop, check_output, common, console, grid, print_json
from pellucid.cli.shared.tables import check_columns, read_table

if TYPE_CHECKING:
    from rich.console import Console

    from pellucid.study.records import Audit, ColumnProfile, Finding
    from pellucid.study.saved.evaluation import Judgement

COLOURS = {"error": "red", "warning": "yellow", "info": "dim"}
NAME, LEVELS = 24, 30  # the widest cells of the table of columns
MOST = 1000  # columns that are printed


@click.command()
@click.argument("data")
@click.option("--target", "targets", multiple=True, help="Column to predict.")
@click.option("--ignore", multiple=True, metavar="CODE", help="Finding to leave unsaid.")
@click.option("--strict", is_flag=True, help="Exit 1 on a warning too.")
@click.option("--sql", help="Query, when DATA is a database URL.")
@common("json", "quiet", "threads", "out", "overwrite")
def audit(
    data: str,
    targets: tuple[str, ...],
    ignore: tuple[str, ...],
    strict: bool,
    sql: str | None,
    as_json: bool,
    quiet: bool,
    out: Path | None,
    overwrite: bool,
) -> None:
    """Look DATA over: missing cells, identifiers, duplicates, leaks, targets that cannot work.

    Exit code 1 when a finding is an error. --out FILE keeps the record as JSON.
    """
    if out is not None:
        check_output(out, overwrite)
    frame = read_table(data, sql)
    check_columns(frame, targets)
    from pellucid.data.sql import without_password

    shown = without_password(data)
    if frame.height == 0:
        raise Stop(Code.TASK, f"{shown} has no rows")
    from pellucid.study import audit as look_over

    target = None if not targets else targets[0] if len(targets) == 1 else list(targets)
    codes = [code for text in ignore for code in text.replace(",", " ").split()]
    record = look_over(frame, target, ignore=codes)
    if out is not None:
        keep(record, out)
    if as_json:
        print_json(record.to_dict())
    elif not quiet:
        show(record, shown)
    severities = {finding.severity for finding in record.findings}
    if "error" in severities or (strict and "warning" in severities):
        raise click.exceptions.Exit(Code.FAILED_CHECK)


def keep(record: "Audit | Judgement", out: Path) -> None:
    """The record as a JSON file."""
    import json

    from pellucid.core.runtime.atomic import replacing
    from pellucid.core.visible import visible

    text = visible(json.dumps(record.to_dict(), ensure_ascii=False, allow_nan=False))
    with replacing(str(out)) as file:
        file.write(text.encode("utf-8"))


def show(record: "Audit", data: str) -> None:
    """Findings first, then one line for every column, up to MOST."""
    screen = console()
    screen.print(f"{short(data, 60)}: {record.n_rows:,} rows, {record.n_columns:,} columns")
    screen.print()
    if record.findings:
        for finding in record.findings:
            show_finding(screen, finding)
    else:
        screen.print("Nothing to find fault with.")
    screen.print()
    columns = ("column", "kind", "role", "missing", "distinct", "values")
    shown = record.columns[:MOST]
    screen.print(grid(columns, [column_row(c) for c in shown], right=(3, 4)))
    if len(record.columns) > MOST:
        more = f"and {len(record.columns) - MOST:,} more columns"
        screen.print(f"{more}: --json prints them all, --out FILE keeps them")


def show_finding(screen: "Console", finding: "Finding") -> None:
    """Code and title, where, the numbers; for what is grave also why and what to do."""
    from rich.padding import Padding
    from rich.text import Text

    from pellucid.report.sentences import evidence_words

    line = Text()
    line.append(f"{finding.code} ", style=COLOURS[finding.severity])
    line.append(finding.title, style="bold")
    line.append(f"  {finding.severity}", style=COLOURS[finding.severity])
    screen.print(line)
    where = [short(name, 40) for name in finding.where]
    named = ", ".join(where[:8]) + (f" and {len(where) - 8} more" if len(where) > 8 else "")
    words = [named] if named else []
    words += [numbers] if (numbers := evidence_words(finding.evidence)) else []
    if words:
        screen.print(Padding(Text(": ".join(words)), (0, 0, 0, 2), expand=False))
    if finding.severity != "info":
        screen.print(
            Padding(Text(f"{finding.why} {finding.fix}", style="dim"), (0, 0, 0, 2), expand=False)
        )


def column_row(column: "ColumnProfile") -> tuple[str, ...]:
    """One column in one line."""
    return (
        short(column.name, NAME),
        column.kind,
        "" if column.role == "input" else column.role.replace("_", " "),
        f"{column.missing:,}" if column.missing else "",
        f"{column.distinct:,}",
        short(values(column), LEVELS),
    )


def values(column: "ColumnProfile") -> str:
    """The range of numbers and dates, or the commonest levels."""
    from pellucid.core.records import show as number

    if column.low is not None:
        low, high = (
            number(v) if isinstance(v, int | float) else str(v)[:16]
            for v in (column.low, column.high)
        )
        return f"{low} … {high}"
    return ", ".join(str(level) for level, _ in column.counts[:4])


def short(text: object, most: int) -> str:
    """Printable and at most so long.

    >>> short("a" + chr(27) + "[31mb", 12) == "a" + chr(92) + "x1b[31mb", short("abcdef", 4)
    (True, 'abc…')
    """
    plain = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text)
    )
    return plain if len(plain) <= most else plain[: most - 1] + "…"
