"""Bootstrap, averages, votes, diversity: the arithmetic behind committees."""

from itertools import product

import numpy as np
import pytest

from pellucid import DecisionTreeClassifier, DecisionTreeRegressor
from pellucid.ensemble import (
    Bootstrap,
    Disjoint,
    bootstrap_indices,
    ensemble_diversity,
    expected_unique_fraction,
    majority_accuracy,
    variance_of_average,
)
from pellucid.ensemble.committees.bootstrap import make_sampler, own_order


def sampler(sampling, w, members=5, codes=None, seed=3):
    X = np.arange(float(len(w)))[:, None]
    return make_sampler(sampling, seed, np.asarray(w, float), members, own_order(X, X), codes)


@pytest.mark.parametrize(
    ("n", "missed"),
    [(2, 0.25), (5, 0.32768), (10, 0.3486784401), (100, 0.3660323413), (1000, 0.3676954248)],
)
def test_catalogue_unique_fraction(n, missed):
    assert 1 - expected_unique_fraction(n) == pytest.approx(missed, abs=1e-8)


def test_catalogue_variance_of_average():
    assert variance_of_average(4, 10, 0.3) == pytest.approx(1.48, abs=1e-12)


def test_variance_of_average_is_that_of_a_correlated_mean():
    B, r, s2 = 6, 0.4, 2.5
    C = s2 * ((1 - r) * np.eye(B) + r)
    assert variance_of_average(s2, B, r) == pytest.approx(C.sum() / B**2)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8])
def test_majority_by_enumeration(n):
    p, total = 0.63, 0.0
    for votes in product([0, 1], repeat=n):
        right = sum(votes)
        share = 1.0 if 2 * right > n else 0.5 if 2 * right == n else 0.0
        total += share * p**right * (1 - p) ** (n - right)
    assert majority_accuracy(p, n) == pytest.approx(total, abs=1e-12)


def test_majority_at_the_ends():
    assert majority_accuracy(0.0, 4) == 0.0
    assert majority_accuracy(1.0, 4) == 1.0
    assert majority_accuracy(0.5, 1000) == pytest.approx(0.5)


@pytest.mark.parametrize(
    "call",
    [
        lambda: variance_of_average(1.0, 3, -0.9),
        lambda: majority_accuracy(1.2, 3),
        lambda: bootstrap_indices(0),
        lambda: ensemble_diversity([], [[1.0]], [1]),
    ],
    ids=["correlation", "accuracy", "rows", "members"],
)
def test_bad_arguments(call):
    with pytest.raises(ValueError, match="must"):
        call()


def test_bootstrap_indices_partition_the_rows():
    bag = bootstrap_indices(50, 20, random_state=1)
    assert len(bag.in_bag) == 20
    np.testing.assert_array_equal(np.union1d(bag.in_bag, bag.out_of_bag), np.arange(50))
    assert not set(bag.in_bag.tolist()) & set(bag.out_of_bag.tolist())


def test_unique_share_of_draws():
    n = 400
    draw = sampler(Bootstrap(), np.ones(n))
    seen = np.mean([(draw.counts(b) > 0).mean() for b in range(200)])
    assert seen == pytest.approx(expected_unique_fraction(n), abs=0.01)


def test_weights_are_repetitions_in_the_draw():
    w = np.array([2, 0, 1, 3])
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    again = np.repeat(X, w, axis=0)
    a = make_sampler(Bootstrap(), 5, w.astype(float), 3, own_order(X, X))
    b = make_sampler(Bootstrap(), 5, np.ones(6), 3, own_order(again, again))
    for t in range(5):
        counts = b.counts(t)
        together = [counts[again[:, 0] == x].sum() for x in X[:, 0]]
        np.testing.assert_array_equal(a.counts(t), together)


def test_disjoint_parts_are_a_partition():
    draw = sampler(Disjoint(), np.ones(23), members=4)
    total = sum(draw.counts(b) for b in range(4))
    np.testing.assert_array_equal(total, np.ones(23))
    with pytest.raises(ValueError, match="a row for every member"):
        sampler(Disjoint(), np.ones(3), members=4)


def test_without_replacement_no_row_twice():
    draw = sampler(Bootstrap(0.5, replace=False), np.ones(40))
    assert draw.counts(0).max() == 1
    assert draw.counts(0).sum() == 20


@pytest.mark.parametrize(("balance", "size"), [("under", 5), ("over", 30)])
def test_balance(balance, size):
    codes = np.repeat([0, 1, 2], [30, 10, 5])
    draw = sampler(Bootstrap(balance=balance), np.ones(45), codes=codes)
    counts = np.bincount(codes, draw.counts(1))
    np.testing.assert_array_equal(counts, [size] * 3)


@pytest.mark.parametrize(
    ("sampling", "word"),
    [
        (Bootstrap(balance="none"), "balance"),
        (Bootstrap(label_noise=2.0), "label_noise"),
        (Bootstrap(max_samples=1.5, replace=False), "max_samples"),
        (Bootstrap(max_samples=0), "max_samples"),
        (3, "sampling"),
    ],
)
def test_bad_samplings(sampling, word):
    with pytest.raises(ValueError, match=word):
        sampler(sampling, np.ones(5), codes=np.zeros(5, int))


def test_diversity():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    members = [DecisionTreeClassifier(max_depth=1).fit(X[:, :], y) for _ in range(2)]
    members.append(DecisionTreeClassifier().fit(X, rng.permutation(y)))
    report = ensemble_diversity(members, X, y)
    wrong = np.array([m.predict(X) != y for m in members])
    np.testing.assert_allclose(report.accuracies, 1 - wrong.mean(axis=1))
    np.testing.assert_allclose(report.error_correlation, np.corrcoef(wrong))
    assert report.disagreement[0, 1] == 0.0
    assert report.disagreement[0, 2] == (members[0].predict(X) != members[2].predict(X)).mean()
    numbers = [DecisionTreeRegressor(max_depth=d).fit(X, X[:, 0]) for d in (1, 3)]
    report = ensemble_diversity(numbers, X, X[:, 0])
    assert report.better_than_chance.all()
    assert report.disagreement[0, 1] > 0
