"""Refusals of the ensembles, each named, and categories only where they were asked for."""

import numpy as np
import pandas as pd
import pytest

from pellucid import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    RegressorChain,
    Ridge,
)
from pellucid.ensemble import Growth
from pellucid.ensemble.boosting.growth_limits import check_growth
from pellucid.ensemble.labels.label_matrix import check_ranked

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 2))
y = X[:, 0]


@pytest.mark.parametrize("n_jobs", [0, True, 1.5, "2"])
def test_threads_are_a_whole_number(n_jobs):
    with pytest.raises(ValueError, match="n_jobs"):
        RandomForestRegressor(3, n_jobs=n_jobs).fit(X, y)


@pytest.mark.parametrize("rounds", [0, 1.5, -1])
def test_rounds_without_change_are_a_whole_number(rounds):
    with pytest.raises(ValueError, match="n_iter_no_change"):
        GradientBoostingRegressor(n_estimators=3, n_iter_no_change=rounds).fit(X, y)


@pytest.mark.parametrize(
    "bad",
    [
        {"max_depth": 0},
        {"max_depth": 1.5},
        {"min_samples_leaf": 0},
        {"max_bins": 1},
        {"max_bins": 256},
        {"max_features": 0.0},
        {"max_features": 1.5},
        {"min_gain": -1.0},
    ],
    ids=str,
)
def test_limits_of_growth_are_named(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        check_growth(Growth(**bad))
    check_growth(Growth(max_depth=1, max_bins=255, max_features=1.0, min_gain=0.0))


def test_only_labels_0_and_1_are_ranked():
    check_ranked([np.array([0, 1])] * 2)
    for wrong in ([1, 2], [0], [0, 1, 2]):
        with pytest.raises(ValueError, match="label 1 has"):
            check_ranked([np.array([0, 1]), np.array(wrong)])


def test_words_need_to_be_categories():
    """A column of words is refused unless it is asked for as a category; numbers stay numbers."""
    frame = pd.DataFrame({"x": X[:, 0], "word": np.where(X[:, 1] > 0, "a", "b")})
    with pytest.raises(ValueError, match="word"):
        HistGradientBoostingRegressor(max_iter=2, categorical_features=None).fit(frame, y)
    how = {"max_iter": 20, "min_samples_leaf": 1, "categorical_features": ["word"]}
    assert HistGradientBoostingRegressor(**how).fit(frame, y).score(frame, y) > 0.9


def test_the_order_of_a_chain_names_each_model_once():
    model = RegressorChain(Ridge()).fit(X, X)
    model.order_ = np.array([0, 0])
    with pytest.raises(ValueError, match="order_"):
        model._check_state()
