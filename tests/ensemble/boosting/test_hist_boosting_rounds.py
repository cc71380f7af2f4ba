"""Early stopping, warm starts, callbacks and files of boosted trees on bins."""

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from sklearn.base import clone
from sklearn.metrics import log_loss

import pellucid
from pellucid import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from pellucid.ensemble import Growth
from pellucid.ensemble.boosting.boosted_trees import Trees, check_trees


def noisy(n=800, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] + rng.normal(size=n)


def test_early_stopping_on_own_rows():
    X, y = noisy()
    model = HistGradientBoostingRegressor(max_iter=300, n_iter_no_change=5)
    model.fit(X[:500], y[:500], X_val=X[500:], y_val=y[500:])
    assert model.do_early_stopping_
    assert model.n_iter_ < 300
    assert len(model.validation_score_) == len(model.train_score_) == model.n_iter_ + 1
    losses = [0.5 * np.mean((y[500:] - p) ** 2) for p in model.staged_predict(X[500:])]
    np.testing.assert_allclose(-model.validation_score_[1:], losses, rtol=1e-12)
    np.testing.assert_allclose(model.history_["validation"][1:], losses, rtol=1e-12)
    theirs = sklearn.ensemble.HistGradientBoostingRegressor(
        max_iter=300, n_iter_no_change=5, early_stopping=True
    )
    theirs.fit(X[:500], y[:500], X_val=X[500:], y_val=y[500:])
    assert abs(theirs.n_iter_ - model.n_iter_) <= 1  # ties of their float32 gradients
    recent = model.validation_score_[-5:]
    assert recent.max() <= model.validation_score_[-6] + model.tol


def test_own_rows_go_in_pairs_and_need_early_stopping():
    X, y = noisy(100)
    with pytest.raises(ValueError, match="go together"):
        HistGradientBoostingRegressor().fit(X, y, X_val=X)
    with pytest.raises(ValueError, match="early_stopping=False"):
        HistGradientBoostingRegressor(early_stopping=False).fit(X, y, X_val=X, y_val=y)
    with pytest.raises(ValueError, match=r"y_val holds labels.*2"):
        HistGradientBoostingClassifier().fit(X, y > 0, X_val=X[:2], y_val=[0, 2])


@pytest.mark.parametrize("fraction", [0.2, 100, None])
def test_rows_kept_aside(fraction):
    X, y = noisy()
    model = HistGradientBoostingRegressor(
        early_stopping=True, validation_fraction=fraction, max_iter=20, random_state=0
    ).fit(X, y)
    assert model.do_early_stopping_
    assert len(model.train_score_) == model.n_iter_ + 1
    assert len(model.validation_score_) == (0 if fraction is None else model.n_iter_ + 1)


def test_auto_stops_only_large_tables():
    X, y = noisy(10_001)
    few = HistGradientBoostingRegressor(max_iter=2)
    assert not few.fit(X[:-1], y[:-1]).do_early_stopping_
    assert few.fit(X, y).do_early_stopping_


@pytest.mark.parametrize("scoring", ["neg_log_loss", "accuracy", None])
@pytest.mark.parametrize("frame", [False, True])
def test_scores_by_name(scoring, frame):
    rng = np.random.default_rng(0)
    X, z = noisy(600)
    y = np.where(z > 0, "yes", "no")
    if frame:
        X = pd.DataFrame(X, columns=list("abcd"))
        X["e"] = pd.Categorical(rng.choice(["u", "v"], size=600))
    train, held = X[:400], X[400:]
    model = HistGradientBoostingClassifier(max_iter=15, scoring=scoring)
    model.fit(train, y[:400], X_val=held, y_val=y[400:])
    assert not hasattr(model, "_known")
    if scoring == "neg_log_loss":
        says = [-log_loss(y[400:], p) for p in model.staged_predict_proba(held)]
    else:
        says = [np.mean(p == y[400:]) for p in model.staged_predict(held)]
    np.testing.assert_allclose(model.validation_score_[1:], says, rtol=1e-12)
    assert model.history_["validation_score"][-1] == model.validation_score_[-1]


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("seed", [0, None])
def test_a_warm_start_goes_on_as_if_never_stopped(early, seed):
    X, z = noisy()
    y = np.digitize(z, [-0.5, 0.5])
    params = {"max_features": 0.5, "early_stopping": early, "tol": 0.0}
    model = HistGradientBoostingClassifier(
        max_iter=5, warm_start=True, random_state=seed, n_iter_no_change=50, **params
    ).fit(X, y)
    first = model.trees_
    model.set_params(max_iter=12).fit(X, y)
    assert model.n_iter_ == 12
    np.testing.assert_array_equal(model.trees_.value[: len(first.value)], first.value)
    if seed is not None:
        whole = clone(model).set_params(warm_start=False).fit(X, y)
        for a, b in zip(whole.trees_, model.trees_, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9)
        np.testing.assert_allclose(whole.validation_score_, model.validation_score_, rtol=1e-9)
    with pytest.raises(ValueError, match="12 rounds already"):
        model.set_params(max_iter=3).fit(X, y)
    with pytest.raises(ValueError, match="classes"):
        model.set_params(max_iter=20).fit(X, y + 1)


def test_staged_predictions_end_with_the_prediction():
    X, z = noisy(300)
    y = np.digitize(z, [-0.5, 0.5])
    model = HistGradientBoostingClassifier(max_iter=7).fit(X, y)
    for name in ("predict", "predict_proba", "decision_function"):
        stages = list(getattr(model, f"staged_{name}")(X))
        assert len(stages) == 7
        np.testing.assert_allclose(stages[-1], getattr(model, name)(X), rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_class_weight_is_a_weight():
    X, z = noisy(400)
    y = (z > 1).astype(int)
    params = {"max_iter": 10, "min_samples_leaf": 1, "max_leaf_nodes": 5}
    balanced = HistGradientBoostingClassifier(class_weight="balanced", **params).fit(X, y)
    factor = 400 / (2 * np.bincount(y))
    given = HistGradientBoostingClassifier(class_weight=dict(enumerate(factor)), **params)
    np.testing.assert_array_equal(given.fit(X, y).predict(X), balanced.predict(X))
    assert balanced.predict_proba(X)[:, 1].mean() > 0.35  # half, but for the shrinking


def test_growth_overrules_and_is_saved(tmp_path):
    X, y = noisy(300)
    growth = Growth(max_depth=2, min_samples_leaf=5, monotonic_cst=[1, 0, 0, 0])
    model = HistGradientBoostingRegressor(max_iter=5, growth=growth).fit(X, y)
    same = HistGradientBoostingRegressor(
        max_iter=5, max_depth=2, min_samples_leaf=5, monotonic_cst=[1, 0, 0, 0]
    ).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), same.predict(X))
    assert clone(model).growth == growth
    pellucid.save(model, tmp_path / "model.pellucid")
    again = pellucid.load(tmp_path / "model.pellucid")
    assert tuple(again.growth) == tuple(growth)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_a_model_with_categories_is_saved(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"c": pd.Categorical(rng.choice(["u", "v", "w"], size=200))})
    model = HistGradientBoostingRegressor(max_iter=3).fit(X, X["c"].cat.codes == 1)
    pellucid.save(model, tmp_path / "model.pellucid")
    again = pellucid.load(tmp_path / "model.pellucid")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def broken(trees, name, place, value):
    part = getattr(trees, name).copy()
    part[place] = value
    return trees._replace(**{name: part})


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("feature", 0, 4),
        ("feature", 0, -1),
        ("left", 1, 0),  # a circle
        ("left", 0, 10_000),
        ("right", 0, -10_000),
        ("category", 0, 0),  # there are no sets
        ("node_start", 1, -5),
        ("leaf_start", -1, 10**9),
    ],
)
def test_broken_trees_are_refused(name, place, value):
    X, y = noisy(300)
    model = HistGradientBoostingRegressor(max_iter=3).fit(X, y)
    assert check_trees(model.trees_, 4)
    assert not check_trees(broken(model.trees_, name, place, value), 4)
    model.trees_ = broken(model.trees_, name, place, value)
    with pytest.raises(ValueError, match="do not fit together"):
        model._check_state()


def test_a_leaf_with_two_parents_is_refused():
    X, y = noisy(300)
    trees = HistGradientBoostingRegressor(max_iter=1).fit(X, y).trees_
    inner = int(np.flatnonzero(trees.left >= 0)[0])
    both = broken(trees, "right", inner, trees.left[inner])
    assert isinstance(both, Trees)
    assert not check_trees(both, 4)


def test_a_scale_beyond_numbers_stops_with_a_warning():
    X, _ = noisy(100)
    y = np.where(X[:, 0] > 0, 1e300, 0.0)
    model = HistGradientBoostingRegressor("poisson", learning_rate=1e3, max_iter=5)
    with pytest.warns(pellucid.core.loops.iterate.DivergenceWarning, match="diverged"):
        model.fit(X, y)
