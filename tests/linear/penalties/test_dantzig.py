"""Dantzig selector: feasibility, optimality against another LP, the lasso beside it."""

import cvxpy
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Lasso

from pellucid import DantzigSelector

R = np.array(
    [(1, 2, 1), (2, 1, 0), (3, 4, 1), (4, 3, 1), (5, 6, 0), (6, 5, 2), (7, 8, 1), (8, 6, 3)], float
)
Y = np.array([3, 2, 6, 5, 9, 8, 12, 13], float)
SHAPES = pytest.mark.parametrize(("n", "p"), [(60, 8), (20, 50)])


def data(n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.1, 10, size=p)
    return X, X[:, :3] @ [1.0, -2.0, 0.5] + rng.normal(size=n)


def test_example_15():
    model = DantzigSelector(0.1).fit(R, Y)
    assert_allclose(model.coef_, [0.93639196, 0.72002266, 0.15531011], atol=1e-8)


@SHAPES
def test_feasible_and_no_larger_than_the_lasso(n, p):
    X, y = data(n, p)
    for alpha in (0.05, 0.5, 2.0):
        model = DantzigSelector(alpha).fit(X, y)
        c = (X - X.mean(axis=0)).T @ (y - model.predict(X)) / n
        assert np.abs(c).max() <= alpha * (1 + 1e-8)
        assert_allclose(model.residual_correlation_, np.abs(c).max(), rtol=1e-8)
        lasso = Lasso(alpha, tol=1e-12, max_iter=100_000).fit(X, y)
        assert np.abs(model.coef_).sum() <= np.abs(lasso.coef_).sum() * (1 + 1e-8)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # from inside cvxpy
@SHAPES
def test_another_solver_finds_the_same_optimum(n, p):
    X, y = data(n, p)
    Xc, yc = X - X.mean(axis=0), y - y.mean()
    w = cvxpy.Variable(p)
    limit = [cvxpy.norm_inf(Xc.T @ (yc - Xc @ w) / n) <= 0.5]
    best = cvxpy.Problem(cvxpy.Minimize(cvxpy.norm1(w)), limit).solve(solver="CLARABEL")
    assert_allclose(np.abs(DantzigSelector(0.5).fit(X, y).coef_).sum(), best, rtol=1e-6)


def test_orthogonal_columns_are_soft_thresholded():
    X = np.linalg.qr(np.random.default_rng(0).normal(size=(50, 4)))[0] * np.sqrt(50)
    X -= X.mean(axis=0)
    X = np.linalg.qr(X)[0] * np.sqrt(50)
    y = X @ [2.0, -0.05, 1.0, 0.0]
    assert_allclose(DantzigSelector(0.1).fit(X, y).coef_, [1.9, 0, 0.9, 0], atol=1e-10)


def test_zero_from_alpha_max_and_several_targets():
    X, y = data(60, 8)
    edge = DantzigSelector(0.5).fit(X, y).alpha_max_
    assert not DantzigSelector(edge).fit(X, y).coef_.any()
    assert DantzigSelector(edge * 0.999).fit(X, y).coef_.any()
    both = DantzigSelector(0.5).fit(X, np.column_stack([y, -y]))
    assert_allclose(both.coef_[0], -both.coef_[1], atol=1e-9)
    assert_allclose(both.coef_[0], DantzigSelector(0.5).fit(X, y).coef_, atol=1e-12)


def test_recovers_a_sparse_signal_with_more_columns_than_rows():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 200))
    y = X[:, [3, 50, 120]] @ [4.0, -3.0, 5.0] + 0.1 * rng.normal(size=80)
    coef = DantzigSelector(0.3).fit(X, y).coef_
    assert set(np.flatnonzero(np.abs(coef) > 1)) == {3, 50, 120}
