"""Bagging: any estimator, lists, feature subsets, out-of-bag by hand, the fast path."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

from pellucid import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GaussianNB,
    KNeighborsClassifier,
    Ridge,
)
from pellucid.ensemble import Bootstrap, Disjoint

rng = np.random.default_rng(3)
X = rng.normal(size=(200, 5))
Y = np.array(["lo", "mid", "up"])[np.digitize(X[:, 0] + X[:, 1], [-0.7, 0.7])]
Z = X @ np.array([1.0, 2.0, 0, 0, -1.0]) + 0.2 * rng.normal(size=200)


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_joined_answers_by_hand(voting):
    model = BaggingClassifier(GaussianNB(), 7, voting=voting, max_features=0.6, random_state=0)
    model.fit(X, Y)
    parts = zip(model.estimators_, model.estimators_features_, strict=True)
    if voting == "soft":
        expected = np.mean([m.predict_proba(X[:, f]) for m, f in parts], axis=0)
    else:
        answers = np.array([m.predict(X[:, f]) for m, f in parts])
        expected = np.stack([(answers == c).mean(axis=0) for c in model.classes_], axis=1)
    assert_allclose(model.predict_proba(X), expected)
    assert_array_equal(model.predict(X), model.classes_[expected.argmax(axis=1)])


@pytest.mark.parametrize(
    "base", [None, GaussianNB(), KNeighborsClassifier(3), LogisticRegression()], ids=str
)
def test_members_are_fits_to_their_rows(base):
    """Weights or repeated rows: the same member."""
    model = BaggingClassifier(base, 4, random_state=0).fit(X, Y)
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        alone = type(member)(**member.get_params()).fit(X[rows], Y[rows])
        assert_allclose(member.predict_proba(X), alone.predict_proba(X), atol=2e-3)


def test_regression_members_are_fits_to_their_rows():
    for base in (DecisionTreeRegressor(min_samples_leaf=1), Ridge(0.1)):
        model = BaggingRegressor(base, 4, random_state=0).fit(X, Z)
        for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
            alone = type(base)(**base.get_params()).fit(X[rows], Z[rows])
            assert_allclose(member.predict(X), alone.predict(X), atol=1e-9)


def test_out_of_bag_by_hand():
    model = BaggingClassifier(GaussianNB(), 20, random_state=0).fit(X, Y)
    total, votes = np.zeros((200, 3)), np.zeros(200)
    for b, (member, rows) in enumerate(
        zip(model.estimators_, model.estimators_samples_, strict=True)
    ):
        out = np.setdiff1d(np.arange(200), rows)
        assert model.oob_member_scores_[b] == pytest.approx(member.score(X[out], Y[out]))
        total[out] += member.predict_proba(X[out])
        votes[out] += 1
    seen = votes > 0
    assert_allclose(model.oob_decision_function_[seen], total[seen] / votes[seen, None])
    answer = model.classes_[total[seen].argmax(axis=1)]
    assert model.oob_score_ == pytest.approx((answer == Y[seen]).mean())


@pytest.mark.parametrize("combine", ["mean", "median"])
def test_out_of_bag_numbers_by_hand(combine):
    model = BaggingRegressor(Ridge(), 15, combine=combine, random_state=0).fit(X, Z)
    answers = np.full((15, 200), np.nan)
    for b, (member, rows) in enumerate(
        zip(model.estimators_, model.estimators_samples_, strict=True)
    ):
        out = np.setdiff1d(np.arange(200), rows)
        answers[b, out] = member.predict(X[out])
    seen = ~np.isnan(answers).all(axis=0)
    join = np.nanmean if combine == "mean" else np.nanmedian
    assert_allclose(model.oob_prediction_[seen], join(answers[:, seen], axis=0))
    each = np.array([member.predict(X) for member in model.estimators_])
    whole = each.mean(axis=0) if combine == "mean" else np.median(each, axis=0)
    assert_allclose(model.predict(X), whole)


def test_a_list_is_used_in_turn():
    bases = [DecisionTreeClassifier(criterion="entropy"), GaussianNB(), DecisionTreeClassifier()]
    model = BaggingClassifier(bases, 7, random_state=0).fit(X, Y)
    kinds = [type(member).__name__ for member in model.estimators_]
    assert kinds == [type(bases[b % 3]).__name__ for b in range(7)]
    assert model.estimators_[0].criterion == "entropy"
    with pytest.raises(ValueError, match="at least one"):
        BaggingClassifier([]).fit(X, Y)
    with pytest.raises(ValueError, match="needs the method fit"):
        BaggingClassifier([3]).fit(X, Y)


def test_hidden_features():
    model = BaggingClassifier(max_features=2, n_estimators=30, random_state=0).fit(X, Y)
    assert {len(f) for f in model.estimators_features_} == {2}
    assert set(np.concatenate(model.estimators_features_).tolist()) == set(range(5))
    twice = BaggingClassifier(
        max_features=1.0, bootstrap_features=True, n_estimators=30, random_state=0
    ).fit(X, Y)
    assert max(np.bincount(f).max() for f in twice.estimators_features_) > 1
    with pytest.raises(ValueError, match="max_features"):
        BaggingClassifier(max_features=6).fit(X, Y)


def test_samplings():
    parts = BaggingClassifier(GaussianNB(), 5, sampling=Disjoint(), random_state=0).fit(X, Y)
    assert sorted(np.concatenate(parts.estimators_samples_).tolist()) == list(range(200))
    everything = BaggingClassifier(GaussianNB(), 2, sampling=None).fit(X, Y)
    assert np.isnan(everything.oob_score_)
    under = BaggingClassifier(GaussianNB(), 5, sampling=Bootstrap(balance="under"), random_state=0)
    for rows in under.fit(X, Y).estimators_samples_:
        assert len(np.unique(np.unique(Y[rows], return_counts=True)[1])) == 1
    weighted = Bootstrap(class_weight="balanced")
    BaggingClassifier(GaussianNB(), 3, sampling=weighted, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="takes no sample weights"):
        BaggingClassifier(KNeighborsClassifier(), 3, sampling=weighted).fit(X, Y)
    half = BaggingRegressor(Ridge(), 3, max_samples=0.5, bootstrap=False, random_state=0).fit(X, Z)
    assert [len(set(rows.tolist())) for rows in half.estimators_samples_] == [100] * 3


def test_a_bag_of_one_class_answers_it():
    y = np.zeros(60, int)
    y[0] = 1
    model = BaggingClassifier(LogisticRegression(), 12, random_state=0).fit(X[:60], y)
    assert model.predict_proba(X[:60]).shape == (60, 2)


def test_warm_start():
    grown = BaggingClassifier(GaussianNB(), 3, warm_start=True, random_state=0).fit(X, Y)
    grown.set_params(n_estimators=8).fit(X, Y)
    whole = BaggingClassifier(GaussianNB(), 8, random_state=0).fit(X, Y)
    assert_allclose(grown.predict_proba(X), whole.predict_proba(X))
    with pytest.raises(ValueError, match="n_estimators=2"):
        grown.set_params(n_estimators=2).fit(X, Y)


def test_bagging_helps_an_unstable_learner():
    A = rng.normal(size=(600, 6))
    a = (A[:, 0] * A[:, 1] > 0).astype(int)
    one = DecisionTreeClassifier(random_state=0).fit(A[:300], a[:300]).score(A[300:], a[300:])
    many = BaggingClassifier(n_estimators=60, random_state=0).fit(A[:300], a[:300])
    assert many.score(A[300:], a[300:]) > one + 0.02
    assert many.oob_score_ > np.nanmean(many.oob_member_scores_) + 0.02


@pytest.mark.parametrize(
    ("params", "word"),
    [({"voting": "loud"}, "voting"), ({"n_estimators": 0}, "n_estimators"),
     ({"oob_score": True, "bootstrap": False}, "bootstrap=True"), ({"sampling": "x"}, "sampling")],
)  # fmt: skip
def test_bad_parameters(params, word):
    with pytest.raises(ValueError, match=word):
        BaggingClassifier(**params).fit(X, Y)


def test_a_warm_start_without_new_members_is_said():
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    model = BaggingClassifier(n_estimators=2, warm_start=True, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="without increasing n_estimators does not fit new"):
        model.fit(X, y)
