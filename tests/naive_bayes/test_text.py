"""TextNB: the catalogue's example 17, scikit-learn's pipeline, growing vocabularies."""

import numpy as np
import pytest
import sklearn.naive_bayes as peers
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from pellucid.naive_bayes import TextNB

SPAM = ["buy cheap buy", "cheap now", "meet now"]
LABELS = ["spam", "spam", "ham"]
PEERS = {
    "multinomial": peers.MultinomialNB,
    "bernoulli": peers.BernoulliNB,
    "complement": peers.ComplementNB,
}
every = pytest.mark.parametrize("model", list(PEERS))


def corpus(n=200, seed=0):
    rng = np.random.default_rng(seed)
    words = np.array([f"word{i}" for i in range(60)])
    y = rng.integers(3, size=n)
    shares = rng.dirichlet(np.full(60, 0.3), size=3)
    texts = [" ".join(rng.choice(words, size=rng.integers(1, 20), p=shares[k])) for k in y]
    return texts, np.array(["ant", "bee", "cat"])[y]


def test_example_17():
    model = TextNB().fit(SPAM, LABELS)
    assert_allclose(model.predict_proba(["cheap now"])[0, 1], 8 / 11)
    assert_array_equal(model.predict(["cheap now"]), ["spam"])


@every
@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2)])
def test_equals_the_pipeline(model, ngram_range):
    texts, y = corpus()
    theirs = make_pipeline(CountVectorizer(ngram_range=ngram_range), PEERS[model]()).fit(texts, y)
    ours = TextNB(model, ngram_range=ngram_range).fit(texts, y)
    assert ours.vocabulary_ == theirs[0].vocabulary_
    assert_allclose(ours.feature_log_prob_, theirs[1].feature_log_prob_, rtol=1e-12)
    assert_allclose(ours.predict_proba(texts), theirs.predict_proba(texts), atol=1e-12)
    w = np.random.default_rng(0).random(len(y))
    weighted = theirs.fit(texts, y, **{f"{theirs.steps[1][0]}__sample_weight": w})
    ours.fit(texts, y, w)
    assert_allclose(ours.predict_proba(texts), weighted.predict_proba(texts), atol=1e-12)


@every
def test_partial_fit_grows_the_vocabulary(model):
    texts, y = corpus()
    texts[150] += " Unheard_of"
    whole, parts = TextNB(model).fit(texts, y), TextNB(model)
    for start in range(0, 200, 30):
        parts.partial_fit(texts[start : start + 30], y[start : start + 30], np.unique(y))
    assert parts.vocabulary_ == whole.vocabulary_
    assert_array_equal(parts.feature_log_prob_, whole.feature_log_prob_)
    assert_array_equal(parts.predict_proba(texts), whole.predict_proba(texts))


def test_unknown_words_leave_the_prior():
    model = TextNB().fit(SPAM, LABELS)
    assert_allclose(model.predict_proba(["nothing known here", ""]), [[1 / 3, 2 / 3]] * 2)


def test_explain_and_evidence():
    texts, y = corpus()
    model = TextNB().fit(texts, y)
    joint = model.predict_joint_log_proba(texts)
    assert_allclose(model.explain(texts).sum(axis=2) + model.class_log_prior_, joint)
    assert_allclose(model.score_samples(texts), np.log(np.exp(joint).sum(axis=1)))


def test_telling_words_by_brute_force():
    texts, y = corpus()
    model = TextNB().fit(texts, y)
    found = model.telling_words(3)
    logs = model.feature_log_prob_
    for k, label in enumerate(model.classes_):
        ratio = {
            word: logs[k, j] - max(logs[c, j] for c in range(3) if c != k)
            for word, j in model.vocabulary_.items()
        }
        best = sorted(ratio.values(), reverse=True)[:3]
        assert_allclose([ratio[word] for word in found[label]], best)


def test_recovers_its_own_sample():
    texts, y = corpus()
    truth = TextNB(vocabulary=[f"word{i}" for i in range(60)]).fit(texts, y)
    drawn, labels = truth.sample(20_000, random_state=0)
    again = TextNB(vocabulary=truth.vocabulary_).fit(drawn, labels)
    assert_allclose(np.exp(again.feature_log_prob_), np.exp(truth.feature_log_prob_), atol=0.01)


def test_options_and_refusals():
    assert "Buy" in TextNB(lowercase=False).fit(["Buy", "sell"], [0, 1]).vocabulary_
    for options, texts, message in [
        ({"model": "gaussian"}, SPAM, "model must be one of"),
        ({"ngram_range": (2, 1)}, SPAM, "ngram_range must be"),
        ({}, "one text", "put it into a list"),
        ({}, ["fine", None, "text"], "got None .* in row 1"),
        ({}, ["a", "b", "c"], "the vocabulary is empty"),
        ({"alpha": -1}, SPAM, "alpha must be >= 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            TextNB(**options).fit(texts, LABELS)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        TextNB().partial_fit(SPAM, LABELS)
