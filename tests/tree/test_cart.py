"""CART against brute force, scikit-learn, and its own laws."""

import numpy as np
import pytest
import sklearn.tree
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

from pellucid.compiled.trees.presort import presort
from pellucid.core.functions.impurities import class_impurity, number_impurity
from pellucid.core.runtime.threads import limit_threads
from pellucid.tree import DecisionTreeClassifier, DecisionTreeRegressor, SplitSearch, best_split
from pellucid.tree.growing import Classes, Growth, grow_tree

CLASSES = ["gini", "entropy", "misclassification"]
NUMBERS = ["squared_error", "absolute_error", "poisson"]


def node_impurity(y, w, criterion):
    """Mean impurity over the outputs."""
    if criterion in NUMBERS:
        return np.mean([number_impurity(c, w, criterion) for c in y.T])
    return np.mean([class_impurity(np.bincount(c.astype(int), w), criterion) for c in y.T])


def reference_split(X, y, w, criterion, min_leaf=1):
    """The best of all questions, missing cells left or right: (feature, threshold, side)."""
    best = None
    for j in range(X.shape[1]):
        x = X[:, j]
        lost = np.isnan(x)
        values = np.unique(x[~lost])
        middles = list((values[:-1] + values[1:]) / 2)
        for side in (False, True) if lost.any() else (False,):
            for t in middles + ([np.inf] if lost.any() and not side and len(values) else []):
                left = np.where(lost, side, x <= t).astype(bool)
                if min(left.sum(), (~left).sum()) < min_leaf:
                    continue
                parts = [(y[s], w[s]) for s in (left, ~left)]
                if criterion == "poisson" and any((v @ u <= 0).any() for u, v in parts):
                    continue
                score = sum(v.sum() * node_impurity(u, v, criterion) for u, v in parts)
                if best is None or score < best[0] - 1e-9:
                    best = (score, j, t, side, left)
    return best


def reference_tree(X, y, w, criterion, min_leaf=1):
    """(feature, threshold, rows of node) in preorder."""
    found, waiting = [], [np.arange(len(X))]
    while waiting:
        rows = waiting.pop()
        best = None
        if (y[rows] != y[rows[0]]).any():
            best = reference_split(X[rows], y[rows], w[rows], criterion, min_leaf)
        if best is None:
            found.append((-2, -2.0, len(rows)))
            continue
        found.append((best[1], best[2], len(rows)))
        waiting += [rows[~best[4]], rows[best[4]]]
    return found


def cases(criterion, seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 22)), int(rng.integers(1, 4))
    X = rng.integers(0, 6, size=(n, d)).astype(float)
    if seed % 3 == 1:
        X[rng.random(X.shape) < 0.2] = np.nan
    w = np.ones(n)
    if seed % 2:
        w = rng.integers(1, 4, size=n).astype(float)
    if seed % 5 == 4:
        w = rng.random(n) + 0.2
    outputs = 2 if seed % 7 == 6 else 1
    y = rng.integers(0, 3, size=(n, outputs)).astype(float)
    if criterion in NUMBERS:
        y = y * rng.integers(1, 5, size=(n, 1))
    return X, y, w


@pytest.mark.parametrize("criterion", CLASSES + NUMBERS)
@pytest.mark.parametrize("min_leaf", [1, 3])
def test_every_split_is_the_brute_force_one(criterion, min_leaf):
    """All criteria, weights, missing values, several outputs."""
    for seed in range(35):
        X, y, w = cases(criterion, seed)
        target = y if criterion in NUMBERS else Classes(y.astype(int), np.full(y.shape[1], 3))
        tree = grow_tree(presort(X), target, w, Growth(criterion, min_samples_leaf=min_leaf))
        expected = reference_tree(X, y, w, criterion, min_leaf)
        assert tree.feature.tolist() == [node[0] for node in expected], seed
        assert tree.threshold.tolist() == [node[1] for node in expected], seed
        assert tree.n_node_samples.tolist() == [node[2] for node in expected], seed
        assert_allclose(tree.impurity[0], node_impurity(y, w, criterion), atol=1e-12)


@pytest.mark.parametrize("criterion", CLASSES + NUMBERS)
def test_values_and_impurities_of_every_node(criterion):
    X, y, w = cases(criterion, 21)
    target = y if criterion in NUMBERS else Classes(y.astype(int), np.full(y.shape[1], 3))
    tree = grow_tree(presort(X), target, w, Growth(criterion))
    leaf = tree.apply(X)
    _, parent = tree.depths()
    inside = {node: set() for node in range(tree.node_count)}
    for row, node in enumerate(leaf.tolist()):
        while node >= 0:
            inside[node].add(row)
            node = int(parent[node])
    for node, members in inside.items():
        rows = sorted(members)
        assert tree.n_node_samples[node] == len(rows)
        assert_allclose(tree.weighted_n_node_samples[node], w[rows].sum())
        assert_allclose(tree.impurity[node], node_impurity(y[rows], w[rows], criterion), atol=1e-12)
        if criterion in ("squared_error", "poisson"):
            assert_allclose(tree.value[node, 0, 0], np.average(y[rows, 0], weights=w[rows]))


def test_example_iris_observed_thresholds():
    """Trees, example 5: the sepal columns of iris."""
    X, y = load_iris(return_X_y=True)
    X = X[:, :2]
    search = SplitSearch("gini", threshold="observed")
    model = DecisionTreeClassifier(criterion=search, max_depth=2).fit(X, y)
    tree = model.tree_
    assert tree.feature.tolist() == [0, 1, -2, -2, 0, -2, -2]
    assert tree.threshold[[0, 1, 4]].tolist() == [5.4, 2.7, 6.1]
    root = best_split(X, y, threshold="observed")
    assert (root.n_left, root.n_right) == (52, 98)
    assert_allclose(root.score, 0.4389063318, atol=1e-9)
    assert_allclose(tree.value[1, 0] * 52, [45, 6, 1])
    assert_allclose(tree.value[4, 0] * 98, [5, 44, 49])
    below = X[:, 0] <= 5.4
    scores = [best_split(X[s], y[s], threshold="observed").score for s in (below, ~below)]
    assert_allclose(scores, [0.0980463980, 0.4546058593], atol=1e-9)
    assert_allclose(model.score(X, y), 0.7733333333, atol=1e-9)
    assert best_split(X, y).threshold == pytest.approx(5.45)


def test_example_regression_path():
    """Trees, example 6: six numbers."""
    X, y = np.arange(1.0, 7.0)[:, None], np.array([1.0, 2, 2, 6, 7, 9])
    split = best_split(X, y, criterion="squared_error")
    assert split.threshold == 3.5
    assert_allclose(split.score * 6, 16 / 3)
    path = DecisionTreeRegressor().cost_complexity_pruning_path(X, y)
    assert_allclose(path.ccp_alphas, [0, 1 / 12, 1 / 9, 25 / 36, 8.0277777778], atol=1e-9)


def distinct_table(seed, n=120, d=4):
    """No two questions tie: scikit-learn, which breaks ties at random, must agree."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 30, size=(n, d)).astype(float)
    return X, rng.normal(size=n) + X[:, 0] / 10 + (X[:, 1] > 12)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
@pytest.mark.parametrize(
    "limits",
    [
        {"min_samples_leaf": 8},
        {"min_samples_split": 30, "min_samples_leaf": 6},
        {"max_leaf_nodes": 6, "min_samples_leaf": 6},
        {"min_impurity_decrease": 0.02, "min_samples_leaf": 6},
        {"min_weight_fraction_leaf": 0.1},
        {"max_depth": 3, "min_samples_leaf": 5},
        {"ccp_alpha": 0.01, "min_samples_leaf": 6},
        {"min_samples_leaf": 0.07, "min_samples_split": 0.2},
    ],
    ids=lambda limits: "-".join(limits),
)
def test_agrees_with_scikit_learn(criterion, limits):
    X, y = distinct_table(1)
    y = y - y.min() + 0.1
    ours = DecisionTreeRegressor(criterion=criterion, **limits).fit(X, y)
    theirs = sklearn.tree.DecisionTreeRegressor(criterion=criterion, random_state=0, **limits)
    theirs.fit(X, y)
    assert ours.tree_.node_count == theirs.tree_.node_count
    assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-9)
    assert_allclose(np.sort(ours.tree_.impurity), np.sort(theirs.tree_.impurity), atol=1e-9)
    assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-9)


def loss(tree):
    """Total impurity of the leaves."""
    mass = tree.weighted_n_node_samples * tree.impurity
    return mass[tree.children_left < 0].sum()


def test_pruning_path_agrees_with_scikit_learn():
    X, y = distinct_table(2)
    for ours, theirs, target in [
        (DecisionTreeRegressor(min_samples_leaf=6), sklearn.tree.DecisionTreeRegressor, y),
        (DecisionTreeClassifier(min_samples_leaf=6), sklearn.tree.DecisionTreeClassifier, y > 1.5),
    ]:
        a = ours.cost_complexity_pruning_path(X, target)
        twin = theirs(min_samples_leaf=6, random_state=0)
        b = twin.cost_complexity_pruning_path(X, target)
        assert_allclose(a.ccp_alphas, b.ccp_alphas, atol=1e-10)
        assert_allclose(a.impurities, b.impurities, atol=1e-10)
        for alpha in b.ccp_alphas[1::2] + 1e-9:
            n = ours.set_params(ccp_alpha=alpha).fit(X, target).get_n_leaves()
            assert n == twin.set_params(ccp_alpha=alpha).fit(X, target).get_n_leaves()


def test_weights_equal_repetition_with_every_criterion():
    rng = np.random.default_rng(5)
    X, w = rng.normal(size=(80, 3)), rng.integers(0, 4, size=80)
    y = rng.normal(size=80) ** 2
    again = np.repeat(np.arange(80), w)
    for criterion in NUMBERS:
        a = DecisionTreeRegressor(criterion=criterion).fit(X, y, sample_weight=w)
        b = DecisionTreeRegressor(criterion=criterion).fit(X[again], y[again])
        assert_array_equal(a.tree_.feature, b.tree_.feature)
        assert_array_equal(a.tree_.threshold, b.tree_.threshold)
    for criterion in CLASSES:
        a = DecisionTreeClassifier(criterion=criterion).fit(X, y > 0.5, sample_weight=w)
        b = DecisionTreeClassifier(criterion=criterion).fit(X[again], y[again] > 0.5)
        assert_array_equal(a.tree_.feature, b.tree_.feature)
        assert_array_equal(a.tree_.threshold, b.tree_.threshold)


def test_the_order_of_rows_and_the_scale_of_weights_do_not_matter():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(200, 4)), rng.normal(size=200)
    turn = rng.permutation(200)
    a = DecisionTreeRegressor().fit(X, y).tree_
    b = DecisionTreeRegressor().fit(X[turn], y[turn]).tree_
    c = DecisionTreeRegressor().fit(X, y, sample_weight=np.full(200, 0.3)).tree_
    for other in (b, c):
        assert_array_equal(a.feature, other.feature)
        assert_array_equal(a.threshold, other.threshold)
        assert_allclose(a.value, other.value, atol=1e-12)


@pytest.mark.parametrize(
    "options",
    [{}, {"max_features": 2}, {"splitter": "random"}, {"max_leaf_nodes": 50}],
    ids=lambda options: "-".join(options) or "default",
)
@pytest.mark.parametrize("missing", [False, True])
def test_same_tree_for_any_number_of_threads(options, missing):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(9000, 5)).round(1)
    y = (X[:, 0] * X[:, 1] + rng.normal(size=9000)).round(2)
    if missing:
        X[rng.random(X.shape) < 0.05] = np.nan
    trees = []
    for n in (1, 2, 3):
        with limit_threads(n):
            model = DecisionTreeRegressor(min_samples_leaf=5, random_state=0, **options).fit(X, y)
            trees.append((model.tree_, model.predict(X)))
    for tree, predicted in trees[1:]:
        assert_array_equal(predicted, trees[0][1])
        for a, b in zip(tree, trees[0][0], strict=True):
            assert_array_equal(a, b)


def test_grows_deeper_than_any_recursion():
    """A staircase that only one question at a time can climb."""
    n = 1000
    X, y = np.arange(float(n))[:, None], 2.0 ** (0.4 * np.arange(n))
    model = DecisionTreeRegressor().fit(X, y)
    assert model.get_depth() > 100
    assert_array_equal(model.predict(X), y)
    path = model.cost_complexity_pruning_path(X, y)
    assert len(path.ccp_alphas) > 100
    alternate = np.arange(n) % 2
    deep = DecisionTreeClassifier(criterion="misclassification").fit(X, alternate)
    assert_array_equal(deep.predict(X), alternate)
    assert deep.decision_path(X[:5]).shape == (5, deep.tree_.node_count)


def test_xor_is_learnable_although_the_first_question_gains_nothing():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 2, [0, 1, 1, 0] * 2
    for criterion in CLASSES:
        assert DecisionTreeClassifier(criterion=criterion).fit(X, y).score(X, y) == 1.0


def test_missing_cells_go_where_the_gain_is_larger():
    X = np.array([[1.0], [2.0], [np.nan], [np.nan], [8.0], [9.0]])
    low = DecisionTreeClassifier().fit(X, [0, 0, 0, 0, 1, 1])
    assert low.predict([[np.nan]]).tolist() == [0]
    assert low.tree_.threshold[0] == 5.0
    alone = DecisionTreeClassifier().fit(X, [0, 0, 1, 1, 0, 0])
    assert alone.tree_.threshold[0] == np.inf
    assert alone.predict([[np.nan], [5.0]]).tolist() == [1, 0]
    known = DecisionTreeClassifier().fit([[1.0], [2.0], [3.0], [9.0]], [0, 0, 0, 1])
    assert known.predict([[np.nan]]).tolist() == [0]  # the larger side


def test_missing_cells_agree_with_scikit_learn():
    X, y = distinct_table(9, n=300)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    for ours, theirs, target in [
        (DecisionTreeRegressor, sklearn.tree.DecisionTreeRegressor, y),
        (DecisionTreeClassifier, sklearn.tree.DecisionTreeClassifier, y > 1.5),
    ]:
        a = ours(min_samples_leaf=15).fit(X, target)
        b = theirs(min_samples_leaf=15, random_state=0).fit(X, target)
        assert a.tree_.node_count == b.tree_.node_count
        assert_allclose(a.predict(X), b.predict(X))


def test_several_outputs_agree_with_scikit_learn():
    X, y = distinct_table(11, n=200)
    Y = np.column_stack([y, X[:, 2] + y**2])
    a = DecisionTreeRegressor(min_samples_leaf=9).fit(X, Y)
    b = sklearn.tree.DecisionTreeRegressor(min_samples_leaf=9, random_state=0).fit(X, Y)
    assert_allclose(a.predict(X), b.predict(X))
    labels = np.column_stack([np.where(y > 1.5, "b", "a"), np.where(X[:, 2] > 9, "d", "c")])
    c = DecisionTreeClassifier(max_depth=2).fit(X, labels)
    d = sklearn.tree.DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, labels)
    assert_allclose(loss(c.tree_), loss(d.tree_))
    assert_array_equal(c.predict(X), d.predict(X))
    for p, q in zip(c.predict_proba(X), d.predict_proba(X), strict=True):
        assert_allclose(p, q)
    assert [list(k) for k in c.classes_] == [["a", "b"], ["c", "d"]]
    assert c.n_outputs_ == 2


@pytest.mark.parametrize("criterion", NUMBERS)
@pytest.mark.parametrize("sign", [1, -1])
def test_monotonic_constraints_hold(criterion, sign):
    rng = np.random.default_rng(13)
    X = rng.normal(size=(300, 2))
    y = np.exp(np.sin(3 * X[:, 0])) + np.abs(X[:, 1])
    model = DecisionTreeRegressor(criterion=criterion, monotonic_cst=[sign, 0]).fit(X, y)
    grid = np.linspace(-3, 3, 200)
    for other in np.linspace(-2, 2, 9):
        path = model.predict(np.column_stack([grid, np.full(200, other)]))
        assert (sign * np.diff(path) >= -1e-12).all()


def test_monotonic_constraints_agree_with_scikit_learn():
    X, y = distinct_table(14, n=200)
    for ours, theirs, target in [
        (DecisionTreeRegressor, sklearn.tree.DecisionTreeRegressor, y),
        (DecisionTreeClassifier, sklearn.tree.DecisionTreeClassifier, (y > 1.5).astype(int)),
    ]:
        options = {"monotonic_cst": [1, -1, 0, 1], "min_samples_leaf": 12, "max_depth": 3}
        a = ours(**options).fit(X, target)
        b = theirs(random_state=0, **options).fit(X, target)
        assert_allclose(a.tree_.value.ravel(), b.tree_.value.ravel(), atol=1e-9)
    with pytest.raises(ValueError, match="multiclass"):
        DecisionTreeClassifier(monotonic_cst=[1, 0, 0, 0]).fit(X, np.arange(200) % 3)
    with pytest.raises(ValueError, match="multiple outputs"):
        DecisionTreeRegressor(monotonic_cst=[1, 0, 0, 0]).fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="features"):
        DecisionTreeRegressor(monotonic_cst=[1]).fit(X, y)


def test_class_weights():
    X, y = distinct_table(15, n=200)
    target = (y > 2.5).astype(int)
    for weight in ("balanced", {0: 1.0, 1: 5.0}):
        a = DecisionTreeClassifier(class_weight=weight, max_depth=2).fit(X, target)
        b = sklearn.tree.DecisionTreeClassifier(
            class_weight=weight, max_depth=2, random_state=0
        ).fit(X, target)
        assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-12)


def test_random_splitter_and_drawn_features():
    X, y = distinct_table(16, n=400)
    a = DecisionTreeRegressor(splitter="random", random_state=1).fit(X, y)
    b = DecisionTreeRegressor(splitter="random", random_state=2).fit(X, y)
    assert a.score(X, y) > 0.9
    assert not np.array_equal(a.tree_.threshold, b.tree_.threshold)
    roots = [
        DecisionTreeRegressor(max_features=1, max_depth=1, random_state=s)
        .fit(X, y)
        .tree_.feature[0]
        for s in range(60)
    ]
    assert set(roots) == {0, 1, 2, 3}
    constant = np.column_stack([np.zeros(400), X[:, 0], np.zeros((400, 6))])
    model = DecisionTreeRegressor(max_features=1, random_state=0).fit(constant, y)
    assert model.tree_.node_count > 1  # draws until a feature varies


def test_walks():
    X, y = distinct_table(17)
    model = DecisionTreeRegressor(max_depth=4).fit(X, y)
    leaves, paths = model.apply(X), model.decision_path(X)
    assert_array_equal(paths.toarray()[np.arange(len(X)), leaves], 1)
    assert (paths.sum(axis=1) <= 5).all()
    assert_array_equal(model.apply(csr_array(X)), leaves)
    mean, std = model.predict(X, return_std=True)
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        assert_allclose(mean[rows], y[rows].mean())
        assert_allclose(std[rows], y[rows].std(), atol=1e-12)


def test_degenerate_tables():
    one = DecisionTreeRegressor().fit([[1.0], [2.0]], [3.0, 3.0])
    assert (one.tree_.node_count, one.predict([[9.0]])[0], one.get_depth()) == (1, 3.0, 0)
    same = DecisionTreeClassifier().fit([[1.0], [1.0]], ["a", "b"])
    assert same.predict([[1.0]])[0] == "a"  # tie: the lowest label
    assert_allclose(same.predict_proba([[1.0]]), [[0.5, 0.5]])
    only = DecisionTreeClassifier().fit([[1.0], [2.0]], ["a", "a"])
    assert only.predict_proba([[1.0]]).tolist() == [[1.0]]
    gone = DecisionTreeRegressor().fit([[np.nan], [np.nan]], [1.0, 2.0])
    assert gone.predict([[0.0]])[0] == 1.5
    assert DecisionTreeRegressor().fit([[1.0]], [2.0]).predict([[5.0]])[0] == 2.0
    with pytest.raises(ValueError, match="too large"):
        DecisionTreeRegressor().fit([[1.0], [2.0]], [1e200, -1e200])
    with pytest.raises(ValueError, match="negative"):
        DecisionTreeRegressor(criterion="poisson").fit([[1.0], [2.0]], [-1.0, 2.0])


def test_neighbouring_doubles_are_told_apart():
    """float64 throughout, also where the midpoint rounds up to the larger value."""
    a = 1.0 + 2.0**-52
    X = np.array([[1.0], [a]])
    model = DecisionTreeClassifier().fit(X, [0, 1])
    assert model.predict(X).tolist() == [0, 1]
    big = np.array([[1.7e308], [1.6e308]])
    assert DecisionTreeRegressor().fit(big, [0.0, 1.0]).predict(big).tolist() == [0.0, 1.0]


def test_recovers_a_piecewise_constant_function():
    rng = np.random.default_rng(20)
    X = rng.uniform(size=(2000, 3))
    f = np.where(X[:, 0] < 0.3, 1.0, np.where(X[:, 2] < 0.6, 5.0, -2.0))
    model = DecisionTreeRegressor(ccp_alpha=0.01).fit(X, f + 0.3 * rng.normal(size=2000))
    assert model.get_n_leaves() <= 4  # the greedy root may cut across
    assert_allclose(
        model.predict([[0.1, 0, 0], [0.9, 0, 0.1], [0.9, 0, 0.9]]), [1, 5, -2], atol=0.1
    )


def test_forest_interface_bootstrap_counts():
    """Counts as weights give the tree of the repeated rows; the presorted table is untouched."""
    rng = np.random.default_rng(21)
    X, y = rng.normal(size=(150, 4)), rng.integers(0, 3, size=150)
    data = presort(X)
    before = data.order.copy()
    labels = Classes(y[:, None], np.array([3]))
    for seed in range(3):
        draw = np.random.default_rng(seed).integers(150, size=150)
        counts = np.bincount(draw, minlength=150).astype(float)
        tree = grow_tree(data, labels, counts, Growth("gini"), seed)
        repeated = DecisionTreeClassifier().fit(X[draw], y[draw])
        assert_array_equal(tree.threshold, repeated.tree_.threshold)
    assert_array_equal(data.order, before)


def test_card_says_why_and_how():
    card = DecisionTreeClassifier(max_leaf_nodes=3).fit([[0], [1], [2]], [0, 1, 0]).card()
    assert "NP-hard" in card.optimisation
    assert card.numbers["leaves"] == 3


@pytest.mark.parametrize("criterion", ["absolute_error", "squared_error"])
@pytest.mark.parametrize("name", ["DecisionTreeRegressor", "ExtraTreesRegressor"])
def test_monotonic_constraints_hold_for_every_criterion(name, criterion):
    """Rows that differ in the constrained column only are predicted in its order."""
    import pellucid

    rng = np.random.default_rng(0)
    for seed in range(4):
        X = rng.normal(size=(150, 3))
        y = X[:, 1] - 0.3 * X[:, 0] + rng.standard_t(2, size=150)
        more = {"n_estimators": 10} if name == "ExtraTreesRegressor" else {}
        ask = {"criterion": criterion, "monotonic_cst": [1, 0, 0], "random_state": seed, **more}
        model = getattr(pellucid, name)(**ask).fit(X, y)
        for row in rng.normal(size=(20, 3)):
            line = np.tile(row, (40, 1))
            line[:, 0] = np.linspace(-3, 3, 40)
            assert np.diff(model.predict(line)).min() >= -1e-12
