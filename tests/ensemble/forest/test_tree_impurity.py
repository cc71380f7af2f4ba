"""Impurities of the trees of a forest: scikit-learn's trees, importances, refusals."""

import numpy as np
import pytest
import sklearn.ensemble
from numpy.testing import assert_allclose

from pellucid import BaggingRegressor, DecisionTreeRegressor, RandomForestClassifier, Ridge
from pellucid.ensemble import tree_impurities


def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    return X, (X[:, 0] + 0.5 * rng.normal(size=120) > 0).astype(int)


def test_root_and_leaves_of_every_tree():
    X, y = table()
    model = RandomForestClassifier(6, max_depth=3, random_state=0).fit(X, y)
    found = tree_impurities(model)
    for t, member in enumerate(model.estimators_):
        tree = member.tree_
        leaf = np.flatnonzero(np.asarray(tree.children_left) == -1)
        w = np.asarray(tree.weighted_n_node_samples)[leaf]
        assert_allclose(found.leaves[t], w @ np.asarray(tree.impurity)[leaf] / w.sum())
        assert_allclose(found.root[t], tree.impurity[0])
    assert (found.decrease > 0).all()
    assert tree_impurities(RandomForestClassifier(3, random_state=0).fit(X, y)).leaves.max() == 0
    assert "6 trees" in str(found)


def test_other_committees_of_trees():
    X, y = table()
    theirs = sklearn.ensemble.RandomForestClassifier(4, max_depth=2, random_state=0).fit(X, y)
    assert tree_impurities(theirs).root.shape == (4,)
    ours = BaggingRegressor(DecisionTreeRegressor(max_depth=2), 3, random_state=0).fit(X, X[:, 1])
    assert (tree_impurities(ours).decrease > 0).all()
    with pytest.raises(ValueError, match="needs a forest of trees"):
        tree_impurities(Ridge().fit(X, y))
