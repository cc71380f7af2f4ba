"""The race of boosting's settings: the best is found, rounds are those of the least loss."""

from collections import namedtuple

import numpy as np
import pytest

from pellucid import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from pellucid.study.candidates import halving
from pellucid.study.candidates.halving import portfolio, race

Part = namedtuple("Part", "Z_learn y_learn Z_judge y_judge")


def parts(X, y, k=2):
    n = len(y)
    at = np.arange(n) % k
    return [Part(X[at != i], y[at != i], X[at == i], y[at == i]) for i in range(k)]


def bends(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=n)


def test_the_answer_is_the_least_mean_loss_of_any_round(monkeypatch):
    """As full fits of every number of rounds would find it."""
    monkeypatch.setattr(halving, "PATIENCE", 1e3)  # no part ends before another
    X, y = bends(200)
    setting = {"learning_rate": 0.2, "max_leaf_nodes": 4, "min_samples_leaf": 5}
    inner = parts(X, y)
    found = race(HistGradientBoostingRegressor(random_state=0), (setting,), inner)
    rounds = found.params["max_iter"]

    def loss(r):
        model = HistGradientBoostingRegressor(
            random_state=0, early_stopping=False, max_iter=r, **setting
        )
        errors = [model.fit(p.Z_learn, p.y_learn).predict(p.Z_judge) - p.y_judge for p in inner]
        return np.mean([np.mean(e**2) for e in errors]) / 2

    near = [loss(r) for r in (rounds - 1, rounds, rounds + 1)]
    assert found.loss == pytest.approx(near[1], rel=1e-9)
    assert near[1] == min(near)


def test_products_need_more_than_stumps():
    X, y = bends(300)
    stump = {"learning_rate": 0.1, "max_leaf_nodes": 2, "min_samples_leaf": 5}
    deep = stump | {"max_leaf_nodes": 8}
    for settings in ((stump, deep), (deep, stump)):
        found = race(HistGradientBoostingRegressor(random_state=0), settings, parts(X, y))
        assert (found.params["max_leaf_nodes"], found.tried) == (8, 2)


def test_a_class_that_only_the_judging_rows_have_is_passed_over():
    X, y = bends(120)
    labels = np.where(y > 0, "b", "a")
    labels[0] = "rare"
    found = race(
        HistGradientBoostingClassifier(), portfolio(120, 4, 3, "quick", 0), parts(X, labels)
    )
    assert np.isfinite(found.loss)


def test_past_the_deadline_one_setting_is_still_grown():
    X, y = bends(100)
    found = race(
        HistGradientBoostingRegressor(), portfolio(100, 4, 0, "standard", 0), parts(X, y), 0.0
    )
    first = portfolio(100, 4, 0, "standard", 0)[0]
    assert {k: found.params[k] for k in first} == first


def test_slow_learners_get_more_rounds(monkeypatch):
    """A rate ten times smaller is judged after ten times the rounds."""
    monkeypatch.setattr(halving, "RUNGS", (5.0,))
    X, _ = bends(150)
    y = X[:, 0]
    racer = halving.Racer(
        HistGradientBoostingRegressor(), {"learning_rate": 0.01, "max_leaf_nodes": 2}, parts(X, y)
    )
    racer.grow(5.0)
    assert max(model.n_iter_ for model in racer.models) == 500


@pytest.mark.parametrize("effort", ["quick", "standard", "thorough"])
def test_every_setting_can_be_fitted(effort):
    X, y = bends(60)
    for n in (60, 5000):
        for setting in portfolio(n, 4, 0, effort, 0):
            HistGradientBoostingRegressor(max_iter=2, **setting).fit(X, y)


def test_separable_classes_end_the_race():
    """Their loss falls for ever, by less and less: the race ends when it gains next to nothing."""
    X = np.arange(200.0)[:, None]
    y = np.where(X[:, 0] < 100, "a", "b")
    setting = {"learning_rate": 0.05, "max_leaf_nodes": 2, "min_samples_leaf": 5}
    found = race(HistGradientBoostingClassifier(random_state=0), (setting,), parts(X, y))
    assert found.params["max_iter"] < 0.25 * halving.RUNGS[-1] / 0.05
    assert found.loss < 0.1 * np.log(2)
