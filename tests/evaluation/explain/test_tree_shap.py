"""Shapley values of trees: against all subsets, and by the laws that define them."""

from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from pellucid import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    LinearRegression,
    RandomForestClassifier,
    RandomForestRegressor,
)
from pellucid.core.runtime.threads import limit_threads
from pellucid.ensemble.tree_sums import table_of, tree_sum
from pellucid.evaluation import tree_shap
from pellucid.evaluation.explain.tree_shapley import shares


def goes_left(trees, i, x):
    if np.isnan(x):
        return trees.missing_left[i]
    if trees.category[i] >= 0:
        k = int(x)
        return int(trees.sets[trees.category[i], k >> 6]) >> (k & 63) & 1
    return x <= trees.threshold[i]


def expectation(trees, t, x, known):
    """v(S): follow the tree, both ways where the feature is not known."""
    a = trees.start[t]

    def below(i):
        f = trees.feature[i]
        if f < 0:
            return trees.value[i]
        left, right = i + 1, a + trees.right[i]
        if f in known:
            return below(left if goes_left(trees, i, x[f]) else right)
        w = trees.weight
        return (w[left] * below(left) + w[right] * below(right)) / w[i]

    return below(a)


def by_subsets(trees, x):
    p = trees.n_features
    out = np.zeros((p, len(trees.constant)))
    subsets = [S for size in range(p + 1) for S in combinations(range(p), size)]
    for t in range(trees.n_trees):
        v = {S: expectation(trees, t, x, S) for S in subsets}
        columns = slice(trees.column[t], trees.column[t] + trees.value.shape[1])
        for f in range(p):
            for S in subsets:
                if f not in S:
                    w = factorial(len(S)) * factorial(p - len(S) - 1) / factorial(p)
                    out[f, columns] += w * (v[tuple(sorted((*S, f)))] - v[S])
    return out


def table(seed, missing=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 4))
    X[:, 3] = rng.integers(0, 5, 80)
    y = 2 * X[:, 0] + X[:, 1] * X[:, 2] + np.isin(X[:, 3], [0, 3]) + 0.1 * rng.normal(size=80)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


SMALL = {"max_iter": 3, "min_samples_leaf": 4}
MODELS = {
    "deep tree": (DecisionTreeRegressor(), "number", True),
    "stump": (DecisionTreeRegressor(max_depth=1), "number", True),
    "class tree": (DecisionTreeClassifier(max_depth=5), "classes", True),
    "forest": (RandomForestRegressor(4, random_state=0), "number", True),
    "class forest": (RandomForestClassifier(3, random_state=0), "classes", True),
    "boosting": (GradientBoostingRegressor(n_estimators=4), "number", False),
    "class boosting": (GradientBoostingClassifier(n_estimators=2), "classes", False),
    "two classes": (GradientBoostingClassifier(n_estimators=3, subsample=0.7), "two", False),
    "bins": (HistGradientBoostingRegressor(**SMALL), "number", True),
    "class bins": (HistGradientBoostingClassifier(**SMALL), "classes", True),
    "categories": (HistGradientBoostingRegressor(categorical_features=[3], **SMALL), "number", 1),
}


def fitted(name, seed):
    model, kind, missing = MODELS[name]
    X, y = table(seed, bool(missing))
    target = {"number": y, "two": y > 0, "classes": np.digitize(y, [-1, 1])}[kind]
    return model.fit(X, target), X


def said(model, found, X):
    if found.scale.startswith("probability"):
        return model.predict_proba(X)
    return model.decision_function(X) if hasattr(model, "classes_") else model.predict(X)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", list(MODELS))
def test_equals_all_subsets_and_sums_to_the_prediction(name, seed):
    model, X = fitted(name, seed)
    trees = tree_sum(model)
    rows = table_of(model, X[:4])
    expected = np.array([by_subsets(trees, x) for x in rows])
    assert_allclose(shares(trees, rows), expected, atol=1e-12)
    found = tree_shap(model, X)
    assert_allclose(found.values[:4].reshape(expected.shape), expected, atol=1e-12)
    assert_allclose(found.base + found.values.sum(axis=1), said(model, found, X), atol=1e-10)
    if name == "categories":
        assert (trees.category >= 0).any()


def test_deep_paths_stay_exact():
    """Sixty levels on thirty features: thousands of factors, and still the sum is the answer."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 30))
    model = DecisionTreeRegressor(splitter="random", random_state=0).fit(X, rng.normal(size=3000))
    assert model.get_depth() > 20
    found = tree_shap(model, X[:70])
    assert_allclose(found.base + found.values.sum(axis=1), model.predict(X[:70]), atol=1e-10)


def test_categories_of_a_tree_and_a_forest():
    """Subset splits: the bits of the levels, and a level that training never showed."""
    rng = np.random.default_rng(0)
    kind, x = rng.choice(list("abcdefg"), 200), rng.normal(size=200)
    y = np.isin(kind, ["a", "d", "g"]) * 2.0 + x * (kind == "b")
    frame = pd.DataFrame({"kind": pd.Categorical(kind), "x": x})
    new = pd.DataFrame({"kind": pd.Categorical(["a", "zebra", None]), "x": [0.0, 1.0, -1.0]})
    for model in (
        DecisionTreeRegressor(max_depth=5, categorical_features="from_dtype"),
        RandomForestRegressor(4, random_state=0, categorical_features="from_dtype"),
    ):
        model.fit(frame, y)
        trees = tree_sum(model)
        assert (trees.category >= 0).any()
        for rows in (frame[:5], new):
            table = table_of(model, rows)
            expected = np.array([by_subsets(trees, row) for row in table])
            found = tree_shap(model, rows)
            assert_allclose(found.values[:, :, None], expected, atol=1e-12)
            assert_allclose(found.prediction, model.predict(rows), atol=1e-12)


def test_base_is_the_mean_of_the_training_rows():
    X, y = table(5)
    w = np.random.default_rng(0).integers(1, 4, 80)
    model = DecisionTreeRegressor(max_depth=4).fit(X, y, sample_weight=w)
    assert tree_shap(model, X[:1]).base == pytest.approx(np.average(y, weights=w))


def test_unused_feature_symmetry_and_additive_trees():
    """A feature never asked gets 0; twins share equally; a sum of trees has the sum of shares."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (64, 3)).astype(float)
    model = DecisionTreeRegressor().fit(X, X[:, 0] + X[:, 1])
    found = tree_shap(model, [[1.0, 1.0, 0.0]])
    assert found.values[0, 2] == 0
    forest, X = fitted("forest", 2)
    whole = tree_shap(forest, X).values
    parts = [tree_shap(tree, X).values for tree in forest.estimators_]
    assert_allclose(whole, np.mean(parts, axis=0), atol=1e-12)


def test_same_bits_for_any_number_of_threads():
    model, X = fitted("class bins", 0)
    found = []
    for threads in (1, 2):
        with limit_threads(threads):
            found.append(tree_shap(model, X).values)
    assert np.array_equal(*found)


def test_words_and_frames():
    X, y = table(0, missing=False)
    frame = pd.DataFrame(X, columns=["length", "width", "age", "kind"])
    model = RandomForestClassifier(10, random_state=0).fit(frame, np.where(y > 0, "yes", "no"))
    found = tree_shap(model, frame)
    assert found.names == ("length", "width", "age", "kind")
    assert found.outputs == ("no", "yes")
    text = found.explain(3, "yes", most=2)
    assert text.startswith("Row 3: probability of yes")
    assert "2 others" in text
    assert "mean of the training rows" in text
    assert found.mean_absolute().argmax() == 0
    assert found.to_frame().shape == (80 * 4 * 2, 4)
    one = found.output("yes")
    assert_allclose(one.values, -found.output("no").values, atol=1e-12)
    assert str(one).startswith("Mean size of the shares")


def test_refusals():
    X, y = table(0, missing=False)
    with pytest.raises(TypeError, match="got LinearRegression"):
        tree_shap(LinearRegression().fit(X, y), X)
    model = GradientBoostingRegressor(n_estimators=2, init=LinearRegression()).fit(X, y)
    with pytest.raises(ValueError, match="must be a constant"):
        tree_shap(model, X)
    two = DecisionTreeClassifier().fit(X, np.column_stack([y > 0, y > 1]))
    with pytest.raises(ValueError, match="one target of classes"):
        tree_shap(two, X)
    found = tree_shap(DecisionTreeRegressor().fit(X, y), X)
    with pytest.raises(ValueError, match="row must be"):
        found.explain(80)
