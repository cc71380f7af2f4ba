"""Counts are numbers, codes are classes."""

import numpy as np
import pytest

from pellucid.study import detect_task

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    "y",
    [
        RNG.poisson(1.0, 400),
        RNG.poisson(3.0, 400).clip(max=9),
        np.minimum(RNG.geometric(0.4, 500) - 1, 9),
        RNG.choice([0, 1, 2, 3, 7, 12], p=[0.75, 0.06, 0.03, 0.03, 0.07, 0.06], size=600),
        RNG.negative_binomial(1, 0.4, 300).clip(max=8),
        np.repeat(np.arange(8), [828, 160, 31, 6, 3, 1, 3, 6]),
    ],
    ids=["poisson", "poisson of 3", "visits", "affairs", "negative binomial", "a rough tail"],
)
def test_counts_are_judged_as_numbers(y):
    task = detect_task(y)
    assert (task.kind, task.metric) == ("regression", "rmse")
    assert "counts something" in task.reason
    assert detect_task(y, kind="multiclass").kind == "multiclass"  # who knows better says so


@pytest.mark.parametrize(
    "y",
    [
        RNG.integers(10, size=500),
        RNG.integers(1, 6, size=300),
        RNG.choice([0, 1, 2], size=200),
        RNG.choice([1, 2, 3, 4, 5], p=[0.5, 0.25, 0.15, 0.06, 0.04], size=400),
        RNG.choice([10, 20, 30, 40], size=200),
    ],
    ids=["digits", "marks", "three codes", "skewed marks", "tens"],
)
def test_codes_are_classes(y):
    assert detect_task(y).kind == "multiclass"
