"""Cut-points against trying every threshold."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression as TheirLogistic

from pellucid import CutPointClassifier, GaussianNB, LinearDiscriminantAnalysis
from pellucid.ensemble.labels.cut_point import find_cut_point


class Given(ClassifierMixin, BaseEstimator):
    """The first column is the score."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.asarray(X, dtype=float)[:, 0]

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


def brute(score, codes, w, L):
    candidates = np.concatenate([[-np.inf], np.unique(score), [np.inf]])
    return min(float(w @ L[codes, (score >= t).astype(int)]) for t in candidates) / w.sum()


@pytest.mark.parametrize("seed", range(12))
def test_no_threshold_costs_less(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    score = np.round(rng.normal(size=n), int(rng.integers(0, 3)))  # ties
    codes = rng.integers(2, size=n)
    w = rng.integers(1, 4, size=n).astype(float)
    L = rng.integers(-2, 6, size=(2, 2)).astype(float)
    found = find_cut_point(score, codes, w, L, 0.0)
    taken = w @ L[codes, (score >= found.threshold).astype(int)] / w.sum()
    assert taken == pytest.approx(found.cost)
    assert found.cost == pytest.approx(brute(score, codes, w, L))
    for t, cost in zip(*found.curve, strict=True):
        by_hand = w @ L[codes, (score >= t).astype(int)] / w.sum()
        assert cost == pytest.approx(by_hand)
    assert (np.diff(found.curve.threshold) > 0).all()
    assert found.curve.threshold[0] == -np.inf
    assert found.curve.threshold[-1] == np.inf


def test_cut_is_a_midpoint_and_nearest_to_the_own_cut():
    score = np.array([-3.0, -1.0, 1.0, 2.0])
    codes = np.array([0, 0, 1, 1])
    unit, errors = np.ones(4), 1.0 - np.eye(2)
    assert find_cut_point(score, codes, unit, errors, 0.4).threshold == 0.0
    alike = np.array([0, 1, 0, 1])  # cuts -2 and 1.5 both make one error
    assert find_cut_point(score, alike, unit, errors, -1.7).threshold == -2.0
    assert find_cut_point(score, alike, unit, errors, 1.7).threshold == 1.5


def test_infinite_scores_and_neighbouring_numbers():
    unit, errors = np.ones(4), 1.0 - np.eye(2)
    score = np.array([-np.inf, -np.inf, 3.0, np.inf])
    for codes in ([0, 0, 1, 1], [0, 0, 0, 1], [1, 1, 1, 1], [0, 0, 0, 0]):
        found = find_cut_point(score, np.array(codes), unit, errors, 0.0)
        taken = (np.array(codes) != (score >= found.threshold)).mean()
        assert taken == found.cost
        if codes != [0, 0, 0, 0]:  # +inf >= +inf: that row is decided 1 by every cut
            assert found.cost == 0
    a = 1.0
    b = np.nextafter(a, 2.0)
    found = find_cut_point(np.array([a, b]), np.array([0, 1]), np.ones(2), errors, 0.0)
    assert (found.threshold, found.cost) == (b, 0.0)


def test_everybody_or_nobody():
    X = np.arange(6.0)[:, None]
    y = np.array([1, 0, 0, 0, 0, 0])
    model = CutPointClassifier(Given(), loss_matrix=[[0, 1], [100, 0]]).fit(X, y)
    assert model.threshold_ == -np.inf
    assert (model.predict(X) == 1).all()
    model = CutPointClassifier(Given()).fit(X, y)
    assert model.threshold_ == np.inf
    assert (model.predict(X) == 0).all()
    assert (model.decision_function(X) == -np.inf).all()


def test_costs_after_lda():
    """The course's tuning: the score of LDA stays, only its cut moves."""
    rng = np.random.default_rng(1)
    y = (rng.random(400) < 0.3).astype(int)
    X = rng.normal(size=(400, 2)) + 1.2 * y[:, None] * np.array([1, 3 * rng.random()])
    L = np.array([[0.0, 1.0], [8.0, 0.0]])
    plain = LinearDiscriminantAnalysis().fit(X, y)
    model = CutPointClassifier(LinearDiscriminantAnalysis(), loss_matrix=L).fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(X) + model.threshold_, plain.decision_function(X)
    )
    cost = L[y, model.predict(X)].mean()
    assert cost == pytest.approx(model.training_cost_)
    assert model.untuned_cost_ == pytest.approx(L[y, plain.predict(X)].mean())
    assert cost < model.untuned_cost_
    assert model.threshold_ < 0
    assert model.training_cost_ == pytest.approx(model.curve_.cost.min())


def test_labels_weights_and_sparse():
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(80, 3)))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=80) > 0.7, "yes", "no")
    w = rng.integers(0, 3, size=80)
    a = CutPointClassifier(TheirLogistic(tol=1e-10)).fit(X, y, sample_weight=w)
    b = CutPointClassifier(TheirLogistic(tol=1e-10)).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert a.threshold_ == pytest.approx(b.threshold_, rel=1e-5, abs=1e-7)
    sparse = CutPointClassifier(TheirLogistic(tol=1e-10)).fit(csr_array(X), y, sample_weight=w)
    np.testing.assert_array_equal(sparse.predict(csr_array(X)), a.predict(X))


def test_refusals():
    X, y = np.arange(6.0)[:, None], [0, 0, 1, 1, 2, 2]
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        CutPointClassifier(GaussianNB()).fit(X, y)
    with pytest.raises(ValueError, match=r"shape \(2, 2\)"):
        CutPointClassifier(GaussianNB(), loss_matrix=[[0, 1, 2], [1, 0, 2]]).fit(X, [0, 1] * 3)
    with pytest.raises(ValueError, match="predict_proba"):
        CutPointClassifier(BaseEstimatorWithFit()).fit(X, [0, 1] * 3)


class BaseEstimatorWithFit(BaseEstimator):
    def fit(self, X, y):
        return self
