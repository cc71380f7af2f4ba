"""The compiled growth of multiway trees against NumPy, node by node."""

import numpy as np
import pytest
from multiway_reference import grow_multiway as reference_growth
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.tree import MultiwayTreeClassifier, MultiwayTreeRegressor
from pellucid.tree.multiway.growth_kernels import room_for
from pellucid.tree.multiway.multiway import Attributes, Rules, grow_multiway
from pellucid.tree.multiway.search_kernels import sort_places

EXACT = ("parent", "feature", "threshold", "branch", "default", "n_node_samples")
CLOSE = ("share", "impurity", "gain", "weighted_n_node_samples")


def random_table(rng, n, lost):
    """Two columns of categories, one of few numbers, one of many; some cells missing."""
    columns = [rng.integers(0, 3, n), rng.integers(0, 7, n)]
    columns += [rng.integers(0, 5, n).astype(float), rng.normal(size=n)]
    for j, column in enumerate(columns):
        column[rng.random(n) < lost] = -1 if j < 2 else np.nan
    return Attributes(columns, np.array([True, True, False, False]))


def same(table, Q, y, label, w, rules):
    ours, sums = grow_multiway(table, y, label, Q.shape[1], w, rules)
    theirs, their_sums = reference_growth(table, Q, label, w, rules)
    for name in EXACT:
        assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)
    for name in CLOSE:
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-9, atol=1e-11)
    assert_allclose(sums, their_sums, rtol=1e-9, atol=1e-11)
    ours.check()
    return ours


@pytest.mark.parametrize("criterion", ["entropy", "gain_ratio", "gini", "squared_error"])
@pytest.mark.parametrize("fractions", [True, False])
@pytest.mark.parametrize("lost", [0.0, 0.15])
def test_the_tree_is_that_of_numpy(criterion, fractions, lost):
    rng = np.random.default_rng(3)
    for n, min_leaf, max_depth in ((6, 1, 99), (40, 1, 99), (150, 2, 3), (300, 5, 99)):
        table = random_table(rng, n, lost)
        codes = rng.integers(0, 3, n)
        w = rng.random(n) * (rng.random(n) > 0.1) + (np.arange(n) < 2)
        rules = Rules(criterion, max_depth, 2 * min_leaf, min_leaf, fractions)
        if criterion == "squared_error":
            y = codes + rng.normal(size=n).round(1)
            Q = np.stack([np.ones(n), y, y**2], axis=1)
            label = np.unique(y, return_inverse=True)[1]
            same(table, Q, y, label, w, rules)
        else:
            same(table, np.eye(3)[codes], np.empty(0), codes, w, rules)


def test_many_values_and_classes_are_sorted_by_bytes():
    rng = np.random.default_rng(0)
    n = 1_500
    columns = [rng.integers(0, 400, n), rng.normal(size=n)]
    columns[1][::50] = np.nan
    codes = (columns[1] > 0.3).astype(np.intp) + 5 * (columns[0] % 2)
    table = Attributes(columns, np.array([True, False]))
    tree = same(
        table, np.eye(7)[codes], np.empty(0), codes, np.ones(n), Rules("gini", 3, 2, 1, False)
    )
    assert tree.node_count > 10


@pytest.mark.parametrize("distinct", [5, 300, 70_000])
def test_sorting_is_stable(distinct):
    rng = np.random.default_rng(1)
    rank = rng.integers(-1, distinct, 2_000).astype(np.int32)
    rows = rng.permutation(2_000)[:1_200].astype(np.int32)
    room = room_for(2_000, 2, 2)
    m, now = sort_places(rank, rows, np.int64(distinct), room)
    known = np.flatnonzero(rank[rows] >= 0)
    assert m == len(known)
    assert_array_equal(room.order[now, :m], known[np.argsort(rank[rows[known]], kind="stable")])


@pytest.mark.parametrize("model", [MultiwayTreeClassifier, MultiwayTreeRegressor])
def test_the_order_of_rows_does_not_matter(model):
    rng = np.random.default_rng(2)
    X = np.stack([rng.integers(0, 4, 200), rng.integers(0, 30, 200)], axis=1).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (X[:, 0] % 2 == 0).astype(int) + rng.integers(0, 2, 200)
    rows = rng.permutation(200)
    one = model(categorical_features=[0]).fit(X, y).tree_
    two = model(categorical_features=[0]).fit(X[rows], y[rows]).tree_
    assert_array_equal(one.feature, two.feature)
    assert_array_equal(one.threshold, two.threshold)
    assert_allclose(one.value, two.value, atol=1e-12)


@pytest.mark.parametrize("missing", ["fractions", "mode"])
def test_a_row_ends_where_the_questions_lead(missing):
    """Every row by hand: known cells by their branch, a missing one by the default child."""
    rng = np.random.default_rng(5)
    X = np.stack([rng.integers(0, 4, 150), rng.normal(size=150)], axis=1)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, 3, 150)
    model = MultiwayTreeClassifier(categorical_features=[0], missing=missing).fit(X[:120], y[:120])
    tree, ends, shares = model.tree_, model.apply(X), model.predict_proba(X)
    known = model.categories_[0].tolist()

    def follow(x, node, weight):
        """{leaf: weight} of one row."""
        if tree.feature[node] < 0:
            return {node: weight}
        children, value = tree.children_of(node), x[tree.feature[node]]
        if np.isnan(value) and missing == "mode":
            return follow(x, int(tree.default[node]), weight)
        if np.isnan(value):
            parts = [follow(x, int(c), weight * tree.share[c]) for c in children]
            return {leaf: w for part in parts for leaf, w in part.items()}
        t = tree.threshold[node]
        code = known.index(value) if np.isnan(t) else int(value > t)
        found = [int(c) for c in children if tree.branch[c] == code]
        return follow(x, found[0], weight) if found else {node: weight}

    for i, x in enumerate(X):
        leaves = follow(x, 0, 1.0)
        assert_allclose(shares[i], sum(w * tree.value[k, 0] for k, w in leaves.items()), atol=1e-12)
        if len(leaves) == 1:
            assert ends[i] == next(iter(leaves))


def test_broken_trees_are_refused():
    tree = MultiwayTreeClassifier().fit([["a"], ["b"], ["c"]], [0, 1, 1]).tree_
    tree.check()
    with pytest.raises(ValueError, match="do not fit together"):
        tree._replace(default=np.array([0, -1, -1, -1], np.int32)).check()
    model = MultiwayTreeClassifier().fit([["a"], ["b"], ["c"]], [0, 1, 1])
    model.tree_ = model.tree_._replace(n_features=9)
    with pytest.raises(ValueError, match="9 features"):
        model._check_state()
