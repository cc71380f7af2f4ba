"""The race of boosting's settings: the best is found, rounds are those of the least loss."""

import math
from collections import namedtuple

import numpy as np
import pytest

from pellucid import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from pellucid.study.candidates import halving
from pellucid.study.candidates.halving import RaceLimit, portfolio, race

Part = namedtuple("Part", "Z_learn y_learn Z_judge y_judge")


def parts(X, y, k=2):
    n = len(y)
    at = np.arange(n) % k
    return [Part(X[at != i], y[at != i], X[at == i], y[at == i]) for i in range(k)]


def bends(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=n)


def test_the_answer_is_the_median_of_the_best_rounds_of_the_parts(monkeypatch):
    """As full fits of every number of rounds would find them."""
    monkeypatch.setattr(halving, "PATIENCE", 1e3)  # no part ends before another
    X, y = bends(200)
    setting = {"learning_rate": 0.2, "max_leaf_nodes": 4, "min_samples_leaf": 5}
    inner = parts(X, y, 3)
    found = race(HistGradientBoostingRegressor(random_state=0), (setting,), inner)
    most, best, at_answer = math.ceil(halving.RUNGS[-1] / 0.2), [], []
    for p in inner:
        model = HistGradientBoostingRegressor(
            random_state=0, early_stopping=False, max_iter=most, **setting
        ).fit(p.Z_learn, p.y_learn)
        errors = [np.mean((said - p.y_judge) ** 2) / 2 for said in model.staged_predict(p.Z_judge)]
        best.append(int(np.argmin(errors)) + 1)
        at_answer.append(errors[found.params["max_iter"] - 1])
    assert found.params["max_iter"] == sorted(best)[1]
    assert found.loss == pytest.approx(np.mean(at_answer), rel=1e-9)


def test_products_need_more_than_stumps():
    X, y = bends(300)
    stump = {"learning_rate": 0.1, "max_leaf_nodes": 2, "min_samples_leaf": 5}
    deep = stump | {"max_leaf_nodes": 8}
    for settings in ((stump, deep), (deep, stump)):
        found = race(HistGradientBoostingRegressor(random_state=0), settings, parts(X, y))
        assert (found.params["max_leaf_nodes"], found.tried) == (8, 2)


def test_every_part_is_grown_though_most_end_at_once():
    """Noise: the loss of a part is lowest after a round or two."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 2)), rng.normal(size=90)
    setting = {"learning_rate": 0.5, "max_leaf_nodes": 8, "min_samples_leaf": 2}
    found = race(HistGradientBoostingRegressor(random_state=0), (setting,), parts(X, y, 5))
    assert 1 <= found.params["max_iter"] <= 5


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
        HistGradientBoostingRegressor(),
        portfolio(100, 4, 0, "standard", 0),
        parts(X, y),
        RaceLimit(0.0),
    )
    first = portfolio(100, 4, 0, "standard", 0)[0]
    assert {k: found.params[k] for k in first} == first


def test_rounds_for_which_there_is_no_time_are_left_out(monkeypatch):
    """Each fit on the clock of the test takes a tenth of a second a round."""
    X, y = bends(400)
    clock = [0.0]
    monkeypatch.setattr(halving.time, "monotonic", lambda: clock[0])
    grow = HistGradientBoostingRegressor.fit

    def fit(self, *args, **options):
        before = getattr(self, "n_iter_", 0)
        grow(self, *args, **options)
        clock[0] += 0.1 * (self.n_iter_ - before)
        return self

    monkeypatch.setattr(HistGradientBoostingRegressor, "fit", fit)
    setting = portfolio(400, 4, 0, "standard", 0)[:1]
    model, inner = HistGradientBoostingRegressor(random_state=0), parts(X, y)
    free = race(model, setting, inner, RaceLimit(1e9))
    assert free.params["max_iter"] > 13
    short = race(model, setting, inner, RaceLimit(1e9, 1.35))
    assert short.params == free.params | {"max_iter": 13}


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
