"""Boosted trees on bins against scikit-learn, brute force, and their own promises."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.ensemble
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_iris,
    load_wine,
    make_classification,
)
from threadpoolctl import threadpool_limits

import pellucid
from pellucid import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from pellucid.core.runtime.threads import limit_threads
from pellucid.ensemble import Growth
from pellucid.ensemble.boosting import boosted_trees


def table(n=600, p=5, seed=0, missing=0.0):
    """Columns with 40 values each: the bins of every library are the same."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 40, size=(n, p)).astype(float)
    z = np.sin(X[:, 0] / 6) * X[:, 1] / 10 + X[:, 2] / 20 + 0.3 * rng.normal(size=n)
    X[rng.random(X.shape) < missing] = np.nan
    return X, z


def tree_splits(model, t=0):
    """Columns, thresholds and leaf values of one tree."""
    a, b = model.trees_.node_start[t : t + 2]
    c, d = model.trees_.leaf_start[t : t + 2]
    return model.trees_.feature[a:b], model.trees_.threshold[a:b], model.trees_.value[c:d]


# --- against scikit-learn and brute force --------------------------------------------------


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson", "gamma"])
def test_regression_is_that_of_scikit_learn(loss, missing):
    X, z = table(missing=missing)
    y = np.exp(z / 3) if loss in ("poisson", "gamma") else z
    params = {"loss": loss, "max_iter": 15, "l2_regularization": 0.5}
    ours = HistGradientBoostingRegressor(**params).fit(X, y)
    theirs = sklearn.ensemble.HistGradientBoostingRegressor(**params).fit(X, y)
    if loss == "absolute_error" and missing:  # gradients are -1 and 1: many equally good splits
        a, b = (np.abs(y - model.predict(X)).mean() for model in (ours, theirs))
        assert a == pytest.approx(b, rel=0.03)
        return
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-5)  # theirs: float32


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classification_is_that_of_scikit_learn(n_classes):
    """Class weights change scikit-learn's bins of more than 255 values, so 250 rows for them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000, 5))
    z = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=1_000)
    X, z = (X[:250], z[:250]) if n_classes == 2 else (X, z)
    y = np.digitize(z, [0.0] if n_classes == 2 else [-0.5, 0.5])
    params = {"max_iter": 10, "class_weight": {0: 2.0} if n_classes == 2 else None}
    ours = HistGradientBoostingClassifier(**params).fit(X, y)
    theirs = sklearn.ensemble.HistGradientBoostingClassifier(**params).fit(X, y)
    assert ours.n_trees_per_iteration_ == theirs.n_trees_per_iteration_ == 2 * n_classes - 3
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize(
    "params",
    [
        {"max_depth": 2},
        {"max_leaf_nodes": 4, "min_samples_leaf": 50},
        {"max_leaf_nodes": None, "min_samples_leaf": 5},
        {"max_bins": 8},
        {"interaction_cst": "pairwise"},
        {"interaction_cst": "no_interactions"},
        {"interaction_cst": [[0, 1], [2]]},
        {"learning_rate": 0.5, "l2_regularization": 30.0},
    ],
    ids=str,
)
def test_limits_are_those_of_scikit_learn(params):
    X, z = table()
    ours = HistGradientBoostingRegressor(max_iter=8, **params).fit(X, z)
    theirs = sklearn.ensemble.HistGradientBoostingRegressor(max_iter=8, **params).fit(X, z)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-6)


def test_a_bounded_leaf_counts_by_what_it_gains():
    """scikit-learn's gain of a leaf at its bound is G v; ours -2 G v - (H + l2) v^2, exact."""
    X, z = table()
    params = {"max_iter": 8, "monotonic_cst": [0, 1, 1, 0, -1]}
    ours = HistGradientBoostingRegressor(**params).fit(X, z)
    theirs = sklearn.ensemble.HistGradientBoostingRegressor(**params).fit(X, z)
    a, b = (np.mean((z - model.predict(X)) ** 2) for model in (ours, theirs))
    assert a <= 1.02 * b


def best_split(codes, g, h, rows, *, min_leaf, l2, min_gain):
    """Every split of every column, missing cells on either side: (gain, column, left rows)."""
    G, H = g[rows].sum(), h[rows].sum()
    best = (0.0, None, None)
    for f, side in itertools.product(range(codes.shape[1]), (False, True)):
        c = codes[rows, f]
        for b in np.unique(c[c < 255]):
            left = np.where(c == 255, side, c <= b)
            if min(left.sum(), (~left).sum()) < min_leaf:
                continue
            GL, HL = g[rows][left].sum(), h[rows][left].sum()
            gain = GL**2 / (HL + l2) + (G - GL) ** 2 / (H - HL + l2) - G**2 / (H + l2)
            gain = 0.5 * gain - min_gain
            if gain > best[0] + 1e-9:
                best = (gain, f, rows[left])
    return best


def grow(codes, g, h, *, leaves, l2, **limits):
    """A tree by brute force, best leaf first: the leaf value of every row."""
    parts = [np.arange(len(g))]
    while len(parts) < leaves:
        found = [best_split(codes, g, h, rows, l2=l2, **limits) for rows in parts]
        k = int(np.argmax([gain for gain, _, _ in found]))
        if found[k][1] is None:
            break
        left = found[k][2]
        parts.append(np.setdiff1d(parts[k], left))
        parts[k] = left
    value = np.empty(len(g))
    for rows in parts:
        value[rows] = -g[rows].sum() / (h[rows].sum() + l2)
    return value, len(parts)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("loss", ["squared_error", "poisson"])
def test_trees_are_those_of_brute_force(seed, loss):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, size=(70, 3)).astype(float)
    X[rng.random(X.shape) < 0.15] = np.nan
    y = np.exp(rng.normal(size=70) + 0.3 * np.nan_to_num(X[:, 0]))
    growth = Growth(min_samples_leaf=4, min_gain=0.05)
    model = HistGradientBoostingRegressor(
        loss, max_iter=3, max_leaf_nodes=7, l2_regularization=0.7, growth=growth, learning_rate=0.3
    ).fit(X, y)
    codes = np.where(np.isnan(X), 255, X)
    F = np.full(70, model._baseline[0])
    for t, stage in enumerate(model.staged_predict(X)):
        mu = F if loss == "squared_error" else np.exp(F)
        g, h = mu - y, np.ones(70) if loss == "squared_error" else mu
        value, leaves = grow(codes, g, h, leaves=7, l2=0.7, min_leaf=4, min_gain=0.05)
        assert leaves == len(tree_splits(model, t)[2])
        F = F + 0.3 * value
        np.testing.assert_allclose(stage, F if loss == "squared_error" else np.exp(F), rtol=1e-8)


def test_categories_are_split_into_the_best_two_sets():
    """Fisher: of all 2^(k-1) - 1 pairs of sets one that is ordered by the means is best."""
    rng = np.random.default_rng(3)
    c = rng.integers(0, 7, size=700).astype(float)
    y = rng.normal(size=7)[c.astype(int)] + 0.1 * rng.normal(size=700)
    model = HistGradientBoostingRegressor(
        max_iter=1, max_leaf_nodes=2, learning_rate=1.0, categorical_features=[0]
    ).fit(c[:, None], y)
    best = min(
        sum(((y[side] - y[side].mean()) ** 2).sum() for side in (inside, ~inside))
        for size in (1, 2, 3)
        for chosen in itertools.combinations(range(7), size)
        for inside in [np.isin(c, chosen)]
    )
    assert ((y - model.predict(c[:, None])) ** 2).sum() == pytest.approx(best, rel=1e-9)


# --- the same answer, however it comes about -----------------------------------------------


def test_same_model_for_any_number_of_threads():
    """More rows than one thread takes, so that the threads really share the work."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9_000, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.digitize(np.nan_to_num(X).sum(axis=1) + rng.normal(size=9_000), [-1, 1])
    models = []
    for n in (1, 2, 3):
        with limit_threads(n):
            models.append(HistGradientBoostingClassifier(max_iter=5).fit(X, y))
    for model in models[1:]:
        for a, b in zip(models[0].trees_, model.trees_, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_a_small_pool_of_sums_gives_the_same_trees(monkeypatch, n_threads):
    """Deep trees that run out of memory for sums add rows up again instead."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(7_000, 3)), rng.normal(size=7_000)
    model = HistGradientBoostingRegressor(
        max_iter=2, max_leaf_nodes=None, min_samples_leaf=20, early_stopping=False
    )
    plenty = model.fit(X, y).trees_
    assert np.diff(plenty.leaf_start).min() > 64  # walked, not read by bits
    monkeypatch.setattr(boosted_trees, "POOL_BYTES", 5 * 3 * 4096)
    with limit_threads(n_threads):
        few = model.fit(X, y).trees_
    for a, b in zip(plenty, few, strict=True):
        np.testing.assert_array_equal(a, b)


def test_every_row_alone():
    X = np.arange(50.0)[:, None]
    y = np.random.default_rng(0).normal(size=50)
    model = HistGradientBoostingRegressor(
        max_iter=1, learning_rate=1.0, max_leaf_nodes=None, min_samples_leaf=1
    ).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-12)
    assert len(model.trees_.value) == 50


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson"])
def test_weights_are_repetitions(loss):
    X, z = table(400, missing=0.1)
    y = np.exp(z / 3)
    w = np.random.default_rng(1).integers(0, 4, size=400)
    params = {"loss": loss, "max_iter": 20, "categorical_features": [3]}
    weighted = HistGradientBoostingRegressor(**params).fit(X, y, sample_weight=w)
    repeated = HistGradientBoostingRegressor(**params).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-9)


def test_weights_that_are_not_whole():
    X, z = table(400)
    w = np.random.default_rng(1).random(400) + 0.5
    params = {"max_iter": 5, "min_samples_leaf": 1, "max_leaf_nodes": 8}
    ours = HistGradientBoostingRegressor(**params).fit(X, z, sample_weight=w)
    theirs = sklearn.ensemble.HistGradientBoostingRegressor(**params).fit(X, z, sample_weight=w)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-6)


def test_a_class_without_weight_is_absent():
    X, z = table(300)
    y = np.digitize(z, [0.5, 1.5])
    model = HistGradientBoostingClassifier(max_iter=3).fit(X, y, sample_weight=(y != 1) * 1.0)
    assert model.classes_.tolist() == [0, 2]
    assert model.decision_function(X).shape == (300,)


@pytest.mark.parametrize("kind", [np.float32, np.int64, np.int8])
def test_types_of_numbers(kind):
    X, z = table()
    a, b = (HistGradientBoostingRegressor(max_iter=3).fit(A, z) for A in (X, X.astype(kind)))
    np.testing.assert_array_equal(a.predict(X), b.predict(X.astype(kind)))


# --- categories ----------------------------------------------------------------------------


def words():
    rng = np.random.default_rng(0)
    word = rng.choice(["red", "green", "blue", "grey"], size=400)
    number = rng.normal(size=400)
    return word, number, np.where(np.isin(word, ["red", "grey"]), 3.0, 0.0) + number


def frames():
    word, number, _ = words()
    return {
        "pandas": pd.DataFrame({"c": pd.Categorical(word), "x": number}),
        "polars": pl.DataFrame({"c": pl.Series(word, dtype=pl.Categorical), "x": number}),
        "enum": pl.DataFrame({"c": pl.Series(word, dtype=pl.Enum(np.unique(word))), "x": number}),
        "text": pl.DataFrame({"c": word, "x": number}),
    }


@pytest.mark.parametrize("kind", ["pandas", "polars", "enum", "text"])
def test_categories_of_frames(kind):
    X, y = frames()[kind], words()[2]
    asked = ["c"] if kind == "text" else "from_dtype"
    model = HistGradientBoostingRegressor(categorical_features=asked).fit(X, y)
    assert model.is_categorical_.tolist() == [True, False]
    assert model.score(X, y) > 0.97
    codes = np.column_stack([np.unique(words()[0], return_inverse=True)[1], words()[1]])
    for asked in ([True, False], [0]):
        plain = HistGradientBoostingRegressor(categorical_features=asked).fit(codes, y)
        np.testing.assert_array_equal(plain.predict(codes), model.predict(X))


def test_frames_of_other_order_of_categories_give_the_same():
    word, number, y = words()
    model = HistGradientBoostingRegressor(max_iter=5).fit(frames()["pandas"], y)
    other = pd.DataFrame({"c": pd.Categorical(word, ["red", "grey", "green", "blue"]), "x": number})
    np.testing.assert_array_equal(model.predict(other), model.predict(frames()["pandas"]))


def test_unseen_categories_are_missing():
    X, y = frames()["pandas"], words()[2]
    model = HistGradientBoostingRegressor(max_iter=5).fit(X, y)
    new = pd.DataFrame({"c": pd.Categorical(["pink", None]), "x": [0.1, 0.1]})
    a, b = model.predict(new)
    assert a == b


def test_no_more_than_255_categories():
    y = np.random.default_rng(0).normal(size=512)
    for levels in (256, 300):
        X = (np.arange(512) % levels)[:, None]
        with pytest.raises(ValueError, match=rf"column 0.*{levels} categories.*255"):
            HistGradientBoostingRegressor(categorical_features=[0]).fit(X, y)
    X = (np.arange(512) % 255)[:, None]
    HistGradientBoostingRegressor(categorical_features=[0], max_iter=2).fit(X, y)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("all", "from_dtype"),
        ([7], "column 7"),
        (["height"], "'height'"),
        ([True], "1 truth values for 5"),
        ([0.5], "column numbers"),
    ],
)
def test_bad_categorical_features(asked, message):
    X, z = table(60)
    with pytest.raises(ValueError, match=message):
        HistGradientBoostingRegressor(categorical_features=asked).fit(X, z)


# --- constraints ---------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "quantile", "poisson"])
@pytest.mark.parametrize("seed", range(3))
def test_monotone(loss, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(500, 3))
    y = np.sin(2 * X[:, 0]) - X[:, 1] ** 2 + X[:, 0] * X[:, 2] + 0.2 * rng.normal(size=500)
    y = np.exp(y) if loss == "poisson" else y
    model = HistGradientBoostingRegressor(
        loss, quantile=0.8 if loss == "quantile" else None, max_iter=30, min_samples_leaf=5,
        monotonic_cst=[1, -1, 0],
    ).fit(X, y)  # fmt: skip
    grid = np.linspace(-2.5, 2.5, 60)
    for j, sign in ((0, 1), (1, -1)):
        for row in X[:20]:
            line = np.tile(row, (60, 1))
            line[:, j] = grid
            assert (sign * np.diff(model.predict(line)) >= 0).all()


def test_monotone_by_name_and_refusals():
    X, z = table(200)
    frame = pd.DataFrame(X, columns=list("abcde"))
    by_name = HistGradientBoostingRegressor(max_iter=3, monotonic_cst={"b": 1}).fit(frame, z)
    by_place = HistGradientBoostingRegressor(max_iter=3, monotonic_cst=[0, 1, 0, 0, 0]).fit(X, z)
    np.testing.assert_array_equal(by_name.predict(frame), by_place.predict(X))
    for cst, message in (({"f": 1}, "'f'"), ([1], "5 columns"), ([2, 0, 0, 0, 0], "-1, 0 or 1")):
        with pytest.raises(ValueError, match=message):
            HistGradientBoostingRegressor(monotonic_cst=cst).fit(frame, z)
    with pytest.raises(ValueError, match="no order"):
        HistGradientBoostingRegressor(monotonic_cst=[1, 0, 0, 0, 0], categorical_features=[0]).fit(
            X, z
        )


def test_columns_meet_only_where_they_may():
    """With no interactions the model is a sum of functions of one column."""
    X, z = table(500)
    model = HistGradientBoostingRegressor(interaction_cst="no_interactions").fit(X, z)
    a, b = X[:40].copy(), X[40:80].copy()
    both = model.predict(a) + model.predict(b)
    a[:, 1], b[:, 1] = b[:, 1].copy(), a[:, 1].copy()
    np.testing.assert_allclose(model.predict(a) + model.predict(b), both, atol=1e-12)
    with pytest.raises(ValueError, match=r"columns in 0\.\.4"):
        HistGradientBoostingRegressor(interaction_cst=[[0, 9]]).fit(X, z)


def test_max_features_draws_columns():
    X, z = table(500)
    X[:, 3] = X[:, 2]  # one column stands in for the other
    few = [
        HistGradientBoostingRegressor(max_iter=10, max_features=0.2, random_state=s).fit(X, z)
        for s in (0, 0, 1)
    ]
    np.testing.assert_array_equal(few[0].predict(X), few[1].predict(X))
    assert (few[0].predict(X) != few[2].predict(X)).any()
    assert (few[0].feature_importances_ > 0).all()


def test_min_gain_is_the_price_of_a_leaf():
    X, z = table(500)
    leaves = [
        len(HistGradientBoostingRegressor(max_iter=1, growth=Growth(min_gain=c)).fit(X, z)
            .trees_.value)
        for c in (0.0, 1.0, 5.0, 1e9)
    ]  # fmt: skip
    assert leaves == sorted(leaves, reverse=True)
    assert leaves[-1] == 1
    model = HistGradientBoostingRegressor(max_iter=1, growth=Growth(min_gain=1.0)).fit(X, z)
    assert (model.trees_.gain > 0).all()


# --- degenerate tables ---------------------------------------------------------------------


def test_one_row_and_constant_targets():
    assert HistGradientBoostingRegressor().fit([[1.0, 2.0]], [3.0]).predict([[0, 0]]) == [3.0]
    X, _ = table(100)
    for loss in ("squared_error", "absolute_error", "poisson", "gamma"):
        model = HistGradientBoostingRegressor(loss, max_iter=3).fit(X, np.full(100, 2.5))
        np.testing.assert_allclose(model.predict(X), 2.5, rtol=1e-12)
    assert (model.feature_importances_ == 0).all()


def test_constant_and_empty_columns():
    X, z = table(300)
    plain = HistGradientBoostingRegressor(max_iter=5).fit(X, z)
    more = np.column_stack([X, np.ones(300), np.full(300, np.nan)])
    model = HistGradientBoostingRegressor(max_iter=5).fit(more, z)
    np.testing.assert_array_equal(plain.predict(X), model.predict(more))
    with_category = HistGradientBoostingRegressor(max_iter=5, categorical_features=[6])
    np.testing.assert_array_equal(with_category.fit(more, z).predict(more), plain.predict(X))


def test_missing_cells_that_training_had_none_of_follow_the_heavier_child():
    x = np.arange(100.0)[:, None]
    model = HistGradientBoostingRegressor(max_iter=1, max_leaf_nodes=2).fit(x, x[:, 0] > 70)
    assert model.predict([[np.nan]]) == model.predict([[0.0]])


def test_neighbouring_numbers_and_large_ones():
    x = np.array([1.0, np.nextafter(1.0, 2.0)] * 50)[:, None]
    model = HistGradientBoostingRegressor(max_iter=1, learning_rate=1.0).fit(x, x[:, 0] > 1)
    np.testing.assert_allclose(model.predict(x[:2]), [0.0, 1.0], atol=1e-12)
    X, z = table(200)
    big = HistGradientBoostingRegressor(max_iter=5).fit(X * 1e300, z * 1e90).predict(X * 1e300)
    small = HistGradientBoostingRegressor(max_iter=5).fit(X, z).predict(X)
    np.testing.assert_allclose(big / 1e90, small, rtol=1e-9)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"loss": "quantile"}, "needs quantile"),
        ({"loss": "quantile", "quantile": 1.5}, "quantile"),
        ({"loss": "gamma"}, "strictly positive"),
        ({"loss": "poisson"}, "non-negative"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes"),
        ({"growth": {"max_depth": 3}}, "growth"),
        ({"growth": Growth(min_gain=-1.0)}, "min_gain"),
        ({"max_features": 1.5}, "max_features"),
    ],
    ids=str,
)
def test_bad_parameters(params, message):
    X, z = table(60)
    with pytest.raises(ValueError, match=message):
        HistGradientBoostingRegressor(**params).fit(X, z - 10)


# --- recovery ------------------------------------------------------------------------------


def test_finds_the_function_and_its_columns():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(4_000, 8))
    f = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3]
    model = HistGradientBoostingRegressor().fit(X[:3000], f[:3000] + rng.normal(size=3000))
    assert np.mean((model.predict(X[3000:]) - f[3000:]) ** 2) < 0.5  # the noise has variance 1
    assert model.feature_importances_[:4].sum() > 0.95
    assert model.feature_importances_.sum() == pytest.approx(1.0)


def test_quantiles_cover():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(3_000, 2))
    y = X[:, 0] + (0.2 + X[:, 1]) * rng.normal(size=3_000)
    for q in (0.1, 0.5, 0.9):
        model = HistGradientBoostingRegressor("quantile", quantile=q, max_iter=60).fit(X, y)
        assert np.mean(y <= model.predict(X)) == pytest.approx(q, abs=0.03)


def smooth():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000, 6))
    return X, np.sin(2 * X[:, 0]) * X[:, 1] + X[:, 2] ** 2 + 0.3 * rng.normal(size=1_000)


def three_classes():
    return make_classification(2_000, 10, n_informative=6, n_classes=3, random_state=0)


SMALL = {
    "diabetes": (lambda: load_diabetes(return_X_y=True), "Regressor"),
    "smooth": (smooth, "Regressor"),
    "few values": (lambda: table(500, seed=4), "Regressor"),
    "iris": (lambda: load_iris(return_X_y=True), "Classifier"),
    "wine": (lambda: load_wine(return_X_y=True), "Classifier"),
    "three classes": (three_classes, "Classifier"),
    "breast cancer": (lambda: load_breast_cancer(return_X_y=True), "Classifier"),
}


def losses_per_round(name):
    """Training losses of 31 rounds, ours and theirs, on one core each."""
    load, kind = SMALL[name]
    X, y = load()
    params = {"max_iter": 30, "early_stopping": True, "validation_fraction": None, "tol": 0.0}
    with threadpool_limits(1):
        ours = getattr(pellucid, f"HistGradientBoosting{kind}")(**params).fit(X, y)
        theirs = getattr(sklearn.ensemble, f"HistGradientBoosting{kind}")(**params).fit(X, y)
    assert (np.diff(ours.history_["objective"]) <= 0).all()
    return -ours.train_score_, -theirs.train_score_


@pytest.mark.parametrize("name", [name for name in SMALL if name != "breast cancer"])
def test_loss_per_round_is_no_worse_than_scikit_learns(name):
    """Tables whose bins are theirs too and whose best splits are seldom equally good."""
    ours, theirs = losses_per_round(name)
    assert len(ours) == len(theirs) == 31
    assert (ours <= theirs * (1 + 1e-3)).all()


def test_loss_per_round_where_many_splits_are_equally_good():
    """Breast cancer parts from theirs after a few rounds, probably where splits tie."""
    ours, theirs = losses_per_round("breast cancer")
    np.testing.assert_allclose(ours[:5], theirs[:5], rtol=1e-3)
    np.testing.assert_allclose(ours, theirs, rtol=0.03)
