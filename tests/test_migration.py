"""Calls of scikit-learn scripts that must give the same answer once the import is changed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.covariance import EllipticEnvelope as TheirEnvelope
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel as TheirSelector

from pellucid import (
    BaggingClassifier,
    CountVectorizer,
    EllipticEnvelope,
    Lasso,
    LogisticRegression,
    MultiTaskLasso,
    NearestNeighbors,
    Ridge,
    SelectFromModel,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 4))
y = X @ np.array([2.0, 0.0, -1.0, 0.0]) + 0.1 * rng.normal(size=80)


@pytest.mark.parametrize("classes", [2, 3])
def test_bagging_averages_the_members_decisions(classes):
    labels = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
    model = BaggingClassifier(LogisticRegression(), 5, max_features=0.5, random_state=0)
    model.fit(X, labels)
    parts = zip(model.estimators_, model.estimators_features_, strict=True)
    by_hand = np.mean([m.decision_function(X[:, f]) for m, f in parts], axis=0)
    assert_allclose(model.decision_function(X), by_hand)
    assert by_hand.shape == ((80,) if classes == 2 else (80, 3))


def test_bagging_decides_only_where_every_member_can():
    assert hasattr(BaggingClassifier(LogisticRegression()), "decision_function")
    assert not hasattr(BaggingClassifier(), "decision_function")  # trees
    assert not hasattr(BaggingClassifier(LogisticRegression(), voting="hard"), "decision_function")
    labels = np.r_[1, np.zeros(59, dtype=int)]  # a third of the samples miss the one row
    model = BaggingClassifier(LogisticRegression(), 12, random_state=0).fit(X[:60], labels)
    assert not hasattr(model, "decision_function")
    assert model.predict_proba(X).shape == (80, 2)


@pytest.mark.parametrize("limit", [None, 1])
def test_a_fitted_model_selects_without_a_fit(limit):
    lasso = Lasso(0.1).fit(X, y)
    ours = SelectFromModel(lasso, prefit=True, max_features=limit)
    theirs = TheirSelector(lasso, prefit=True, max_features=limit)
    assert_array_equal(ours.get_support(), theirs.get_support())
    ours = SelectFromModel(lasso, prefit=True, max_features=limit)
    assert_array_equal(ours.transform(X), theirs.transform(X))
    ours = SelectFromModel(lasso, prefit=True, max_features=limit)
    assert_array_equal(ours.get_feature_names_out(), ours.fit(X, y).get_feature_names_out())


def test_a_model_without_a_fit_does_not_select():
    for selector in (
        SelectFromModel(Ridge(), prefit=True),
        SelectFromModel(Ridge()),
        SelectFromModel(Ridge().fit(X, y), prefit=True, max_features=len),
    ):
        with pytest.raises(NotFittedError):
            selector.transform(X)


def test_a_selector_that_was_not_fitted_follows_its_model():
    selector = SelectFromModel(Lasso(0.1).fit(X, y), prefit=True, max_features=-1)
    before = vars(selector).copy()
    for wrong in ({"max_features": -1}, {"max_features": None, "importance_getter": "nothing"}):
        with pytest.raises(ValueError, match=r"max_features|importance_getter"):
            selector.set_params(**wrong).transform(X)
        assert vars(selector).keys() == before.keys()  # nothing is left of it
    selector.set_params(importance_getter="auto")
    assert_array_equal(selector.get_support(indices=True), [0, 2])
    assert_array_equal(selector.set_params(max_features=1).get_support(indices=True), [0])
    selector.set_params(estimator=Lasso(0.1).fit(X[:, ::-1], y), max_features=None)
    assert_array_equal(selector.get_support(indices=True), [1, 3])
    assert selector.set_params(threshold=1.5).threshold_ == 1.5
    narrow = Lasso(0.5).fit(X[:, 1:3], y)
    selector.set_params(estimator=narrow, threshold=None)
    assert_array_equal(selector.transform(X[:, 1:3]), X[:, 2:3])
    for params in ({"estimator": Lasso()}, {"estimator": narrow, "prefit": False}):
        with pytest.raises(NotFittedError):
            selector.set_params(**params).transform(X[:, 1:3])
    fitted = selector.set_params(prefit=True).fit(X[:, 1:3], y)  # a fit holds until the next
    assert_array_equal(fitted.set_params(estimator=Lasso()).get_support(indices=True), [1])


@pytest.mark.parametrize("norm", ["frobenius", "spectral"])
@pytest.mark.parametrize("squared", [True, False])
def test_envelope_error_norm(norm, squared):
    ours, theirs = EllipticEnvelope(random_state=0).fit(X), TheirEnvelope(random_state=0).fit(X)
    theirs.covariance_ = ours.covariance_
    for scaling in (True, False):
        wanted = theirs.error_norm(np.eye(4), norm, scaling, squared)
        assert_allclose(ours.error_norm(np.eye(4), norm, scaling, squared), wanted)


def test_multi_task_sparse_coefficients():
    model = MultiTaskLasso(0.1).fit(X, np.c_[y, -y])
    assert_array_equal(model.sparse_coef_.toarray(), model.coef_)
    assert model.sparse_coef_.nnz < model.coef_.size


def test_stop_words_without_words_warn():
    with pytest.warns(UserWarning, match="'stop_words' will not be used"):
        CountVectorizer(analyzer="char", stop_words="english").fit(["the cat"])


def test_neighbours_of_a_graph_without_its_diagonal():
    """scikit-learn takes the nearest row of such a graph for the row itself and drops it."""
    graph = NearestNeighbors(n_neighbors=6).fit(X).kneighbors_graph(mode="distance")
    found = NearestNeighbors(n_neighbors=3, metric="precomputed").fit(graph).kneighbors()
    assert_allclose(found[0], NearestNeighbors(n_neighbors=3).fit(X).kneighbors()[0])
