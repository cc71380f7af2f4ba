"""Training: the catalogue's run, exact optima, penalties, stopping, divergence."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.compiled.epochs.epochs import ADAM, update
from pellucid.core.loops.iterate import ConvergenceWarning, DivergenceWarning
from pellucid.core.runtime.threads import limit_threads
from pellucid.neural import (
    BatchNorm,
    BinaryCrossEntropy,
    Dense,
    EarlyStopping,
    MLPClassifier,
    Network,
    SquaredError,
    gradient_flow,
    next_error,
    train,
)
from pellucid.neural.training.adam_kernels import adam_pass
from pellucid.solvers import (
    L1,
    L2,
    AdaGrad,
    Adam,
    Adaptive,
    Cosine,
    ExponentialDecay,
    GradientDescent,
    InverseScaling,
    LinearDecay,
    Momentum,
    Objective,
    RMSProp,
    StepDecay,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Y = (X @ [[1.0], [-2.0], [0.0]]) + 0.1 * rng.normal(size=(60, 1))


def test_example_training_of_the_course():
    old = np.random.RandomState(1)
    x = old.randn(200, 1)
    y = (x > 0) * 1.0
    W1, b1, W2, b2 = old.randn(5, 1), old.randn(5, 1), old.randn(1, 5), old.randn(1, 1)
    net = Network.from_weights([W1.T, W2.T], [b1, b2], activations=["relu", "identity"])
    solver = GradientDescent(0.01, max_iter=1000, tol=None)
    found = train(net, x[:160], y[:160], solver=solver)
    assert_allclose(
        2 * found.history["loss"][[0, 100, 500, 900]],
        [5.4539628398, 0.0889226732, 0.0599252653, 0.0556010802], rtol=0, atol=1e-8,
    )  # fmt: skip
    assert ((found.network.predict(x[160:]) > 0.5) == y[160:]).mean() == 0.975
    assert {"objective", "score", "learning_rate", "gradient_norms"} <= set(found.history.columns)
    assert found.history["gradient_norms"].shape == (1001, 2)


RULES = [None, Momentum(0.9), Momentum(0.9, nesterov=True), AdaGrad(), RMSProp(), Adam()]


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_same_path_as_the_solver_itself(rule):
    """The training loop adds nothing to the rules of pellucid.solvers."""
    net = Network([Dense(4, "tanh"), Dense(1, "identity")], n_inputs=3, random_state=0)
    solver = GradientDescent(Cosine(0.05, 0.001, 20), rule=rule, max_iter=20, tol=None)
    found = train(net, X, Y, solver=solver)
    f = Objective(
        lambda v: net.with_vector(v).loss_value(X, Y),
        lambda v: net.with_vector(v).gradients(X, Y).vector,
        lambda v: np.eye(len(v)),
    )
    f.twice = False
    path = solver.minimise(f, net.vector)
    assert_allclose(found.network.vector, path.x, rtol=0, atol=1e-11)
    assert_allclose(found.history["objective"], path.history["value"], rtol=1e-10)


SCHEDULES = [
    LinearDecay(0.1, 0.01, 30), InverseScaling(0.1, 0.5), ExponentialDecay(0.1, 0.99),
    StepDecay(0.1, 0.5, 10), Adaptive(0.1),
]  # fmt: skip


@pytest.mark.parametrize("rate", SCHEDULES, ids=repr)
@pytest.mark.parametrize("size", [1, 16, None])
def test_every_schedule_trains_every_batch_size(rate, size):
    net = Network([Dense(1, "identity")], n_inputs=3, random_state=0)
    epochs = 3 if size == 1 else 40
    solver = GradientDescent(rate, batch_size=size, max_iter=epochs, tol=None, random_state=0)
    history = train(net, X, Y, solver=solver).history
    assert history["objective"][-1] < 0.3 * history["objective"][0]
    if not isinstance(rate, Adaptive):
        updates = {1: 60, 16: 4, None: 1}[size]
        assert_allclose(history["learning_rate"][2], rate(2 * updates - 1))


def test_epochs_are_the_updates_written_down():
    """Mini-batches in file order, the last one smaller, weighted by its size in the mean."""
    net = Network([Dense(2, "tanh"), Dense(1, "identity")], n_inputs=3, random_state=0)
    solver = GradientDescent(0.1, batch_size=25, max_iter=2, tol=None, shuffle=False)
    found = train(net, X, Y, solver=solver)
    v, means = net.vector, []
    for _ in range(2):
        total = 0.0
        for start in (0, 25, 50):
            part = slice(start, start + 25)
            total += net.with_vector(v).loss_value(X[part], Y[part]) * len(X[part])
            v = v - 0.1 * net.with_vector(v).gradients(X[part], Y[part]).vector
        means.append(total / 60)
    assert_allclose(found.network.vector, v, atol=1e-14)
    assert_allclose(found.history["objective"][1:], means, rtol=1e-13)


def test_sum_is_the_mean_with_a_larger_rate():
    mean = Network([Dense(1, "identity")], n_inputs=3, random_state=0)
    total = Network([Dense(1, "identity")], n_inputs=3, random_state=0,
                    loss=SquaredError(reduction="sum"))  # fmt: skip
    a = train(mean, X, Y, solver=GradientDescent(0.3, max_iter=5, tol=None)).network
    b = train(total, X, Y, solver=GradientDescent(0.3 / 60, max_iter=5, tol=None)).network
    assert_allclose(a.vector, b.vector, atol=1e-13)


def test_linear_network_with_l2_is_ridge():
    net = Network([Dense(1, "identity")], n_inputs=3, random_state=0)
    w = train(net, X, Y, solver="lbfgs", penalty=L2(0.2)).network
    Xc, yc = X - X.mean(axis=0), Y - Y.mean()
    exact = np.linalg.solve(Xc.T @ Xc / 60 + 2 * 0.2 * np.eye(3), Xc.T @ yc / 60)
    assert_allclose(w.weights[0], exact, atol=1e-6)


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_l1_finds_exact_zeros_and_the_lasso(rule):
    """KKT: |gradient| = a where w is not 0, <= a where it is; whatever rule scales the steps."""
    net = Network([Dense(1, "identity")], n_inputs=3, random_state=0)
    rate = 0.5 if isinstance(rule, AdaGrad) else LinearDecay(0.05, 1e-5, 1200)
    solver = GradientDescent(rate, rule=rule, max_iter=1500, tol=None)
    found = train(net, X, Y, solver=solver, penalty=L1(0.2)).network
    g, w = found.gradients(X, Y).weights[0].ravel(), found.weights[0].ravel()
    assert w[2] == 0.0
    assert abs(g[2]) < 0.2
    assert_allclose(g[:2], -0.2 * np.sign(w[:2]), atol=5e-3)


def test_early_stopping_returns_the_best_weights():
    noisy = rng.normal(size=(40, 1))
    net = Network([Dense(40, "tanh"), Dense(1, "identity")], n_inputs=3, random_state=0)
    x, xv, yv = X[:40], X[40:], Y[40:]
    solver = GradientDescent(0.02, rule=Adam(), max_iter=300, tol=None, random_state=0)
    patient = EarlyStopping(n_iter_no_change=15)
    found = train(net, x, Y[:40] + 2 * noisy, solver=solver, early_stopping=patient, X_val=xv,
                  y_val=yv)  # fmt: skip
    scores = found.history["validation_score"]
    assert len(scores) < 300
    out = found.network.predict(xv)
    r2 = 1 - ((yv - out) ** 2).sum() / ((yv - yv.mean()) ** 2).sum()
    assert_allclose(r2, scores[1:].max(), rtol=1e-12)
    held = train(net, X, Y, solver=solver, early_stopping=EarlyStopping(0.2, 5, 1e-3))
    assert "validation_score" in held.history.columns


def test_divergence_names_the_rate_and_keeps_finite_weights():
    net = Network([Dense(5, "relu"), Dense(1, "identity")], n_inputs=3, random_state=0)
    with pytest.warns(DivergenceWarning, match="learning rate 50 is too large"):
        found = train(net, 100 * X, Y, solver=GradientDescent(50.0, max_iter=50, tol=None))
    assert np.isfinite(found.network.vector).all()


def test_batch_norm_trains_and_predicts_row_by_row():
    net = Network([Dense(8, "identity"), BatchNorm(), Dense(1, "identity")], n_inputs=3,
                  random_state=0)  # fmt: skip
    solver = GradientDescent(0.02, rule=Adam(), batch_size=30, max_iter=200, tol=None)
    found = train(net, 5 + 3 * X, Y, solver=solver).network
    out = found.predict(5 + 3 * X)
    assert np.mean((out - Y) ** 2) < 0.1 * Y.var()
    assert_allclose(found.predict(5 + 3 * X[:1]), out[:1], atol=1e-12)


def test_refusals():
    net = Network([Dense(3, "step"), Dense(1, "identity")], n_inputs=3, random_state=0)
    with pytest.raises(ValueError, match="'step' has no derivative"):
        train(net, X, Y, solver=GradientDescent(0.1))
    good = Network([Dense(1, "identity")])
    with pytest.raises(ValueError, match="NaN"):
        train(good, X, np.full((60, 1), np.nan), solver="lbfgs")
    with pytest.raises(ValueError, match="smooth"):
        train(good, X, Y, solver="lbfgs", penalty=L1(0.1))
    with pytest.raises(TypeError, match="GradientDescent"):
        train(good, X, Y, solver=3)
    with pytest.raises(ValueError, match="line search or auto"):
        train(good, X, Y, solver=GradientDescent("auto"))


def test_independent_perceptrons_are_logistic_regressions():
    """K one-hot logistic units with binary cross-entropy do not see each other."""
    T = np.eye(3)[rng.integers(3, size=60)]
    solver = GradientDescent(0.5, max_iter=30, tol=None)
    net = Network([Dense(3, "logistic")], loss=BinaryCrossEntropy(), n_inputs=3, random_state=0)
    together = train(net, X, T, solver=solver).network
    for k in range(3):
        start = Network.from_weights(
            [net.weights[0][:, k : k + 1]], [net.biases[0][k : k + 1]], activations="logistic",
            loss="binary_cross_entropy",
        )  # fmt: skip
        alone = train(start, X, T[:, k], solver=solver).network
        assert_allclose(alone.weights[0][:, 0], together.weights[0][:, k], atol=1e-12)


def test_diagnosis():
    x, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    deep = Network([*[Dense(6, "logistic")] * 12, Dense(1, "identity")], n_inputs=4, random_state=0)
    flow = gradient_flow(deep, x, y)
    assert flow.verdict == "vanishing"
    assert "relu" in flow.advice
    assert flow.ratio == flow.rms_deltas[0] / flow.rms_deltas[-2]
    wild = Network([*[Dense(30, "identity")] * 6, Dense(1, "identity")], n_inputs=4, random_state=0)
    assert gradient_flow(wild.with_vector(8 * wild.vector), x, y).verdict == "exploding"
    shallow = Network([Dense(6, "relu"), Dense(1, "identity")], n_inputs=4, random_state=0)
    assert gradient_flow(shallow, x, y).verdict == "healthy"
    W, b = shallow.weights, shallow.biases
    dead = Network.from_weights(W, [b[0] - 100, b[1]], activations=["relu", "identity"])
    flow = gradient_flow(dead, x, y)
    assert flow.dead_fraction[0] == 1.0
    assert "dead" in flow.advice


class Constant:
    def predict(self, X):
        return np.zeros(len(X))


def test_next_error_walks_through_the_mistakes():
    y = np.array([0, 1, 0, 1])
    x = np.zeros((4, 1))
    assert next_error(Constant(), x, y) == 1
    assert next_error(Constant(), x, y, start=2) == 3
    assert next_error(Constant(), x, y, start=4) is None
    assert next_error(Constant(), x, 0 * y) is None


def test_fused_adam_is_the_rule():
    """The one-pass kernel against ``update`` in float64, penalty, copy and mean included."""
    rng = np.random.default_rng(0)
    n, cut, l2 = 5000, 4100, 1e-2
    w = rng.normal(size=n)
    plain, m, r, mean = w.copy(), np.zeros(n), np.zeros(n), np.zeros(n)
    fused, memory, sums = w.copy(), (np.zeros(n), np.zeros(n)), np.zeros(n)
    copy = w.astype(np.float32)
    edges, prices = np.array([0, cut, n]), np.array([1.0, 0.0])
    for t in range(1, 6):
        g = rng.normal(size=n).astype(np.float32)
        whole = g + 2 * l2 * np.where(np.arange(n) < cut, plain, 0.0)
        halves = np.stack([g / 4, g - g / 4])
        squares = sum(
            adam_pass(fused, copy, halves, *memory, sums, edges, prices, piece, piece + 1, l2, 0.5,
                      1e-2, 0.9, 0.999, 1e-8, t)
            for piece in range(2)
        )  # fmt: skip
        assert_allclose(squares, plain[:cut] @ plain[:cut], rtol=1e-6)
        update(ADAM, 0.9, 0.999, 1e-8, 0.0, np.inf, plain, whole, 1e-2, m, r, t)
        mean += 0.5 * whole
    assert_allclose(fused, plain, atol=1e-7)
    assert_allclose(sums, mean, atol=1e-5)
    assert_array_equal(copy, fused.astype(np.float32))


def test_fused_adam_has_the_same_bits_for_any_number_of_threads():
    """Large enough for parts of a batch and for shares of the parameters."""
    r = np.random.default_rng(0)
    rows, labels = r.normal(size=(520, 500)), r.integers(3, size=520)
    model = MLPClassifier([Dense(1100)], batch_size=260, max_iter=2, tol=9.0, random_state=0)
    found = []
    for n in (1, 2, 3):
        with limit_threads(n), pytest.warns(ConvergenceWarning, match="max_iter"):
            found.append(model.fit(rows, labels).vector_.copy())
    assert_array_equal(found[0], found[1])
    assert_array_equal(found[0], found[2])
