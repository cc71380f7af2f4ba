"""A deep Q-network on PyTorch: the agent with ``pellucid.deep.QNetwork`` on CartPole."""

import numpy as np
import pytest
from estimators import DEEP, DEEP_REASON
from numpy.testing import assert_array_equal

import pellucid

if not DEEP:
    pytest.skip(DEEP_REASON, allow_module_level=True)

from pellucid.deep import QNetwork, Training
from pellucid.reinforcement import (
    DeepQNetwork,
    EpsilonGreedy,
    ReplayBuffer,
    ValueIteration,
    evaluate_policy,
    grid_world,
)

pytest.importorskip("gymnasium")


def agent_with(hidden, *, n_episodes, **options):
    network = QNetwork(2, hidden, training=Training(learning_rate=1e-3), random_state=0)
    return DeepQNetwork(network, n_episodes=n_episodes, random_state=0, **options)


def test_goes_on_from_a_file_with_the_same_bits(tmp_path):
    """Weights, the state of Adam, the replayed steps and the target network are all kept."""
    options = {"target_every": 30, "replay": ReplayBuffer(500, 16)}
    whole = agent_with((16,), n_episodes=12, **options).fit("CartPole-v1")
    part = agent_with((16,), n_episodes=5, **options).fit("CartPole-v1")
    pellucid.save(part, tmp_path / "agent.pellucid")
    part = pellucid.load(tmp_path / "agent.pellucid").partial_fit("CartPole-v1", n_episodes=7)
    assert_array_equal(part.history_["return"], whole.history_["return"])
    assert_array_equal(part.history_["td_error"], whole.history_["td_error"])
    states = np.random.default_rng(0).normal(size=(20, 4))
    one, two = (agent.networks_.online.values(states) for agent in (part, whole))
    assert_array_equal(one, two)


def test_reaches_the_planner_on_a_small_world():
    mdp = grid_world(["..+", "S#-"], slip=0.0, discount=0.9)
    best = ValueIteration().fit(mdp)
    network = QNetwork(4, (32,), dueling=True, random_state=0)
    agent = DeepQNetwork(
        network, discount=0.9, n_episodes=200, target_every=50, max_steps=50,
        exploration=EpsilonGreedy(1.0, 0.99, 0.1), random_state=0,
    ).fit(mdp)  # fmt: skip
    assert_array_equal(agent.policy_[[0, 1, 3]], best.policy_[[0, 1, 3]])
    assert np.abs(agent.values_ - best.values_)[~mdp.terminal].max() < 0.1


@pytest.mark.slow
def test_solves_cart_pole():
    """195 of the first version of CartPole, with up to 500 steps."""
    agent = agent_with(
        (128,), n_episodes=300, target_every=100, exploration=EpsilonGreedy(1.0, 0.97, 0.01),
        replay=ReplayBuffer(50_000, 64),
    ).fit("CartPole-v1")  # fmt: skip
    assert evaluate_policy("CartPole-v1", agent.act, n_episodes=30, random_state=0).mean > 195
