"""Shapley parts: exact for linear models, additive for all, sampled ones close to exact ones."""

from itertools import permutations

import numpy as np
import pytest

from pellucid.study.saved import attribution as attributing
from pellucid.study.saved.attribution import every_set, random_orders, shapley


def model(Z):
    return np.sin(Z[:, 0]) * Z[:, 1] + np.maximum(Z[:, 2], Z[:, 3])


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=4), rng.normal(size=(20, 4)), rng


def test_by_all_orders(data):
    """The definition: the mean over all orders of the columns."""
    z, B, rng = data
    origin = np.array([0, 1, 2, 2])  # the last two features are one column
    found = shapley(model, z, B, origin, 3, rng)
    expected = np.zeros(3)
    for order in permutations(range(3)):
        work = B.copy()
        before = model(work).mean()
        for j in order:
            work[:, origin == j] = z[origin == j]
            after = model(work).mean()
            expected[j] += (after - before) / 6
            before = after
    np.testing.assert_allclose(found.parts, expected)
    assert found.base == pytest.approx(model(B).mean())
    assert found.base + found.parts.sum() == pytest.approx(model(z[None])[0])


def test_linear_models_have_a_formula(data):
    z, B, rng = data
    w = np.array([1.0, -2.0, 0.0, 3.0])
    found = shapley(lambda Z: Z @ w, z, B, np.arange(4), 4, rng)
    np.testing.assert_allclose(found.parts, w * (z - B.mean(axis=0)), atol=1e-12)


def test_sampled_orders_come_near(data):
    z, B, rng = data
    masks = np.eye(4, dtype=bool)
    exact = every_set(model, z, B, masks)
    close = random_orders(model, z, B, masks, rng)
    assert (np.abs(close.parts - exact.parts) < 4 * close.standard_error + 1e-12).all()
    assert close.base + close.parts.sum() == pytest.approx(model(z[None])[0])


def test_many_columns_and_columns_without_features(monkeypatch):
    monkeypatch.setattr(attributing, "CELLS", 50)  # several tables
    rng = np.random.default_rng(0)
    z, B = rng.normal(size=15), rng.normal(size=(9, 15))
    w = rng.normal(size=15)
    found = shapley(lambda Z: Z @ w, z, B, np.arange(15) + 1, 17, rng)
    assert found.parts[0] == found.parts[16] == 0
    assert found.base + found.parts.sum() == pytest.approx(z @ w)
    exact = w * (z - B.mean(axis=0))
    assert (np.abs(found.parts[1:16] - exact) < 4.5 * found.standard_error[1:16]).all()
