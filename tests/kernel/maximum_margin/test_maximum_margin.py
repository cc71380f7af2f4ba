"""The exact quadratic programme: the course's examples, cvxpy, what has no solution (KER-03)."""

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid import SVC, MaximumMarginClassifier
from pellucid.kernel import GaussianKernel, NotSeparableError

CORNER = np.array([[0, 0], [1, 0], [0, 1], [2, 2], [3, 2], [3, 3.0]])
SOLVERS = pytest.mark.parametrize("solver", ["primal", "dual"])


def blobs():
    state = np.random.RandomState(0)
    x1, y1 = state.normal(1, 0.3, 50), state.normal(1, 0.3, 50)
    x2, y2 = state.normal(3, 0.5, 50), state.normal(5, 0.5, 50)
    return np.vstack([np.c_[x1, y1], np.c_[x2, y2]]), np.repeat([0, 1], 50)


def overlapping(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)


@SOLVERS
def test_example_19_hard_margin(solver):
    model = MaximumMarginClassifier(solver=solver).fit(CORNER, [0, 0, 0, 1, 1, 1])
    assert_allclose(model.coef_, [[2 / 3, 2 / 3]], atol=1e-9)
    assert_allclose(model.intercept_, [-5 / 3], atol=1e-9)
    assert_allclose(model.margin_, 1.0606601718, atol=1e-9)
    assert_allclose(model.multipliers_, [0, 2 / 9, 2 / 9, 4 / 9, 0, 0], atol=1e-9)
    assert_allclose([model.primal_objective_, model.dual_objective_], 4 / 9, atol=1e-9)
    assert model.kkt_violation_ < 1e-9
    assert model.boundary().distance([[0.0, 0.0]]) < 0


@SOLVERS
def test_example_19_blobs(solver):
    model = MaximumMarginClassifier(solver=solver).fit(*blobs())
    assert_allclose(model.coef_, [[0.3550363821, 0.5811121276]], atol=1e-9)
    assert_allclose(model.intercept_, [-2.3302970193], atol=1e-9)
    assert model.support_.tolist() == [47, 83, 90]
    assert_allclose(
        model.multipliers_[model.support_], [0.2318710687, 0.1552992798, 0.0765717889], atol=1e-9
    )
    assert_allclose(model.margin_width_, 2.9369172896, atol=1e-9)
    assert model.n_margin_errors_ == 0


@SOLVERS
def test_example_20_every_multiplier_at_its_bound(solver):
    model = MaximumMarginClassifier(C=0.1, solver=solver).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    assert_allclose(model.multipliers_, 0.1, atol=1e-9)
    assert_allclose(model.coef_, [[0.4]], atol=1e-9)
    assert_allclose(model.primal_objective_, 0.32, atol=1e-9)
    assert_allclose(model.intercept_interval_, (-1.0, -0.2), atol=1e-9)
    assert_allclose(model.intercept_, [-0.6], atol=1e-9)
    assert (model.categories_ == "inside").all()


def test_example_20_by_smo():
    model = SVC(C=0.1, kernel="linear").fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    assert_allclose(model.multipliers_, 0.1)
    assert_allclose(model.intercept_interval_, (-1.0, -0.2), atol=1e-9)
    assert (model.categories_ == "inside").all()


def cvxpy_dual(K, s, C):
    a = cp.Variable(len(s))
    root = np.linalg.cholesky(K + 1e-12 * np.eye(len(s)))
    limits = [a >= 0, s @ a == 0, *([a <= C] if np.isfinite(C) else [])]
    problem = cp.Problem(
        cp.Maximize(cp.sum(a) - 0.5 * cp.sum_squares(root.T @ cp.multiply(s, a))), limits
    )
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return problem.value


@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("kernel", ["linear", GaussianKernel(1.0)], ids=["linear", "gaussian"])
def test_oracle_cvxpy(kernel, C):
    X, y = overlapping()
    model = MaximumMarginClassifier(C=C, kernel=kernel).fit(X, y)
    K = X @ X.T if kernel == "linear" else kernel(X)
    value = cvxpy_dual(K, 2.0 * y - 1.0, C)
    assert_allclose(model.dual_objective_, value, rtol=1e-7)
    assert model.primal_objective_ - model.dual_objective_ < 1e-8 * value
    assert model.kkt_violation_ < 1e-8
    smo = SVC(C=C, kernel=kernel, tol=1e-7).fit(X, y)
    assert_allclose(smo.decision_function(X), model.decision_function(X), atol=1e-5)
    assert (smo.categories_ == model.categories_).all()
    assert smo.n_margin_errors_ == model.n_margin_errors_


def cvxpy_primal(X, s, C):
    w, b, xi = cp.Variable(X.shape[1]), cp.Variable(), cp.Variable(len(s))
    cost = cp.sum_squares(w) / 2 + (C * cp.sum(xi) if np.isfinite(C) else 0)
    slack = xi if np.isfinite(C) else 0
    problem = cp.Problem(cp.Minimize(cost), [cp.multiply(s, X @ w + b) >= 1 - slack, xi >= 0])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return problem.value, w.value, b.value


@SOLVERS
@pytest.mark.parametrize("C", [np.inf, 1.0], ids=["hard", "soft"])
def test_oracle_primal_and_dual(solver, C):
    """The primal and the dual of either margin by another solver: four equal numbers."""
    X, y = blobs() if np.isinf(C) else overlapping()
    s = 2.0 * y - 1.0
    value, w, b = cvxpy_primal(X, s, C)
    model = MaximumMarginClassifier(C=C, solver=solver).fit(X, y)
    assert_allclose(model.primal_objective_, value, rtol=1e-7)
    assert_allclose(model.dual_objective_, cvxpy_dual(X @ X.T, s, C), rtol=1e-7)
    assert abs(model.primal_objective_ - model.dual_objective_) < 1e-8
    assert_allclose(model.coef_[0], w, atol=1e-6)
    assert_allclose(model.intercept_[0], b, atol=1e-5)
    a, margin = model.multipliers_, s * model.decision_function(X)
    assert_allclose((a * s) @ X, model.coef_[0], atol=1e-8)  # stationary in w
    assert abs(a @ s) < 1e-8  # and in b
    assert (a >= 0).all()
    assert_allclose(a * (1 - model.slack_ - margin), 0, atol=1e-8)  # complementary slackness
    if np.isfinite(C):
        assert_allclose((C - a) * model.slack_, 0, atol=1e-8)


@SOLVERS
def test_a_tolerance_below_rounding_ends(solver):
    """Columns of length 100: residuals of 1e-13 are rounding, no step makes them smaller."""
    X, y = overlapping()
    model = MaximumMarginClassifier(C=1.0, solver=solver, tol=1e-14).fit(30 * X, y)
    assert model.primal_objective_ - model.dual_objective_ < 1e-10 * model.primal_objective_
    assert model.n_iter_ < 60


def test_hard_margin_in_feature_space():
    X, y = overlapping(60)
    model = MaximumMarginClassifier(kernel=GaussianKernel(1.0)).fit(X, y)
    assert model.score(X, y) == 1.0
    s = 2.0 * y - 1.0
    assert (s * model.decision_function(X) > 1 - 1e-5).all()
    gap = model.primal_objective_ - model.dual_objective_
    assert abs(gap) < 1e-6 * model.primal_objective_


@SOLVERS
def test_no_plane_separates(solver):
    with pytest.raises(NotSeparableError, match="finite C or another kernel"):
        MaximumMarginClassifier(solver=solver).fit(*overlapping())


@SOLVERS
def test_categories_follow_the_multipliers(solver):
    X, y = overlapping()
    model = MaximumMarginClassifier(C=1.0, solver=solver).fit(X, y)
    margin = (2.0 * y - 1.0) * model.decision_function(X)
    for name, rows in {
        "outside": margin > 1,
        "on_margin": np.abs(margin - 1) < 1e-8,
        "inside": (margin < 1 - 1e-8) & (margin >= 0),
        "misclassified": margin < 0,
    }.items():
        found = model.categories_ == name
        assert found.any()
        assert (rows[found]).all()
    assert_allclose(model.slack_, np.maximum(0, 1 - margin), atol=1e-12)
    assert {"pcost", "dcost", "gap", "pres", "dres"} <= set(model.history_.columns)


def test_precomputed_and_zero_weights():
    X, y = overlapping()
    w = np.ones(len(y))
    w[::7] = 0.0
    whole = MaximumMarginClassifier(C=1.0, kernel=GaussianKernel(1.0)).fit(X, y, sample_weight=w)
    part = MaximumMarginClassifier(C=1.0, kernel=GaussianKernel(1.0)).fit(X[w > 0], y[w > 0])
    assert_allclose(whole.decision_function(X), part.decision_function(X), atol=1e-12)
    s = 2.0 * y - 1.0
    assert_allclose(whole.slack_, np.maximum(0, 1 - s * part.decision_function(X)), atol=1e-12)
    K = GaussianKernel(1.0)(X)
    given = MaximumMarginClassifier(C=1.0, kernel="precomputed").fit(K, y, sample_weight=w)
    assert_allclose(given.decision_function(K), whole.decision_function(X), atol=1e-8)


def test_degenerate_tables():
    with pytest.raises(ValueError, match="primal"):
        MaximumMarginClassifier(kernel="rbf", solver="primal").fit(CORNER, [0, 0, 0, 1, 1, 1])
    constant = MaximumMarginClassifier(C=1.0).fit(np.c_[CORNER, np.ones(6)], [0, 0, 0, 1, 1, 1])
    assert np.isfinite(constant.coef_).all()
    one = MaximumMarginClassifier().fit([[0.0], [1.0]], [0, 1])
    assert_allclose([one.coef_[0, 0], one.intercept_[0]], [2.0, -1.0], atol=1e-9)
    with pytest.raises(NotSeparableError):
        MaximumMarginClassifier().fit(np.ones((4, 2)), [0, 1, 0, 1])
