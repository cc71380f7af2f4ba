"""Marks that many pictures draw: rings, bands, arrows, centred words, level lines."""

from typing import Any

from pellucid.plots.panels.style import STYLES, Axes, colour, marker

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
