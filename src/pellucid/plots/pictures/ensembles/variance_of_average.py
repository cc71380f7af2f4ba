"""The variance of the average of B members whose errors are correlated: rho s2 + (1 - rho) s2/B."""

from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.ensemble.committees.resampling import variance_of_average as formula
from pellucid.plots.panels.marks import stroke
from pellucid.plots.panels.style import Axes, Panel, colour, heading, legend


class VarianceOfAverage(Panel):
    members: IntArray  # (m,)
    correlations: tuple[float, ...]
    curves: Array  # (correlations, m)
    variance: float  # of one member

    def _draw(self, ax: Axes) -> None:
        """Curves, and dotted the floor rho s2 below which no number of members goes."""
        for i, (rho, curve) in enumerate(zip(self.correlations, self.curves, strict=True)):
            label = f"correlation {rho:g}"
            ax.plot(self.members, curve, lw=2, label=label, **stroke(i))
            ax.axhline(rho * self.variance, color=colour(i), ls=":", lw=1)
        ylabel, ylim = "variance of their average", (0, 1.05 * self.variance)
        ax.set(xlabel="number of members B", ylabel=ylabel, xscale="log", ylim=ylim)
        legend(ax)
        note = "dotted: the floor, correlation times the variance of one"
        heading(ax, "Averaging helps as far as the members are independent", note)


def variance_of_average(
    B: int = 100, rho: Any = (0.0, 0.1, 0.3, 0.6), *, variance: float = 1.0
) -> VarianceOfAverage:
    """The variance of an average against the number of members, for several correlations.

    ``B``: most members; ``rho``: float or sequence of them; correlation between members, at most 8.
    ``variance``: of one member.

    Examples
    --------
    >>> from pellucid.plots import variance_of_average
    >>> variance_of_average(4, 0.5).curves.round(3)
    array([[1.   , 0.75 , 0.667, 0.625]])
    """
    check.whole(B=B)
    check.positive(variance=variance)
    correlations = tuple(float(r) for r in np.atleast_1d(rho))
    if not 0 < len(correlations) <= 8:
        raise ValueError(f"rho must hold 1 to 8 correlations, got {len(correlations)}")
    members = np.unique(np.geomspace(1, B, 200).round().astype(np.intp))
    curves = np.array([[formula(variance, int(b), r) for b in members] for r in correlations])
    ends = zip(correlations, curves, strict=True)
    said = ", ".join(f"{c[-1]:.3g} at correlation {r:g}" for r, c in ends)
    alt = f"Variance of the average of 1 to {B} members, each {variance:g}: with {B} it is {said}."
    return VarianceOfAverage(alt, members, correlations, curves, float(variance))
