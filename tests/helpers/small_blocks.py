"""The size of a block decides memory and speed, never a number."""

import importlib

import numpy as np
from numpy.testing import assert_allclose

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
NUMBER = X @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=40)
CLASS = np.arange(40) % 3


def same_in_blocks_of_one(monkeypatch, place, compute):
    """``place`` is module.CONSTANT below pellucid: the cells of a block, then 1."""
    module, name = place.rsplit(".", 1)
    whole = compute()
    monkeypatch.setattr(importlib.import_module(f"pellucid.{module}"), name, 1)
    assert_allclose(compute(), whole, rtol=1e-7, atol=1e-9)
