"""Random forests, bagging, isolation forests: 50,000 x 20, 100 trees.

Bound: every tree reads 4 bins of each of its 31,600 rows on each of about 20 levels: 2.5e8
additions for 100 trees. scikit-learn sorts instead; the others use 256 bins as we do.
"""

import numpy as np

from benchmarks.harness import Case

N, D = 50_000, 20
LIMIT = "2.5e8 histogram additions for 100 trees"


def table():
    from sklearn.datasets import make_classification

    X, y = make_classification(
        N + 10_000, D, n_informative=10, n_redundant=4, flip_y=0.05, random_state=0
    )
    return X[:N].copy(), y[:N].copy(), X[N:].copy(), y[N:].copy()


def numbers():
    X, _, T, _ = table()
    rng = np.random.default_rng(1)

    def truth(Z):
        return np.sin(Z[:, 0]) + Z[:, 1] * Z[:, 2] + 0.5 * Z[:, 3]

    X, T = X[:20_000], T
    return X, truth(X) + rng.normal(size=len(X)), T, truth(T) + rng.normal(size=len(T))


def small():
    X, y, T, t = table()
    return X[:275, :15].copy(), y[:275], T[:, :15].copy(), t


def scored(model, data):
    X, y, T, t = data
    return model.fit(X, y).score(T, t)


def pellucid_forest(data):
    from pellucid import RandomForestClassifier

    return scored(RandomForestClassifier(100, random_state=0), data)


def sklearn_forest(data):
    from sklearn.ensemble import RandomForestClassifier

    return scored(RandomForestClassifier(100, random_state=0, n_jobs=-1), data)


def intelex_forest(data):
    from sklearnex.ensemble import RandomForestClassifier

    return scored(RandomForestClassifier(100, random_state=0, n_jobs=-1), data)


def lightgbm_forest(data):
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(
        boosting_type="rf", n_estimators=100, num_leaves=4096, min_child_samples=1, bagging_freq=1,
        bagging_fraction=0.632, feature_fraction_bynode=0.2, n_jobs=-1, verbose=-1,
    )  # fmt: skip
    return scored(model, data)


def xgboost_forest(data):
    from xgboost import XGBRFClassifier

    model = XGBRFClassifier(
        n_estimators=100, max_depth=20, subsample=0.632, colsample_bynode=0.2, n_jobs=-1,
        tree_method="hist", min_child_weight=0.25,
    )  # fmt: skip
    return scored(model, data)


def pellucid_numbers(data):
    from pellucid import RandomForestRegressor

    return scored(RandomForestRegressor(100, random_state=0), data)


def sklearn_numbers(data):
    from sklearn.ensemble import RandomForestRegressor

    return scored(RandomForestRegressor(100, random_state=0, n_jobs=-1), data)


def intelex_numbers(data):
    from sklearnex.ensemble import RandomForestRegressor

    return scored(RandomForestRegressor(100, random_state=0, n_jobs=-1), data)


def pellucid_search(data):
    from pellucid import OutOfBagSearch, RandomForestClassifier

    grid = {"max_features": [2, 4, 8]}
    return scored(OutOfBagSearch(RandomForestClassifier(100, random_state=0), grid), data)


def sklearn_search(data):
    from sklearn.ensemble import RandomForestClassifier

    X, y, T, t = data
    models = [
        RandomForestClassifier(100, max_features=m, oob_score=True, random_state=0, n_jobs=-1)
        for m in (2, 4, 8)
    ]
    best = max((model.fit(X, y) for model in models), key=lambda model: model.oob_score_)
    return best.score(T, t)


def pellucid_bagging(data):
    from pellucid import BaggingClassifier

    return scored(BaggingClassifier(n_estimators=20, random_state=0), data)


def sklearn_bagging(data):
    from sklearn.ensemble import BaggingClassifier

    return scored(BaggingClassifier(n_estimators=20, random_state=0, n_jobs=-1), data)


def pellucid_bagged_numbers(data):
    from pellucid import BaggingRegressor

    return scored(BaggingRegressor(n_estimators=20, random_state=0), data)


def sklearn_bagged_numbers(data):
    from sklearn.ensemble import BaggingRegressor

    return scored(BaggingRegressor(n_estimators=20, random_state=0, n_jobs=-1), data)


def pellucid_isolation(data):
    from pellucid import IsolationForest

    return IsolationForest(random_state=0).fit(data[0]).score_samples(data[0])


def sklearn_isolation(data):
    from sklearn.ensemble import IsolationForest

    return IsolationForest(random_state=0, n_jobs=-1).fit(data[0]).score_samples(data[0])


def near(ours, theirs):
    """As good on unseen rows, give or take the luck of the draw."""
    return bool(ours > theirs - 0.01)


def pellucid_extra(data):
    from pellucid import ExtraTreesClassifier

    return scored(ExtraTreesClassifier(100, random_state=0), data)


def sklearn_extra(data):
    from sklearn.ensemble import ExtraTreesClassifier

    return scored(ExtraTreesClassifier(100, random_state=0, n_jobs=-1), data)


def pellucid_extra_numbers(data):
    from pellucid import ExtraTreesRegressor

    return scored(ExtraTreesRegressor(100, random_state=0), data)


def sklearn_extra_numbers(data):
    from sklearn.ensemble import ExtraTreesRegressor

    return scored(ExtraTreesRegressor(100, random_state=0, n_jobs=-1), data)


def alike(ours, theirs):
    """The same ranking of the rows, give or take the luck of the draw."""
    return bool(np.corrcoef(ours, theirs)[0, 1] > 0.9)


FORESTS = {
    "pellucid": pellucid_forest,
    "scikit-learn-intelex": intelex_forest,
    "lightgbm": lightgbm_forest,
    "xgboost": xgboost_forest,
    "scikit-learn": sklearn_forest,
}
CASES = [
    Case(f"RandomForestClassifier {N:,} x {D}, 100 trees", table, FORESTS, near, LIMIT),
    Case(
        "RandomForestClassifier 275 x 15, 100 trees",
        small,
        {"pellucid": pellucid_forest, "scikit-learn": sklearn_forest},
        lambda ours, theirs: bool(ours > theirs - 0.05),
        "100 trees of about 60 nodes",
    ),
    Case(
        f"RandomForestRegressor 20,000 x {D}, 100 trees",
        numbers,
        {
            "pellucid": pellucid_numbers,
            "scikit-learn-intelex": intelex_numbers,
            "scikit-learn": sklearn_numbers,
        },
        near,
        "6e8 histogram additions",
    ),
    Case(
        f"OutOfBagSearch, 3 candidates, {N:,} x {D}",
        table,
        {"pellucid": pellucid_search, "scikit-learn": sklearn_search},
        near,
        "three forests",
    ),
    Case(
        f"BaggingClassifier {N:,} x {D}, 20 trees",
        table,
        {"pellucid": pellucid_bagging, "scikit-learn": sklearn_bagging},
        near,
        "20 trees over all columns",
    ),
    Case(
        f"BaggingRegressor 20,000 x {D}, 20 trees",
        numbers,
        {"pellucid": pellucid_bagged_numbers, "scikit-learn": sklearn_bagged_numbers},
        near,
        "20 trees over all columns",
    ),
    Case(
        f"IsolationForest {N:,} x {D}",
        table,
        {"pellucid": pellucid_isolation, "scikit-learn": sklearn_isolation},
        alike,
        "100 walks of 8 steps for every row",
    ),
    Case(
        f"ExtraTreesClassifier {N:,} x {D}, 100 trees",
        table,
        {"pellucid": pellucid_extra, "scikit-learn": sklearn_extra},
        near,
        "4.5e8 cells read twice for 100 trees on all rows",
    ),
    Case(
        f"ExtraTreesRegressor 20,000 x {D}, 100 trees",
        numbers,
        {"pellucid": pellucid_extra_numbers, "scikit-learn": sklearn_extra_numbers},
        near,
        "8e8 cells read twice",
    ),
]
