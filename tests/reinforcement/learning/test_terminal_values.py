"""U(terminal) = R(terminal) for learners as for planners."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pellucid import load, save
from pellucid.reinforcement import (
    MDP,
    SARSA,
    AdaptiveDynamicProgramming,
    DoubleQLearning,
    LinearApproximator,
    MonteCarloLearning,
    PolicyIteration,
    QLearning,
    TDLearning,
    ValueIteration,
    grid_world,
)

AGENTS = {
    "adp": AdaptiveDynamicProgramming(n_episodes=5, random_state=0),
    "passive adp": AdaptiveDynamicProgramming([1, 1, 0, 0], n_episodes=5, random_state=0),
    "q": QLearning(n_episodes=5, random_state=0),
    "optimistic q": QLearning(n_episodes=5, initial_value=3.0, random_state=0),
    "double q": DoubleQLearning(n_episodes=5, random_state=0),
    "sarsa": SARSA(n_episodes=5, random_state=0),
    "td": TDLearning([1, 1, 0, 0], n_episodes=5, random_state=0),
    "td traces": TDLearning([1, 1, 0, 0], n_episodes=5, trace_decay=0.8, random_state=0),
    "td line": TDLearning(
        [1, 1, 0, 0], n_episodes=5, random_state=0, approximator=LinearApproximator(np.eye(4))
    ),
    "monte carlo": MonteCarloLearning(
        [1, 1, 0, 0], n_episodes=5, initial_value=2.0, random_state=0
    ),
}


def world(discount=0.9):
    return grid_world(["..+", "##-"], slip=0.1, discount=discount)


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
@pytest.mark.parametrize("discount", [0.9, 1.0])
def test_every_learner_ends_as_the_planner_does(agent, discount):
    mdp = world(discount)
    plan = ValueIteration().fit(mdp)
    assert_array_equal(plan.values_[mdp.terminal], [1.0, -1.0])
    assert_array_equal(PolicyIteration().fit(mdp).values_[mdp.terminal], [1.0, -1.0])
    agent.fit(mdp)
    assert_array_equal(agent.values_[mdp.terminal], plan.values_[mdp.terminal])
    if hasattr(agent, "q_"):
        assert_array_equal(agent.q_[mdp.terminal], plan.q_[mdp.terminal])


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_rewards_of_moves_leave_nothing_for_the_end(agent):
    """With R(s, a) the end itself is worth 0, for the planner and for the learners."""
    P = np.zeros((4, 2, 4))
    P[0, :, 1] = P[1, 1, 2] = P[1, 0, 3] = 1
    mdp = MDP(P, [[1.0, 2], [3, 4], [0, 0], [0, 0]], terminal=[2, 3], discount=0.9, start=0)
    agent.fit(mdp)
    assert_array_equal(agent.values_[2:], ValueIteration().fit(mdp).values_[2:])
    assert_array_equal(agent.values_[2:], 0)


def test_values_before_the_end_are_learned_as_before():
    """The worth of the end reaches the other states through the rewards, once."""
    mdp = grid_world(["..+"], slip=0.0, discount=0.9, step_reward=-0.04)
    plan = ValueIteration().fit(mdp).values_
    agent = QLearning(n_episodes=3000, step_size=0.5, random_state=0).fit(mdp)
    np.testing.assert_allclose(agent.values_, plan, atol=1e-6)
    passive = TDLearning([1, 1, 0], n_episodes=300, step_size=0.5, random_state=0).fit(mdp)
    np.testing.assert_allclose(passive.values_, plan, atol=1e-6)
    returns = MonteCarloLearning([1, 1, 0], n_episodes=10, random_state=0).fit(mdp)
    np.testing.assert_allclose(returns.values_, plan, atol=1e-12)


def test_the_end_stays_known_after_save_and_load(tmp_path):
    agent = QLearning(n_episodes=5, random_state=0).fit(world())
    save(agent, tmp_path / "agent")
    again = load(tmp_path / "agent")
    assert_array_equal(again.values_, agent.values_)
    assert_array_equal(again.partial_fit(world()).values_[world().terminal], [1.0, -1.0])
