"""Tests of means and of paired fold scores: SciPy as oracle, the numbers of the catalogue."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from pellucid.evaluation import corrected_t_test, cv_summary, mean_test, paired_t_test

A = [0.90, 0.85, 0.88, 0.92, 0.87]
B = [0.86, 0.84, 0.85, 0.88, 0.86]
rng = np.random.default_rng(0)


def test_example_4():
    summary = cv_summary(A)
    assert_allclose(summary.mean, 0.884)
    assert_allclose(summary.variance_of_mean, 1.46e-4, rtol=1e-9)
    assert_allclose([summary.low, summary.high], [0.8504521, 0.9175479], atol=5e-8)
    assert_allclose(cv_summary(A, test_ratio=1 / 4).variance_of_mean, 3.285e-4, rtol=1e-9)
    paired = paired_t_test(A, B)
    assert_allclose([paired.statistic, paired.p_value], [3.83349086, 0.01856256], atol=5e-9)
    assert paired.reject
    assert_allclose(paired_t_test(A, B, alternative="greater").p_value, 0.00928128, atol=5e-9)
    corrected = corrected_t_test(A, B, test_ratio=1 / 4)
    assert_allclose([corrected.statistic, corrected.p_value], [2.55566057, 0.06292667], atol=5e-9)
    assert not corrected.reject
    assert_allclose(paired.critical, 2.7764451, atol=5e-8)
    assert_allclose(paired_t_test(A, B, alternative="greater").critical, 2.1318468, atol=5e-8)
    ten = rng.normal(size=10)
    assert_allclose(mean_test(ten).critical, 2.2621572, atol=5e-8)
    assert_allclose(mean_test(ten, alternative="less").critical, 1.8331129, atol=5e-8)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_scipy_agrees(alternative):
    x, y = rng.normal(size=12), rng.normal(size=12)
    ours = mean_test(x, 0.3, alternative=alternative, alpha=0.1)
    theirs = scipy.stats.ttest_1samp(x, 0.3, alternative=alternative)
    assert_allclose([ours.statistic, ours.p_value], [theirs.statistic, theirs.pvalue])
    interval = theirs.confidence_interval(0.9)
    assert_allclose([ours.low, ours.high], interval)
    ours = paired_t_test(x, y, alternative=alternative)
    theirs = scipy.stats.ttest_rel(x, y, alternative=alternative)
    assert_allclose([ours.statistic, ours.p_value], [theirs.statistic, theirs.pvalue])
    assert_allclose([ours.low, ours.high], theirs.confidence_interval(0.95))


def test_corrected_by_hand():
    x, y = rng.normal(size=30), rng.normal(size=30)
    d = x - y
    T = d.mean() / math.sqrt((1 / 30 + 0.2) * d.var(ddof=1))
    ours = corrected_t_test(x, y, test_ratio=0.2)
    assert_allclose(ours.statistic, T)
    assert_allclose(ours.p_value, 2 * scipy.stats.t.sf(abs(T), 29))
    tiny = corrected_t_test(x, y, test_ratio=1e-12)
    assert_allclose(tiny.statistic, paired_t_test(x, y).statistic)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=12), st.sampled_from([0.01, 0.05, 0.3]))
def test_decision_p_value_and_interval_agree(values, alpha):
    for alternative in ("two-sided", "greater", "less"):
        test = mean_test(values, alternative=alternative, alpha=alpha)
        if abs(test.p_value - alpha) > 1e-9:
            assert test.reject == (test.p_value < alpha)
        if math.isfinite(test.statistic) and abs(test.p_value - alpha) > 1e-6:
            assert test.reject == (not test.low <= 0 <= test.high)


def test_swapping_models_turns_the_sign():
    one, two = paired_t_test(A, B), paired_t_test(B, A)
    assert one.statistic == -two.statistic
    assert one.p_value == two.p_value
    assert_allclose([one.low, one.high], [-two.high, -two.low])


def test_zero_variance():
    """Constant differences, also when only up to rounding: .9 - .8 is not .8 - .7."""
    same = paired_t_test([0.9, 0.8, 0.7], [0.8, 0.7, 0.6])
    assert (same.statistic, same.p_value, same.reject) == (math.inf, 0.0, True)
    equal = paired_t_test(A, A)
    assert (equal.statistic, equal.p_value, equal.reject) == (0.0, 1.0, False)
    wrong_side = paired_t_test([0.9, 0.8, 0.7], [0.8, 0.7, 0.6], alternative="less")
    assert (wrong_side.p_value, wrong_side.reject) == (1.0, False)
    assert mean_test([2.0, 2.0], 2.0).p_value == 1.0
    assert mean_test([2.0, 2.0], 1.0).p_value == 0.0


def test_refusals():
    for call, word in [
        (lambda: paired_t_test([1.0], [2.0]), "at least 2"),
        (lambda: paired_t_test([1.0, 2.0], [2.0]), "2 and 1"),
        (lambda: paired_t_test([1.0, np.nan], [2.0, 1.0]), "finite"),
        (lambda: mean_test([]), "at least 2"),
        (lambda: mean_test([[1.0, 2.0]]), "shape"),
        (lambda: mean_test([1.0, 2.0], alternative="bigger"), "alternative must"),
        (lambda: mean_test([1.0, 2.0], alpha=0.0), "alpha must"),
        (lambda: corrected_t_test(A, B, test_ratio=0.0), "test_ratio must"),
        (lambda: cv_summary([0.5]), "at least 2"),
    ]:
        with pytest.raises(ValueError, match=word):
            call()


def test_words():
    text = str(corrected_t_test(A, B, test_ratio=0.25))
    assert "not significant" in text
    assert "corrected t-test" in text
    assert corrected_t_test(A, B, test_ratio=0.25).to_dict()["reject"] is False
