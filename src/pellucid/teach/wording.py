"""Numbers and arrays in words and in code, for sheets and notebooks."""

from typing import Any

import numpy as np

from pellucid.teach.records import Data, Step

DIGITS = 8  # of an answer in a solution


def said(value: object) -> str:
    """A value inside a sentence: numbers without needless digits.

    >>> said(2.0), said(0.05), said(np.array([1.0, 2.5])), said("A -> B")
    ('2', '0.05', '[1, 2.5]', 'A -> B')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray | list | tuple):
        return f"[{', '.join(said(item) for item in value)}]"
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    return f"{value:.6g}"


def filled(text: str, data: Data) -> str:
    """A text with the numbers of the data in the places of their names.

    >>> filled("at x = {x}", {"x": 3.0})
    'at x = 3'
    """
    return text.format_map({name: said(value) for name, value in data.items()})


def shown(data: Data) -> Data:
    """The part of the data that the sheet shows."""
    return {name: value for name, value in data.items() if not name.startswith("_")}


def as_code(value: object) -> str:
    """Python that makes the value again.

    >>> as_code(np.array([1.0, np.nan])), as_code([(0, 1.5)]), as_code(np.float64(0.5))
    ('np.array([1.0, np.nan])', '[(0, 1.5)]', '0.5')
    """
    if isinstance(value, np.ndarray):
        return f"np.array({repr(value.tolist()).replace('nan', 'np.nan')})"
    return repr(value.item() if isinstance(value, np.generic) else value)


def rounded(value: Any) -> Any:
    """An answer as a person would write it down.

    >>> rounded(np.array([1 / 3, 2.0])), rounded(np.int64(4)), rounded("yes")
    ([0.33333333, 2.0], 4, 'yes')
    """
    if isinstance(value, np.ndarray | list | tuple):
        return [rounded(item) for item in value]
    value = value.item() if isinstance(value, np.generic) else value
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def lines_of(data: Data) -> list[str]:
    """One line ``name = value`` for each item, rows of a table below each other."""
    found = []
    for name, value in shown(data).items():
        if isinstance(value, np.ndarray) and value.ndim == 2:
            gap = " " * (len(name) + 4)
            found.append(f"{name} = [" + f",\n{gap}".join(said(row) for row in value) + "]")
        else:
            found.append(f"{name} = {said(value)}")
    return found


def precision(step: Step, right: object) -> str:
    """How near an answer must be.

    >>> precision(Step("a", "", lambda d: 0.5), 0.5)
    'to 0.001, or 0.1 % of a number over 1'
    """
    if isinstance(right, str):
        return "a word"
    if np.asarray(right).dtype.kind in "iub":
        return "exactly"
    return f"to {step.tolerance:g}, or {100 * step.tolerance:g} % of a number over 1"
