"""Randomness is an argument: one Generator per fit, and streams keyed by what they are for."""

from numbers import Integral

import numpy as np

from pellucid.core.arrays.typing import Rng, Seed


def generator(random_state: Seed = None) -> Rng:
    """Return the Generator of a ``random_state``: None, a whole number, RandomState or Generator.

    >>> int(generator(0).integers(1000)), int(generator(0).integers(1000))
    (850, 850)
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint32))
    if random_state is None:
        return np.random.default_rng()
    if isinstance(random_state, Integral) and int(random_state) >= 0:
        return np.random.default_rng(int(random_state))
    known = "None, a whole number >= 0, a RandomState or a Generator"
    raise ValueError(f"random_state must be {known}, got {random_state!r}")


def stream(seed: int, *keys: int) -> Rng:
    """A Generator for one purpose, the same whatever ran before it or beside it.

    >>> stream(7, 1, 2).random() == stream(7, 1, 2).random()
    True
    """
    return np.random.default_rng(np.random.SeedSequence([seed, *keys]))
