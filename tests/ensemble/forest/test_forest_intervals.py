"""Forest intervals: coverage by simulation, the margin against its definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid import RandomForestRegressor
from pellucid.ensemble import ForestCalibration
from pellucid.ensemble.forest.intervals import score_at


def uneven(n, seed):
    """The noise grows with x: intervals of one width could not fit."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, size=(n, 3))
    return X, np.sin(4 * X[:, 0]) + (0.1 + X[:, 1]) * rng.normal(size=n)


@pytest.mark.parametrize("leaf", [1, 10])
def test_coverage_by_simulation(leaf):
    covered, before, widths = [], [], []
    for seed in range(6):
        X, y = uneven(400, seed)
        model = RandomForestRegressor(60, min_samples_leaf=leaf, random_state=seed).fit(X, y)
        found = model.calibrate_intervals(X, y, confidence=0.8)
        New, truth = uneven(1500, 100 + seed)
        band = model.predict_interval(New, found)
        raw = model.predict_quantiles(New, found.levels)
        covered.append(((band[:, 0] <= truth) & (truth <= band[:, 1])).mean())
        before.append(((raw[:, 0] <= truth) & (truth <= raw[:, 1])).mean())
        wide = (band[:, 1] - band[:, 0])[New[:, 1] > 0.8].mean()
        widths.append(wide / (band[:, 1] - band[:, 0])[New[:, 1] < 0.2].mean())
        assert found.coverage == pytest.approx(before[-1], abs=0.06)
    assert abs(np.mean(covered) - 0.8) < 0.025
    assert np.mean(widths) > 1.5


def test_margin_is_the_rank_of_the_out_of_bag_scores():
    """Quantiles out of bag by their definition, tree by tree."""
    X, y = uneven(60, 3)
    model = RandomForestRegressor(25, min_samples_leaf=3, random_state=0).fit(X, y)
    leaves, bags = model.apply(X), model.estimators_samples_
    scores = []
    for i in range(60):
        weight, used = np.zeros(60), 0
        for t, bag in enumerate(bags):
            counts = np.bincount(bag, minlength=60)
            if counts[i] == 0:
                used += 1
                same = counts * (leaves[:, t] == leaves[i, t])
                weight += same / same.sum()
        order = np.argsort(y)
        total = np.cumsum(weight[order]) / used
        low, high = (y[order][np.searchsorted(total, q * (1 - 1e-12))] for q in (0.05, 0.95))
        scores.append(max(low - y[i], y[i] - high))
    found = model.calibrate_intervals(X, y)
    assert found.margin == pytest.approx(np.sort(scores)[int(np.ceil(61 * 0.9)) - 1])
    assert found.coverage == pytest.approx(np.mean(np.array(scores) <= 0))
    band, raw = model.predict_interval(X, found), model.predict_quantiles(X, (0.05, 0.95))
    assert_allclose(band, raw + np.array([-found.margin, found.margin]))


def test_weights_are_repetitions():
    score, w = np.array([3.0, 1.0, 2.0]), np.array([2.0, 3.0, 4.0])
    assert score_at(score, w, 0.5) == score_at(np.repeat(score, w.astype(int)), np.ones(9), 0.5)


def test_refusals_and_few_rows():
    X, y = uneven(30, 0)
    model = RandomForestRegressor(20, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="training rows"):
        model.calibrate_intervals(X[::-1], y)
    with pytest.raises(ValueError, match="training targets"):
        model.calibrate_intervals(X, y + 1)
    with pytest.raises(ValueError, match="confidence"):
        model.calibrate_intervals(X, y, confidence=1.5)
    with pytest.raises(TypeError, match="calibrate_intervals"):
        model.predict_interval(X, 0.9)
    with pytest.warns(UserWarning, match="cannot support"):
        found = model.calibrate_intervals(X, y, confidence=0.99)
    assert np.isinf(model.predict_interval(X, found)).all()
    assert isinstance(found, ForestCalibration)
    everything = RandomForestRegressor(5, bootstrap=False, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="out of bag"):
        everything.calibrate_intervals(X, y)
    two = RandomForestRegressor(5, random_state=0).fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="one target"):
        two.calibrate_intervals(X, np.column_stack([y, y]))
