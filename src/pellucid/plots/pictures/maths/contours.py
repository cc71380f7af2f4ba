"""Level sets of a function of two numbers, with gradients and critical points."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.maths import directional_derivative
from pellucid.maths import gradient as numerical_gradient
from pellucid.plots.panels.drawing import framed_legend
from pellucid.plots.panels.fields import Field, Stationary, field_of, function_of, stationary_points
from pellucid.plots.panels.marks import words
from pellucid.plots.panels.style import Panel, colour, heading, marker

ARROWS = 8
LOOKS = {"minimum": 2, "maximum": 1, "saddle point": 3}


class Contours(Panel, size=(6.4, 5.2)):
    """f on a grid, gradients on a coarser one, critical points, a directional derivative."""

    field: Field
    at: Array  # (m, 2) where the arrows start
    gradients: Array  # (m, 2)
    critical: tuple[Stationary, ...]
    point: Array | None  # (2,)
    direction: Array | None  # (2,) of length 1
    slope: float | None  # of f at the point in the direction
    gradient: Array | None  # (2,) at the point

    def _draw(self, ax: Any) -> None:
        x, y, z = self.field
        levels = np.unique(np.quantile(z, np.linspace(0, 1, 14)))
        if len(levels) < 3:
            levels = float(z.min()) + np.linspace(-1, 1, 13)
        shown = ax.contourf(x, y, z, levels=levels, cmap="Blues_r", alpha=0.8)
        ax.contour(x, y, z, levels=levels, colors="#6B7280", linewidths=0.5)
        bar = ax.figure.colorbar(shown, ax=ax, label="f", ticks=levels[::3])
        bar.ax.set_yticklabels([f"{v:.3g}" for v in levels[::3]])
        ax.grid(False)
        length = np.linalg.norm(self.gradients, axis=1)
        if length.max() > 0:
            step = 0.8 * np.array([np.ptp(x), np.ptp(y)]).min() / ARROWS / length.max()
            look = {"angles": "xy", "scale_units": "xy", "scale": 1, "width": 0.003}
            ax.quiver(*self.at.T, *(step * self.gradients).T, color="black", alpha=0.65, **look)
        self._marks(ax)
        ax.set(xlabel="x₁", ylabel="x₂", xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
        note = "" if self.slope is None else f"slope {self.slope:.4g} in the direction drawn"
        heading(ax, "Level sets; gradients point uphill, across them", note)

    def _marks(self, ax: Any) -> None:
        seen: set[str] = set()
        for p in self.critical:
            k = LOOKS.get(p.kind.removeprefix("local ").removeprefix("global "), 4)
            look = {"ms": 9, "color": colour(k), "mec": "white", "ls": "none", "zorder": 5}
            ax.plot(p.x, p.y, marker(k), label=None if p.kind in seen else p.kind, **look)
            seen.add(p.kind)
        if self.point is not None and self.direction is not None and self.gradient is not None:
            size = 0.16 * min(np.ptp(self.field.x), np.ptp(self.field.y))
            steep = self.gradient / max(float(np.linalg.norm(self.gradient)), 1e-300)
            for way, tint, name in (
                (self.direction, colour(4), "direction"),
                (steep, "black", "gradient"),
            ):
                at = self.point + size * way
                arrowprops = {"arrowstyle": "-|>", "color": tint, "lw": 2.4, "shrinkA": 0}
                ax.annotate("", at, self.point, zorder=6, arrowprops=arrowprops)
                ax.plot([], [], color=tint, lw=2.4, label=name)
            ax.plot(*self.point, "o", color=colour(4), ms=6, zorder=7)
        if ax.get_legend_handles_labels()[1]:
            framed_legend(ax)


def contours(f: Any, box: Any, *, point: Any = None, direction: Any = None) -> Contours:
    """Level sets with gradient arrows and the critical points found in a box.

    ``f``: function of a vector of two, or object with ``value`` such as Quadratic; ``box``: ((x
    low, x high), (y low, y high)); ``point``, ``direction``: two numbers each; draw the directional
    derivative there.

    Examples
    --------
    >>> from pellucid.plots import contours
    >>> picture = contours(lambda x: x[0] ** 2 - x[1] ** 2, ((-1, 1), (-1, 1)))
    >>> [(p.kind, round(p.value, 6)) for p in picture.critical]
    [('saddle point', 0.0)]
    """
    g = function_of(f)
    field = field_of(g, box)
    if (point is None) != (direction is None):
        raise ValueError("point and direction go together: give both or neither")
    inner = [line[0] + np.ptp(line) * (np.arange(ARROWS) + 0.5) / ARROWS for line in field[:2]]
    at = np.stack(np.meshgrid(*inner), axis=-1).reshape(-1, 2)
    gradients = np.array([numerical_gradient(g, x) for x in at])
    where = way = slope = uphill = None
    if point is not None:
        where, way = (np.asarray(v, dtype=np.float64).reshape(2) for v in (point, direction))
        slope = directional_derivative(g, where, way)
        uphill = numerical_gradient(g, where)
        way = way / np.linalg.norm(way)
    critical = stationary_points(g, field)
    said = words([f"{p.kind} at ({p.x:.3g}, {p.y:.3g})" for p in critical]) or "none"
    alt = (
        f"Level sets of a function between {field.z.min():.4g} and {field.z.max():.4g}; critical "
        f"points: {said}" + ("" if slope is None else f"; directional derivative {slope:.4g}") + "."
    )
    return Contours(alt, field, at, gradients, critical, where, way, slope, uphill)
