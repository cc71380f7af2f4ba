"""The share of distinct rows in a bootstrap draw."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid.ensemble import expected_unique_fraction


def test_example_13():
    assert_allclose(expected_unique_fraction(10), 0.6513215599, atol=1e-10)
    assert_allclose(expected_unique_fraction(1000), 0.6323045752, atol=1e-10)


def test_limits_and_monotony():
    values = [expected_unique_fraction(n) for n in (1, 2, 3, 10, 100, 10**9)]
    assert values[:2] == [1.0, 0.75]
    assert values == sorted(values, reverse=True)
    assert_allclose(values[-1], 1 - np.exp(-1), rtol=1e-8)


def test_simulation():
    rng = np.random.default_rng(0)
    shares = [len(np.unique(rng.integers(20, size=20))) / 20 for _ in range(4000)]
    assert_allclose(np.mean(shares), expected_unique_fraction(20), atol=0.006)


def test_refuses():
    with pytest.raises(ValueError, match="n must be a whole number"):
        expected_unique_fraction(0)
