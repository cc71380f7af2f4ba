"""Moments and medians: example 9, exact fractions on the NIST sets, blocks, weights."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
import sympy
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.backends import Serial
from pellucid.data import blocks
from pellucid.maths import l1_profile, median_interval, moments

g = np.random.default_rng(0)


def test_example_9():
    assert median_interval([2, 4, 5, 10]) == (4, 5)
    profile = l1_profile([2, 4, 5, 10])
    assert_allclose(profile.value([4, 4.1, 4.5, 5, 5.2]), [9, 9, 9, 9, 9.4])
    assert profile.slopes.tolist() == [-4, -2, 0, 2, 4]
    assert (profile.minimisers, profile.minimum) == ((4, 5), 9)
    found = moments([[1, 2], [2, 4], [3, 5]])
    assert_allclose(found.cov, [[2 / 3, 1], [1, 14 / 9]])
    assert_allclose(found.corr[0, 1], 0.9819805061, atol=1e-10)


def nist():
    """Digits of pi, and the sets NumAcc1 to 4 of NIST with certified mean and deviation."""
    digits = str(sympy.pi.evalf(5010)).replace(".", "")[:5000]
    swing = [0.1, 0.3] * 500
    return {
        "digits": ([int(d) for d in digits], None, None),
        "NumAcc1": ([10000001, 10000003, 10000002], 10000002, 1),
        "NumAcc2": ([1.2] + [1 + s for s in swing], 1.2, 0.1),
        "NumAcc3": ([1000000.2] + [1000000 + s for s in swing], 1000000.2, 0.1),
        "NumAcc4": ([10000000.2] + [10000000 + s for s in swing], 10000000.2, 0.1),
    }


def digits_right(value, exact):
    error = abs(Fraction(value) - exact) / abs(exact)
    return 15.0 if error == 0 else min(15.0, -np.log10(float(error)))


@pytest.mark.parametrize("name", list(nist()))
def test_thirteen_digits(name):
    """Against exact fractions of the numbers as stored (doubles cannot hold 10000000.1)."""
    values, mean, deviation = nist()[name]
    x = np.array(values, dtype=float)
    found = moments(x, ddof=1)
    exact = [Fraction(v) for v in x.tolist()]
    m = sum(exact) / len(exact)
    v = sum((a - m) ** 2 for a in exact) / (len(exact) - 1)
    assert digits_right(float(found.mean[0]), m) >= 13
    assert digits_right(float(found.cov[0, 0]), v) >= 13
    if mean is not None:
        assert_allclose(found.mean[0], mean, rtol=1e-13)
        stored = 1e-8 if name in ("NumAcc3", "NumAcc4") else 1e-13
        assert_allclose(np.sqrt(found.cov[0, 0]), deviation, rtol=stored)


def test_moments_oracle_and_weights():
    X, w = g.normal(size=(10_000, 4)) + 1e6, g.integers(0, 4, 10_000)
    for ddof in (0, 1):
        found = moments(X, ddof=ddof)
        assert_allclose(found.cov, np.cov(X.T, ddof=ddof), rtol=1e-9, atol=1e-9)
        assert_allclose(found.corr, np.corrcoef(X.T), atol=1e-9)
        weighted, repeated = moments(X, w, ddof), moments(np.repeat(X, w, axis=0), ddof=ddof)
        assert weighted.n == repeated.n == w.sum()
        assert_allclose(weighted.cov, repeated.cov, rtol=1e-9, atol=1e-9)
    whole, parts = moments(X), moments(X[:3000]).merge(moments(X[3000:]))
    assert_allclose(parts.cov, whole.cov, rtol=1e-9, atol=1e-9)
    assert_allclose(parts.mean, whole.mean, rtol=1e-14)


def test_blocks_have_the_same_bits(tmp_path):
    X = g.normal(size=(20_000, 3))
    frame = pl.DataFrame({f"x{j}": X[:, j] for j in range(3)})
    path = tmp_path / "table.parquet"
    frame.write_parquet(path)
    memory = moments(frame)
    for size, backend in [(4096, None), (8192, Serial()), (12_288, None)]:
        found = moments(blocks(path, block_rows=size), backend=backend)
        assert_array_equal(found.cov, memory.cov)
        assert_array_equal(found.mean, memory.mean)


def test_moments_doors():
    with pytest.warns(UserWarning, match=r"undefined \(NaN\): x1"):
        found = moments([[1.0, 5.0], [2.0, 5.0]])
    assert np.isnan(found.corr[0, 1])
    assert found.corr[0, 0] == 1
    assert found.cov[1, 1] == 0
    assert "undefined" in str(found)
    with pytest.raises(ValueError, match="above ddof"):
        moments([1.0], ddof=1)
    with pytest.raises(ValueError, match="nan"):
        moments([1.0, np.nan])
    with pytest.raises(ValueError, match="same columns"):
        moments([1.0, 2.0]).merge(moments([[1.0, 2.0], [2.0, 1.0]]))
    assert moments([3.0]).cov == 0


def test_median_interval_by_definition():
    """Every m of the interval, and none outside, has half the weight on each side."""
    for _ in range(50):
        x = g.integers(0, 6, g.integers(1, 9))
        w = g.integers(0, 4, len(x))
        w[0] = 1
        low, high = median_interval(x, w)
        r = np.repeat(x, w)
        assert (low, high) == median_interval(r)
        for m in np.arange(-1, 7, 0.25):
            median = (r <= m).mean() >= 0.5 and (r >= m).mean() >= 0.5
            assert median == (low <= m <= high)
    assert median_interval([1, 2], [0.1 + 0.2, 0.3]) == (1, 2)  # rounding of sums is not a majority


def test_l1_profile_laws():
    x = g.integers(0, 9, 15).astype(float)
    profile = l1_profile(x)
    a = np.linspace(-1, 10, 200)
    assert_allclose(profile.value(a), np.abs(x[:, None] - a).sum(axis=0))
    assert_allclose(profile.value(profile.knots - 1e-3) - profile.value(profile.knots),
                    -1e-3 * profile.slopes[:-1], atol=1e-10)  # fmt: skip
    assert (profile.value(a) >= profile.minimum - 1e-12).all()
    assert profile.slopes[0] == -15
    assert profile.slopes[-1] == 15
    for bad, message in [([], "vector"), ([np.inf], "finite")]:
        with pytest.raises(ValueError, match=message):
            l1_profile(bad)
    with pytest.raises(ValueError, match="at least one positive"):
        median_interval([1.0], [0.0])
