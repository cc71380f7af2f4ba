"""Centred tables for the tests of least angle regression and stagewise fits."""

import numpy as np


def unit(X):
    X = X - X.mean(axis=0)
    return X / np.linalg.norm(X, axis=0)


def data(n=80, p=10, seed=0, correlation=0.0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + correlation * rng.normal(size=(n, 1))
    X -= X.mean(axis=0)
    w = np.zeros(p)
    w[: min(4, p)] = [3.0, -2.0, 1.0, 0.5][: min(4, p)]
    y = X @ w + noise * rng.normal(size=n)
    return X, y - y.mean()
