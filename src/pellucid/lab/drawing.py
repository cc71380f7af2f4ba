"""What several pages of the lab draw and say: numbers in words, regions of a model."""

import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.figures import figures
from pellucid.lab.scene import COARSE, Mark, heat, lattice, points, regions

LEAST = 1e-12  # a probability in a logarithm


def number(value: float, digits: int = 3) -> str:
    """A number for a formula: few figures, a true minus sign.

    >>> number(-0.12345), number(1234.5), number(2.0), number(0.000012)
    ('−0.123', '1234', '2', '1.2e−05')
    """
    size = (10.0**digits, 1e6)
    return figures(float(value) or 0.0, digits, whole=size, missing="nan", minus="−")


def short(value: float, digits: int = 4) -> float:
    """The number with so many figures."""
    return float(f"{value:.{digits}g}")


def signed(value: float, digits: int = 3) -> str:
    """A number to be added: with a sign and a space.

    >>> f"1{signed(-0.5)}{signed(2.0)}"
    '1 − 0.5 + 2'
    """
    return f" {'−' if value < 0 else '+'} {number(abs(value), digits)}"


def braced(value: float) -> str:
    """A number as a factor: in brackets if it is negative.

    >>> f"2·{braced(-0.5)}"
    '2·(−0.5)'
    """
    return number(value) if value >= 0 else f"({number(value)})"


def sub(number: int) -> str:
    """A whole number as an index.

    >>> f"x{sub(12)}"
    'x₁₂'
    """
    return str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def vector(values: ArrayLike, digits: int = 3, most: int = 4) -> str:
    """A few numbers in brackets.

    >>> vector([1.0, -2.5]), vector(range(9), most=3)
    ('(1, −2.5)', '(0, 1, 2, …)')
    """
    values = np.asarray(values, float).ravel()
    shown = [number(v, digits) for v in values[:most]]
    return f"({', '.join(shown + ['…'] * (len(values) > most))})"


def class_regions(
    model: BaseEstimator, box: Sequence[float], n: int = 48, *, label: str = ""
) -> Mark:
    """The class that a fitted classifier (codes 0, 1, ...) gives every cell of a box."""
    n = n // 2 if COARSE.get() else n
    _, _, cells = lattice(box, n)
    codes = np.asarray(model.predict(cells), int).reshape(n, n)
    return regions(codes, box, label=label)


def class_shades(values: ArrayLike, box: Sequence[float], *, label: str = "") -> Mark:
    """Probabilities of the second class on n x n cells, pale in the middle."""
    values = np.asarray(values, float)
    n = round(len(values.ravel()) ** 0.5)
    look: dict[str, Any] = {"diverging": True, "label": label}
    return heat(values.reshape(n, n), box, low=0.0, high=1.0, **look)


def literal(values: ArrayLike) -> str:
    """An array as Python text that gives the same bits again.

    >>> literal([[0.1, 2.0]])
    'np.array([[0.1, 2.0]])'
    >>> literal([np.nan, -np.inf])
    'np.array([np.nan, -np.inf])'
    """
    array = np.asarray(values)
    text = repr(array.tolist())
    if array.dtype.kind == "f":
        text = re.sub("nan|inf", r"np.\g<0>", text)
    return f"np.array({text})"


def literals(rows: Any, *names: str) -> str:
    """Arrays that ``rows`` holds, a line of Python for each."""
    return "\n".join(f"{name} = {literal(getattr(rows, name))}" for name in names)


def held_rows(data: Any) -> Any:
    """The rows held out as a mask, nowhere true where none are."""
    return np.zeros(len(data.X), bool) if data.held_out is None else np.asarray(data.held_out, bool)


def log_loss(p: Any, y: np.ndarray) -> float:
    """Mean of -log p(class of the row)."""
    return float(-np.log(np.maximum(p[np.arange(len(y)), y], LEAST)).mean())


def row_points(data: Any, **more: Any) -> Mark:
    """The rows of a table of two columns, coloured by class; held-out rows pale."""
    group = None if data.y is None else np.asarray(data.y, int)
    faint = None if data.held_out is None else np.asarray(data.held_out, bool)
    label = "rows" if faint is None else "rows (open: held out)"
    look: dict[str, Any] = {"group": group, "faint": faint, "label": label, **more}
    return points(data.X[:, 0], data.X[:, 1], data=True, **look)


def told(data: Any, kind: str, panels: Sequence[Any]) -> dict[str, Any]:
    """The rows and the panels that stay, as a trace's ``data``."""
    held = None if data.held_out is None else np.asarray(data.held_out, bool)
    rows = {"X": data.X, "y": data.y, "names": list(data.names), "held_out": held}
    return {"kind": kind, **rows, "panels": list(panels)}


def rows_code(data: Any, between: str = "") -> str:
    """Python that makes ``X``, ``y`` and, where rows are held out, ``X_test``, ``y_test``.

    ``between`` is put before the rows are divided.
    """
    lines = ["import numpy as np", "", f"X = {literal(data.X)}"]
    if data.y is not None:
        lines.append(f"y = {literal(data.y)}")
    lines += [between.rstrip()] if between else []
    if data.held_out is not None:
        lines.append(f"test = {np.flatnonzero(data.held_out).tolist()!r}  # rows held out")
        lines.append("X_test, X = X[test], np.delete(X, test, axis=0)")
        if data.y is not None:
            lines.append("y_test, y = y[test], np.delete(y, test)")
    return "\n".join(lines) + "\n"


def heard(make: Callable[[], Any]) -> tuple[Any, str]:
    """What ``make`` gives, and the kind of the first warning on its way ('' without one).

    >>> heard(lambda: 2)
    (2, '')
    """
    with warnings.catch_warnings(record=True, action="always") as found:
        result = make()
    return result, found[0].category.__name__ if found else ""


def hushed(kind: str) -> str:
    """Lines for a page's Python where the run warns of what the page shows.

    >>> hushed("")
    ''
    """
    if not kind:
        return ""
    return f'import warnings\n\nwarnings.simplefilter("ignore")  # it gives a {kind}\n'


def quietly(line: str, why: str) -> str:
    """Python that runs a line without its warnings, and says why."""
    inner = "".join(f"    {one}\n" for one in line.rstrip().splitlines())
    return f'with warnings.catch_warnings():  # {why}\n    warnings.simplefilter("ignore")\n{inner}'
