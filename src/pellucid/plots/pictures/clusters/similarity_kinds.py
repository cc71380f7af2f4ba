"""Two ideas of similarity on the same rows: near a centre (blobs), or connected by near rows
(chains)."""

from typing import Any

import numpy as np

from pellucid.cluster.hierarchy.agglomerative import AgglomerativeClustering
from pellucid.cluster.kmeans.kmeans import KMeans
from pellucid.core.arrays import check
from pellucid.core.arrays.partitions import adjusted_rand, cross_counts
from pellucid.core.arrays.typing import Array, ArrayLike, Columns, IntArray
from pellucid.plots.panels.groups import draw_groups
from pellucid.plots.panels.inputs import read_table
from pellucid.plots.panels.marks import thinned
from pellucid.plots.panels.planes import view_of
from pellucid.plots.panels.style import LEAST, Picture, heading, legend, panels, together

KINDS = ("by proximity: k-means", "by transitivity: single linkage")


class SimilarityKinds(Picture):
    at: Array  # (n, 1) or (n, 2)
    blobs: IntArray  # (n,) labels of k-means
    chains: IntArray  # (n,) labels of single linkage
    agreement: float  # adjusted Rand index
    names: tuple[str, ...]

    def plot(self) -> Any:
        """Both panels; the figure."""
        flat = self.at.shape[1] == 1
        grid = panels(2, columns=2, size=(4.4, 3.0 if flat else 4.0))
        for ax, kind, labels in zip(grid, KINDS, (self.blobs, self.chains), strict=True):
            draw_groups(ax, self.at, labels)
            ax.set(xlabel=self.names[0], ylabel="group" if flat else self.names[1])
            if flat:
                ax.set_yticks(np.unique(labels))
            heading(ax, kind)
            legend(ax, loc="best", fontsize=LEAST)
        return together(grid, "\n".join(filter(None, (self.title, self.note))))


def similarity_kinds(
    X: ArrayLike, n_clusters: int = 2, *, columns: Columns | None = None
) -> SimilarityKinds:
    """Chains against blobs: k-means and single linkage on the same rows.

    ``X``: table; ``n_clusters``: how many clusters are made, 2 by default; ``columns``: one or two
    names or positions; columns to draw; all are clustered.

    Examples
    --------
    >>> from pellucid.data import make_rings
    >>> from pellucid.plots import similarity_kinds
    >>> rings, _ = make_rings(200, noise=0.1, random_state=0)
    >>> picture = similarity_kinds(rings)
    >>> np.bincount(picture.chains), picture.agreement < 0.1
    (array([100, 100]), True)
    """
    check.whole(at_least=2, n_clusters=n_clusters)
    table = read_table(X)
    view = view_of(table.X, table.names, columns)
    blobs = KMeans(n_clusters, n_init=10, random_state=0).fit(table.X).labels_
    chains = AgglomerativeClustering(n_clusters, linkage="single").fit(table.X).labels_
    agreement = float(adjusted_rand(cross_counts(blobs.astype(np.intp), chains)))
    said = "much the same groups" if agreement > 0.5 else "different groups: say which you mean"
    said = "the same groups" if agreement > 0.95 else said
    title = f"Two kinds of similarity: {said} (adjusted Rand {agreement:.2f})"
    alt = (
        f"{len(table.X)} rows in {n_clusters} groups by k-means and by single linkage; {said}, "
        f"adjusted Rand index {agreement:.2f}."
    )
    kept = thinned(len(table.X))
    drawn = (view.at[kept], blobs[kept].astype(np.intp), chains[kept], agreement)
    return SimilarityKinds(alt, *drawn, view.names, title=title, note=view.note)
