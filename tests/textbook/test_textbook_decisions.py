"""The decisions of the textbook agree with the fast ones."""

import itertools

import numpy as np
import pytest
from agreement import same
from numpy.testing import assert_array_equal

from pellucid.inference import BayesClassifier, MultivariateNormal, optimal_prediction
from pellucid.inference.decisions.bayes_error import gaussian_error
from pellucid.reinforcement import (
    MDP,
    FiniteHorizon,
    LinearProgramming,
    PolicyIteration,
    ValueIteration,
)
from pellucid.reinforcement import policy_evaluation as fast_evaluation
from pellucid.textbook.decisions.bayes_classifier import bayes_classifier
from pellucid.textbook.decisions.bayes_error import bayes_error
from pellucid.textbook.decisions.best_constant import best_constant
from pellucid.textbook.decisions.finite_horizon import finite_horizon, stages
from pellucid.textbook.decisions.linear_programming import linear_programming
from pellucid.textbook.decisions.modified_policy_iteration import modified_policy_iteration
from pellucid.textbook.decisions.policy_evaluation import policy_evaluation
from pellucid.textbook.decisions.policy_iteration import policy_iteration, rounds
from pellucid.textbook.decisions.value_iteration import sweeps

rng = np.random.default_rng(0)


def problem(S=7, A=3):
    P, R = rng.dirichlet(np.ones(S) / 3, size=(S, A)), rng.normal(size=(S, A))
    return P, R, MDP(P, R, discount=0.9)


@pytest.mark.parametrize("seed", range(3))
def test_planners(seed):
    rng.bit_generator.state = np.random.default_rng(seed).bit_generator.state
    P, R, mdp = problem()
    exact = PolicyIteration(random_state=0).fit(mdp)
    same(policy_iteration(P, R, 0.9).U, exact.values_, atol=1e-8)
    *_, swept = sweeps(P, R, 0.9, error=1e-12)
    same(swept.U, ValueIteration(tol=1e-12).fit(mdp).values_, atol=1e-8)
    for state in sweeps(P, R, 0.9):
        # looser: the bound that the sweep itself states, tested as a bound
        assert np.abs(state.U - exact.values_).max() <= state.error_at_most + 1e-9
    programme = linear_programming(P, R, 0.9)
    model = LinearProgramming().fit(mdp)
    same(programme.U, model.values_, atol=1e-8)
    same(programme.occupancy, model.occupancy_, atol=1e-8)
    modified = modified_policy_iteration(P, R, 0.9)
    same(modified.U, PolicyIteration(evaluation=10).fit(mdp).values_, atol=1e-8)
    for policy in (policy_iteration(P, R, 0.9).policy, swept.policy, programme.policy):
        assert_array_equal(policy, exact.policy_)
    assert_array_equal(modified.policy, exact.policy_)
    worth = [s.U for s in rounds(P, R, 0.9)]
    assert all(np.all(after >= before - 1e-9) for before, after in itertools.pairwise(worth))


def test_policy_evaluation():
    P, R, mdp = problem()
    policy = rng.integers(3, size=7)
    same(policy_evaluation(P, R, 0.9, policy), fast_evaluation(mdp, policy), atol=1e-9)


def test_finite_horizon():
    P, R, mdp = problem()
    model = FiniteHorizon(6).fit(mdp)
    for k, stage in enumerate(stages(P, R, 0.9, 6), 1):
        same(stage.U, model.values_[k], atol=1e-10)
        assert_array_equal(stage.policy, model.policy_[k - 1])
    assert_array_equal(finite_horizon(P, R, 0.9, 6).policy, model.policy_[-1])


def test_bayes_error():
    w, m, S = np.array([0.3, 0.7]), rng.normal(size=(2, 3)), np.cov(rng.normal(size=(3, 9)))
    laws = [MultivariateNormal(mean, S) for mean in m]
    same(bayes_error(w, m, S), gaussian_error(laws, w))


def test_best_constant():
    for n in (7, 8):
        y = rng.normal(size=n)
        same(best_constant(y, "squared"), optimal_prediction(y, "squared"))
        for q in (0.2, 0.5, 0.9):
            a = best_constant(y, "quantile", q)
            b = float(optimal_prediction(y, "quantile", q=q))
            pinball = [np.maximum(q * (y - c), (q - 1) * (y - c)).sum() for c in (a, b)]
            same(*pinball)  # where a stretch is best, both lie in it
        a, b = best_constant(y, "absolute"), float(optimal_prediction(y, "absolute"))
        same(np.abs(y - a).sum(), np.abs(y - b).sum())


def test_bayes_classifier():
    y = rng.integers(3, size=80)
    X, new = rng.normal(size=(80, 2)) + y[:, None], rng.normal(1, 2, size=(20, 2))
    fast = BayesClassifier().fit(X, y).predict_proba(new)
    same(bayes_classifier(X, y, new), fast, atol=1e-9)
