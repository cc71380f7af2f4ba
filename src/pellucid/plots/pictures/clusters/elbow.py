"""The error against the number of clusters, and where it bends: once, nowhere or several times."""

from typing import Any

import numpy as np

from pellucid.cluster.choosing.elbow_rule import ElbowResult
from pellucid.cluster.choosing.elbow_rule import elbow as find_elbow
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.plots.panels.marks import spot
from pellucid.plots.panels.style import GREY, Panel, colour, heading, legend


class Elbow(Panel):
    """E(k) for consecutive k, and the elbow by the rule of drops."""

    n_clusters: IntArray  # (m,)
    errors: Array  # (m,)
    result: ElbowResult

    def _draw(self, ax: Any) -> None:
        ax.plot(self.n_clusters, self.errors, "-o", color=colour(0), lw=1.6, ms=5)
        place = dict(zip(self.n_clusters.tolist(), self.errors.tolist(), strict=True))
        for k in self.result.candidates:
            chosen = k == self.result.n_clusters
            ax.axvline(k, color=colour(1) if chosen else GREY, lw=1.2, ls="--" if chosen else ":")
            shape, tint, size = ("D", colour(1), 10) if chosen else ("s", "white", 8)
            label = f"{'sharpest bend' if chosen else 'another bend'}: k = {k}"
            spot(ax, k, place[k], shape, tint, size=size, zorder=4, label=label)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set(xlabel="number of clusters k", ylabel="error E(k)", ylim=(0, None))
        heading(ax, self.title, self.note)
        if self.result.candidates:
            legend(ax)


def elbow(scan: Any, n_clusters: Any = None, *, ratio: float = 2.0, share: float = 0.05) -> Elbow:
    """The error against k with the elbow marked, or the word that there is none or several.

    ``scan``: fitted ClusterNumberSearch, or the errors E(k).

    Parameters
    ----------
    n_clusters : consecutive numbers of clusters, optional
        Of given errors; 1, 2, ... by default.
    ratio, share : float, default=2.0, 0.05
        The rule: k is an elbow if the drop to E(k) is at least ``ratio`` times the next drop and
        ``share`` of the whole fall.

    Examples
    --------
    >>> from pellucid.plots import elbow
    >>> picture = elbow([765.3, 334.3, 88.2, 72.7, 62.1])
    >>> picture.result.n_clusters, picture.title
    (3, 'Elbow at 3 clusters')
    """
    values = scan
    if hasattr(scan, "results_"):
        values, n_clusters = scan.results_["inertia"], scan.results_["n_clusters"]
    result = find_elbow(values, n_clusters, ratio=ratio, share=share)
    errors = np.asarray(values, dtype=np.float64)
    counts = np.arange(1, len(errors) + 1) if n_clusters is None else np.asarray(n_clusters)
    text = str(result)
    note = f"rule: a drop of {ratio:g} times the next one and {share:.0%} of the whole fall"
    alt = (
        f"Error against {int(counts[0])} to {int(counts[-1])} clusters, from {errors[0]:.4g} to "
        f"{errors[-1]:.4g}: {text}."
    )
    title = text[0].upper() + text[1:]
    return Elbow(alt, counts.astype(np.intp), errors, result, title=title, note=note)
