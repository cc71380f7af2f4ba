"""Tests, conformal methods and bounds keep their promises, by simulation (see benchmarks)."""

import pytest

from benchmarks.evaluation import calibration_tests as simulations

pytestmark = pytest.mark.slow


def keeps(row):
    """Within four standard errors of the promise; chi2 laws may be a little off."""
    room = 4 * row.error
    if row.kind == "reported":
        return True
    if row.kind == "at most":
        return row.measured <= row.nominal + room
    if row.kind == "at least":
        return row.measured >= row.nominal - room
    if row.kind == "too eager":
        return row.measured > row.nominal + room
    return abs(row.measured - row.nominal) <= room + 0.01


@pytest.mark.parametrize(
    ("simulate", "repeats"),
    [
        (simulations.plain_tests, 3000),
        (simulations.overlapping_folds, 800),
        (simulations.real_halvings, 600),
        (simulations.conformal_intervals, 400),
        (simulations.conformal_sets, 500),
        (simulations.bounds, 800),
    ],
)
def test_promises_are_kept(simulate, repeats):
    for row in simulate(repeats):
        assert keeps(row), row
