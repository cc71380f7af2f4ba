"""Every number and word that a function of the mathematics takes is checked, and named if bad."""

import numpy as np
import pytest
from bad_values import tried

from pellucid import maths
from pellucid.inference import Normal

A = np.array([[2.0, 1.0], [1.0, 3.0]])


def bowl(x):
    return float(np.sum(np.square(x)))


CALLS = {
    "bernstein": {"variance": 0.2, "n": 50, "eps": 0.1, "width": 1.0},
    "chebyshev": {"variance": 1.0, "eps": 0.5, "n": 3},
    "convexity": {"f": bowl, "low": [-1.0], "high": [1.0], "n_samples": 20},
    "decompose": {"A": A, "kind": "svd"},
    "empirical_bernstein": {"variance": 0.2, "n": 50, "delta": 0.1, "width": 1.0},
    "fundamental_subspaces": {"A": A, "basis": "orthonormal"},
    "hoeffding": {"n": 50, "eps": 0.1, "width": 1.0},
    "invert": {"A": A, "if_singular": "raise"},
    "limit_theorems": {"distribution": Normal(0.0, 1.0), "n": [5], "eps": 0.1, "repeats": 20},
    "markov": {"mean": 1.0, "a": 2.0},
    "moments": {"X": A, "ddof": 1.0},
    "taylor": {"f": np.exp, "order": 2},
}
TRIED = tried(CALLS)


@pytest.mark.parametrize("function", CALLS)
def test_the_good_call_is_good(function):
    getattr(maths, function)(**CALLS[function])


@pytest.mark.parametrize(("function", "name", "value"), TRIED)
def test_a_bad_value_is_refused_by_name(function, name, value):
    with pytest.raises(ValueError, match=rf"\b{name}\b|{value}") as caught:
        getattr(maths, function)(**{**CALLS[function], name: value})
    assert "\n" not in str(caught.value)
