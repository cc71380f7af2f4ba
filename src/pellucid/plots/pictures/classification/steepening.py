"""The sigmoid of a steeper and steeper score: sigma(c a) becomes the step of a threshold unit."""

from typing import Any

import numpy as np
from scipy.special import expit

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.plots.panels.marks import STYLES
from pellucid.plots.panels.style import Axes, Panel, colour, heading, legend


class Steepening(Panel):
    grid: Array  # (g,)
    steepness: tuple[float, ...]
    curves: Array  # (m, g)
    step: Array  # (g,) 0 below 0, 1 from 0 on
    gap: tuple[float, ...]  # mean |curve - step| over the grid

    def _draw(self, ax: Axes) -> None:
        for i, (c, curve) in enumerate(zip(self.steepness, self.curves, strict=True)):
            look: Any = {"color": colour(i % 6), "ls": STYLES[i % 4], "lw": 1.8}
            ax.plot(self.grid, curve, label=f"c = {c:g}", **look)
        ends = self.grid[[0, -1]]
        ax.plot([ends[0], 0, 0, ends[1]], [0, 0, 1, 1], color="black", lw=1.2, label="step")
        ax.set(xlabel="score a", ylabel="σ(c a)", ylim=(-0.05, 1.05))
        heading(ax, "The steeper the sigmoid, the nearer to a threshold")
        legend(ax)


def steepening(c: Any = (1.0, 2.0, 5.0, 20.0), *, reach: float = 4.0) -> Steepening:
    """Sigmoids of growing steepness against the step function.

    ``c``: numbers > 0; what the score is multiplied by; the length of the weights plays this part.
    ``reach``: scores from -reach to reach are shown.

    Examples
    --------
    >>> from pellucid.plots import steepening
    >>> picture = steepening((1, 100))
    >>> picture.curves[:, 100], bool(picture.gap[1] < picture.gap[0])
    (array([0.5, 0.5]), True)
    """
    check.positive(reach=reach)
    values = tuple(float(v) for v in np.atleast_1d(np.asarray(c, dtype=np.float64)))
    for value in values:
        check.positive(c=value)
    if not values:
        raise ValueError("c must hold at least one number > 0, got none")
    grid = np.linspace(-reach, reach, 201)
    curves = expit(np.outer(values, grid))
    step = (grid >= 0).astype(np.float64)
    gap = tuple(float(v) for v in np.abs(curves - step).mean(axis=1))
    said = ", ".join(f"{v:g}" for v in values)
    alt = f"Sigmoids of c times the score for c = {said}, and the step function they approach."
    return Steepening(alt, grid, values, curves, step, gap)
