r"""The words in which a page says what to draw: panels and marks.

A panel is a plane with axes, a table, or a graph without axes. Marks are drawn in the order given,
but regions, heat and areas below all others; coordinates are in data units. Marks that every frame
shows go into ``trace.data["panels"]``, those of one step into ``frame.state["panels"]`` under the
same panel name: they are drawn on top.

Colours are numbers: 0, 1, 2, ... are groups (a colour and a point shape each), ``None`` is ink,
"quiet" grey, "accent" and "warn" what the eye should go to.

What has a name can be meant by a symbol of a formula: a mark by its ``label``, a node of a graph by
its first line, an edge by ``name``, a column of a table by its heading. A symbol means what is
named like it (but no column), or what ``[symbols]`` says in the method's story.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.records import plain

Mark = dict[str, Any]
Panel = dict[str, Any]
# one character per cell of a grid, so that a hundred frames of regions stay small
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"


def plane(
    name: str,
    marks: Sequence[Mark],
    *,
    title: str = "",
    x: str = "",
    y: str = "",
    box: Sequence[float] | None = None,
    equal: bool = False,
    log_x: bool = False,
    log_y: bool = False,
    bare: bool = False,
    alt: str = "",
) -> Panel:
    """Axes with marks; ``box`` is (left, right, bottom, top), found from the marks without it;
    ``bare`` leaves the axes themselves out."""
    axes = {
        "x": x,
        "y": y,
        "box": box,
        "equal": equal,
        "log_x": log_x,
        "log_y": log_y,
        "bare": bare,
    }
    return _panel("plane", name, title, alt, axes | {"marks": list(marks)})


def table(
    name: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    title: str = "",
    lit: Sequence[tuple[int, int]] = (),
    lit_rows: Sequence[int] = (),
    alt: str = "",
) -> Panel:
    """A table; ``lit`` names (row, column) cells, ``lit_rows`` rows that matter in this step."""
    cells = {"columns": list(columns), "rows": [list(row) for row in rows]}
    chosen = {"lit": list(lit), "lit_rows": list(lit_rows)}
    return _panel("table", name, title, alt, cells | chosen)


def graph(
    name: str,
    nodes: Sequence[dict[str, Any]],
    edges: Sequence[dict[str, Any]],
    *,
    title: str = "",
    alt: str = "",
) -> Panel:
    """Boxes and arrows.

    A node: ``x``, ``y`` (any units, y upwards), ``label`` (may have several lines), optional
    ``colour``, ``lit``, ``round`` (a circle), ``shade`` (0 to 1). An edge: ``source``, ``target``
    (places in ``nodes``), optional ``label``, ``colour``, ``lit``, ``dashed``, ``arrow`` (True).
    The labels of the nodes are added to ``alt``, for those who cannot see the boxes. The first line
    of a label is the node's name; ``name`` is that of an edge, where a formula speaks of it.
    """
    labels = (" ".join(str(node.get("label", "")).split()) for node in nodes)
    alt = " ".join([alt or title, "; ".join(label for label in labels if label)]).strip()
    return _panel("graph", name, title, alt, {"nodes": list(nodes), "edges": list(edges)})


def points(
    x: ArrayLike,
    y: ArrayLike,
    *,
    group: Any = None,
    size: float = 1.0,
    ring: Any = None,
    faint: Any = None,
    data: bool = False,
    label: str = "",
) -> Mark:
    """Points; ``group`` one colour or one per point; ``ring`` and ``faint`` pick out some of them
    (a ring around; drawn pale, as held-out rows are); ``data=True``: these are the rows themselves,
    in order, and can be dragged."""
    return mark(
        "points", x=x, y=y, group=group, size=size, ring=ring, faint=faint, data=data, label=label
    )


def line(
    x: ArrayLike,
    y: ArrayLike,
    *,
    colour: Any = "accent",
    dashed: bool = False,
    width: float = 2.0,
    label: str = "",
) -> Mark:
    """A polyline; NaN breaks it."""
    return mark("line", x=x, y=y, colour=colour, dashed=dashed, width=width, label=label)


def segments(
    x0: Any,
    y0: Any,
    x1: Any,
    y1: Any,
    *,
    colour: Any = "quiet",
    dashed: bool = False,
    width: float = 1.0,
    arrow: bool = False,
    label: str = "",
) -> Mark:
    """Straight pieces, with heads if ``arrow``."""
    ends, look = {"x0": x0, "y0": y0, "x1": x1, "y1": y1}, {"colour": colour, "dashed": dashed}
    return mark("segments", **ends, **look, width=width, arrow=arrow, label=label)


def area(
    x: ArrayLike, y: ArrayLike, *, colour: Any = "accent", opacity: float = 0.15, label: str = ""
) -> Mark:
    """A filled polygon."""
    return mark("area", x=x, y=y, colour=colour, opacity=opacity, label=label)


def band(
    x: ArrayLike,
    low: Any,
    high: Any,
    *,
    colour: str = "accent",
    opacity: float = 0.15,
    label: str = "",
) -> Mark:
    """The strip between two curves."""
    x, low, high = (np.asarray(v, float) for v in (x, low, high))
    y = np.r_[low, high[::-1]]
    return area(np.r_[x, x[::-1]], y, colour=colour, opacity=opacity, label=label)


def circles(
    x: ArrayLike,
    y: ArrayLike,
    r: Any,
    *,
    colour: str = "accent",
    dashed: bool = False,
    fill: bool = False,
    label: str = "",
) -> Mark:
    """Circles whose radius is in data units."""
    return mark("circles", x=x, y=y, r=r, colour=colour, dashed=dashed, fill=fill, label=label)


def ellipse(
    mean: Any,
    covariance: Any,
    *,
    scales: Sequence[float] = (1.0, 2.0),
    colour: Any = "accent",
    label: str = "",
) -> list[Mark]:
    """Outlines of a Gaussian at these many standard deviations."""
    turn = np.linspace(0.0, 2.0 * np.pi, 49)
    values, vectors = np.linalg.eigh(np.asarray(covariance, float))
    round_ = vectors @ (np.sqrt(np.maximum(values, 0.0))[:, None] * [np.cos(turn), np.sin(turn)])
    mean = np.asarray(mean, float)
    look: dict[str, Any] = {"colour": colour, "width": 1.5, "label": label}
    return [line(*(mean[:, None] + s * round_), **look) for s in scales]


def bars(
    x: ArrayLike,
    height: Any,
    *,
    colour: Any = "accent",
    base: float = 0.0,
    width: float = 0.8,
    label: str = "",
) -> Mark:
    """Upright bars; ``colour`` one or one per bar."""
    return mark("bars", x=x, height=height, colour=colour, base=base, width=width, label=label)


def text(
    x: Any, y: ArrayLike, label: Any, *, colour: str | None = None, anchor: str = "middle"
) -> Mark:
    """Words at places: one label, or one per place; ``anchor`` start, middle or end."""
    x, y, label = np.atleast_1d(x), np.atleast_1d(y), np.atleast_1d(label)
    return mark("text", x=x, y=y, label=label, colour=colour, anchor=anchor)


def rule(
    *,
    x: float | None = None,
    y: float | None = None,
    colour: str = "quiet",
    dashed: bool = True,
    label: str = "",
) -> Mark:
    """A line across the whole panel at one x or one y."""
    return mark("rule", x=x, y=y, colour=colour, dashed=dashed, label=label)


def regions(codes: np.ndarray, box: Sequence[float], *, label: str = "") -> Mark:
    """Cells coloured by group: ``codes[i, j]`` is row i from the bottom, column j from the left."""
    return _grid("regions", np.asarray(codes, int), box, {"label": label})


def heat(
    values: ArrayLike,
    box: Sequence[float],
    *,
    low: float | None = None,
    high: float | None = None,
    diverging: bool = False,
    label: str = "",
) -> Mark:
    """Cells from pale to strong (``diverging``: two colours around the middle)."""
    values = np.asarray(values, float)
    least = float(np.nanmin(values)) if low is None else low
    most = float(np.nanmax(values)) if high is None else high
    share = (values - least) / (most - least) if most > least else np.zeros_like(values)
    levels = np.rint(np.clip(np.nan_to_num(share), 0.0, 1.0) * (len(DIGITS) - 1)).astype(int)
    more = {"low": least, "high": most, "diverging": diverging, "label": label}
    return _grid("heat", levels, box, more)


def contours(
    x: ArrayLike, y: ArrayLike, z: Any, levels: Any, *, colour: Any = "quiet", width: float = 1.0
) -> Mark:
    """Level lines of ``z[i, j]`` at (``x[j]``, ``y[i]``), as one broken line."""
    from contourpy import contour_generator

    maker = contour_generator(np.asarray(x, float), np.asarray(y, float), np.asarray(z, float))
    gap = np.full((1, 2), np.nan)
    path: list[Any] = []
    for level in np.atleast_1d(levels):
        path += [part for piece in maker.lines(float(level)) for part in (piece, gap)]
    x, y = np.vstack(path or [gap]).round(4).T
    return line(x, y, colour=colour, width=width)


COARSE = ContextVar("COARSE", default=False)


@contextmanager
def coarsely() -> Iterator[None]:
    """Half as fine inside: for frames that follow a finger."""
    before = COARSE.set(True)
    try:
        yield
    finally:
        COARSE.reset(before)


def lattice(box: Sequence[float], n: int = 48) -> tuple[Any, Any, Any]:
    """Centres of n x n cells: x, y, and all (n * n, 2) points, the rows from the bottom."""
    left, right, bottom, top = box
    x = left + (np.arange(n) + 0.5) * (right - left) / n
    y = bottom + (np.arange(n) + 0.5) * (top - bottom) / n
    return x, y, np.column_stack([np.tile(x, n), np.repeat(y, n)])


def around(X: ArrayLike, share: float = 0.12) -> tuple[float, float, float, float]:
    """The box around rows of two columns, with some air."""
    X = np.asarray(X, float)
    low, high = X.min(axis=0), X.max(axis=0)
    air = share * np.where(high > low, high - low, 1.0)
    return spanned(low - air, high + air)


def place_in(box: Sequence[float], across: float, up: float) -> Any:
    """The point at these shares of a box's width and height."""
    left, right, bottom, top = box
    return np.array([left + across * (right - left), bottom + up * (top - bottom)])


def spanned(low: Any, high: Any) -> tuple[float, float, float, float]:
    """The box from the lower left to the upper right corner."""
    return float(low[0]), float(high[0]), float(low[1]), float(high[1])


def mark(kind: str, **fields: Any) -> Mark:
    """A mark as plain data: coordinates with six digits."""
    if COARSE.get():  # one frame of many will be sent, and made plain then
        return {"mark": kind, **fields}
    return {"mark": kind, **{key: _short(value) for key, value in fields.items()}}


def _short(value: Any) -> Any:
    if isinstance(value, np.ndarray | list | tuple | np.generic):
        array = np.asarray(value)
        if array.dtype.kind == "f":
            digits = _digits(array)
            return (
                [float(f"{v:.{digits}g}") for v in array.tolist()] if array.ndim else float(array)
            )
        if array.dtype.kind == "U" and isinstance(value, list | tuple):
            return list(value)  # groups and names of colours side by side stay what they are
        return array.tolist()
    return value


def _digits(values: np.ndarray) -> int:
    """Six digits, or so many more that six are left of values that lie far from 0."""
    known = values[np.isfinite(values)] if values.ndim else values[None]
    spread = np.ptp(known) if known.size else 0.0
    if spread <= 0.0:
        return 6
    far = np.log10(np.abs(known).max()) - np.log10(spread)
    return 6 + min(max(int(np.ceil(far)), 0), 10)


def _grid(kind: str, levels: Any, box: Sequence[float], more: dict[str, Any]) -> Mark:
    cells = "".join(DIGITS[v] for v in levels.ravel().tolist())
    size = {"rows": levels.shape[0], "columns": levels.shape[1]}
    return {"mark": kind, **size, "cells": cells, "box": [float(v) for v in box], **more}


def _panel(kind: str, name: str, title: str, alt: str, fields: dict[str, Any]) -> Panel:
    panel = {"kind": kind, "name": name, "title": title, **fields, "alt": alt}
    return panel if COARSE.get() else plain(panel)
