"""RidgeClassifier and RidgeClassifierCV: scikit-learn, the normal equations, leave-one-out."""

import numpy as np
import pytest
import sklearn.linear_model as theirs
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.model_selection import GridSearchCV, LeaveOneOut, StratifiedKFold, cross_val_predict

from pellucid import Ridge, RidgeClassifier, RidgeClassifierCV


def table(n=120, p=6, K=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(K, size=n)
    return rng.normal(size=(n, p)) + 1.5 * np.eye(K, p)[y], np.array(["ant", "bee", "cat"])[y]


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("shape", [(120, 6), (10, 20)])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"alpha": 20.0, "fit_intercept": False},
        {"class_weight": "balanced"},
        {"class_weight": {"ant": 3.0}, "solver": "svd"},
        {"positive": True},
    ],
)
def test_same_as_scikit_learn(params, shape, K):
    X, y = table(*shape, K)
    ours = RidgeClassifier(**params).fit(X, y)
    other = theirs.RidgeClassifier(tol=1e-10, max_iter=100_000, **params).fit(X, y)
    assert ours.coef_.shape == other.coef_.shape
    rtol = 1e-4 if params.get("positive") else 1e-9  # scikit-learn's is L-BFGS there
    assert_allclose(ours.coef_, other.coef_, rtol=rtol, atol=rtol)
    assert np.shape(ours.intercept_) == np.shape(other.intercept_)
    assert_allclose(ours.intercept_, other.intercept_, rtol=rtol, atol=rtol)
    assert_array_equal(ours.predict(X), other.predict(X))
    assert_allclose(ours.decision_function(X), other.decision_function(X), atol=10 * rtol)


def test_several_labels():
    X, y = table()
    Y = np.column_stack([y == "ant", y != "cat", X[:, 0] > 0]).astype(int)
    for weight in (None, "balanced"):
        ours = RidgeClassifier(class_weight=weight).fit(X, Y)
        other = theirs.RidgeClassifier(class_weight=weight).fit(X, Y)
        assert_allclose(ours.coef_, other.coef_, rtol=1e-9)
        assert_array_equal(ours.predict(X), other.predict(X))
        assert ours.score(X, Y) == other.score(X, Y)
    assert_array_equal(
        RidgeClassifier().fit(X, csr_array(Y)).coef_, RidgeClassifier().fit(X, Y).coef_
    )
    chosen = RidgeClassifierCV(scoring="accuracy").fit(X, Y)
    assert chosen.predict(X).shape == Y.shape
    with pytest.raises(ValueError, match="2 entries for 3 labels"):
        RidgeClassifier(class_weight=[{0: 1}, {0: 1}]).fit(X, Y)


def test_the_normal_equations_hold():
    X, y = table()
    model = RidgeClassifier(alpha=3.0).fit(X, y)
    R = 2.0 * (y[:, None] == model.classes_) - 1 - model.decision_function(X)
    assert_allclose(X.T @ R, 3.0 * model.coef_.T, atol=1e-9)
    assert_allclose(R.sum(axis=0), 0, atol=1e-9)
    assert_allclose(model.rss_, (R**2).sum(), rtol=1e-10)
    assert_allclose(model.coef_, Ridge(3.0).fit(X, 2.0 * (y[:, None] == model.classes_) - 1).coef_)


def test_recovery():
    X, y = table(2000)
    centres = RidgeClassifier().fit(X, y)
    assert centres.score(X, y) > 0.75
    assert (centres.coef_[:, 3:] ** 2).sum() < 0.01 * (centres.coef_**2).sum()


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("shape", [(60, 6), (12, 30)])
def test_leave_one_out_as_scikit_learn(shape, K):
    X, y = table(*shape, K)
    alphas = (0.1, 1.0, 10.0, 100.0)
    ours = RidgeClassifierCV(alphas, store_cv_results=True).fit(X, y)
    other = theirs.RidgeClassifierCV(alphas, store_cv_results=True).fit(X, y)
    assert ours.alpha_ == other.alpha_
    assert_allclose(ours.best_score_, other.best_score_, rtol=1e-8)
    assert_allclose(ours.cv_results_, other.cv_results_, rtol=1e-6, atol=1e-9)
    assert_allclose(ours.coef_, other.coef_, rtol=1e-8, atol=1e-12)
    assert_allclose(RidgeClassifierCV(alphas).fit(X, y).criterion_, ours.criterion_, rtol=1e-8)


@pytest.mark.parametrize("K", [2, 3])
def test_a_scorer_judges_the_classes_of_left_out_rows(K):
    X, y = table(40, 6, K)
    alphas = (0.1, 10.0, 1000.0)
    model = RidgeClassifierCV(alphas, scoring="accuracy").fit(X, y)
    plain = [
        (cross_val_predict(RidgeClassifier(a), X, y, cv=LeaveOneOut()) == y).mean() for a in alphas
    ]
    assert_allclose(-model.criterion_, plain)
    assert model.alpha_ == alphas[int(np.argmax(plain))]


def test_folds_are_those_of_a_search():
    X, y = table(90)
    alphas = [0.1, 10.0, 1000.0]
    cv = StratifiedKFold(3)
    model = RidgeClassifierCV(alphas, cv=cv, class_weight=None).fit(X, y)
    search = GridSearchCV(RidgeClassifier(), {"alpha": alphas}, cv=cv).fit(X, y)
    assert_allclose(-model.criterion_, search.cv_results_["mean_test_score"])
    assert model.alpha_ == search.best_params_["alpha"]
    assert_allclose(model.coef_, search.best_estimator_.coef_)
    ours = RidgeClassifierCV(alphas, cv=3).fit(X, y)
    assert ours.best_score_ == pytest.approx(
        theirs.RidgeClassifierCV(alphas, cv=3).fit(X, y).best_score_
    )


def test_sparse_equals_dense(monkeypatch):
    X, y = table()
    X[np.abs(X) < 0.7] = 0.0
    dense, thin = RidgeClassifier().fit(X, y), RidgeClassifier().fit(csr_array(X), y)
    assert_allclose(thin.coef_, dense.coef_, rtol=1e-10)
    monkeypatch.setattr("pellucid.linear.least_squares.large_sparse.SPARSE_COLUMNS", 2)
    large = RidgeClassifier().fit(csr_array(X), y)
    assert large.solver_ == "lsqr"
    assert "LSQR" in large.card().optimisation
    assert_allclose(large.coef_, dense.coef_, atol=1e-8)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (RidgeClassifier(alpha=-1.0), "alpha must be >= 0"),
        (RidgeClassifier(solver="newton"), "solver"),
        (RidgeClassifier(class_weight="even"), "class_weight must be"),
        (RidgeClassifierCV([-1.0]), r"alphas\[0\] == -1.0, must be > 0"),
        (RidgeClassifierCV(cv="loo"), "cv"),
        (RidgeClassifierCV(cv=3, store_cv_results=True), "store_cv_results"),
    ],
)
def test_bad_parameters(model, words):
    with pytest.raises(ValueError, match=words):
        model.fit(*table(30))


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="at least 2 classes"):
        RidgeClassifier().fit([[1.0], [2.0]], ["a", "a"])


def test_cards_name_the_rule_that_decides():
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 3
    rule = "the sign decides"
    assert rule in RidgeClassifier().fit(X, y > 1).card().representation
    assert "3 classes, the largest wins" in RidgeClassifier().fit(X, y).card().representation
    labels = np.column_stack([y > 0, y > 1])
    card = RidgeClassifier().fit(X, labels).card().representation
    assert "2 labels, each by the sign" in card
