"""Gradient descent: rules, schedules, batches, guards, and the compiled path against NumPy."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import pellucid
from pellucid.core.functions.losses import LOSSES
from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.core.runtime.threads import limit_threads
from pellucid.solvers import (
    L1,
    L1L2,
    L2,
    AdaGrad,
    Adam,
    Adaptive,
    Backtracking,
    Constant,
    Cosine,
    DivergenceWarning,
    ExactLineSearch,
    ExponentialDecay,
    GradientDescent,
    InverseScaling,
    LinearDecay,
    LinearObjective,
    Lq,
    Momentum,
    Objective,
    Optimal,
    RMSProp,
    StepDecay,
    WarmUp,
    Wolfe,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Y = X @ [1.0, -2.0, 0.5] + 0.3 + 0.1 * rng.normal(size=60)
TARGETS = {
    "number": Y, "count": rng.poisson(2.0, 60).astype(float), "zero_one": (Y > 0).astype(float),
    "signs": np.sign(Y),
}  # fmt: skip


# --- the formulas, in NumPy, as PyTorch states them ----------------------------------------------


def torch_path(name, gradient, w, steps, lr, eps=1e-8):
    """torch.optim's update formulas, written out."""
    buf = sq = m = v = np.zeros_like(w)
    path = []
    for t in range(1, steps + 1):
        g = gradient(w)
        if name == "momentum":
            buf = 0.9 * buf + g
            w = w - lr * buf
        elif name == "adagrad":
            sq = sq + g * g
            w = w - lr * g / (np.sqrt(sq) + eps)
        elif name == "rmsprop":
            sq = 0.9 * sq + 0.1 * g * g
            w = w - lr * g / (np.sqrt(sq) + eps)
        else:
            m = 0.9 * m + 0.1 * g
            v = 0.999 * v + 0.001 * g * g
            step = lr / (1 - 0.9**t)
            w = w - step * m / (np.sqrt(v) / np.sqrt(1 - 0.999**t) + eps)
        path.append(w)
    return np.array(path)


@pytest.mark.parametrize(
    ("name", "rule"),
    [("momentum", Momentum()), ("adagrad", AdaGrad()), ("rmsprop", RMSProp()), ("adam", Adam())],
)
def test_rules_follow_torch_step_by_step(name, rule):
    """eps stands inside the root for AdaGrad and RMSProp: the difference is below 1e-8."""
    A = np.diag([1.0, 3.0, 0.2])
    f = Objective(lambda w: float(w @ A @ w / 2), lambda w: A @ w)
    start = np.array([1.0, -2.0, 3.0])
    found = GradientDescent(0.05, rule=rule, max_iter=40, tol=None).minimise(f, start)
    expected = torch_path(name, lambda w: A @ w, start, 40, 0.05)
    tolerance = 1e-12 if name in ("momentum", "adam") else 1e-6
    assert_allclose(found.history["x"][1:], expected, rtol=tolerance, atol=tolerance)


def test_nesterov_is_torch_in_shifted_coordinates():
    """torch follows w + beta v; our x is w itself."""
    A = np.diag([1.0, 3.0])
    f = Objective(lambda w: float(w @ A @ w / 2), lambda w: A @ w)
    start = np.array([1.0, -2.0])
    rule = Momentum(0.9, nesterov=True)
    x = GradientDescent(0.05, rule=rule, max_iter=30, tol=None).minimise(f, start).history["x"]
    w, buf = start, np.zeros(2)
    for t in range(30):
        g = A @ w
        buf = 0.9 * buf + g
        w = w - 0.05 * (g + 0.9 * buf)
        v = x[t + 1] - x[t]
        assert_allclose(w, x[t + 1] + 0.9 * v, atol=1e-12)


# --- compiled epochs against plain Python --------------------------------------------------------


class Plain(Objective):
    """The same objective without the compiled path."""

    def __init__(self, f):
        super().__init__(f.value, f.gradient, f.hessian, n_samples=f.n_samples)
        self.size = f.size


@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize("batch_size", [1, 7])
def test_compiled_epochs_equal_the_general_path(loss, batch_size):
    target = TARGETS[LOSSES[loss].target]
    for rule in (None, Momentum(), Momentum(nesterov=True), AdaGrad(), RMSProp(), Adam()):
        for penalty, batch in ((None, "unbiased"), (L1L2(0.1, 0.2), "unbiased"), (L2(0.1), "raw")):
            f = LinearObjective(
                X, target, loss, penalty, "mean", (0,), batch, intercept=True,
                sample_weight=np.arange(60) % 3 + 0.5,
            )  # fmt: skip
            solver = GradientDescent(
                InverseScaling(0.01), rule, batch_size, max_iter=3, tol=None, random_state=1
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # separable labels
                a = solver.minimise(f, "zeros", "update")
                b = solver.minimise(Plain(f), "zeros", "update")
            assert_allclose(a.x, b.x, rtol=1e-9, atol=1e-12)
            assert len(a.history) == a.n_updates + 1 == 3 * -(-60 // batch_size) + 1
            assert_allclose(a.history["x"], b.history["x"], rtol=1e-9, atol=1e-12)


def test_batches_are_unbiased():
    f = LinearObjective(X, Y, penalty=L2(0.3))
    w = rng.normal(size=3)
    parts = [f.gradient(w, np.arange(k, k + 10)) for k in range(0, 60, 10)]
    assert_allclose(np.mean(parts, axis=0), f.gradient(w))
    raw = LinearObjective(X, Y, batch="raw")
    parts = [raw.gradient(w, np.arange(k, k + 10)) for k in range(0, 60, 10)]
    assert_allclose(np.sum(parts, axis=0), 60 * raw.gradient(w))


@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize("scale", ["sum", "mean", "half_sum", "half_mean"])
def test_linear_objective_derivatives(loss, scale):
    from pellucid.core.algebra.derivatives import numerical_jacobian

    f = LinearObjective(
        X, TARGETS[LOSSES[loss].target], loss, Lq(0.2, 1.5), scale, (1,), intercept=True
    )
    w = np.array([0.11, 0.73, -0.42, 0.37])
    if LOSSES[loss].smooth:
        h = 1e-6 * np.eye(4)  # small: some losses have second derivatives that jump
        slope = [(f.value(w + e) - f.value(w - e)) / 2e-6 for e in h]
        assert_allclose(f.gradient(w), slope, rtol=1e-5, atol=1e-7)
        if loss in ("squared", "logistic", "poisson", "exponential"):
            H = numerical_jacobian(f.gradient, w).value
            assert_allclose(f.hessian(w), H, rtol=1e-6, atol=1e-7)
    value, g = f.value_gradient(w)
    assert_allclose(value, f.value(w))
    assert_allclose(g, f.gradient(w))


def test_lipschitz_is_the_largest_eigenvalue():
    f = LinearObjective(X, Y, penalty=L2(0.3), scale="half_mean")
    assert_allclose(f.lipschitz, np.linalg.eigvalsh(f.hessian(np.zeros(3)))[-1])
    assert LinearObjective(X, Y, "absolute").lipschitz is None


# --- schedules -----------------------------------------------------------------------------------


def test_schedules():
    assert Constant(0.1)(5) == 0.1
    assert_allclose(InverseScaling(0.2, 0.5)(np.arange(3)), 0.2 / np.sqrt([1, 2, 3]))
    assert_allclose(ExponentialDecay(1.0, 0.9)(3), 0.729)
    assert_allclose(StepDecay(1.0, 0.5, 10)(np.array([9, 10, 25])), [1, 0.5, 0.25])
    assert_allclose(Cosine(1.0, 0.0, 10)(5), 0.5)
    assert_allclose(WarmUp(InverseScaling(1.0), 2)(np.arange(4)), [0.5, 1, 1, 1 / np.sqrt(2)])
    truth = {
        Constant(0.1): False, LinearDecay(1, 0.1, 9): False, InverseScaling(1.0): False,
        InverseScaling(1.0, 0.75): True, InverseScaling(1.0, 2.0): False, Optimal(0.1): True,
        ExponentialDecay(1, 0.9): False, StepDecay(1.0): False, Adaptive(1.0): False,
    }  # fmt: skip
    for schedule, expected in truth.items():
        assert schedule.robbins_monro is expected
    for bad in (Constant(-1), InverseScaling(0.0), StepDecay(1.0, 2.0), Adaptive(1.0, 0.5)):
        with pytest.raises(ValueError, match="must be"):
            GradientDescent(bad).minimise(LinearObjective(X, Y), "zeros")


def test_robbins_monro_settles_where_a_constant_rate_does_not():
    f = LinearObjective(X, Y, scale="half_mean", intercept=True)
    best = np.linalg.lstsq(f.design(), Y, rcond=None)[0]

    def distance(rate):
        solver = GradientDescent(rate, batch_size=1, max_iter=2000, tol=None, random_state=0)
        return np.linalg.norm(solver.minimise(f, "zeros").x - best)

    assert distance(InverseScaling(1.0, 0.75)) < 1e-3 < distance(0.1)


def test_adaptive_cuts_the_rate_and_ends():
    f = LinearObjective(X, Y, scale="half_mean", intercept=True)
    solver = GradientDescent(
        Adaptive(0.2, 5.0, 3), batch_size=1, max_iter=2000, tol=1e-7, random_state=0
    )
    found = solver.minimise(f, "zeros")
    rates = found.history["learning_rate"]
    assert found.converged
    assert rates[0] == 0.2
    assert set(np.round(np.log(0.2 / rates) / np.log(5), 9)) <= set(range(9))
    assert rates[-1] < 1e-6 * 5


@pytest.mark.parametrize("search", [Backtracking(), Wolfe(), ExactLineSearch()])
def test_line_searches_find_the_minimum(search):
    f = LinearObjective(X, Y, scale="half_mean", intercept=True)
    found = GradientDescent(search, tol=1e-9).minimise(f, "zeros")
    assert found.converged
    assert_allclose(found.x, np.linalg.lstsq(f.design(), Y, rcond=None)[0], atol=1e-8)
    assert (np.diff(found.history["value"]) <= 1e-15).all()
    with pytest.raises(ValueError, match="line search needs"):
        GradientDescent(search, batch_size=1).minimise(f, "zeros")


# --- guards and stopping -------------------------------------------------------------------------


def test_divergence_quotes_rate_and_limit_and_keeps_the_best():
    f = LinearObjective([[1, 0], [1, 1], [1, 2]], [1, 2, 4], scale="half_mean")
    with pytest.warns(DivergenceWarning, match=r"rate 0\.9 .*limit is 2/L = 0\.837722"):
        found = GradientDescent(0.9).minimise(f, "ones")
    assert found.reason == "diverged"
    assert not found.converged
    assert found.value == found.history["value"].min()
    assert np.isfinite(found.history["value"]).all()
    below = GradientDescent(0.83, max_iter=3000).minimise(f, "ones")
    assert below.converged
    with pytest.warns(DivergenceWarning):
        GradientDescent(5.0, batch_size=1, random_state=0).minimise(f, "ones")
    with pytest.warns(DivergenceWarning):
        GradientDescent(1e200, rule=Momentum()).minimise(f, "ones")


def test_slow_says_so():
    f = LinearObjective(X, Y)
    with pytest.warns(match="slow: try a larger rate, scaled columns or Newton"):
        GradientDescent(1e-4, max_iter=20).minimise(f, "zeros")


@pytest.mark.parametrize("stop", ["gradient", "step", "value"])
def test_stopping_rules(stop):
    f = LinearObjective(X, Y, scale="half_mean")
    found = GradientDescent(0.3, stop=stop, tol=1e-8).minimise(f, "zeros")
    row, before = found.history[-1], found.history[-2]
    size = {
        "gradient": row["gradient_norm"], "step": np.abs(row["x"] - before["x"]).max(),
        "value": abs(row["value"] - before["value"]),
    }[stop]  # fmt: skip
    assert found.converged
    assert size <= 1e-8
    assert_allclose(row["gap"], size)


def test_none_runs_exactly():
    f = LinearObjective(X, Y)
    for solver in (GradientDescent(max_iter=7, tol=None), GradientDescent(max_iter=7, stop=None)):
        assert solver.minimise(f, "zeros").n_iter == 7


def test_maximise_and_numerical_gradient():
    found = GradientDescent(0.1).maximise(Objective(lambda x: -float((x - 3) @ (x - 3)) + 5), [0.0])
    assert_allclose(found.x, [3.0], atol=1e-5)
    assert_allclose(found.value, 5.0)
    assert found.certificate.kind == "local maximum"
    assert found.history["value"][-1] > found.history["value"][0]


def test_starts():
    f = LinearObjective(X, Y)
    solver = GradientDescent(max_iter=1, tol=None, random_state=3)
    assert_array_equal(solver.minimise(f, "ones").history[0]["x"], np.ones(3))
    a, b = (solver.minimise(f, "random").history[0]["x"] for _ in range(2))
    assert_array_equal(a, b)
    for start in ("twos", [1.0], [np.nan] * 3):
        with pytest.raises(ValueError, match="start must"):
            solver.minimise(f, start)
    with pytest.raises(ValueError, match="give an array"):
        solver.minimise(Objective(lambda x: float(x @ x)), "zeros")


def test_bad_parameters():
    f = LinearObjective(X, Y)
    bad = [
        {"learning_rate": -1}, {"learning_rate": "fast"}, {"rule": "adam"}, {"batch_size": 0},
        {"max_iter": 0}, {"tol": -1}, {"stop": "never"}, {"shuffle": 3}, {"random_state": "a"},
    ]  # fmt: skip
    for params in bad:
        with pytest.raises(ValueError, match=next(iter(params))):
            GradientDescent(**params).minimise(f, "zeros")
    with pytest.raises(ValueError, match="n_samples"):
        GradientDescent(batch_size=1).minimise(Objective(lambda x: float(x @ x)), [1.0])
    for params in ({"loss": "cubic"}, {"scale": "total"}, {"batch": "big"}):
        with pytest.raises(ValueError, match=next(iter(params))):
            LinearObjective(X, Y, **params)
    with pytest.raises(ValueError, match="60 and 59"):
        LinearObjective(X, Y[1:])
    with pytest.raises(ValueError, match="finite"):
        LinearObjective([[np.nan]], [1.0])


# --- as values -----------------------------------------------------------------------------------


def test_solvers_are_searchable_cloned_and_saved(tmp_path):
    solver = GradientDescent(InverseScaling(0.1), rule=Adam(), batch_size=2)
    again = clone(solver).set_params(learning_rate__start=0.2, rule__beta1=0.8)
    assert again.get_params()["learning_rate__start"] == 0.2
    assert solver.get_params()["learning_rate__start"] == 0.1
    model = pellucid.LinearRegression(solver=solver)
    model.set_params(solver__learning_rate__power=0.7)
    pellucid.save(model, tmp_path / "model.pellucid")
    assert repr(pellucid.load(tmp_path / "model.pellucid")) == repr(model)


def test_same_bits_for_any_number_of_threads():
    big = rng.normal(size=(9000, 5))
    f = LinearObjective(big, big @ np.ones(5) + rng.normal(size=9000))
    runs = []
    for n in (1, 2, 3):
        with limit_threads(n):
            runs.append(GradientDescent(0.1, max_iter=5, tol=None).minimise(f, "zeros").x)
    assert_array_equal(runs[0], runs[1])
    assert_array_equal(runs[0], runs[2])


@pytest.mark.parametrize("intercept", [False, True])
def test_hessian_of_many_rows(intercept):
    """Leaf by leaf it is D'VD, the same bits for any number of threads."""
    own = np.random.default_rng(1)
    n = 2 * LEAF_ROWS + 3
    Z, label, v = own.normal(size=(n, 3)), own.integers(0, 2, n), own.uniform(0.5, 2, n)
    f = LinearObjective(
        Z, label, "logistic", L2(0.2), "sum", (0,), intercept=intercept, sample_weight=v
    )
    D, x = f.design(), own.normal(size=f.size)
    p = 1 / (1 + np.exp(-D @ x))
    ridge = np.diag(0.4 * (np.arange(f.size) > 0))
    assert_allclose(f.hessian(x), D.T @ ((v * p * (1 - p))[:, None] * D) + ridge, rtol=1e-10)
    with limit_threads(1):
        alone = f.hessian(x)
    assert_array_equal(alone, f.hessian(x))


def test_weights_are_repetitions_in_the_objective():
    w = rng.integers(0, 4, 60)
    a = LinearObjective(X, Y, "huber", L1(0.1), "mean", sample_weight=w)
    b = LinearObjective(X.repeat(w, axis=0), Y.repeat(w), "huber", L1(0.1), "mean")
    x = rng.normal(size=3)
    assert_allclose(a.value(x), b.value(x))
    assert_allclose(a.gradient(x), b.gradient(x))
    assert_allclose(a.hessian(x), b.hessian(x))
    assert_allclose(a.lipschitz, b.lipschitz)
