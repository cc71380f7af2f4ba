"""Line searches keep their word, divergence is caught at its step, certificates hold."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import pellucid
from pellucid import (
    SVC,
    SVR,
    ElasticNet,
    Lasso,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    Ridge,
)
from pellucid.core.loops.backtrack import backtrack, halved
from pellucid.kernel.linear_svm.line_minimum import line_minimum
from pellucid.solvers import (
    LBFGS,
    Adam,
    Backtracking,
    Constant,
    CoordinateDescent,
    DivergenceWarning,
    GradientDescent,
    LinearObjective,
    Momentum,
    Newton,
    Objective,
    ProximalGradient,
    RMSProp,
    SubgradientDescent,
    Wolfe,
    kkt_report,
    subgradient_report,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
Y = X @ [1.0, -2.0, 0.0, 0.5] + 0.2 * rng.normal(size=60)


# --- line searches meet their conditions ---------------------------------------------------------


@given(
    st.lists(st.floats(-5, 5), min_size=2, max_size=2),
    st.floats(0.01, 100),
    st.sampled_from([1e-4, 0.1, 0.4]),
)
@settings(max_examples=60, deadline=None)
def test_line_searches_satisfy_their_conditions(start, stiff, c):
    """Armijo for Backtracking, strong Wolfe for Wolfe, on a stiff quartic bowl."""
    f = Objective(
        lambda x: float(stiff * x[0] ** 2 + x[1] ** 2 + 0.1 * x[1] ** 4),
        lambda x: np.array([2 * stiff * x[0], 2 * x[1] + 0.4 * x[1] ** 3]),
    )
    x = np.array(start)
    value, g = f.value(x), f.gradient(x)
    if np.linalg.norm(g) < 1e-6:
        return
    d, slope = -g, -float(g @ g)
    t = Backtracking(c=c).search(f, x, value, g, d)
    assert t > 0
    assert f.value(x + t * d) <= value + c * t * slope
    longer = 2 * t  # what was tried before was too long
    assert t == 1.0 or f.value(x + longer * d) > value + c * longer * slope
    t = Wolfe().search(f, x, value, g, d)
    assert f.value(x + t * d) <= value + 1e-4 * t * slope + 1e-12 * abs(value)
    assert abs(f.gradient(x + t * d) @ d) <= 0.9 * abs(slope) * (1 + 1e-9)


@given(st.floats(0.01, 100), st.floats(0.05, 3), st.sampled_from([1e-4, 0.1]))
@settings(max_examples=40, deadline=None)
def test_steps_near_a_minimum_meet_hager_and_zhang(stiff, far, c):
    """Armijo, or no rise beyond the noise and a slope that has risen enough."""
    f, slope_at = (lambda x: stiff * x**2 / 2), (lambda x: -stiff * x * far)
    value, slope = f(1.0), -stiff * far
    found = backtrack(
        lambda t: (1.0 - t * far, f(1.0 - t * far)), value, slope, c=c, noise=1e-13 * value,
        slope_at=slope_at,
    )  # fmt: skip
    new = f(found.point)
    enough = new <= value + c * found.t * slope
    flat = new <= value * (1 + 1e-13) and slope_at(found.point) <= (2 * c - 1) * slope
    assert enough or flat
    assert found.t == 1.0 or f(1.0 - 2 * found.t * far) > value + 2 * c * found.t * slope


def test_a_fall_lost_in_rounding_is_judged_by_the_slope():
    """x^2 + 1e8 near 0, computed one unit too high: Armijo refuses, the slope tells."""
    value, slope = 1e8, -2e-10
    attempt = lambda t: (1e-5 * (1 - t), np.nextafter(value, np.inf))  # noqa: E731
    assert backtrack(attempt, value, slope) is None
    found = backtrack(attempt, value, slope, noise=1e-5, slope_at=lambda x: -2e-5 * x)
    assert found.t == 1.0


@given(st.lists(st.tuples(st.floats(0.1, 9), st.floats(0, 5)), min_size=1, max_size=8))
@settings(max_examples=40, deadline=None)
def test_the_minimum_along_a_line_is_flat(hinges):
    """Of t^2/200 - t + sum a (t - k)_+^2/2, a piecewise quadratic."""
    a, k = np.array(hinges).T

    def slopes(t):
        on = t > k
        return t / 100 - 1 + float((a * on) @ (t - k)), 0.01 + float(a @ on)

    t = line_minimum(slopes, 1e-9)
    assert t > 0
    assert abs(slopes(t)[0]) <= 1e-9


def test_halving_takes_the_first_that_does_not_rise_or_the_shortest():
    found = halved(lambda t: (t, (1 - 3 * t) ** 2), 1.0, most=9, noise=0.0)
    assert (found.t, found.point, found.shortened) == (0.5, 0.5, 1)
    last = halved(lambda t: (t, 2.0), 1.0, most=5, noise=0.0)
    assert (last.t, last.point, last.shortened) == (0.0625, 0.0625, 4)


def test_backtrack_gives_up_and_refuses_nan():
    assert backtrack(lambda t: (t, np.nan), 1.0, -1.0, most=5) is None
    assert backtrack(lambda t: (t, 2.0), 1.0, -1.0, most=5) is None


# --- divergence, at its step ---------------------------------------------------------------------


@pytest.mark.parametrize("rule", [None, Momentum(), RMSProp()], ids=str)
def test_divergence_is_caught_at_its_step(rule):
    """The steps before it are kept, the best of them is returned, and the warning says why."""
    f = Objective(lambda w: float(np.exp(w[0] ** 2)), lambda w: 2 * w * np.exp(w**2))
    rate = Constant(3.0)
    with pytest.warns(pellucid.solvers.DivergenceWarning, match="too large"):
        found = GradientDescent(rate, rule=rule, max_iter=500).minimise(f, [1.0])
    assert found.reason == "diverged"
    assert np.isfinite(found.value)
    assert found.value == found.history["value"].min()
    assert len(found.history) == found.n_iter + 1 or len(found.history) == found.n_iter


EXPLODES = Objective(lambda w: float(np.exp(w @ w)), lambda w: 2 * w * np.exp(w @ w))
ROOT = Objective(  # full Newton steps go from x to -x^3
    lambda w: float(np.sqrt(1 + w @ w)), lambda w: w / np.sqrt(1 + w @ w),
    lambda w: np.array([[(1 + w @ w) ** -1.5]]),
)  # fmt: skip
BOTTOMLESS = Objective(lambda w: -float(np.exp(w[0])), lambda w: -np.exp(w))


@pytest.mark.parametrize(
    ("solver", "objective", "start"),
    [
        (GradientDescent(3.0), EXPLODES, 1.0),
        (GradientDescent(3.0, rule=Adam()), BOTTOMLESS, 1.0),
        (SubgradientDescent(Constant(3.0)), EXPLODES, 1.0),
        (ProximalGradient(3.0, accelerated=False), EXPLODES, 1.0),
        (ProximalGradient(3.0), EXPLODES, 1.0),
        (Newton(step_halving=False), ROOT, 1.5),
        (LBFGS(), BOTTOMLESS, 1.0),
        (CoordinateDescent(), BOTTOMLESS, 1.0),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "minimise") else None,
)
def test_every_solver_keeps_its_best_finite_point(solver, objective, start):
    """The warning names the step; the point returned is the best of the finite ones before it."""
    with pytest.warns(DivergenceWarning, match="diverged at step") as caught:
        found = solver.minimise(objective, [start])
    step = int(re.search(r"at step (\d+)", str(caught[0].message))[1])
    assert found.reason == "diverged"
    assert not found.converged
    assert np.isfinite(found.x).all()
    assert np.isfinite(found.value)
    assert len(found.history) == step  # the start and the steps before the bad one
    assert found.value == found.history["value"].min()


@pytest.mark.parametrize(
    "solver",
    [GradientDescent(0.1), SubgradientDescent(), ProximalGradient(0.1), Newton(), LBFGS(),
     CoordinateDescent()],
    ids=lambda solver: type(solver).__name__,
)  # fmt: skip
def test_a_start_without_a_value_is_refused(solver):
    f = Objective(lambda w: float(np.log(w[0])), lambda w: 1 / w, lambda w: np.diag(-1 / w**2))
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match="value at the start"):
        solver.minimise(f, [-1.0])


# --- certificates of regression and of margins ---------------------------------------------------


@pytest.mark.parametrize("model", [Lasso(0.1, tol=1e-10), ElasticNet(0.1, l1_ratio=0.4, tol=1e-10)],
                         ids=["lasso", "elastic net"])  # fmt: skip
def test_subgradients_certify_regressions(model):
    fit = model.fit(X, Y)
    share = getattr(fit, "l1_ratio", 1.0)
    residual = Y - fit.predict(X)
    gradient = -X.T @ residual / len(X) + 0.1 * (1 - share) * fit.coef_
    assert subgradient_report(gradient, fit.coef_, 0.1 * share, tol=1e-6).satisfied
    off = fit.coef_ * [1, 1, 1, -1]  # a wrong sign
    assert not subgradient_report(gradient, off, 0.1 * share, tol=1e-6).satisfied


def test_kkt_certifies_ridge_and_logistic():
    """No constraint: stationarity is the whole of it."""
    ridge = Ridge(2.0, fit_intercept=False).fit(X, Y)
    f = LinearObjective(X, Y, "squared", pellucid.solvers.L2(2.0), scale="sum")
    assert kkt_report(ridge.coef_, f, tol=1e-7).satisfied
    labels = (Y > 0).astype(float)
    logit = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-10).fit(X, labels)
    g = LinearObjective(X, labels, "logistic", pellucid.solvers.L2(1.0), scale="sum")
    assert kkt_report(logit.coef_[0], g, tol=1e-5).satisfied


def test_kkt_certifies_a_margin():
    """The dual of SVC: min a'Qa/2 - sum a, 0 <= a <= C, y'a = 0."""
    y, C = np.sign(Y), 0.7
    model = SVC(C=C, kernel="linear", tol=1e-8).fit(X, y)
    a = np.zeros(60)
    a[model.support_] = np.abs(model.dual_coef_[0])
    Q = (y[:, None] * X) @ (y[:, None] * X).T
    dual = Objective(lambda a: float(a @ Q @ a / 2 - a.sum()), lambda a: Q @ a - 1)
    bounds = [lambda a, i=i: -a[i] for i in range(60)] + [
        lambda a, i=i: a[i] - C for i in range(60)
    ]
    report = kkt_report(a, dual, equality=[lambda a: float(y @ a)], inequality=bounds, tol=1e-5)
    assert report.satisfied, str(report)
    primal = LinearSVC(C=C, loss="squared_hinge", fit_intercept=False, tol=1e-10).fit(X, y)
    w = primal.coef_[0]
    slack = np.maximum(1 - y * (X @ w), 0)
    assert_allclose(w, 2 * C * X.T @ (y * slack), atol=1e-6)


def test_kkt_certifies_non_negative_least_squares():
    model = LinearRegression(positive=True, fit_intercept=False).fit(X, Y)
    f = LinearObjective(X, Y, scale="half_sum")
    bounds = [lambda w, j=j: -w[j] for j in range(4)]
    report = kkt_report(model.coef_, f, inequality=bounds, tol=1e-7)
    assert report.satisfied, str(report)
    assert report.multipliers[1] > 0  # its slope is -2 without the bound
    assert not kkt_report(np.maximum(Ridge(1.0).fit(X, Y).coef_, 0) + 0.01, f, inequality=bounds,
                          tol=1e-7).satisfied  # fmt: skip


@pytest.mark.parametrize("model", ["logistic", "margin"])
def test_subgradients_certify_sparse_classifiers(model):
    """sum loss + |w|_1 / C: slopes of the loss at the weights, intercept free or absent."""
    y = (Y > 0).astype(float)
    if model == "logistic":
        fit = LogisticRegression(l1_ratio=1.0, C=0.2, solver="saga", tol=1e-10, max_iter=1000)
        fit.fit(X, y)
        residual = fit.predict_proba(X)[:, 1] - y
        gradient, intercept = X.T @ residual, residual.sum()
    else:
        fit = LinearSVC(penalty="l1", C=0.2, fit_intercept=False, tol=1e-12).fit(X, y)
        slack = np.maximum(1 - (2 * y - 1) * (X @ fit.coef_[0]), 0)
        gradient, intercept = -2 * X.T @ ((2 * y - 1) * slack), 0.0
    assert subgradient_report(gradient, fit.coef_[0], 5.0, tol=1e-4).satisfied
    assert abs(intercept) < 1e-4
    assert (fit.coef_ == 0).any()


def test_kkt_certifies_support_vector_regression():
    """min b'Kb/2 - y'b + eps |b|_1 as b = u - v:  0 <= u, v <= C, sum u = sum v."""
    C, eps, n = 0.6, 0.1, 30
    model = SVR(C=C, epsilon=eps, kernel="linear", tol=1e-9).fit(X[:n], Y[:n])
    b = np.zeros(n)
    b[model.support_] = model.dual_coef_[0]
    K, y = X[:n] @ X[:n].T, Y[:n]
    uv = np.concatenate([np.maximum(b, 0), np.maximum(-b, 0)])
    sign = np.concatenate([np.ones(n), -np.ones(n)])

    def value(z):
        b = z[:n] - z[n:]
        return float(b @ K @ b / 2 - y @ b + eps * z.sum())

    def slope(z):
        return sign * np.tile(K @ (z[:n] - z[n:]) - y, 2) + eps

    bounds = [Objective(lambda z, i=i: -z[i], lambda z, i=i: -np.eye(2 * n)[i])
              for i in range(2 * n)]  # fmt: skip
    bounds += [Objective(lambda z, i=i: z[i] - C, lambda z, i=i: np.eye(2 * n)[i])
               for i in range(2 * n)]  # fmt: skip
    balance = Objective(lambda z: float(sign @ z), lambda z: sign)
    report = kkt_report(
        uv, Objective(value, slope), equality=[balance], inequality=bounds, tol=1e-6
    )
    assert report.satisfied, str(report)
