"""Scores of few rows without compiled code: Numba takes longer to import than they take here.

Each node sends its rows left or right, and each row adds one leaf value per tree, tree after tree:
the sums have the bits of ``kernels.scores``.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.jit import loaded

if TYPE_CHECKING:
    from pellucid.ensemble.boosting.boosted_trees import Trees

WORTHWHILE = 40_000  # nodes, of some microseconds each, that take as long as importing Numba
VISITS = 200  # rows that a tree reads in the time of a node


def is_light(trees: "Trees", n: int) -> bool:
    """Whether ``spread_rows`` is done with n rows before Numba would be imported."""
    n_trees = len(trees.node_start) - 1
    return not loaded() and len(trees.left) + n * n_trees / VISITS < WORTHWHILE


def spread_rows(trees: "Trees", codes: Any, F: Array) -> None:
    """F (K, n) += the sum of the trees; tree t belongs to class t mod K."""
    for t in range(len(trees.node_start) - 1):
        spread_over(trees, t, codes, F[t % len(F)])


def spread_over(trees: "Trees", t: int, codes: Any, out: Array) -> None:
    """out (n,) += the values of one tree; codes (p, n)."""
    first, first_leaf = trees.node_start[t], trees.leaf_start[t]
    alone = trees.node_start[t + 1] == first  # a tree of one leaf has no node to ask
    waiting = [(-1 if alone else 0, np.arange(len(out)))]
    while waiting:
        k, rows = waiting.pop()
        if k < 0:
            out[rows] += trees.value[first_leaf + ~k]
        elif len(rows):
            stay = stays_left(trees, first + k, codes, rows)
            waiting.append((int(trees.left[first + k]), rows[stay]))
            waiting.append((int(trees.right[first + k]), rows[~stay]))


def stays_left(trees: "Trees", node: int, codes: Any, rows: Any) -> Any:
    """Which of the rows go left at a node."""
    b, c = codes[trees.feature[node], rows].astype(np.int64), trees.category[node]
    if c < 0:
        below = b <= trees.threshold[node]
        return np.where(b == 255, trees.missing_left[node] != 0, below)
    return (trees.sets[c, b >> 6] >> (b & 63)) & 1 != 0
