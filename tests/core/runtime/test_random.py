"""Draws without a seed differ from one another, and `make test` repeats them."""

import random

import numpy as np
from hypothesis import settings

from pellucid.core.runtime.random import generator


def test_two_generators_without_a_seed_differ():
    assert generator().random() != generator().random()


def test_entropy_begins_with_the_name_of_the_test(request):
    """tests/conftest.py seeds what has no seed: the same name, the same draws."""
    if settings().derandomize:
        draws = random.Random(request.node.nodeid)
        assert np.random.SeedSequence().entropy == draws.getrandbits(128)
