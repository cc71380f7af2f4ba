"""The nodes of a graph where a graph network puts them: near means alike to the network."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from pellucid.core.arrays.typing import Array, MaybeArray, Model
from pellucid.plots.panels.marks import dots, words
from pellucid.plots.panels.style import GREY, Panel, colour, heading, legend

MOST_EDGES = 3000


class Embeddings(Panel, size=(6.0, 4.6)):
    points: Array  # (nodes, 2)
    edges: Any  # (m, 2) node numbers
    labels: Any  # (nodes,) or None
    share: float  # of the variance of the embeddings in this plane

    def _draw(self, ax: Any) -> None:
        """Nodes by class, edges behind them."""
        for a, b in self.edges:
            ax.plot(*self.points[[a, b]].T, color=GREY, lw=0.5, alpha=0.35, zorder=1)
        if self.labels is None:
            ax.scatter(*self.points.T, s=30, color=colour(0), edgecolors="white", zorder=2)
        else:
            for i, label in enumerate(np.unique(self.labels)):
                here = self.labels == label
                dots(ax, *self.points[here].T, k=i, size=34, lw=0.6, zorder=2, label=str(label))
            legend(ax)
        ax.set(xlabel="first axis of the embeddings", ylabel="second axis")
        note = f"{self.share:.0%} of the variance of their embeddings; lines: edges"
        heading(ax, f"{len(self.points)} nodes as the network sees them", note)


def embeddings(E: Model, G: Any, labels: MaybeArray = None) -> Embeddings:
    """The nodes of a graph in the plane of their embeddings.

    ``E``: fitted GraphNeuralNetworkClassifier; ``G``: graph (adjacency, node_features); ``labels``:
    (nodes,); colours; a network that classifies nodes colours by its prediction.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.deep import GraphNeuralNetworkClassifier, Training
    >>> from pellucid.plots import embeddings
    >>> path = np.eye(4, k=1) + np.eye(4, k=-1)
    >>> model = GraphNeuralNetworkClassifier(
    ...     (4,), readout=None, training=Training(max_epochs=1), random_state=0)
    >>> picture = embeddings(model.fit((path, np.eye(4)), [0, 0, 1, 1]), (path, np.eye(4)))
    >>> picture.points.shape, picture.edges.tolist()
    ((4, 2), [[0, 1], [1, 2], [2, 3]])
    """
    if not hasattr(E, "node_embeddings"):
        raise ValueError(f"the picture needs a fitted graph network, got {type(E).__name__}")
    H = np.asarray(E.node_embeddings(G), dtype=np.float64)
    if labels is None and E.readout is None:
        labels = E.predict(G)
    labels = None if labels is None else np.asarray(labels)
    if labels is not None and len(labels) != len(H):
        raise ValueError(f"labels must have one entry per node, got {len(labels)} for {len(H)}")
    C = H - H.mean(axis=0)
    U, d, Vt = np.linalg.svd(C, full_matrices=False)
    points = np.zeros((len(H), 2))
    k = min(2, len(d))
    sign = np.sign(Vt[np.arange(k), np.abs(Vt[:k]).argmax(axis=1)])
    points[:, :k] = U[:, :k] * d[:k] * sign
    total = float((d**2).sum())
    share = float((d[:2] ** 2).sum()) / total if total > 0 else 1.0
    A = G[0].toarray() if issparse(G[0]) else np.asarray(G[0])
    A = np.triu((A != 0) | (A != 0).T, 1)
    edges = np.argwhere(A)[:MOST_EDGES]
    kinds = "" if labels is None else f" of classes {words([str(c) for c in np.unique(labels)])}"
    alt = (
        f"{len(H)} nodes{kinds} in the plane of the first two principal axes of their embeddings, "
        f"which hold {share:.0%} of the variance, with {int(A.sum())} edges."
    )
    return Embeddings(alt, points, edges, labels, share)
