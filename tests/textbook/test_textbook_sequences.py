"""The hidden Markov models of the textbook agree with the fast ones."""

from itertools import islice, pairwise, product

import numpy as np
import pytest
from agreement import same, same_mean
from numpy.testing import assert_array_equal

from pellucid import HiddenMarkovModel
from pellucid.textbook.sequences.baum_welch import baum_welch, rounds
from pellucid.textbook.sequences.forward_backward import forward_backward
from pellucid.textbook.sequences.sequence_sampling import sequence_sampling, stationary
from pellucid.textbook.sequences.viterbi import viterbi

rng = np.random.default_rng(0)


def tables(K=3, C=4):
    return (rng.dirichlet(np.ones(size), size=n) for n, size in ((1, K), (K, K), (K, C)))


def chain(K=3, C=4):
    (pi,), A, E = tables(K, C)
    model = HiddenMarkovModel.from_parameters(pi, A, probabilities=E, categories=list(range(C)))
    return pi, A, E, model


def test_forward_backward():
    pi, A, E, model = chain()
    x = rng.integers(4, size=25)
    book = forward_backward(pi, A, E[:, x].T)
    same(book.filtered, model.filter(x[None])[0], atol=1e-10)
    same(book.smoothed, model.smooth(x[None])[0], atol=1e-10)
    same(book.log_likelihood, model.score_samples(x[None])[0])
    same(book.moves.sum(axis=1), book.smoothed[:-1].sum(axis=0))
    short = x[:5]  # the sum over all paths
    paths = [
        pi[z[0]] * np.prod([A[i, j] for i, j in pairwise(z)]) * np.prod(E[list(z), short])
        for z in product(range(3), repeat=5)
    ]
    same(forward_backward(pi, A, E[:, short].T).log_likelihood, np.log(sum(paths)))


def test_viterbi():
    for _ in range(5):
        pi, A, E, model = chain()
        x = rng.integers(4, size=20)
        assert_array_equal(viterbi(pi, A, E[:, x].T), model.predict(x[None])[0])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_baum_welch():
    pi, A, E, model = chain(2, 3)
    X = rng.integers(3, size=(4, 15))
    states = list(islice(rounds(list(X), pi, A, E), 11))
    assert np.all(np.diff([s.log_likelihood for s in states]) > -1e-9)
    few = HiddenMarkovModel(2, emission="categorical", start=model, max_iter=10, tol=0.0)
    few.fit(X)
    same(states[10].pi, few.initial_, atol=1e-8)
    same(states[10].A, few.transition_, atol=1e-8)
    same(states[10].E, few.probabilities_, atol=1e-8)
    short = [x[:6] for x in X[:2]]
    first = next(rounds(short, pi, A, E))
    assert baum_welch(short, pi, A, E).log_likelihood > first.log_likelihood


def test_sequence_sampling():
    pi, A, E, model = chain(2, 2)
    same(stationary(A) @ A, stationary(A))
    now = [pi]
    for _ in range(39):
        now.append(now[-1] @ A)
    same(pi @ np.linalg.matrix_power(A, 1000), stationary(A))
    shares = np.mean(now, axis=0)  # of the states, over 40 steps
    ours = [sequence_sampling(pi, A, E, 40, rng) for _ in range(100)]
    symbols, states = model.sample(40, n_sequences=100, random_state=0)
    for drawn in ([one.states for one in ours], states):
        same_mean(np.equal.outer(drawn, [0, 1]).mean(axis=1), shares)
    for drawn in ([one.symbols for one in ours], symbols):
        same_mean(np.equal.outer(drawn, [0, 1]).mean(axis=1), shares @ E)
