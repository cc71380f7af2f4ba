"""Measures and intervals do not depend on how much is worked on at once."""

import numpy as np
import pytest
from small_blocks import CLASS, NUMBER, X, same_in_blocks_of_one

from pellucid.evaluation import classification_metrics
from pellucid.evaluation.conformal.conformal_scores import leave_out_interval


def measures():
    found = classification_metrics(CLASS, np.roll(CLASS, 7), confidence=0.9)
    return [found.f_beta.low, found.f_beta.high]


CASES = {
    "tables": ("evaluation.metrics.classification.CELLS", measures),
    "leave out": (
        "evaluation.conformal.conformal_scores.CELLS",
        lambda: leave_out_interval(X @ np.ones((3, 9)), np.arange(40) % 9, NUMBER, 0.8),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_blocks_of_one(monkeypatch, case):
    same_in_blocks_of_one(monkeypatch, *CASES[case])
