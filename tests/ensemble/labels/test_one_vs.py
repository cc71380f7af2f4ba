"""One class against the rest, every pair, one reference: scikit-learn, counting, brute force."""

import itertools

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy.sparse import csr_array
from sklearn import config_context, multiclass
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LinearRegression, SGDClassifier
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.naive_bayes import GaussianNB as TheirNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from pellucid import (
    CountVectorizer,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    LossMatrixClassifier,
    MultinomialNB,
    OneVsOneClassifier,
    OneVsReferenceClassifier,
    OneVsRestClassifier,
)
from pellucid.ensemble.labels.one_vs_one import count_votes


def table(n=300, K=4, p=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(K, size=n)
    return rng.normal(size=(n, p)) + 1.5 * rng.normal(size=(K, p))[y], y


INNER = [
    LinearDiscriminantAnalysis(),
    TheirLogistic(),
    GaussianNB(),
    TheirNB(),
    SVC(),
    make_pipeline(TheirNB()),
]
PAIRS = [
    (OneVsRestClassifier, multiclass.OneVsRestClassifier),
    (OneVsOneClassifier, multiclass.OneVsOneClassifier),
]


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
@pytest.mark.parametrize("K", [2, 4])
def test_equals_scikit_learn(inner, ours, theirs, K):
    X, y = table(K=K)
    a, b = ours(inner).fit(X, y), theirs(inner).fit(X, y)
    assert len(a.estimators_) == len(b.estimators_) == a.n_classifiers_
    by_probability = not hasattr(a.estimators_[0], "decision_function")
    if ours is OneVsOneClassifier and by_probability:  # their confidence is not centred
        unique = np.sort(a.votes(X), axis=1)
        clear = unique[:, -1] > unique[:, -2]
        np.testing.assert_array_equal(a.predict(X)[clear], b.predict(X)[clear])
    else:
        np.testing.assert_array_equal(a.predict(X), b.predict(X))
    if hasattr(b, "decision_function") and not by_probability:
        np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), rtol=1e-12)
    if hasattr(b, "predict_proba"):
        np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-10)


def test_example_18_four_classes_are_six_fits():
    X, y = table()
    model = OneVsOneClassifier(GaussianNB()).fit(X, y)
    assert model.n_classifiers_ == len(model.estimators_) == 6
    assert OneVsRestClassifier(GaussianNB()).fit(X, y).n_classifiers_ == 4
    assert OneVsReferenceClassifier(GaussianNB()).fit(X, y).n_classifiers_ == 3
    assert model.votes(X).sum(axis=1) == pytest.approx(6)
    assert "6 independent fits" in str(model.card())


def test_votes_by_hand():
    X, y = table()
    model = OneVsOneClassifier(TheirNB()).fit(X, y)
    votes = np.zeros((len(X), 4))
    for est, (i, j) in zip(model.estimators_, itertools.combinations(range(4), 2), strict=True):
        rows = np.flatnonzero((y == i) | (y == j))
        again = TheirNB().fit(X[rows], y[rows] == j)
        np.testing.assert_array_equal(again.predict(X), est.predict(X) == 1)
        votes[np.arange(len(X)), np.where(est.predict(X) == 1, j, i)] += 1
    np.testing.assert_array_equal(model.votes(X), votes)
    best = votes == votes.max(axis=1, keepdims=True)
    assert best[np.arange(len(X)), model.predict(X)].all()


def test_equal_votes_go_to_the_summed_confidence():
    wins = np.array([[True, False, True]])  # 1 beats 0, 0 beats 2, 2 beats 1
    votes, confidence = count_votes(wins, np.array([[0.1, -3.0, 0.2]]), 3)
    np.testing.assert_array_equal(votes, [[1, 1, 1]])
    np.testing.assert_allclose(confidence, [[2.9, -0.1, -2.8]])


def test_a_vote_is_the_estimators_own_decision():
    """An inner classifier with its own rule is asked for its prediction, not its score."""
    X, y = table(K=3)
    inner = LossMatrixClassifier(GaussianNB(), [[0, 1], [9, 0]])
    model = OneVsOneClassifier(inner).fit(X, y)
    for k, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        rows = np.flatnonzero((y == i) | (y == j))
        by_hand = inner.fit(X[rows], (y[rows] == j).astype(int)).predict(X)
        np.testing.assert_array_equal(model.estimators_[k].predict(X), by_hand)
    wins = [model.estimators_[k].predict(X) for k in (1, 2)]
    np.testing.assert_array_equal(model.votes(X)[:, 2], wins[0] + wins[1])
    plain = OneVsOneClassifier(GaussianNB()).fit(X, y).votes(X)
    assert model.votes(X)[:, 2].sum() > plain[:, 2].sum()


def test_multilabel_as_scikit_learn():
    X, Y = make_multilabel_classification(n_samples=150, n_classes=4, random_state=0)
    ours = OneVsRestClassifier(TheirLogistic(max_iter=1000)).fit(X, Y)
    theirs = multiclass.OneVsRestClassifier(TheirLogistic(max_iter=1000)).fit(X, Y)
    assert ours.multilabel_
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))
    sparse = OneVsRestClassifier(TheirLogistic(max_iter=1000)).fit(X, csr_array(Y)).predict(X)
    np.testing.assert_array_equal(sparse.toarray(), theirs.predict(X))


def test_a_label_that_never_varies_is_predicted_always_with_a_warning():
    X, Y = make_multilabel_classification(n_samples=60, n_classes=3, random_state=0)
    Y[:, 0], Y[:, 2] = 1, 0
    with (
        pytest.warns(UserWarning, match="Label 0 is present in all"),
        pytest.warns(UserWarning, match="Label not 2 is present"),
    ):
        model = OneVsRestClassifier(LogisticRegression()).fit(X, Y)
    assert (model.predict(X)[:, 0] == 1).all()
    assert (model.predict(X)[:, 2] == 0).all()
    assert (model.predict_proba(X)[:, 0] == 1).all()


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_partial_fit_equals_scikit_learn(ours, theirs):
    X, y = table(200, 3)
    a, b = ours(SGDClassifier(random_state=0)), theirs(SGDClassifier(random_state=0))
    for part in (slice(0, 90), slice(90, 200)):
        a.partial_fit(X[part], y[part], classes=np.arange(3))
        b.partial_fit(X[part], y[part], classes=np.arange(3))
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    exact = ours(GaussianNB()).partial_fit(X[:90], y[:90], classes=[0, 1, 2])
    exact.partial_fit(X[90:], y[90:])
    np.testing.assert_array_equal(exact.predict(X), ours(GaussianNB()).fit(X, y).predict(X))
    with pytest.raises(ValueError, match=r"contains \[7\]"):
        exact.partial_fit(X[:2], [7, 7])


def test_regressors_and_gram_matrices():
    X, y = table(120, 3)
    ours = OneVsRestClassifier(LinearRegression()).fit(X, y).predict(X)
    theirs = multiclass.OneVsRestClassifier(LinearRegression()).fit(X, y).predict(X)
    np.testing.assert_array_equal(ours, theirs)
    pairs = OneVsOneClassifier(LinearRegression()).fit(X, y)
    assert pairs.score(X, y) > 0.6
    K = X @ X.T
    a = OneVsOneClassifier(SVC(kernel="precomputed")).fit(K, y)
    b = multiclass.OneVsOneClassifier(SVC(kernel="precomputed")).fit(K, y)
    np.testing.assert_array_equal(a.predict(K), b.predict(K))
    for own, other in zip(a.pairwise_indices_, b.pairwise_indices_, strict=True):
        np.testing.assert_array_equal(own, other)


@pytest.mark.parametrize("cls", [OneVsRestClassifier, OneVsOneClassifier, OneVsReferenceClassifier])
def test_tables_of_every_kind_reach_the_inner_estimator(cls):
    X, y = table(120, 3)
    plain = cls(GaussianNB()).fit(X, y).predict(X)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = cls(GaussianNB()).fit(frame, y)
    assert list(model.estimators_[0].feature_names_in_) == ["a", "b", "c"]
    np.testing.assert_array_equal(model.predict(frame), plain)
    counts = np.abs(np.round(X))
    dense = cls(MultinomialNB()).fit(counts, y).predict(counts)
    sparse = cls(MultinomialNB()).fit(csr_array(counts), y).predict(csr_array(counts))
    np.testing.assert_array_equal(dense, sparse)
    words = np.array(["red", "green", "blue"])
    texts = [" ".join(np.repeat(words, row.astype(int) + 1)) for row in counts]
    text_model = cls(make_pipeline(CountVectorizer(), MultinomialNB())).fit(texts, y)
    assert text_model.score(texts, y) > 0.5


@pytest.mark.parametrize("cls", [OneVsRestClassifier, OneVsOneClassifier, OneVsReferenceClassifier])
def test_jobs_do_not_change_the_model(cls):
    X, y = table(150, 4)
    one = cls(LinearDiscriminantAnalysis()).fit(X, y)
    with parallel_config(backend="threading"):  # processes take seconds to start
        two = cls(LinearDiscriminantAnalysis(), n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


def test_weights_are_routed_as_requested():
    X, y = table(100, 3)
    w = np.random.default_rng(0).integers(0, 3, size=100)
    plain = OneVsOneClassifier(GaussianNB()).fit(X, y, sample_weight=w)
    with config_context(enable_metadata_routing=True):
        inner = GaussianNB().set_fit_request(sample_weight=True)
        routed = OneVsOneClassifier(inner).fit(X, y, sample_weight=w)
        with pytest.raises(ValueError, match="sample_weight"):
            OneVsOneClassifier(GaussianNB()).fit(X, y, sample_weight=w)
    np.testing.assert_array_equal(plain.decision_function(X), routed.decision_function(X))
    with pytest.raises(ValueError, match="routing"):
        OneVsOneClassifier(GaussianNB()).fit(X, y, colour="red")


def test_reference_is_the_softmax_of_pairwise_logits():
    X, y = table()
    for reference in (None, 0, 2):
        model = OneVsReferenceClassifier(LogisticRegression(tol=1e-10), reference=reference)
        model.fit(X, y)
        pivot = 3 if reference is None else reference
        Z = np.zeros((len(X), 4))
        for k in range(4):
            if k != pivot:
                rows = (y == k) | (y == pivot)
                inner = LogisticRegression(tol=1e-10).fit(X[rows], (y[rows] == k).astype(int))
                Z[:, k] = X @ inner.coef_[0] + inner.intercept_[0]
        np.testing.assert_allclose(model.decision_function(X), Z, rtol=1e-7, atol=1e-7)
        P = np.exp(Z) / np.exp(Z).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.predict_proba(X), P, rtol=1e-6, atol=1e-9)
        np.testing.assert_array_equal(model.predict(X), Z.argmax(axis=1))
    with pytest.raises(ValueError, match=r"reference must be one of"):
        OneVsReferenceClassifier(GaussianNB(), reference="z").fit(X, y)


def test_reference_recovers_the_softmax_model():
    """On data of a softmax model the separate logits agree with the joint fit."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20_000, 2))
    Z = X @ np.array([[1.0, -1.0, 0.0], [0.5, 1.0, 0.0]]) + np.array([0.3, -0.2, 0.0])
    y = (Z + rng.gumbel(size=Z.shape)).argmax(axis=1)
    model = OneVsReferenceClassifier(LogisticRegression(C=np.inf)).fit(X, y)
    np.testing.assert_allclose(model.estimators_[0].coef_[0], [1.0, 0.5], atol=0.08)
    np.testing.assert_allclose(model.estimators_[1].coef_[0], [-1.0, 1.0], atol=0.08)


@pytest.mark.parametrize("cls", [OneVsRestClassifier, OneVsOneClassifier, OneVsReferenceClassifier])
def test_one_class_is_refused(cls):
    with pytest.raises(ValueError, match="at least 2 classes"):
        cls(GaussianNB()).fit([[0.0], [1.0]], ["a", "a"])
    with pytest.raises(ValueError, match="needs the method fit"):
        cls("GaussianNB").fit([[0.0], [1.0]], ["a", "b"])


def test_rows_sum_to_one_even_where_every_class_says_no():
    class Never(GaussianNB):
        def predict_proba(self, X):
            return np.tile([1.0, 0.0], (len(X), 1))

    X, y = table(60, 3)
    np.testing.assert_allclose(OneVsRestClassifier(Never()).fit(X, y).predict_proba(X), 1 / 3)
