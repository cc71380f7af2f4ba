"""The networks of the textbook agree with the fast ones; those in PyTorch where it is tested."""

from itertools import pairwise, product
from types import SimpleNamespace

import numpy as np
import pytest
from agreement import same, same_law, slopes
from estimators import DEEP, DEEP_REASON
from numpy.testing import assert_allclose

from pellucid import PCA, Autoencoder, neural
from pellucid.deep import attention as fast_attention
from pellucid.deep import causal_mask, convolve, message_pass, pool
from pellucid.neural.layers.initial import draw_weights
from pellucid.solvers import GradientDescent
from pellucid.textbook.networks.adversarial_network import adversarial_network, losses
from pellucid.textbook.networks.attention import attention
from pellucid.textbook.networks.attention import backward as attention_backward
from pellucid.textbook.networks.autoencoder import autoencoder
from pellucid.textbook.networks.backpropagation import backpropagation, forward, training
from pellucid.textbook.networks.batch_normalisation import backward as batch_backward
from pellucid.textbook.networks.batch_normalisation import batch_normalisation
from pellucid.textbook.networks.beam_search import beam_search
from pellucid.textbook.networks.boolean_network import boolean_network
from pellucid.textbook.networks.computational_graph import Number, computational_graph
from pellucid.textbook.networks.convolution import backward as convolution_backward
from pellucid.textbook.networks.convolution import convolution, pooling
from pellucid.textbook.networks.dropout import dropout
from pellucid.textbook.networks.gated_recurrent_unit import gated_recurrent_unit
from pellucid.textbook.networks.graph_convolution import graph_convolution, messages
from pellucid.textbook.networks.initial_weights import initial_weights
from pellucid.textbook.networks.long_short_term_memory import long_short_term_memory
from pellucid.textbook.networks.positional_encoding import positional_encoding
from pellucid.textbook.networks.recurrent_network import backward as recurrent_backward
from pellucid.textbook.networks.recurrent_network import recurrent_network
from pellucid.textbook.networks.transformer_layer import Layer, transformer_layer

rng = np.random.default_rng(0)
deep = pytest.mark.skipif(not DEEP, reason=DEEP_REASON)


def test_boolean_network():
    X = np.array(list(product([0, 1], repeat=4)), dtype=float)
    fast = neural.boolean_network("(A and B) or (C and not D)")
    same(boolean_network([{0: True, 1: True}, {2: True, 3: False}], X), fast.predict(X))


def test_computational_graph():
    u, v = 0.7, -0.4
    a, b = Number(u), Number(v)
    z = (a * b + a.exp()).tanh() * (b + a * a)
    computational_graph(z)
    x, y = neural.Value(u), neural.Value(v)
    fast = (x * y + x.exp()).tanh() * (y + x * x)
    fast.backward()
    same([z.value, a.slope, b.slope], [fast.value, x.grad, y.grad])


def test_backpropagation():
    sizes = [3, 5, 4, 2]
    W = [rng.normal(size=s) for s in pairwise(sizes)]
    b = [rng.normal(size=n) for n in sizes[1:]]
    X, T = rng.normal(size=(20, 3)), rng.normal(size=(20, 2))
    loss, dW, db = backpropagation(X, T, W, b)
    kinds = ["tanh", "tanh", "identity"]
    full = neural.SquaredError(half=False)
    fast = neural.Network.from_weights(W, b, activations=kinds, loss=full)
    same(forward(X, W, b)[-1], fast.predict(X))
    same(loss, fast.loss_value(X, T))
    found = fast.gradients(X, T)
    for ours, theirs in zip([*dW, *db], [*found.weights, *found.biases], strict=True):
        same(ours, theirs, atol=1e-12)
    path = training(X, T, W, b, 0.01)
    assert np.all(np.diff([next(path).loss for _ in range(20)]) < 0)


def test_initial_weights():
    for kind in ("glorot", "he"):
        ours = initial_weights(80, 120, kind, rng)
        theirs = draw_weights((80, 120), f"{kind}_normal", rng)
        same_law(ours, theirs)


def test_dropout():
    x = rng.normal(size=(50, 4))
    out, mask = dropout(x, 0.3, np.random.default_rng(5))
    (noise,) = neural.Dropout(0.3).noise(50, (4,), np.random.default_rng(5))
    same(mask, noise)
    same(out, neural.Dropout(0.3).forward((noise,), x)[0])


def test_batch_normalisation():
    x, c, b, d = (rng.normal(size=s) for s in ((9, 3), 3, 3, (9, 3)))
    y, h, root = batch_normalisation(x, c, b)
    same(y, neural.batch_norm(x, c, b), atol=1e-12)
    dx, dc, db = batch_backward(d, c, h, root)
    layer = neural.BatchNorm()
    saved = layer.forward((c, b), x)[1]
    same(dx, layer.by_input((c, b), saved, d), atol=1e-12)
    for ours, theirs in zip((dc, db), layer.by_weights((c, b), saved, d), strict=True):
        same(ours, theirs)
    numeric = slopes(lambda x: (batch_normalisation(x, c, b)[0] * d).sum(), x)
    same(dx, numeric, atol=1e-8)


def test_autoencoder():
    X = rng.normal(size=(60, 4)) * [1.5, 1.2, 0.7, 0.6]
    book = autoencoder(X, 2, rng)
    best = PCA(2).fit(X).reconstruction_error_ / (2 * len(X))
    same(book.loss, best)
    rule = GradientDescent(0.2, max_iter=2000, tol=None)
    fast = Autoencoder(2, activation="identity", solver=rule, random_state=0)
    rebuilt = fast.fit(X).inverse_transform(fast.transform(X))
    same(((X - rebuilt) ** 2).sum() / (2 * len(X)), best)


def test_convolution():
    f, k = rng.normal(size=(7, 6)), rng.normal(size=(3, 2))
    same(convolution(f, k), convolve(f, k), atol=1e-12)
    same(pooling(f, 2), pool(f, 2))
    d = rng.normal(size=(5, 5))
    df, dk = convolution_backward(f, k, d)
    same(df, slopes(lambda f: (convolution(f, k) * d).sum(), f), atol=1e-8)
    same(dk, slopes(lambda k: (convolution(f, k) * d).sum(), k), atol=1e-8)


def test_attention():
    Q, K, V = (rng.normal(size=s) for s in ((5, 3), (5, 3), (5, 2)))
    for causal, mask in ((False, None), (True, causal_mask(5))):
        output, weights = attention(Q, K, V, causal)
        fast = fast_attention(Q, K, V, mask=mask)
        same(output, fast.output, atol=1e-12)
        same(weights, fast.weights, atol=1e-12)
        d = rng.normal(size=(5, 2))
        found = attention_backward(Q, K, V, weights, d)
        for i, ours in enumerate(found):
            parts = [Q, K, V]

            def loss(x, i=i, parts=parts, d=d, causal=causal):
                return (attention(*parts[:i], x, *parts[i + 1 :], causal)[0] * d).sum()

            same(ours, slopes(loss, parts[i]), atol=1e-8)


def test_graph_convolution():
    A = np.triu(rng.random((6, 6)) < 0.4, 1).astype(float)
    A, H = A + A.T, rng.normal(size=(6, 3))
    same(messages(A, H), message_pass(A, H), atol=1e-12)
    W, b, order = rng.normal(size=(3, 2)), rng.normal(size=2), rng.permutation(6)
    out = graph_convolution(A, H, W, b)
    shuffled = graph_convolution(A[np.ix_(order, order)], H[order], W, b)
    same(shuffled, out[order], atol=1e-12)


def test_recurrent_network():
    x, U, W, b = (rng.normal(size=s) for s in ((6, 2), (2, 3), (3, 3), 3))
    d = rng.normal(size=(6, 3))
    found = recurrent_backward(x, recurrent_network(x, U, W, b), W, d)
    for i, ours in enumerate(found):
        parts = [U, W, b]

        def loss(p, i=i, parts=parts):
            return (recurrent_network(x, *parts[:i], p, *parts[i + 1 :]) * d).sum()

        same(ours, slopes(loss, parts[i]), atol=1e-8)


def test_gates():
    """A gate that is open or closed for certain leaves what is left by hand."""
    x, zero = rng.normal(size=(4, 2)), np.zeros
    b = np.concatenate([[-99.0], [99.0], [0.0], [99.0]])  # never write, never forget
    h, c = long_short_term_memory(x, zero((2, 4)), zero((1, 4)), b)
    same([h, c], 0, atol=1e-12)
    b = np.concatenate([[99.0], [99.0], [0.5], [99.0]])  # always write the same
    same(
        long_short_term_memory(x, zero((2, 4)), zero((1, 4)), b)[1][:, 0],
        np.tanh(0.5) * np.arange(1, 5),
    )
    b = np.array([0.0, 99.0, 0.5])  # keep the state
    same(gated_recurrent_unit(x, zero((2, 3)), zero((1, 3)), b, zero(3)), 0, atol=1e-12)
    b = np.array([0.0, -99.0, 0.5])  # renew it
    renewed = gated_recurrent_unit(x, zero((2, 3)), zero((1, 3)), b, zero(3))
    same(renewed, np.tanh(0.5))


def test_positional_encoding():
    P = positional_encoding(12, 6)
    inner = P @ P.T  # depends on the distance alone: a rotation
    same(np.diag(inner, 3), inner[0, 3])


def layer_of(d=6, wide=9):
    shapes = [(d, d)] * 4 + [(d, wide), wide, (wide, d), d]
    return Layer(*(rng.normal(size=s) for s in shapes))


def test_transformer_layer():
    x, layer = rng.normal(size=(5, 6)), layer_of()
    order = rng.permutation(5)  # without positions the order does not matter
    out = transformer_layer(x, layer, 2)
    same(transformer_layer(x[order], layer, 2), out[order], atol=1e-10)


def language(V=4):
    """Log-probabilities of the next token that depend on the last two."""
    table = np.log(rng.dirichlet(np.ones(V), size=(V + 1, V + 1)))

    def log_p(tokens):
        a, b = [V, V, *tokens][-2:]
        return table[a, b]

    return log_p


def test_beam_search():
    log_p = language()
    means = {}
    for n in range(1, 5):  # every finished sequence of at most four tokens
        for tokens in product(range(1, 4), repeat=n - 1):
            total = sum(log_p(list(tokens[:i]))[t] for i, t in enumerate([*tokens, 0]))
            means[tokens] = total / n
    assert tuple(beam_search(log_p, 0, 500, 4)) == max(means, key=lambda t: means[t])
    greedy, tokens = beam_search(log_p, 0, 1, 4), []
    while len(tokens) < 4 and (token := int(log_p(tokens).argmax())) != 0:
        tokens.append(token)
    assert greedy == tokens


def test_adversarial_network():
    X = rng.normal(2.0, 0.7, size=1000)
    end = adversarial_network(X, 3000, rng)
    # looser: the two players circle about the mean of the data, they do not settle at it
    assert abs(end.a - 2) < 0.5
    real, fake = rng.normal(size=20), rng.normal(size=20)
    detective, forger = losses(real, fake)
    same(detective, -np.log(1 / (1 + np.exp(-real))).mean() - np.log(1 / (1 + np.exp(fake))).mean())
    same(forger, -np.log(1 / (1 + np.exp(-fake))).mean())


def numpy_of(tensor):
    return tensor.detach().numpy()


@deep
@pytest.mark.parametrize("cell", ["elman", "gru", "lstm"])
def test_recurrent_cells_in_torch(cell):
    import torch

    from pellucid.deep.recurrence.recurrent_module import CELLS

    module = CELLS[cell](2, 3, batch_first=True).double()
    x = rng.normal(size=(6, 2))
    fast = numpy_of(module(torch.tensor(x)[None])[0][0])
    U, W = numpy_of(module.weight_ih_l0).T, numpy_of(module.weight_hh_l0).T
    b, c = numpy_of(module.bias_ih_l0), numpy_of(module.bias_hh_l0)
    if cell == "gru":
        book = gated_recurrent_unit(x, U, W, b, c)
    elif cell == "lstm":
        book = long_short_term_memory(x, U, W, b + c)[0]
    else:
        book = recurrent_network(x, U, W, b + c)
    same(book, fast, atol=1e-10)


@deep
def test_transformer_layer_in_torch():
    import torch

    from pellucid.deep.transformers.transformer_module import EncoderLayer, positions

    module = EncoderLayer(6, 2, 9, 0.0).double().eval()
    for linear in (module.attend.query, module.attend.key_value, module.attend.out):
        torch.nn.init.zeros_(linear.bias)
    W_k, W_v = np.split(numpy_of(module.attend.key_value.weight), 2)
    first, second = module.forth[0], module.forth[3]
    layer = Layer(
        numpy_of(module.attend.query.weight).T,
        W_k.T,
        W_v.T,
        numpy_of(module.attend.out.weight).T,
        numpy_of(first.weight).T,
        numpy_of(first.bias),
        numpy_of(second.weight).T,
        numpy_of(second.bias),
    )
    x = rng.normal(size=(5, 6))
    fast = numpy_of(module(torch.tensor(x)[None], None)[0])
    same(transformer_layer(x, layer, 2), fast, atol=1e-10)
    # looser: the fast ones are float32
    assert_allclose(positional_encoding(20, 7), numpy_of(positions(20, 7)), atol=1e-7)


@deep
def test_adversarial_losses_in_torch():
    import torch

    from pellucid.deep.adversaries.adversarial_module import discriminator_loss, generator_loss

    real, fake = rng.normal(size=20), rng.normal(size=20)
    r, f = torch.tensor(real), torch.tensor(fake)
    share = torch.ones(20, dtype=torch.float64)
    fast = [discriminator_loss(r, share, f, "non_saturating"), generator_loss(f, "non_saturating")]
    same(losses(real, fake), [float(x) for x in fast])


@deep
@pytest.mark.parametrize("width", [1, 3])
def test_beam_search_in_torch(width):
    import torch

    from pellucid.deep.transformers import decoding
    from pellucid.deep.transformers.tokens import END, SPECIAL

    log_p = language()

    def names(tokens):  # token 0 ends, the others lie behind the special ones
        return [0 if t == END else t - SPECIAL + 1 for t in tokens]

    def decode(memory, allowed, begun):
        rows = []
        for row in begun.tolist():
            values = log_p(names(row[1:]))
            out = torch.zeros(SPECIAL + 3, dtype=torch.float64)  # the special ones are not said
            out[END], out[SPECIAL:] = values[0], torch.tensor(values[1:])
            rows.append(out)
        return torch.stack(rows)[:, None]

    class Encoder:
        def __call__(self, source, lengths):
            return torch.zeros(1, 1, 1, dtype=torch.float64)

        def allowed(self, source, lengths):
            return None

    module = SimpleNamespace(decode=decode, encoder=Encoder())
    found = decoding.beam(module, torch.zeros(1, 1), torch.ones(1), 6, width)
    assert names(found) == beam_search(log_p, 0, width, 5)
