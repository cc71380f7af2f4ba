"""What NumPy answers before Numba is imported has the bits of the compiled code."""

import numpy as np
import pytest

from pellucid import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from pellucid.ensemble import bins
from pellucid.ensemble.boosting import boosted_trees, few_rows

CASES = {
    "numbers": (HistGradientBoostingRegressor, {"max_iter": 20}),
    "three classes": (HistGradientBoostingClassifier, {"max_iter": 8, "max_leaf_nodes": 15}),
    "more leaves than bits": (HistGradientBoostingRegressor, {"max_iter": 3, "max_leaf_nodes": 90}),
    "categories": (HistGradientBoostingRegressor, {"max_iter": 9, "categorical_features": [1]}),
    "no split": (HistGradientBoostingRegressor, {"max_iter": 2, "min_samples_leaf": 900}),
}


def table(n=1200, seed=0):
    """Numbers, one column of 40 levels, and missing cells in both."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 1] = rng.integers(0, 40, size=n)
    y = X[:, 0] * np.cos(X[:, 1]) + X[:, 2] + 0.1 * rng.normal(size=n)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


@pytest.mark.parametrize("case", CASES)
def test_scores_of_few_rows_have_the_bits_of_many(case, monkeypatch):
    cls, options = CASES[case]
    X, y = table()
    y = np.digitize(y, [-0.5, 0.5]) if cls is HistGradientBoostingClassifier else y
    model = cls(**{"min_samples_leaf": 5} | options).fit(X, y)
    if case == "categories":
        assert (model.trees_.category >= 0).any()
    new = np.vstack([table(70, seed=1)[0], [1e300, 99.0, -1e300, 0.0], np.full(4, np.nan)])
    compiled = model._raw(new)
    monkeypatch.setattr(boosted_trees.few_rows, "loaded", lambda: False)
    monkeypatch.setattr(bins, "loaded", lambda: False)
    monkeypatch.setattr(bins, "encode_rows", None)  # whoever calls it fails
    monkeypatch.setattr(boosted_trees, "score_bits", None)
    monkeypatch.setattr(boosted_trees, "walk_trees", None)
    np.testing.assert_array_equal(model._raw(new), compiled, strict=True)


def test_a_long_work_is_worth_the_import(monkeypatch):
    X, y = table(300)
    model = HistGradientBoostingRegressor(max_iter=5).fit(X, y)
    assert not few_rows.is_light(model.trees_, 10)  # Numba is here: the fit needed it
    monkeypatch.setattr(few_rows, "loaded", lambda: False)
    assert few_rows.is_light(model.trees_, 1000)
    assert not few_rows.is_light(model.trees_, 10_000_000)


def test_codes_of_few_cells_are_those_of_many():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(700, 5)), 2)
    X[:, 3] = rng.integers(0, 300, size=700) % 250
    X[rng.random(X.shape) < 0.1] = np.nan
    found = bins.find_bins(X, None, np.arange(5) == 3, 255, rng)
    new = np.vstack([X, X + 0.005, np.full((1, 5), np.inf), np.full((1, 5), -np.inf)])
    compiled = bins.encode(new, found, by_row=False).by_column
    bins.encode_few(new, found, codes := np.empty_like(compiled))
    np.testing.assert_array_equal(codes, compiled)
