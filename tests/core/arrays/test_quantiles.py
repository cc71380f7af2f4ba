"""Column quantiles: NumPy's rule, and weights as repetitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid.core.arrays.quantiles import column_quantiles
from pellucid.core.loops.statistics import unit_weights

rng = np.random.default_rng(0)
Q = np.array([0.0, 0.1, 0.25, 0.5, 0.77, 1.0])


@pytest.mark.parametrize("n", [1, 2, 7, 500])
def test_numpy(n):
    X = np.round(rng.normal(size=(n, 11)), 1)
    assert_allclose(column_quantiles(X, Q, unit_weights(n)), np.quantile(X, Q, axis=0), rtol=1e-12)
    assert_allclose(column_quantiles(X, Q, np.ones(n)), np.quantile(X, Q, axis=0), rtol=1e-12)


def test_missing_cells():
    X = rng.normal(size=(100, 3))
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:, 2] = np.nan
    found = column_quantiles(X, Q, unit_weights(100))
    assert_allclose(found[:, :2], np.nanquantile(X[:, :2], Q, axis=0))
    assert np.isnan(found[:, 2]).all()


def test_weights_are_repetitions():
    X, w = rng.normal(size=(60, 2)), rng.integers(0, 5, size=60)
    expected = np.quantile(np.repeat(X, w, axis=0), Q, axis=0)
    assert_allclose(column_quantiles(X, Q, w.astype(float)), expected)


def test_the_data_stay_in_order():
    X = rng.normal(size=(50, 9))
    before = X.copy()
    column_quantiles(X, Q, unit_weights(50))
    assert (before == X).all()
