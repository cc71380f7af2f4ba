"""Least squares and ridge: 1,000,000 x 50, with intercept.

Bound: X is 400 MB; one pass of X'X is 2.6 GFlop multiply-adds (the triangle), so both the memory
bus and the cores matter. scikit-learn-intelex takes the same route in C++.
"""

import numpy as np

from benchmarks.harness import Case

N, P = 1_000_000, 50
LIMIT = "400 MB read once, 2.6 G multiply-adds"


def correlated():
    rng = np.random.default_rng(0)
    mix = np.eye(P) + 0.3 * rng.standard_normal((P, P)) / np.sqrt(P)
    X = rng.standard_normal((N, P)) @ mix + 3
    return X, X @ rng.standard_normal(P) + rng.standard_normal(N)


def pellucid_ols(data):
    from pellucid import LinearRegression

    return LinearRegression().fit(*data).coef_


def sklearn_ols(data):
    from sklearn.linear_model import LinearRegression

    return LinearRegression().fit(*data).coef_


def intelex_ols(data):
    from sklearnex.linear_model import LinearRegression

    return LinearRegression().fit(*data).coef_


def pellucid_ridge(data):
    from pellucid import Ridge

    return Ridge(alpha=2.0).fit(*data).coef_


def sklearn_ridge(data):
    from sklearn.linear_model import Ridge

    return Ridge(alpha=2.0).fit(*data).coef_


def intelex_ridge(data):
    from sklearnex.linear_model import Ridge

    return Ridge(alpha=2.0).fit(*data).coef_


def close(ours, theirs):
    return bool(np.allclose(ours, theirs, rtol=1e-7, atol=1e-9))


CASES = [
    Case(
        f"LinearRegression {N:,} x {P}",
        correlated,
        {
            "pellucid": pellucid_ols,
            "scikit-learn-intelex": intelex_ols,
            "scikit-learn": sklearn_ols,
        },
        close,
        LIMIT,
    ),
    Case(
        f"Ridge {N:,} x {P}",
        correlated,
        {
            "pellucid": pellucid_ridge,
            "scikit-learn-intelex": intelex_ridge,
            "scikit-learn": sklearn_ridge,
        },
        close,
        LIMIT,
    ),
]
