"""simple_regression: the examples, polyfit, coordinate descent."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid.linear import simple_regression


def test_example_3_raw_sums_and_moments():
    x = np.linspace(0, 10, 200)
    y = 3 * x + 1 + np.random.RandomState(0).normal(0, 2, 200)
    line = simple_regression(x, y)
    assert_allclose((line.slope, line.intercept), (2.9626408753, 1.3286166099), atol=1e-9)
    assert_allclose((line.sums.slope, line.sums.intercept), (line.slope, line.intercept), rtol=1e-9)
    assert_allclose(line.slope, np.cov(x, y, ddof=0)[0, 1] / x.var(), rtol=1e-12)
    assert_allclose(line.rss, ((y - line.intercept - line.slope * x) ** 2).sum(), rtol=1e-12)
    assert line.sums[:3] == (200, x.sum(), y.sum())


def test_centred_sums_keep_digits_that_raw_sums_lose():
    x = 1e8 + np.arange(10.0)
    y = 2 * np.arange(10.0) + 1
    assert_allclose(simple_regression(x, y).slope, 2.0, rtol=1e-14)


def test_one_parameter_given_is_coordinate_descent():
    g = np.random.default_rng(0)
    x, y = g.normal(size=30) + 1, g.normal(size=30)
    best = simple_regression(x, y)
    b = 0.0
    for _ in range(300):  # the one-at-a-time steps converge to the line
        a = simple_regression(x, y, slope=b).intercept
        b = simple_regression(x, y, intercept=a).slope
    assert_allclose((b, a), (best.slope, best.intercept), rtol=1e-10)
    assert_allclose(simple_regression(x, y, intercept=0.0).slope, (x @ y) / (x @ x))
    assert_allclose(simple_regression(x, y, slope=2.0).intercept, y.mean() - 2 * x.mean())
    assert simple_regression(x, y, slope=2.0).rss > best.rss


def test_refusals():
    for arguments, message in [
        (([1, 1], [1, 2]), "x is constant"),
        (([0, 0], [1, 2], {"intercept": 1}), "zero everywhere"),
        (([1, 2], [1]), "2 and 1"),
        (([1, np.nan], [1, 2]), "x contains nan in row 1"),
        (([[1, 2]], [1, 2]), "one column"),
        (([1, 2], [1, 2], {"slope": 1, "intercept": 1}), "not both"),
        (([1, 2], [1, 2], {"slope": np.inf}), "finite number"),
    ]:
        options = arguments[2] if len(arguments) == 3 else {}
        with pytest.raises(ValueError, match=message):
            simple_regression(*arguments[:2], **options)
    assert simple_regression([1, 1], [1, 2], slope=0.0).intercept == 1.5
