"""Newton, subgradient, proximal, coordinate, L-BFGS, KKT, IRLS and the comparisons."""

import warnings

import numpy as np
import pytest
import sklearn.linear_model as peers
from numpy.testing import assert_allclose
from scipy.linalg import LinAlgWarning
from scipy.optimize import minimize

from pellucid.core.loops.iterate import ConvergenceWarning
from pellucid.solvers import (
    L1,
    L1L2,
    L2,
    LBFGS,
    CoordinateDescent,
    DivergenceWarning,
    GradientDescent,
    InverseScaling,
    LinearObjective,
    Newton,
    Objective,
    ProximalGradient,
    SeparationWarning,
    SubgradientDescent,
    compare_solvers,
    irls_step,
    kkt_report,
    learning_rate_range,
    newton_root,
    solver_advice,
    subgradient_report,
)

rng = np.random.default_rng(1)
X = rng.normal(size=(80, 6)) @ (np.eye(6) + 0.3)
W = np.array([1.0, 0.0, -2.0, 0.0, 0.0, 0.5])
Y = X @ W + 0.3 * rng.normal(size=80)
LABEL = (X @ W + rng.normal(size=80) > 0).astype(float)


def lasso(alpha=0.2, **params):
    return LinearObjective(X, Y, penalty=L1(alpha), scale="half_mean", **params)


@pytest.mark.parametrize(
    "solver",
    [
        CoordinateDescent(tol=1e-12),
        CoordinateDescent(tol=1e-12, selection="random", random_state=0),
        ProximalGradient(tol=1e-10), ProximalGradient(tol=1e-10, accelerated=False, max_iter=20000),
    ],
    ids=str,
)  # fmt: skip
def test_lasso_oracle(solver):
    """scikit-learn's lasso, to its own tolerance; exact zeros and the optimality conditions."""
    theirs = peers.Lasso(0.2, fit_intercept=False, tol=1e-14, max_iter=100_000).fit(X, Y).coef_
    f = lasso()
    found = solver.minimise(f, "zeros")
    assert found.converged
    assert found.certificate.kind.startswith("global minimum")
    assert_allclose(found.x, theirs, atol=1e-9)
    assert ((found.x == 0) == (theirs == 0)).all()
    assert subgradient_report(f.loss_gradient(found.x), found.x, 0.2, tol=1e-9).satisfied


def test_elastic_net_with_free_intercept():
    f = LinearObjective(
        X, Y + 5, penalty=L1L2(0.1, 0.05), scale="half_mean", intercept=True, unpenalised=(0,)
    )
    peer = peers.ElasticNet(0.2, l1_ratio=0.5, tol=1e-14, max_iter=10**5).fit(X, Y + 5)
    for solver in (CoordinateDescent(tol=1e-11), ProximalGradient(tol=1e-11, max_iter=10**4)):
        found = solver.minimise(f, "zeros")
        assert_allclose(found.x, np.append(peer.intercept_, peer.coef_), atol=1e-8)


def test_value_never_rises():
    for solver in (CoordinateDescent(), ProximalGradient(accelerated=False)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            history = solver.minimise(lasso(), "ones").history
        assert (np.diff(history["value"]) <= 1e-12).all()


def test_coordinate_descent_on_other_objectives():
    f = LinearObjective(X, LABEL, "logistic", L2(0.01), intercept=True)
    exact = Newton().minimise(f, "zeros").x
    found = CoordinateDescent(max_iter=5000, tol=1e-9).minimise(f, "zeros")
    assert_allclose(found.x, exact, atol=1e-7)
    rosenbrock = Objective(lambda x: (1 - x[0]) ** 2 + 2 * (x[1] - x[0] ** 2) ** 2)
    found = CoordinateDescent(max_iter=3000, tol=1e-6).minimise(rosenbrock, [0.0, 0.0])
    assert_allclose(found.x, [1.0, 1.0], atol=1e-5)
    with pytest.raises(ValueError, match="kink"):
        CoordinateDescent().minimise(LinearObjective(X, Y, "absolute"), "zeros")


def test_a_column_of_zeros_gets_zero():
    f = LinearObjective(np.column_stack([X, np.zeros(80)]), Y, scale="half_mean")
    assert CoordinateDescent(tol=1e-9).minimise(f, "ones").x[-1] == 0


@pytest.mark.parametrize("solver", [Newton(), LBFGS(), GradientDescent("auto", max_iter=20000)])
def test_logistic_oracle(solver):
    f = LinearObjective(X, LABEL, "logistic", L2(0.01), intercept=True, unpenalised=(0,))
    peer = peers.LogisticRegression(C=1 / (2 * 80 * 0.01), tol=1e-12, max_iter=10**5).fit(X, LABEL)
    found = solver.minimise(f, "zeros")
    assert found.converged
    assert found.certificate.kind == "global minimum, unique"
    assert_allclose(found.x, np.append(peer.intercept_, peer.coef_), atol=2e-4)
    assert found.gradient_norm < 2e-6


def test_newton_from_afar_is_saved_by_halving_and_quadratic_near():
    f = LinearObjective(X, LABEL, "logistic", L2(0.001))
    found = Newton().minimise(f, 5 * np.ones(6))
    assert (np.diff(found.history["value"]) <= 1e-12).all()
    assert found.n_iter < 15
    norms = found.history["gradient_norm"]
    assert norms[-1] < 100 * norms[-2] ** 1.5


def test_newton_singular_and_saddle():
    flat = LinearObjective(np.column_stack([X[:, :2], X[:, 0]]), Y, scale="half_mean")
    with pytest.warns(LinAlgWarning, match="not positive definite"):
        found = Newton().minimise(flat, "zeros")
    assert found.certificate.kind == "global minimum"
    saddle = Objective(lambda x: x[0] ** 2 - x[1] ** 2 + x[1] ** 4)
    with pytest.warns(LinAlgWarning):
        found = Newton(tol=1e-6).minimise(saddle, [1.0, 0.1])
    assert_allclose(np.abs(found.x), [0, np.sqrt(0.5)], atol=1e-6)
    with pytest.raises(ValueError, match="ProximalGradient"):
        Newton().minimise(lasso(), "zeros")
    with pytest.raises(ValueError, match="ProximalGradient"):
        LBFGS().minimise(lasso(), "zeros")


def test_damping_does_not_move_the_minimum():
    f = LinearObjective(X, LABEL, "logistic", L2(0.01))
    a, b = Newton().minimise(f, "zeros"), Newton(damping=0.5, max_iter=500).minimise(f, "zeros")
    assert_allclose(a.x, b.x, atol=1e-6)
    assert b.n_iter > a.n_iter


def test_newton_root_troubles():
    with pytest.warns(ConvergenceWarning, match="slope is zero at x = 0"):
        assert not newton_root(lambda x: x * x + 1, 0.0, lambda x: 2 * x).converged
    with pytest.warns(ConvergenceWarning, match="cycles with period 2"):
        newton_root(lambda x: x**3 - 2 * x + 2, 0.0, lambda x: 3 * x * x - 2)
    with pytest.warns(ConvergenceWarning):
        assert not newton_root(lambda x: np.cbrt(x), 1.0, max_iter=20).converged
    assert newton_root(lambda x: x - 2, 2.0).x == 2.0


def test_subgradient_descent_keeps_the_best():
    f = LinearObjective(X, Y, "absolute", intercept=True)
    solver = SubgradientDescent(InverseScaling(0.5), max_iter=5000)
    found = solver.minimise(f, "zeros")
    best = found.history["best_value"]
    assert (np.diff(best) <= 0).all()
    assert found.value == best[-1] == found.history["value"].min()
    peer = peers.QuantileRegressor(quantile=0.5, alpha=0).fit(X, Y)
    optimum = f.value(np.append(peer.intercept_, peer.coef_))
    assert optimum - 1e-12 <= found.value < optimum * 1.01
    averaged = SubgradientDescent(InverseScaling(0.5), 5000, average=True).minimise(f, "zeros")
    assert averaged.value <= found.value


def test_subgradient_has_no_exact_zeros_and_pegasos_works():
    found = SubgradientDescent(max_iter=300).minimise(lasso(), "ones")
    assert (found.x != 0).all()
    signs, lam = 2 * LABEL - 1, 0.1
    f = LinearObjective(X, signs, "hinge", L2(lam / 2))
    pegasos = SubgradientDescent(InverseScaling(1 / lam, 1.0), max_iter=5000)
    options = {"maxiter": 10**5, "xtol": 1e-10, "ftol": 1e-14}
    exact = minimize(f.value, np.zeros(6), method="Powell", options=options)
    assert pegasos.minimise(f, "zeros").value <= exact.fun + 1e-3
    with pytest.warns(DivergenceWarning, match="rate"):
        SubgradientDescent(1e6, max_iter=50).minimise(LinearObjective(X, Y), "zeros")


def test_proximal_gradient_diverges_with_a_word():
    with pytest.warns(DivergenceWarning, match=r"limit is 2/L"):
        found = ProximalGradient(100.0).minimise(lasso(), "ones")
    assert found.reason == "diverged"
    assert np.isfinite(found.value)


def test_acceleration_helps():
    ill = LinearObjective(X * [1, 1, 1, 1, 1, 0.05], Y, penalty=L1(0.001), scale="half_mean")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fast = ProximalGradient(max_iter=20000).minimise(ill, "zeros")
        slow = ProximalGradient(accelerated=False, max_iter=20000).minimise(ill, "zeros")
    assert fast.converged
    assert fast.n_iter < slow.n_iter / 5


def test_lbfgs_history_and_rosenbrock():
    f = Objective(lambda x: float(100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2))
    found = LBFGS(tol=1e-7).minimise(f, [-1.2, 1.0])
    assert_allclose(found.x, [1, 1], atol=1e-5)
    assert len(found.history) == found.n_iter + 1
    assert {"x", "value", "gradient_norm", "step"} <= set(found.history.columns)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        assert not LBFGS(max_iter=2).minimise(f, [-1.2, 1.0]).converged


def test_all_solvers_agree_on_least_squares():
    f = LinearObjective(X, Y, scale="half_mean", intercept=True)
    exact = np.linalg.lstsq(f.design(), Y, rcond=None)[0]
    solvers = [
        Newton(), LBFGS(tol=1e-10), GradientDescent("auto", tol=1e-10, max_iter=10**4),
        CoordinateDescent(tol=1e-10), ProximalGradient(tol=1e-10),
    ]  # fmt: skip
    for solver in solvers:
        assert_allclose(solver.minimise(f, "zeros").x, exact, atol=1e-7)
    table = compare_solvers(f, "zeros", solvers)
    assert table["solver"][0] == "Newton"
    assert table["speed_up"][0] == 1
    assert_allclose(table["value"], f.value(exact))
    assert table.to_frame().shape == (5, 8)
    assert "gradient_norm" in str(table)
    named = compare_solvers(f, "zeros", {"a": Newton(), "b": Newton(damping=0.1)})
    assert named["solver"] == ["a", "b"]


def test_irls_is_newton_and_statsmodels():
    import statsmodels.api as sm

    D = np.column_stack([np.ones(80), X])
    f = LinearObjective(D, LABEL, "logistic", scale="sum")
    b = 0.1 * np.ones(7)
    step = irls_step(D, LABEL, b)
    newton = Newton(step_halving=False, max_iter=1, tol=None).minimise(f, b)
    assert_allclose(step.coef, newton.x, atol=1e-8)
    assert_allclose(step.value, newton.value)
    weighted = np.sqrt(step.weights)[:, None]
    z = np.linalg.lstsq(weighted * D, weighted[:, 0] * step.working_response, rcond=None)[0]
    assert_allclose(step.coef, z, atol=1e-8)
    for _ in range(20):
        b = irls_step(D, LABEL, b).coef
    assert_allclose(b, sm.GLM(LABEL, D, family=sm.families.Binomial()).fit().params, rtol=1e-6)
    count = rng.poisson(np.exp(0.3 * X[:, 0])).astype(float)
    b = np.zeros(7)
    for _ in range(30):
        b = irls_step(D, count, b, "poisson").coef
    assert_allclose(b, sm.GLM(count, D, family=sm.families.Poisson()).fit().params, atol=1e-7)


def test_irls_separation():
    D, y = np.column_stack([np.ones(4), [0.0, 1, 2, 3]]), np.array([0, 0, 1, 1.0])
    with pytest.warns(SeparationWarning, match="run to infinity"):
        irls_step(D, y, 1e3 * np.array([-1.5, 1.0]))


def test_quasi_separation_is_seen_and_overlap_is_not():
    D = np.column_stack([np.ones(5), [0.0, 1, 2, 2, 3]])
    touching = LinearObjective(D, [0, 0, 0, 1, 1], "logistic", scale="sum")
    with pytest.warns(SeparationWarning), pytest.warns(match="no convergence"):
        GradientDescent(0.1, max_iter=5).minimise(touching, "zeros")
    crossing = LinearObjective(D, [0, 1, 0, 1, 1], "logistic", scale="sum")
    GradientDescent(0.1, max_iter=5, tol=None).minimise(crossing, "zeros")
    shrunk = LinearObjective(D, [0, 0, 0, 1, 1], "logistic", L2(0.1))
    assert Newton().minimise(shrunk, "zeros").converged


def test_subgradient_report():
    report = subgradient_report([-1.0, 0.3, 1.5], [2.0, 0.0, 0.0], l1=1.0)
    assert not report.satisfied
    assert_allclose(report.violation, [0, 0, 0.5])
    assert report.zero.tolist() == [False, True, True]
    with pytest.raises(ValueError, match="shape"):
        subgradient_report([1.0], [1.0, 2.0], 1.0)


def test_kkt_report():
    def f(x):
        return float((x[0] - 2) ** 2 + (x[1] - 1) ** 2)

    problem = {"inequality": [lambda x: x[0] + x[1] - 2, lambda x: -x[0]]}
    report = kkt_report([1.5, 0.5], f, **problem)
    assert report.satisfied
    assert_allclose(report.multipliers, [1.0, 0.0], atol=1e-6)
    assert report.active.tolist() == [True, False]
    assert not kkt_report([1.0, 1.0], f, **problem).satisfied
    assert kkt_report([2.0, 1.0], f, **problem).primal == pytest.approx(1.0)
    wrong = kkt_report([1.5, 0.5], f, multipliers=[-1.0, 0.0], **problem)
    assert wrong.dual == 1.0
    equal = kkt_report([1.5, 0.5], f, equality=[lambda x: x[0] + x[1] - 2])
    assert_allclose(equal.equality_multipliers, [1.0], atol=1e-6)
    free = kkt_report([2.0, 1.0], f)
    assert free.satisfied
    assert len(free.multipliers) == 0


def test_kkt_against_slsqp():
    A = rng.normal(size=(4, 4))
    H, c = A @ A.T + np.eye(4), rng.normal(size=4)
    cons = [lambda x, i=i: -x[i] for i in range(4)]
    found = minimize(lambda x: x @ H @ x / 2 + c @ x, np.ones(4), method="SLSQP",
                     bounds=[(0, None)] * 4, options={"ftol": 1e-16})  # fmt: skip
    objective = Objective(lambda x: float(x @ H @ x / 2 + c @ x), lambda x: H @ x + c)
    report = kkt_report(found.x, objective, inequality=cons, tol=1e-5)
    assert report.satisfied
    assert_allclose(report.multipliers, H @ found.x + c, atol=1e-5)


def test_learning_rates_tell_the_truth():
    f = LinearObjective(X, Y, scale="half_mean")
    rates = learning_rate_range(f, np.zeros(6))
    ok = GradientDescent(0.999 * rates.maximum, max_iter=200, tol=None).minimise(f, "ones")
    assert ok.reason == "max_iter"
    with pytest.warns(DivergenceWarning):
        GradientDescent(1.1 * rates.maximum, max_iter=2000, tol=None).minimise(f, "ones")
    k = rates.condition
    run = GradientDescent(rates.best, max_iter=50, tol=None).minimise(f, "ones")
    exact = np.linalg.lstsq(X, Y, rcond=None)[0]
    errors = np.linalg.norm(run.history["x"] - exact, axis=1)
    assert (errors[1:] <= errors[:-1] * (k - 1) / (k + 1) * (1 + 1e-9)).all()
    singular = LinearObjective(np.ones((3, 2)), [1, 2, 3])
    assert learning_rate_range(singular, [0, 0]).condition == np.inf
    with pytest.raises(ValueError, match="does not curve upwards"):
        learning_rate_range(Objective(lambda x: -float(x @ x)), [0.0])


def test_advice():
    assert solver_advice(1000, 10).solver == "closed form or Newton"
    assert solver_advice(10_000, 20_000).solver == "LBFGS"
    assert "GradientDescent" in str(solver_advice(10**8, 10**4))
    with pytest.raises(ValueError, match="n_features"):
        solver_advice(10, 0)


def test_points_may_be_plain_lists():
    X, y = np.arange(6.0).reshape(3, 2), np.ones(3)
    for penalty in (None, L2(0.5)):
        objective = LinearObjective(X, y, "squared", penalty=penalty)
        point = np.array([0.5, -0.5])
        assert objective.value([0.5, -0.5]) == objective.value(point)
        for method in ("gradient", "hessian"):
            found = getattr(objective, method)([0.5, -0.5])
            assert np.array_equal(found, getattr(objective, method)(point))
