"""The compiled moments against their NumPy twin, ``core.loops.statistics.moments``."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.core.algebra.gram import BLOCK_ROWS, FIRST_ROWS, joint_moments
from pellucid.core.loops.statistics import moments, unit_weights


def check(X, Y, w, rtol=1e-11):
    found, twin = joint_moments(X, Y, w), moments(np.hstack([X, Y]), w)
    assert found.weight == pytest.approx(twin.weight, rel=1e-14)
    assert_allclose(found.mean, twin.mean, rtol=1e-13, atol=1e-13)
    scale = np.sqrt(np.outer(np.diag(twin.scatter), np.diag(twin.scatter)))
    assert_allclose(found.scatter, twin.scatter, rtol=rtol, atol=rtol * max(scale.max(), 1e-300))
    assert_array_equal(found.scatter, found.scatter.T)
    return found


@settings(max_examples=60, deadline=None)
@given(
    n=st.sampled_from([1, 2, BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 1, 300]),
    p=st.integers(1, 40),
    k=st.integers(1, 3),
    shift=st.sampled_from([0.0, 1e3, -1e6]),
    weighted=st.booleans(),
    seed=st.integers(0, 99),
)
def test_against_numpy(n, p, k, shift, weighted, seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, p)) + shift, rng.normal(size=(n, k))
    w = rng.integers(0, 4, size=n).astype(float) if weighted else unit_weights(n)
    check(X, Y, w, rtol=1e-11 if shift == 0 else 1e-8)


def test_a_trend_is_done_again_about_the_mean():
    """The first rows are far from the mean: without the second pass digits would be lost."""
    n = 5000
    x = np.linspace(0, 1, n)[:, None] * 1e8 + np.random.default_rng(0).normal(size=(n, 1))
    X = np.hstack([x, np.random.default_rng(1).normal(size=(n, 1)) + (x > 5e6) * 1e9])
    check(X, X[:, :1].copy(), unit_weights(n))


def test_a_constant_column_has_no_scatter():
    X = np.full((1000, 3), 0.1)
    X[:, 1] = np.random.default_rng(0).normal(size=1000)
    found = joint_moments(X, np.full((1000, 1), 7.3), unit_weights(1000))
    assert_array_equal(found.scatter[[0, 2, 3]], 0.0)
    assert found.mean[0] == 0.1


def test_weights_are_repetitions_and_zero_weights_are_absent():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(400, 5)), rng.normal(size=(400, 1))
    w = rng.integers(0, 3, size=400).astype(float)
    w[: FIRST_ROWS + 10] = 0
    X[0] = 1e6  # of weight zero: must leave no trace
    again = w.astype(int)
    X2, Y2 = np.repeat(X, again, axis=0), np.repeat(Y, again, axis=0)
    for a, b in zip(
        joint_moments(X, Y, w), joint_moments(X2, Y2, unit_weights(len(X2))), strict=True
    ):
        assert_allclose(a, b, rtol=1e-10, atol=1e-10)
    empty = joint_moments(X, Y, np.zeros(400))
    assert empty.weight == 0
    assert not empty.scatter.any()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_cell_that_is_not_finite_shows(bad):
    X = np.ones((200, 4)) + np.arange(200)[:, None]
    X[150, 2] = bad
    with np.errstate(all="ignore"):
        found = joint_moments(X, np.ones((200, 1)), unit_weights(200))
    assert not np.isfinite(found.scatter).all()


def test_read_only_rows():
    X = np.random.default_rng(0).normal(size=(100, 3))
    frozen = X.copy()
    frozen.flags.writeable = False
    for a, b in zip(
        joint_moments(frozen, X[:, :1], unit_weights(100)),
        joint_moments(X, X[:, :1], unit_weights(100)),
        strict=True,
    ):
        assert_array_equal(a, b)


NARROW = """
import llvmlite.binding as llvm

features = llvm.get_host_cpu_features()
features["avx512f"] = False
llvm.get_host_cpu_features = lambda: features

import numpy as np
import pellucid
from pellucid.core.runtime import simd
from pellucid.core.algebra.gram import joint_moments
from pellucid.core.loops.statistics import moments, unit_weights

assert (simd.LANES, simd.TILE_ROWS) == (4, 4)
rng = np.random.default_rng(0)
for p in (1, 3, 4, 11, 20):
    X, Y = rng.normal(size=(300, p)) + 2, rng.normal(size=(300, 1))
    w = unit_weights(300)
    found, twin = joint_moments(X, Y, w), moments(np.hstack([X, Y]), w)
    np.testing.assert_allclose(found.scatter, twin.scatter, rtol=1e-10, atol=1e-10)
X = np.vstack([rng.normal(size=(200, 3)) + 9 * i for i in range(5)])
model = pellucid.KMeans(5, random_state=0, n_init=3).fit(X)
means = np.array([X[200 * i : 200 * i + 200].mean(axis=0) for i in range(5)])
order = np.argsort(model.cluster_centers_[:, 0])
np.testing.assert_allclose(model.cluster_centers_[order], means, rtol=1e-12)
"""


def test_machines_with_shorter_vectors(tmp_path):
    """The tiles of a machine without AVX-512, compiled here into a cache of their own."""
    environment = {**os.environ, "PELLUCID_KERNELS": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", NARROW], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
