r"""Messages along the edges of a graph.

gcn    D^-1/2 (A + I) D^-1/2 H      D the degrees of A + I; an isolated node keeps its features
mean   D^-1 A H                     the mean of the neighbours; zero for an isolated node
sum    A H

References: Kipf & Welling (2017); Hamilton, Ying & Leskovec (2017).
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array, eye_array, issparse

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike

AGGREGATIONS = ("gcn", "mean", "sum")


class Graph(NamedTuple):
    """A checked graph: the weights of the messages, and the features of the nodes."""

    messages: Any  # sparse (n, n)
    features: Array  # (n, p)


def read_graph(graph: Any, aggregation: str, where: str = "the graph") -> Graph:
    """Check ``(adjacency, node_features)``."""
    if not isinstance(graph, tuple | list) or len(graph) != 2:
        raise ValueError(f"{where} must be a pair (adjacency, node_features)")
    A, H = graph
    A = csr_array(A if issparse(A) else np.asarray(A, dtype=np.float64))
    H = np.asarray(H.toarray() if issparse(H) else H, dtype=np.float64)
    H = H[:, None] if H.ndim == 1 else H
    if A.shape[0] != A.shape[1] or H.ndim != 2 or len(H) != A.shape[0] or not len(H):
        raise ValueError(
            f"{where} needs an adjacency (n, n) and features (n, p), got {A.shape} and {H.shape}"
        )
    if not np.isfinite(H).all():
        row, column = np.argwhere(~np.isfinite(H))[0]
        raise ValueError(f"{where} has NaN or infinity in feature {column} of node {row}")
    if not (np.isfinite(A.data).all() and (A.data >= 0).all()):
        raise ValueError(f"{where} has an edge that is negative or not finite")
    if aggregation == "gcn" and abs(A - A.T).max() > 0:
        raise ValueError(f"{where} is directed; aggregation='gcn' needs a symmetric adjacency")
    return Graph(message_matrix(A, aggregation), H)


def message_matrix(A: Any, aggregation: str) -> Any:
    """The sparse matrix that turns features into messages."""
    if aggregation == "gcn":
        A = A + eye_array(A.shape[0], format="csr")
    degree = np.asarray(A.sum(axis=1)).ravel()
    if aggregation == "sum":
        return coo_array(A)
    with np.errstate(divide="ignore"):
        scale = np.where(degree > 0, 1 / degree, 0.0)
    A = coo_array(A)
    if aggregation == "mean":
        data = A.data * scale[A.row]
    else:
        data = A.data * np.sqrt(scale[A.row]) * np.sqrt(scale[A.col])
    return coo_array((data, (A.row, A.col)), shape=A.shape)


def message_pass(adjacency: ArrayLike, features: ArrayLike, *, aggregation: str = "gcn") -> Array:
    """What every node hears from its neighbours.

    Parameters
    ----------
    adjacency : array or sparse matrix (n, n), >= 0
        Symmetric for "gcn".
    features : array (n,) or (n, p)
    aggregation : {"gcn", "mean", "sum"}, default="gcn"
        Symmetrically normalised with the node itself, the mean, or the sum.

    Returns
    -------
    array of the shape of ``features``

    Examples
    --------
    >>> from pellucid.deep import message_pass
    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> message_pass(path, [1, 2, 4]).round(4)
    array([1.3165, 2.7079, 2.8165])
    >>> message_pass(path, [1, 2, 4], aggregation="mean")
    array([2. , 2.5, 2. ])
    """
    check.one_of(AGGREGATIONS, aggregation=aggregation)
    graph = read_graph((adjacency, features), aggregation)
    out = graph.messages @ graph.features
    return out[:, 0] if np.ndim(features) == 1 else out
