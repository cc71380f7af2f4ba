"""Best subset of 30 correlated columns, and forward stepwise selection of 10,000 x 200.

Best subset: 2^30 subsets. Ours returns the proven best of every size; abess splices heuristically
over the sizes (no proof); l0bnb proves one size at a time, here the one of 10 columns.

Forward stepwise: ours adds columns by in-sample AIC until it stops, from sums of one pass. The
selectors of scikit-learn and mlxtend refit every candidate at every step, so they are held to 3
columns and to the in-sample score (one training fold), and ours is run for the same 3 as well.
"""

import numpy as np

from benchmarks.harness import Case

P = 30


def correlated():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, P))
    for j in range(1, P):
        X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(0.19) * X[:, j]
    return X, X[:, ::3].sum(axis=1) + rng.standard_normal(500)


def pellucid_subsets(data):
    from pellucid import BestSubsetRegression

    return BestSubsetRegression().fit(*data).subsets_[10].support


def abess_subsets(data):
    from abess import LinearRegression

    return np.flatnonzero(LinearRegression(support_size=10).fit(*data).coef_)


def abess_path(data):
    from abess import LinearRegression

    fits = [LinearRegression(support_size=s).fit(*data).coef_ for s in range(1, P + 1)]
    return np.flatnonzero(fits[9])


def l0bnb_subset(data):
    np.Inf = np.inf  # l0bnb 1.0 was written for NumPy 1
    from l0bnb import BNBTree

    X, y = data[0] - data[0].mean(axis=0), data[1] - data[1].mean()
    found = BNBTree(X, y).solve(20.0, 1e-4, 1.5, gap_tol=1e-2)  # 10 columns, all below 1.5
    return np.flatnonzero(found.beta)


def tall():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((10_000, 200))
    return X, X[:, :20] @ rng.standard_normal(20) + rng.standard_normal(10_000)


def _stepwise(data, most):
    from pellucid import StepwiseRegression

    return StepwiseRegression(criterion="rss", max_features=most).fit(*data).get_support(True)


def pellucid_three(data):
    return _stepwise(data, 3)


def sklearn_three(data):
    from sklearn.feature_selection import SequentialFeatureSelector
    from sklearn.linear_model import LinearRegression

    every = np.arange(len(data[1]))
    selector = SequentialFeatureSelector(
        LinearRegression(), n_features_to_select=3, cv=[(every, every)], scoring="r2"
    )
    return selector.fit(*data).get_support(indices=True)


def mlxtend_three(data):
    from mlxtend.feature_selection import SequentialFeatureSelector
    from sklearn.linear_model import LinearRegression

    selector = SequentialFeatureSelector(LinearRegression(), k_features=3, cv=0, scoring="r2")
    return np.sort(selector.fit(*data).k_feature_idx_)


def equal(ours, theirs):
    return bool(np.array_equal(ours, theirs))


CASES = [
    Case(
        f"BestSubsetRegression 500 x {P}, every size",
        correlated,
        {
            "pellucid": pellucid_subsets,
            "abess (every size, heuristic)": abess_path,
            "abess (one size, heuristic)": abess_subsets,
            "l0bnb (one penalty, proven)": l0bnb_subset,
        },
        equal,
        "some 30,000 of 2^30 subsets cannot be ruled out by bounds",
        rounds=1,
        repeats=1,
    ),
    Case(
        "StepwiseRegression forward 10,000 x 200, 3 columns in",
        tall,
        {"pellucid": pellucid_three, "scikit-learn": sklearn_three, "mlxtend": mlxtend_three},
        equal,
        "16 MB read once, 0.2 G multiply-adds for the sums",
        note="All 200 columns in: see docs/algorithms/stepwise_regression.md; the selectors would "
        "refit some 20,000 models for that.",
        rounds=1,
        repeats=1,
    ),
]
