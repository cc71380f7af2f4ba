"""The tree of a hierarchical clustering, with the cut that makes the clusters.

A merge is a bracket at its height over its two parts. Many rows: the top of the tree, the parts
below drawn as leaves with their number of rows.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, IntArray, Model
from pellucid.plots.panels.inputs import label_of, last_step
from pellucid.plots.panels.marks import beside
from pellucid.plots.panels.style import GREY, LEAST, Axes, Picture, axes, colour, heading

MOST_LEAVES = 60


class Dendrogram(Picture):
    """One bracket per merge: its two feet and its bar, all in the units of the heights."""

    x: Array  # (m, 4) left foot, left corner, right corner, right foot
    y: Array  # (m, 4)
    cluster: IntArray  # (m,) cluster of the merge below the cut, -1 above
    leaves: tuple[str, ...]  # from left to right
    sizes: IntArray  # rows in each leaf
    cut: float | None  # height of the cut, None where no height makes it
    n_clusters: int
    ylabel: str

    def plot(self, ax: Axes | None = None) -> Any:
        n = len(self.leaves)
        ax = axes(ax, figsize=(max(6.0, min(0.16 * n, 11.0)), 4.2))
        for x, y, k in zip(self.x, self.y, self.cluster, strict=True):
            tint = GREY if k < 0 else colour(int(k))
            ls = "-" if k < 0 else ("-", "--", "-.", ":")[(int(k) // 8) % 4]
            ax.plot(x, y, color=tint, lw=1.5, solid_joinstyle="miter", ls=ls)
        if self.cut is not None:
            ax.axhline(self.cut, color="black", ls="--", lw=1.1)
            text, xycoords = f"cut: {self.n_clusters} clusters", ("axes fraction", "data")
            beside(ax, text, (1.0, self.cut), (-2, 3), ha="right", xycoords=xycoords)
        upright = n <= 12 and max(map(len, self.leaves)) <= 6
        fontsize = "small" if n <= 30 else LEAST
        ax.set_xticks(np.arange(n), self.leaves, rotation=0 if upright else 90, fontsize=fontsize)
        ax.grid(False, axis="x")
        ax.set(ylabel=self.ylabel, xlim=(-0.6, n - 0.4))
        ax.set_ylim(bottom=min(0.0, float(self.y.min())))
        heading(ax, self.title)
        return ax


def dendrogram(
    E: Model,
    *,
    n_clusters: int | None = None,
    height: float | None = None,
    names: Any = None,
    most: int = MOST_LEAVES,
) -> Dendrogram:
    """The tree of merges (or splits) with its cut.

    ``E``: fitted AgglomerativeClustering or DivisiveClustering, or a Pipeline that ends with one.
    ``n_clusters``, ``height``: int or float; another cut than that of the fit. ``names``: one name
    per row; row numbers by default. ``most``: leaves at most; lower parts of the tree become leaves
    such as "(12)", for 12 rows.

    Examples
    --------
    >>> from pellucid import AgglomerativeClustering
    >>> from pellucid.plots import dendrogram
    >>> model = AgglomerativeClustering(2, linkage="single").fit([[0], [1], [5], [6.5], [20]])
    >>> picture = dendrogram(model)
    >>> picture.leaves, picture.cut, picture.y.max(axis=1)
    (('4', '0', '1', '2', '3'), 8.75, array([ 1. ,  1.5,  4. , 13.5]))
    """
    check.whole(at_least=2, most=most)
    model = last_step(E)
    if not hasattr(model, "children_") or not hasattr(model, "cut"):
        raise ValueError(f"dendrogram is for hierarchical clusterings, got {type(model).__name__}")
    other = n_clusters is not None or height is not None
    labels = model.cut(n_clusters=n_clusters, height=height) if other else model.labels_
    n, children, heights = model.n_leaves_, model.children_, model.distances_
    k = int(labels.max()) + 1
    row_names = [str(i) for i in range(n)] if names is None else [str(name) for name in names]
    if len(row_names) != n:
        raise ValueError(f"names must hold one name per row ({n}), got {len(row_names)}")
    first = n - min(most, n)  # merges below it are folded into leaves
    sizes, members = _sizes(children, n)
    order = _leaf_order(children, n, first)
    place = {node: float(i) for i, node in enumerate(order)}
    x, y, cluster = [], [], []
    for i in range(first, n - 1):
        a, b = children[i].tolist()
        feet = [0.0 if c < n + first else float(heights[c - n]) for c in (a, b)]
        left, right, top = place[a], place[b], float(heights[i])
        place[n + i] = (left + right) / 2
        x.append([left, left, right, right])
        y.append([feet[0], top, top, feet[1]])
        cluster.append(labels[members[n + i]] if i < n - k else -1)
    leaves = tuple(row_names[c] if c < n else f"({sizes[c]})" for c in order)
    cut = _cut_height(heights, k, height)
    what = "diameter" if hasattr(model, "heights_") else f"{model.linkage} distance"
    title = f"{label_of(E)}: {n} rows, {k} clusters"
    alt = (
        f"Tree of {n} rows by {type(model).__name__}, heights from {float(heights.min()):.4g} to "
        f"{float(heights.max()):.4g}, cut into {k} clusters of "
        f"{', '.join(map(str, np.bincount(labels)[:8].tolist()))}{' ...' if k > 8 else ''} rows."
    )
    drawn = (np.array(x), np.array(y), np.array(cluster, dtype=np.intp), leaves)
    shown_sizes = np.array([sizes[c] for c in order])
    return Dendrogram(alt, *drawn, shown_sizes, cut, k, what, title=title)


def _sizes(children: IntArray, n: int) -> tuple[list[int], list[int]]:
    """Rows below each node, and one of them."""
    sizes, members = [1] * n, list(range(n))
    for a, b in children.tolist():
        sizes.append(sizes[a] + sizes[b])
        members.append(members[a])
    return sizes, members


def _leaf_order(children: IntArray, n: int, first: int) -> list[int]:
    """Leaves (rows and folded nodes) from left to right."""
    order, stack = [], [2 * n - 2]
    while stack:
        node = stack.pop()
        if node < n + first:
            order.append(node)
        else:
            a, b = children[node - n].tolist()
            stack += [b, a]
    return order


def _cut_height(heights: Array, k: int, height: float | None) -> float | None:
    """Half-way between the last merge below the cut and the first above; None with inversions.

    >>> _cut_height(np.array([1.0, 2.0, 6.0]), 2, None)
    4.0
    """
    if height is not None:
        return float(height)
    n = len(heights) + 1
    below = float(heights[: n - k].max()) if k < n else 0.0
    above = float(heights[n - k :].min()) if k > 1 else below * 1.05
    return (below + above) / 2 if above >= below else None
