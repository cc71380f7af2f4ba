"""Tables with few true columns, for the tests of the lasso and its paths."""

import numpy as np

T = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 4.0])


def data(n=80, p=10, seed=0, k=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.5 * rng.normal(size=(p, p)) / np.sqrt(p)) + 3
    W = rng.normal(size=(p, k or 1)) * (rng.random((p, k or 1)) < 0.4)
    y = X @ W + 1.5 + 0.5 * rng.normal(size=(n, k or 1))
    return X, y if k else y[:, 0]
