"""Agents compared over seeds: the test, the intervals, the curves."""

from itertools import product

import numpy as np
import pytest
from agents_shared import book_world, loop_world
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from pellucid.evaluation.hypotheses.multiple import adjust_p_values
from pellucid.reinforcement import (
    MDP,
    SARSA,
    AdaptiveDynamicProgramming,
    EpsilonGreedy,
    OptimisticExploration,
    QLearning,
    TDLearning,
    compare_agents,
)
from pellucid.reinforcement.comparing import flip_test, holm, mean_limits


def test_flip_test_against_every_sign_written_out():
    d = np.random.default_rng(0).normal(0.5, 1.0, size=7)
    means = [abs(np.dot(signs, d)) for signs in product((-1, 1), repeat=7)]
    assert flip_test(d) == pytest.approx(np.mean(np.array(means) >= abs(d.sum()) - 1e-12))
    scipys = stats.permutation_test(
        (d, np.zeros(7)), lambda a, b: np.mean(a - b), permutation_type="samples",
        n_resamples=np.inf,
    ).pvalue  # fmt: skip
    assert flip_test(d) == pytest.approx(scipys)
    assert flip_test(np.zeros(5)) == 1.0
    many = np.random.default_rng(1).normal(0.4, 1.0, size=30)
    assert flip_test(many) == pytest.approx(stats.ttest_1samp(many, 0).pvalue, abs=0.03)


def test_flip_test_holds_its_level():
    rng = np.random.default_rng(0)
    p = [flip_test(rng.standard_t(2, size=8)) for _ in range(600)]
    assert np.mean(np.array(p) <= 0.05) < 0.075


def test_correction_and_interval():
    p = np.random.default_rng(0).random(6) ** 3
    assert_allclose(holm(p), adjust_p_values(p, "holm"))
    x = np.random.default_rng(0).normal(size=9)
    low, high = mean_limits(x, 0.95)
    assert_allclose((low, high), stats.t.interval(0.95, 8, x.mean(), stats.sem(x)))


def test_sarsa_against_q_learning_on_the_cliff():
    """A difference that is there is found; curves, bands and scores fit together."""
    pytest.importorskip("gymnasium")
    mdp = MDP.from_gymnasium("CliffWalking-v1", discount=1.0)
    rule = {"discount": 1.0, "step_size": 0.1, "exploration": EpsilonGreedy(0.1), "n_episodes": 800}
    found = compare_agents({"sarsa": SARSA(**rule), "q": QLearning(**rule)}, mdp, n_seeds=8)
    (difference,) = found.differences
    assert difference.mean > 5
    assert difference.low > 0
    assert difference.p_value == difference.adjusted == 2 / 2**8
    assert found.returns.shape == (2, 8, 800)
    assert_allclose(found.mean, found.returns.mean(axis=1))
    assert (found.low <= found.mean).all()
    assert (found.mean <= found.high).all()
    assert_allclose(found.final, found.returns[:, :, -80:].mean(axis=2))
    assert "sarsa - q" in str(found)
    again = compare_agents({"sarsa": SARSA(**rule), "q": QLearning(**rule)}, mdp, n_seeds=8)
    assert_array_equal(found.returns, again.returns)


def test_the_same_agent_twice_does_not_differ():
    agents = {"one": QLearning(n_episodes=60), "two": QLearning(n_episodes=60)}
    found = compare_agents(agents, book_world(), n_seeds=4)
    assert found.differences[0].p_value == 1.0
    assert_array_equal(found.final[0], found.final[1])


def test_adp_needs_fewer_steps_than_td():
    """Dear steps but few: after the same 30 episodes its values are nearer."""
    mdp = book_world(discount=0.9)
    policy = np.array([1, 1, 1, 0, 0, 0, 0, 0, 3, 3, 3])
    exact = mdp.evaluate(policy)
    gaps = []
    for cls in (AdaptiveDynamicProgramming, TDLearning):
        agent = cls(policy, discount=0.9, n_episodes=30, random_state=0).fit(mdp)
        gaps.append(np.abs(agent.values_ - exact)[~mdp.terminal].mean())
    assert gaps[0] < 0.5 * gaps[1]


def test_three_agents_and_bad_input():
    agents = {
        "q": QLearning(n_episodes=20), "sarsa": SARSA(n_episodes=20),
        "adp": AdaptiveDynamicProgramming(
            exploration=OptimisticExploration(1.0, 3), n_episodes=20
        ),
    }  # fmt: skip
    found = compare_agents(agents, book_world(), n_seeds=3)
    assert len(found.differences) == 3
    assert all(d.adjusted >= d.p_value for d in found.differences)
    with pytest.raises(ValueError, match="same n_episodes"):
        compare_agents({"a": QLearning(), "b": SARSA(n_episodes=3)}, loop_world())
    with pytest.raises(ValueError, match="n_seeds"):
        compare_agents({"a": QLearning()}, loop_world(), n_seeds=1)
    with pytest.raises(TypeError, match="must be an agent"):
        compare_agents({"a": 3}, loop_world())
    with pytest.raises(TypeError, match="a dict"):
        compare_agents([QLearning()], loop_world())


def fair_world():
    """Heads or tails: both actions pay 1 with probability 1/2, by opposite outcomes of one draw."""
    P, R = np.zeros((3, 2, 3)), np.zeros((3, 2, 3))
    P[0, :, 1:] = 0.5
    R[0, 0, 1] = R[0, 1, 2] = 1.0
    return MDP(P, R, terminal=[1, 2], start=0)


@pytest.mark.slow
def test_agents_that_are_equally_good_seldom_differ():
    """The level holds for one pair and, corrected, for all three; intervals cover the truth 0."""
    agents = {
        "q": QLearning(n_episodes=20), "sarsa": SARSA(n_episodes=20, step_size=0.5),
        "random": QLearning(n_episodes=20, exploration=EpsilonGreedy(1.0)),
    }  # fmt: skip
    runs, single, family, covered = 300, 0, 0, 0
    for seed in range(runs):
        found = compare_agents(agents, fair_world(), n_seeds=8, last=0.5, random_state=seed)
        pair = found.differences[1]  # q and random; q and sarsa mostly do the same
        single += pair.p_value <= 0.05
        covered += pair.low <= 0 <= pair.high
        family += min(d.adjusted for d in found.differences) <= 0.05
    limit = runs * 0.05 + 3 * np.sqrt(runs * 0.05 * 0.95)
    assert 0 < single < limit
    assert family < limit
    assert covered > runs - limit
