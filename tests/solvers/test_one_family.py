"""One family of solvers: one update rule, line searches that keep their word, certificates."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import pellucid
from pellucid import (
    SVC,
    ElasticNet,
    Lasso,
    LinearSVC,
    LogisticRegression,
    Ridge,
    SGDRegressor,
)
from pellucid.compiled.epochs import update
from pellucid.core.backtrack import backtrack
from pellucid.neural import Dense, Network, train
from pellucid.solvers import (
    L2,
    AdaGrad,
    Adam,
    AdamW,
    Backtracking,
    Clipped,
    Constant,
    GradientDescent,
    InverseScaling,
    LinearObjective,
    Momentum,
    Objective,
    RMSProp,
    Wolfe,
    kkt_report,
    subgradient_report,
)

SOURCE = Path(pellucid.__file__).parent
RULES = [Momentum(), Momentum(nesterov=True), AdaGrad(), RMSProp(), Adam(), AdamW(), Clipped(0.5)]
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
Y = X @ [1.0, -2.0, 0.0, 0.5] + 0.2 * rng.normal(size=60)


# --- no second implementation --------------------------------------------------------------------


def test_the_rules_are_written_once():
    """Second moments of gradients and velocities are updated in compiled/epochs.py alone.

    compiled/adam.py is Adam's single-precision form for large networks;
    tests/neural/test_training.py holds it to ``update`` step by step. The deep extra trains with
    PyTorch's own optimisers.
    """
    squares = re.compile(
        r"\(1\s*-\s*\w+\)\s*\*\s*(\w+(?:\[\w+\])?)\s*\*\s*\1\b|\bgrad\w*\s*\*\*\s*2"
    )
    velocity = re.compile(r"=\s*\w+\s*\*\s*(?:v|m|velocity)\b(?:\[\w+\])?\s*-\s*(?:eta|rate)\b")
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if squares.search(path.read_text()) or velocity.search(path.read_text())
    }
    assert found <= {"compiled/epochs.py", "compiled/adam.py"}, found


def test_armijo_is_asked_in_one_place():
    """1e-4 times the promised fall: ``core.backtrack``, and two searches that share their pass.

    softmax tests the slope of the same pass too, logistic_proximal a composite model's promise.
    """
    armijo = re.compile(r"<=[^\n]*\b1e-4 \* \w+ \* |>=[^\n]*\b1e-4 \* \w+")
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if armijo.search(path.read_text())
    }
    assert found <= {"core/backtrack.py"}, found


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_networks_agents_and_solvers_step_alike(rule):
    """The function that networks and agents call is the solver's step, bit for bit."""
    w, g = rng.normal(size=7), rng.normal(size=7)
    memory = rule.start(7)
    at, m, r = w.copy(), memory.m.copy(), memory.r.copy()
    for t in range(1, 6):
        w, memory = rule.step(w, g, 0.05, memory)
        update(*rule.code(), at, g, 0.05, m, r, t)
        assert_array_equal(at, w)
        g = g[::-1].copy()


@pytest.mark.parametrize("rule", [None, *RULES], ids=str)
@pytest.mark.parametrize("size", [None, 7])
def test_a_linear_network_trains_by_the_same_steps(rule, size):
    """One identity unit on inputs and a bias is the linear model on [X, 1], epoch by epoch."""
    start = np.array([0.3, -0.2, 0.1, 0.4, -0.5])
    f = LinearObjective(
        np.column_stack([X, np.ones(60)]), Y, penalty=L2(0.05), scale="half_mean", unpenalised=(4,)
    )
    unit = Network([Dense(1, "identity")], n_inputs=4, random_state=0).with_vector(start)
    for epochs in (1, 2, 12):
        solver = GradientDescent(
            InverseScaling(0.05), rule, batch_size=size, max_iter=epochs, tol=None, shuffle=False
        )
        found = train(unit, X, Y, solver=solver, penalty=L2(0.05))
        assert_allclose(found.network.vector, solver.minimise(f, start).x, rtol=1e-9, atol=1e-12)
    if size is None:  # a row of either history is the value after the update
        assert_allclose(
            found.history["objective"], solver.minimise(f, start).history["value"], rtol=1e-9
        )


def test_averaging_compiled_and_plain():
    """The mean of the recorded points, in compiled epochs and in plain ones."""
    f = LinearObjective(X, Y, "squared")
    plain = Objective(f.value, f.gradient, f.hessian, n_samples=60)
    for average in (True, 70):
        options = {"batch_size": 1, "max_iter": 3, "tol": None, "random_state": 0}
        runs = [
            GradientDescent(InverseScaling(0.02), average=average, **options).minimise(
                g, np.zeros(4), record="update"
            )
            for g in (f, plain)
        ]
        points = runs[0].history["x"][int(average) :]
        assert_allclose(runs[0].x, points.mean(axis=0), rtol=1e-10)
        assert_allclose(runs[1].x, runs[0].x, rtol=1e-10)
    noisy = GradientDescent(InverseScaling(0.02), batch_size=1)
    with pytest.raises(ValueError, match="average"):
        noisy.set_params(average=0).minimise(f, np.zeros(4))
    unit = Network([Dense(1, "identity")], n_inputs=4, random_state=0)
    with pytest.raises(ValueError, match="average"):
        train(unit, X, Y, solver=noisy.set_params(average=True))


def test_averaging_over_all_rows_and_before_it_begins():
    f = LinearObjective(X, Y, scale="half_mean")
    options = {"max_iter": 9, "tol": None}
    path = GradientDescent(0.1, **options).minimise(f, "zeros").history["x"]
    for first in (True, 4, 9):
        found = GradientDescent(0.1, average=first, **options).minimise(f, "zeros")
        assert_allclose(found.x, path[int(first) :].mean(axis=0), rtol=1e-12)
        assert_array_equal(found.history["x"], path)  # the points themselves
    late = GradientDescent(0.1, average=10, **options).minimise(f, "zeros")
    assert_array_equal(late.x, path[-1])


def test_averaging_reaches_the_efficient_variance():
    """Polyak and Ruppert: steps eta t^-a, 1/2 < a < 1, whose mean is as good as least squares.

    2000 rows seen once; over 60 tables the mean's squared error is near that of the exact
    solution, the last point's is several times as large.
    """
    errors = np.zeros(3)
    solver = GradientDescent(
        InverseScaling(0.3, 0.6), batch_size=1, max_iter=1, tol=None, shuffle=False
    )
    source = np.random.default_rng(3)
    for _ in range(60):
        D = source.normal(size=(2000, 3))
        y = D @ [1.0, -1.0, 0.5] + source.normal(size=2000)
        f = LinearObjective(D, y, scale="half_mean")
        answers = [
            np.linalg.lstsq(D, y)[0],
            solver.set_params(average=200).minimise(f, "zeros", record=None).x,
            solver.set_params(average=False).minimise(f, "zeros", record=None).x,
        ]
        errors += [((w - [1.0, -1.0, 0.5]) ** 2).sum() for w in answers]
    exact, mean, last = errors
    assert mean < 1.5 * exact
    assert last > 2 * mean


def test_clipping_bounds_every_plain_step():
    f = Objective(lambda w: float((w**4).sum()), lambda w: 4 * w**3)
    found = GradientDescent(0.1, rule=Clipped(2.0), max_iter=30, tol=None).minimise(f, [9.0, -9.0])
    steps = np.linalg.norm(np.diff(found.history["x"], axis=0), axis=1)
    assert steps.max() <= 0.2 + 1e-12
    assert found.reason != "diverged"
    with pytest.raises(ValueError, match="norm must be > 0"):
        GradientDescent(0.1, rule=Clipped(0.0)).minimise(f, [1.0])


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


def test_sgd_epochs_are_gradient_descent():
    """SGDRegressor without penalty and rate decay takes the steps of GradientDescent(batch 1)."""
    model = SGDRegressor(penalty=None, learning_rate="constant", eta0=0.01, shuffle=False,
                         max_iter=3, tol=None, fit_intercept=False).fit(X, Y)  # fmt: skip
    f = LinearObjective(X, Y, scale="half_mean")
    found = GradientDescent(0.01, batch_size=1, shuffle=False, max_iter=3, tol=None).minimise(
        f, np.zeros(4)
    )
    assert_allclose(model.coef_, found.x, rtol=1e-10)
