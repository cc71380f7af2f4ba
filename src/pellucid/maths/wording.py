"""Numbers, vectors and records in words."""

from collections.abc import Iterable
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.core.figures import figures

WIDTH = 92  # columns of a sentence
SHOWN = 6  # entries of a list before the dots


def number(value: Any) -> str:
    """Six significant digits, no minus zero, complex numbers as a + bi.

    >>> number(-0.0), number(1 / 3), number(2 - 1j)
    ('0', '0.333333', '2 - 1i')
    """
    if isinstance(value, complex | np.complexfloating):
        if value.imag == 0:
            return number(value.real)
        sign = "-" if value.imag < 0 else "+"
        return f"{number(value.real)} {sign} {number(abs(value.imag))}i"
    return figures(value + 0.0, missing="nan")


def listed(values: Iterable[Any]) -> str:
    """The first few numbers, then dots.

    >>> listed(range(9))
    '0, 1, 2, 3, 4, 5, ... (9 in all)'
    """
    items = [number(value) for value in values]
    if len(items) <= SHOWN + 1:
        return ", ".join(items)
    return ", ".join(items[:SHOWN]) + f", ... ({len(items)} in all)"


def point(x: Array) -> str:
    """A vector as (1, 2, 3).

    >>> point(np.array([1.0, -0.5]))
    '(1, -0.5)'
    """
    return f"({listed(x)})"


def span(B: Array) -> str:
    """The columns of a basis, one after the other.

    >>> span(np.array([[1.0, 0.0], [2.0, 1.0]])), span(np.zeros((2, 0)))
    ('(1, 2), (0, 1)', 'only the zero vector')
    """
    if B.shape[1] == 0:
        return "only the zero vector"
    tail = f", ... ({B.shape[1]} in all)" if B.shape[1] > SHOWN else ""
    return ", ".join(point(b) for b in B.T[:SHOWN]) + tail


def flat(dimension: int) -> str:
    """The name of a flat of this dimension.

    >>> flat(0), flat(1), flat(3)
    ('a point', 'a line', 'a flat of dimension 3')
    """
    names = ("a point", "a line", "a plane")
    return names[dimension] if dimension < 3 else f"a flat of dimension {dimension}"


def one_line(record: NamedTuple) -> str:
    """``Name(field=value, ...)`` on one line, long arrays shortened.

    >>> from typing import NamedTuple
    >>> class Pair(NamedTuple):
    ...     a: int
    ...     b: object
    >>> one_line(Pair(1, np.eye(2)))
    'Pair(a=1, b=array([[1., 0.], [0., 1.]]))'
    """
    with np.printoptions(precision=6, threshold=20, edgeitems=2, linewidth=100_000):
        fields = (f"{name}={value!r}" for name, value in record._asdict().items())
        text = ", ".join(" ".join(field.split()) for field in fields)
    return f"{type(record).__name__}({text})".replace("[ ", "[")


def folded(text: str) -> str:
    """A sentence on lines of at most WIDTH columns.

    >>> folded("one line")
    'one line'
    """
    return fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)
