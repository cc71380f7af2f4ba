"""The measured cases as a page of Markdown."""

import time
from collections.abc import Iterable

from benchmarks.calibration.case import Row

HEAD = """# Calibration

Everything that prints low and high, in designs with a known truth: how often the interval holds
it. Written by `python -m benchmarks.calibration`. A row *holds* when the measured coverage is
within 0.02 of the nominal one, or not below it where the interval promises "at least" so much;
further off it is *said* when the record itself prints the caveat quoted there, and without a caveat
it holds within two Monte-Carlo errors more; anything else *fails*.
"""


def verdict(row: Row) -> str:
    """How the row came out, with the caveat where that is what counts."""
    if row.verdict == "said":
        return f'said: "{row.case.caveat}"'
    return (
        f"holds ({'at least' if row.case.at_least else 'about'})"
        if row.verdict == "holds"
        else "**fails**"
    )


def case_table(rows: Iterable[Row]) -> list[str]:
    lines = [
        "| interval | design | nominal | measured | error | n | |",
        "|---|---|--:|--:|--:|--:|---|",
    ]
    for row in rows:
        numbers = f"{row.case.nominal:g} | {row.measured:.3f} | {row.error:.3f} | {row.n:,}"
        lines.append(f"| `{row.case.thing}` | {row.case.design} | {numbers} | {verdict(row)} |")
    return lines


def other_table(rows: Iterable[tuple[str, float, float, float, int]]) -> list[str]:
    lines = ["| what | nominal | measured | error | n |", "|---|--:|--:|--:|--:|"]
    return lines + [f"| {w} | {nom:g} | {m:.3f} | {e:.3f} | {n:,} |" for w, nom, m, e, n in rows]


def page(
    rows: list[Row], others: dict[str, list[tuple[str, float, float, float, int]]], how: str
) -> str:
    """The whole page."""
    count = {kind: sum(row.verdict == kind for row in rows) for kind in ("holds", "said", "fails")}
    totals = ", ".join(f"{n} {kind}" for kind, n in count.items())
    text = [
        HEAD,
        f"- date: {time.strftime('%Y-%m-%d')}, {how}",
        f"- {len(rows)} cases: {totals}",
        "",
    ]
    text += ["## Intervals", "", *case_table(rows), ""]
    for group, lines in others.items():
        note = '"about", "at least", "at most": what a row should be; "reported": a known weakness.'
        text += [f"## {group.capitalize()}", "", note, "", *other_table(lines), ""]
    return "\n".join(text)
