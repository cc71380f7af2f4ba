"""MDS against scikit-learn: the same start, as small a stress."""

import numpy as np

from benchmarks.harness import Case


def table():
    rng = np.random.default_rng(0)
    return rng.normal(size=(1500, 10)), rng.random((1500, 2))


def _fit(module):
    def run(data):
        from importlib import import_module

        X, start = data
        return import_module(module).MDS(init="random").fit(X, init=start).stress_

    return run


CASES = [
    Case(
        "MDS 1,500 x 10",
        table,
        {"pellucid": _fit("pellucid"), "scikit-learn": _fit("sklearn.manifold")},
        lambda ours, theirs: bool(ours <= 1.001 * theirs),
        "2.25 million roots and quotients a step, 18 MB read once",
    ),
]
