"""Small tables and a block source that the tests of linear models share."""

import numpy as np

from pellucid.core.loops.statistics import LEAF_ROWS, MemorySpan, Rows, unit_weights

R = np.array(
    [[1, 2, 1], [2, 1, 0], [3, 4, 1], [4, 3, 1], [5, 6, 0], [6, 5, 2], [7, 8, 1], [8, 6, 3]], float
)


Y = np.array([3, 2, 6, 5, 9, 8, 12, 13], float)


class Blocks:
    """A block source over arrays: spans of ``block_rows`` rows cut at leaves."""

    feature_names = None

    def __init__(self, X, y, block_rows):
        self.rows = Rows(X, y, unit_weights(len(X)))
        self.block_rows = -(-block_rows // LEAF_ROWS) * LEAF_ROWS
        self.n_rows, self.n_features = X.shape
        self.target = "y"

    def spans(self):
        n, step = self.n_rows, self.block_rows
        return [MemorySpan(self.rows, a, min(a + step, n)) for a in range(0, n, step)]


def data(n=60, p=4, k=None, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 2.0
    W = rng.normal(size=(p, k or 1))
    y = X @ W + 1.5 + 0.3 * rng.normal(size=(n, k or 1))
    return X, y if k else y[:, 0]


def parameters(model):
    return np.append(model.intercept_, model.coef_)


def digits(found, certified):
    certified = np.asarray(certified)
    error = np.abs(found - certified) / np.abs(certified)
    return np.minimum(15, -np.log10(np.maximum(error, 1e-300))).min()
