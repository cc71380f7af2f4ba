"""Voting: scikit-learn's answers, ties, weights, the median, agreement."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import VotingClassifier as PeerClassifier
from sklearn.ensemble import VotingRegressor as PeerRegressor

from pellucid import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GaussianNB,
    KNeighborsClassifier,
    LinearRegression,
    LogisticRegression,
    Ridge,
    VotingClassifier,
    VotingRegressor,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 3))
score = X[:, 0] ** 2 + X[:, 1] + 0.5 * rng.normal(size=150)
y = np.array(["ant", "bee", "cat"])[np.digitize(score, [0.3, 1.3])]


def classifiers():
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    return [("bayes", GaussianNB()), ("tree", tree), ("line", LogisticRegression())]


def regressors():
    tree = DecisionTreeRegressor(max_depth=2, random_state=0)
    return [("line", LinearRegression()), ("tree", tree), ("ridge", Ridge(100.0))]


@pytest.mark.parametrize("voting", ["hard", "soft"])
@pytest.mark.parametrize("weights", [None, [1, 2, 4]])
def test_classes_as_in_scikit_learn(voting, weights):
    ours = VotingClassifier(classifiers(), voting=voting, weights=weights).fit(X, y)
    theirs = PeerClassifier(classifiers(), voting=voting, weights=weights).fit(X, y)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert_allclose(ours.transform(X), theirs.transform(X))
    assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    assert_array_equal(ours.le_.classes_, theirs.le_.classes_)
    if voting == "soft":
        assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))
        cube = VotingClassifier(classifiers(), voting="soft", flatten_transform=False).fit(X, y)
        assert cube.transform(X).shape == (3, 150, 3)
        with pytest.raises(ValueError, match="flatten_transform"):
            cube.get_feature_names_out()
    else:
        assert not hasattr(ours, "predict_proba")


@pytest.mark.parametrize("weights", [None, [1, 2, 4]])
def test_numbers_as_in_scikit_learn(weights):
    w = rng.uniform(0.5, 2, size=150)
    ours = VotingRegressor(regressors(), weights=weights).fit(X, score, w)
    theirs = PeerRegressor(regressors(), weights=weights).fit(X, score, sample_weight=w)
    assert_allclose(ours.predict(X), theirs.predict(X))
    assert_allclose(ours.transform(X), theirs.transform(X))
    assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())


def test_a_tie_goes_to_the_lowest_label():
    apart = [("a", DecisionTreeClassifier(max_depth=1)), ("b", KNeighborsClassifier(1))]
    model = VotingClassifier(apart).fit(X, y)
    said = np.stack([m.predict(X) for m in model.estimators_])
    split = said[0] != said[1]
    assert split.any()
    assert_array_equal(model.predict(X)[split], model.classes_[said[:, split].min(axis=0)])
    assert_array_equal(model.agreement(X), np.where(split, 0.5, 1.0))


def test_agreement_is_the_share_behind_the_winner():
    for voting in ("hard", "soft"):
        model = VotingClassifier(classifiers(), voting=voting, weights=[1, 1, 2]).fit(X, y)
        said = np.stack([model.classes_[m.predict(X)] for m in model.estimators_])
        expected = np.average(said == model.predict(X), axis=0, weights=[1, 1, 2])
        assert_allclose(model.agreement(X), expected)


def test_median_of_the_members():
    model = VotingRegressor(regressors(), combine="median").fit(X, score)
    found = model.transform(X)
    assert_array_equal(model.predict(X), np.median(found, axis=1))
    two = VotingRegressor(regressors()[:2], combine="median").fit(X, score)
    assert_allclose(two.predict(X), two.transform(X).mean(axis=1))
    heavy = VotingRegressor(regressors(), combine="median", weights=[1, 1, 5]).fit(X, score)
    assert_array_equal(heavy.predict(X), heavy.transform(X)[:, 2])
    whole = VotingRegressor(regressors(), combine="median", weights=[1, 2, 1]).fit(X, score)
    repeated = np.median(np.repeat(whole.transform(X), [1, 2, 1], axis=1), axis=1)
    assert_allclose(whole.predict(X), repeated)


def test_dropped_members_and_their_weights():
    model = VotingClassifier(classifiers(), weights=[1, 5, 1]).set_params(tree="drop").fit(X, y)
    assert len(model.estimators_) == 2
    assert model.named_estimators_["tree"] == "drop"
    two = VotingClassifier([classifiers()[0], classifiers()[2]]).fit(X, y)
    assert_array_equal(model.predict(X), two.predict(X))


def test_bad_committees_are_refused():
    with pytest.raises(ValueError, match="weights must be equal"):
        VotingClassifier(classifiers(), weights=[1, 2]).fit(X, y)
    with pytest.raises(ValueError, match=">= 0"):
        VotingClassifier(classifiers(), weights=[1, 2, -1]).fit(X, y)
    with pytest.raises(ValueError, match="positive for at least one"):
        VotingRegressor(regressors(), weights=[0, 0, 0]).fit(X, score)
    with pytest.raises(ValueError, match="should be a classifier"):
        VotingClassifier([("line", Ridge())]).fit(X, y)
    with pytest.raises(ValueError, match="list of"):
        VotingClassifier([GaussianNB()]).fit(X, y)
    with pytest.raises(NotImplementedError, match="multilabel"):
        VotingClassifier(classifiers()).fit(X, np.ones((150, 2), int))
    with pytest.raises(TypeError, match="does not support sample weights"):
        VotingClassifier([("k", KNeighborsClassifier())]).fit(X, y, np.ones(150))


def test_frames_reach_the_members():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = VotingClassifier(classifiers(), n_jobs=2).fit(frame, y)
    assert list(model.estimators_[0].feature_names_in_) == ["a", "b", "c"]
    assert_array_equal(model.predict(frame), VotingClassifier(classifiers()).fit(X, y).predict(X))


def test_metadata_routing():
    w = rng.integers(1, 4, size=150).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        bayes = GaussianNB().set_fit_request(sample_weight=True)
        tree = DecisionTreeClassifier(max_depth=2).set_fit_request(sample_weight=False)
        model = VotingClassifier([("b", bayes), ("t", tree)]).fit(X, y, sample_weight=w)
    codes = np.unique(y, return_inverse=True)[1]
    assert_allclose(model.estimators_[0].theta_, GaussianNB().fit(X, codes, w).theta_)
    plain = DecisionTreeClassifier(max_depth=2).fit(X, codes)
    assert_array_equal(model.estimators_[1].predict_proba(X), plain.predict_proba(X))


def test_a_majority_is_better_than_its_members():
    """Independent members of accuracy 0.7: the binomial tail of part ENS-01."""
    from pellucid.ensemble import majority_accuracy

    n, M = 4000, 11
    truth = rng.integers(2, size=n)
    Z = np.where(rng.uniform(size=(n, M)) < 0.7, truth[:, None], 1 - truth[:, None]).astype(float)
    stumps = [(f"s{j}", OneColumn(j)) for j in range(M)]
    model = VotingClassifier(stumps).fit(Z, truth)
    assert abs(model.score(Z, truth) - majority_accuracy(0.7, M)) < 0.02


class OneColumn(GaussianNB):
    """Says what one column says."""

    def __init__(self, column=0):
        super().__init__()
        self.column = column

    def predict(self, X):
        return np.asarray(X)[:, self.column].astype(int)
