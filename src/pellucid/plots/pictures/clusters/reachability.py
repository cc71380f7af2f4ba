"""Reachabilities in the order of the visits of OPTICS: a valley is a cluster."""

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray, Model
from pellucid.plots.panels.inputs import last_step
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, heading, legend

SPACE = 0.05  # of the height: between the brackets of nested clusters


class Reachability(Panel):
    """One bar per visit, coloured by cluster, and a bracket below for every cluster."""

    heights: Array  # (n,) in the order of the visits; inf where no visit reached the row
    labels: IntArray  # (n,) in the same order, -1 for noise
    brackets: IntArray  # (m, 2) first and last visit of every cluster
    eps: float | None  # the height of the cut

    def _draw(self, ax: Axes) -> None:
        known = self.heights[np.isfinite(self.heights)]
        top = 1.05 * known.max(initial=0.0) or 1.0
        x = np.arange(len(self.heights))
        shown = np.minimum(self.heights, top)  # a bar without end goes to the rim
        for k in np.unique(self.labels):
            own = self.labels == k
            tint = GREY if k < 0 else colour(int(k))
            label = "noise" if k < 0 else f"cluster {k}" if k < 8 else None
            ax.bar(x[own], shown[own], width=1.0, color=tint, label=label)
        if self.eps is not None:
            ax.axhline(self.eps, color="black", ls="--", lw=1.2, label=f"eps = {self.eps:.3g}")
        for level, (a, b) in enumerate(self.brackets):
            y = -SPACE * top * (1 + level % 6)
            ax.plot([a - 0.5, b + 0.5], [y, y], color="black", lw=1.5, solid_capstyle="butt")
        low = -SPACE * top * (1 + min(len(self.brackets), 6)) if len(self.brackets) else 0.0
        ax.set(xlabel="visit", ylabel="reachability", ylim=(low, top), xlim=(-0.5, len(x) - 0.5))
        heading(ax, self.title)
        ax.set_yticks([t for t in ax.get_yticks() if 0.0 <= t <= top])  # brackets have no height
        legend(ax, loc="upper left")


def reachability(model: Model) -> Reachability:
    """The reachability plot of a fitted ``OPTICS``: valleys are clusters, brackets nested ones.

    ``model``: a fitted ``OPTICS``, or a pipeline that ends in one.

    Examples
    --------
    >>> from pellucid import OPTICS
    >>> from pellucid.plots import reachability
    >>> picture = reachability(OPTICS(min_samples=2).fit([[0.0], [1.0], [9.0], [9.5]]))
    >>> picture.heights, picture.brackets.tolist()
    (array([inf, 1. , 8. , 0.5]), [[0, 1], [2, 3], [0, 3]])
    """
    optics = last_step(model)
    if not hasattr(optics, "reachability_"):
        raise ValueError(f"reachability needs a fitted OPTICS, got {type(optics).__name__}")
    order = optics.ordering_
    heights, labels = optics.reachability_[order], optics.labels_[order]
    brackets = getattr(optics, "cluster_hierarchy_", np.empty((0, 2), np.int64))
    eps = None
    if optics.cluster_method == "dbscan":
        eps = float(optics.max_eps if optics.eps is None else optics.eps)
        eps = eps if np.isfinite(eps) else None
    found, noise = int(labels.max()) + 1, int((labels < 0).sum())
    cut = "" if eps is None else f" below eps = {eps:.3g}"
    title = f"{found} valleys{cut}, {noise} of {len(order)} rows are noise"
    known = heights[np.isfinite(heights)]
    ends = f"from {known.min():.3g} to {known.max():.3g}" if len(known) else "all infinite"
    alt = (
        f"Reachabilities of {len(order)} rows in the order of the visits, {ends}; "
        f"{found} clusters{cut}, {noise} rows of noise, {len(brackets)} brackets of clusters."
    )
    return Reachability(alt, heights, labels, brackets, eps, title=title)
