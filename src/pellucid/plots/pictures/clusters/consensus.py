"""The consensus matrix: how often two rows were put together, over many runs of a clustering."""

from typing import Any

import numpy as np

from pellucid.cluster.hierarchy.agglomerative import AgglomerativeClustering
from pellucid.core.arrays.typing import Array, IntArray, MaybeArray
from pellucid.plots.panels.marks import thinned
from pellucid.plots.panels.style import Axes, Panel, heading

MOST_ROWS = 600


class Consensus(Panel, size=(5.4, 4.6)):
    """The matrix in the order drawn."""

    matrix: Array  # (m, m) NaN: never seen together
    rows: IntArray  # (m,) row numbers in the order drawn
    blocks: IntArray  # first places of the clusters
    unsure: float  # share of pairs between 0.1 and 0.9

    def _draw(self, ax: Axes) -> None:
        import matplotlib as mpl

        tints = mpl.colormaps["Blues"].with_extremes(bad="#E5E7EB")
        m = len(self.rows)
        look: Any = {"cmap": tints, "vmin": 0, "vmax": 1, "interpolation": "nearest"}
        shown = ax.imshow(self.matrix, extent=(0, m, m, 0), **look)
        ax.figure.colorbar(shown, ax=ax, label="share of runs that put both together")
        for edge in self.blocks[1:]:
            ax.axhline(edge, color="black", lw=0.7)
            ax.axvline(edge, color="black", lw=0.7)
        ax.grid(False)
        ax.set(xlabel="rows, by cluster", ylabel="rows, by cluster")
        heading(ax, self.title)


def consensus(matrix: Any, labels: MaybeArray = None) -> Consensus:
    """A consensus matrix with the rows sorted by cluster: clean blocks mean stable clusters.

    ``matrix``: (n, n) from ``pellucid.cluster.consensus_matrix``. More than 600 rows are thinned.
    ``labels``: (n,); clusters to sort by, such as ``modal_labels`` of ``cluster_stability``; inside
    them, and without them, rows stand in the order of average linkage.

    Examples
    --------
    >>> from pellucid.plots import consensus
    >>> picture = consensus([[1, 0, 1], [0, 1, 0], [1, 0, 1]], [0, 1, 0])
    >>> picture.rows, picture.blocks, picture.unsure
    (array([0, 2, 1]), array([0, 2]), 0.0)
    """
    C = np.asarray(matrix, dtype=np.float64)
    if C.ndim != 2 or len(C) != C.shape[1] or len(C) < 2:
        raise ValueError(f"matrix must be square with at least 2 rows, got shape {C.shape}")
    n = len(C)
    given = np.zeros(n) if labels is None else np.asarray(labels)
    codes = np.unique(given, return_inverse=True)[1]
    if len(codes) != n:
        raise ValueError(f"labels must hold one label per row ({n}), got {len(codes)}")
    off = C[np.triu_indices(n, 1)]
    off = off[np.isfinite(off)]
    unsure = float(((off > 0.1) & (off < 0.9)).mean()) if len(off) else 0.0
    kept = thinned(n, MOST_ROWS)
    order = kept[np.lexsort((_places(C[np.ix_(kept, kept)]), codes[kept]))]
    blocks = np.flatnonzero(np.diff(codes[order], prepend=-1))
    title = f"Consensus of {n} rows: {unsure:.1%} of the pairs unsure (0.1 to 0.9)"
    alt = f"{title}; {len(blocks)} block{'s' if len(blocks) != 1 else ''} along the diagonal."
    return Consensus(alt, C[np.ix_(order, order)], order, blocks, unsure, title=title)


def _places(C: Array) -> IntArray:
    """The place of each row in the order of an average-linkage tree on 1 - C."""
    D = 1 - np.where(np.isfinite(C), C, 0.0)
    np.fill_diagonal(D, 0.0)
    D = (D + D.T) / 2
    n = len(D)
    tree = AgglomerativeClustering(1, metric="precomputed", linkage="average").fit(D)
    order: list[int] = []
    stack = [2 * n - 2]
    while stack:
        node = stack.pop()
        if node < n:
            order.append(node)
        else:
            stack += tree.children_[node - n].tolist()[::-1]
    places = np.empty(n, dtype=np.intp)
    places[order] = np.arange(n)
    return places
