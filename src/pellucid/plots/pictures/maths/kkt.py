r"""A constrained problem in the plane: the feasible set and the contour that touches it.

At a minimum the pull of the objective, -grad f, is held by the constraints that are active:
-grad f = sum lambda_i grad g_i + sum nu_j grad h_j with lambda >= 0.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray
from pellucid.plots.panels.marks import isolines
from pellucid.plots.panels.style import Panel, colour, legend
from pellucid.solvers import Objective, kkt_report
from pellucid.solvers.kkt import KKTReport


class Kkt(Panel, size=(6.0, 5.0)):
    """The problem over a grid, the point, and its report."""

    first: Array  # (g,)
    second: Array  # (g,)
    values: Array  # (g, g) of the objective, rows belong to ``second``
    feasible: BoolArray  # (g, g) by the inequalities
    inequalities: Array  # (m, g, g)
    equalities: Array  # (k, g, g)
    point: Array  # (2,)
    value: float
    pull: Array  # (2,) -grad f at the point
    normals: Array  # (m + k, 2) multiplier times gradient of each constraint
    report: KKTReport
    names: tuple[str, str]

    def _draw(self, ax: Any) -> None:
        z = self.feasible.astype(float)
        ax.contourf(self.first, self.second, z, levels=[0.5, 1.5], colors=[colour(5)], alpha=0.25)
        spread = np.unique(np.quantile(self.values, [0.02, 0.1, 0.25, 0.5, 0.75]))
        if len(spread) > 1:
            isolines(ax, self.first, self.second, self.values, levels=spread, tint="0.7", lw=0.8)
        if self.values.min() < self.value < self.values.max():
            isolines(
                ax, self.first, self.second, self.values, levels=[self.value], tint=colour(1), lw=2
            )
        for surface in (*self.inequalities, *self.equalities):
            if surface.min() < 0 < surface.max():
                isolines(ax, self.first, self.second, surface, levels=[0], tint=colour(0), lw=1.5)
        self._arrows(ax)
        ok = "KKT point" if self.report.satisfied else "not a KKT point"
        ax.plot(*self.point, "o", color="black", ms=7, label=f"{ok}, objective {self.value:.4g}")
        ax.plot([], [], color=colour(1), lw=2, label="contour through the point")
        ax.plot([], [], color=colour(0), lw=1.5, label="constraints (feasible side shaded)")
        ax.set_aspect("equal", adjustable="box")
        ax.set(xlim=self.first[[0, -1]], ylim=self.second[[0, -1]])
        lam = ", ".join(f"{v:.3g}" for v in self.report.multipliers)
        met = "KKT conditions hold" if self.report.satisfied else "KKT conditions fail"
        title = f"{met}: multipliers {lam}" if lam else f"{met}: equality constraints"
        ax.set(xlabel=self.names[0], ylabel=self.names[1], title=title)
        legend(ax, loc="upper left", bbox_to_anchor=(0, -0.2))

    def _arrows(self, ax: Any) -> None:
        """-grad f and what holds it, on one scale."""
        longest = max([np.linalg.norm(v) for v in (self.pull, *self.normals)])
        if not longest > 0:
            return
        scale = 0.22 * min(np.ptp(self.first), np.ptp(self.second)) / longest
        for vector, tint, word in [
            (self.pull, colour(1), "downhill, -grad f"),
            *((v, colour(2), "multiplier x grad of a constraint") for v in self.normals),
        ]:
            if np.linalg.norm(vector) <= 1e-9 * longest:
                continue
            new = word not in ax.get_legend_handles_labels()[1]
            width = 0.016 if tint == colour(1) else 0.006
            look = {"angles": "xy", "scale_units": "xy", "scale": 1, "color": tint, "width": width}
            look |= {"zorder": 3 if tint == colour(1) else 4, "label": word if new else None}
            ax.quiver(*self.point, *(scale * vector), **look)


def kkt(
    x: ArrayLike,
    objective: Any,
    *,
    inequality: Sequence[Any] = (),
    equality: Sequence[Any] = (),
    box: Any = None,
    names: tuple[str, str] = ("x0", "x1"),
    n: int = 201,
) -> Kkt:
    """The feasible set of min f, g_i <= 0, h_j = 0 in the plane, and the contour touching at x.

    ``objective``: callable or Objective; ``inequality``, ``equality``: sequences of callables or
    Objectives.

    Parameters
    ----------
    x : array of 2 numbers
        The point to look at, usually the solution.
    box : ((low, high), (low, high)), optional
        What to show; None: round the point and the origin.
    names : two str
        Of the axes.
    n : int, default=201
        Points of the grid along each axis.

    Examples
    --------
    >>> picture = kkt([1.0, 0.0], lambda x: (x[0] - 2) ** 2 + x[1] ** 2,
    ...               inequality=[lambda x: x @ x - 1])
    >>> picture.report.satisfied, picture.pull.round(6), picture.normals.round(6)
    (True, array([2., 0.]), array([[2., 0.]]))
    """
    point = np.asarray(x, dtype=np.float64).ravel()
    if point.shape != (2,) or not np.isfinite(point).all():
        raise ValueError(f"kkt draws problems of two variables, got x = {x!r}")
    if not inequality and not equality:
        raise ValueError("kkt needs at least one constraint: inequality=[...] or equality=[...]")
    f, g, h = functions([objective])[0], functions(inequality), functions(equality)
    report = kkt_report(point, f, inequality=g, equality=h)
    first, second = limits(point, box, n)
    P = np.stack(np.meshgrid(first, second), axis=-1)

    def over(function: Any) -> Array:
        return np.apply_along_axis(function.value, -1, P)

    G = np.array([over(one) for one in g]).reshape(-1, n, n)
    H = np.array([over(one) for one in h]).reshape(-1, n, n)
    prices = np.concatenate([report.multipliers, report.equality_multipliers])
    slopes = np.array([one.gradient(point) for one in (*g, *h)])
    value = float(f.value(point))
    allowed = np.asarray((G <= 0).all(axis=0))
    alt = (
        f"Feasible set of {len(g)} inequalities and {len(h)} equalities; at ({point[0]:.4g}, "
        f"{point[1]:.4g}) the objective is {value:.4g}. {report}."
    )
    pull, normals = -f.gradient(point) + 0.0, prices[:, None] * slopes
    shown_names = (str(names[0]), str(names[1]))
    return Kkt(
        alt, first, second, over(f), allowed, G, H, point, value, pull, normals, report, shown_names
    )


def functions(given: Sequence[Any]) -> list[Any]:
    """Callables as objectives."""
    return [one if hasattr(one, "gradient") else Objective(one) for one in given]


def limits(point: Array, box: Any, n: int) -> tuple[Array, Array]:
    """The axes."""
    if box is None:
        reach = 2.4 * max(float(np.abs(point).max()), 1.0)
        box = ((-reach, reach), (-reach, reach))
    (a, b), (c, d) = box
    if not (a < b and c < d):
        raise ValueError(f"box must be ((low, high), (low, high)), got {box!r}")
    return np.linspace(a, b, n), np.linspace(c, d, n)
