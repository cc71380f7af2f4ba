"""Hidden Markov models against enumeration of all paths; learning that never falls."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp

from pellucid.graphical import CPT, BayesianNetwork, HiddenMarkovModel


def categorical(seed, K=3, C=4):
    rng = np.random.default_rng(seed)
    return HiddenMarkovModel.from_parameters(
        rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(K), K),
        probabilities=rng.dirichlet(np.ones(C), K), categories="abcd"[:C],
    )  # fmt: skip


def gaussian(seed, K=3, p=2, full=False):
    rng = np.random.default_rng(seed)
    S = rng.uniform(0.5, 2.0, (K, p))
    if full:
        root = rng.normal(size=(K, p, p))
        S = root @ root.transpose(0, 2, 1) + 0.3 * np.eye(p)
    return HiddenMarkovModel.from_parameters(
        rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(K), K),
        means=3.0 * rng.normal(size=(K, p)), covariances=S,
    )  # fmt: skip


def densities(model, x):
    """log p(x_t | k), written out."""
    if model.emission == "categorical":
        return np.log(model.probabilities_.T[[model.categories_.index(v) for v in x]])
    out = np.empty((len(x), len(model.means_)))
    for k, (m, S) in enumerate(zip(model.means_, model.covariances_, strict=True)):
        S = np.diag(S) if S.ndim == 1 else S
        D = x - m
        out[:, k] = -0.5 * (np.einsum("ti,ij,tj->t", D, np.linalg.inv(S), D)
                            + np.linalg.slogdet(2 * np.pi * S)[1])  # fmt: skip
    return out


def enumerated(model, x):
    """Log-likelihood, filter, smoothed shares and best path from every path there is."""
    B, K = densities(model, x), len(model.initial_)
    T = len(B)
    paths = np.array(list(product(range(K), repeat=T)))
    steps = np.log(model.initial_)[paths[:, :1]] + B[0, paths[:, :1]]
    for t in range(1, T):
        move = np.log(model.transition_)[paths[:, t - 1], paths[:, t]] + B[t, paths[:, t]]
        steps = np.column_stack([steps, steps[:, -1] + move])
    log_p = logsumexp(steps[:, -1])
    share = np.exp(steps[:, -1] - log_p)
    smooth = np.array([[share[paths[:, t] == k].sum() for k in range(K)] for t in range(T)])
    now = np.array([[np.exp(steps[:, t])[paths[:, t] == k].sum() for k in range(K)]
                    for t in range(T)])  # fmt: skip
    return log_p, now / now.sum(axis=1, keepdims=True), smooth, paths[steps[:, -1].argmax()]


MODELS = [categorical(0), gaussian(1), gaussian(2, full=True), categorical(3, K=2, C=3)]


@pytest.mark.parametrize("model", MODELS, ids=["categorical", "diag", "full", "two"])
def test_every_path_is_counted(model):
    parts, sizes = [], [5, 1, 6]
    for seed, T in enumerate(sizes):
        drawn, _ = model.sample(T, random_state=seed)
        parts.append(drawn.reshape(T, -1))
    X = np.concatenate(parts)
    answers = [enumerated(model, p[:, 0] if X.shape[1] == 1 else p) for p in parts]
    assert_allclose(model.score_samples(X, sizes), [a[0] for a in answers], rtol=1e-12)
    assert_allclose(model.filter(X, sizes), np.concatenate([a[1] for a in answers]), atol=1e-12)
    assert_allclose(model.smooth(X, sizes), np.concatenate([a[2] for a in answers]), atol=1e-12)
    assert model.predict(X, sizes).tolist() == np.concatenate([a[3] for a in answers]).tolist()


def test_rows_of_different_length_and_gaps():
    """A gap is summed out: the same as adding up all values it may have; the end is cut off."""
    model = categorical(4)
    X = np.array([["a", None, "c", "d"], ["b", "b", None, None]], object)
    filled = [X[:1].copy() for _ in "abcd"]
    for row, value in zip(filled, "abcd", strict=True):
        row[0, 1] = value
    total = logsumexp([model.score_samples(row)[0] for row in filled])
    short = model.score_samples([["b", "b"]])[0]
    assert_allclose(model.score_samples(X), [total, short])
    assert model.predict(X)[1, 2:].tolist() == [-1, -1]
    assert np.isnan(model.smooth(X)[1, 2:]).all()
    assert_allclose(model.smooth(X)[0].sum(axis=1), 1.0)


def test_it_is_an_unrolled_network():
    model = categorical(5, K=2, C=2)
    cpds = [CPT("z0", model.initial_), CPT("x0", model.probabilities_, parents="z0")]
    for t in range(1, 5):
        cpds += [CPT(f"z{t}", model.transition_, parents=f"z{t - 1}"),
                 CPT(f"x{t}", model.probabilities_, parents=f"z{t}")]  # fmt: skip
    network = BayesianNetwork(cpds=cpds)
    x = ["a", "b", "b", "a", "b"]
    seen = {f"x{t}": "ab".index(v) for t, v in enumerate(x)}
    shares = [network.query(f"z{t}", seen).values for t in range(5)]
    assert_allclose(model.smooth([x])[0], shares, atol=1e-12)
    path = network.most_probable(seen)
    assert model.predict([x])[0].tolist() == [path[f"z{t}"] for t in range(5)]


def test_a_long_and_unlikely_sequence_does_not_underflow():
    model = gaussian(6, K=2, p=1)
    X = np.full((1, 5000), 60.0)
    assert np.isfinite(model.score_samples(X)[0])
    assert_allclose(model.smooth(X).sum(axis=2), 1.0)
    stuck = HiddenMarkovModel.from_parameters(
        [1, 0], [[1, 0], [0, 1]], means=[[0.0], [1e4]], covariances=[[1.0], [1.0]])  # fmt: skip
    assert_allclose(stuck.score_samples([[1e4]])[0], -0.5e8 - 0.5 * np.log(2 * np.pi))


@pytest.mark.parametrize("kind", ["diag", "full", "categorical"])
def test_learning_never_falls(kind):
    rng = np.random.default_rng(7)
    if kind == "categorical":
        X, lengths = rng.integers(4, size=(60, 12)).astype(float), None
        X[rng.random(X.shape) < 0.1] = np.nan
        model = HiddenMarkovModel(3, emission="categorical", tol=0, max_iter=40, random_state=0)
    else:
        X, lengths = rng.normal(size=(400, 2)), [150, 250]
        model = HiddenMarkovModel(3, covariance_type=kind, tol=0, max_iter=40)
    with pytest.warns(match="no convergence"):
        model.fit(X, lengths=lengths)
    found = model.history_["log_likelihood"]
    assert (np.diff(found) > -1e-8 * abs(found[0])).all()
    assert found[-1] > found[0]
    assert_allclose(model.score_samples(X, lengths).sum(), model.log_likelihood_)


def test_one_round_by_enumeration():
    """Baum-Welch's round: expected counts over all paths, divided out."""
    start = categorical(8, K=2, C=3)
    X = [["a", "b", "c", "a"], ["c", "c", "a", "b"]]
    with pytest.warns(match="no convergence"):
        model = HiddenMarkovModel(2, emission="categorical", start=start, max_iter=1, tol=0).fit(X)
    begin, moves, shown = np.zeros(2), np.zeros((2, 2)), np.zeros((2, 3))
    for x in X:
        B = densities(start, x)
        weights = {}
        for path in product(range(2), repeat=4):
            p = start.initial_[path[0]] * np.exp(B[0, path[0]])
            for t in range(1, 4):
                p *= start.transition_[path[t - 1], path[t]] * np.exp(B[t, path[t]])
            weights[path] = p
        total = sum(weights.values())
        for path, p in weights.items():
            begin[path[0]] += p / total
            for t, k in enumerate(path):
                shown[k, "abc".index(x[t])] += p / total
                if t:
                    moves[path[t - 1], k] += p / total
    assert_allclose(model.initial_, begin / 2)
    assert_allclose(model.transition_, moves / moves.sum(axis=1, keepdims=True))
    assert_allclose(model.probabilities_, shown / shown.sum(axis=1, keepdims=True))


def test_planted_chains_are_recovered():
    truth = HiddenMarkovModel.from_parameters(
        [0.6, 0.4], [[0.9, 0.1], [0.3, 0.7]], means=[[0.0, 1.0], [2.0, -1.0]],
        covariances=[[1.0, 0.5], [0.3, 1.5]])  # fmt: skip
    X, states = truth.sample(200, 40, random_state=0)
    sizes = [200] * 40
    model = HiddenMarkovModel(2).fit(X.reshape(-1, 2), lengths=sizes)
    order = np.argsort(model.means_[:, 0])
    assert_allclose(model.means_[order], truth.means_, atol=0.1)
    assert_allclose(model.covariances_[order], truth.covariances_, atol=0.12)
    assert_allclose(model.transition_[np.ix_(order, order)], truth.transition_, atol=0.03)
    path = model.predict(X.reshape(-1, 2), sizes)
    assert (order.argsort()[path] == states.ravel()).mean() > 0.9
    loaded = HiddenMarkovModel.from_parameters(
        [0.5, 0.5], [[0.95, 0.05], [0.1, 0.9]], probabilities=[[1 / 6] * 6, [0.1] * 5 + [0.5]]
    )
    dice, _ = loaded.sample(400, 20, random_state=1)
    found = HiddenMarkovModel(2, emission="categorical", n_init=3, random_state=0, tol=1e-6,
                              max_iter=2000).fit(dice)  # fmt: skip
    order = np.argsort(found.probabilities_[:, 5])
    assert_allclose(found.probabilities_[order], loaded.probabilities_, atol=0.05)


def test_weights_are_repetitions_and_order_does_not_matter():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(20, 6)) + 3 * rng.integers(2, size=(20, 1))
    w = rng.integers(0, 3, size=20)
    a = HiddenMarkovModel().fit(X, sample_weight=w)
    b = HiddenMarkovModel().fit(np.repeat(X, w, axis=0))
    c = HiddenMarkovModel().fit(X[::-1], sample_weight=w[::-1])
    for other in (b, c):
        assert_allclose(a.transition_, other.transition_, rtol=1e-6, atol=1e-9)
        assert_allclose(a.log_likelihood_, other.log_likelihood_)


def test_mistakes_are_one_sentence():
    X = [[0.0, 1.0, 2.0]]
    with pytest.raises(ValueError, match="add up"):
        HiddenMarkovModel().fit([[0.0], [1.0]], lengths=[3])
    with pytest.raises(ValueError, match="different complete observations"):
        HiddenMarkovModel(3).fit([[1.0, 1.0, 2.0]])
    with pytest.raises(ValueError, match="unknown"):
        categorical(0).predict([["z"]])
    with pytest.raises(ValueError, match="rows of shares"):
        HiddenMarkovModel.from_parameters([0.5, 0.4], np.eye(2), probabilities=np.eye(2))
    with pytest.raises(ValueError, match="start has 3 states"):
        HiddenMarkovModel(2, start=gaussian(0, p=1)).fit(X)
    with pytest.raises(ValueError, match="missing in part"):
        HiddenMarkovModel(covariance_type="full").fit([[0.0, np.nan], [1, 2], [2, 3]], lengths=[3])
    never = HiddenMarkovModel.from_parameters([1, 0], np.eye(2), probabilities=np.eye(2))
    assert never.score_samples([[1, 1]])[0] == -np.inf
    with pytest.raises(ValueError, match="impossible evidence"):
        never.smooth([[0, 1]])
