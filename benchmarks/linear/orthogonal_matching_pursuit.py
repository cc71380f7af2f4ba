"""Orthogonal matching pursuit on a tall and on a wide table.

Bound: tall, the cross-products (n p^2 operations); wide, one product X'r for every column taken.
"""

import numpy as np

from benchmarks.harness import Case


def table(n, p, k):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    w = np.zeros(p)
    w[rng.permutation(p)[:k]] = rng.uniform(1, 3, size=k)
    return X, X @ w + 0.5 * rng.standard_normal(n), k


def tall():
    return table(100_000, 200, 20)


def wide():
    return table(2_000, 10_000, 50)


def pellucid_pursuit(data):
    from pellucid import OrthogonalMatchingPursuit

    return OrthogonalMatchingPursuit(n_nonzero_coefs=data[2]).fit(*data[:2]).coef_


def sklearn_pursuit(data):
    from sklearn.linear_model import OrthogonalMatchingPursuit

    return OrthogonalMatchingPursuit(n_nonzero_coefs=data[2]).fit(*data[:2]).coef_


def close(ours, theirs):
    return bool(np.allclose(ours, theirs, rtol=1e-7, atol=1e-9))


PEERS = {"pellucid": pellucid_pursuit, "scikit-learn": sklearn_pursuit}
CASES = [
    Case("OrthogonalMatchingPursuit 100,000 x 200, 20 columns", tall, PEERS, close, "n p^2"),
    Case("OrthogonalMatchingPursuit 2,000 x 10,000, 50 columns", wide, PEERS, close, "k n p"),
]
