"""Newton's method for a root: every step follows the tangent to the axis."""

from collections.abc import Callable

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, legend
from pellucid.solvers import newton_root


class NewtonSteps(Panel):
    grid: Array  # (g,)
    curve: Array  # (g,)
    x: Array  # (steps + 1,) the points visited
    values: Array  # f there
    root: float
    converged: bool

    def _draw(self, ax: Axes) -> None:
        ax.axhline(0, color=GREY, lw=0.8)
        ax.plot(self.grid, self.curve, color=colour(0), lw=2, label="f(x)")
        for i in range(len(self.x) - 1):
            label = "tangent, followed to the axis" if i == 0 else None
            y = [self.values[i], 0]
            ax.plot([self.x[i], self.x[i + 1]], y, color=colour(1), lw=1.2, label=label)
            ax.plot([self.x[i + 1]] * 2, [0, self.values[i + 1]], ":", color=GREY, lw=1)
        ax.plot(self.x, self.values, "o", color=colour(1), ms=5)
        size = 0.02 * np.ptp(self.grid)
        shown: list[float] = []
        for i, (x, v) in enumerate(zip(self.x, self.values, strict=True)):
            if all(abs(x - other) > 2 * size for other in shown):  # later points lie on each other
                xytext = (8, -13 if v >= 0 else -3)
                ax.annotate(f"$x_{{{i}}}$", (x, v), xytext=xytext, textcoords="offset points")
                shown.append(float(x))
        if self.converged:
            ax.plot(self.root, 0, "*", ms=12, color=colour(2), label=f"root {self.root:.6g}")
        ax.set(xlabel="x", ylabel="f(x)", title="Newton's method: tangent by tangent")
        ax.set_ylim(*visible(self.curve, self.values))
        legend(ax)


def visible(curve: Array, values: Array) -> tuple[float, float]:
    """Limits that show the points visited and zero."""
    low, high = min(values.min(), 0.0), max(values.max(), 0.0)
    room = 0.15 * (high - low or 1.0)
    return max(curve.min(), low - room) - room / 3, min(curve.max(), high + room) + room / 3


def newton_steps(
    f: Callable[[float], float],
    x0: float,
    *,
    derivative: Callable[[float], float] | None = None,
    steps: int = 6,
) -> NewtonSteps:
    """Newton's tangents from x0.

    ``f``: callable of one number. ``x0``: the start; ``derivative``: callable; found numerically
    where not given. ``steps``: steps to draw; the root is that of the whole run.

    Examples
    --------
    >>> picture = newton_steps(lambda x: x * x - 2, 1.0)
    >>> picture.x[:3].round(6), round(picture.root, 6)
    (array([1.      , 1.5     , 1.416667]), 1.414214)
    """
    check.whole(steps=steps)
    if not np.isfinite(x0):
        raise ValueError(f"x0 must be a finite number, got {x0!r}")
    run = newton_root(f, float(x0), derivative)
    x = np.asarray(run.history["x"], dtype=np.float64)[: steps + 1]
    values = np.asarray(run.history["value"], dtype=np.float64)[: steps + 1]
    low, high = float(x.min()), float(x.max())
    room = 0.25 * (high - low) or 1.0
    grid = np.linspace(low - room, high + room, 301)
    with np.errstate(all="ignore"):
        curve = np.array([float(f(float(v))) for v in grid])
    fine = np.isfinite(curve)
    end = f"reaching the root {run.x:.6g}" if run.converged else "without reaching a root"
    alt = f"Newton's method from x = {x0:g}: {run.n_iter} tangent steps, {end}."
    return NewtonSteps(alt, grid[fine], curve[fine], x, values, run.x, run.converged)
