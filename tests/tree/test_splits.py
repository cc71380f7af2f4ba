"""Split measures: the catalogue's numbers, and a brute-force search as oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from pellucid.core.arrays.quantiles import weighted_median
from pellucid.core.functions.impurities import number_impurity
from pellucid.data import load_play_ball
from pellucid.tree import (
    best_split,
    candidate_thresholds,
    gain_ratio,
    impurity,
    information_gain,
    split_information,
)

A = np.array([2.5, 3, 4.5, 5, 6])
Y = np.array(["+", "+", "-", "-", "+"])


def test_example_candidates_and_gains():
    """Trees, example 1: one numeric attribute."""
    assert candidate_thresholds(A, Y).tolist() == [3.75, 5.5]
    assert_allclose(impurity(Y, "entropy"), 0.9709505945, atol=1e-9)
    gains = [information_gain(Y, t < A) for t in (3.75, 5.5)]
    assert_allclose(gains, [0.4199730940, 0.1709505945], atol=1e-9)
    informations = [split_information(t < A) for t in (3.75, 5.5)]
    assert_allclose(informations, [0.9709505945, 0.7219280949], atol=1e-9)
    ratios = [gain_ratio(Y, t < A) for t in (3.75, 5.5)]
    assert_allclose(ratios, [0.4325380678, 0.2367972595], atol=1e-9)


def test_example_play_gains():
    """Trees, example 2: the gains and ratios of the play table."""
    X, y = load_play_ball()
    assert_allclose(impurity(y, "entropy"), 0.9402859587, atol=1e-9)
    gains = [information_gain(y, X[name]) for name in X.columns]
    assert_allclose(gains, [0.2467498198, 0.0292225657, 0.1518355014, 0.0481270304], atol=1e-9)
    ratios = [gain_ratio(y, X[name]) for name in X.columns]
    assert_allclose(ratios, [0.1564275624, 0.0187726462, 0.1518355014, 0.0488486155], atol=1e-9)


def test_the_measures_by_hand():
    assert impurity([0, 0, 1], "misclassification") == pytest.approx(1 / 3)
    assert impurity([0, 0, 1]) == pytest.approx(4 / 9)
    assert impurity([1.0, 2.0, 6.0], "squared_error") == pytest.approx(14 / 3)
    assert impurity([1.0, 2.0, 6.0], "absolute_error") == pytest.approx(5 / 3)
    assert impurity([0, 0, 1], sample_weight=[1, 0, 1]) == 0.5
    assert impurity([1.0, 1.0], "poisson") == 0.0
    assert np.isnan(gain_ratio([0, 1], ["a", "a"]))


def test_thresholds():
    x, y = [1.0, 2.0, 2.0, 3.0, np.nan], [0, 0, 1, 1, 0]
    assert candidate_thresholds(x, y, rule="midpoint").tolist() == [1.5, 2.5]
    assert candidate_thresholds(x, y, rule="observed").tolist() == [1.0, 2.0]
    assert candidate_thresholds(x, y).tolist() == [1.5, 2.5]
    assert candidate_thresholds([1, 2, 3], [0, 0, 0]).tolist() == []


def test_weighted_median_is_that_of_the_repeated_values():
    rng = np.random.default_rng(0)
    for _ in range(50):
        y = rng.integers(0, 9, size=7).astype(float)
        w = rng.integers(0, 4, size=7)
        w[0] += 1
        assert weighted_median(y, w.astype(float)) == np.median(np.repeat(y, w))


def by_hand(X, y, criterion):
    """Every midpoint of every column: (score, feature, threshold), the first of equals."""
    best = None
    for j in range(X.shape[1]):
        values = np.unique(X[:, j])
        for t in (values[:-1] + values[1:]) / 2:
            left = X[:, j] <= t
            score = sum(len(part) * impurity(part, criterion) for part in (y[left], y[~left]))
            score /= len(y)
            if best is None or score < best[0] - 1e-12:
                best = (score, j, t)
    return best


CLASSES = ["gini", "entropy", "log_loss", "misclassification"]
NUMBERS = ["squared_error", "absolute_error", "poisson"]


@pytest.mark.parametrize("criterion", CLASSES + NUMBERS)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_best_split_is_the_brute_force_one(criterion, seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 14)), int(rng.integers(1, 4))
    X = rng.integers(0, 5, size=(n, d)).astype(float)
    y = rng.integers(0, 3, size=n)
    if criterion == "poisson":
        y = y + 1
    found, expected = best_split(X, y, criterion=criterion), by_hand(X, y, criterion)
    if found is None:
        assert expected is None or len(np.unique(y)) == 1
        return
    assert (found.feature, found.threshold) == expected[1:]
    assert_allclose(found.score, expected[0], atol=1e-12)
    assert_allclose(found.gain, impurity(y, criterion) - expected[0], atol=1e-12)
    assert found.n_left == (X[:, found.feature] <= found.threshold).sum()
    assert found.n_left + found.n_right == n


def test_label_change_contains_the_optimum():
    rng = np.random.default_rng(3)
    for _ in range(30):
        X, y = rng.integers(0, 9, size=(15, 2)).astype(float), rng.integers(0, 2, size=15)
        for criterion in ("gini", "entropy"):
            a = best_split(X, y, criterion=criterion)
            b = best_split(X, y, criterion=criterion, threshold="label_change")
            assert (a is None) == (b is None)
            if a is not None:
                assert_allclose(a.score, b.score, atol=1e-12)
                assert b.threshold in candidate_thresholds(X[:, b.feature], y)


def test_refusals():
    with pytest.raises(ValueError, match="criterion"):
        impurity([0, 1], "ginny")
    with pytest.raises(ValueError, match="rule"):
        candidate_thresholds([0.0], [1], rule="all")
    with pytest.raises(ValueError, match="same length"):
        information_gain([0, 1], [0])
    with pytest.raises(ValueError, match="at least one"):
        impurity([])
    assert number_impurity(np.zeros(2), np.zeros(2), "squared_error") == 0.0
