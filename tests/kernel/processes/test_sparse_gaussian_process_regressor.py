"""Sparse Gaussian process: the exact one as an oracle, laws of the bound, a recovery."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import pellucid
from pellucid import GaussianProcessRegressor, SparseGaussianProcessRegressor
from pellucid.core.loops.statistics import Rows, unit_weights
from pellucid.kernel import GaussianKernel
from pellucid.kernel.processes import sparse_gaussian_process_regressor as sparse
from pellucid.kernel.processes.hyperparameters import with_theta
from pellucid.kernel.processes.inducing_bound import (
    Data,
    Unit,
    bound_slope,
    lower_bound,
    most_variance,
)

rng = np.random.default_rng(0)
KERNEL = ConstantKernel(1.3) * RBF([0.8, 1.4])


def table(n=60):
    X = rng.uniform(-3, 3, size=(n, 2))
    f = np.sin(2 * X[:, 0]) * np.cos(X[:, 1])
    return X, f + 0.3 * rng.normal(size=n), f


def held(X, y):
    """Rows whose y is taken as it is."""
    return Data(Rows(X, y, unit_weights(len(X))), map, Unit(0.0, 1.0))


def test_oracle_every_row_a_point_is_the_exact_process():
    X, y, _ = table()
    sparse = SparseGaussianProcessRegressor(KERNEL, n_inducing=60, noise=0.2, optimizer=None)
    exact = GaussianProcessRegressor(KERNEL, alpha=0.2, optimizer=None, normalize_y=True).fit(X, y)
    sparse.fit(X, y)
    new = rng.uniform(-3, 3, size=(9, 2))
    np.testing.assert_allclose(sparse.predict(new), exact.predict(new), atol=1e-5)
    for kind in ("prediction", "mean"):
        ends = sparse.predict_interval(new, kind=kind)
        np.testing.assert_allclose(ends, exact.predict_interval(new, kind=kind), atol=1e-4)
    bound = sparse.lower_bound_ + 60 * np.log(y.std())
    assert bound == pytest.approx(exact.log_marginal_likelihood(), abs=1e-4)


def test_invariant_a_bound_that_more_points_raise_and_its_slope():
    X, y, _ = table()
    data = held(X, y)
    order = most_variance(KERNEL, X, 40, rng)
    assert len(set(order)) == 40
    values = [lower_bound(KERNEL, 0.2, data, X[order[:m]]).value for m in (5, 10, 20, 40)]
    exact = GaussianProcessRegressor(KERNEL, alpha=0.2, optimizer=None).fit(X, y)
    assert (np.diff([*values, exact.log_marginal_likelihood()]) > -1e-6).all()
    Z, theta, h = X[:15], np.append(KERNEL.theta, np.log(0.2)), 1e-5

    def value(t):
        return lower_bound(with_theta(KERNEL, t[:-1]), np.exp(t[-1]), data, Z).value

    numeric = [(value(theta + e) - value(theta - e)) / (2 * h) for e in h * np.eye(4)]
    slope = bound_slope(KERNEL, 0.2, data, Z, lower_bound(KERNEL, 0.2, data, Z))
    np.testing.assert_allclose(slope, numeric, rtol=1e-4)


def test_recovery_of_noise_curve_and_coverage():
    X, y, f = table(3000)
    model = SparseGaussianProcessRegressor(n_inducing=60, random_state=0).fit(X[:2000], y[:2000])
    assert model.noise_ == pytest.approx(0.09, rel=0.1)
    low, high = model.predict_interval(X[2000:]).T
    assert 0.93 < np.mean((low < y[2000:]) & (y[2000:] < high)) < 0.97
    assert np.abs(model.predict(X[2000:]) - f[2000:]).mean() < 0.06
    last = model.history_["objective"][model.history_["start"] == 2]
    assert (np.diff(last) <= 0).all()


def test_our_kernels_constant_targets_and_few_rows():
    X, y, _ = table(300)
    own = SparseGaussianProcessRegressor(1.0 * GaussianKernel(1.0), n_inducing=30, random_state=0)
    assert own.fit(X, y).score(X, y) > 0.5
    X = X[:80]
    flat = SparseGaussianProcessRegressor(n_inducing=30, random_state=0).fit(X, np.full(80, 7.0))
    np.testing.assert_allclose(flat.predict(X), 7.0, atol=1e-6)


@pytest.mark.slow
def test_a_hundred_thousand_rows():
    X, y, f = table(110_000)
    model = SparseGaussianProcessRegressor(n_inducing=60, random_state=0)
    model.fit(X[:100_000], y[:100_000])
    low, high = model.predict_interval(X[100_000:]).T
    assert 0.93 < np.mean((low < y[100_000:]) & (y[100_000:] < high)) < 0.97
    assert np.sqrt(np.mean((model.predict(X[100_000:]) - f[100_000:]) ** 2)) < 0.03


def test_edge_points_that_a_wide_kernel_cannot_tell_apart():
    X = np.random.RandomState(0).normal(size=(10, 4))
    y = X[:, 0] - X[:, 0].mean()
    wide = ConstantKernel(35.0) * RBF([21.1, 1070.0, 471.0, 911.0])
    for noise in (1e-6, 1e-4, 1e-2):
        found, K = lower_bound(wide, noise, held(X, y), X), wide(X) + noise * np.eye(10)
        exact = -0.5 * (y @ np.linalg.solve(K, y) + np.linalg.slogdet(2 * np.pi * K)[1])
        assert exact - 3 < found.value < exact + 1e-6
        np.testing.assert_allclose(wide(X) @ found.beta, y, atol=0.05)


def test_blocks_are_memory_and_the_points_are_drawn_where_rows_are_many(monkeypatch):
    X, y, _ = table(6000)
    options = {"n_inducing": 20, "random_state": 0}
    for most in (sparse.CANDIDATES, 900):
        monkeypatch.setattr(sparse, "CANDIDATES", most)
        memory = SparseGaussianProcessRegressor(**options).fit(X, y)
        source = pellucid.data.blocks(X, target=y, block_rows=700)
        parts = SparseGaussianProcessRegressor(**options).fit_blocks(source)
        np.testing.assert_array_equal(parts.inducing_points_, memory.inducing_points_)
        np.testing.assert_allclose(parts.predict(X[:50]), memory.predict(X[:50]), rtol=1e-9)
        assert parts.lower_bound_ == pytest.approx(memory.lower_bound_, rel=1e-12)
        assert str(parts.card()) == str(memory.card())
    source = pellucid.data.blocks(X, target=y, weight=np.arange(6000.0))
    with pytest.raises(ValueError, match="takes no sample weights"):
        SparseGaussianProcessRegressor().fit_blocks(source)
