"""Where labelled rows stand in a picture: one column, two, or a plane through many.

More than two columns: the two that are named, or the first two principal axes; the others are held
at their median, and ``note`` says so. A place of the plane stands for one full row, so that a model
can be asked there.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import column_or_1d

from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, Columns, IntArray, Model
from pellucid.linear.least_squares.summary import column_positions
from pellucid.plots.panels.marks import dots, margin, ring, words
from pellucid.plots.panels.style import Axes, colour

MOST_CLASSES = 8  # colours and shapes that can be told apart
LINE, SIDE = 401, 181  # places of a grid along one column, along each side of a plane


class View(NamedTuple):
    """Where the points stand, and the rows of X that a place stands for."""

    at: Array  # (n, 1) or (n, 2)
    names: tuple[str, ...]
    rows: Callable[[Array], Array]
    note: str  # what was left out, or nothing
    place: Callable[[Array], Array]  # where any row of X stands


class Labels(NamedTuple):
    """Labels as codes of the sorted classes, with the name of the target."""

    codes: IntArray  # (n,)
    classes: tuple[str, ...]
    name: str


def named_view(M: Array, names: tuple[str, ...], chosen: list[int]) -> View:
    """One or two columns, the others at their median.

    >>> named_view(np.eye(3), ("a", "b", "c"), [0, 2]).note
    'b at the median'
    """
    middle = np.median(M, axis=0)

    def rows(places: Array) -> Array:
        full = np.tile(middle, (len(places), 1))
        full[:, chosen] = places
        return full

    left = M.shape[1] - len(chosen)
    others = words([name for j, name in enumerate(names) if j not in chosen])
    note = f"{others} at the median" if left else ""
    return View(M[:, chosen], tuple(names[j] for j in chosen), rows, note, lambda M: M[:, chosen])


def axes_view(M: Array) -> View:
    """The first two principal axes, the others at their median."""
    if len(M) < 2:
        raise ValueError(f"principal axes need at least 2 rows, got {len(M)}; name columns=")
    mean = M.mean(axis=0)
    _, d, Vt = np.linalg.svd(M - mean, full_matrices=False)
    Vt = Vt * np.where(Vt[np.arange(len(Vt)), np.abs(Vt).argmax(axis=1)] < 0, -1.0, 1.0)[:, None]
    Z = (M - mean) @ Vt.T
    middle = mean + np.median(Z[:, 2:], axis=0) @ Vt[2:]
    share = float((d[:2] ** 2).sum() / max((d**2).sum(), 1e-300))
    note = (
        f"first two principal axes of {M.shape[1]} columns ({share:.0%} of the variance), the "
        "others at their median"
    )
    names = ("first axis", "second axis")
    return View(
        Z[:, :2],
        names,
        lambda places: middle + places @ Vt[:2],
        note,
        lambda rows: (rows - mean) @ Vt[:2].T,
    )


def view_of(M: Array, names: tuple[str, ...], columns: Columns | None = None) -> View:
    """The columns named; else all of one or two, or the first two principal axes of more."""
    bad = ~np.isfinite(M).all(axis=0)
    if bad.any():
        raise ValueError(f"finite numbers are needed, got NaN or infinity in {names[bad.argmax()]}")
    if columns is not None:
        chosen = column_positions(columns, names)
        if len(chosen) > 2:
            raise ValueError(f"columns must name one or two inputs, got {len(chosen)}")
        return named_view(M, names, chosen)
    if M.shape[1] <= 2:
        return named_view(M, names, list(range(M.shape[1])))
    return axes_view(M)


def labels_of(y: ArrayLike, n: int, classes: np.ndarray | None = None) -> Labels:
    """The codes of the labels of n rows; of the classes of a model where given.

    >>> labels_of(["b", "a", "b"], 3)
    Labels(codes=array([1, 0, 1]), classes=('a', 'b'), name='class')
    """
    name = getattr(y, "name", None)
    values = column_or_1d(np.asarray(y))
    if len(values) != n:
        raise ValueError(f"X and y must have as many rows, got {n} and {len(values)}")
    known = np.unique(values) if classes is None else np.asarray(classes)
    position = {label: k for k, label in enumerate(known.tolist())}
    strange = sorted({str(v) for v in values.tolist() if v not in position})
    if strange:
        raise ValueError(
            f"y holds labels that the model was not fitted on: {words(strange)}; it knows "
            f"{words([str(v) for v in known.tolist()])}"
        )
    codes = np.array([position[v] for v in values.tolist()], dtype=np.intp)
    text = tuple(str(label) for label in known.tolist())
    if len(text) > MOST_CLASSES:
        raise ValueError(f"the picture tells at most {MOST_CLASSES} classes apart, got {len(text)}")
    return Labels(codes, text, "class" if name in (None, "") else str(name))


def predicted_codes(E: Model, X: ArrayLike, classes: np.ndarray) -> IntArray:
    """Predictions as codes of the classes."""
    position = {label: k for k, label in enumerate(np.asarray(classes).tolist())}
    found = np.asarray(E.predict(X)).tolist()
    strange = sorted({str(v) for v in found if v not in position})
    if strange:
        raise ValueError(f"{type(E).__name__} predicts what is no class: {words(strange)}")
    return np.array([position[v] for v in found], dtype=np.intp)


class Grid(NamedTuple):
    """Lines a little wider than the points, and all places; a plane goes row by row of y."""

    lines: tuple[Array, ...]
    places: Array  # (g, d)
    shape: tuple[int, ...]  # of values at the places, as they are drawn


def grid_of(at: Array, side: int = SIDE, share: float = 0.06) -> Grid:
    """The places of a picture around the points ``at``."""
    side = LINE if at.shape[1] == 1 else side
    lines = tuple(np.linspace(*margin(column, share), side) for column in at.T)
    places = np.stack(np.meshgrid(*lines), axis=-1).reshape(-1, len(lines))
    return Grid(lines, places, tuple(len(line) for line in lines[::-1]))


def draw_points(
    ax: Axes, at: Array, codes: IntArray, classes: tuple[str, ...], wrong: BoolArray | None = None
) -> None:
    """Points by class, in colour and shape; those that are wrong ringed."""
    for k, label in enumerate(classes):
        rows = codes == k
        if rows.any():
            dots(ax, *at[rows].T, k=k, size=20, label=label, zorder=3)
    if wrong is not None and wrong.any():
        ring(ax, *at[wrong].T, size=75, label=f"wrong ({int(wrong.sum())})", zorder=4)


def light(k: int, share: float = 0.25) -> Array:
    """A light tint of the colour of class k, (3,)."""
    from matplotlib.colors import to_rgb

    return 1 - share * (1 - np.array(to_rgb(colour(k))))


def paint_regions(ax: Axes, lines: tuple[Array, ...], regions: IntArray, n_classes: int) -> None:
    """The class of every place as a light tint, with a line between the classes."""
    x, y = lines
    tints = np.array([light(k) for k in range(n_classes)])
    dx, dy = (x[1] - x[0]) / 2, (y[1] - y[0]) / 2
    cells, extent = tints[regions], (x[0] - dx, x[-1] + dx, y[0] - dy, y[-1] + dy)
    ax.imshow(
        cells, origin="lower", aspect="auto", interpolation="nearest", extent=extent, zorder=0
    )
    ax.grid(False)
    for k in range(n_classes):
        inside = (regions == k).astype(np.float64)
        if 0 < inside.mean() < 1:
            ax.contour(x, y, inside, levels=[0.5], colors="#6B7280", linewidths=0.8, zorder=1)
