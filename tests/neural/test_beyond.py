"""Dropout, GELU, He's variants, decoupled decay, clipped gradients, and what verbose prints."""

import numpy as np
import pytest
import sklearn.neural_network
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr
from sklearn.datasets import load_iris

from pellucid.core.runtime.threads import limit_threads
from pellucid.neural import (
    Dense,
    Dropout,
    HeInit,
    MLPClassifier,
    MLPRegressor,
    Network,
    initial_weights,
    train,
)
from pellucid.neural.training.backprop import backprop, batch_gradient, cut
from pellucid.solvers import AdamW, Clipped, GradientDescent

rng = np.random.default_rng(0)
X, T = rng.normal(size=(9, 3)), np.eye(3)[rng.integers(3, size=9)]


def dropped(seed=0):
    layers = [Dense(6, "gelu"), Dropout(0.4), Dense(5, "tanh"), Dropout(0.2), Dense(3, "softmax")]
    net = Network(layers, loss="cross_entropy", n_inputs=3, random_state=seed)
    return net, net.plan.noise(len(X), np.random.default_rng(seed))


def test_dropout_gradient_is_that_of_the_loss_with_the_same_noise():
    net, noise = dropped()
    w = np.ones(len(X))

    def loss(v):
        return backprop(net.plan, v, X, T, w, 1 / 9, noise).value

    exact, v, h = backprop(net.plan, net.vector, X, T, w, 1 / 9, noise).vector, net.vector, 1e-6
    moves = h * np.eye(len(v))
    found = np.array([(loss(v + m) - loss(v - m)) / (2 * h) for m in moves])
    assert_allclose(found, exact, atol=1e-8)
    assert set(np.unique(noise[2][0])) == {0.0, 1 / 0.6}


def test_dropout_keeps_the_mean_and_is_gone_in_prediction():
    net, _ = dropped()
    factors = Dropout(0.4).noise(20_000, (5,), np.random.default_rng(0))[0]
    assert_allclose(factors.mean(axis=0), 1, atol=0.03)
    plain = Network(
        [layer for layer in net.layers if not isinstance(layer, Dropout)], loss="cross_entropy",
        n_inputs=3, random_state=0,
    ).with_vector(net.vector)  # fmt: skip
    assert_array_equal(net.predict(X), plain.predict(X))
    assert_allclose(net.gradients(X, T).vector, plain.gradients(X, T).vector, atol=1e-14)


def test_dropout_weights_are_repetitions_and_threads_change_nothing():
    y, weight = T.argmax(axis=1), np.arange(9) % 3
    model = MLPClassifier(
        [Dense(8), Dropout(0.3)], batch_size=4, max_iter=200, tol=0.1, random_state=0
    )
    weighted = model.fit(X, y, sample_weight=weight).vector_.copy()
    repeated = model.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).vector_
    assert_array_equal(weighted, repeated)
    big = Network([Dense(900), Dropout(0.5), Dense(3, "softmax")], loss="cross_entropy",
                  n_inputs=900, random_state=0)  # fmt: skip
    x, t, w = rng.normal(size=(256, 900)), np.eye(3)[rng.integers(3, size=256)], np.ones(256)
    noise = big.plan.noise(256, np.random.default_rng(0))
    assert len(cut(big.plan, 256)) == 3
    found = [_gradient(big, x, t, w, noise, n) for n in (1, 2, 4)]
    assert_array_equal(found[0], found[1])
    assert_array_equal(found[0], found[2])
    whole = backprop(big.plan, big.vector, x, t, w, 1 / 256, noise).vector
    assert_allclose(found[0], whole, atol=1e-14)


def _gradient(net, x, t, w, noise, threads):
    with limit_threads(threads):
        return batch_gradient(net.plan, net.vector, x, t, w, noise).vector


def test_dropout_narrows_the_gap_between_training_and_new_rows():
    """Thirty columns, one of which matters, forty rows: the plain network learns them by heart."""
    r = np.random.default_rng(1)
    Z = r.normal(size=(1040, 30))
    y = (Z[:, 0] + 0.8 * r.normal(size=1040) > 0).astype(int)
    scores = {}
    for rate in (0.0, 0.6):
        layers = [Dropout(rate), Dense(60), Dropout(rate)]
        model = MLPClassifier(layers, max_iter=300, tol=0.0, n_iter_no_change=np.inf,
                              batch_size=20, random_state=0)  # fmt: skip
        with pytest.warns(match="max_iter"):
            model.fit(Z[:40], y[:40])
        scores[rate] = -np.log(model.predict_proba(Z[40:])[np.arange(1000), y[40:]]).mean()
    assert scores[0.6] < 0.8 * scores[0.0]


@pytest.mark.parametrize("bad", [1.0, -0.1, "half", True])
def test_dropout_refuses(bad):
    with pytest.raises(ValueError, match="rate must be a number >= 0 and < 1"):
        Network([Dropout(bad)], n_inputs=2)


def test_dropout_needs_a_descent():
    with pytest.raises(ValueError, match=r"lbfgs.*Dropout"):
        MLPRegressor("squared_error", [Dense(3), Dropout()], solver="lbfgs").fit(X, T[:, 0])


def test_gelu_is_its_formula():
    z = np.linspace(-5, 5, 11)[:, None]
    one = Network.from_weights([[[1.0]]], activations="gelu")
    assert_allclose(one.predict(z), z * ndtr(z), atol=1e-15)
    assert one.check_gradients(z, np.zeros(11)) < 1e-7


@pytest.mark.parametrize(("fan", "n"), [("in", 400), ("out", 100)])
@pytest.mark.parametrize("distribution", ["normal", "uniform"])
def test_he_variants_have_their_variance(fan, n, distribution):
    init = HeInit(distribution, fan=fan, slope=0.5)
    W = initial_weights((400, 100), init, random_state=0)
    variance = 2 / (1.25 * n)
    assert_allclose(W.var(), variance, rtol=0.03)
    if distribution == "uniform":
        assert np.abs(W).max() <= np.sqrt(3 * variance)
    same = initial_weights((4, 3), HeInit(distribution), random_state=0)
    assert_array_equal(same, initial_weights((4, 3), f"he_{distribution}", random_state=0))
    with pytest.raises(ValueError, match="fan must be one of"):
        initial_weights((4, 3), HeInit(fan="both"))


def test_decay_and_clipping_train_networks():
    """The decay shrinks what the gradient leaves alone; a clipped step is no longer than asked."""
    net = Network([Dense(4, "tanh"), Dense(3, "softmax")], loss="cross_entropy", n_inputs=3,
                  random_state=0)  # fmt: skip
    dead = np.zeros((9, 3))  # no gradient for the weights of the first layer
    solver = GradientDescent(0.1, rule=AdamW(weight_decay=0.5), max_iter=5, tol=None)
    found = train(net, dead, T, solver=solver).network
    assert_allclose(found.weights[0], net.weights[0] * 0.95**5, rtol=1e-12)
    step = GradientDescent(1.0, rule=Clipped(0.01), max_iter=1, tol=None)
    moved = train(net, X, T, solver=step).network.vector - net.vector
    assert_allclose(np.linalg.norm(moved), 0.01, rtol=1e-3)


@pytest.mark.parametrize(
    "keywords",
    [
        {"tol": 1.0, "n_iter_no_change": 2},
        {"tol": 1.0, "n_iter_no_change": 2, "early_stopping": True},
        {"solver": "sgd", "learning_rate": "adaptive", "tol": 1.0, "n_iter_no_change": 1},
    ],
    ids=["adam", "validation", "adaptive"],
)
def test_verbose_prints_the_lines_of_scikit_learn(capsys, keywords):
    rows, y = load_iris(return_X_y=True)
    said = []
    for model in (MLPClassifier, sklearn.neural_network.MLPClassifier):
        model((4,), max_iter=60, verbose=True, random_state=0, **keywords).fit(rows, y)
        said.append(capsys.readouterr().out.splitlines())
    ours, theirs = ([_without_numbers(line) for line in lines] for lines in said)
    assert ours == theirs
    assert "Iteration 1, loss = #" in ours


def _without_numbers(line):
    """Losses and scores differ with the initial weights; rates and tolerances do not."""
    for start in ("loss = ", "score: "):
        if start in line:
            return line.split(start)[0] + start + "#"
    return line


def test_verbose_of_each_partial_fit(capsys):
    model = MLPRegressor("squared_error", (3,), verbose=True, random_state=0)
    for _ in range(2):
        model.partial_fit(X, T[:, 0])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == ["Iteration 1", "Iteration 1"]
    assert lines[1].endswith(f"{model.loss_:.8f}")
