"""Deep Q-networks and policy gradients: derivatives, replay, ascent."""

import numpy as np
import pytest
from agents_shared import book_world, loop_world
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.neural import Dense, Network, SquaredError
from pellucid.reinforcement import (
    MDP,
    DeepQNetwork,
    EpsilonGreedy,
    LinearApproximator,
    OptimisticExploration,
    PolicyGradient,
    ReplayBuffer,
    ValueIteration,
    grid_world,
)
from pellucid.reinforcement.approximation.replay import draw, empty_memory, remember
from pellucid.reinforcement.approximation.value_network import ValueNetwork

# --- the network -----------------------------------------------------------------------------


def test_gradient_is_that_of_the_network_family():
    rng = np.random.default_rng(0)
    net = ValueNetwork(3, 2, (5, 4), random_state=0)
    X, a, y = rng.normal(size=(7, 3)), rng.integers(2, size=7), rng.normal(size=7)
    layers = [Dense(5), Dense(4), Dense(2, "identity")]
    twin = Network(layers, loss=SquaredError(half=False), n_inputs=3, random_state=0)
    wanted = twin.predict(X)
    assert_allclose(net.values(X), wanted, rtol=1e-14)
    wanted[np.arange(7), a] = y
    loss, slope = net.gradient(X, a, y)
    assert loss == pytest.approx(twin.loss_value(X, wanted))
    assert_allclose(slope, twin.gradients(X, wanted).vector, atol=1e-14)


def test_network_copies():
    one, two = (ValueNetwork(2, 2, (3,), random_state=s) for s in (0, 1))
    x = np.ones((1, 2))
    assert not np.array_equal(one.values(x), two.values(x))
    two.copy_from(one)
    assert_array_equal(one.values(x), two.values(x))
    one.update(x, np.array([0]), np.array([5.0]))
    assert not np.array_equal(one.values(x), two.values(x))
    with pytest.raises(ValueError, match="same sizes"):
        two.copy_from(ValueNetwork(2, 2, (4,)))


def test_memory_is_a_ring():
    memory = empty_memory(600, 1)
    for i in range(1000):
        memory = remember(memory, np.array([i]), i % 2, float(i), np.array([i + 1]), i % 10 == 9)
    assert memory.size[0] == len(memory.reward) == 600
    assert_array_equal(np.sort(memory.reward), np.arange(400, 1000))
    words = np.array([1, 2], np.uint64)
    rows = np.concatenate([draw(memory, 60, words) for _ in range(100)])
    assert np.bincount(rows, minlength=600).max() < 30
    assert len(np.unique(rows)) > 590


# --- the agent -------------------------------------------------------------------------------


def test_deep_q_network_reaches_the_planner_on_a_small_world():
    mdp = grid_world(["..+", "S#-"], slip=0.0, discount=0.9)
    best = ValueIteration().fit(mdp)
    agent = DeepQNetwork(
        (32,), discount=0.9, n_episodes=250, target_every=50, max_steps=50,
        exploration=EpsilonGreedy(1.0, 0.99, 0.1), random_state=0,
    ).fit(mdp)  # fmt: skip
    live = ~mdp.terminal
    assert_array_equal(agent.policy_[[0, 1, 3]], best.policy_[[0, 1, 3]])
    assert np.abs(agent.values_ - best.values_)[live].max() < 0.1
    assert agent.q_.shape == (mdp.n_states, 4)


def test_truncation_keeps_the_value_after_it():
    agent = DeepQNetwork(
        (4,), discount=0.5, n_episodes=1500, max_steps=1, target_every=20, random_state=0
    ).fit(loop_world())
    assert agent.values_[0] == pytest.approx(2.0, abs=0.1)


class OwnNetwork:
    """Any object with values, update and copy_from: here a table behind indicator vectors."""

    def __init__(self, n_states, n_actions):
        self.table = np.zeros((n_states, n_actions))

    def values(self, states):
        return states @ self.table

    def update(self, states, actions, targets):
        rows = states.argmax(axis=1)
        error = targets - self.table[rows, actions]
        np.add.at(self.table, (rows, actions), 0.1 * error)
        return float((error**2).mean())

    def copy_from(self, other):
        self.table = other.table.copy()


def test_a_network_of_ones_own():
    mdp = grid_world(["S.+"], slip=0.0, discount=0.9)
    given = OwnNetwork(3, 4)
    agent = DeepQNetwork(
        given, discount=0.9, n_episodes=100, target_every=20,
        replay=ReplayBuffer(500, 8), random_state=0,
    ).fit(mdp)  # fmt: skip
    assert_allclose(agent.values_[:2], ValueIteration().fit(mdp).values_[:2], atol=1e-3)
    assert not given.table.any()  # it was copied


def test_single_steps_of_the_network_agent():
    agent = DeepQNetwork((4,), replay=ReplayBuffer(10, 2), random_state=0).reset(2, 2)
    before = agent.q_
    error = agent.update(0, 1, 3.0, 1, terminated=True)
    assert error == pytest.approx(3.0 - before[0, 1])
    for _ in range(2000):
        agent.update(0, 1, 3.0, 1, terminated=True)
    assert agent.q_[0, 1] == pytest.approx(3.0, abs=0.01)


def test_bad_settings_of_the_network_agent():
    with pytest.raises(ValueError, match="batch_size must be at most"):
        DeepQNetwork(replay=ReplayBuffer(4, 8)).fit(loop_world())
    with pytest.raises(TypeError, match="ReplayBuffer"):
        DeepQNetwork(replay=100).fit(loop_world())
    with pytest.raises(TypeError, match="values, update and"):
        DeepQNetwork(network="large").fit(loop_world())
    with pytest.raises(ValueError, match="counts no states"):
        DeepQNetwork(exploration=OptimisticExploration()).fit(loop_world())
    with pytest.raises(ValueError, match="hidden"):
        DeepQNetwork((0,)).fit(loop_world())


# --- policy gradient -------------------------------------------------------------------------


def utility_of(mdp, h):
    top = np.exp(h - h.max(axis=1, keepdims=True))
    return mdp.start @ mdp.evaluate(top / top.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("baseline", [None, "mean", "value"])
def test_expected_step_is_the_gradient_of_the_utility(baseline):
    """Against central differences of the exact value, over many episodes from one policy."""
    rng = np.random.default_rng(1)
    P = rng.dirichlet(np.ones(4), size=(4, 2))
    mdp = MDP(P, rng.normal(size=(4, 2)), terminal=[3], start=0, discount=0.9)
    h = rng.normal(size=(4, 2)) * 0.3
    exact = np.empty_like(h)
    for i in np.ndindex(h.shape):
        move = np.zeros_like(h)
        move[i] = 1e-5
        exact[i] = (utility_of(mdp, h + move) - utility_of(mdp, h - move)) / 2e-5
    agent = PolicyGradient(
        discount=0.9, learning_rate=1e-9, baseline=baseline, n_episodes=40_000, random_state=0
    )
    agent.reset(4, 2)
    agent.allowed_ = np.repeat(~mdp.terminal, 2).reshape(4, 2)
    agent.preferences_[:] = h
    agent.partial_fit(mdp)
    step = (agent.preferences_ - h) / 1e-9 / 40_000
    assert_allclose(step, exact, atol=0.05)
    assert np.abs(exact).max() > 0.2


def test_bad_returns_lower_the_probability_of_what_was_done():
    agent = PolicyGradient(learning_rate=0.5, baseline=None).reset(2, 3)
    before = agent.predict_proba([0])[0]
    agent.update(0, 1, -1.0, 1, terminated=True)
    after = agent.predict_proba([0])[0]
    assert after[1] < before[1]
    assert after[0] > before[0]
    agent.update(0, 2, 1.0, 1)
    agent.end_episode()
    assert agent.predict_proba([0])[0, 2] > after[2]


def test_policy_gradient_finds_the_way():
    mdp = book_world(slip=0.0)
    agent = PolicyGradient(
        discount=0.95, learning_rate=0.3, baseline="value", n_episodes=20_000, random_state=0
    ).fit(mdp)
    best = ValueIteration().fit(mdp)
    found = mdp.start @ mdp.evaluate(agent.probabilities_ + 0.0)
    assert found > mdp.start @ best.values_ - 0.15
    first = agent.history_["return"][:20].mean()
    assert agent.history_["return"][-500:].mean() > first + 0.3


def test_the_value_of_features_steps_towards_each_return():
    agent = PolicyGradient(
        learning_rate=0.1, baseline="value", approximator=LinearApproximator(np.eye(2))
    ).reset(2, 2)
    for reward in (4.0, 1.0):
        agent.update(0, 1, reward, 1, terminated=True)
    assert_allclose(agent.value_weights_, [0.4 + 0.1 * (1.0 - 0.4), 0.0])
    assert "the value, a line in the features" in " ".join(str(agent.card()).split())


def test_policy_gradient_with_features():
    """Indicator features are the table; a pole is balanced by its numbers."""
    mdp = book_world()
    table = PolicyGradient(learning_rate=0.1, n_episodes=30, random_state=0).fit(mdp)
    linear = PolicyGradient(
        learning_rate=0.1, n_episodes=30, random_state=0,
        approximator=LinearApproximator(np.eye(mdp.n_states)),
    ).fit(mdp)  # fmt: skip
    assert_allclose(linear.weights_.T, table.preferences_, atol=1e-12)
    gymnasium = pytest.importorskip("gymnasium")
    agent = PolicyGradient(
        learning_rate=0.02, n_episodes=200, max_steps=200, random_state=0,
        approximator=LinearApproximator(_numbers),
    ).fit(gymnasium.make("CartPole-v1"))  # fmt: skip
    returns = agent.history_["return"]
    assert returns[-40:].mean() > returns[:20].mean() + 30


def _numbers(observation):
    return np.append(observation, 1.0)
