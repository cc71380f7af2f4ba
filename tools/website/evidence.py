"""How sure: which intervals the names of a page give, and how often they held in simulations."""

from __future__ import annotations

import inspect
import re
from functools import cache
from typing import NamedTuple

from tools.website import names
from tools.website.names import ROOT

ROW = re.compile(
    r"^\| `[\w.]*?(\w+)\.(\w+)` \| (.+?) \| ([\d.]+) \| ([\d.]+) \| [\d.]+ \| ([\d,]+) \| (\w+)",
    re.MULTILINE,
)


class Simulated(NamedTuple):
    """One interval in one design."""

    owner: str
    method: str
    design: str
    nominal: str
    measured: str
    runs: str
    verdict: str


@cache
def simulations() -> tuple[Simulated, ...]:
    """The table of intervals of ``benchmarks/CALIBRATION.md``."""
    text = (ROOT / "benchmarks/CALIBRATION.md").read_text(encoding="utf-8")
    return tuple(Simulated(*match.groups()) for match in ROW.finditer(text))


def part(name: str, to_root: str) -> str:
    """The section of one page."""
    wanted = names.names_of(name)
    rows = [row for row in simulations() if row.owner in wanted]
    rows += [row for row in simulations() if row.method in wanted]
    if rows:
        return "\n".join(
            [*table(rows), "", f"All designs: [calibration]({to_root}results-calibration.md)."]
        )
    classes = [thing for n in wanted if (thing := names.by_name(n)) is not None]
    said = sorted({f"`{thing.name}.{method}`" for thing in classes for method in intervals(thing)})
    if said:
        return (
            f"Limits are given by {', '.join(said)}; what is assumed is in their text, what was "
            f"simulated on the page of [calibration]({to_root}results-calibration.md)."
        )
    reason = next((why for thing in classes if (why := reason_of(thing))), None)
    if reason:
        return f"No standard errors: {reason}."
    return (
        "What comes out is computed and not estimated from a sample, or states its own limits in "
        "the sections above."
    )


def reason_of(thing: names.Public) -> str | None:
    """What the ``summary()`` of an estimator without standard errors says of them."""
    from pellucid.base import Estimator, no_errors

    if thing.module.startswith("pellucid.deep."):
        return no_errors(thing.module)
    value = names.load(thing)
    plain = inspect.isclass(value) and getattr(value, "summary", None) is Estimator.summary
    return no_errors(value.__module__) if plain else None


def table(rows: list[Simulated]) -> list[str]:
    """A line for each method: designs, and the least and largest coverage."""
    text = ["| interval | nominal | held in simulations | designs |", "|---|--:|--:|--:|"]
    groups: dict[tuple[str, str, str], list[Simulated]] = {}
    for row in rows:
        groups.setdefault((row.owner, row.method, row.nominal), []).append(row)
    for (owner, method, nominal), found in groups.items():
        shares = sorted(float(row.measured) for row in found)
        held = f"{shares[0]:.3f}" + (f" to {shares[-1]:.3f}" if shares[0] != shares[-1] else "")
        few = sum(row.verdict == "said" for row in found)
        caveat = f", {few} with a caveat that the record prints" if few else ""
        text.append(f"| `{owner}.{method}` | {nominal} | {held} | {len(found)}{caveat} |")
    return text


def intervals(thing: names.Public) -> list[str]:
    """The methods of a class that take ``confidence``, and a ``summary`` of its own."""
    from pellucid.base import Estimator

    if thing.module.startswith("pellucid.deep."):
        return []
    value = names.load(thing)
    if not inspect.isclass(value):
        return []
    return [
        name
        for name, member in inspect.getmembers(value, inspect.isfunction)
        if not name.startswith("_")
        and member is not Estimator.summary
        and (name == "summary" or "confidence" in inspect.signature(member).parameters)
    ]
