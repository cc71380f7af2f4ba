"""LeastSquaresClassifier: the examples of the catalogue, RidgeClassifier, masking, weights."""

import warnings

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import LinAlgWarning
from scipy.sparse import csr_array
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import train_test_split

from pellucid import LeastSquaresClassifier, LinearDiscriminantAnalysis
from pellucid.data import blocks
from pellucid.linear import Hyperplane, MaskingWarning

LINE = np.array([0.0, 1, 4, 5, 8, 9])
THREE = np.array([0, 0, 1, 1, 2, 2])
TWO_X = np.array([[0, 0], [1, 0], [0, 1], [1, 2], [3, 3], [4, 3], [3, 5], [5, 4], [4, 4], [6, 5]])
TWO_Y = np.repeat([0, 1], [4, 6])


def clouds(n=300, p=5, K=4, seed=0):
    rng = np.random.default_rng(seed)
    code = rng.integers(K, size=n)
    X = rng.normal(size=(n, p)) + 3 * rng.normal(size=(K, p))[code]
    return X, np.array(list("abcdefgh"))[code]


def test_example_1_masking():
    with pytest.warns(MaskingWarning, match=r"predicted as 1.*degree 2 .*LinearDiscriminant"):
        model = LeastSquaresClassifier().fit(LINE[:, None], THREE)
    expected = [[0.8829516539, 1 / 3, -0.2162849873], [-0.1221374046, 0, 0.1221374046]]
    assert_allclose(model.indicator_coef_, expected, atol=1e-10)
    assert_array_equal(model.predict(LINE[:, None]), [0, 0, 0, 2, 2, 2])
    assert_array_equal(model.masked_classes_, [1])
    far = model.fitted_values([[20.0]])
    assert_allclose(far, [[-1.5597964377, 1 / 3, 2.2264631043]], atol=1e-10)
    squared = np.column_stack([LINE, LINE**2])
    cured = LeastSquaresClassifier().fit(squared, THREE)
    assert_array_equal(cured.predict(squared), THREE)
    assert len(cured.masked_classes_) == 0
    lda = LinearDiscriminantAnalysis().fit(LINE[:, None], THREE)
    assert_array_equal(lda.predict(LINE[:, None]), THREE)


def test_example_2_two_clouds():
    rng = np.random.RandomState(0)
    x1, y1 = rng.normal(1, 0.2, 50), rng.normal(1, 0.2, 50)
    x2, y2 = rng.normal(3, 0.2, 50), rng.normal(5, 0.2, 50)
    X = np.column_stack([np.append(x1, x2), np.append(y1, y2)])
    y = np.repeat([0, 1], 50)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
    model = LeastSquaresClassifier().fit(X, y)
    f1 = [-0.2996234518, 0.0987263736, 0.1991115480]
    assert_allclose(model.indicator_coef_[:, 1], f1, atol=1e-10)
    assert model.score(X_test, y_test) == 1


def test_example_12_signed_coding_and_lda():
    model = LeastSquaresClassifier(coding="signed").fit(TWO_X, TWO_Y)
    assert_allclose(np.append(model.intercept_, model.coef_), [-1.133125, 0.249375, 0.244375])
    lda = LinearDiscriminantAnalysis(covariance_estimator="unbiased").fit(TWO_X, TWO_Y)
    assert_allclose(model.coef_ / lda.coef_, np.full((1, 2), 0.087421875))
    indicator = LeastSquaresClassifier().fit(TWO_X, TWO_Y)
    assert_allclose(indicator.indicator_coef_, model.indicator_coef_)
    assert_allclose(2 * indicator.decision_function(TWO_X), model.decision_function(TWO_X))
    equal = TWO_X[:8], TWO_Y[:8]  # equal sizes: the same boundary
    a = LeastSquaresClassifier(coding="signed").fit(*equal)
    b = LinearDiscriminantAnalysis().fit(*equal)
    assert_allclose(a.intercept_ / a.coef_[0, 0], b.intercept_ / b.coef_[0, 0])


@pytest.mark.parametrize("alpha", [0.0, 1.0, 50.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_ridge_classifier_is_the_oracle(alpha, fit_intercept, class_weight):
    X, y = clouds(K=2)
    params = {"alpha": alpha, "fit_intercept": fit_intercept, "class_weight": class_weight}
    w = np.random.default_rng(1).uniform(0.5, 2, size=len(X)) if class_weight is None else None
    ours = LeastSquaresClassifier(coding="signed", **params).fit(X, y, sample_weight=w)
    theirs = RidgeClassifier(**params).fit(X, y, sample_weight=w)
    assert_allclose(ours.coef_, theirs.coef_.reshape(1, -1), rtol=1e-8)
    assert_allclose(ours.intercept_, np.atleast_1d(theirs.intercept_), rtol=1e-7, atol=1e-12)
    X, y = clouds()
    ours, theirs = LeastSquaresClassifier(**params).fit(X, y), RidgeClassifier(**params).fit(X, y)
    if fit_intercept:  # -1/+1 and 0/1 targets differ by a constant, which the intercept takes
        assert_allclose(2 * ours.coef_, theirs.coef_, rtol=1e-7, atol=1e-10)
        assert_array_equal(ours.predict(X), theirs.predict(X))


def test_normal_equations_by_hand():
    """B = pinv(D'D + alpha I0) D'Y, the intercept spared; the fitted values sum to 1."""
    X, y = clouds()
    D = np.column_stack([np.ones(len(X)), X])
    Y = (y[:, None] == np.unique(y)).astype(float)
    for alpha in (0.0, 3.0):
        model = LeastSquaresClassifier(alpha=alpha).fit(X, y)
        I0 = np.diag([0.0, *np.ones(X.shape[1])])
        B = np.linalg.pinv(D.T @ D + alpha * I0) @ D.T @ Y
        assert_allclose(model.indicator_coef_, B, atol=1e-10)
        assert_allclose(model.fitted_values(X).sum(axis=1), 1.0)
        gradient = D.T @ (D @ model.indicator_coef_ - Y) + alpha * I0 @ model.indicator_coef_
        assert np.abs(gradient).max() < 1e-8


def test_weights_are_repetitions_and_balanced_counts():
    X, y = clouds(120)
    w = np.random.default_rng(2).integers(0, 4, size=120)
    for params in ({}, {"class_weight": "balanced"}, {"class_weight": {"a": 3.0}, "alpha": 2.0}):
        a = LeastSquaresClassifier(**params).fit(X, y, sample_weight=w)
        b = LeastSquaresClassifier(**params).fit(X.repeat(w, axis=0), y.repeat(w))
        assert_allclose(a.indicator_coef_, b.indicator_coef_, rtol=1e-9, atol=1e-12)
    n_k = np.array([(y == label).sum() for label in np.unique(y)])
    by_hand = 120 / (4 * n_k)
    code = np.searchsorted(np.unique(y), y)
    a = LeastSquaresClassifier(class_weight="balanced").fit(X, y)
    b = LeastSquaresClassifier().fit(X, y, sample_weight=by_hand[code])
    assert_allclose(a.indicator_coef_, b.indicator_coef_, rtol=1e-10)


def test_dependent_columns_least_norm():
    X, y = clouds(K=3)
    doubled = np.column_stack([X, X[:, 0] + X[:, 1]])
    with pytest.warns(LinAlgWarning, match=r"x0, x1, x5 are linearly dependent.*alpha > 0"):
        model = LeastSquaresClassifier().fit(doubled, y)
    centred = doubled - doubled.mean(axis=0)
    Y = (y[:, None] == np.unique(y)).astype(float)
    assert_allclose(model.indicator_coef_[1:], np.linalg.pinv(centred) @ Y, atol=1e-9)
    LeastSquaresClassifier(alpha=1e-3).fit(doubled, y)  # a penalty decides: no warning
    wide = np.random.default_rng(0).normal(size=(6, 20))
    with pytest.warns(LinAlgWarning, match="6 rows cannot determine 20 columns"):
        model = LeastSquaresClassifier().fit(wide, THREE)
    assert_array_equal(model.predict(wide), THREE)
    model = LeastSquaresClassifier(alpha=0.1).fit(wide, THREE)
    theirs = RidgeClassifier(alpha=0.1).fit(wide, THREE)
    assert_allclose(2 * model.coef_, theirs.coef_, rtol=1e-7)


def test_constant_column_and_no_intercept():
    X, y = clouds(K=3)
    model = LeastSquaresClassifier().fit(np.column_stack([X, np.full(len(X), 7.0)]), y)
    assert_allclose(model.indicator_coef_[-1], 0.0)
    plain = LeastSquaresClassifier(fit_intercept=False).fit(X, y)
    Y = (y[:, None] == np.unique(y)).astype(float)
    assert_allclose(plain.indicator_coef_[1:], np.linalg.lstsq(X, Y)[0], atol=1e-10)
    assert_allclose(plain.indicator_coef_[0], 0.0)


def test_sparse_and_blocks_give_the_same_rule():
    X, y = clouds()
    X = np.where(np.abs(X) > 1, X, 0.0)
    dense = LeastSquaresClassifier(alpha=1.0).fit(X, y)
    sparse = LeastSquaresClassifier(alpha=1.0).fit(csr_array(X), y)
    assert_allclose(sparse.coef_, dense.coef_, rtol=1e-10)
    assert_array_equal(sparse.predict(csr_array(X)), dense.predict(X))
    frame = pl.DataFrame(X, schema=list("vwxyz")).with_columns(label=pl.Series(y))
    for params in ({"class_weight": "balanced"}, {}):
        parts = LeastSquaresClassifier(**params).fit_blocks(
            blocks(frame, target="label", block_rows=50)
        )
        whole = LeastSquaresClassifier(**params).fit(X, y)
        assert_allclose(parts.indicator_coef_, whole.indicator_coef_, rtol=1e-10)


def test_boundary_and_explain():
    X, y = clouds()
    model = LeastSquaresClassifier().fit(X, y)
    plane = model.boundary("b", "d")
    assert isinstance(plane, Hyperplane)
    f = model.fitted_values(X)
    assert_allclose(plane.score(X), f[:, 1] - f[:, 3], atol=1e-12)
    split = model.explain(X[:7])
    assert_allclose(split.scores, model.decision_function(X[:7]), atol=1e-12)
    assert_allclose(split.base + split.contributions.sum(axis=2), split.scores)
    two = LeastSquaresClassifier().fit(TWO_X, TWO_Y)
    assert_allclose(two.boundary().score(TWO_X), two.decision_function(TWO_X))
    assert_allclose(two.boundary(0, 1).coef, -two.boundary().coef)
    for arguments in (("a", "a"), ("a", "q"), ("a",), ()):
        with pytest.raises(ValueError, match="class"):
            model.boundary(*arguments)


def test_a_score_of_one_half_is_the_second_class():
    model = LeastSquaresClassifier().fit([[-1.0], [1.0]], ["no", "yes"])
    assert model.predict([[0.0]])[0] == "yes"


def test_recovers_the_bayes_rule_of_equal_classes():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 20_000)
    X = rng.normal(size=(40_000, 3)) + np.outer(y, [2.0, -1.0, 0.0])
    model = LeastSquaresClassifier().fit(X, y)
    direction = model.coef_[0] / np.linalg.norm(model.coef_)
    assert_allclose(direction, np.array([2, -1, 0]) / np.sqrt(5), atol=0.03)
    assert not hasattr(model, "predict_proba")


def test_refusals():
    X, y = clouds(60)
    with pytest.raises(ValueError, match=r"two classes, got 4"):
        LeastSquaresClassifier(coding="signed").fit(X, y)
    with pytest.raises(ValueError, match="1 class"):
        LeastSquaresClassifier().fit(X, np.ones(60))
    for bad in ("even", {"q": 1.0}, {"a": -1.0}, 3):
        with pytest.raises(ValueError, match="class_weight"):
            LeastSquaresClassifier(class_weight=bad).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LeastSquaresClassifier().fit(X, y)
    assert "squared error" in str(LeastSquaresClassifier().fit(X, y).card())
