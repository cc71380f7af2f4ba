"""Stacking: scikit-learn's answers, every source of rows for the meta-model, routing, frames."""

import numpy as np
import polars as pl
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.ensemble import StackingClassifier as PeerClassifier
from sklearn.ensemble import StackingRegressor as PeerRegressor
from sklearn.model_selection import KFold, ShuffleSplit, cross_val_predict

from pellucid import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GaussianNB,
    KNeighborsClassifier,
    LinearRegression,
    LogisticRegression,
    Ridge,
    StackingClassifier,
    StackingRegressor,
)

rng = np.random.default_rng(0)


def table(n=200, K=2):
    X = rng.normal(size=(n, 3))
    score = X[:, 0] ** 2 + X[:, 1] + 0.3 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, K) / K)), score


def classifiers():
    return [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]


def regressors():
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    return [("line", Ridge()), ("tree", tree)]


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("method", ["auto", "predict"])
@pytest.mark.parametrize("passthrough", [False, True])
def test_classes_as_in_scikit_learn(K, method, passthrough):
    X, y, _ = table(K=K)
    params = {"stack_method": method, "passthrough": passthrough, "cv": 3}
    final = LogisticRegression()
    names = np.array(["ant", "bee", "cat"])[y]
    ours = StackingClassifier(classifiers(), final, **params).fit(X, names)
    theirs = PeerClassifier(classifiers(), final, **params).fit(X, names)
    assert_allclose(ours.transform(X), theirs.transform(X))
    assert_allclose(ours.final_estimator_.coef_, theirs.final_estimator_.coef_, rtol=1e-10)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))
    assert_allclose(ours.decision_function(X), theirs.decision_function(X))
    assert ours.stack_method_ == theirs.stack_method_
    assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())


def test_numbers_as_in_scikit_learn():
    X, _, y = table()
    w = rng.uniform(0.5, 2, size=len(y))
    ours = StackingRegressor(regressors(), LinearRegression(), cv=KFold(4)).fit(X, y, w)
    theirs = PeerRegressor(regressors(), LinearRegression(), cv=KFold(4))
    theirs.fit(X, y, sample_weight=w)
    assert_allclose(ours.predict(X), theirs.predict(X))
    assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    assert list(ours.named_estimators_) == ["line", "tree"]


def test_out_of_fold_by_hand():
    """g is fitted to what copies say of folds they have not seen; members see all rows."""
    X, y, _ = table()
    folds = KFold(5)
    model = StackingClassifier(classifiers(), cv=folds).fit(X, y)
    Z = [
        cross_val_predict(m, X, y, cv=folds, method="predict_proba")[:, 1:]
        for _, m in classifiers()
    ]
    g = LogisticRegression().fit(np.hstack(Z), y)
    assert_allclose(model.final_estimator_.coef_, g.coef_, rtol=1e-10)
    whole = classifiers()[1][1].fit(X, y)
    assert_array_equal(model.estimators_[1].predict_proba(X), whole.predict_proba(X))


def test_threads_say_the_same():
    X, y, _ = table()
    one, two = (StackingClassifier(classifiers(), n_jobs=n).fit(X, y) for n in (None, 2))
    assert_array_equal(one.final_estimator_.coef_, two.final_estimator_.coef_)
    assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_one_split_refits_nothing():
    """ENS-10: bases on the train part, g on the separate part D'."""
    X, y, _ = table()
    split = ShuffleSplit(n_splits=1, test_size=0.4, random_state=1)
    train, test = next(split.split(X))
    model = StackingClassifier(classifiers(), cv=split).fit(X, y)
    members = [m.fit(X[train], y[train]) for _, m in classifiers()]
    Z = np.hstack([m.predict_proba(X[test])[:, 1:] for m in members])
    assert_array_equal(model.estimators_[1].predict(X), members[1].predict(X))
    g = LogisticRegression().fit(Z, y[test])
    assert_allclose(model.final_estimator_.coef_, g.coef_, rtol=1e-10)
    w = rng.integers(1, 3, size=len(y)).astype(float)
    weighted = StackingClassifier(classifiers(), cv=split).fit(X, y, w)
    members = [m.fit(X[train], y[train], w[train]) for _, m in classifiers()]
    Z = np.hstack([m.predict_proba(X[test])[:, 1:] for m in members])
    g = LogisticRegression().fit(Z, y[test], w[test])
    assert_allclose(weighted.final_estimator_.coef_, g.coef_, rtol=1e-8)
    with pytest.raises(ValueError, match="separate"):
        StackingClassifier(classifiers(), cv=[(train, train[:5])]).fit(X, y)


def test_prefit_keeps_the_members():
    X, y, _ = table()
    fitted = [(name, m.fit(X[:100], y[:100])) for name, m in classifiers()]
    ours = StackingClassifier(fitted, cv="prefit").fit(X[100:], y[100:])
    theirs = PeerClassifier(fitted, LogisticRegression(), cv="prefit").fit(X[100:], y[100:])
    assert ours.estimators_[0] is fitted[0][1]
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))
    with pytest.raises(sklearn.exceptions.NotFittedError):
        StackingClassifier(classifiers(), cv="prefit").fit(X, y)


def test_same_rows_warn_and_leak():
    """The in-sample version trusts a memorising member; out of fold it is judged fairly."""
    X, _, _ = table(300)
    y = (X[:, 0] + 2 * rng.normal(size=300) > 0).astype(int)
    members = [("nearest", KNeighborsClassifier(1)), ("bayes", GaussianNB())]
    with pytest.warns(UserWarning, match="cv='same'.*own training rows"):
        leaky = StackingClassifier(members, cv="same").fit(X, y)
    fair = StackingClassifier(members).fit(X, y)
    assert abs(leaky.final_estimator_.coef_[0, 0]) > 3 * abs(fair.final_estimator_.coef_[0, 0])
    T = rng.normal(size=(4000, 3))
    t = (T[:, 0] + 2 * rng.normal(size=4000) > 0).astype(int)
    assert fair.score(T, t) > leaky.score(T, t) + 0.03


def test_folds_must_be_a_partition():
    X, y, _ = table()
    with pytest.raises(ValueError, match=r"cv must be one split, or folds.*3 splits"):
        StackingClassifier(classifiers(), cv=ShuffleSplit(3, random_state=0)).fit(X, y)
    with pytest.raises(ValueError, match=r"cv.*'nothing'"):
        StackingClassifier(classifiers(), cv="nothing").fit(X, y)


def test_a_class_absent_from_a_fold():
    X, y, _ = table(60, K=2)
    y[:5] = 2  # all in the first fold of KFold
    model = StackingClassifier(classifiers(), cv=KFold(6)).fit(X, y)
    assert model.predict_proba(X).shape == (60, 3)
    assert model.transform(X).shape == (60, 6)


def test_members_and_final_are_checked():
    X, y, score = table(60)
    with pytest.raises(ValueError, match="non-empty"):
        StackingClassifier([]).fit(X, y)
    with pytest.raises(ValueError, match="should be a regressor"):
        StackingRegressor([("bayes", GaussianNB())]).fit(X, score)
    with pytest.raises(ValueError, match="final_estimator must be a classifier"):
        StackingClassifier(classifiers(), Ridge()).fit(X, y)
    with pytest.raises(ValueError, match="All estimators are dropped"):
        StackingClassifier([("a", "drop")]).fit(X, y)
    with pytest.raises(ValueError, match="unique"):
        StackingClassifier([("a", GaussianNB()), ("a", GaussianNB())]).fit(X, y)
    with pytest.raises(ValueError, match="does not implement the method decision_function"):
        StackingClassifier([("k", KNeighborsClassifier())], stack_method="decision_function").fit(
            X, y
        )
    with pytest.raises(TypeError, match="KNeighborsClassifier does not support sample weights"):
        StackingClassifier([("k", KNeighborsClassifier())]).fit(X, y, np.ones(60))


def test_dropped_members_and_parameters_of_members():
    X, y, _ = table(80)
    model = StackingClassifier(classifiers()).set_params(tree__max_depth=1, bayes="drop").fit(X, y)
    assert len(model.estimators_) == 1
    assert model.estimators_[0].max_depth == 1
    assert model.named_estimators_["bayes"] == "drop"
    assert_array_equal(model.get_feature_names_out(), ["stackingclassifier_tree"])


def test_frames_sparse_and_threads():
    X, y, _ = table(100)
    frame = pl.DataFrame(X, schema=["a", "b", "c"])
    plain = StackingClassifier(classifiers(), passthrough=True).fit(X, y)
    framed = StackingClassifier(classifiers(), passthrough=True, n_jobs=2).fit(frame, y)
    assert_array_equal(framed.predict_proba(frame), plain.predict_proba(X))
    assert list(framed.estimators_[0].feature_names_in_) == ["a", "b", "c"]
    assert framed.get_feature_names_out()[-1] == "c"
    S = csr_matrix(np.where(X > 0.5, X, 0.0))
    trees = [("tree", DecisionTreeClassifier(max_depth=2))]
    model = StackingClassifier(trees, passthrough=True).fit(S, y)
    assert model.transform(S).shape == (100, 4)
    assert_array_equal(
        model.predict(S),
        StackingClassifier(trees, passthrough=True).fit(S.toarray(), y).predict(S.toarray()),
    )


def test_metadata_routing():
    X, y, _ = table(90)
    w = rng.integers(1, 4, size=90).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        bayes = GaussianNB().set_fit_request(sample_weight=True)
        tree = DecisionTreeClassifier(max_depth=2).set_fit_request(sample_weight=False)
        final = LogisticRegression().set_fit_request(sample_weight=True)
        model = StackingClassifier([("b", bayes), ("t", tree)], final, cv=3)
        model.fit(X, y, sample_weight=w)
    assert_allclose(model.estimators_[0].theta_, GaussianNB().fit(X, y, w).theta_)
    plain = DecisionTreeClassifier(max_depth=2).fit(X, y)
    assert_array_equal(model.estimators_[1].predict_proba(X), plain.predict_proba(X))


def test_keywords_reach_the_final_predict():
    X, _, y = table(80)
    model = StackingRegressor(regressors(), DecisionTreeRegressor(max_depth=2)).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    assert_array_equal(mean, model.predict(X))
    assert std.shape == mean.shape


def test_recovers_the_better_member():
    X = rng.normal(size=(400, 3))
    y = 3 * X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=400)
    stump = DecisionTreeRegressor(max_depth=1)
    model = StackingRegressor([("line", LinearRegression()), ("stump", stump)]).fit(X, y)
    assert_allclose(model.final_estimator_.coef_, [1.0, 0.0], atol=0.02)
