"""Marks that many pictures draw (rings, bands, arrows, words), and how much of the data shows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.plots.panels.style import Axes, colour, marker

STYLES = ("-", "--", "-.", ":")  # lines beside colours
MOST_POINTS = 5000  # more are sub-sampled, with a fixed seed
PLATE = {"boxstyle": "square,pad=0.05", "fc": "white", "ec": "none"}  # behind words on lines
VEIL = {"fc": "white", "lw": 0, "pad": 0.5}  # the same, see-through with an ``alpha``


def tone(k: int) -> dict[str, Any]:
    """Colour and shape of item k."""
    return {"color": colour(k), "marker": marker(k)}


def stroke(k: int) -> dict[str, Any]:
    """Colour and line style of curve k."""
    return {"color": colour(k), "ls": STYLES[k % len(STYLES)]}


def dots(
    ax: Axes, *at: Any, k: int, size: Any, edge: str = "white", lw: float = 0.4, **more: Any
) -> Any:
    """Points of item k with a thin rim."""
    options = {"s": size, **tone(k), "edgecolors": edge, "linewidths": lw, **more}
    return ax.scatter(*at, **options)


def ring(
    ax: Axes, *at: Any, size: float, tint: str = "black", lw: float | None = 1.1, **more: Any
) -> Any:
    """Empty circles round points."""
    options = {"s": size, "facecolors": "none", "edgecolors": tint, "linewidths": lw, **more}
    return ax.scatter(*at, **options)


def spot(ax: Axes, x: Any, y: Any, shape: str, tint: str, *, size: float = 9, **more: Any) -> Any:
    """A large filled mark with a black rim, such as the best of a curve."""
    return ax.plot(x, y, shape, color=tint, ms=size, mec="black", **more)


def band(ax: Axes, x: Any, low: Any, high: Any, tint: str, alpha: float, **more: Any) -> Any:
    """The area between two curves, without a rim."""
    return ax.fill_between(x, low, high, color=tint, alpha=alpha, lw=0, **more)


def isolines(
    ax: Axes, *surface: Any, levels: Any, tint: Any, lw: Any = None, ls: Any = None, **more: Any
) -> Any:
    """Lines of equal height of a surface x, y, z."""
    return ax.contour(*surface, levels=levels, colors=tint, linewidths=lw, linestyles=ls, **more)


def arrow(
    ax: Axes, tip: Any, foot: Any, tint: str, lw: float, *, head: str = "-|>", **more: Any
) -> Any:
    """An arrow from foot to tip that touches both."""
    props = {"arrowstyle": head, "color": tint, "lw": lw, "shrinkA": 0, "shrinkB": 0}
    return ax.annotate("", tip, foot, arrowprops=props, **more)


def write(ax: Axes, x: float, y: float, text: str, **more: Any) -> Any:
    """Small words centred on a point."""
    return ax.text(x, y, text, **{"ha": "center", "va": "center", "fontsize": "small", **more})


def beside(ax: Axes, text: str, at: Any, by: tuple[float, float], **more: Any) -> Any:
    """Small words some points away from a place."""
    return ax.annotate(text, at, by, **{"textcoords": "offset points", "fontsize": "small", **more})


def key_below(figure: Any, keys: Any, texts: Any, ncols: int, loc: str = "center") -> None:
    """One legend for all panels, under them."""
    figure.legend(
        keys, texts, loc=f"outside lower {loc}", ncols=ncols, frameon=False, fontsize="small"
    )


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


def words(items: Sequence[str], most: int = 6) -> str:
    """Names for a title or alt text, the rest counted."""
    shown = ", ".join(map(str, items[:most]))
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"
