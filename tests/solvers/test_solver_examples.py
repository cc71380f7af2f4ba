"""Section 6 of catalogue part 01: the examples about solvers, 22 to 25."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid.solvers import (
    GradientDescent,
    LinearDecay,
    LinearObjective,
    Momentum,
    Newton,
    Objective,
    RMSProp,
    SeparationWarning,
    budget_multiplier,
    irls_step,
    kkt_report,
    learning_rate_range,
    newton_root,
)

T = LinearObjective([[1, 0], [1, 1], [1, 2]], [1, 2, 4], scale="half_mean")
SQUARE = Objective(lambda x: float(x @ x), lambda x: 2 * x)


def test_22_gradient_descent_on_three_points():
    found = GradientDescent(0.1, max_iter=10, tol=None).minimise(T, "zeros")
    x = found.history["x"]
    assert_allclose(x[1], [0.2333333, 0.3333333], atol=1e-7)
    assert_allclose(x[2], [0.41, 0.5877778], atol=1e-7)
    assert_allclose(x[10], [0.8910679, 1.3210889], atol=1e-7)
    value = found.history["value"]
    assert_allclose(value[:3], [3.5, 2.042037, 1.1970152], atol=1e-6)
    assert_allclose(value[-1], 0.0457893863, atol=1e-10)
    assert (found.n_iter, found.n_updates, found.reason, len(found.history)) == (
        10,
        10,
        "max_iter",
        11,
    )


def test_22_learning_rates():
    rates = learning_rate_range(T, np.zeros(2))
    assert_allclose(rates.maximum, 0.8377223398, atol=1e-10)
    assert_allclose([rates.best, rates.condition], [0.75, 8.5497035], atol=1e-7)


def test_22_budget():
    X, y = T.X, T.y

    def ridge(lam):
        return np.linalg.solve(X.T @ X + lam * np.eye(2), X.T @ y)

    lam = budget_multiplier(lambda a: float(ridge(a) @ ridge(a)), 2.0)
    assert_allclose(lam, 1.4796564883, atol=1e-9)
    assert_allclose(ridge(lam), [0.7668585, 1.1882458], atol=1e-7)
    assert budget_multiplier(lambda a: float(ridge(a) @ ridge(a)), 2.9444445) == 0
    half = LinearObjective(X, y, scale="half_sum")
    report = kkt_report(ridge(lam), half, inequality=[lambda w: (w @ w - 2) / 2])
    assert report.satisfied
    assert_allclose(report.multipliers, [lam], atol=1e-6)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Momentum(0.9), [0.8, 0.46, 0.062]),
        (Momentum(0.9, nesterov=True), [0.8, 0.496, 0.17792]),
        (RMSProp(), [0.6837722, 0.4988706, 0.3691806]),
    ],
)
def test_23_rules(rule, expected):
    found = GradientDescent(0.1, rule=rule, max_iter=3, tol=None).minimise(SQUARE, [1.0])
    assert_allclose(found.history["x"].ravel()[1:], expected, atol=1e-7)


def test_23_linear_decay():
    schedule = LinearDecay(0.1, 0.01, 100)
    assert_allclose([schedule(t) for t in (0, 50, 99, 100)], [0.1, 0.055, 0.0109, 0.01])


def test_24_newton_root():
    found = newton_root(lambda x: x * x - 2, 1.0)
    assert_allclose(found.history["x"][1:5], [1.5, 1.41666667, 1.41421569, 1.41421356], atol=1e-8)
    assert found.converged


def test_24_irls():
    x, y = np.arange(6.0), np.array([0, 0, 1, 0, 1, 1.0])
    X, b = np.column_stack([np.ones(6), x]), np.zeros(2)
    path = []
    for _ in range(10):
        step = irls_step(X, y, b)
        b = step.coef
        path.append(b)
    assert_allclose(path[0], [-2, 0.8])
    assert_allclose(path[1], [-2.77443945, 1.10977578], atol=1e-8)
    assert_allclose(path[2], [-3.01531155, 1.20612462], atol=1e-8)
    assert_allclose(b, [-3.03506896, 1.21402759], atol=1e-8)
    assert_allclose(-step.value, -2.477986835, atol=1e-9)
    covariance = np.linalg.inv(X.T @ (step.weights[:, None] * X))
    assert_allclose(np.sqrt(np.diag(covariance)), [2.545713, 0.912586], atol=1e-6)


def separable_data():
    random = np.random.RandomState(5)
    x1 = random.rand(100) * 2 + 1
    x2 = random.rand(100) * 3
    y = (x2 > 1.5 * x1 - 1).astype(float)
    assert y.sum() == 35
    return LinearObjective(np.column_stack([np.ones(100), x1, x2]), y, "logistic", scale="sum")


def test_25_twenty_steps():
    f = separable_data()
    with pytest.warns(SeparationWarning), pytest.warns(match="no convergence"):
        found = GradientDescent(0.1, max_iter=20, tol=1e-3).minimise(f, "ones")
    assert_allclose(found.x, [3.9646633, -13.2924041, 13.2434563], atol=1e-7)


def test_25_newton():
    solver = Newton(damping=1e-3, step_halving=False, max_iter=1000, tol=1e-3)
    with pytest.warns(SeparationWarning):
        found = solver.minimise(separable_data(), "ones")
    assert found.n_iter == 226
    assert_allclose(found.x / 1e5, [1.655365, -2.099066, 1.291177], atol=1e-6)


@pytest.mark.slow
def test_25_to_the_end():
    solver = GradientDescent(0.1, max_iter=10**6, tol=1e-3)
    with pytest.warns(SeparationWarning):
        found = solver.minimise(separable_data(), "ones", record=None)
    assert found.n_updates == 449_261
    assert_allclose(found.x, [110.2037, -146.6376, 92.3106], atol=1e-4)
