"""Every number and word that a function of neighbours takes is checked, and named if bad."""

import numpy as np
import pytest
from bad_values import tried

from pellucid import neighbors

X = np.random.default_rng(0).normal(size=(20, 2))
Y = np.arange(20) % 2

CALLS = {
    "check_metric": {"metric": "euclidean", "X": X, "tol": 1e-9},
    "collision_probability": {"similarity": 0.5, "n_bits": 4, "n_tables": 2, "family": "cosine"},
    "neighborhood_edge": {"fraction": 0.1, "n_features": 3},
    "pairwise_distances": {"X": X, "metric": "euclidean"},
    "pairwise_similarities": {"X": X, "metric": "cosine", "center": "rows"},
    "select_n_neighbors": {"X": X, "y": Y, "n_neighbors": [1, 3], "weights": "uniform"},
    "voronoi_cells": {"X": X[:5], "metric": "euclidean"},
}
TRIED = tried(CALLS, {("collision_probability", "similarity", -1.0)})  # of opposite rows


@pytest.mark.parametrize("function", CALLS)
def test_the_good_call_is_good(function):
    getattr(neighbors, function)(**CALLS[function])


@pytest.mark.parametrize(("function", "name", "value"), TRIED)
def test_a_bad_value_is_refused_by_name(function, name, value):
    with pytest.raises(ValueError, match=rf"\b{name}\b|{value}") as caught:
        getattr(neighbors, function)(**{**CALLS[function], name: value})
    assert "\n" not in str(caught.value)
