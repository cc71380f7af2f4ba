"""Column quantiles: NumPy's rule, and weights as repetitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.core.arrays.quantiles import column_quantiles, median_ends, weighted_median
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


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 4)), min_size=1, max_size=30),
    st.sampled_from([1.0, 0.1, 1 / 3, 1e-200, 1e250]),
)
def test_a_weighted_median_is_that_of_the_repeated_values_in_any_unit(pairs, unit):
    x, times = np.array(pairs).T
    if not times.any():
        return
    repeated = np.repeat(x, times).astype(float)
    assert weighted_median(x.astype(float), times * unit) == np.median(repeated)
    low, high = median_ends(x.astype(float), times * unit)
    assert (low, high) == tuple(np.quantile(repeated, 0.5, method=m) for m in ("lower", "higher"))


def test_half_of_the_weight_is_met_within_rounding():
    x = np.array([1.0, 2.0, 3.0, 5.0])
    assert weighted_median(x, np.array([0.1, 0.2, 0.3, 0.0])) == 2.5  # 0.1 + 0.2 > 0.3
    assert weighted_median(x, np.array([0.3, 0.1, 0.2, 0.0])) == 1.5
    n = 1_000_000
    assert weighted_median(np.arange(n, dtype=float), np.full(n, 0.1)) == (n - 1) / 2
    assert weighted_median(np.array([1.5, 1.0]) * 2.0**1023, np.ones(2)) == 1.25 * 2.0**1023
    assert weighted_median(np.full(2, 5e-324), np.ones(2)) == 5e-324


def test_medians_along_an_axis_take_the_weights_of_the_leading_axes():
    rng = np.random.default_rng(0)
    x, w = rng.integers(0, 4, (5, 7, 2)).astype(float), rng.integers(1, 4, (5, 7))
    found = weighted_median(x, 0.1 * w, axis=1)
    for m, o in np.ndindex(5, 2):
        assert found[m, o] == np.median(np.repeat(x[m, :, o], w[m]))
    assert_array_equal(weighted_median(x[0]), np.median(x[0], axis=0))
