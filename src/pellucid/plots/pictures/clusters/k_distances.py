"""Distances to the k-th neighbour, sorted: where the curve bends up, rows stop being dense."""

from typing import Any

import numpy as np

from pellucid.cluster.density.dbscan import k_distances as sorted_distances
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.plots.panels.inputs import table
from pellucid.plots.panels.style import Axes, Panel, colour, heading, legend


class KDistances(Panel):
    distances: Array  # (n,) ascending
    k: int
    bend: float  # height at the largest distance from the chord
    eps: float | None
    core: float | None  # share of the rows with k others within eps

    def _draw(self, ax: Axes) -> None:
        n = len(self.distances)
        ax.plot(np.arange(1, n + 1), self.distances, color=colour(0), lw=1.8)
        ax.axhline(self.bend, color=colour(1), ls=":", lw=1.4, label=f"bend: {self.bend:.3g}")
        if self.eps is not None:
            label = f"eps = {self.eps:.3g}: {self.core:.0%} of rows core"
            ax.axhline(self.eps, color=colour(2), ls="--", lw=1.4, label=label)
        ax.set(xlabel="rows, sorted", ylabel=f"distance to neighbour {self.k}", ylim=(0, None))
        heading(ax, self.title)
        legend(ax, loc="upper left")


def k_distances(
    X: ArrayLike, k: int = 4, *, eps: Any = None, metric: Any = "euclidean"
) -> KDistances:
    """The k-distance curve for choosing ``eps`` of DBSCAN.

    ``X``: table; ``metric``: the distance, a name or a function, "euclidean" by default; ``k``:
    goes with ``DBSCAN(min_samples=k + 1)``; ``eps``: float or fitted DBSCAN; a radius to mark.

    Examples
    --------
    >>> from pellucid.plots import k_distances
    >>> picture = k_distances([[0.0], [1.0], [2.0], [3.0], [20.0]], 1, eps=1.5)
    >>> picture.distances, picture.bend, picture.core
    (array([ 1.,  1.,  1.,  1., 17.]), 1.0, 0.8)
    """
    d = sorted_distances(table(X)[0], k, metric=metric)
    radius = getattr(eps, "eps", eps)
    if radius is not None:
        check.positive(eps=radius)
        radius = float(radius)
    core = None if radius is None else float((d <= radius).mean())
    bend = float(d[np.argmax(np.linspace(d[0], d[-1], len(d)) - d)])  # farthest below the chord
    title = f"Where the curve bends up is a good eps for min_samples = {k + 1}"
    said = "" if radius is None else f" At eps = {radius:.3g}, {core:.0%} of the rows are core."
    alt = (
        f"Sorted distances of {len(d)} rows to neighbour {k}, from {d[0]:.3g} to {d[-1]:.3g}, "
        f"with a bend at {bend:.3g}.{said}"
    )
    return KDistances(alt, d, k, bend, radius, core, title=title)
