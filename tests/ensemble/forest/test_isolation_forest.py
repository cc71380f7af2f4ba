"""Isolation forest: the formula on given trees, invariants, recovery."""

import numpy as np
import pytest
import sklearn.ensemble
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble._iforest import _average_path_length
from sklearn.metrics import roc_auc_score

from pellucid import IsolationForest
from pellucid.ensemble.forest.isolation import average_path_length

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 3))


def test_average_path_length_is_the_formula():
    n = np.array([1, 2, 3, 10, 256, 5000])
    assert_allclose(average_path_length(n), _average_path_length(n))
    assert average_path_length(256) == pytest.approx(
        2 * (np.log(255) + 0.5772156649) - 2 * 255 / 256, abs=1e-8
    )


def test_scores_are_the_formula_on_the_trees():
    model = IsolationForest(n_estimators=20, random_state=0).fit(X)
    depth = np.zeros(400)
    for tree in (m.tree_ for m in model.estimators_):
        leaf = tree.apply(X)
        levels = tree.depths()[0]
        depth += levels[leaf] + average_path_length(tree.n_node_samples[leaf])
    expected = -(2.0 ** (-depth / 20 / average_path_length(256)))
    assert_allclose(model.score_samples(X), expected)
    assert_allclose(model.decision_function(X), expected + 0.5)
    assert_array_equal(model.predict(X), np.where(expected < -0.5, -1, 1))


def test_trees_are_random_and_limited():
    model = IsolationForest(n_estimators=50, random_state=0).fit(X)
    assert max(tree.get_depth() for tree in model.estimators_) == 8
    roots = model.forest_.threshold[model.forest_.start[:-1]]
    assert len(np.unique(roots)) == 50
    features = model.forest_.feature[model.forest_.start[:-1]]
    assert set(features.tolist()) == {0, 1, 2}
    for rows, tree in zip(model.estimators_samples_, model.estimators_, strict=True):
        assert len(rows) == 256 == tree.tree_.n_node_samples[0]
        counts = np.bincount(tree.apply(X[rows]), minlength=tree.tree_.node_count)
        leaves = tree.tree_.feature < 0
        assert_array_equal(counts[leaves], tree.tree_.n_node_samples[leaves])


def test_root_thresholds_are_uniform():
    A = np.linspace(0, 1, 64)[:, None]
    model = IsolationForest(n_estimators=2000, max_samples=64, random_state=1).fit(A)
    roots = np.sort(model.forest_.threshold[model.forest_.start[:-1]])
    gap = np.abs(roots - (np.arange(2000) + 0.5) / 2000).max()
    assert gap < 1.63 / np.sqrt(2000)  # Kolmogorov, 1 %


def test_as_good_as_scikit_learn():
    odd = rng.uniform(-6, 6, size=(40, 3))
    A, truth = np.vstack([X, odd]), np.repeat([0, 1], [400, 40])
    ours = IsolationForest(random_state=0).fit(A).score_samples(A)
    theirs = sklearn.ensemble.IsolationForest(random_state=0).fit(A).score_samples(A)
    assert np.corrcoef(ours, theirs)[0, 1] > 0.97
    assert roc_auc_score(truth, -ours) > roc_auc_score(truth, -theirs) - 0.02


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
def test_contamination(share):
    model = IsolationForest(contamination=share, random_state=0).fit(X)
    assert (model.predict(X) == -1).mean() == pytest.approx(share, abs=0.01)
    assert model.offset_ == pytest.approx(np.percentile(model.score_samples(X), 100 * share))


def test_p_values():
    model = IsolationForest(random_state=0).fit(X)
    scores = model.score_samples(X)
    expected = (scores[None, :] <= scores[:, None]).mean(axis=1)
    assert_allclose(model.p_values(X), expected)


def test_weights_order_and_warm_start():
    w = rng.integers(0, 3, 400)
    turn = rng.permutation(int(w.sum()))
    a = IsolationForest(random_state=0).fit(X, sample_weight=w)
    b = IsolationForest(random_state=0).fit(np.repeat(X, w, axis=0)[turn])
    assert_allclose(a.score_samples(X), b.score_samples(X))
    grown = IsolationForest(n_estimators=10, warm_start=True, random_state=0).fit(X)
    grown.set_params(n_estimators=30).fit(X)
    whole = IsolationForest(n_estimators=30, random_state=0).fit(X)
    assert_array_equal(grown.score_samples(X), whole.score_samples(X))


def test_missing_cells_and_feature_subsets():
    holes = X.copy()
    holes[rng.random(X.shape) < 0.2] = np.nan
    model = IsolationForest(max_features=2, bootstrap=True, random_state=0).fit(holes)
    assert np.isfinite(model.score_samples(holes)).all()
    for columns, tree in zip(model.estimators_features_, model.estimators_, strict=True):
        used = tree.tree_.feature[tree.tree_.feature >= 0]
        assert set(used.tolist()) <= set(columns.tolist())


def test_constant_rows():
    model = IsolationForest(random_state=0).fit(np.ones((10, 2)))
    assert len(np.unique(model.score_samples([[1.0, 1.0], [5.0, 5.0]]))) == 1


@pytest.mark.parametrize(
    ("params", "word"),
    [({"contamination": 0.7}, "contamination"), ({"contamination": "few"}, "contamination"),
     ({"max_samples": 0}, "max_samples"), ({"max_samples": "all"}, "max_samples"),
     ({"max_features": 9}, "max_features"), ({"n_estimators": 0}, "n_estimators")],
)  # fmt: skip
def test_bad_parameters(params, word):
    with pytest.raises(ValueError, match=word):
        IsolationForest(**params).fit(X)


def test_more_rows_than_there_are_is_said():
    with pytest.warns(UserWarning, match="max_samples will be set to n_samples for estimation"):
        model = IsolationForest(n_estimators=3, max_samples=99, random_state=0).fit(
            np.arange(20.0)[:, None]
        )
    assert model.max_samples_ == 20
