"""The variance of the average of B members whose errors are correlated: rho s2 + (1 - rho) s2/B."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.ensemble.committees.resampling import variance_of_average as formula
from pellucid.plots.panels.style import Axes, axes, colour, heading, legend

if TYPE_CHECKING:
    pass


if TYPE_CHECKING:
    pass


STYLES = ("-", "--", "-.", ":")


@dataclass(frozen=True)
class VarianceOfAverage:
    """One curve per correlation."""

    members: IntArray  # (m,)
    correlations: tuple[float, ...]
    curves: Array  # (correlations, m)
    variance: float  # of one member
    alt: str

    def plot(self, ax: Axes | None = None) -> Any:
        """Curves, and dotted the floor rho s2 below which no number of members goes."""
        ax = axes(ax)
        for i, (rho, curve) in enumerate(zip(self.correlations, self.curves, strict=True)):
            label = f"correlation {rho:g}"
            ax.plot(self.members, curve, STYLES[i % 4], color=colour(i), lw=2, label=label)
            ax.axhline(rho * self.variance, color=colour(i), ls=":", lw=1)
        ylabel, ylim = "variance of their average", (0, 1.05 * self.variance)
        ax.set(xlabel="number of members B", ylabel=ylabel, xscale="log", ylim=ylim)
        legend(ax)
        note = "dotted: the floor, correlation times the variance of one"
        heading(ax, "Averaging helps as far as the members are independent", note)
        return ax


def variance_of_average(
    B: int = 100, rho: Any = (0.0, 0.1, 0.3, 0.6), *, variance: float = 1.0
) -> VarianceOfAverage:
    """The variance of an average against the number of members, for several correlations.

    Parameters
    ----------
    B : int, default=100
        Most members.
    rho : float or sequence of them, default=(0, 0.1, 0.3, 0.6)
        Correlation between members, at most 8.
    variance : float, default=1.0
        Of one member.

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
    said = ", ".join(
        f"{c[-1]:.3g} at correlation {r:g}" for r, c in zip(correlations, curves, strict=True)
    )
    alt = f"Variance of the average of 1 to {B} members, each {variance:g}: with {B} it is {said}."
    return VarianceOfAverage(members, correlations, curves, float(variance), alt)
