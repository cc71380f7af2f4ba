"""Isotonic regression: scikit-learn bit for bit, the multipliers, a known curve."""

import numpy as np
import pytest
import sklearn.isotonic
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import spearmanr

from pellucid import IsotonicRegression
from pellucid.linear.isotonic.isotonic_regression import rank_correlation, sort_rows

THEIRS = sklearn.isotonic.IsotonicRegression


def table(n=300, seed=0, ties=False):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 40, size=n).astype(float) if ties else rng.uniform(0, 10, size=n)
    return x, np.log1p(x) + rng.normal(size=n), rng.integers(0, 4, size=n).astype(float)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "params", [{}, {"increasing": False}, {"increasing": "auto"}, {"y_min": 0.5, "y_max": 2.0}]
)
def test_same_bits_as_scikit_learn(params, weighted, ties):
    x, y, w = table(ties=ties)
    w = w if weighted else None
    ours = IsotonicRegression(out_of_bounds="clip", **params).fit(x, y, w)
    theirs = THEIRS(out_of_bounds="clip", **params).fit(x, y, w)
    assert_array_equal(ours.X_thresholds_, theirs.X_thresholds_)
    assert_array_equal(ours.y_thresholds_, theirs.y_thresholds_)
    new = np.linspace(-1, 50, 301)
    assert_array_equal(ours.predict(new), theirs.predict(new))
    assert ours.increasing_ == theirs.increasing_


@given(st.integers(1, 60), st.integers(0, 10**6), st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_multipliers_prove_the_minimum(n, seed, ties):
    """Sums of residuals from the left: never negative, and 0 where a level ends."""
    x, y, w = table(n, seed, ties)
    w = w + 1
    model = IsotonicRegression().fit(x, y, w)
    order = np.argsort(x)
    f = model.predict(x[order])
    assert (np.diff(f) >= 0).all()
    u = np.cumsum(w[order] * (y[order] - f))
    last = np.append(x[order][1:] != x[order][:-1], True)  # row of each point
    scale = np.abs(w * y).sum()
    assert (u[last] >= -1e-12 * scale).all()
    ends = np.append(np.diff(f) > 0, True)
    assert_allclose(u[ends], 0, atol=1e-12 * scale)


def test_recovery_and_levels():
    x, y, _ = table(20_000)
    model = IsotonicRegression().fit(x, y)
    assert np.abs(model.predict(x) - np.log1p(x)).mean() < 0.06
    assert model.n_levels_ == len(np.unique(model.y_thresholds_))
    assert_allclose(model.rss_, ((y - model.predict(x)) ** 2).sum(), rtol=1e-12)


def test_outside_the_data():
    x, y = [1.0, 2.0, 3.0], [1.0, 2.0, 4.0]
    assert_array_equal(IsotonicRegression().fit(x, y).predict([0, 1, 9]), [np.nan, 1, np.nan])
    clip = IsotonicRegression(out_of_bounds="clip").fit(x, y)
    assert_array_equal(clip.predict([0, 1, 9]), [1, 1, 4])
    assert_array_equal(clip.f_([2.5]), clip.transform([2.5]))
    assert clip.f_(2.5) == 3
    assert np.isnan(IsotonicRegression().fit(x, y).f_(9.0))
    for value, side in ((0.0, "below"), (9.0, "above")):
        with pytest.raises(ValueError, match=f"{value:g}.* {side} the interpolation range, 1 to 3"):
            IsotonicRegression(out_of_bounds="raise").fit(x, y).predict([2.0, value])


def test_one_point_is_a_constant():
    assert_array_equal(IsotonicRegression().fit([1, 1], [2, 4]).predict([0, 5]), [3, 3])


def test_a_doubtful_direction_warns():
    x, y = [1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 4.0, 2.0, 5.0, 3.0]
    with pytest.warns(UserWarning, match="spans zero"):
        model = IsotonicRegression(increasing="auto").fit(x, y)
    assert model.increasing_


def test_the_rank_correlation_counts_weights_as_repetitions():
    x, y, w = table(40, ties=True)
    found = rank_correlation(sort_rows(x, y, w))
    many = np.repeat(np.arange(40), w.astype(int))
    assert_allclose(found, spearmanr(x[many], y[many]).statistic, rtol=1e-12)


def test_units_do_not_matter():
    x, y, w = table(ties=True)
    a = IsotonicRegression().fit(x, y, w)
    b = IsotonicRegression().fit(x * 2.0**-60, y * 2.0**40, w)
    assert_array_equal(b.X_thresholds_, a.X_thresholds_ * 2.0**-60)
    assert_array_equal(b.y_thresholds_, a.y_thresholds_ * 2.0**40)


def test_float32_stays():
    x, y, _ = table()
    model = IsotonicRegression().fit(x.astype(np.float32), y)
    assert model.X_thresholds_.dtype == model.predict(x[:3]).dtype == np.float32


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"out_of_bounds": "clamp"}, "out_of_bounds"),
        ({"increasing": "maybe"}, "increasing"),
        ({"y_min": 2.0, "y_max": 1.0}, "y_min must be <= y_max"),
        ({"y_min": np.inf}, "y_min must be a finite number"),
    ],
)
def test_bad_parameters(params, words):
    with pytest.raises(ValueError, match=words):
        IsotonicRegression(**params).fit([1, 2], [1, 2])


def test_bad_shapes():
    with pytest.raises(ValueError, match="1d array or 2d array with 1 feature, got shape"):
        IsotonicRegression().fit(np.ones((3, 2)), [1, 2, 3])
