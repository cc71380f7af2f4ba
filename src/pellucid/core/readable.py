"""How a record looks at a prompt and in a notebook: short as text, whole as HTML.

``readable`` is put above the class of a record. Its text form stays what it was as long as it has
at most MOST characters; beyond that arrays are told by their shape and long values are cut. Its
HTML form is a table of its fields, or its own words where it has some. All text is escaped, and
nothing is fetched.
"""

from collections.abc import Mapping
from html import escape
from typing import Any, TypeVar

import numpy as np

from pellucid.core.figures import figures

MOST = 500  # characters of a text form
FIELD = 60  # characters of one field in a shortened form
ROWS, COLUMNS = 12, 8  # of an array that is shown whole

Record = TypeVar("Record", bound=type)


def readable(cls: Record) -> Record:
    """Give the records of a class a short text form and an HTML form, where they have none.

    >>> from typing import NamedTuple
    >>> @readable
    ... class Fit(NamedTuple):
    ...     name: str
    ...     weights: np.ndarray
    >>> Fit("short", np.zeros(2))
    Fit(name='short', weights=array([0., 0.]))
    >>> Fit("long", np.zeros((40, 9)))
    Fit(name='long', weights=<float64 of shape (40, 9)>)
    >>> Fit("<b>", np.zeros(2))._repr_html_()[:45]
    '<table><tr><th>name</th><td>&lt;b&gt;</td></t'
    """
    whole: Any = cls.__repr__

    def __repr__(self: Any) -> str:  # noqa: N807  put into the class below
        return brief(self, whole(self))

    __repr__.__doc__ = whole.__doc__
    type.__setattr__(cls, "__repr__", __repr__)
    if not hasattr(cls, "_repr_html_"):
        type.__setattr__(cls, "_repr_html_", record_html)
    return cls


def fields_of(record: Any) -> dict[str, Any]:
    """The named parts of a named tuple, a dataclass or another record."""
    names = getattr(record, "_fields", None) or getattr(record, "__dataclass_fields__", None)
    return {name: getattr(record, name) for name in (names or vars(record))}


def brief(record: Any, text: str) -> str:
    """The text if it is short enough; else one without its long parts."""
    if len(text) <= MOST:
        return text
    parts = [f"{name}={told(value)}" for name, value in fields_of(record).items()]
    name, room, kept = type(record).__name__, MOST - len(type(record).__name__) - 8, list[str]()
    for part in parts:
        if room < len(part) + 2:
            break
        kept.append(part)
        room -= len(part) + 2
    rest = ["..."] if len(kept) < len(parts) else []
    return f"{name}({', '.join(kept + rest)})"


def told(value: object) -> str:
    """A value in at most FIELD characters.

    >>> told("a" * 99)[-8:], told(tuple(range(99))), told({"a": 1})
    ("aaaa...'", '<tuple of 99>', "{'a': 1}")
    """
    if isinstance(value, np.ndarray):
        text = repr(value) if value.size <= COLUMNS else ""
        return text if 0 < len(text) <= FIELD and "\n" not in text else shape_of(value)
    if isinstance(value, str):
        return repr(value if len(value) <= FIELD - 2 else f"{value[: FIELD - 5]}...")
    text = repr(value)
    if len(text) <= FIELD and "\n" not in text:
        return text
    if isinstance(value, list | tuple | set | frozenset | Mapping) and not hasattr(
        value, "_fields"
    ):
        return f"<{type(value).__name__} of {len(value)}>"
    return f"<{type(value).__name__}>"


def shape_of(value: np.ndarray) -> str:
    return f"<{value.dtype} of shape {value.shape}>"


def record_html(self: Any) -> str:
    """The record for a notebook: its own words if it has some, else a table of its fields."""
    words = type(self).__str__
    if words not in (object.__str__, tuple.__str__, type(self).__repr__):
        return f"<pre>{escape(str(self))}</pre>"
    rows = (
        f"<tr><th>{escape(name)}</th><td>{value_html(value)}</td></tr>"
        for name, value in fields_of(self).items()
    )
    return f"<table>{''.join(rows)}</table>"


def value_html(value: Any) -> str:
    """A field as HTML: small arrays as tables, records by their own form."""
    if isinstance(value, np.ndarray) and value.size > 0 and value.ndim <= 2:
        table = np.atleast_2d(value)
        if len(table) <= ROWS and table.shape[1] <= COLUMNS:
            cells = ("".join(f"<td>{escape(cell(v))}</td>" for v in row) for row in table.tolist())
            return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
        return escape(shape_of(value))
    if isinstance(value, str):
        return escape(value)
    return escape(cell(value) if np.ndim(value) == 0 and not callable(value) else told(value))


def cell(value: Any) -> str:
    """A number to six digits, anything else in short."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return figures(value) if number else told(value) if not isinstance(value, str) else value


def framed(page: str, title: str, height: str, sandbox: str = "") -> str:
    """A whole page inside a notebook's cell, where it can reach nothing else.

    >>> framed("<p>&</p>", "a", "9em")[:60]
    '<iframe title="a" srcdoc="&lt;p&gt;&amp;&lt;/p&gt;" sandbox='
    """
    look = f"width:100%;height:{height};border:1px solid #8884"
    return (
        f'<iframe title="{escape(title, quote=True)}" srcdoc="{escape(page, quote=True)}" '
        f'sandbox="{escape(sandbox, quote=True)}" style="{look}"></iframe>'
    )
