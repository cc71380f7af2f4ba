"""How our pictures look: colours that colour-blind readers can tell apart, quiet axes.

A picture is a frozen record of the data it draws, with ``alt`` text, and ``plot(ax=None)``.
Matplotlib is imported where something is drawn, so that a record costs nothing.
"""

import io
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.core.arrays.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
else:
    Axes = Any  # Matplotlib is imported when a picture is drawn


# Okabe & Ito's palette; the first is the accent, the second the warning colour.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")  # shapes beside colours
STYLES = ("-", "--", "-.", ":")  # lines beside colours
GREY = "#6B7280"
LIGHT = "#D1D5DB"
MOST_POINTS = 5000  # more are sub-sampled, with a fixed seed


def axes(ax: Axes | None = None, *, figsize: tuple[float, float] = (6.0, 4.0)) -> Any:
    """The axes to draw on: those given, or new ones; quiet spines and a light grid."""
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.figure(figsize=figsize, layout="constrained").add_subplot()
    return quiet(ax)


def panels(n: int, *, columns: int = 3, size: tuple[float, float] = (3.6, 3.0)) -> list[Any]:
    """Axes side by side on one new figure."""
    import matplotlib.pyplot as plt

    columns = min(n, columns)
    rows = -(-n // columns)
    figure = plt.figure(figsize=(size[0] * columns, size[1] * rows), layout="constrained")
    return [quiet(figure.add_subplot(rows, columns, i + 1)) for i in range(n)]


def quiet(ax: Axes) -> Any:
    """No box, a light grid behind the data."""
    if ax.name == "3d":
        return ax
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, color=LIGHT, linewidth=0.6, alpha=0.7)
    ax.set_axisbelow(True)
    return ax


def colour(i: int) -> str:
    return PALETTE[i % len(PALETTE)]


def marker(i: int) -> str:
    return MARKERS[i % len(MARKERS)]


def thinned(n: int, most: int = MOST_POINTS) -> Any:
    """Rows to draw: all, or a fixed random sample in order.

    >>> len(thinned(10)), len(thinned(100_000))
    (10, 5000)
    """
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, size=most, replace=False))


def margin(values: Array, share: float = 0.06) -> tuple[float, float]:
    """Limits a little wider than the data."""
    low, high = float(np.min(values)), float(np.max(values))
    room = share * (high - low) if high > low else max(abs(low), 1.0) * share
    return low - room, high + room


def scale_of(*values: Array) -> str:
    """The scale of an axis: logarithmic where positive numbers spread over a factor of ten.

    >>> scale_of(np.array([0.1, 5.0])), scale_of(np.array([1.0, 2.0]))
    ('log', 'linear')
    """
    every = np.concatenate([np.ravel(v) for v in values])
    every = every[np.isfinite(every)]
    wide = len(every) and every.min() >= 0 and (every > 0).any()
    return "log" if wide and every.max() >= 10 * every[every > 0].min() else "linear"


def heading(ax: Any, title: str, note: str = "", *, width: int | None = None) -> None:
    """A title, and under it a note; folded at ``width`` characters, or where the axes end."""
    if width is None:
        inches = ax.get_position().width * ax.figure.get_figwidth()
        width = max(20, int(15 * inches))
    lines = [*wrap(title, width), *wrap(note, width)]
    ax.set_title("\n".join(lines), loc="left", fontsize="medium")


def legend(ax: Axes, **options: Any) -> Any:
    """A legend without a frame."""
    return ax.legend(**{"frameon": False, "fontsize": "small", **options})


def svg(picture: Any) -> str:
    """The ``picture`` as SVG text; the same picture gives the same text.

    >>> from pellucid.plots import scatter
    >>> svg(scatter([[0.0, 1.0], [1.0, 0.0]])).startswith("<?xml")
    True
    """
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    with mpl.rc_context({"svg.hashsalt": "pellucid", "svg.fonttype": "path"}):
        drawn = picture.plot()
        figure = getattr(drawn, "figure", drawn)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
        plt.close(figure)
    return out.getvalue()


def words(items: Sequence[str], most: int = 6) -> str:
    """Names for a title or alt text, the rest counted."""
    shown = ", ".join(map(str, items[:most]))
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"
