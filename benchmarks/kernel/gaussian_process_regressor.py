"""Gaussian processes against scikit-learn: the same kernel, the same maximum of the evidence."""

import numpy as np
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from benchmarks.harness import Case


def table(n, p):
    def make():
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, p))
        return X, np.sin(X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=n)

    return make


def _fit(module, widths):
    def run(data):
        from importlib import import_module

        Model = import_module(module).GaussianProcessRegressor
        kernel = ConstantKernel() * RBF(np.ones(widths)) + WhiteKernel()
        return Model(kernel).fit(*data).log_marginal_likelihood()

    return run


def as_good(ours, theirs):
    return bool(ours >= theirs - 1e-3 * abs(theirs))


CASES = [
    Case(
        f"GaussianProcessRegressor, {n:,} x {p}, {p + 2} numbers learned",
        table(n, p),
        {"pellucid": _fit("pellucid", p), "scikit-learn": _fit("sklearn.gaussian_process", p)},
        as_good,
        "n^3 of LAPACK an evaluation, the same number of evaluations for both",
    )
    for n, p in ((500, 4), (1500, 4))
]
