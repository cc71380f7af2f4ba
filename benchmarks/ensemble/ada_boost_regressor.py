"""AdaBoost.R2 with trees of depth 3.

Bound: each round draws, fits a tree and predicts all rows. The draws differ between the libraries,
so the answers are compared by their R^2.
"""

import numpy as np

from benchmarks.harness import Case

N, P = 20_000, 20


def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P))
    return X, X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + X[:, 3] + 0.3 * rng.normal(size=N)


def pellucid_adaboost(data):
    from pellucid import AdaBoostRegressor

    return AdaBoostRegressor(random_state=0).fit(*data).score(*data)


def sklearn_adaboost(data):
    from sklearn.ensemble import AdaBoostRegressor

    return AdaBoostRegressor(random_state=0).fit(*data).score(*data)


CASES = [
    Case(
        f"AdaBoostRegressor {N:,} x {P}, 50 trees of depth 3, fit and score",
        table,
        {"pellucid": pellucid_adaboost, "scikit-learn": sklearn_adaboost},
        lambda ours, theirs: abs(ours - theirs) < 0.05,
        "50 trees",
        rounds=1,
    ),
]
