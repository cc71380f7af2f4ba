"""Gaussian-process classification against scikit-learn: the same kernel, the same evidence."""

import numpy as np
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from benchmarks.harness import Case


def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 4))
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=800) > 0


def _fit(module):
    def run(data):
        from importlib import import_module

        Model = import_module(module).GaussianProcessClassifier
        kernel = ConstantKernel() * RBF(np.ones(4))
        return Model(kernel).fit(*data).log_marginal_likelihood()

    return run


CASES = [
    Case(
        "GaussianProcessClassifier, 800 x 4, 5 numbers learned",
        table,
        {"pellucid": _fit("pellucid"), "scikit-learn": _fit("sklearn.gaussian_process")},
        lambda ours, theirs: bool(ours >= theirs - 1e-3 * abs(theirs)),
        "n^3/3 a Newton step, 2 n^3 a gradient",
    ),
]
