"""Theil-Sen and RANSAC.

Bound: Theil-Sen solves 10,000 systems of 6 numbers; RANSAC multiplies X with one plane per set.
The draws differ between the libraries, so planes are compared within their noise.
"""

import numpy as np

from benchmarks.harness import Case

P = 5


def table(n=2_000):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, P))
    y = X @ np.arange(1.0, P + 1) + 0.3 * rng.standard_normal(n)
    y[: n // 5] += rng.uniform(20, 60, size=n // 5)
    return X, y


def many():
    return table(200_000)


def pellucid_theil_sen(data):
    from pellucid import TheilSenRegressor

    return TheilSenRegressor(random_state=0).fit(*data).coef_


def sklearn_theil_sen(data):
    from sklearn.linear_model import TheilSenRegressor

    return TheilSenRegressor(random_state=0).fit(*data).coef_


def pellucid_ransac(data):
    from pellucid import RANSACRegressor

    return RANSACRegressor(residual_threshold=1.0, random_state=0).fit(*data).estimator_.coef_


def sklearn_ransac(data):
    from sklearn.linear_model import RANSACRegressor

    return RANSACRegressor(residual_threshold=1.0, random_state=0).fit(*data).estimator_.coef_


def near(ours, theirs):
    return bool(np.abs(ours - theirs).max() < 0.1)


CASES = [
    Case(
        f"TheilSenRegressor 2,000 x {P}, 10,000 subsets",
        table,
        {"pellucid": pellucid_theil_sen, "scikit-learn": sklearn_theil_sen},
        near,
        "10,000 systems of 6 numbers",
    ),
    Case(
        f"RANSACRegressor 200,000 x {P}, a fifth of the rows wrong",
        many,
        {"pellucid": pellucid_ransac, "scikit-learn": sklearn_ransac},
        near,
        "n p per set",
    ),
]
