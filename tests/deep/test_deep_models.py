"""Each model learns its planted problem, in seconds."""

import numpy as np
import pytest
from estimators import DEEP, DEEP_REASON
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV, cross_validate

import pellucid

if not DEEP:
    pytest.skip(DEEP_REASON, allow_module_level=True)

import torch
from torch import nn

from pellucid.core.loops.iterate import DivergenceWarning
from pellucid.deep import (
    ConvolutionalClassifier,
    ConvolutionalRegressor,
    EarlyStopping,
    GenerativeAdversarialNetwork,
    GraphNeuralNetworkClassifier,
    ModeCollapseWarning,
    QNetwork,
    RecurrentClassifier,
    RecurrentRegressor,
    Training,
    TransformerClassifier,
    TransformerSequenceModel,
    attention,
    convolve,
    message_pass,
    pool,
)


def shifted_patterns(n, seed=0):
    """One of three 2 x 2 patterns anywhere in a noisy 8 x 8 image."""
    rng = np.random.default_rng(seed)
    X, y = 0.1 * rng.normal(size=(n, 8, 8)), rng.integers(3, size=n)
    patterns = np.array([[[1, 1], [0, 0]], [[1, 0], [1, 0]], [[1, 0], [0, 1]]])
    for i in range(n):
        a, b = rng.integers(7, size=2)
        X[i, a : a + 2, b : b + 2] += 2 * patterns[y[i]]
    return X, y


def bits(n, length, seed=0):
    """Bits and the parity of all bits so far."""
    X = np.random.default_rng(seed).integers(2, size=(n, length, 1)).astype(float)
    return X, X[:, :, 0].cumsum(axis=1).astype(int) % 2


def copies(n, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(1, 6, size=rng.integers(2, 6)).tolist() for _ in range(n)]


def saved(model, path):
    pellucid.save(model, path / "model.pellucid")
    return pellucid.load(path / "model.pellucid")


@pytest.fixture(scope="module")
def images():
    X, y = shifted_patterns(500)
    training = Training(learning_rate=0.005, batch_size=32, max_epochs=12)
    return ConvolutionalClassifier((8, 16), training=training, random_state=0).fit(X[:400], y[:400])


def test_convolution_finds_shifted_patterns(images):
    X, y = shifted_patterns(500)
    assert images.score(X[400:], y[400:]) > 0.93
    assert images.filters_[0].shape == (8, 1, 3, 3)
    assert images.feature_maps(X[:2]).shape == (2, 16, 2, 2)


def test_flat_images_are_the_same_images(images):
    X, y = shifted_patterns(60)
    flat = clone(images).set_params(image_shape=(8, 8), training__max_epochs=1)
    flat.fit(X.reshape(60, 64), y)
    whole = clone(images).set_params(training__max_epochs=1).fit(X, y)
    np.testing.assert_array_equal(flat.predict_proba(X.reshape(60, 64)), whole.predict_proba(X))
    with pytest.raises(ValueError, match=r"image_shape=\(8, 9\) has 72 pixels, X has 64"):
        flat.set_params(image_shape=(8, 9)).fit(X.reshape(60, 64), y)
    with pytest.raises(ValueError, match="images must have shape"):
        whole.predict(X.reshape(60, 4, 4, 4))


def test_feature_maps_are_convolve_and_pool(images):
    """The first stage by hand: zero padding, cross-correlation, relu."""
    X, _ = shifted_patterns(1)
    bias = images.weights_["filters.0.bias"]
    first = images.feature_maps(X, stage="first")[0]
    for k in range(8):
        hand = convolve(np.pad(X[0], 1), images.filters_[0][k, 0]) + bias[k]
        assert_allclose(first[k], np.maximum(hand, 0), atol=1e-10)
    module = images.module_
    with torch.no_grad():
        pooled = module.pools[0](torch.as_tensor(first)[None])[0].numpy()
    assert_allclose(pooled[3], pool(first[3], 2, "max"), atol=1e-12)


def test_convolution_regresses():
    X = np.random.default_rng(0).normal(size=(300, 6, 6))
    y = np.column_stack([X.sum(axis=(1, 2)), 100 + X[:, :3].sum(axis=(1, 2))])
    training = Training(learning_rate=0.005, batch_size=32, max_epochs=30)
    model = ConvolutionalRegressor((8,), pooling="mean", training=training, random_state=0)
    assert model.fit(X[:240], y[:240]).score(X[240:], y[240:]) > 0.8


@pytest.mark.parametrize("cell", ["lstm", "gru", "elman"])
def test_recurrent_learns_parity_and_carries_it_far(cell):
    """Trained on 10 bits, right after 100: the state is the parity, whatever the length.

    Only the last answer counts: every one of the 100 bits before it can turn it.
    """
    X, y = bits(400, 10)
    training = Training(learning_rate=0.02, max_epochs=100, early_stopping=EarlyStopping(tol=0.0))
    model = RecurrentClassifier(
        16, cell=cell, output="sequence", training=training, random_state=1
    ).fit(X, y)  # fmt: skip
    far, parity = bits(100, 100, seed=1)
    assert (model.predict(far)[:, -1] == parity[:, -1]).mean() > 0.95


def test_masked_steps_change_nothing():
    """A sequence answers the same alone, or padded beside a longer one; in both directions."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(m, 2)) for m in rng.integers(1, 9, size=40)]
    y = [int(x[:, 0].sum() > 0) for x in X]
    for bidirectional in (False, True):
        model = RecurrentClassifier(
            8, bidirectional=bidirectional, n_layers=2, training=Training(max_epochs=2),
            random_state=0,
        ).fit(X, y)  # fmt: skip
        together = model.predict_proba(X)
        alone = np.vstack([model.predict_proba([x]) for x in X])
        assert_allclose(together, alone, atol=1e-12)


def test_elman_cell_is_the_formula():
    X = np.random.default_rng(0).normal(size=(5, 4, 2))
    model = RecurrentRegressor(3, cell="elman", training=Training(max_epochs=1), random_state=0)
    model.fit(X, X[:, 0, 0])
    W, U, b, c = (model.weights_[f"cells.{n}_l0"].astype(float)
                  for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))  # fmt: skip
    h = np.zeros((5, 3))
    for t in range(4):
        h = np.tanh(X[:, t] @ W.T + h @ U.T + b + c)
    assert_allclose(model.hidden_states(X)[:, -1], h, atol=1e-10)


def test_forecast_continues_a_wave():
    wave = np.sin(0.4 * np.arange(300))
    windows = np.lib.stride_tricks.sliding_window_view(wave, 13)
    training = Training(learning_rate=0.01, max_epochs=60)
    model = RecurrentRegressor(16, cell="gru", training=training, random_state=0)
    model.fit(windows[:, :-1], windows[:, -1])
    ahead = model.forecast(wave[-12:], 20)
    assert_allclose(ahead, np.sin(0.4 * np.arange(300, 320)), atol=0.3)
    assert model.forecast(windows[:3, :-1], 2).shape == (3, 2)
    with pytest.raises(ValueError, match="steps must be a whole number"):
        model.forecast(wave, 0)


@pytest.fixture(scope="module")
def copier():
    training = Training(learning_rate=0.005, batch_size=64, max_epochs=20)
    model = TransformerSequenceModel(
        32, n_layers=1, d_feedforward=64, dropout=0.0, training=training, random_state=0
    )
    S = copies(800)
    return model.fit(S, S)


def test_transformer_copies(copier):
    S = copies(100, seed=1)
    assert copier.score(S, S) > 0.9
    best = copier.predict(S[:20], beam_width=3)
    assert np.mean([a == b for a, b in zip(best, S[:20], strict=True)]) > 0.85
    assert all(len(row) <= 2 for row in copier.predict(S[:5], max_length=3))


def test_attention_maps(copier):
    maps = copier.attention_maps([1, 2, 3], [1, 2, 3])
    assert maps.encoder.shape == (1, 4, 3, 3)
    assert maps.decoder.shape == (1, 4, 4, 4)
    assert maps.cross.shape == (1, 4, 4, 3)
    for weights in maps:
        assert_allclose(weights.sum(axis=-1), 1)
    assert not maps.decoder[..., ~np.tri(4, dtype=bool)].any()


def test_the_target_so_far_does_not_see_ahead(copier):
    """Causal: the logits of a prefix do not depend on what follows."""
    source, lengths = (torch.as_tensor(a) for a in copier._read([[1, 2, 3]], reset=False))
    begun = torch.tensor([[1, 4, 5, 6]])
    with torch.no_grad():
        whole = copier.module_(source, lengths, begun)
        part = copier.module_(source, lengths, begun[:, :2])
    assert_allclose(whole[:, :2].numpy(), part.numpy(), atol=1e-12)


def test_heads_are_attention():
    """One head of the module is the function of the package."""
    from pellucid.deep.transformers.transformer_module import MultiHead

    torch.manual_seed(0)
    head = MultiHead(4, 1, 0.0).double()
    x = torch.randn(1, 5, 4, dtype=torch.float64)
    with torch.no_grad():
        k, v = head.key_value(x)[0].chunk(2, dim=-1)
        hand = attention(head.query(x)[0], k, v).output
        hand = head.out(torch.as_tensor(hand))
        kept = []
        assert_allclose(head(x, x, None)[0].numpy(), hand.numpy(), atol=1e-12)
        assert_allclose(head(x, x, None, keep=kept)[0].numpy(), hand.numpy(), atol=1e-12)


def test_transformer_classifier_recalls():
    """Associative recall: the value that followed the key asked for at the end."""
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(1300):
        values, asked = rng.integers(3, size=2), rng.integers(2)
        said = [f"{key}{value}" for key, value in zip("ab", values, strict=True)]
        X.append([*said[:: rng.choice([-1, 1])], f"?{'ab'[asked]}"])
        y.append(int(values[asked]))
    training = Training(learning_rate=0.005, max_epochs=15)
    model = TransformerClassifier(
        32, n_layers=1, d_feedforward=64, dropout=0.0, training=training, random_state=0
    ).fit(X[:1000], y[:1000])
    assert model.score(X[1000:], y[1000:]) > 0.95
    assert model.predict([["never", "seen"]]).shape == (1,)


def recall(n, pairs, seed, keys=6, values=6):
    """Keys with values, both new in every sequence, then one of these keys: what was its value?"""
    rng = np.random.default_rng(seed)
    sources, targets = [], []
    for _ in range(n):
        key, value = rng.permutation(keys)[:pairs], rng.integers(values, size=pairs)
        said = [t for a, b in zip(key, value, strict=True) for t in (f"key{a}", f"value{b}")]
        asked = rng.integers(pairs)
        sources.append([*said, f"key{key[asked]}"])
        targets.append([f"value{value[asked]}"])
    return sources, targets


def test_transformer_learns_associative_recall():
    """Three of six keys in any order; naming one of the values blindly is right in 4 of 10."""
    training = Training(learning_rate=0.003, batch_size=32, max_epochs=22)
    model = TransformerSequenceModel(
        48, n_layers=1, d_feedforward=64, dropout=0.0, training=training, random_state=0
    ).fit(*recall(3000, 3, seed=0))
    assert model.score(*recall(300, 3, seed=1)) > 0.95


def test_adversarial_network_draws_two_moons():
    X = make_moons(1000, noise=0.05, random_state=0)[0]
    training = Training(learning_rate=2e-3, batch_size=32, max_epochs=60)
    model = GenerativeAdversarialNetwork(training=training, random_state=0).fit(X)
    S = model.sample(1000, random_state=1)
    blob = np.random.default_rng(0).multivariate_normal(X.mean(axis=0), np.cov(X.T), size=1000)
    assert np.median(cdist(S, X).min(axis=1)) < 0.5 * np.median(cdist(blob, X).min(axis=1))
    assert np.median(cdist(X, S).min(axis=1)) < 0.1  # both moons, end to end
    upper = X[:, 1] > 0.25
    assert 0.3 < (S[:, 1] > 0.25).mean() / upper.mean() < 3  # neither moon is left out
    assert model.score(X) > -0.1  # energy distance; of two halves of the data about 0
    np.testing.assert_array_equal(S, model.sample(1000, random_state=1))
    assert {"generator_loss", "discriminator_loss"} <= set(model.history_.columns)
    np.testing.assert_array_equal(model.history_["objective"], model.history_["generator_loss"])
    assert ((model.discriminate(X) > 0) & (model.discriminate(X) < 1)).all()


def test_adversarial_collapse_is_told():
    X = np.random.default_rng(0).normal(size=(100, 2))
    model = GenerativeAdversarialNetwork(
        1, generator=(1,), training=Training("sgd", learning_rate=1e-9, max_epochs=1),
        random_state=0,
    )  # fmt: skip
    model.fit(X)
    small = {k: v * (0.01 if k.startswith("generator") else 1) for k, v in model.weights_.items()}
    model.module_.load_state_dict({k: torch.as_tensor(v) for k, v in small.items()})
    with pytest.warns(ModeCollapseWarning, match="collapsed"):
        model._look(X)


def neighbourhood(n=150, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    A = np.triu(rng.random((n, n)) < np.where(y[:, None] == y, 0.1, 0.01), 1).astype(float)
    H = rng.normal(size=(n, 3))
    H[:, 0] += y - 0.5
    return A + A.T, H, y


@pytest.mark.parametrize("aggregation", ["gcn", "mean", "sum"])
def test_graph_network_labels_by_neighbourhood(aggregation):
    """Twenty labelled nodes; the own features alone say little."""
    A, H, y = neighbourhood()
    labels = np.full(len(y), -1)
    labels[:20] = y[:20]
    training = Training(learning_rate=0.02, max_epochs=60, weight_decay=1e-3)
    model = GraphNeuralNetworkClassifier(
        (16, 16), aggregation=aggregation, readout=None, training=training, random_state=0
    ).fit((A, H), labels)
    assert model.score((A, H), np.where(labels < 0, y, -1)) > 0.85
    assert ((H[20:, 0] > 0) == y[20:]).mean() < 0.8
    assert model.node_embeddings((A, H)).shape == (150, 16)


def test_graph_answers_do_not_depend_on_the_order_of_nodes():
    rng = np.random.default_rng(0)
    graphs, y = [], []
    for i in range(60):
        n = int(rng.integers(4, 8))
        path = np.eye(n, k=1) + np.eye(n, k=-1)
        if i % 2:
            path[0, -1] = path[-1, 0] = 1
        order = rng.permutation(n)
        graphs.append((path[order][:, order], path.sum(axis=1)[order]))
        y.append(i % 2)
    model = GraphNeuralNetworkClassifier(training=Training(learning_rate=0.02), random_state=0)
    model.fit(graphs, y)
    assert model.score(graphs, y) == 1.0
    turned = [(A[::-1, ::-1].copy(), H[::-1].copy()) for A, H in graphs]
    assert_allclose(model.predict_proba(turned), model.predict_proba(graphs), atol=1e-12)
    first = nn.functional.relu
    h = message_pass(*graphs[0])[:, None]
    w, b = (model.weights_[f"heard.0.{n}"].astype(float) for n in ("weight", "bias"))
    one = first(torch.as_tensor(h @ w.T + b)).numpy()
    w, b = (model.weights_[f"heard.1.{n}"].astype(float) for n in ("weight", "bias"))
    two = np.maximum(message_pass(graphs[0][0], one) @ w.T + b, 0)
    assert_allclose(model.node_embeddings(graphs[0]), two, atol=1e-10)


@pytest.mark.parametrize("dueling", [False, True])
def test_q_network(dueling, tmp_path):
    rng = np.random.default_rng(0)
    states = rng.normal(size=(64, 3))
    truth = states @ rng.normal(size=(3, 2))
    training = Training(learning_rate=0.01)
    q = QNetwork(2, (32,), dueling=dueling, training=training, random_state=0)
    twin = QNetwork(2, (32,), dueling=dueling, training=training, random_state=0)
    assert q.values(states).shape == (64, 2)
    taken = rng.integers(2, size=(300, 64))
    losses = [q.update(states, a, truth[np.arange(64), a]) for a in taken]
    assert losses[-1] < 0.05 * losses[0]
    assert_allclose(q.values(states), truth, atol=0.8)
    np.testing.assert_array_equal(twin.copy_from(q).values(states), q.values(states))
    again = saved(q, tmp_path)
    np.testing.assert_array_equal(again.values(states), q.values(states))
    again.update(states, taken[0], np.zeros(64))
    assert (again.values(states) != q.values(states)).any()
    with pytest.raises(ValueError, match="actions must be whole numbers from 0 to 1"):
        q.update(states, taken[0] + 2, np.zeros(64))
    with pytest.raises(ValueError, match="3 are expected"):
        q.values(states[:, :2])


# --- what all of them promise ----------------------------------------------------------------


def test_early_stopping_goes_back_to_the_best_weights():
    X, y = shifted_patterns(150)
    y[::3] = (y[::3] + 1) % 3  # noise to over-fit
    early = EarlyStopping(validation_fraction=0.3, n_iter_no_change=3, tol=0.0)
    training = Training(learning_rate=0.01, batch_size=16, max_epochs=60, early_stopping=early)
    model = ConvolutionalClassifier((8,), training=training, random_state=0).fit(X, y)
    losses = model.history_["validation_loss"]
    assert model.n_iter_ < 60
    assert model.best_iter_ == np.argmin(losses) < model.n_iter_
    own = ConvolutionalClassifier((8,), training=training, random_state=0)
    own.fit(X[:100], y[:100], X_val=X[100:], y_val=y[100:])
    at = own.history_[own.best_iter_]
    p = own.predict_proba(X[100:])[np.arange(50), y[100:]]
    assert_allclose(-np.log(p).mean(), at["validation_loss"], rtol=1e-4)
    assert own.score(X[100:], y[100:]) == pytest.approx(at["validation_score"])


def test_accuracy_of_an_epoch_is_counted_on_the_way():
    """That of the start is a score; one batch per epoch asks the weights before its step."""
    X, y = shifted_patterns(150)
    w = np.random.default_rng(0).integers(0, 3, size=150)
    w[0] = 1
    training = Training(learning_rate=0.01, batch_size=300, max_epochs=3)
    model = ConvolutionalClassifier((4,), training=training, random_state=0)
    found = model.fit(X, y, sample_weight=w).history_["accuracy"]
    training.max_epochs = 2
    before = model.fit(X, y, sample_weight=w)
    assert len(found) == 4
    assert found[1] == found[0]  # the epoch met the weights of the start
    assert found[3] == pytest.approx(before.score(X, y, sample_weight=w))
    numbers = ConvolutionalRegressor((4,), training=training, random_state=0).fit(X, X.mean((1, 2)))
    assert "accuracy" not in numbers.history_[0]


def test_accuracy_counts_targets_not_rows():
    """Of sequences, the tokens: those behind the end of a sequence are no targets."""
    X = [["a", "b"], ["b"], ["a", "a", "b", "a"]] * 10
    training = Training(learning_rate=0.01, batch_size=30, max_epochs=60)
    model = TransformerSequenceModel(
        8, n_heads=2, n_layers=1, dropout=0.0, training=training, random_state=0
    ).fit(X, X)
    found = model.history_["accuracy"]
    assert np.allclose(found * 10 * (3 + 2 + 5), np.round(found * 100), atol=1e-4)
    assert found[-1] == 1.0


def test_divergence_keeps_the_last_finite_weights():
    X, y = shifted_patterns(64)
    training = Training("sgd", learning_rate=1e6, max_epochs=5)
    with pytest.warns(DivergenceWarning):
        model = ConvolutionalRegressor((4,), training=training, random_state=0).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


def test_divergence_is_never_silent():
    """A loss 1e10 times that of the start is divergence; an infinite answer is an error."""
    rng = np.random.default_rng(0)
    S, t = rng.normal(size=(64, 6, 2)), rng.normal(size=64)
    training = Training("sgd", learning_rate=1e12, max_epochs=4)
    with pytest.warns(DivergenceWarning, match=r"learning_rate=1e\+12 is too large; the weights"):
        model = RecurrentRegressor(training=training, random_state=0).fit(S, t)
    assert np.isfinite(model.predict(S)).all()
    model.module_.double()
    for p in model.module_.parameters():
        p.data.fill_(np.inf)
    with pytest.raises(ValueError, match="answer is infinite or NaN: the training diverged"):
        model.predict(S)
    words = TransformerSequenceModel(8, n_layers=1, training=Training(max_epochs=1), random_state=0)
    words.fit(["a b", "b"], ["b", "a b"])
    words.module_.head.weight.data.fill_(np.nan)
    for width in (1, 2):
        with pytest.raises(ValueError, match="answer is infinite or NaN: the training diverged"):
            words.predict(["a b"], beam_width=width)
    gan = GenerativeAdversarialNetwork(
        training=Training("sgd", learning_rate=1e30, max_epochs=3), random_state=0
    )
    with pytest.warns(DivergenceWarning, match="the weights of epoch 0 are kept"):
        gan.fit(S[:, 0])
    assert np.isfinite(gan.sample(5, random_state=0)).all()


def test_the_global_random_state_of_torch_is_left_alone():
    X, y = shifted_patterns(40)
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    threads = torch.get_num_threads()
    model = TransformerClassifier(8, n_layers=1, training=Training(max_epochs=1), random_state=0)
    a = model.fit(X[:, 0], y).predict_proba(X[:, 0])
    np.testing.assert_array_equal(torch.rand(3), expected)
    assert torch.get_num_threads() == threads
    np.testing.assert_array_equal(a, clone(model).fit(X[:, 0], y).predict_proba(X[:, 0]))


def test_sequence_model_keeps_the_promises(copier, tmp_path):
    """Saved without pickle, cloned, cross-validated, watched."""
    S = copies(60, seed=2)
    again = saved(copier, tmp_path)
    assert again.predict(S) == copier.predict(S)
    assert str(again.card()) == str(copier.card())
    small = clone(copier).set_params(training__max_epochs=1)
    found = cross_validate(small, S, S, cv=3, error_score="raise")
    assert found["test_score"].shape == (3,)
    weights = np.arange(60) % 3
    weighted = clone(small).fit(S, S, sample_weight=weights)
    repeated = clone(small).fit(
        *[[s for s, w in zip(S, weights, strict=True) for _ in range(w)]] * 2
    )
    for name, array in weighted.weights_.items():
        np.testing.assert_array_equal(array, repeated.weights_[name], err_msg=name)
    for bad, match in (
        ((S, S[:-1]), "60 and 59"),
        (([], []), "token lists"),
        (([[]], [[1]]), "no tokens"),
        (([[1] * 200], [[1]]), "max_length=128"),
    ):
        with pytest.raises(ValueError, match=match):
            clone(small).fit(*bad)
    with pytest.raises(ValueError, match="multiple of n_heads"):
        clone(small).set_params(n_heads=3).fit(S, S)


class Epochs:
    """A callback that keeps the model of every epoch and stops after some."""

    def __init__(self, stop_after):
        self.stop_after, self.models = stop_after, []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        if context.parent is not None and context.max_subtasks == 0:
            self.models.append(fitted_estimator)
            return len(self.models) >= self.stop_after
        return False


@pytest.mark.parametrize("kind", ["classifier", "adversarial"])
def test_callbacks_see_every_epoch_and_stop(kind):
    X, y = shifted_patterns(40)
    watch = Epochs(3)
    training = Training(learning_rate=0.01)
    if kind == "classifier":
        model = ConvolutionalClassifier((4,), training=training, random_state=0)
        model.set_callbacks(watch).fit(X, y)
        method = "predict_proba"
    else:
        X = X[:, 0]
        model = GenerativeAdversarialNetwork(training=training, random_state=0)
        model.set_callbacks(watch).fit(X)
        method = "decision_function"
    assert model.n_iter_ == len(watch.models) == 3
    ask = [getattr(m, method)(X) for m in watch.models]
    np.testing.assert_array_equal(ask[-1], getattr(model, method)(X))
    assert (ask[0] != ask[-1]).any()


def test_search_over_the_training(images):
    X, y = shifted_patterns(60)
    model = ConvolutionalClassifier((4,), training=Training(max_epochs=2), random_state=0)
    search = GridSearchCV(model, {"training__learning_rate": [0.1, 0.001]}, cv=2)
    assert search.fit(X, y).best_params_["training__learning_rate"] in (0.1, 0.001)


def test_a_module_of_your_own(images, tmp_path):
    """The same weights elsewhere are saved; another architecture predicts but is not saved."""
    X, _ = shifted_patterns(10)
    model = saved(images, tmp_path)
    model.module_ = nn.Sequential(nn.Flatten(), nn.Linear(64, 3))
    assert model.predict(X).shape == (10,)
    with pytest.raises(ValueError, match=r"cannot save ConvolutionalClassifier.*_foreign"):
        pellucid.save(model, tmp_path / "other.pellucid")


def test_devices():
    X, y = shifted_patterns(10)
    model = ConvolutionalClassifier((2,), training=Training(device="nowhere"), random_state=0)
    with pytest.raises(ValueError, match="device must be 'auto', 'cpu' or 'cuda', got 'nowhere'"):
        model.fit(X, y)
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="no CUDA device"):
            model.set_params(training__device="cuda").fit(X, y)


def test_low_precision():
    X, y = shifted_patterns(200)
    training = Training(learning_rate=0.01, batch_size=32, max_epochs=15, precision="bfloat16")
    model = ConvolutionalClassifier((8,), training=training, random_state=0)
    if torch.cuda.is_available():
        assert model.fit(X, y).score(X, y) > 0.9
    with pytest.raises(ValueError, match="needs a CUDA device"):
        model.set_params(training__device="cpu").fit(X, y)


@pytest.mark.parametrize("kind", ["classifier", "adversarial"])
def test_verbose_prints_every_epoch(kind, capsys):
    X, y = shifted_patterns(40)
    if kind == "classifier":
        early = EarlyStopping(validation_fraction=0.2)
        training = Training(max_epochs=2, verbose=True, early_stopping=early)
        model = ConvolutionalClassifier((2,), training=training, random_state=0).fit(X, y)
    else:
        training = Training(max_epochs=2, verbose=True)
        model = GenerativeAdversarialNetwork(2, training=training, random_state=0).fit(X[:, 0])
    lines = capsys.readouterr().out.splitlines()
    rows = model.history_[-2:]
    told = [line for line in lines if line.startswith("Iteration")]
    assert len(told) == 2
    for i, (line, row) in enumerate(zip(told, rows, strict=True)):
        assert line.startswith(f"Iteration {i + 1}, loss = {row['objective']:.8f}")
    if kind == "classifier":
        assert lines[1] == f"Validation score: {rows[0]['validation_score']:f}"
