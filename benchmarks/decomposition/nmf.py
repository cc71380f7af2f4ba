"""NMF against scikit-learn: the same start, as small an error."""

import numpy as np

from benchmarks.harness import Case


def table():
    rng = np.random.default_rng(0)
    X = rng.random((20_000, 10)) @ rng.random((10, 200)) + 0.1 * rng.random((20_000, 200))
    return X, rng.random((20_000, 10)), rng.random((10, 200))


def _fit(module):
    def run(data):
        import warnings
        from importlib import import_module

        X, W, H = data
        model = import_module(module).NMF(10, init="custom", max_iter=50)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the limit
            model.fit_transform(X, W=W.copy(), H=H.copy())
        return model.reconstruction_err_

    return run


CASES = [
    Case(
        "NMF 20,000 x 200, 10 parts, 50 rounds",
        table,
        {"pellucid": _fit("pellucid"), "scikit-learn": _fit("sklearn.decomposition")},
        lambda ours, theirs: bool(ours <= 1.001 * theirs),
        "160 Mflop of products a round, 4 M multiply-adds of descent",
    ),
]
