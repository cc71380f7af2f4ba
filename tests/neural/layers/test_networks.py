"""Layers, activations, losses and networks: the catalogue's numbers, and finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from pellucid.neural import (
    Activate,
    Activation,
    BatchNorm,
    BinaryCrossEntropy,
    CrossEntropy,
    Dense,
    Flatten,
    Layer,
    Network,
    NormalInit,
    PoissonDeviance,
    SquaredError,
    UniformInit,
    batch_norm,
    initial_weights,
    output_head,
    softmax,
)
from pellucid.neural.layers.activations import ACTIVATIONS, get_activation
from pellucid.neural.training.backprop import batch_gradient

ATOL = 1e-9
rng = np.random.default_rng(0)
X, T = rng.normal(size=(7, 3)), np.eye(3)[rng.integers(3, size=7)]


def close(a, b, atol=1e-8):
    assert_allclose(a, b, rtol=0, atol=atol)


# --- the examples of the catalogue ---


def test_example_relu_network_forward():
    net = Network.from_weights([[[0.6, -0.4]], [[0.8], [-0.5]]], activations=["relu", "identity"])
    trace = net.trace([[1.0]])
    close(trace.post[0], [[0.6, 0.0]])
    close(trace.pre[0], [[0.6, -0.4]])
    close(trace.output, [[0.48]])
    close(net.predict([-2, -1, 0, 0.5, 2]).ravel(), [-0.4, -0.2, 0, 0.24, 0.96])


def test_example_backprop_node_by_node():
    W1, W2 = np.array([[0.1, 0.2], [0.3, 0.4]]).T, [[0.5], [0.6]]
    net = Network.from_weights([W1, W2], activations=["logistic", "identity"])
    x, y = [[1.0, 2.0]], [1.0]
    close(net.predict(x), 0.7613857290)
    close(net.loss_value(x, y), 0.0284683852)
    g = net.gradients(x, y)
    close(g.deltas[1], -0.2386142710)
    close(g.weights[1].ravel(), [-0.1485276796, -0.1790227682])
    close(g.deltas[0].ravel(), [-0.0280376197, -0.0268254763])
    rows = [[-0.0280376197, -0.0560752395], [-0.0268254763, -0.0536509527]]
    close(g.weights[0].T, rows, 1e-9)
    assert g.biases == []


def test_example_relu_with_bias_and_full_squared_error():
    net = Network.from_weights(
        [[[0.6, -0.4]], [[0.8], [-0.5]]], [[0.1, 0.7], [0.2]],
        activations=["relu", "identity"], loss=SquaredError(half=False),
    )  # fmt: skip
    trace, g = net.trace([1.5]), net.gradients([1.5], [2.0])
    close(trace.pre[0], [[1.0, 0.1]])
    close(trace.output, 0.95)
    close(net.loss_value([1.5], [2.0]), 1.1025)
    close(g.weights[1].ravel(), [-2.1, -0.21])
    close(g.biases[1], -2.1)
    close(g.weights[0].ravel(), [-2.52, 1.575])
    close(g.biases[0], [-1.68, 1.05])


def test_example_softmax_logistic_batch_norm_glorot():
    close(softmax([1, 2, 3]), [0.0900305732, 0.2447284711, 0.6652409558])
    z = np.array([[1.0, 2.0, 3.0]])
    close(CrossEntropy().rows_from_z(np.array([[0, 0, 1.0]]), z, softmax(z)), 0.4076059644)
    close(CrossEntropy().rows(np.array([[0, 0, 1.0]]), softmax(z)), 0.4076059644)
    close(ACTIVATIONS["logistic"].function(2.0), 0.8807970780)
    one = [-1.3416407865, -0.4472135955, 0.4472135955, 1.3416407865]
    close(batch_norm([1, 2, 3, 4], epsilon=0), one)
    W = initial_weights((3, 2), random_state=0)
    assert np.abs(W).max() <= 1.0954451150
    many = initial_weights((300, 200), random_state=0)
    assert np.abs(many).max() > 0.999 * np.sqrt(6 / 500)


def test_example_step_network_is_xor():
    net = Network.from_weights(
        [[[1, 1], [1, 1]], [[1], [-1]]], [[-0.5, -1.5], [-0.5]], activations="step"
    )
    table = [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert net.predict(table).ravel().tolist() == [0, 1, 1, 0]


# --- derivatives ---


@pytest.mark.parametrize("name", sorted(set(ACTIVATIONS) - {"step", "sign"}))
def test_activation_derivatives_are_finite_differences(name):
    g = ACTIVATIONS[name]
    z = rng.normal(size=(5, 4))
    d, h = rng.normal(size=z.shape), 1e-6
    found = np.empty_like(z)
    for index in np.ndindex(z.shape):
        e = np.zeros_like(z)
        e[index] = h
        found[index] = (d * (g.function(z + e) - g.function(z - e))).sum() / (2 * h)
    close(g.back(z, g.function(z), d), found, 1e-7)


def test_relu_derivative_is_zero_at_zero_and_nothing_overflows():
    relu = get_activation("relu")
    assert not relu.derivative(np.zeros(1), np.zeros(1))[0]
    with np.errstate(over="raise", invalid="raise"):
        assert get_activation("sigmoid").function(np.array([-800.0, 800.0])).tolist() == [0, 1]
        assert softmax([[1000.0, 0.0]]).tolist() == [[1, 0]]


LOSSES = [
    SquaredError(), SquaredError(half=False, reduction="sum"), BinaryCrossEntropy(),
    BinaryCrossEntropy("sum"), CrossEntropy(), CrossEntropy("sum"), PoissonDeviance(),
]  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(
    hidden=st.lists(
        st.sampled_from(["tanh", "logistic", "relu", "leaky_relu", "identity", "bn", "list"]),
        max_size=3,
    ),
    loss=st.sampled_from(LOSSES),
    output=st.sampled_from(["logistic", "softmax", "link"]),
    seed=st.integers(0, 10**6),
)
def test_any_network_has_the_gradient_of_its_loss(hidden, loss, output, seed):
    layers = []
    for name in hidden:
        if name == "bn":
            layers.append(BatchNorm())
        else:
            units = ["tanh", "relu", "logistic", "identity"] if name == "list" else name
            layers.append(Dense(4, units, init=NormalInit(0.7, bias=True)))
    last = loss.link if output == "link" else output
    layers.append(Dense(3, last, init=NormalInit(0.7, bias=True)))
    net = Network(layers, loss=loss, n_inputs=3, random_state=seed)
    assert net.check_gradients(X, T) < 2e-5


def test_matched_heads_give_o_minus_t():
    for task, t in (("multiclass", T), ("binary", T[:, :1]), ("multilabel", T), ("regression", T)):
        name, loss = output_head(task)
        net = Network([Dense(t.shape[1], name)], loss=loss, n_inputs=3, random_state=0)
        close(net.gradients(X, t).deltas[0], (net.predict(X) - t) / len(X), 1e-14)


def test_parts_of_a_batch_add_up():
    net = Network([Dense(128), Dense(3, "softmax")], loss="cross_entropy", n_inputs=300,
                  random_state=0)  # fmt: skip
    x = rng.normal(size=(450, 300))
    t, w = np.eye(3)[rng.integers(3, size=450)], rng.uniform(0.5, 2, size=450)
    whole = batch_gradient(net.plan, net.vector, x, t, w)
    one = [batch_gradient(net.plan, net.vector, x[i : i + 1], t[i : i + 1], np.ones(1))
           for i in range(450)]  # fmt: skip
    close(whole.vector, sum(v * b.vector for v, b in zip(w, one, strict=True)) / w.sum(), 1e-12)
    close(whole.value, sum(v * b.value for v, b in zip(w, one, strict=True)) / w.sum(), 1e-12)


# --- layers ---


def test_batch_norm_in_training_and_prediction():
    net = Network([BatchNorm(), Dense(1, "identity")], n_inputs=3, random_state=0)
    assert net.loss_value(X, X[:, 0]) != net.loss_value(X, X[:, 0], training=False)
    close(net.trace(X).post[0], X / np.sqrt(1 + 1e-5))  # running moments are 0 and 1 at the start
    with pytest.raises(ValueError, match="at least 2 rows, got 1"):
        net.gradients(X[:1], [1.0])
    with pytest.raises(ValueError, match="at least 2 rows"):
        batch_norm([[1.0, 2.0]])
    with pytest.raises(ValueError, match="constant"):
        batch_norm([2.0, 2.0], epsilon=0)
    layer = BatchNorm(momentum=0.5)
    _, saved = layer.forward((np.ones(3), np.zeros(3)), X)
    after = layer.next_state(layer.start_state((3,)), saved)
    close(after.mean, 0.5 * X.mean(axis=0))
    close(after.var, 0.5 + 0.5 * X.var(axis=0))


def test_flatten_and_your_own_layer():
    class Scale(Layer):
        def draw(self, shape, rng):
            return (np.full(1, 2.0),)

        def forward(self, p, x):
            return p[0] * x, x

        def backward(self, p, saved, d):
            return p[0] * d, (np.array([(d * saved).sum()]),)

    images = rng.normal(size=(5, 2, 2))
    net = Network([Flatten(), Scale(), Dense(2, "tanh"), Scale()], n_inputs=(2, 2), random_state=0)
    assert net.check_gradients(images, rng.normal(size=(5, 2))) < 1e-6
    assert [row["output"] for row in net.shapes()] == [(4,), (4,), (2,), (2,)]
    assert net.predict(images).shape == (5, 2)


def test_one_activation_per_unit_and_your_own():
    square = Activation("square", lambda z: z**2, lambda z, a: 2 * z)
    net = Network([Dense(2, ["tanh", square]), Activate("identity")], n_inputs=3, random_state=0)
    z = net.trace(X).pre[0]
    close(net.predict(X), np.column_stack([np.tanh(z[:, 0]), z[:, 1] ** 2]))
    assert net.check_gradients(X, X[:, :2]) < 1e-6
    with pytest.raises(ValueError, match="one entry for each of 3 units, got 2"):
        Network([Dense(3, ["tanh", "relu"])], n_inputs=2)


def test_initial_weights():
    big = (400, 100)
    for init, variance in (
        ("glorot_uniform", 2 / 500), ("glorot_normal", 2 / 500), ("he_uniform", 2 / 400),
        ("he_normal", 2 / 400), (UniformInit(-0.05, 0.05), 0.1**2 / 12), (NormalInit(2.0), 4.0),
    ):  # fmt: skip
        W = initial_weights(big, init, random_state=0)
        assert_allclose(W.var(), variance, rtol=0.03)
    with pytest.warns(UserWarning, match="symmetric"):
        assert not initial_weights((2, 2), "zeros").any()
    drawn = Network([Dense(2, init=NormalInit(1.0, bias=True))], n_inputs=2, random_state=0)
    assert drawn.biases[0].any()
    assert not Network([Dense(2)], n_inputs=2, random_state=0).biases[0].any()
    with pytest.raises(ValueError, match="did you mean 'he_normal'"):
        initial_weights((2, 2), "he_norm")


# --- the network ---


def test_a_network_never_changes():
    net = Network([Dense(2), Dense(1, "identity")], n_inputs=3, random_state=0)
    with pytest.raises(AttributeError, match="never changes"):
        net.vector = np.zeros(11)
    with pytest.raises(ValueError, match="read-only"):
        net.vector[0] = 1
    other = net.with_vector(np.arange(11.0))
    close(other.vector, np.arange(11.0))
    close(np.concatenate([w.ravel() for pair in zip(other.weights, other.biases, strict=True)
                          for w in pair]), other.vector)  # fmt: skip


def test_refusals_name_the_layer_and_both_shapes():
    net = Network([Dense(2)], n_inputs=3, random_state=0)
    with pytest.raises(ValueError, match=r"layer 0 .*\(3,\), got \(2,\)"):
        net.predict([[1.0, 2.0]])
    with pytest.raises(ValueError, match=r"last layer .*\(7, 2\), y has \(7, 3\)"):
        net.loss_value(X, T)
    with pytest.raises(ValueError, match=r"layer 1 has weights of shape \(3, 1\).*\(2, 2\)"):
        Network.from_weights([np.eye(2), np.ones((3, 1))], activations=["relu", "relu"])
    with pytest.raises(ValueError, match="add Flatten"):
        Network([Dense(2)], n_inputs=(2, 2))
    with pytest.raises(ValueError, match="at least one layer"):
        Network([])
    with pytest.raises(TypeError, match="Dense"):
        Network([3])
    with pytest.raises(ValueError, match="no weights yet"):
        Network([Dense(2)]).predict(X)
    with pytest.raises(ValueError, match="has 8 parameters, got 3"):
        net.with_vector([1, 2, 3])
    with pytest.raises(ValueError, match=r"codes 0\.\.1, got 2"):
        Network([Dense(2, "softmax")], loss="cross_entropy", n_inputs=3).loss_value(X, [2] * 7)


def test_codes_are_one_hot_rows():
    net = Network([Dense(3, "softmax")], loss="cross_entropy", n_inputs=3, random_state=0)
    assert net.loss_value(X, T.argmax(axis=1)) == net.loss_value(X, T)


@pytest.mark.parametrize("epsilon", [0.0, 1e-5, 0.5, 3.0])
def test_batch_norm_adds_epsilon_to_the_variance(epsilon):
    X = np.array([[1.0, 2.0], [2.0, 6.0], [6.0, 1.0]])
    expected = 2.0 * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + epsilon) - 1.0
    assert_allclose(batch_norm(X, 2.0, -1.0, epsilon=epsilon), expected, rtol=1e-12)
