"""Isomap against scikit-learn: the same geodesic distances, the same map."""

import numpy as np

from benchmarks.harness import Case


def roll():
    from sklearn.datasets import make_swiss_roll

    return make_swiss_roll(4000, random_state=0)[0]


def wide():
    return np.random.default_rng(0).normal(size=(2000, 50)) * 0.8 ** np.arange(50)


def _fit(module):
    def run(X):
        from importlib import import_module

        return import_module(module).Isomap(n_neighbors=10).fit_transform(X)

    return run


def close(ours, theirs):
    return bool(np.allclose(ours, theirs, atol=1e-6 * np.abs(theirs).max()))


ENTRANTS = {"pellucid": _fit("pellucid"), "scikit-learn": _fit("sklearn.manifold")}
CASES = [
    Case(
        "Isomap 4,000 x 3",
        roll,
        ENTRANTS,
        close,
        "52,000 edges into 4,000 distances each: 0.2 G additions and comparisons, in vectors",
    ),
    Case(
        "Isomap 2,000 x 50",
        wide,
        ENTRANTS,
        close,
        "0.2 G multiply-adds for neighbours, 60 M additions and comparisons for paths",
    ),
]
