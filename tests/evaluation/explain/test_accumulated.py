"""Accumulated local effects: linear and additive functions exactly, categories, bands."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator

from pellucid import HistGradientBoostingClassifier, LinearRegression, RandomForestClassifier
from pellucid.evaluation import accumulated_effects
from pellucid.evaluation.explain.accumulated import similarity_order


class Formula(BaseEstimator):
    """A model that answers a known formula."""

    def __init__(self, formula=None):
        self.formula = formula

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def predict(self, X):
        return self.formula(X)


def correlated(n=400, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return np.column_stack([x, x + 0.1 * rng.normal(size=n), rng.normal(size=n)])


def test_linear_model_has_its_slope():
    X = correlated()
    model = LinearRegression().fit(X, X @ [3.0, -2.0, 0.5] + 1)
    for j, slope in enumerate((3.0, -2.0, 0.5)):
        found = accumulated_effects(model, X, j, random_state=0)
        assert_allclose(np.diff(found.effect[0]) / np.diff(found.grid), slope, rtol=1e-8)
        assert_allclose(found.low, found.effect, atol=0.5)


def test_additive_function_is_recovered_exactly():
    """g(z) up to a constant at every end, whatever the correlation; the rows' mean is 0."""
    X = correlated()
    model = Formula(lambda X: np.sin(3 * X[:, 0]) + X[:, 1] ** 3).fit(X)
    found = accumulated_effects(model, X, 0, n_bins=30, random_state=0)
    gap = found.effect[0] - np.sin(3 * found.grid)
    assert_allclose(gap, gap[0], atol=1e-12)
    middle = 0.5 * (found.effect[0, 1:] + found.effect[0, :-1])
    assert np.average(middle, weights=found.counts) == pytest.approx(0, abs=1e-12)
    assert found.counts.sum() == len(X)


def test_product_of_twins_has_the_local_slope():
    """x1 x2 with x2 = x1: the effect of x1 is the integral of x, half the square."""
    x = np.linspace(0, 1, 2001)
    model = Formula(lambda X: X[:, 0] * X[:, 1]).fit(None)
    found = accumulated_effects(model, np.column_stack([x, x]), 0, n_bins=100, n_bootstrap=0)
    half = 0.5 * found.grid**2
    assert_allclose(found.effect[0] - found.effect[0, 0], half - half[0], atol=1e-3)


def test_categories_recovered_and_ordered_by_likeness():
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b", "c", "d"], 600)
    shift = {"a": 0.0, "c": 1.0, "b": 2.0, "d": 3.0}
    x = np.array([shift[k] for k in kind]) + 0.3 * rng.normal(size=600)
    frame = pd.DataFrame({"kind": kind, "x": x})
    value = {"a": 5.0, "b": -1.0, "c": 2.0, "d": 0.0}
    model = Formula(lambda F: F["kind"].map(value).to_numpy(float) + F["x"].to_numpy()).fit(None)
    found = accumulated_effects(model, frame, "kind", random_state=0)
    assert found.categorical
    assert found.grid.tolist() in (["a", "c", "b", "d"], ["d", "b", "c", "a"])
    truth = np.array([value[k] for k in found.grid])
    gap = found.effect[0] - truth
    assert_allclose(gap, gap[0], atol=1e-12)
    assert np.average(found.effect[0], weights=found.counts) == pytest.approx(0, abs=1e-12)
    codes = np.array(["acbd".index(k) for k in kind])
    order = similarity_order(frame, 0, codes, 4).tolist()
    assert order in ([0, 1, 2, 3], [3, 2, 1, 0])


def test_band_covers_the_curve_of_all_rows():
    """A noisy local effect: the band of a sample holds the curve of the law most of the time."""
    model = Formula(lambda X: X[:, 0] * X[:, 1]).fit(None)
    hits, trials = 0, 40
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1, 1, size=(300, 2))  # E[x2] = 0: no effect of x1
        found = accumulated_effects(model, X, 0, n_bins=6, random_state=seed, confidence=0.9)
        hits += found.low[0, -1] <= 0 <= found.high[0, -1]
    assert hits >= 30


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_with_category_columns(kind):
    rng = np.random.default_rng(0)
    town, x = rng.choice(["u", "v", "w"], 200), rng.normal(size=200)
    y = np.where((town == "u") | (x > 1), "yes", "no")
    if kind == "pandas":
        frame = pd.DataFrame({"town": pd.Categorical(town), "x": x})
    else:
        frame = pl.DataFrame({"town": pl.Series(town, dtype=pl.Categorical), "x": x})
    model = HistGradientBoostingClassifier(max_iter=20, min_samples_leaf=5).fit(frame, y)
    found = accumulated_effects(model, frame, "town", n_bootstrap=20, random_state=0)
    assert found.target == "probability of yes"
    effect = dict(zip(found.grid.tolist(), found.effect[0], strict=True))
    assert effect["u"] > max(effect["v"], effect["w"]) + 0.3
    number = accumulated_effects(model, frame, "x", n_bootstrap=0)
    assert number.effect[0, -1] > number.effect[0, 0]


def test_many_classes_missing_cells_and_refusals():
    X = correlated(120)
    model = RandomForestClassifier(5, random_state=0).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    X[:5, 0] = np.nan
    found = accumulated_effects(model, X, 0, n_bootstrap=10, random_state=1)
    assert found.effect.shape == (3, len(found.grid))
    assert found.outputs == ("0", "1", "2")
    assert_allclose(found.effect.sum(axis=0), 0, atol=1e-12)
    assert found.counts.sum() == 115
    assert "Accumulated effect of x0" in str(found)
    again = accumulated_effects(model, X, 0, n_bootstrap=10, random_state=1)
    assert np.array_equal(found.low, again.low)
    X[:, 1] = 2.0
    with pytest.raises(ValueError, match="one value only"):
        accumulated_effects(model, X, 1)
    with pytest.raises(ValueError, match="must be one of"):
        accumulated_effects(model, X, "weight")
    with pytest.raises(ValueError, match="below 3"):
        accumulated_effects(model, X, 3)
