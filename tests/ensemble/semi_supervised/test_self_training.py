"""Self-training against scikit-learn, by hand, and its history."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.naive_bayes import GaussianNB as PeerNB
from sklearn.semi_supervised import SelfTrainingClassifier as Peer

from pellucid import GaussianNB, LogisticRegression, Perceptron, SelfTrainingClassifier
from pellucid.ensemble.semi_supervised.self_training import sure_rows

rng = np.random.default_rng(0)
group = rng.integers(3, size=300)
X = rng.normal(size=(300, 4)) + 1.5 * np.eye(3, 4)[group]
y = np.where(rng.random(300) < 0.9, -1, group)

SETTINGS = [
    {},
    {"criterion": "k_best"},
    {"criterion": "k_best", "k_best": 40, "max_iter": None},
    {"threshold": 0.95, "max_iter": 3},
    {"threshold": 0.0, "max_iter": None},
    {"max_iter": 0},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_scikit_learn_labels_the_same_rows_in_the_same_rounds(settings):
    ours = SelfTrainingClassifier(GaussianNB(), **settings).fit(X, y)
    theirs = Peer(PeerNB(), **settings).fit(X, y)
    assert_array_equal(ours.transduction_, theirs.transduction_)
    assert_array_equal(ours.labeled_iter_, theirs.labeled_iter_)
    assert ours.termination_condition_ == theirs.termination_condition_
    assert ours.n_iter_ == max(theirs.n_iter_, 1)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)


def test_history_says_who_was_labelled_when():
    model = SelfTrainingClassifier(GaussianNB()).fit(X, y)
    left = model.history_["objective"]
    assert left[0] == (y == -1).sum()
    assert_array_equal(-np.diff(left), model.history_["labelled"][1:])
    for row in model.history_[1:]:
        assert_array_equal(row["rows"], np.flatnonzero(model.labeled_iter_ == row["step"]))
    assert left[-1] == (model.labeled_iter_ == -1).sum() == (model.transduction_ == -1).sum()


def test_rounds_by_hand():
    """The last fit is the classifier on the labels of the transduction."""
    model = SelfTrainingClassifier(LogisticRegression(), max_iter=2).fit(X, y)
    labels = y.copy()
    for _ in range(2):
        known = labels != -1
        inner = LogisticRegression().fit(X[known], labels[known])
        P = inner.predict_proba(X[~known])
        sure = P.max(axis=1) > 0.75
        labels[np.flatnonzero(~known)[sure]] = inner.classes_[P[sure].argmax(axis=1)]
    assert_array_equal(model.transduction_, labels)
    last = LogisticRegression().fit(X[labels != -1], labels[labels != -1])
    assert_array_equal(model.decision_function(X), last.decision_function(X))
    assert_array_equal(model.predict_log_proba(X), last.predict_log_proba(X))


def test_unlabelled_rows_help():
    """Twenty labels say little of ten variances; the clouds without labels say the rest."""
    gains = []
    for seed in range(5):
        own = np.random.default_rng(seed)
        side = np.arange(400) % 2
        Z = own.normal(size=(400, 10)) + 1.2 * side[:, None]
        few = np.where(np.arange(400) < 20, side, -1)
        alone = GaussianNB().fit(Z[:20], side[:20]).score(Z, side)
        taught = SelfTrainingClassifier(GaussianNB(), max_iter=None).fit(Z, few)
        gains.append(taught.score(Z, side) - alone)
        assert taught.score(Z, side) > 0.9
    assert np.mean(gains) > 0.02


@pytest.mark.parametrize("kind", ["objects", "none", "text"])
def test_labels_that_are_text(kind):
    names = np.array(["ant", "bee", "cat"])[group]
    labels = np.where(y == -1, "-1", names)
    if kind != "text":
        labels = labels.astype(object)
        labels[y == -1] = -1 if kind == "objects" else None
    model = SelfTrainingClassifier(GaussianNB()).fit(X, labels)
    plain = SelfTrainingClassifier(GaussianNB()).fit(X, y)
    assert_array_equal(model.labeled_iter_, plain.labeled_iter_)
    assert model.classes_.tolist() == ["ant", "bee", "cat"]
    assert_array_equal(model.predict(X), np.array(["ant", "bee", "cat"])[plain.predict(X)])


def test_ties_and_the_number_of_rows():
    P = np.array([[0.5, 0.5], [0.9, 0.1], [0.1, 0.9], [0.9, 0.1]])
    assert sure_rows(P, "k_best", 0.5, 2).tolist() == [1, 2]
    assert sure_rows(P, "k_best", 0.5, 9).tolist() == [0, 1, 2, 3]
    assert sure_rows(P, "threshold", 0.9, 1).tolist() == []


def test_weights_of_zero_are_rows_that_are_not_there():
    w = rng.integers(0, 3, size=300)
    model = SelfTrainingClassifier(GaussianNB()).fit(X, y, sample_weight=w)
    again = SelfTrainingClassifier(GaussianNB()).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_array_equal(np.repeat(model.labeled_iter_, w), again.labeled_iter_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (model.labeled_iter_[(w == 0) & (y == -1)] == -1).all()


def test_bad_input_is_one_sentence():
    with pytest.raises(ValueError, match="no labelled row"):
        SelfTrainingClassifier().fit(X, np.full(300, -1))
    with pytest.raises(ValueError, match="one class only"):
        SelfTrainingClassifier().fit(X, np.where(y == 1, 1, -1))
    with pytest.raises(ValueError, match=r"threshold must be in \[0, 1\)"):
        SelfTrainingClassifier(threshold=1.0).fit(X, y)
    with pytest.raises(AttributeError, match="predict_proba"):
        SelfTrainingClassifier(Perceptron()).fit(X, y)
    with pytest.warns(UserWarning, match="no unlabeled samples"):
        model = SelfTrainingClassifier(GaussianNB()).fit(X, group)
    assert model.termination_condition_ == "all_labeled"
    with pytest.warns(UserWarning, match="k_best=999"):
        SelfTrainingClassifier(GaussianNB(), criterion="k_best", k_best=999).fit(X, y)


class Loud(GaussianNB):
    """Says what it was told with a question."""

    def predict(self, X, colour=None):
        self.told_ = colour
        return super().predict(X)


def test_answers_are_asked_with_what_the_classifier_requests():
    X, y = np.arange(8.0)[:, None], [0, 0, -1, -1, -1, -1, 1, 1]
    model = SelfTrainingClassifier(Loud()).fit(X, y)
    with pytest.raises(ValueError, match="colour"):
        model.predict(X, colour="red")
    with sklearn.config_context(enable_metadata_routing=True):
        base = Loud().set_predict_request(colour=True).set_score_request(sample_weight=True)
        model = SelfTrainingClassifier(base).fit(X, y)
        said = model.predict(X, colour="red")
        assert model.estimator_.told_ == "red"
        weights = np.arange(8.0)
        share = np.average(said == np.abs(y), weights=weights)
        assert model.score(X, np.abs(y), sample_weight=weights) == pytest.approx(share)


@pytest.mark.parametrize("mark", [np.nan, pd.NA])
def test_a_mark_that_is_no_label_is_refused_by_its_row_among_all(mark):
    labels = np.where(y < 0, None, y.astype(object))
    labels[7] = mark
    with pytest.raises(ValueError, match="NaN or None in row 7"):
        SelfTrainingClassifier(GaussianNB()).fit(X, labels)
