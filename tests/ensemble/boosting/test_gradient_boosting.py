"""Gradient boosting with exact trees: the catalogue's numbers, scikit-learn's trees, the edges."""

import numpy as np
import pytest
import sklearn.ensemble as peer
from numpy.testing import assert_allclose, assert_array_equal

from pellucid import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    KNeighborsRegressor,
    LogisticRegression,
    Ridge,
)
from pellucid.ensemble import EarlyStopping, Huber, Quantile
from pellucid.ensemble.boosting.gradient_losses import Leaves, class_loss, number_loss

rng = np.random.default_rng(0)
LOSSES = ["squared_error", "absolute_error", "huber", "quantile"]


def table(n=400, d=4, seed=0):
    """float32 numbers, so that scikit-learn's trees see the same."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32).astype(np.float64)
    return X, X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * rng.standard_t(3, size=n)


def labels(K, n=400):
    X, y = table(n)
    return X, np.digitize(y, np.quantile(y, np.arange(1, K) / K))


def test_example_of_three_rounds():
    """Part 04, ensembles: x = 1..6, depth 1, learning rate 0.5."""
    X, y = np.arange(1.0, 7.0)[:, None], np.array([1.0, 2, 2, 6, 7, 9])
    model = GradientBoostingRegressor(max_depth=1, learning_rate=0.5, n_estimators=3).fit(X, y)
    assert_allclose(model.init_.scores, [4.5], atol=1e-8)
    one, two, three = model.staged_predict(X)
    assert_allclose(one, np.repeat([3.0833333333, 5.9166666667], 3), atol=1e-8)
    assert_allclose(two, [2.5625] * 3 + [5.3958333333] + [6.9583333333] * 2, atol=1e-8)
    expected = [2.3583333333] * 3 + [5.1916666667, 6.7541666667, 7.9791666667]
    assert_allclose(three, expected, atol=1e-8)
    assert_allclose(model.train_score_, [2.8958333333, 1.2682291667, 0.64296875], atol=1e-8)
    assert_allclose(model.predict(X), three)
    assert_allclose(model.history_["objective"][1:], model.train_score_)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_same_as_scikit_learn(loss, weighted):
    """All rounds; for residuals of two values until its rounding splits pure nodes."""
    X, y = table()
    w = rng.uniform(0.5, 2, size=len(y)) if weighted else None
    rounds = 30 if loss in ("squared_error", "huber") else 8
    params = {"loss": loss, "n_estimators": rounds, "min_samples_leaf": 5}
    if loss in ("absolute_error", "quantile"):
        params["max_depth"] = 2
    ours = GradientBoostingRegressor(**params).fit(X, y, w)
    theirs = peer.GradientBoostingRegressor(**params, random_state=0).fit(X, y, w)
    for mine, other in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        assert_allclose(mine, other, atol=1e-10)
    assert_allclose(ours.train_score_, theirs.train_score_, rtol=1e-10)
    assert ours.estimators_.shape == theirs.estimators_.shape == (rounds, 1)
    mine, other = ours.estimators_[0, 0].tree_, theirs.estimators_[0, 0].tree_
    assert_array_equal(mine.feature, other.feature)
    leaves = mine.feature < 0
    assert_allclose(mine.value[leaves], other.value[leaves], atol=1e-10)
    assert_array_equal(ours.apply(X).shape, theirs.apply(X).shape)


@pytest.mark.parametrize(("loss", "K"), [("log_loss", 2), ("exponential", 2), ("log_loss", 3)])
def test_classes_as_in_scikit_learn(loss, K):
    X, y = labels(K)
    params = {"loss": loss, "n_estimators": 20, "min_samples_leaf": 20}
    ours = GradientBoostingClassifier(**params).fit(X, y)
    theirs = peer.GradientBoostingClassifier(**params, random_state=0).fit(X, y)
    assert_allclose(ours.train_score_, theirs.train_score_, rtol=1e-10)
    for mine, other in zip(ours.staged_predict_proba(X), theirs.staged_predict_proba(X), strict=1):
        assert_allclose(mine, other, atol=1e-10)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-9)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-3)
    assert ours.apply(X).shape == theirs.apply(X).shape
    assert ours.estimators_.shape == theirs.estimators_.shape
    for method in ("staged_predict", "staged_decision_function"):
        last = list(getattr(ours, method)(X))[-1]
        plain = getattr(ours, method.removeprefix("staged_"))(X)
        assert_allclose(last, plain, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_residual_is_the_negative_gradient(loss):
    y, F, w = rng.normal(size=20), rng.normal(size=(1, 20)), np.ones(20)
    record = number_loss(loss, 0.8)
    r = record.residual(y, F, w)
    h = 1e-6

    def change(i):
        up, down = F.copy(), F.copy()
        up[0, i] += h
        down[0, i] -= h
        return (record.mean(y, down, w) - record.mean(y, up, w)) / (2 * h) * 20

    factor = 2.0 if loss == "squared_error" else 1.0  # reported as mean squared error
    assert_allclose([change(i) for i in range(20)], factor * r[0], atol=1e-6)


@pytest.mark.parametrize(("loss", "K"), [("log_loss", 2), ("exponential", 2), ("log_loss", 4)])
def test_residual_of_classes(loss, K):
    y, w = rng.integers(K, size=20).astype(float), np.ones(20)
    record = class_loss(loss, K)
    F = rng.normal(size=(record.K, 20))
    r = record.residual(y, F, w)
    factor = 2.0 if (loss, K) == ("log_loss", 2) else 1.0
    for k in range(record.K):
        for i in range(0, 20, 5):
            up, down = F.copy(), F.copy()
            up[k, i] += 1e-6
            down[k, i] -= 1e-6
            slope = (record.mean(y, down, w) - record.mean(y, up, w)) / 2e-6 * 20
            assert_allclose(slope, factor * r[k, i], atol=1e-6)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "quantile"])
def test_leaves_take_the_best_step(loss):
    """No other constant in a leaf has a smaller loss."""
    y, F, w = rng.normal(size=60), rng.normal(size=(1, 60)), rng.integers(1, 4, size=60) * 1.0
    node = rng.integers(3, size=60)
    record = number_loss(loss, 0.7)
    leaves = Leaves(node, w, 3)
    r = record.residual(y, F, w)[0]
    value = record.values(y, F, r, leaves, 0)
    value = leaves.ratio(r, np.ones(60)) if value is None else value
    best = record.mean(y, F + value[node], w)
    for k in range(3):
        for step in (-0.3, -0.01, 0.01, 0.3):
            other = value.copy()
            other[k] += step
            assert record.mean(y, F + other[node], w) >= best - 1e-12


@pytest.mark.parametrize("model", [
    GradientBoostingRegressor(loss="absolute_error", n_estimators=20),
    GradientBoostingRegressor(loss=Huber(0.8), n_estimators=20),
    GradientBoostingRegressor(loss=Quantile(0.3), n_estimators=20),
    GradientBoostingRegressor(n_estimators=20, min_weight_fraction_leaf=0.05, max_leaf_nodes=4),
])  # fmt: skip
def test_weights_are_repetitions(model):
    X, y = table(150)
    w = rng.integers(0, 4, size=150)
    a = model.fit(X, y, w).predict(X)
    b = model.fit(np.repeat(X, w, axis=0), np.repeat(y, w)).predict(X)
    assert_allclose(a, b, atol=1e-9)


def test_value_objects_say_the_same_as_words():
    X, y = table(100)
    for word, one in (("huber", Huber(0.7)), ("quantile", Quantile(0.7))):
        a = GradientBoostingRegressor(loss=word, alpha=0.7, n_estimators=10).fit(X, y)
        b = GradientBoostingRegressor(loss=one, n_estimators=10).fit(X, y)
        assert_array_equal(a.predict(X), b.predict(X))
    with pytest.raises(ValueError, match="alpha"):
        GradientBoostingRegressor(loss=Quantile(1.5)).fit(X, y)


def test_quantile_covers_its_share():
    X, y = table(2000)
    T, t = table(2000, seed=1)
    params = {"n_estimators": 60, "min_samples_leaf": 20}
    for q in (0.1, 0.9):
        share = t <= GradientBoostingRegressor(loss=Quantile(q), **params).fit(X, y).predict(T)
        assert abs(share.mean() - q) < 0.05


def test_objective_falls_in_every_round():
    X, y = table()
    for loss in ("squared_error", "absolute_error", "quantile"):
        model = GradientBoostingRegressor(loss=loss, n_estimators=40).fit(X, y)
        assert (np.diff(model.history_["objective"]) <= 1e-12).all()
    assert len(model.history_) == 41


def test_subsample_and_out_of_bag():
    X, y = table(600)
    model = GradientBoostingRegressor(subsample=0.5, n_estimators=150, random_state=0).fit(X, y)
    assert len(model.oob_improvement_) == len(model.oob_scores_) == 150
    assert model.oob_score_ == model.oob_scores_[-1]
    assert_allclose(model.oob_improvement_[1:], -np.diff(model.oob_scores_))
    assert model.oob_improvement_[:20].mean() > 5 * abs(model.oob_improvement_[-50:].mean())
    again = GradientBoostingRegressor(subsample=0.5, n_estimators=150, random_state=0).fit(X, y)
    assert_array_equal(model.predict(X), again.predict(X))
    assert not hasattr(GradientBoostingRegressor(n_estimators=2).fit(X, y), "oob_improvement_")


def test_early_stopping_as_in_scikit_learn():
    X, y = table()
    params = {"n_estimators": 300, "n_iter_no_change": 3, "random_state": 0, "min_samples_leaf": 5}
    ours = GradientBoostingRegressor(**params).fit(X, y)
    theirs = peer.GradientBoostingRegressor(**params).fit(X, y)
    assert ours.n_estimators_ < 300
    assert abs(ours.n_estimators_ - theirs.n_estimators_) <= 3  # ties change answers off the rows
    assert ours.n_estimators_ == len(ours.validation_score_) == len(ours.train_score_)


def test_early_stopping_returns_to_the_best_round():
    X, y = labels(2)
    stopping = EarlyStopping(0.3, n_iter_no_change=5, tol=0.0)
    model = GradientBoostingClassifier(
        n_estimators=500, learning_rate=0.5, early_stopping=stopping, random_state=0
    ).fit(X, y)
    assert model.n_estimators_ == int(np.argmin(model.validation_score_)) + 1
    assert model.n_estimators_ < len(model.validation_score_) < 500
    assert len(model.train_score_) == model.n_estimators_ == model.estimators_.shape[0]
    assert "validation" in model.history_.columns


def test_own_validation_rows():
    X, y = table()
    T, t = table(200, seed=1)
    model = GradientBoostingRegressor(n_estimators=400, learning_rate=0.5).fit(
        X, y, X_val=T, y_val=t
    )
    best = model.n_estimators_
    whole = GradientBoostingRegressor(n_estimators=best, learning_rate=0.5).fit(X, y)
    assert_allclose(model.predict(T), whole.predict(T), atol=1e-12)
    assert_allclose(model.validation_score_[best - 1], np.mean((model.predict(T) - t) ** 2))
    with pytest.raises(ValueError, match="go together"):
        model.fit(X, y, X_val=T)
    X, c = labels(2)
    with pytest.raises(ValueError, match="label 7"):
        GradientBoostingClassifier().fit(X, c, X_val=X[:2], y_val=[0, 7])


def test_start_from_a_model():
    X, y = table()
    ours = GradientBoostingRegressor(init=Ridge(), n_estimators=10).fit(X, y)
    theirs = peer.GradientBoostingRegressor(init=Ridge(), n_estimators=10, random_state=0).fit(X, y)
    assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-5)  # it shows Ridge float32
    zero = GradientBoostingRegressor(init="zero", n_estimators=1, max_depth=1, learning_rate=1.0)
    assert_allclose(zero.fit(X, y).init_.scores, [0.0])
    c = (y > 0).astype(int)
    model = GradientBoostingClassifier(init=LogisticRegression(), n_estimators=5).fit(X, c)
    assert model.score(X, c) > 0.6
    with pytest.raises(ValueError, match="does not support sample weights"):
        GradientBoostingRegressor(init=KNeighborsRegressor()).fit(X, y, np.ones(len(y)))
    with pytest.raises(ValueError, match="init must be"):
        GradientBoostingRegressor(init="nothing").fit(X, y)


def test_warm_start_goes_on():
    X, y = table(200)
    params = {"random_state": 0, "subsample": 0.7, "max_features": 2}
    model = GradientBoostingRegressor(n_estimators=10, warm_start=True, **params).fit(X, y)
    model.set_params(n_estimators=25).fit(X, y)
    whole = GradientBoostingRegressor(n_estimators=25, **params).fit(X, y)
    assert_allclose(model.predict(X), whole.predict(X), atol=1e-12)
    assert_allclose(model.oob_scores_, whole.oob_scores_)
    assert_allclose(model.train_score_, whole.train_score_)
    with pytest.raises(ValueError, match="n_estimators=5"):
        model.set_params(n_estimators=5).fit(X, y)


def test_a_monitor_can_stop():
    X, y = table(100)
    seen = []

    def monitor(i, model, _):
        seen.append((i, model.n_estimators_))
        return i == 4

    model = GradientBoostingRegressor(n_estimators=50).fit(X, y, monitor=monitor)
    assert model.n_estimators_ == 5
    assert seen == [(i, i + 1) for i in range(5)]


def test_edges():
    X, y = table(60)
    one = GradientBoostingClassifier(n_estimators=3).fit(X, ["a"] * 60)
    assert_array_equal(one.predict(X), ["a"] * 60)
    assert_array_equal(one.predict_proba(X), np.ones((60, 1)))
    with pytest.raises(
        ValueError, match="only suitable for a binary classification problem, y has 3"
    ):
        GradientBoostingClassifier(loss="exponential").fit(X, np.arange(60) % 3)
    flat = GradientBoostingRegressor(n_estimators=3).fit(X, np.full(60, 2.5))
    assert_array_equal(flat.predict(X), np.full(60, 2.5))
    assert_array_equal(flat.feature_importances_, np.zeros(4))
    row = GradientBoostingRegressor(n_estimators=3).fit(X[:1], y[:1])
    assert_array_equal(row.predict(X), np.full(60, y[0]))
    with pytest.raises(ValueError, match="subsample"):
        GradientBoostingRegressor(subsample=0.0).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        GradientBoostingRegressor().fit(np.where(X > 2, np.nan, X), y)
    with pytest.raises(ValueError, match="early_stopping must be"):
        GradientBoostingRegressor(early_stopping=True).fit(X, y)
    with pytest.raises(ValueError, match="validation_fraction"):
        GradientBoostingRegressor(early_stopping=EarlyStopping(2.0)).fit(X, y)


def test_recovers_a_function_about_as_well_as_bins():
    X, y = table(2000)
    T, t = table(2000, seed=2)
    exact = GradientBoostingRegressor(n_estimators=200).fit(X, y).score(T, t)
    bins = HistGradientBoostingRegressor(max_iter=200).fit(X, y).score(T, t)
    assert exact > bins - 0.02
