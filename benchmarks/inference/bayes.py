"""Bayesian linear models against scikit-learn: evidence by a search on the spectrum, ARD by steps.

Bound: one pass of X'X for the models that are solved from sums; ARD inverts a p x p matrix a step.
"""

import numpy as np

from benchmarks.harness import Case

N, P = 200_000, 50


def tall():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P)) + 1
    return X, X @ rng.standard_normal(P) + rng.standard_normal(N)


def sparse_truth():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 100))
    w = np.where(np.arange(100) < 10, rng.standard_normal(100), 0.0)
    return X, X @ w + rng.standard_normal(20_000)


def pellucid_bayes(data):
    from pellucid import BayesianLinearRegression

    return BayesianLinearRegression().fit(*data).coef_


def pellucid_ridge(data):
    from pellucid import BayesianRidge

    return BayesianRidge().fit(*data).coef_


def sklearn_ridge(data):
    from sklearn.linear_model import BayesianRidge

    return BayesianRidge().fit(*data).coef_


def pellucid_ard(data):
    from pellucid import ARDRegression

    return ARDRegression().fit(*data).coef_


def sklearn_ard(data):
    from sklearn.linear_model import ARDRegression

    return ARDRegression().fit(*data).coef_


def close(ours, theirs):
    return bool(np.allclose(ours, theirs, rtol=1e-5, atol=1e-6))


LIMIT = "80 MB read once, 0.26 G multiply-adds"

CASES = [
    Case(
        f"BayesianLinearRegression {N:,} x {P}, against BayesianRidge",
        tall,
        {"pellucid": pellucid_bayes, "scikit-learn": sklearn_ridge},
        close,
        LIMIT,
    ),
    Case(
        f"BayesianRidge {N:,} x {P}",
        tall,
        {"pellucid": pellucid_ridge, "scikit-learn": sklearn_ridge},
        close,
        LIMIT,
    ),
    Case(
        "ARDRegression 20,000 x 100",
        sparse_truth,
        {"pellucid": pellucid_ard, "scikit-learn": sklearn_ard},
        close,
        "one pass of X'X, then O(p^3) a step",
    ),
]
