"""The solvers of the textbook agree with the fast ones, step by step where they take the same."""

from itertools import islice

import numpy as np
import pytest
from agreement import same
from numpy.testing import assert_allclose

from pellucid import maths, solvers
from pellucid.textbook.optimisation.adagrad import adagrad
from pellucid.textbook.optimisation.adam import adam
from pellucid.textbook.optimisation.adam import steps as adam_steps
from pellucid.textbook.optimisation.backtracking import backtracking, descent
from pellucid.textbook.optimisation.coordinate_descent import coordinate_descent
from pellucid.textbook.optimisation.coordinate_descent import rounds as coordinate_rounds
from pellucid.textbook.optimisation.gradient_descent import gradient_descent
from pellucid.textbook.optimisation.gradient_descent import steps as descent_steps
from pellucid.textbook.optimisation.kkt_conditions import kkt_conditions
from pellucid.textbook.optimisation.lbfgs import lbfgs, two_loops
from pellucid.textbook.optimisation.lbfgs import steps as lbfgs_steps
from pellucid.textbook.optimisation.learning_rates import learning_rates
from pellucid.textbook.optimisation.momentum import momentum
from pellucid.textbook.optimisation.momentum import steps as momentum_steps
from pellucid.textbook.optimisation.newton_method import newton_method
from pellucid.textbook.optimisation.newton_root import newton_root
from pellucid.textbook.optimisation.numerical_gradient import numerical_gradient
from pellucid.textbook.optimisation.proximal_gradient import proximal_gradient
from pellucid.textbook.optimisation.proximal_gradient import steps as proximal_steps
from pellucid.textbook.optimisation.reweighted_least_squares import reweighted_least_squares, steps
from pellucid.textbook.optimisation.rmsprop import rmsprop
from pellucid.textbook.optimisation.stochastic_descent import epochs, stochastic_descent
from pellucid.textbook.optimisation.subgradient_descent import subgradient_descent

rng = np.random.default_rng(0)
SLOW = "ignore::sklearn.exceptions.ConvergenceWarning"


def problem(n=40, p=3):
    X, y = rng.normal(size=(n, p)), rng.normal(size=n)
    f = solvers.LinearObjective(X, y, scale="half_mean")
    return X, y, f, rng.normal(size=p)


def after(rule, f, x, n):
    """x after n full steps of a fast rule."""
    memory = rule.start(len(x))
    for _ in range(n):
        x, memory = rule.step(x, f.gradient(rule.look(x, memory)), 0.1, memory)
    return x


def test_gradient_descent():
    X, y, f, x = problem()
    best = np.linalg.lstsq(X, y, rcond=None)[0]
    fast = solvers.GradientDescent(0.5, tol=1e-8).minimise(f, x).x
    same(gradient_descent(f.gradient, x, 0.5), fast, atol=1e-10)
    *_, book = descent_steps(f.gradient, x, 0.5, tol=1e-12)
    same(book, best)
    same(numerical_gradient(f.value, x), f.gradient(x), atol=1e-8)
    same(numerical_gradient(f.value, x), maths.gradient(f.value, x), atol=1e-8)


def test_backtracking():
    _, _, f, x = problem()
    steep = solvers.Objective(lambda x: 50 * f.value(x), lambda x: 50 * f.gradient(x))
    g = steep.gradient(x)
    t = solvers.Backtracking().search(steep, x, steep.value(x), g, -g)
    assert backtracking(steep.value, x, -g, -float(g @ g)) == t < 1
    *_, end = descent(steep.value, steep.gradient, x)
    fast = solvers.GradientDescent(solvers.Backtracking(), tol=1e-6).minimise(steep, x).x
    same(end, fast)


def test_rules():
    _, _, f, x = problem()
    same(momentum(f.gradient, x, 0.1, 20), after(solvers.Momentum(), f, x, 20))
    ahead = next(islice(momentum_steps(f.gradient, x, 0.1, nesterov=True), 20, None)).x
    same(ahead, after(solvers.Momentum(nesterov=True), f, x, 20))
    same(adagrad(f.gradient, x, 0.1, 20), after(solvers.AdaGrad(), f, x, 20))
    same(rmsprop(f.gradient, x, 0.1, 20), after(solvers.RMSProp(), f, x, 20))
    same(adam(f.gradient, x, 0.1, 20), after(solvers.Adam(), f, x, 20))
    decayed = next(islice(adam_steps(f.gradient, x, 0.1, decay=0.1), 20, None)).x
    same(decayed, after(solvers.AdamW(weight_decay=0.1), f, x, 20))


@pytest.mark.filterwarnings(SLOW)
def test_stochastic_descent():
    X, y, f, x = problem(200)
    best = np.linalg.lstsq(X, y, rcond=None)[0]

    def gradient(w, rows):
        return X[rows].T @ (X[rows] @ w - y[rows]) / len(rows)

    rate = solvers.InverseScaling(0.5, 0.6)
    fast = solvers.GradientDescent(rate, batch_size=10, max_iter=30, random_state=0, tol=None)
    draws = np.random.default_rng(0)  # the same rows in the same order
    *_, book = epochs(gradient, x, 200, 10, rate, (draws.permutation(200) for _ in range(30)))
    same(book, fast.minimise(f, x).x)
    end = stochastic_descent(gradient, x, 200, 30, rng, batch=10, first_rate=0.5)
    # looser: it only nears the minimum, as the noise of the batches is averaged away
    assert np.abs(end - best).max() < 0.05
    w = x
    for t in range(5):
        rows = np.arange(10 * t, 10 * t + 10)
        same(gradient(w, rows), f.gradient(w, rows), atol=1e-12)
        w = w - 0.1 * gradient(w, rows)


def test_learning_rates():
    pairs = [
        (learning_rates("inverse", 0.5, 0.7), solvers.InverseScaling(0.5, 0.7)),
        (learning_rates("exponential", 0.5, 0.9), solvers.ExponentialDecay(0.5, 0.9)),
        (learning_rates("cosine", 0.5, end=0.1, T=8), solvers.Cosine(0.5, 0.1, 8)),
    ]
    for ours, theirs in pairs:
        same([ours(t) for t in range(12)], [theirs(t) for t in range(12)])


def test_newton():
    X, y, _, x = problem()
    f = solvers.LinearObjective(X, (y > 0).astype(float), loss="logistic", penalty=solvers.L2(0.1))
    book = newton_method(f.value, f.gradient, f.hessian, x)
    same(book, solvers.Newton().minimise(f, x).x, atol=1e-8)
    *_, book = lbfgs_steps(f.value, f.gradient, x, tol=1e-12)
    fast = solvers.LBFGS(tol=1e-12).minimise(f, x).x
    same(f.value(book), f.value(fast))
    # looser: it ends where values no longer fall, at the root of their rounding from the minimum
    assert_allclose(book, fast, rtol=1e-7)
    same(f.value(lbfgs(f.value, f.gradient, x)), f.value(fast))
    root = newton_root(lambda t: t**3 - 2, lambda t: 3 * t**2, 1.0)
    same(root, solvers.newton_root(lambda t: t**3 - 2, 1.0).x)
    A = np.diag([1.0, 4.0, 9.0])  # three steps tell all of a quadratic
    same(two_loops(np.ones(3), [(s, A @ s) for s in np.eye(3)]), 1 / np.diag(A))


def test_reweighted_least_squares():
    X, y, _, _ = problem(100)
    y = (y > 0).astype(float)
    b = np.zeros(3)
    for book in islice(steps(X, y), 5):
        same(book, b, atol=1e-10)
        b = solvers.irls_step(X, y, b).coef
    f = solvers.LinearObjective(X, y, loss="logistic")
    same(reweighted_least_squares(X, y), solvers.Newton(tol=1e-12).minimise(f, "zeros").x)


@pytest.mark.filterwarnings(SLOW)
def test_kinks():
    X, y, smooth, x = problem()
    L = float(np.linalg.eigvalsh(X.T @ X / len(X))[-1])
    f = solvers.LinearObjective(X, y, scale="half_mean", penalty=solvers.L1(0.1))
    exact = solvers.CoordinateDescent(tol=1e-12).minimise(f, x).x
    plain = solvers.ProximalGradient(1 / L, accelerated=False, max_iter=15, tol=None)
    book = proximal_gradient(smooth.gradient, x, 0.1, L, 15)
    same(book, plain.minimise(f, x).x, atol=1e-10)
    *_, end = islice(proximal_steps(smooth.gradient, x, 0.1, L, accelerated=True), 300)
    same(end, exact, atol=1e-8)
    A, b = X.T @ X / len(X), X.T @ y / len(X)
    same(coordinate_descent(A, b, 0.1), exact, atol=1e-9)
    values = [f.value(w) for w in coordinate_rounds(A, b, 0.1)]
    assert np.all(np.diff(values) <= 1e-12)
    fast = solvers.SubgradientDescent(solvers.InverseScaling(0.3, 0.5), max_iter=50)
    found = subgradient_descent(f.value, f.gradient, x, 0.3, 50)
    same(found, fast.minimise(f, x).x, atol=1e-10)


def test_kkt_conditions():
    c, low = (
        np.array([2.0, -1.0]),
        np.array([0.5, 0.5]),
    )  # nearest point to c with x <= 0.5, x >= -3
    x = np.array([0.5, -1.0])
    g = np.concatenate([x - low, -3 - x])
    grad_g = np.vstack([np.eye(2), -np.eye(2)])
    book = kkt_conditions(2 * (x - c), g, grad_g)
    constraints = [
        lambda x: x[0] - 0.5,
        lambda x: x[1] - 0.5,
        lambda x: -3 - x[0],
        lambda x: -3 - x[1],
    ]
    fast = solvers.kkt_report(x, lambda x: float((x - c) @ (x - c)), inequality=constraints)
    same(book.multipliers, fast.multipliers)
    assert book.stationarity < 1e-9
    assert book.violation == 0
    assert fast.satisfied
    away = kkt_conditions(2 * (low - c), np.concatenate([low - low, -3 - low]), grad_g)
    assert away.stationarity > 0.1
