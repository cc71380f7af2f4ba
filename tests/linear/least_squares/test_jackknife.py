"""jackknife_interval: brute force, weights, coverage."""

import numpy as np
import pytest
from linear_tables import data
from numpy.testing import assert_allclose

from pellucid.linear import LinearRegression, Ridge, RidgeCV

MODELS = [LinearRegression(), Ridge(2.0), Ridge(2.0, shrink_intercept=True), RidgeCV([3.0])]


def brute(model, X, y, new, confidence):
    """n refits, sorted."""
    n, a = len(X), 1 - confidence
    low, high = [], []
    for i in range(n):
        fit = type(model)(**model.get_params()).fit(np.delete(X, i, 0), np.delete(y, i))
        size, at = abs(y[i] - fit.predict(X[[i]])[0]), fit.predict(new)
        low.append(at - size)
        high.append(at + size)
    low, high = np.sort(low, axis=0), np.sort(high, axis=0)
    below, above = int(np.floor(a * (n + 1))), int(np.ceil((1 - a) * (n + 1)))
    return np.column_stack([low[below - 1], high[above - 1]])


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.93])
def test_is_n_refits(model, confidence):
    X, y = data(30, 3)
    new = np.random.default_rng(5).normal(size=(7, 3)) * 3
    found = model.fit(X, y).jackknife_interval(new, X, y, confidence=confidence)
    assert_allclose(found, brute(model, X, y, new, confidence), rtol=1e-7, atol=1e-9)


def test_more_columns_than_rows_and_several_targets():
    X, y = data(12, 20)
    model = Ridge(1.0).fit(X, y)
    found = model.jackknife_interval(X[:3] + 1, X, y, confidence=0.75)
    assert_allclose(found, brute(model, X, y, X[:3] + 1, 0.75), rtol=1e-6)
    X, y = data(30, 3, 2)
    both = Ridge(np.array([0.5, 5.0])).fit(X, y).jackknife_interval(X[:4], X, y, confidence=0.9)
    for j, alpha in enumerate((0.5, 5.0)):
        one = Ridge(alpha).fit(X, y[:, j]).jackknife_interval(X[:4], X, y[:, j], confidence=0.9)
        assert_allclose(both[:, j], one, rtol=1e-8)


def test_weights_are_repetitions():
    X, y = data(25, 3)
    w = np.random.default_rng(0).integers(0, 4, size=25)
    Xr, yr = np.repeat(X, w, axis=0), np.repeat(y, w)
    found = Ridge(1.0).fit(X, y, w).jackknife_interval(X, X, y, confidence=0.8, sample_weight=w)
    again = Ridge(1.0).fit(Xr, yr).jackknife_interval(X, Xr, yr, confidence=0.8)
    assert_allclose(found, again, rtol=1e-8)


def test_refusals():
    X, y = data(10, 2)
    model = LinearRegression().fit(X, y)
    with pytest.raises(ValueError, match=r"10 rows can support a confidence of at most 0\.9091"):
        model.jackknife_interval(X, X, y, confidence=0.95)
    with pytest.raises(ValueError, match="confidence"):
        model.jackknife_interval(X, X, y, confidence=2)
    with pytest.raises(ValueError, match="not linear"):
        LinearRegression(positive=True).fit(X, y).jackknife_interval(X, X, y, confidence=0.5)
