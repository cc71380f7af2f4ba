"""The audit of a table as a picture: every column, what it holds and misses, and the findings."""

from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.plots.panels.marks import words
from pellucid.plots.panels.style import GREY, Axes, Picture, colour, new_figure, quiet

MOST = 30  # columns drawn; of more, those with findings and the first
TINTS = {"info": GREY, "warning": "#B45309", "error": "#B91C1C"}
WIDE = 58  # characters of a line of a finding


class Line(NamedTuple):
    """One column of the table."""

    name: str
    kind: str
    role: str
    missing: float  # share
    distinct: int
    counts: Array  # heights of its bars, over the largest
    levels: bool  # whether the bars are levels rather than bins
    codes: tuple[str, ...]  # of its findings


class Profile(Picture):
    lines: tuple[Line, ...]
    findings: tuple[tuple[str, str, str], ...]  # severity, code and title, where
    n_rows: int
    n_columns: int

    def plot(self) -> Any:
        """Names, distributions, missing shares, findings; the figure."""
        texts = [self._text(found) for found in self.findings]
        lines = sum(1 + len(t) for _, _, t in texts) + 1
        height = max(1.4 + 0.34 * len(self.lines), 1.0 + 0.2 * lines, 2.6)
        figure = new_figure((11.0, height))
        bars, missing, notes = figure.subplots(1, 3, width_ratios=[1.3, 0.8, 2.3])
        self._bars(quiet(bars))
        self._missing(quiet(missing))
        self._notes(notes, texts, lines, height)
        figure.suptitle(self.title, fontsize="medium", wrap=True)
        return figure

    def _bars(self, ax: Axes) -> None:
        for i, line in enumerate(self.lines):
            m = len(line.counts)
            if m:
                gap = 0.15 if line.levels else 0.0
                at = (np.arange(m) + 0.5) / m
                height, tint = -0.75 * line.counts, colour(2 if line.levels else 0)
                ax.bar(at, height, (1 - gap) / m, bottom=i + 0.38, color=tint, alpha=0.75)
        names = [f"{v.name}  ({_said(v)})" for v in self.lines]
        ax.set_yticks(range(len(self.lines)), names)
        for tick, line in zip(ax.get_yticklabels(), self.lines, strict=True):
            tick.set_fontweight("bold" if line.role == "target" else "normal")
            tick.set_color(GREY if line.role == "left_out" else "black")
        ax.set_xticks([])
        ax.set(ylim=(len(self.lines) - 0.5, -0.6), xlim=(0, 1))
        ax.grid(False)
        ax.set_title("values: bins blue, levels green", loc="left", fontsize="small")

    def _missing(self, ax: Axes) -> None:
        at = np.arange(len(self.lines))
        share = np.array([100 * line.missing for line in self.lines])
        ax.barh(at, share, 0.6, color=colour(1))
        for i, value in enumerate(share):
            if value > 0:
                ax.text(value, i, f" {value:.2g} %", va="center", fontsize="small")
        ax.set(ylim=(len(self.lines) - 0.5, -0.6), xlim=(0, max(share.max(initial=0) * 1.35, 1)))
        ax.set_yticks([])
        ax.set_title("missing, %", loc="left", fontsize="small")

    def _text(self, found: tuple[str, str, str]) -> tuple[str, str, list[str]]:
        severity, head, where = found
        return severity, head, wrap(where, WIDE) if where else []

    def _notes(self, ax: Axes, texts: Any, lines: int, height: float) -> None:
        ax.axis("off")
        ax.set_title(f"findings: {len(texts)}", loc="left", fontsize="small")
        ax.set(xlim=(0, 1), ylim=(max(lines, height / 0.2 - 4), 0))
        y = 0.7
        for severity, head, where in texts:
            said, tint = f"{severity}  {head}", TINTS[severity]
            ax.text(0, y, said, color=tint, fontweight="bold", fontsize="small", va="center")
            for text in where:
                y += 1
                ax.text(0.03, y, text, fontsize="small", va="center")
            y += 1
        if not texts:
            ax.text(0, y, "none", fontsize="small", va="center")


def _said(line: Line) -> str:
    kind = f"{line.kind}, {line.distinct} values" if line.levels else line.kind
    return kind if line.role == "input" else f"{line.role.replace('_', ' ')}, {kind}"


def profile(audit: Any) -> Profile:
    """The columns of an audited table, what they miss, and what was found.

    ``audit``: Audit; of ``study.audit``, or the ``audit`` of a study record.

    Examples
    --------
    >>> from pellucid.plots import profile
    >>> from pellucid.study import audit
    >>> table = {"x": [float(i) ** 2 for i in range(40)], "id": [f"P{i}" for i in range(40)],
    ...          "y": ["a", "b"] * 20}
    >>> picture = profile(audit(table, "y"))
    >>> [line.name for line in picture.lines], picture.findings[0][1]
    (['x', 'id', 'y'], 'PEL105 Identifier')
    """
    audit = getattr(audit, "audit", audit)
    if not (hasattr(audit, "findings") and hasattr(audit, "columns")):
        raise ValueError(f"profile needs the Audit of study.audit, got {type(audit).__name__}")
    codes: dict[str, list[str]] = {}
    for f in audit.findings:
        for name in f.where:
            codes.setdefault(name, []).append(f.code)
    lines = [_line(c, audit.n_rows, tuple(codes.get(c.name, ()))) for c in audit.columns]
    kept = sorted(range(len(lines)), key=lambda i: (not lines[i].codes, i))[:MOST]
    shown = tuple(lines[i] for i in sorted(kept))
    found = tuple((f.severity, f"{f.code} {f.title}", words(f.where)) for f in audit.findings)
    title = f"{audit.n_rows} rows, {audit.n_columns} columns, {len(found)} findings"
    if len(shown) < len(lines):
        title += f" ({len(shown)} columns shown, those with findings first)"
    missing = [line.name for line in lines if line.missing > 0]
    alt = f"Profile of a table: {title}."
    alt += f" Missing values in {words(missing)}." if missing else " No missing values."
    alt += f" Findings: {words([head for _, head, _ in found])}." if found else ""
    return Profile(alt, shown, found, audit.n_rows, audit.n_columns, title=title)


def _line(c: Any, n: int, codes: tuple[str, ...]) -> Line:
    heights = np.array([count for _, count in c.counts], dtype=np.float64)
    top = heights.max(initial=0.0)
    levels = c.kind in ("category", "text", "truth", "list")
    counts = heights / top if top > 0 else heights
    return Line(c.name, c.kind, c.role, c.missing / max(n, 1), c.distinct, counts, levels, codes)
