"""CategoricalNB: the catalogue's example 15, scikit-learn's numbers, laws, corners."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.naive_bayes as peers
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.data import blocks, load_play_ball
from pellucid.naive_bayes import CategoricalNB, ZeroCountWarning

QUERY = {"Outlook": "Sunny", "Temperature": "Hot", "Humidity": "Normal", "Wind": "Weak"}


def codes(n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return (rng.integers(4, size=(n, 5)) + y[:, None]) % 4, y, rng.random(n)


@pytest.mark.filterwarnings("ignore::pellucid.naive_bayes.counts.ZeroCountWarning")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"alpha": 0}, 0.6729475101),
        ({}, 0.6649127665),
        ({"levels": "class"}, 0.6345376977),
    ],
)
def test_example_15_play_ball(options, expected):
    X, y = load_play_ball()
    proba = CategoricalNB(**options).fit(X, y).predict_proba(pl.DataFrame([QUERY]))
    assert_allclose(proba[0, 1], expected, atol=1e-10)


def test_example_15_one_feature():
    X, y = np.array(list("aabbcaab"))[:, None], [1, 1, 1, 0, 0, 1, 0, 0]
    with pytest.warns(ZeroCountWarning, match="class 1 gives column 0 = 'c' the probability 0"):
        model = CategoricalNB(alpha=0).fit(X, y)
    assert_allclose(np.exp(model.feature_log_prob_[0][1]), [0.75, 0.25, 0.0])
    model = CategoricalNB().fit(X, y)
    assert_allclose(np.exp(model.feature_log_prob_[0][1]), [4 / 7, 2 / 7, 1 / 7])


@pytest.mark.parametrize(
    "options",
    [{}, {"alpha": 0.2, "fit_prior": False}, {"class_prior": [0.1, 0.2, 0.7]}],
)
def test_equals_scikit_learn(options):
    X, y, w = codes()
    theirs = peers.CategoricalNB(**options).fit(X, y, w)
    model = CategoricalNB(**options).fit(X, y, w)
    for ours_j, theirs_j in zip(model.feature_log_prob_, theirs.feature_log_prob_, strict=True):
        assert_allclose(ours_j, theirs_j, rtol=1e-12)
    assert_allclose(model.predict_proba(X), theirs.predict_proba(X))
    assert_array_equal(model.n_categories_, theirs.n_categories_)
    assert_allclose(model.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X))


def test_codes_with_gaps():
    X, y = np.array([[0], [2], [2], [5]]), [0, 0, 1, 1]
    theirs = peers.CategoricalNB(min_categories=7).fit(X, y)
    model = CategoricalNB(min_categories=7).fit(X, y)
    assert_allclose(model.feature_log_prob_[0], theirs.feature_log_prob_[0])
    assert CategoricalNB().fit(X, y).n_categories_.tolist() == [3]
    with pytest.raises(ValueError, match="min_categories needs codes"):
        CategoricalNB(min_categories=3).fit([["a"], ["b"]], [0, 1])


def test_strings_frames_and_codes_agree():
    X, y, _ = codes()
    words = np.array(["ash", "elm", "fir", "oak"])[X]
    expected = CategoricalNB().fit(X, y).predict_proba(X)
    frame = pd.DataFrame(words, columns=list("abcde"))
    tables = [words, words.astype(object), frame, frame.astype("category"), pl.DataFrame(frame)]
    for table in tables:
        assert_allclose(CategoricalNB().fit(table, y).predict_proba(table), expected)


def test_missing_cells_by_brute_force():
    X, y, _ = codes(80)
    cells = np.array(["ash", "elm", "fir", "oak"], dtype=object)[X]
    cells[np.random.default_rng(1).random(X.shape) < 0.2] = None
    model = CategoricalNB(alpha=0.5).fit(cells, y)
    joint = np.empty((80, 3))
    for k in range(3):
        rows = cells[y == k]
        joint[:, k] = len(rows) / 80
        for j in range(5):
            n = sum(v is not None for v in rows[:, j])
            share = {v: (np.sum(rows[:, j] == v) + 0.5) / (n + 2) for v in model.categories_[j]}
            joint[:, k] *= [1.0 if v is None else share[v] for v in cells[:, j]]
    assert_allclose(model.predict_proba(cells), joint / joint.sum(axis=1, keepdims=True))
    assert_allclose(model.score_samples(cells), np.log(joint.sum(axis=1)))
    total = model.explain(cells).sum(axis=2) + model.class_log_prior_
    assert_allclose(total, model.predict_joint_log_proba(cells))


def test_partial_fit_meets_new_categories():
    X, y, _ = codes()
    words = np.array(["ash", "elm", "fir", "oak"], dtype=object)[X]
    words[250:, 0] = "yew"
    whole = CategoricalNB().fit(words, y)
    parts = CategoricalNB()
    for start in range(0, 400, 90):
        parts.partial_fit(words[start : start + 90], y[start : start + 90], classes=[0, 1, 2])
    assert_array_equal(parts.categories_[0], whole.categories_[0])
    assert_allclose(parts.predict_proba(words), whole.predict_proba(words), rtol=1e-12)


def test_blocks_and_weights():
    X, y, _ = codes(9000)
    table = pl.DataFrame(X, schema=list("abcde")).with_columns(y=pl.Series(y))
    parts = CategoricalNB().fit_blocks(blocks(table, target="y", block_rows=1000))
    proba = parts.predict_proba(table.select(list("abcde")))
    assert_allclose(proba, CategoricalNB().fit(X, y).predict_proba(X))
    w = np.random.default_rng(0).integers(1, 4, size=9000)
    weighted = CategoricalNB().fit(X, y, w).predict_proba(X)
    again = CategoricalNB().fit(np.repeat(X, w, axis=0), np.repeat(y, w)).predict_proba(X)
    assert_allclose(weighted, again)


def test_unseen_values_are_left_out():
    model = CategoricalNB().fit([["a", "x"], ["b", "y"]], [0, 1])
    with pytest.warns(UserWarning, match="column 0 holds 'new', which the fit never saw"):
        proba = model.predict_proba([["new", "x"]])
    assert_allclose(proba, model.predict_proba(np.array([[None, "x"]], dtype=object)))


def test_recovers_its_own_sample():
    X, y, _ = codes()
    truth = CategoricalNB().fit(np.array(["ash", "elm", "fir", "oak"])[X], y)
    Z, labels = truth.sample(40_000, random_state=0)
    again = CategoricalNB().fit(Z, labels)
    for a, b in zip(again.feature_log_prob_, truth.feature_log_prob_, strict=True):
        assert_allclose(np.exp(a), np.exp(b), atol=0.02)


def test_prior_alpha_and_pseudo_counts_per_feature():
    X, y, _ = codes()
    model = CategoricalNB(prior_alpha=2.0).fit(X, y)
    assert_allclose(np.exp(model.class_log_prior_), (np.bincount(y) + 2) / (400 + 6))
    alpha = [np.full(4, 0.5)] * 4 + [np.full((3, 4), 0.5)]
    same = CategoricalNB(alpha=0.5).fit(X, y).predict_proba(X)
    assert_allclose(CategoricalNB(alpha=alpha).fit(X, y).predict_proba(X), same)
    with pytest.raises(ValueError, match="one array per feature"):
        CategoricalNB(alpha=alpha[:2]).fit(X, y)


def test_every_class_impossible_leaves_the_prior():
    with pytest.warns(ZeroCountWarning):
        model = CategoricalNB(alpha=0).fit([["a", "x"], ["a", "x"], ["b", "y"]], [0, 0, 1])
    assert_allclose(model.predict_proba([["a", "y"]]), [[2 / 3, 1 / 3]])


def test_labels_that_are_python_objects_in_the_warning_about_zeros():
    """The sentence names the class, whatever kind of array the labels came in."""
    X, y = np.array([[0, 1], [1, 0], [1, 1], [0, 0]]), np.array(["a", "b", "a", "b"], dtype=object)
    with pytest.warns(ZeroCountWarning, match="class 'a' gives"):
        model = CategoricalNB(alpha=0).fit(X, y)
    assert model.predict([[0, 1]]) == ["a"]
