"""The nearest rows of a table by squared Euclidean distance, for maps and graphs of neighbours."""

from pellucid.compiled.distances.search import Index, without_own
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.functions.metrics import resolve

TREE_COLUMNS = 8  # up to which a tree leaves most rows aside


def nearest(X: Array, Q: Array, k: int) -> tuple[Array, IntArray]:
    """Squared distances and indices (m, k) of the rows of X nearest to each row of Q.

    >>> import numpy as np
    >>> squares, index = nearest(np.array([[0.0], [1.0], [5.0]]), np.array([[4.0]]), 2)
    >>> squares.tolist(), index.tolist()
    ([[1.0, 9.0]], [[2, 1]])
    """
    method = "kd_tree" if X.shape[1] <= TREE_COLUMNS else "brute"
    return Index(X, resolve("sqeuclidean", X), method).nearest(Q, k)


def nearest_others(X: Array, k: int) -> tuple[Array, IntArray]:
    """The same for every row of X among the others: a row is no neighbour of its own.

    >>> import numpy as np
    >>> nearest_others(np.array([[0.0], [1.0], [5.0]]), 1)[1].ravel().tolist()
    [1, 0, 1]
    """
    return without_own(*nearest(X, X, k + 1))
