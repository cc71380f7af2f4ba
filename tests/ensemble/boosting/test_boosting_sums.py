"""The sums under boosted trees: cells of one or two numbers, kept roots, threads come and go."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, softmax

from pellucid import (
    DecisionTreeClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from pellucid.core.runtime.threads import limit_threads
from pellucid.ensemble.boosting import boosted_trees
from pellucid.ensemble.boosting.crowd import Crowd
from pellucid.ensemble.boosting.hist_losses import Loss, is_flat
from pellucid.ensemble.boosting.hist_model import Rounds
from pellucid.ensemble.boosting.kernels import derivatives as boosting
from pellucid.tree import path_states as module
from pellucid.tree.path_states import column_groups, path_states


def noisy(n=9_000, seed=0):
    """Numbers with missing cells, and a column of categories."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[:, 4] = rng.integers(0, 12, size=n)
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + (X[:, 4] % 3) + 0.3 * rng.normal(size=n)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def fit(X, y, w=None, **params):
    params = {"max_iter": 12, "early_stopping": False, "categorical_features": [4]} | params
    return HistGradientBoostingRegressor(**params).fit(X, y, w)


def same_trees(a, b, rtol):
    for name in ("feature", "threshold", "left", "right", "sets", "missing_left"):
        assert_array_equal(getattr(a.trees_, name), getattr(b.trees_, name))
    assert_allclose(a.trees_.value, b.trees_.value, rtol=rtol, atol=rtol)


@pytest.fixture
def growers(monkeypatch):
    """The growers of the fits that follow."""
    found = []
    start = Rounds.__init__

    def note(self, *args, **kwargs):
        start(self, *args, **kwargs)
        found.append(self.grower)

    monkeypatch.setattr(Rounds, "__init__", note)
    return found


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_one_number_says_what_two_say(monkeypatch, growers, loss, weighted):
    X, y = noisy()
    w = np.random.default_rng(1).integers(1, 4, size=len(y)).astype(float) if weighted else None
    narrow = fit(X, y, w, loss=loss)
    monkeypatch.setattr(boosted_trees, "NARROW", 0)
    wide = fit(X, y, w, loss=loss)
    assert [g.scales.units.width for g in growers] == [1, 2]
    same_trees(narrow, wide, 1e-6)


def test_a_root_from_the_leaves_is_the_root_from_the_rows(monkeypatch, growers):
    """Also where the residuals become small, so that they are rounded anew."""
    X, y = noisy()
    y = np.round(y)  # no noise below the first units
    params = {"max_iter": 40, "learning_rate": 0.5, "max_leaf_nodes": 15}
    kept = fit(X, y, **params)
    monkeypatch.setattr(boosted_trees, "ROWS_PER_LEAF", 10**9)
    added = fit(X, y, **params)
    assert [g.scales.units.keep for g in growers] == [True, False]
    assert_allclose(kept.history_["objective"], added.history_["objective"], rtol=1e-5)
    first = int(kept.trees_.node_start[10])
    assert_array_equal(kept.trees_.feature[:first], added.trees_.feature[:first])


def test_threads_may_leave_and_come_back(monkeypatch):
    X, y = noisy(20_000)
    whole = fit(X, y)

    def restless(self, wall, cpu):
        self.at_work = 1 + (self.at_work % self.n_threads)

    monkeypatch.setattr(Crowd, "note", restless)
    with limit_threads(3):
        other = fit(X, y)
    assert_array_equal(whole.trees_.value, other.trees_.value)


@pytest.mark.parametrize("loss", ["squared_error", "poisson"])
@pytest.mark.parametrize("signs", [None, [1, -1, 0, 0, 0]])
def test_light_leaves_are_split_as_heavy_ones_are(loss, signs):
    """One thread searches leaves of few rows column by column, two do not: cells of one number
    and of two, missing cells, categories, bounds, whole weights."""
    X, y = noisy(6_500)
    w = np.random.default_rng(2).integers(1, 4, size=len(y)).astype(float)
    params = {"loss": loss, "max_leaf_nodes": None, "min_samples_leaf": 3, "max_iter": 3}
    models = []
    for n in (1, 2):
        with limit_threads(n):
            models.append(fit(X, y - y.min(), w, monotonic_cst=signs, **params))
    for a, b in zip(models[0].trees_, models[1].trees_, strict=True):
        assert_array_equal(a, b)


def test_gradients_of_classes_by_the_book():
    """Vectorised loops against the formulas, at both ends of the scores and with weights."""
    rng = np.random.default_rng(3)
    n = 2_500  # two stretches and a half
    F = np.concatenate([rng.normal(scale=4, size=n - 4), [-800.0, 800.0, -40.0, 40.0]])
    y = (rng.random(n) < 0.5) * 1.0
    for w in (np.ones(n), rng.integers(1, 4, size=n) * 1.0):
        c, g, h = np.where(y > 0, 2.0, 1.0) if w[0] != 1 else np.ones(n), np.empty(n), np.empty(n)
        a, b, total = boosting.gradients(boosting.LOGISTIC, 0.5, y, F, w, c, g, h, 0, n)
        p = expit(F)
        assert_allclose(g, c * (p - y), rtol=1e-12, atol=1e-15)
        assert_allclose(h, c * p * expit(-F), rtol=1e-12, atol=1e-300)
        sums = (w @ abs(g), w @ h, (w * c) @ (np.logaddexp(0, F) - y * F))
        assert_allclose((a, b, total), sums, rtol=1e-12)
    K = 3
    F, k = rng.normal(scale=3, size=(K, n)), rng.integers(0, K, size=n).astype(float)
    G, H, sums = np.empty((K, n)), np.empty((K, n)), np.zeros((K, 2))
    total = boosting.softmax_gradients(k, F, w, c, G, H, sums, 0, n)
    P = softmax(F, axis=0)
    hit = np.eye(K)[k.astype(int)].T
    assert_allclose(G, c * (P - hit), rtol=1e-12, atol=1e-15)
    assert_allclose(H, c * P * (1 - P), rtol=1e-12)
    assert_allclose(sums, np.column_stack([abs(G) @ w, H @ w]), rtol=1e-12)
    assert_allclose(total, -(w * c) @ np.log((P * hit).sum(axis=0)), rtol=1e-12)


@pytest.mark.parametrize(("threads", "share", "kept"), [(4, 0.5, 3), (2, 0.7, 2), (2, 0.3, 1)])
def test_a_crowd_keeps_the_number_of_threads_that_is_faster(threads, share, kept):
    """One core is ours for a ``share`` of the time; those who meet are as fast as the slowest."""
    crowd, used = Crowd(threads), []
    for _ in range(400):
        n, all_of_them = crowd.at_work, crowd.at_work == threads
        wall = 0.1 / (n * (share if all_of_them else 1.0))
        crowd.note(wall, wall * (n - 1 + (share if all_of_them else 1.0)))
        used.append(n)
    assert used.count(kept) > 0.95 * len(used)
    assert set(used) == {threads - 1, threads}  # the other number was tried


def test_one_row_far_off_gets_all_bits():
    rng = np.random.default_rng(0)
    y = rng.normal(size=5_000)
    one = np.ones(len(y))
    squared, absolute = Loss(boosting.SQUARED), Loss(boosting.ABSOLUTE)
    assert is_flat(squared, y, one, np.zeros(1))
    assert not is_flat(squared, y, 2 * one, np.zeros(1))
    assert not is_flat(Loss(boosting.POISSON), y, one, np.zeros(1))
    y[7] = 1e9
    assert not is_flat(squared, y, one, np.zeros(1))
    assert is_flat(absolute, y, one, np.zeros(1))


def allowed(path, groups, d):
    """By the book: columns of the groups that hold all columns of the path."""
    fit_groups = [set(g) for g in groups if set(path) <= set(g)]
    return {j for j in range(d) if any(j in g for g in fit_groups)}


@pytest.mark.parametrize("seed", range(5))
def test_states_of_paths_are_those_of_brute_force(seed):
    rng = np.random.default_rng(seed)
    d = 7
    asked = [rng.choice(d, size=rng.integers(1, 5), replace=False).tolist() for _ in range(6)]
    groups, table = column_groups(asked, d), path_states(asked, d)
    for _ in range(50):
        state, path = 0, []
        for _ in range(4):
            may = allowed(path, groups, d)
            assert may == set(np.flatnonzero(table[state] >= 0))
            path.append(int(rng.choice(sorted(may))))
            state = table[state, path[-1]]


def test_pairs_of_many_columns():
    """435 groups; no path meets three columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 30))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
    boosted = HistGradientBoostingClassifier(max_iter=3, interaction_cst="pairwise").fit(X, y)
    t = boosted.trees_
    roots = zip(t.node_start[:-1], t.node_start[1:], strict=True)
    trees = [(t.left[a:b], t.right[a:b], t.feature[a:b]) for a, b in roots]
    exact = DecisionTreeClassifier(interaction_cst="pairwise").fit(X, y).tree_
    trees.append((exact.children_left, exact.children_right, exact.feature))
    for left, right, feature in trees:
        waiting = [(0, set())]
        while waiting:
            node, met = waiting.pop()
            if node < 0 or feature[node] < 0:
                continue
            met = met | {int(feature[node])}
            assert len(met) <= 2
            waiting += [(int(left[node]), met), (int(right[node]), met)]


def test_groups_that_meet_in_too_many_ways(monkeypatch):
    monkeypatch.setattr(module, "MOST_CELLS", 2**13)
    rng = np.random.default_rng(0)
    d = 40
    groups = [rng.choice(d, size=20, replace=False).tolist() for _ in range(60)]
    with pytest.raises(ValueError, match="too many ways"):
        path_states(groups, d)
    with pytest.raises(ValueError, match=r"columns in 0\.\.2"):
        path_states([[0, 3]], 3)
