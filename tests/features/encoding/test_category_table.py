"""Codes of category columns: known values by their place, anything else missing."""

import numpy as np
from numpy.testing import assert_array_equal

from pellucid.features.encoding.category_table import _encode


def test_known_values_get_their_place_and_others_are_missing():
    """Below, between and above the known values, and where nothing is known."""
    matrix = np.array([[2.0, 7.0], [5.0, 8.0], [9.0, 9.0], [1.0, 1.0], [4.0, 2.0], [99.0, 3.0]])
    found = _encode(matrix, [np.array([2.0, 5.0, 9.0]), None])
    assert_array_equal(found[:, 0], [0, 1, 2, np.nan, np.nan, np.nan])
    assert_array_equal(found[:, 1], matrix[:, 1])
    assert np.isnan(_encode(matrix, [np.array([]), None])[:, 0]).all()
