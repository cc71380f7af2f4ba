"""Concentration inequalities: definitions, inversions, and that they are never violated."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid.maths import chebyshev, hoeffding, markov


def test_example_10_of_part_01():
    assert_allclose(float(hoeffding(n=100, eps=0.1)), 0.2706705665, atol=5e-11)
    assert_allclose(float(hoeffding(n=100, eps=0.1, two_sided=False)), 0.1353352832, atol=5e-11)


def test_markov_and_chebyshev():
    assert float(markov(mean=2.0, a=8.0)) == 0.25
    assert float(markov(mean=2.0, a=1.0)) == 1.0
    assert chebyshev(variance=1.0, eps=2.0, n=4) == (1 / 16, 4, 2.0)
    assert float(chebyshev(variance=9.0, eps=1.0)) == 1.0


@pytest.mark.parametrize("two_sided", [True, False])
@pytest.mark.parametrize("width", [1.0, 3.0])
def test_two_give_the_third(width, two_sided):
    eps = hoeffding(n=50, delta=0.1, width=width, two_sided=two_sided).eps
    assert_allclose(float(hoeffding(n=50, eps=eps, width=width, two_sided=two_sided)), 0.1)
    found = hoeffding(eps=eps, delta=0.1, width=width, two_sided=two_sided)
    assert found.n == 50
    one_less = hoeffding(n=49, eps=eps, width=width, two_sided=two_sided)
    assert float(one_less) > 0.1


def test_vector_of_widths():
    w = np.array([1.0, 2.0, 3.0])
    expected = 2 * math.exp(-2 * 9 * 0.25 / 14)
    assert_allclose(float(hoeffding(eps=0.5, width=w)), min(1, expected))
    assert hoeffding(eps=2.0, width=w).n == 3
    assert_allclose(hoeffding(delta=0.1, width=w).eps, math.sqrt(14 * math.log(20) / 18))
    assert_allclose(
        float(hoeffding(n=4, eps=0.5, width=[2.0] * 4)), float(hoeffding(n=4, eps=0.5, width=2.0))
    )


@pytest.mark.parametrize(
    "options",
    [{"n": 3}, {"n": 3, "eps": 0.1, "delta": 0.1}, {"eps": 0.1}, {"width": [1.0, 2.0]}],
)
def test_needs_exactly_two(options):
    with pytest.raises(ValueError, match="two of n, eps and delta"):
        hoeffding(**options)


def test_refusals():
    for call, word in [
        (lambda: hoeffding(n=0, eps=0.1), "n must"),
        (lambda: hoeffding(n=3, eps=0.0), "eps must"),
        (lambda: hoeffding(n=3, delta=1.0), "delta must"),
        (lambda: hoeffding(n=3, eps=0.1, width=0.0), "width must"),
        (lambda: hoeffding(eps=0.1, width=[1.0, np.nan]), "width must"),
        (lambda: hoeffding(n=3, eps=0.1, width=[1.0, 2.0]), "2 ranges"),
        (lambda: markov(mean=-1.0, a=1.0), "mean must"),
        (lambda: chebyshev(variance=1.0, eps=0.0), "eps must"),
    ]:
        with pytest.raises(ValueError, match=word):
            call()


def test_never_violated():
    g = np.random.default_rng(0)
    means = (g.random((20_000, 30)) < 0.3).mean(axis=1)
    for eps in (0.05, 0.1, 0.2):
        seen = np.mean(np.abs(means - 0.3) >= eps)
        assert seen <= float(hoeffding(n=30, eps=eps))
        assert seen <= float(chebyshev(variance=0.21, eps=eps, n=30)) + 0.01
    assert np.mean(means >= 0.5) <= float(markov(mean=0.3, a=0.5))


def test_str_and_dict():
    bound = hoeffding(n=100, eps=0.1)
    assert "at most 0.270671" in str(bound)
    assert bound.to_dict()["n"] == 100
