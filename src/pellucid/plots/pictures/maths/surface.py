"""A function of two numbers as a surface: bowl, valley, slope or saddle."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.maths import Quadratic
from pellucid.plots.panels.fields import Field, Stationary, field_of, function_of, stationary_points
from pellucid.plots.panels.marks import words
from pellucid.plots.panels.style import Picture, colour, marker, new_figure

SMALL = 1e-9  # eigenvalues below this share of the largest count as none


class Surface(Picture):
    field: Field
    critical: tuple[Stationary, ...]
    shape: str  # "" where f is no Quadratic

    def plot(self, ax: Any = None) -> Any:
        if ax is None:
            ax = new_figure((6.4, 5.2)).add_subplot(projection="3d")
        if ax.name != "3d":
            raise ValueError("surface needs axes with projection='3d', got flat ones")
        x, y, z = self.field
        X, Y = np.meshgrid(x, y)
        ax.plot_surface(
            X, Y, z, cmap="Blues_r", alpha=0.85, rcount=30, ccount=30, lw=0.2, edgecolor="#6B7280"
        )
        low = float(z.min()) - 0.35 * (np.ptp(z) or 1.0)
        ax.contour(X, Y, z, levels=10, zdir="z", offset=low, cmap="Blues_r", linewidths=0.8)
        for k, p in enumerate(self.critical):
            ax.plot([p.x], [p.y], [p.value], marker(k), ms=8, color=colour(1), zorder=10)
            ax.plot([p.x, p.x], [p.y, p.y], [low, p.value], color=colour(1), lw=1, ls=":")
        ax.set(xlabel="x₁", ylabel="x₂", zlabel="f", zlim=(low, float(z.max())))
        ax.locator_params(nbins=5)  # labels along slanted axes need room
        kinds = words(list(dict.fromkeys(p.kind for p in self.critical)))
        if self.shape == "valley":  # second derivatives alone would leave it undecided
            kinds = "a line of minima"
        ax.set_title(
            ": ".join(filter(None, [self.shape.capitalize(), kinds])) or "Surface",
            loc="left",
            fontsize="medium",
        )
        return ax


def shape_of(q: Quadratic) -> str:
    """Bowl, dome, valley, ridge, saddle, slope or plane.

    >>> shape_of(Quadratic([[1.0, 0.0], [0.0, -1.0]]))
    'saddle'
    """
    values = np.linalg.eigvalsh(q.hessian)
    size = np.abs(values).max()
    up, down = int((values > SMALL * size).sum()), int((values < -SMALL * size).sum())
    if up and down:
        return "saddle"
    if up == len(values) or down == len(values):
        return "bowl" if up else "dome"
    flat = q.gradient(np.zeros(len(values)))
    if not up and not down:
        return "slope" if np.any(flat) else "plane"
    valley = "valley" if up else "ridge"
    least, *_ = np.linalg.lstsq(q.hessian, -flat, rcond=SMALL)
    left = float(np.linalg.norm(q.gradient(least)))
    return valley if left <= 1e-7 * max(float(np.linalg.norm(flat)), size) else f"sloping {valley}"


def surface(f: Any, box: Sequence[float]) -> Surface:
    """A function of two numbers in three dimensions, its level sets below it.

    ``f``: function of a vector of two, or object with ``value`` such as Quadratic; ``box``: ((x
    low, x high), (y low, y high)).

    Examples
    --------
    >>> from pellucid.maths import Quadratic
    >>> from pellucid.plots import surface
    >>> surface(Quadratic([[2.0, 0.0], [0.0, 1.0]]), ((-1, 1), (-1, 1))).shape
    'bowl'
    """
    g = function_of(f)
    field = field_of(g, box)
    critical = stationary_points(g, field)
    shape = shape_of(f) if isinstance(f, Quadratic) else ""
    said = words([f"{p.kind} at ({p.x:.3g}, {p.y:.3g})" for p in critical]) or "none"
    alt = (
        f"Surface{' in the shape of a ' + shape if shape else ''} between {field.z.min():.4g} and "
        f"{field.z.max():.4g}; critical points: {said}."
    )
    return Surface(alt, field, critical, shape)
