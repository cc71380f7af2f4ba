"""Nearest neighbours on a known law: the limits by integration, and that errors approach them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid.neighbors import neighbour_consistency


def test_the_limits_are_integrals():
    found = neighbour_consistency((10,), contrast=0.7, n_repeats=1, n_test=10, random_state=0)
    x = (np.arange(200_000) + 0.5) / 200_000
    p = 0.5 + 0.35 * np.sin(2 * np.pi * x)
    assert_allclose(found.bayes_error, np.minimum(p, 1 - p).mean(), atol=1e-8)
    assert_allclose(found.nearest_limit, (2 * p * (1 - p)).mean(), atol=1e-8)
    assert found.nearest_limit <= 2 * found.bayes_error * (1 - found.bayes_error)


def test_errors_approach_the_limits():
    found = neighbour_consistency((30, 300, 3000), n_features=1, n_repeats=6, random_state=0)
    assert (np.diff(found.error) < 0).all()
    assert found.error[-1] - found.bayes_error < 0.02
    assert abs(found.nearest_error[-1] - found.nearest_limit) < 0.02
    assert found.neighbours.tolist() == [5, 17, 54]
    assert "Bayes" in str(found)


def test_refusals():
    with pytest.raises(ValueError, match="at least one"):
        neighbour_consistency(())
    with pytest.raises(ValueError, match="contrast"):
        neighbour_consistency((10,), contrast=1.5)


@pytest.mark.parametrize("sizes", [(1, 50), (50, 0), (20.5,), (-3,)])
def test_sizes_are_whole_numbers_of_two_rows_or_more(sizes):
    with pytest.raises(ValueError, match="sizes must be"):
        neighbour_consistency(sizes, n_repeats=1, random_state=0)
