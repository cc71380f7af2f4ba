"""An order of the rows that is made of their cells, so that draws do not hang on their places."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.splitmix import GOLDEN


def own_order(X: Array, target: NDArray[Any]) -> Any:
    """The rows sorted by a hash of their cells and targets: the same whatever their order.

    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 0])
    >>> turned = own_order(X[::-1].copy(), y[::-1].copy())
    >>> np.array_equal(X[own_order(X, y)], X[::-1][turned])
    True
    """
    return np.argsort(row_hash(X, target), kind="stable").astype(np.int32)


def row_hash(X: Array, target: NDArray[Any]) -> NDArray[np.uint64]:
    """A number made of the cells and the targets of each row."""
    h = np.zeros(len(X), np.uint64)
    for table in (X, np.asarray(target, np.float64).reshape(len(X), -1)):
        for j in range(table.shape[1]):
            cells = (table[:, j] + 0.0).view(np.uint64)  # -0.0 is 0.0
            h = (h ^ cells) * GOLDEN
            h ^= h >> np.uint64(29)
    return h
