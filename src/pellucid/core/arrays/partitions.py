r"""Agreement of two partitions of the same rows.

With N_ab the number of rows in part a of the one and part b of the other, and C(x) = x (x - 1)/2
pairs among x rows, the adjusted Rand index is

    (pairs together in both - expected) / (mean of pairs together in either - expected)

which is 1 for equal partitions, whatever their names, and 0 on average by chance.

Reference: Hubert & Arabie (1985).
"""

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray


def renumbered(labels: Array | IntArray) -> IntArray:
    """Labels as 0, 1, ... by first appearance, so that equal partitions have equal numbers.

    >>> renumbered(np.array([7, 7, -1, 7, 3]))
    array([0, 0, 1, 0, 2])
    """
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.intp)
    place[np.argsort(first)] = np.arange(len(first))
    return place[codes]


def cross_counts(a: IntArray, b: IntArray) -> Array:
    """Rows in part a of the one partition and part b of the other; codes 0, 1, ...

    >>> cross_counts(np.array([0, 0, 1]), np.array([1, 0, 1]))
    array([[1., 1.],
           [0., 1.]])
    """
    k, m = int(a.max()) + 1, int(b.max()) + 1
    return np.bincount(a * m + b, minlength=k * m).reshape(k, m).astype(np.float64)


def adjusted_rand(table: Array) -> float:
    """Agreement of two partitions on pairs of rows, above chance. table (k, l) counts rows.

    >>> adjusted_rand(np.array([[2.0, 0.0], [0.0, 3.0]]))
    1.0
    """

    def pairs(x: Array) -> float:
        return float((x * (x - 1)).sum() / 2)

    both, first, second = pairs(table), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    chance = first * second / max(pairs(table.sum()), 1e-300)
    most = (first + second) / 2
    return 1.0 if most == chance else (both - chance) / (most - chance)
