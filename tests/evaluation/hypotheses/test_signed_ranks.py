"""Wilcoxon's signed rank test against SciPy's, and its level."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import wilcoxon

from pellucid.evaluation import wilcoxon_test


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("n", [4, 12, 49])
def test_exact_as_scipy(n, alternative):
    a, b = np.random.default_rng(n).normal(size=(2, n))
    a = a + 0.3
    ours = wilcoxon_test(a, b, alternative=alternative)
    theirs = wilcoxon(a, b, alternative=alternative, method="exact")
    assert_allclose(ours.p_value, theirs.pvalue, rtol=1e-10)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_many_pairs_as_scipy(alternative):
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 20, size=(2, 200)).astype(float)
    ours = wilcoxon_test(a, b, alternative=alternative)
    theirs = wilcoxon(a, b, alternative=alternative, correction=True, method="asymptotic")
    assert_allclose(ours.p_value, theirs.pvalue, rtol=1e-8)


def test_ties_and_zeros_are_counted_exactly():
    """Twelve patterns of signs by hand: |d| = 1, 1, 2, a zero left out."""
    test = wilcoxon_test([2.0, 3.0, 5.0, 7.0], [1.0, 2.0, 3.0, 7.0])
    assert test.statistic == 6.0
    assert test.p_value == 2 / 8
    assert test.estimate == 1.25  # of (1, 1, 1, 1.5, 1.5, 2)


def test_the_level_holds():
    rng = np.random.default_rng(1)
    rejected = [wilcoxon_test(*rng.normal(size=(2, 15))).reject for _ in range(400)]
    assert np.mean(rejected) < 0.08


def test_refusals():
    with pytest.raises(ValueError, match="every pair is equal"):
        wilcoxon_test([1.0, 2.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="must be pairs, got 2 and 1"):
        wilcoxon_test([1.0, 2.0], [1.0])
