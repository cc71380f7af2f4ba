"""Coverage of the intervals of metrics, by simulation."""

import pytest

from benchmarks.evaluation import calibration_metrics as simulations


@pytest.mark.slow
@pytest.mark.parametrize(
    ("simulate", "n"),
    [
        ("proportions", 4000),
        ("areas", 400),
        ("errors", 300),
        ("groups", 200),
        ("classes", 150),
        ("means", 1000),
    ],
)
def test_coverage(simulate, n):
    for what, nominal, measured, error, _ in getattr(simulations, simulate)(n):
        if "independent" in what:  # the interval that ignores the groups must be seen to fail
            assert measured < nominal - 4 * error, what
        elif "exponential" in what:  # squares of skewed errors: known to fall short at this n
            assert 0.8 < measured < 0.98, (what, measured)
        elif "exact" in what or "hoeffding" in what:
            assert measured >= nominal - 4 * error, what
        else:
            assert abs(measured - nominal) <= 0.03 + 4 * error, (what, measured)
