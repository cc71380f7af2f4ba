"""Silhouettes: how much nearer every row is to its own cluster than to the next one."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pellucid.cluster.choosing.measures import silhouette_values
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.plots.panels.marks import words
from pellucid.plots.panels.style import GREY, Axes, Picture, axes, colour, heading, panels


class Silhouette(Picture):
    """One panel per labelling: silhouettes sorted within each cluster."""

    labels: tuple[str, ...]  # of the panels
    clusters: tuple[Any, ...]  # the clusters of each panel
    values: tuple[tuple[Array, ...], ...]  # per panel and cluster, falling
    means: Array  # (panels,)
    below: IntArray  # (panels,) rows with a silhouette below 0
    n_clusters: IntArray  # (panels,)

    def plot(self, ax: Any = None) -> Any:
        """Axes for one labelling; for several the figure, with the mean against k at the end."""
        if len(self.labels) == 1:
            ax = axes(ax, figsize=(6.0, 4.4))
            self._panel(ax, 0)
            return ax
        if ax is not None:
            raise ValueError("several labellings need axes of their own: call plot() without ax")
        grid = panels(len(self.labels) + 1, columns=3, size=(3.8, 3.4))
        for i in range(len(self.labels)):
            self._panel(grid[i], i)
            grid[i].set_xlim(min(-0.1, min(v[-1] for part in self.values for v in part)), 1)
        self._means(grid[-1])
        return grid[0].figure

    def _panel(self, ax: Axes, i: int) -> None:
        base, ticks = 0, []
        total = sum(len(v) for v in self.values[i])
        room = max(1, round(0.03 * total))
        for k, values in enumerate(self.values[i]):
            y = base + np.arange(len(values))
            ax.fill_betweenx(y, 0, values, step="mid", color=colour(k), alpha=0.85, linewidth=0.6)
            if len(values) == 1:  # an area of one row has no height
                ax.plot([0, values[0]], [base, base], color=colour(k), lw=1.5)
            ticks.append(base + (len(values) - 1) / 2)
            base += len(values) + room
        ax.axvline(self.means[i], color="black", ls="--", lw=1.2)
        ax.axvline(0, color=GREY, lw=0.8)
        names = [f"{c} ({len(v)})" for c, v in zip(self.clusters[i], self.values[i], strict=True)]
        ax.set_yticks(ticks, names, fontsize="small")
        ax.invert_yaxis()
        ax.set(xlabel="silhouette", ylabel="cluster (rows)")
        heading(ax, f"{self.labels[i]}mean {self.means[i]:.3f} (dashed), {self.below[i]} below 0")

    def _means(self, ax: Any) -> None:
        order = np.argsort(self.n_clusters, kind="stable")
        k, m = self.n_clusters[order], self.means[order]
        ax.plot(k, m, "-o", color=colour(0), ms=5)
        best = int(np.argmax(m))
        ax.plot(k[best], m[best], "D", color=colour(1), ms=9, mec="black")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set(xlabel="number of clusters k", ylabel="mean silhouette")
        heading(ax, f"largest mean at k = {k[best]}")


def silhouette(
    X: ArrayLike, labels: ArrayLike, *, metric: Any = "euclidean", within: str = "others"
) -> Silhouette:
    """Silhouettes of all rows, cluster by cluster; of several labellings also their means by k.

    ``X``: table; ``metric``, ``within``: as for ``pellucid.cluster.silhouette_values``; ``labels``:
    labels (n,), or a dictionary {"name": labels}; several labellings have a panel each and one of
    their means against their number of clusters.

    Examples
    --------
    >>> from pellucid.plots import silhouette
    >>> picture = silhouette([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1])
    >>> picture.means.round(4), [v.round(3).tolist() for v in picture.values[0]]
    (array([0.8885]), [[0.895, 0.882], [0.895, 0.882]])
    """
    pairs = list(labels.items()) if isinstance(labels, Mapping) else [("", labels)]
    if not pairs:
        raise ValueError("labels must hold at least one labelling, got none")
    names, groups, values, means = [], [], [], []
    for name, each in pairs:
        codes = np.asarray(each)
        s = silhouette_values(X, codes, metric=metric, within=within).silhouette
        known = np.unique(codes)
        names.append(f"{name}: " if len(pairs) > 1 else "")
        groups.append(tuple(known.tolist()))
        values.append(tuple(np.sort(s[codes == c])[::-1] for c in known))
        means.append(float(s.mean()))
    below = [sum(int((v < 0).sum()) for v in part) for part in values]
    sizes = [len(g) for g in groups]
    found = zip(sizes, means, below, strict=True)
    said = [f"{k} clusters mean {m:.3f} with {b} rows below 0" for k, m, b in found]
    alt = f"Silhouettes of every row by cluster: {words(said)}."
    numbers = (np.array(means), np.array(below), np.array(sizes))
    return Silhouette(alt, tuple(names), tuple(groups), tuple(values), *numbers)
