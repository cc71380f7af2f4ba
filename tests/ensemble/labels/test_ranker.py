"""Ranking by pairs: all pairs listed, all pairs counted."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import kendalltau
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.metrics import ndcg_score
from sklearn.svm import LinearSVC

from pellucid import GaussianNB, LogisticRegression, PairwiseRanker
from pellucid.ensemble.labels.ranker import comparable_pairs, concordance, pick_pairs, rank_within


def brute_pairs(y, groups):
    n = len(y)
    return {(i, j) for i in range(n) for j in range(n) if groups[i] == groups[j] and y[i] > y[j]}


def queries(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    groups = rng.integers(6, size=n)
    score = X @ np.array([2.0, -1.0, 0.5]) + 5.0 * groups  # groups differ in level, not in order
    y = np.clip(np.round(score - 5 * groups + 0.5 * rng.normal(size=n)), -2, 2)
    return X, y, groups


@pytest.mark.parametrize("seed", range(5))
def test_every_comparable_pair_once(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=30).astype(float)
    groups = rng.integers(1 + seed, size=30)
    pairs = comparable_pairs(y, groups)
    expected = brute_pairs(y, groups)
    i, j = pick_pairs(pairs, None, rng)
    assert pairs.total == len(expected) == len(i)
    assert set(zip(i.tolist(), j.tolist(), strict=True)) == expected
    some = list(zip(*(v.tolist() for v in pick_pairs(pairs, 20, rng)), strict=True))
    assert len(set(some)) == 20
    assert set(some) <= expected


def test_draws_are_uniform_over_the_pairs():
    y, groups = np.array([0.0, 1.0, 1.0, 2.0, 5.0]), np.zeros(5, dtype=int)
    pairs = comparable_pairs(y, groups)
    rng = np.random.default_rng(0)
    count = np.zeros((5, 5))
    for _ in range(3000):
        np.add.at(count, pick_pairs(pairs, 3, rng), 1)
    seen = count[count > 0]
    assert len(seen) == pairs.total == 9
    assert np.abs(seen / 3000 - 3 / 9).max() < 0.04


@pytest.mark.parametrize("seed", range(6))
def test_concordance_counts_pairs(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(5, size=40).astype(float)
    groups = rng.integers(1 + seed, size=40)
    score = np.round(rng.normal(size=40), 1)
    pairs = brute_pairs(y, groups)
    right = sum(1.0 if score[i] > score[j] else 0.5 * (score[i] == score[j]) for i, j in pairs)
    assert concordance(score, y, groups) == pytest.approx(right / len(pairs))


def test_concordance_and_kendall():
    rng = np.random.default_rng(0)
    y, score = rng.normal(size=200), rng.normal(size=200)
    tau = kendalltau(y, score).statistic
    assert concordance(score, y, np.zeros(200, dtype=int)) == pytest.approx((tau + 1) / 2)


def test_equals_the_fit_of_listed_differences():
    X, y, groups = queries()
    pairs = sorted(brute_pairs(y, groups))
    D = np.array([X[i] - X[j] for i, j in pairs])
    both, label = np.vstack([D, -D]), np.repeat([1, 0], len(D))
    plain = TheirLogistic(fit_intercept=False, tol=1e-10, max_iter=1000).fit(both, label)
    model = PairwiseRanker(LogisticRegression(tol=1e-10)).fit(X, y, groups)
    np.testing.assert_allclose(model.coef_, plain.coef_[0], rtol=1e-5)
    assert model.n_pairs_ == len(pairs)
    right = np.mean([X[i] @ model.coef_ > X[j] @ model.coef_ for i, j in pairs])
    assert model.score(X, y, groups) == pytest.approx(right)


def test_groups_matter_and_order_is_recovered():
    X, y, groups = queries()
    level = y + 100.0 * groups  # comparing across groups would only learn the level
    model = PairwiseRanker().fit(X, level, groups)
    direction = model.coef_ / model.coef_[0]
    np.testing.assert_allclose(direction, [1.0, -0.5, 0.25], atol=0.12)
    assert model.score(X, level, groups) > 0.85
    for g in range(6):
        own = groups == g
        ranks = model.rank(X, groups)[own]
        best = model.predict(X)[own].argmax()
        assert ranks[best] == 1
        assert sorted(ranks) == list(range(1, own.sum() + 1))


def test_ndcg_beats_chance():
    X, y, groups = queries(300, 1)
    gains = y - y.min()
    model = PairwiseRanker(max_pairs=300, random_state=0).fit(X, y, groups)
    rng = np.random.default_rng(0)
    ours, chance = [], []
    for g in range(6):
        own = groups == g
        ours.append(ndcg_score([gains[own]], [model.predict(X[own])]))
        chance.append(ndcg_score([gains[own]], [rng.normal(size=own.sum())]))
    assert min(ours) > 0.93
    assert np.mean(ours) > np.mean(chance) + 0.1


def test_sampled_pairs_are_near_all_pairs_and_repeatable():
    X, y, groups = queries(400, 2)
    whole = PairwiseRanker().fit(X, y, groups)
    part = PairwiseRanker(max_pairs=2000, random_state=1).fit(X, y, groups)
    assert part.n_pairs_ == 2000 < part.n_comparable_ == whole.n_pairs_
    cosine = whole.coef_ @ part.coef_
    assert cosine / np.linalg.norm(whole.coef_) / np.linalg.norm(part.coef_) > 0.99
    again = PairwiseRanker(max_pairs=2000, random_state=1).fit(X, y, groups)
    np.testing.assert_array_equal(part.coef_, again.coef_)
    assert "a random part" in str(part.card())


def test_a_million_rows_need_no_list_of_pairs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000_000, 2))
    y = X[:, 0] - X[:, 1]
    model = PairwiseRanker(max_pairs=1000, random_state=0).fit(X, y)
    assert model.n_comparable_ == 1_000_000 * 999_999 // 2
    assert model.score(X[:5000], y[:5000]) > 0.98


def test_sparse_ties_and_other_classifiers():
    X, y, groups = queries()
    X = np.round(X)
    dense = PairwiseRanker(LogisticRegression(tol=1e-10)).fit(X, y, groups)
    sparse = PairwiseRanker(LogisticRegression(tol=1e-10)).fit(csr_array(X), y, groups)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, rtol=1e-6)
    svm = PairwiseRanker(LinearSVC()).fit(X, y, groups)
    assert svm.estimator_.get_params()["fit_intercept"] is False
    assert svm.score(X, y, groups) > 0.8
    np.testing.assert_array_equal(
        rank_within(np.array([2.0, 2.0, 1.0]), np.zeros(3, int)), [1, 1, 3]
    )


def test_refusals():
    with pytest.raises(ValueError, match="nothing can be compared"):
        PairwiseRanker().fit([[0.0], [1.0]], [1, 1])
    with pytest.raises(ValueError, match="nothing can be compared"):
        PairwiseRanker().fit([[0.0], [1.0]], [1, 2], groups=["a", "b"])
    with pytest.raises(ValueError, match="max_pairs"):
        PairwiseRanker(max_pairs=0).fit([[0.0], [1.0]], [1, 2])
    with pytest.raises(ValueError, match="linear classifier with coef_"):
        PairwiseRanker(GaussianNB()).fit([[0.0], [1.0], [3.0]], [1, 2, 3])
    with pytest.raises(ValueError, match="inconsistent"):
        PairwiseRanker().fit([[0.0], [1.0]], [1, 2], groups=[1])
