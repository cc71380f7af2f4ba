"""What a model says of itself: the card and the summary, as text, as a dict and as HTML."""

import math
from html import escape
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.figures import figures
from pellucid.core.readable import MOST, readable

WIDTH = 100  # columns of a terminal


def plain(value: object) -> Any:
    """A JSON-safe copy: arrays become lists, NaN and infinities None."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int | bool) else str(value)


def show(value: object) -> str:
    """A number for reading: six significant digits; NaN as a dash.

    >>> show(3.14159265), show(float("nan")), show(12)
    ('3.14159', '-', '12')
    """
    return figures(value)


def text_table(columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    """An aligned table: names to the left, numbers to the right."""
    cells = [[show(cell) for cell in row] for row in rows]
    widths = [max([len(c), *(len(r[j]) for r in cells)]) for j, c in enumerate(columns)]
    lines = []
    for row in [list(columns), *cells]:
        rest = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        lines.append("  ".join([row[0].ljust(widths[0]), *rest]).rstrip())
    return "\n".join(lines)


def wrapped(text: str) -> str:
    """Sentences folded at WIDTH columns; the lines of a table are left as they are."""
    if "\n" in text:
        return text
    return fill(text, WIDTH, subsequent_indent="  ", break_long_words=False) or text


def html_table(columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    """The same table as HTML; every cell is escaped."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(show(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


@readable
class Advice(NamedTuple):
    """One choice and its reason.

    >>> print(Advice("solver", "closed form", "10 columns"))
    solver: closed form (10 columns)
    """

    topic: str  # what is chosen
    choice: str  # the recommendation
    reason: str  # why

    def to_dict(self) -> dict[str, Any]:
        """The three texts by name."""
        return plain(self._asdict())

    def __str__(self) -> str:
        return f"{self.topic}: {self.choice} ({self.reason})"


@readable
class Card(NamedTuple):
    """Representation, evaluation and optimisation of one fit, with its numbers.

    >>> print(Card("a constant", "squared error", "the mean", {"n": 3}))
    Representation  a constant
    Evaluation      squared error
    Optimisation    the mean
    Numbers         n = 3
    """

    representation: str
    evaluation: str
    optimisation: str
    numbers: dict[str, Any] = {}  # noqa: RUF012  never written to
    scales: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return plain(self._asdict())

    def _lines(self) -> list[tuple[str, str]]:
        numbers = ", ".join(f"{name} = {show(value)}" for name, value in self.numbers.items())
        return [
            ("Representation", self.representation),
            ("Evaluation", self.evaluation),
            ("Optimisation", self.optimisation),
            *([("Numbers", numbers)] if numbers else []),
            *(("Scale", line) for line in self.scales),
            *(("Warning", line) for line in self.warnings),
        ]

    def __str__(self) -> str:
        return "\n".join(
            fill(f"{name:<15} {text}", WIDTH, subsequent_indent=16 * " ", break_long_words=False)
            for name, text in self._lines()
        )

    def _repr_html_(self) -> str:
        pairs = [(escape(name), escape(text)) for name, text in self._lines()]
        rows = "".join(f"<tr><th>{name}</th><td>{text}</td></tr>" for name, text in pairs)
        return f"<table>{rows}</table>"


class Summary:
    """Estimates with their uncertainty, or the reason why there is none.

    ``names estimate standard_error statistic p_value low high`` and any further arrays and
    scalars of the model are attributes; ``columns`` and ``rows`` are the same as a table.

    >>> summary = Summary(title="Mean", names=("mean",), arrays={"estimate": np.array([2.0])})
    >>> summary.estimate, summary.rows
    (array([2.]), [('mean', 2.0)])
    """

    def __init__(
        self,
        *,
        title: str,
        names: tuple[str, ...],
        arrays: dict[str, Any],
        scalars: dict[str, Any] | None = None,
        valid: bool = True,
        reason: str = "",
        notes: tuple[str, ...] = (),
    ) -> None:
        self.title = title
        self.names = tuple(names)
        self.arrays = dict(arrays)
        self.scalars = dict(scalars or {})
        self.valid = valid
        self.reason = reason
        self.notes = tuple(notes)

    def __getattr__(self, name: str) -> Any:
        for part in ("arrays", "scalars"):
            if name in self.__dict__.get(part, {}):
                return self.__dict__[part][name]
        raise AttributeError(f"the summary has no {name!r}")

    @property
    def columns(self) -> tuple[str, ...]:
        return ("name", *self.arrays)

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        columns = [np.asarray(values) for values in self.arrays.values()]
        if columns and columns[0].ndim == 2:  # several outputs: one after the other
            k = columns[0].shape[0]
            names = [f"y{i}: {name}" for i in range(k) for name in self.names]
            columns = [column.ravel() for column in columns]
        else:
            names = list(self.names)
        return list(zip(names, *(column.tolist() for column in columns), strict=True))

    def to_dict(self) -> dict[str, Any]:
        keys = ("title", "names", "arrays", "scalars", "valid", "reason", "notes")
        return plain({key: getattr(self, key) for key in keys})

    def __str__(self) -> str:
        scalars = self._scalars()
        lines = [self.title, *([text_table(self.columns, self.rows)] if self.arrays else [])]
        lines += [", ".join(scalars[i : i + 5]) for i in range(0, len(scalars), 5)]
        if not self.valid:
            lines.append(f"Not valid for inference: {self.reason}")
        lines += [f"- {note}" for note in self.notes]
        return "\n".join(wrapped(line) for line in lines)

    def __repr__(self) -> str:
        text = str(self)
        if len(text) <= MOST:
            return text
        lines, kept = text.split("\n"), list[str]()
        while sum(map(len, kept)) + len(kept) + len(lines[len(kept)]) < MOST - 60:
            kept.append(lines[len(kept)])
        return "\n".join([*kept, f"... {len(lines) - len(kept)} more lines: print it"])

    def _repr_html_(self) -> str:
        reason = [] if self.valid else [f"Not valid for inference: {self.reason}"]
        notes = "".join(f"<li>{escape(line)}</li>" for line in (*reason, *self.notes))
        body = html_table(self.columns, self.rows) if self.arrays else ""
        table = f"<h4>{escape(self.title)}</h4>{body}"
        return f"{table}<p>{escape(', '.join(self._scalars()))}</p><ul>{notes}</ul>"

    def _scalars(self) -> list[str]:
        return [f"{n} = {show(v)}" for n, v in self.scalars.items() if np.ndim(v) == 0]
