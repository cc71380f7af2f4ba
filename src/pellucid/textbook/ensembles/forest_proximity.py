r"""Forest proximity: rows are near if the trees cannot tell them apart.

Given       the leaf of every row in every tree, (n, B)
Solve       p_ij = share of the trees in which rows i and j end in the same leaf
Step        "same leaf" is an inner product of one-hot vectors, so P is a kernel: positive
            semidefinite, 1 on the diagonal. It measures likeness by the columns that matter
            for y. With N_bi, how often tree b drew row i, w_i(x) = (1/B) sum_b N_bi [same leaf]
            / (draws in the leaf) are the forest's weights on the training rows: the mean of y
            by them is its answer, their quantiles are its quantiles.
Cost        n^2 B.
The fast version counts meetings leaf by leaf.
"""

import numpy as np


def forest_proximity(leaves: np.ndarray) -> np.ndarray:
    """P (n, n) from leaf numbers (n, B)."""
    return np.asarray((leaves[:, None, :] == leaves[None, :, :]).mean(axis=2))


def forest_weights(leaves: np.ndarray, drawn: np.ndarray, at: np.ndarray) -> np.ndarray:
    """w_i(x): leaves and draws (n, B) of the training rows, and the leaves ``at`` (B,) of x."""
    meets = drawn * (leaves == at)  # (n, B)
    return np.asarray((meets / meets.sum(axis=0)).mean(axis=1))


def weighted_quantile(y: np.ndarray, w: np.ndarray, q: float) -> float:
    """The least y whose weights up to it reach q."""
    order = np.argsort(y, kind="stable")
    reached = np.cumsum(w[order]) >= q - 1e-12
    return float(y[order][reached.argmax()])
