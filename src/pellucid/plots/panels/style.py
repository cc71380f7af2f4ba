"""How our pictures look: colours that colour-blind readers can tell apart, quiet axes.

A picture is a frozen record of the data it draws, with ``alt`` text, and ``plot(ax=None)``.
Matplotlib is imported where something is drawn, so that a record costs nothing.
"""

import base64
import io
import math
import re
from dataclasses import dataclass, field
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

if TYPE_CHECKING:
    from matplotlib.axes import Axes
else:
    Axes = Any  # Matplotlib is imported when a picture is drawn


# Okabe & Ito's palette; the first is the accent, the second the warning colour.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
# Shapes beside colours, more of them: 12 groups have shapes of their own, 96 no pair in common.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h")
GREY = "#6B7280"
LIGHT = "#D1D5DB"
LEAST = 7.0  # points of the smallest text
HIDDEN = 0.02  # share of the points that a legend may cover
SMOOTH = 50  # points that a line needs to be a curve
CROSSED = 0.03  # share of a curve that a legend may cover
COUNTED = re.compile(r"(rows?|rounds?|steps?|leaves|number of|layer|epoch|fold)\b")  # labels
COLUMN, BELOW = 1.15, 0.5  # inches: a column of a legend under the axes, its distance from them
WIDEST = 0.45  # share of the axes' width that a legend beside them may take


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Record:
    """A class below this one is a frozen dataclass."""

    def __init_subclass__(cls) -> None:
        told = cls.__repr__ is not object.__repr__  # a picture is told by its alt text
        dataclass(frozen=True, repr=not told)(cls)


class Picture(Record):
    """What every picture has beside its data; it draws itself in ``plot``.

    In a notebook a picture shows itself; as text it is its ``alt`` text.
    """

    alt: str
    title: str = field(default="", kw_only=True)
    note: str = field(default="", kw_only=True)  # under the title

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {shortened(self.alt)}>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """What a notebook shows: the picture with its alt text, drawn once."""
        data = base64.b64encode(png(self)).decode()
        image = f'<img alt="{escape(self.alt, quote=True)}" src="data:image/png;base64,{data}">'
        return {"text/plain": repr(self), "text/html": image, "image/png": data}


class Panel(Picture):
    """A picture on one pair of axes: ``_draw`` puts it there."""

    _figsize: ClassVar[tuple[float, float]]  # of a new figure, in inches

    def __init_subclass__(cls, *, size: tuple[float, float] = (6.0, 4.0)) -> None:
        super().__init_subclass__()
        cls._figsize = size

    def _draw(self, ax: Axes) -> None:
        raise NotImplementedError

    def plot(self, ax: Axes | None = None) -> Any:
        """Draw on the axes given, or on new ones; the axes."""
        ax = axes(ax, figsize=self._figsize)
        self._draw(ax)
        return ax


def new_figure(size: tuple[float, float], **more: Any) -> Any:
    """A figure of that many inches on which nothing is cut off."""
    import matplotlib.pyplot as plt

    from pellucid.plots.panels.layout import Settled

    return plt.figure(figsize=size, layout=Settled(), **more)


def axes(ax: Axes | None = None, *, figsize: tuple[float, float] = (6.0, 4.0)) -> Any:
    """The axes to draw on: those given, or new ones; quiet spines and a light grid."""
    if ax is None:
        ax = new_figure(figsize).add_subplot()
    return quiet(ax)


def panels(n: int, *, columns: int = 3, size: tuple[float, float] = (3.6, 3.0)) -> list[Any]:
    """Axes side by side on one new figure."""
    columns = min(n, columns)
    rows = -(-n // columns)
    figure = new_figure((size[0] * columns, size[1] * rows))
    return [quiet(figure.add_subplot(rows, columns, i + 1)) for i in range(n)]


def together(grid: list[Any], title: str = "", *, key: bool = False) -> Any:
    """The figure of some panels: a title over all of them, the key of the first one below."""
    figure = grid[0].figure
    if title:
        figure.suptitle(title, fontsize="medium", wrap=True)
    if key:
        keys, texts = grid[0].get_legend_handles_labels()
        figure.legend(keys, texts, loc="outside lower center", ncols=len(keys), frameon=False)
    return figure


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
    """A shape; where pairs of colour and shape would repeat, the shapes move on by one."""
    return MARKERS[(i + i // math.lcm(len(PALETTE), len(MARKERS))) % len(MARKERS)]


def heading(ax: Any, title: str, note: str = "", *, width: int | None = None) -> None:
    """A title, and under it a note; folded at ``width`` characters, or where the axes end.

    Whatever the size of the figure, titles and labels stay inside it, and a logarithmic axis has
    few labels.
    """
    if width is None:
        inches = ax.get_position().width * ax.figure.get_figwidth()
        width = max(20, int(15 * inches))
    lines = [*wrap(title, width), *wrap(note, width)]
    ax.set_title("\n".join(lines), loc="left", fontsize="medium", wrap=True)
    if ax.name != "3d":
        for axis in (ax.xaxis, ax.yaxis):
            axis.label.set_wrap(True)
            calm(axis)


def calm(axis: Any) -> None:
    """Ticks that can be read: whole numbers where things are counted, no offset, few powers.

    A logarithmic axis has its powers of ten, or 1, 2 and 5 where it spans few of them.
    """
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, ScalarFormatter

    if axis.get_scale() == "linear" and isinstance(axis.get_major_formatter(), ScalarFormatter):
        axis.get_major_formatter().set_useOffset(False)
        if COUNTED.match(axis.get_label_text()):
            axis.set_major_locator(MaxNLocator(nbins=8, integer=True))
    if axis.get_scale() != "log":
        return

    low, high = axis.get_view_interval()
    few = 0 < low < high < 30 * low
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,), numticks=7))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def legend(ax: Axes, **options: Any) -> Any:
    """A legend without a frame; to the right of the axes where it would hide points inside."""
    # "best" is named: where it is only the default, Matplotlib warns as soon as a second has passed
    look = {"frameon": False, "fontsize": "small", "loc": "best", **options}
    shown = ax.legend(**look)
    if look["loc"] == "best" and hidden(ax, shown) > HIDDEN:
        if shown.get_window_extent().width > WIDEST * ax.get_window_extent().width:
            shown.set_frame_on(True)  # no room beside small axes: the points shine through
            shown.get_frame().set(alpha=0.7, linewidth=0)
            return shown
        beside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
        shown = ax.legend(**{**look, **beside})
    return shown


def legend_below(ax: Axes, ncols: int, **options: Any) -> Any:
    """A legend under the label of the axis, in as many columns as the axes have room for."""
    place, figure = ax.get_position(), ax.figure
    wide, high = place.width * figure.get_figwidth(), place.height * figure.get_figheight()  # type: ignore[union-attr]
    fitting = max(1, min(ncols, int(wide / COLUMN)))
    anchor = (0.5, -max(0.14, BELOW / high))
    return legend(ax, loc="upper center", bbox_to_anchor=anchor, ncols=fitting, **options)


def hidden(ax: Axes, shown: Any) -> float:
    """The share of the marks on the axes that a legend covers, or of a curve if that is much."""
    import numpy as np

    clouds: list[Any] = [c for c in ax.collections if np.shape(c.get_offsets())[0] > 1]
    places = [c.get_offset_transform().transform(c.get_offsets()) for c in clouds]
    lines = [line for line in ax.lines if line.get_marker() not in (None, "", " ", "None")]
    places += [line.get_transform().transform(line.get_xydata()) for line in lines]
    box = shown.get_window_extent()
    curves = [c.get_transform().transform(c.get_xydata()) for c in ax.lines if c not in lines]
    crossed = [covered(box, at) for at in curves if len(at) >= SMOOTH]
    share = covered(box, np.concatenate(places)) if places else 0.0
    return max([share, *(part for part in crossed if part > CROSSED)])


def covered(box: Any, at: Any) -> float:
    """The share of places, in pixels, inside a box."""
    inside = (at > (box.x0, box.y0)) & (at < (box.x1, box.y1))
    return float(inside.all(axis=1).mean()) if len(inside) else 0.0  # nothing is drawn yet


def shortened(text: str) -> str:
    """A text that fits on five lines.

    >>> len(shortened("a " * 999))
    400
    """
    return text if len(text) <= 400 else f"{text[:397]}..."


def png(picture: Any, *, dpi: int = 100) -> bytes:
    """The ``picture`` as the bytes of a PNG file."""
    import matplotlib.pyplot as plt

    drawn = picture.plot()
    figure = getattr(drawn, "figure", drawn)
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=dpi)
    plt.close(figure)
    return out.getvalue()


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
