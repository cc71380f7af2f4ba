"""Intervals of cross-validation and permutation importance cover, by simulation."""

import pytest

from benchmarks.evaluation import calibration_splits as simulations

pytestmark = pytest.mark.slow


def test_corrected_fold_intervals_cover():
    plain, corrected = simulations.fold_intervals(400)
    assert corrected[2] >= 0.95 - 4 * corrected[3]
    assert corrected[2] >= plain[2]


def test_importance_intervals_cover():
    (row,) = simulations.importance_intervals(600)
    assert abs(row[2] - 0.95) <= 4 * row[3] + 0.02
