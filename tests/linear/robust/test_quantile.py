"""QuantileRegressor: oracles, optimality, ties, errors."""

import numpy as np
import pytest
import sklearn.linear_model
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.linalg import LinAlgWarning

from pellucid import QuantileRegressor
from pellucid.linear.robust.quantile_kernels import reach_zero


def data(n=80, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 2
    return X, X @ rng.normal(size=p) + rng.standard_t(3, size=n) + 1


def objective(model, X, y, w=None):
    tau = model.quantile
    r = y - X @ model.coef_ - model.intercept_
    loss = np.average(np.where(r > 0, tau * r, (tau - 1) * r), weights=w)
    return loss + model.alpha * np.abs(model.coef_).sum()


# --- oracles ---------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("tau", [0.1, 0.5, 0.83])
@pytest.mark.parametrize(
    ("n", "p", "alpha"),
    [(80, 3, 0.0), (80, 3, 0.05), (80, 3, 1.0), (25, 40, 0.03), (300, 8, 0.0), (1, 2, 0.1)],
)
def test_equals_scikit_learn(n, p, alpha, tau, intercept):
    X, y = data(n, p)
    w = np.random.default_rng(1).uniform(0.2, 3, size=n)
    model = QuantileRegressor(quantile=tau, alpha=alpha, fit_intercept=intercept)
    model.fit(X, y, sample_weight=w)
    oracle = sklearn.linear_model.QuantileRegressor(
        quantile=tau, alpha=alpha, fit_intercept=intercept
    ).fit(X, y, sample_weight=w)
    assert_allclose(objective(model, X, y, w), objective(oracle, X, y, w), rtol=1e-9)
    assert_allclose(model.objective_, objective(model, X, y, w), rtol=1e-9)
    assert abs(model.dual_gap_) < 1e-10
    if model.unique_:
        assert_allclose(model.coef_, oracle.coef_, atol=1e-7)
        assert_allclose(model.intercept_, oracle.intercept_, atol=1e-7)


@pytest.mark.parametrize("alpha", [0.0, 0.01])
def test_growing_samples_give_the_exact_answer(alpha):
    X, y = data(20_000, 4)
    model = QuantileRegressor(quantile=0.7, alpha=alpha).fit(X, y)
    assert abs(model.dual_gap_) < 1e-12
    assert model.n_iter_ >= 3
    if alpha == 0:
        assert (np.abs(y - model.predict(X)) < 1e-9).sum() >= 5
    share = np.mean(y < model.predict(X) - 1e-9)
    assert abs(share - 0.7) < 0.02
    rows = model.history_
    assert rows[-1]["gap"] == 0
    assert rows[-1]["objective"] == rows["objective"].min()


def test_line_search_kernel():
    """The weighted quickselect against sorting, with and without ties."""
    rng = np.random.default_rng(0)
    for trial in range(500):
        n = int(rng.integers(1, 30))
        t = rng.integers(0, 6, n) * 1.0 if trial % 2 else rng.random(n)
        jump = rng.random(n)
        slope = -rng.random() * jump.sum() * 1.1
        T, J, row = t.copy(), jump.copy(), np.arange(n)
        at = reach_zero(T, J, row, n, slope)
        order = np.argsort(t, kind="stable")
        reached = np.flatnonzero(slope + np.cumsum(jump[order]) >= 0)
        if len(reached) == 0:
            assert at == -1
            continue
        assert T[at] == t[order[reached[0]]]
        assert (T[:at] <= T[at]).all()
        assert (T[at:] >= T[at]).all()
        assert_array_equal(t[row], T)


# --- laws ------------------------------------------------------------------------------------


def test_the_constant_is_the_quantile():
    y = np.array([4.0, 1.0, 7.0, 3.0, 9.0])
    for tau, expected in ((0.5, 4.0), (0.1, 1.0), (0.7, 7.0)):
        model = QuantileRegressor(quantile=tau, alpha=0).fit(np.zeros((5, 1)), y)
        assert model.intercept_ == expected
        assert model.unique_
    even = QuantileRegressor(alpha=0).fit(np.zeros((4, 1)), y[:4])
    assert 3 <= even.intercept_ <= 4
    assert not even.unique_
    heavy = QuantileRegressor(alpha=50.0).fit(data()[0], data()[1])
    assert_array_equal(heavy.coef_, 0)


def test_optimal_by_subgradient():
    """0 lies in the subdifferential: the rows fitted exactly can balance all others."""
    X, y = data(300, 5)
    model = QuantileRegressor(quantile=0.35, alpha=0).fit(X, y)
    r = y - model.predict(X)
    exact = np.abs(r) < 1e-10
    assert exact.sum() == 6
    D = np.column_stack([np.ones(300), X])
    g = np.where(r[~exact] > 0, 0.35, -0.65) @ D[~exact]
    a = np.linalg.solve(D[exact].T, -g)
    assert (a >= -0.65 - 1e-9).all()
    assert (a <= 0.35 + 1e-9).all()


def test_no_random_move_is_better():
    X, y = data(60)
    rng = np.random.default_rng(0)
    model = QuantileRegressor(quantile=0.4, alpha=0.02).fit(X, y)
    best, coef = objective(model, X, y), model.coef_.copy()
    for size in (1e-3, 1e-1, 1.0):
        for _ in range(50):
            model.coef_ = coef + size * rng.normal(size=3)
            assert objective(model, X, y) >= best - 1e-12
    model.coef_ = coef


@pytest.mark.parametrize("alpha", [0.0, 0.05])
def test_weights_are_repetitions(alpha):
    X, y = data(60)
    w = np.random.default_rng(0).integers(0, 4, size=60)
    a = QuantileRegressor(quantile=0.61, alpha=alpha).fit(X, y, sample_weight=w)
    b = QuantileRegressor(quantile=0.61, alpha=alpha).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_allclose(a.objective_, b.objective_, rtol=1e-12)
    assert_allclose(a.coef_, b.coef_, atol=1e-9)
    assert_allclose(a.covariance_, b.covariance_, rtol=1e-6)


def test_equivariance():
    """Quantiles follow every increasing line of y, and turn round with its sign."""
    X, y = data(101)
    base = QuantileRegressor(quantile=0.3, alpha=0).fit(X, y)
    moved = QuantileRegressor(quantile=0.3, alpha=0).fit(X, 5 * y + X @ [1.0, 2, 3] + 1e6)
    assert_allclose(moved.coef_, 5 * base.coef_ + [1, 2, 3], rtol=1e-7)
    turned = QuantileRegressor(quantile=0.7, alpha=0).fit(X, -y)
    assert_allclose(turned.coef_, -base.coef_, rtol=1e-9)
    scaled = QuantileRegressor(quantile=0.3, alpha=0).fit(X * [1e-6, 1.0, 1e6] + 1e3, y)
    assert_allclose(scaled.coef_ * [1e-6, 1.0, 1e6], base.coef_, rtol=1e-6)


def test_outliers_do_not_move_the_median():
    X, y = data(99)
    model = QuantileRegressor(alpha=0).fit(X, y)
    above = y > model.predict(X) + 1e-9
    y[above] += 1e9
    assert_allclose(QuantileRegressor(alpha=0).fit(X, y).coef_, model.coef_, atol=1e-5)


def test_recovers_laplace_lines():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 3))
    y = X @ [1.0, -2, 0.5] + 3 + rng.laplace(size=5000)
    model = QuantileRegressor(alpha=0).fit(X, y)
    assert_allclose(np.append(model.intercept_, model.coef_), [3, 1, -2, 0.5], atol=0.06)
    assert (np.abs(model.coef_ - [1, -2, 0.5]) < 4 * model.standard_errors_[1:]).all()


# --- degenerate ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("alpha", [0.0, 0.02])
def test_ties_everywhere(seed, alpha):
    """Small whole numbers: many rows meet in each vertex."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(150, 4)).astype(float)
    y = rng.integers(0, 4, size=150).astype(float)
    model = QuantileRegressor(quantile=0.4, alpha=alpha).fit(X, y)
    oracle = sklearn.linear_model.QuantileRegressor(quantile=0.4, alpha=alpha).fit(X, y)
    assert_allclose(model.objective_, objective(oracle, X, y), rtol=1e-9)
    assert abs(model.dual_gap_) < 1e-9


def test_many_equal_rows():
    X, y = np.repeat(data(30)[0], 400, axis=0), np.repeat(data(30)[1], 400)
    model = QuantileRegressor(quantile=0.45, alpha=0).fit(X, y)
    alone = QuantileRegressor(quantile=0.45, alpha=0).fit(*data(30))
    assert_allclose(model.objective_, alone.objective_, rtol=1e-10)


def test_exact_fits_and_constants():
    X, y = data(50)
    line = X @ [1.0, 2, 3] + 4
    model = QuantileRegressor(alpha=0).fit(X, line)
    assert_allclose(model.coef_, [1, 2, 3], rtol=1e-10)
    assert model.objective_ < 1e-12
    with pytest.warns(UserWarning, match="density"):
        assert not model.summary().valid
    constant = QuantileRegressor(alpha=0).fit(X, np.full(50, 3.0))
    assert_allclose(constant.predict(X), 3.0)
    wide = np.column_stack([X, np.full(50, 7.0)])
    assert QuantileRegressor(alpha=0).fit(wide, y).coef_[3] == 0
    nothing = QuantileRegressor(alpha=0, fit_intercept=False).fit(np.zeros((5, 2)), np.arange(5.0))
    assert_array_equal(nothing.coef_, 0)


def test_dependent_columns_and_few_rows():
    X, y = data(50)
    base = QuantileRegressor(quantile=0.42, alpha=0).fit(X, y)
    with pytest.warns(LinAlgWarning, match="linearly dependent"):
        model = QuantileRegressor(quantile=0.42, alpha=0).fit(np.column_stack([X, X[:, 0]]), y)
    assert_allclose(model.predict(np.column_stack([X, X[:, 0]])), base.predict(X), atol=1e-9)
    assert not model.unique_
    with pytest.warns(UserWarning, match="dependent"):
        model.summary()
    with pytest.warns(LinAlgWarning, match="cannot determine"):
        few = QuantileRegressor(alpha=0).fit(X[:3], y[:3])
    assert_allclose(few.predict(X[:3]), y[:3], atol=1e-9)
    one = QuantileRegressor().fit(X[:1], y[:1])
    assert_allclose(one.predict(X[:1]), y[:1])


def test_sparse_and_refusals():
    X, y = data()
    dense = QuantileRegressor(alpha=0.01).fit(X, y)
    assert_allclose(QuantileRegressor(alpha=0.01).fit(sparse.csr_matrix(X), y).coef_, dense.coef_)
    assert not dense.summary().valid
    assert "penalty biases" in dense.summary().reason
    for params, message in (
        ({"quantile": 1.0}, "quantile must be between"), ({"alpha": -1}, "alpha"),
        ({"alpha": np.inf}, "alpha must be finite"), ({"solver": "simplex"}, "solver"),
        ({"solver_options": 3}, "solver_options"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            QuantileRegressor(**params).fit(X, y)
    assert "duality gap" in str(dense.card())
    assert "Laplace" in str(QuantileRegressor(alpha=0).fit(X, y).card())
