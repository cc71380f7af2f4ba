"""AdaBoost, exact gradient boosting, stacking and voting against scikit-learn.

Bound: a stump reads every sorted column once, a tree of depth 3 three times and moves the rows
between; sorting is done once for all rounds. Members of stacking and voting are this library's in
both contenders, so only the committee itself is compared.
"""

import numpy as np

from benchmarks.harness import Case

N, D = 50_000, 20


def two_classes():
    from sklearn.datasets import make_classification

    return make_classification(N, D, n_informative=10, flip_y=0.05, random_state=0)


def five_classes():
    from sklearn.datasets import make_classification

    return make_classification(N // 5, D, n_informative=10, n_classes=5, random_state=0)


def numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, D)).astype(np.float32).astype(np.float64)
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + X[:, 3] + rng.normal(size=len(X))
    return X, y


def few_numbers():
    X, y = numbers()
    return X[:275, :15].copy(), y[:275]


def signs():
    X, y = numbers()
    return X, (y > 0).astype(int)


def scored(model, data):
    X, y = data
    return model.fit(X, y).score(X, y)


def ours_ada(data):
    from pellucid import AdaBoostClassifier

    return scored(AdaBoostClassifier(random_state=0), data)


def theirs_ada(data):
    from sklearn.ensemble import AdaBoostClassifier

    return scored(AdaBoostClassifier(random_state=0), data)


def ours_boosting(data):
    from pellucid import GradientBoostingRegressor

    return scored(GradientBoostingRegressor(), data)


def theirs_boosting(data):
    from sklearn.ensemble import GradientBoostingRegressor

    return scored(GradientBoostingRegressor(random_state=0), data)


def xgboost_exact(data):
    from xgboost import XGBRegressor

    X, y = data
    model = XGBRegressor(
        tree_method="exact", max_depth=3, n_estimators=100, learning_rate=0.1, reg_lambda=0.0,
        min_child_weight=0.0, n_jobs=-1,
    ).fit(X, y)  # fmt: skip
    return model.score(X, y)


def ours_logistic_boosting(data):
    from pellucid import GradientBoostingClassifier

    return scored(GradientBoostingClassifier(), data)


def theirs_logistic_boosting(data):
    from sklearn.ensemble import GradientBoostingClassifier

    return scored(GradientBoostingClassifier(random_state=0), data)


def classifiers():
    from pellucid import DecisionTreeClassifier, GaussianNB, LogisticRegression

    tree = DecisionTreeClassifier(max_depth=5, random_state=0)
    return [("bayes", GaussianNB()), ("tree", tree), ("line", LogisticRegression())]


def regressors():
    from pellucid import DecisionTreeRegressor, LinearRegression, Ridge

    tree = DecisionTreeRegressor(max_depth=5, random_state=0)
    return [("line", LinearRegression()), ("tree", tree), ("ridge", Ridge(10.0))]


def ours_stack(data):
    from pellucid import LogisticRegression, StackingClassifier

    return scored(StackingClassifier(classifiers(), LogisticRegression()), data)


def theirs_stack(data):
    from sklearn.ensemble import StackingClassifier

    from pellucid import LogisticRegression

    return scored(StackingClassifier(classifiers(), LogisticRegression()), data)


def ours_stack_numbers(data):
    from pellucid import Ridge, StackingRegressor

    return scored(StackingRegressor(regressors(), Ridge()), data)


def theirs_stack_numbers(data):
    from sklearn.ensemble import StackingRegressor

    from pellucid import Ridge

    return scored(StackingRegressor(regressors(), Ridge()), data)


def ours_vote(data):
    from pellucid import VotingClassifier

    return scored(VotingClassifier(classifiers()), data)


def theirs_vote(data):
    from sklearn.ensemble import VotingClassifier

    return scored(VotingClassifier(classifiers()), data)


def ours_vote_numbers(data):
    from pellucid import VotingRegressor

    return scored(VotingRegressor(regressors()), data)


def theirs_vote_numbers(data):
    from sklearn.ensemble import VotingRegressor

    return scored(VotingRegressor(regressors()), data)


def partly_labelled():
    X, y = two_classes()
    return X, np.where(np.arange(len(y)) % 10 == 0, y, -1)


def ours_representation(data):
    from pellucid import PCA, GaussianNB, RepresentationClassifier

    X, y = data
    return RepresentationClassifier(PCA(5), GaussianNB()).fit(X, y).predict(X).mean()


def written_out(data):
    from sklearn.decomposition import PCA
    from sklearn.naive_bayes import GaussianNB

    X, y = data
    pca = PCA(5).fit(X)
    known = y != -1
    return GaussianNB().fit(pca.transform(X[known]), y[known]).predict(pca.transform(X)).mean()


def ours_self_training(data):
    from pellucid import GaussianNB, SelfTrainingClassifier

    return SelfTrainingClassifier(GaussianNB()).fit(*data).labeled_iter_.mean()


def theirs_self_training(data):
    from sklearn.naive_bayes import GaussianNB
    from sklearn.semi_supervised import SelfTrainingClassifier

    return SelfTrainingClassifier(GaussianNB()).fit(*data).labeled_iter_.mean()


def equal(a, b):
    return bool(np.allclose(a, b, atol=1e-9))


def alike(a, b):
    """Scores to three digits: ties and float32 columns differ."""
    return bool(abs(float(a) - float(b)) < 2e-3)


def near(a, b):
    """Few rows: ties are common."""
    return bool(abs(float(a) - float(b)) < 2e-2)


TREES = "100 trees of depth 3: 3 passes over 20 sorted columns each, 1.2e8 keys read"
CASES = [
    Case(
        f"AdaBoostClassifier 50 stumps {N:,} x {D}, 2 classes, fit and score", two_classes,
        {"pellucid": ours_ada, "scikit-learn": theirs_ada}, alike,
        f"one sort, then 50 passes over {D} columns", rounds=2, repeats=1,
    ),
    Case(
        f"AdaBoostClassifier 50 stumps {N // 5:,} x {D}, 5 classes, fit and score", five_classes,
        {"pellucid": ours_ada, "scikit-learn": theirs_ada}, alike,
        f"one sort, then 50 passes over {D} columns", rounds=2, repeats=1,
    ),
    Case(
        f"GradientBoostingRegressor 20,000 x {D}, 100 trees of depth 3", numbers,
        {"pellucid": ours_boosting, "scikit-learn": theirs_boosting, "xgboost": xgboost_exact},
        alike, TREES, rounds=2, repeats=1,
    ),
    Case(
        "GradientBoostingRegressor 275 x 15, 100 trees of depth 3", few_numbers,
        {"pellucid": ours_boosting, "scikit-learn": theirs_boosting, "xgboost": xgboost_exact},
        near, "100 trees: calls, not arithmetic",
    ),
    Case(
        f"GradientBoostingClassifier 20,000 x {D}, 100 trees of depth 3", signs,
        {"pellucid": ours_logistic_boosting, "scikit-learn": theirs_logistic_boosting}, alike,
        TREES, rounds=2, repeats=1,
    ),
    Case(
        f"StackingClassifier of 3, 5 folds, {N:,} x {D}", two_classes,
        {"pellucid": ours_stack, "scikit-learn": theirs_stack}, alike, "18 fits and one more",
        "members are the same: the committee adds little to either", rounds=2, repeats=2,
    ),
    Case(
        f"StackingRegressor of 3, 5 folds, 20,000 x {D}", numbers,
        {"pellucid": ours_stack_numbers, "scikit-learn": theirs_stack_numbers}, equal,
        "18 fits and one more", "members are the same", rounds=2, repeats=2,
    ),
    Case(
        f"VotingClassifier hard of 3, {N:,} x {D}", two_classes,
        {"pellucid": ours_vote, "scikit-learn": theirs_vote}, equal,
        "3 fits and 3 predictions", "members are the same; scikit-learn counts row by row",
        rounds=2, repeats=2,
    ),
    Case(
        f"RepresentationClassifier PCA and GaussianNB, {N:,} x {D}, a tenth labelled",
        partly_labelled, {"pellucid": ours_representation, "scikit-learn written out": written_out},
        alike, "one PCA, one small fit, one prediction",
    ),
    Case(
        f"SelfTrainingClassifier of GaussianNB, {N:,} x {D}, a tenth labelled",
        partly_labelled, {"pellucid": ours_self_training, "scikit-learn": theirs_self_training},
        alike, "up to ten rounds of one fit and one prediction",
    ),
    Case(
        f"VotingRegressor of 3, 20,000 x {D}", numbers,
        {"pellucid": ours_vote_numbers, "scikit-learn": theirs_vote_numbers}, equal,
        "3 fits and 3 predictions", "members are the same", rounds=2, repeats=2,
    ),
]  # fmt: skip
