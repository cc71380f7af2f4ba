r"""Isotonic regression: the best curve that never falls, by pooling neighbours.

Minimise    sum_i (y_i - f_i)^2 subject to f_1 <= f_2 <= ... in the order of x
Step        if y_i > y_{i+1}, their f must be equal at the optimum (else both could move closer):
            replace them by their mean with weight 2. Repeat until no block lies below the one
            before it: then the block means satisfy the constraint, and each is best for its block.
Cost        n after sorting: every row is pooled at most once.
The fast version is compiled, takes weights and equal x, and joins the blocks by straight lines.
"""

import numpy as np


def isotonic_regression(y: np.ndarray) -> np.ndarray:
    """f for y in the order of x (distinct x)."""
    blocks: list[tuple[float, int]] = []  # (mean, number of rows)
    for value in y.tolist():
        mean, size = float(value), 1
        while blocks and blocks[-1][0] >= mean:
            before, m = blocks.pop()
            mean, size = (before * m + mean * size) / (m + size), m + size
        blocks.append((mean, size))
    return np.repeat([mean for mean, _ in blocks], [size for _, size in blocks])
