"""Shrunken and sparse covariances against scikit-learn."""

import numpy as np

from benchmarks.harness import Case


def many():
    rng = np.random.default_rng(0)
    return rng.normal(size=(200_000, 100)) * np.linspace(0.5, 2, 100)


def columns():
    rng = np.random.default_rng(1)
    p = 100
    T = np.eye(p) + np.diag(np.full(p - 1, 0.45), 1) + np.diag(np.full(p - 1, 0.45), -1)
    X = rng.multivariate_normal(np.zeros(p), np.linalg.inv(T), size=400)
    return X / X.std(axis=0)


def _covariance(module, name, **options):
    def run(X):
        from importlib import import_module

        return getattr(import_module(module), name)(**options).fit(X).covariance_

    return run


def pair(name, **options):
    return {
        "pellucid": _covariance("pellucid", name, **options),
        "scikit-learn": _covariance("sklearn.covariance", name, **options),
    }


CASES = [
    Case(
        "LedoitWolf 200,000 x 100",
        many,
        pair("LedoitWolf"),
        lambda ours, theirs: bool(np.allclose(ours, theirs)),
        "4e9 flops of products",
    ),
    Case(
        "GraphicalLasso 400 x 100, alpha 0.1",
        columns,
        pair("GraphicalLasso", alpha=0.1),
        lambda ours, theirs: bool(np.allclose(ours, theirs, atol=1e-2)),
        "a few sweeps of 100 lassos of 99 columns",
        rounds=2,
    ),
    Case(
        "GraphicalLassoCV 400 x 100",
        columns,
        pair("GraphicalLassoCV", n_refinements=2),
        lambda ours, theirs: bool(np.allclose(ours, theirs, atol=0.1)),
        "five folds of eight penalties",
        rounds=2,
        repeats=1,
    ),
]
