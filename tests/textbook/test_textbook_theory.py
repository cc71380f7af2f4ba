"""The theory of the textbook agrees with the fast functions, and with what happens."""

import numpy as np
import pytest
from agreement import same

from pellucid import Perceptron, evaluation, maths
from pellucid.inference import Exponential
from pellucid.linear import linear_estimator
from pellucid.linear.perceptron.perceptron import novikoff_bound
from pellucid.textbook.theory.bayes_rule import bayes_rule
from pellucid.textbook.theory.bernstein import bernstein
from pellucid.textbook.theory.bias_variance import bias_variance
from pellucid.textbook.theory.finite_class_bound import finite_class_bound
from pellucid.textbook.theory.gauss_markov import gauss_markov
from pellucid.textbook.theory.growth_function import growth_function
from pellucid.textbook.theory.hoeffding import deviation, hoeffding
from pellucid.textbook.theory.inclusion_exclusion import inclusion_exclusion
from pellucid.textbook.theory.limit_theorems import limit_theorems
from pellucid.textbook.theory.margin_bound import margin_bound
from pellucid.textbook.theory.markov_chebyshev import markov, markov_chebyshev
from pellucid.textbook.theory.norm_class_bound import norm_class_bound
from pellucid.textbook.theory.perceptron_bound import mistakes, perceptron_bound
from pellucid.textbook.theory.rademacher_complexity import rademacher_complexity
from pellucid.textbook.theory.vc_bound import vc_bound
from pellucid.textbook.theory.zero_one_bias_variance import zero_one_bias_variance

rng = np.random.default_rng(0)


def test_bayes_rule():
    prior, likelihood = rng.dirichlet(np.ones(4)), rng.random(4)
    same(bayes_rule(prior, likelihood), maths.bayes_rule(prior, likelihood).posterior)
    rare = bayes_rule(np.array([0.001, 0.999]), np.array([0.99, 0.01]))
    same(rare[0], 0.001 * 0.99 / (0.001 * 0.99 + 0.999 * 0.01))


def test_concentration():
    same(markov(1.0, 4.0), float(maths.markov(mean=1.0, a=4.0)))
    same(markov_chebyshev(0.5, 0.2, 40), float(maths.chebyshev(variance=0.5, eps=0.2, n=40)))
    same(hoeffding(40, 0.3, 2.0), float(maths.hoeffding(n=40, eps=0.3, width=2.0)))
    same(deviation(40, 0.05), maths.hoeffding(n=40, delta=0.05).eps)
    fast = maths.bernstein(variance=0.05, n=40, eps=0.2, width=1.0)
    same(bernstein(40, 0.2, 0.05), float(fast))
    means = rng.integers(2, size=(5000, 40)).mean(axis=1)
    off = (np.abs(means - 0.5) >= 0.2).mean()
    assert off <= min(hoeffding(40, 0.2), markov_chebyshev(0.25, 0.2, 40))


def test_bounds():
    for consistent, loss in ((False, 0.1), (True, 0.0)):
        fast = evaluation.finite_class_bound(loss, 100, 1000, consistent=consistent, delta=0.05)
        same(finite_class_bound(loss, 100, 1000, 0.05, consistent), fast.value)
    for n in range(8):
        for d in range(5):
            assert growth_function(n, d) == evaluation.growth_function(n, d)
    same(vc_bound(0.1, 5000, 3, 0.05), evaluation.vc_bound(0.1, 5000, 3).value)
    fast = evaluation.margin_bound(0.05, 1000, margin=0.3, radius=2.0)
    same(margin_bound(0.05, 1000, 0.3, 0.05, R=2.0), fast.value)
    outputs = rng.normal(size=(6, 8))
    fast = evaluation.rademacher_complexity(outputs)
    assert fast.exact
    same(rademacher_complexity(outputs), fast.value)


@pytest.mark.parametrize("seed", range(3))
def test_perceptron_bound(seed):
    g = np.random.default_rng(seed)
    X = g.normal(size=(30, 2))
    y = np.where(X @ [1.0, 2.0] > 0, 1.0, -1.0)
    X = X + 0.2 * y[:, None] * [1.0, 2.0]
    bound = perceptron_bound(X, y)
    same(bound, novikoff_bound(X, y, intercept=False))
    assert mistakes(X, y) <= bound
    model = Perceptron(fit_intercept=False, shuffle=False, max_iter=1000, tol=None).fit(X, y)
    same(bound, np.ravel(model.mistake_bound_)[0])
    assert perceptron_bound(X, -np.sign(g.normal(size=30))) == np.inf


def test_bias_variance():
    P, truth, y = rng.normal(size=(7, 5)), rng.normal(size=5), rng.normal(size=(3, 5))
    fast = evaluation.decompose_squared(P, truth, y)
    same(bias_variance(P, truth, y), [fast.bias2, fast.variance, fast.noise, fast.total])
    labels, classes = rng.integers(3, size=(7, 20)), rng.integers(3, size=20)
    votes = evaluation.decompose_zero_one(labels, classes)
    book = zero_one_bias_variance(labels, classes)
    same(book, [votes.bias2, votes.variance, votes.total])


def test_gauss_markov():
    X = rng.normal(size=(12, 3))
    weights = np.diag(rng.exponential(size=12))
    C = np.linalg.solve(X.T @ weights @ X, X.T @ weights)  # unbiased, but not the best
    excess = gauss_markov(X, C, 2.0)
    fast = linear_estimator(X, C, noise_variance=2.0)
    assert fast.unbiased
    same(excess, fast.excess, atol=1e-10)
    assert np.linalg.eigvalsh(excess)[0] > -1e-10


def test_inclusion_exclusion():
    events, weights = rng.random((4, 30)) < 0.3, rng.dirichlet(np.ones(30))
    sums = inclusion_exclusion(events, weights)
    fast = maths.inclusion_exclusion(events.T, weights)
    same(sums[-1], fast.exact)
    assert sums[0] >= sums[-1] >= sums[1]


def test_limit_theorems():
    book = [
        limit_theorems(lambda r, n: rng.exponential(size=(r, n)), 1.0, 1.0, n, 0.3, 4000)
        for n in (5, 50)
    ]
    fast = maths.limit_theorems(Exponential(1.0), n=(5, 50), eps=0.3, repeats=4000, random_state=0)
    same([off for off, _ in book], fast.frequency)
    same([distance for _, distance in book], fast.distance)
    assert book[1][1] < book[0][1]


def test_norm_class_bound():
    fast = evaluation.norm_class_bound(0.2, 400, norm=2.0, radius=1.5, lipschitz=0.5)
    same(norm_class_bound(0.2, 400, 2.0, 1.5, 0.5), fast.value)
