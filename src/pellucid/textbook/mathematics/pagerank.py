r"""PageRank: where a random walker on a graph is found in the long run.

Model       from node i follow a link with probability d, else jump to any node; a node without
            links jumps always:  P = d (links, rows divided by their sums) + (1 - d)/n
Solve       x = P'x, sum x = 1: the eigenvector of P' for the eigenvalue 1
Step        x <- P'x. All other eigenvalues are at most d in size, so errors shrink by d each step.
Cost        one pass over the links per step.
The fast version keeps the links sparse, adds the jumps as one number, and bounds its error.
"""

from collections.abc import Iterator

import numpy as np


def pagerank(A: np.ndarray, d: float = 0.85, steps: int = 200) -> Iterator[np.ndarray]:
    """x after each step, for weights A (n, n) of the links from row to column."""
    n = len(A)
    out = A.sum(axis=1, keepdims=True)
    links = np.where(out > 0, A / np.where(out > 0, out, 1), 1 / n)
    P = d * links + (1 - d) / n
    x = np.full(n, 1 / n)
    for _ in range(steps):
        x = P.T @ x
        yield x
