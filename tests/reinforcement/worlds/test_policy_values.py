"""What a policy is worth: linear, by sweeps, by following it; utilities; advice."""

import itertools

import numpy as np
import pytest
from random_mdps import random_mdp

from pellucid.reinforcement import (
    MDP,
    PolicyIteration,
    ValueIteration,
    agent_advice,
    evaluate_policy,
    grid_world,
    policy_evaluation,
    utility,
)
from pellucid.study import advise

STAY_GO = [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]


@pytest.mark.parametrize("S", [12, 300])  # dense and sparse solves
@pytest.mark.parametrize("form", ["state", "action", "outcome"])
def test_linear_and_iterative_solve_the_equation(form, S):
    mdp = random_mdp(1, S=S, form=form, blocked=False, discount=0.95)
    rng = np.random.default_rng(0)
    mixed = rng.dirichlet(np.ones(3), size=S)
    mixed[:, 1] = 0
    mixed /= mixed.sum(axis=1, keepdims=True)
    for policy in (rng.integers(3, size=S), mixed):
        table = np.eye(3)[policy] if policy.ndim == 1 else policy
        U = policy_evaluation(mdp, policy)
        right = (table * mdp.q_values(U)).sum(axis=1)
        np.testing.assert_allclose(U, right, atol=1e-11)
        np.testing.assert_allclose(policy_evaluation(mdp, policy, method="iterative"), U, atol=1e-8)
        np.testing.assert_array_equal(mdp.evaluate(policy), U)


def test_a_policy_sums_its_series():
    """U = r + g P r + g^2 P^2 r + ...: the definition."""
    mdp = random_mdp(2, blocked=False, ends=0, discount=0.5)
    P, r = mdp.transitions.toarray()[::3], mdp.rewards[:, 0]
    U = sum(0.5**t * np.linalg.matrix_power(P, t) @ r for t in range(60))
    np.testing.assert_allclose(mdp.evaluate(np.zeros(12, int)), U)


@pytest.mark.parametrize("method", ["linear", "iterative"])
def test_infinite_values_raise(method):
    mdp = grid_world(["S.+"], slip=0.0)
    with pytest.raises(ValueError, match=r"from state \(0, 0\) it never ends and collects -0.04"):
        policy_evaluation(mdp, [3, 3, 0], method=method)
    alternate = MDP(STAY_GO, [[1, 1], [-1, -1]], discount=1.0)  # +1 -1 +1 ...: no value either
    with pytest.raises(ValueError, match="no finite value"):
        policy_evaluation(alternate, [1, 1], method=method)


@pytest.mark.parametrize("method", ["linear", "iterative"])
def test_endless_but_unpaid_is_worth_nothing(method):
    """A walk may fall into a corner that pays nothing, or end: both count."""
    P = [[[0, 0.5, 0.5, 0]], [[0, 0, 0, 1]], [[0, 0, 1, 0]], [[0, 1, 0, 0]]]
    mdp = MDP(P, [[-1], [0], [0], [0]], discount=1.0, terminal=[2])
    np.testing.assert_allclose(policy_evaluation(mdp, [0] * 4, method=method), [-1, 0, 0, 0])


def test_policies_are_refused_in_one_sentence():
    mdp = MDP([[[0, 0], [1, 0]], [[0, 1], [1, 0]]], [1, 2], states=["a", "b"])
    for policy, sentence in [
        ([0, 0], "takes action 0 in state 'a', where it is not available"),
        ([[0.5, 0.5], [1, 0]], "not available"),
        ([[0.0, 0.9], [1, 0]], "state 'a' must be probabilities that sum to 1"),
        ([1, 2], "must be 0 to 1, got 2"),
        ([0.5, 1], "2 whole numbers"),
        ([1], "2 whole numbers"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            policy_evaluation(mdp, policy)
    with pytest.raises(ValueError, match="did you mean 'linear'"):
        policy_evaluation(mdp, [1, 0], method="lineer")


def test_utilities():
    """Additive, discounted, cut off; endless rewards with a horizon."""
    assert utility([1, 2, 3]) == 6
    np.testing.assert_allclose(utility([1, 2, 3], discount=0.9), 1 + 1.8 + 2.43)
    assert utility([1, 2, 3], discount=0.5, horizon=2) == 2
    assert utility([1, 2, 3], horizon=0) == 0
    assert utility([5, 7], discount=0) == 5
    assert utility(itertools.repeat(1.0), discount=0.5, horizon=3) == 1.75
    assert utility([]) == 0
    for keywords, sentence in [({"discount": 1.5}, "between 0 and 1"), ({"horizon": -1}, ">= 0")]:
        with pytest.raises(ValueError, match=sentence):
            utility([1], **keywords)
    with pytest.raises(ValueError, match="finite numbers"):
        utility([1, np.nan])


def test_following_a_policy_estimates_its_utility():
    mdp = grid_world(["...+", ".#.-", "S..."], discount=0.9)
    best = PolicyIteration(random_state=0).fit(mdp)
    U = best.values_[mdp.index((2, 0))]
    forms = [best.policy_, np.eye(4)[best.policy_], best, best.act]
    found = [evaluate_policy(mdp, p, n_episodes=2000, discount=0.9, random_state=0) for p in forms]
    for one in found:
        np.testing.assert_array_equal(one.returns, found[0].returns)
    one = found[0]
    assert abs(one.mean - U) < 4 * one.standard_error
    np.testing.assert_allclose(one.standard_error, one.returns.std(ddof=1) / np.sqrt(2000))
    assert one.interval[0] < one.mean < one.interval[1]
    assert one.lengths.min() >= 4


def test_gymnasium_gives_the_same_answer_as_the_table():
    """FrozenLake: the share of successful episodes, by its own simulator and by ours."""
    lake = MDP.from_gymnasium("FrozenLake-v1", discount=0.99)
    best = ValueIteration(tol=1e-10).fit(lake)
    theirs = evaluate_policy("FrozenLake-v1", best, n_episodes=300, random_state=0)
    ours = evaluate_policy(lake, best, n_episodes=5000, max_steps=100, random_state=0)
    gap = np.hypot(theirs.standard_error, ours.standard_error)
    assert abs(theirs.mean - ours.mean) < 4 * gap
    table = np.eye(4)[best.policy_]
    mixed = evaluate_policy("FrozenLake-v1", table, n_episodes=5, random_state=1)
    whole = evaluate_policy("FrozenLake-v1", best.policy_, n_episodes=5, random_state=1)
    assert mixed.returns.shape == whole.returns.shape == (5,)


def test_example_28_cliff_walking_greedy_return():
    cliff = MDP.from_gymnasium("CliffWalking-v1", discount=1.0)
    best = ValueIteration().fit(cliff)
    found = evaluate_policy("CliffWalking-v1", best, n_episodes=2, random_state=0)
    assert found.returns.tolist() == [-13, -13]


def test_evaluation_refusals():
    mdp = grid_world(["S+"])
    with pytest.raises(ValueError, match="n_episodes must be a whole number >= 2"):
        evaluate_policy(mdp, [1, 0], n_episodes=1)
    with pytest.raises(ValueError, match="policy must be an action per state"):
        evaluate_policy("FrozenLake-v1", [[0.5, 0.4]])
    with pytest.raises(ValueError, match="Gymnasium environment or its id, got list"):
        evaluate_policy([1], [1])


def test_advice_is_the_table_of_the_study():
    known = agent_advice(grid_world(["S+"]))
    assert [line.choice for line in known] == ["value or policy iteration"]
    assert agent_advice("FrozenLake-v1") == known  # its table is known
    cards = agent_advice("Blackjack-v1")
    assert "SARSA or Q-learning" in str(cards[0])
    fixed = agent_advice("CartPole-v1", policy=lambda state: 0)
    assert [line.choice.split()[0] for line in fixed] == ["adaptive", "function"]
    every = {line.choice for line in advise(kind="control", n_rows=1, n_columns=1)}
    assert {line.choice for line in [*known, *cards, *fixed]} <= every
    with pytest.raises(ValueError, match="problem must be an MDP"):
        agent_advice(3)
