"""Agents in Gymnasium's worlds: lakes, cliffs, taxis, cars and poles."""

import sys

import numpy as np
import pytest
from agents_shared import book_world, loop_world
from numpy.testing import assert_allclose, assert_array_equal

import pellucid
from pellucid.core.loops.iterate import DivergenceWarning
from pellucid.reinforcement import (
    MDP,
    SARSA,
    AdaptiveDynamicProgramming,
    DeepQNetwork,
    EpsilonGreedy,
    Greedy,
    LinearApproximator,
    MonteCarloLearning,
    OptimisticExploration,
    PolicyGradient,
    QLearning,
    TDLearning,
    TileCoding,
    ValueIteration,
    evaluate_policy,
)

gymnasium = pytest.importorskip("gymnasium")

AGENTS = [SARSA, QLearning, TDLearning, MonteCarloLearning, PolicyGradient, DeepQNetwork]


def greedy_return(env, agent, limit=100):
    """The undiscounted return of the agent's best actions, from the usual start."""
    env = gymnasium.make(env)
    s, _ = env.reset(seed=0)
    total = 0.0
    for _ in range(limit):
        s, r, terminated, truncated, _ = env.step(agent.act(s))
        total += float(r)
        if terminated or truncated:
            break
    return total


def test_example_28_frozen_lake_by_q_learning():
    """U(0) = .5420 at discount .99 on the slippery lake; the simulated table gets near it."""
    mdp = MDP.from_gymnasium("FrozenLake-v1", discount=0.99)
    best = ValueIteration(tol=1e-10).fit(mdp)
    assert best.values_[0] == pytest.approx(0.5420259320, abs=1e-6)
    agent = QLearning(
        discount=0.99, step_size=0.02, exploration=EpsilonGreedy(0.5), n_episodes=60_000,
        random_state=0,
    ).fit(mdp)  # fmt: skip
    agent.set_params(step_size=0.002).partial_fit(mdp)
    assert agent.values_[0] == pytest.approx(best.values_[0], abs=0.04)
    assert mdp.evaluate(agent.policy_)[0] > 0.52


def test_passive_agents_reach_the_planner_on_the_lake():
    """The values of the best policy, by counting, by steps, by windows and by whole returns."""
    mdp = MDP.from_gymnasium("FrozenLake-v1", discount=0.95)
    best = ValueIteration(tol=1e-10).fit(mdp)
    seen = [0, 4, 8, 9, 10, 13, 14]  # where the best policy may get
    rule = {"discount": 0.95, "n_episodes": 20_000, "random_state": 0}
    for agent in (
        AdaptiveDynamicProgramming(best.policy_, **rule | {"n_episodes": 500}),
        TDLearning(best.policy_, step_size=0.002, **rule),
        TDLearning(best.policy_, step_size="1/n", n_steps=8, **rule),
        MonteCarloLearning(best.policy_, **rule),
    ):
        agent.fit(mdp)
        assert_allclose(agent.values_[seen], best.values_[seen], atol=0.03)


def test_active_agents_reach_the_planner_on_the_lake():
    """Counting and Q-learning with an exploration function, SARSA with exploration that fades."""
    mdp = MDP.from_gymnasium("FrozenLake-v1", discount=0.95)
    best = ValueIteration(tol=1e-10).fit(mdp).values_[0]
    rule = {"discount": 0.95, "random_state": 0}
    curious = {"exploration": OptimisticExploration(1.0, 300), "initial_value": 1.0}
    for agent in (
        AdaptiveDynamicProgramming(
            exploration=OptimisticExploration(1.0, 100), n_episodes=1500, plan_every=50, **rule
        ),
        SARSA(step_size=0.02, exploration=EpsilonGreedy(1.0, 0.9999), n_episodes=60_000, **rule),
        QLearning(step_size=0.02, n_episodes=60_000, **curious, **rule),
    ):
        agent.fit(mdp)
        assert mdp.evaluate(agent.policy_)[0] == pytest.approx(best, rel=1e-6)  # it is optimal
        assert agent.values_[0] == pytest.approx(best, rel=0.15)  # and worth what it says


def test_adaptive_dynamic_programming_plans_the_short_path():
    cliff = MDP.from_gymnasium("CliffWalking-v1", discount=1.0)
    agent = AdaptiveDynamicProgramming(
        discount=1.0, exploration=OptimisticExploration(0.0, 1), n_episodes=60, plan_every=20,
        random_state=0,
    ).fit(cliff)  # fmt: skip
    assert agent.values_[36] == -13  # the planner's value, exactly: nothing slips here
    assert greedy_return("CliffWalking-v1", agent) == -13


@pytest.fixture(scope="module")
def cliff():
    """Both agents walk the cliff with a tenth of random moves."""
    mdp = MDP.from_gymnasium("CliffWalking-v1", discount=1.0)
    rule = {"discount": 1.0, "step_size": 0.1, "exploration": EpsilonGreedy(0.1)}
    return [cls(**rule, n_episodes=5000, random_state=0).fit(mdp) for cls in (SARSA, QLearning)]


def test_example_28_q_learning_takes_the_short_path(cliff):
    assert greedy_return("CliffWalking-v1", cliff[1]) == -13


def test_sarsa_takes_the_safe_path_and_fares_better_while_learning(cliff):
    sarsa, q = cliff
    safe = greedy_return("CliffWalking-v1", sarsa)
    assert -25 <= safe < -13
    late = slice(2500, None)
    assert sarsa.history_["return"][late].mean() > q.history_["return"][late].mean() + 10
    row = 3 - np.arange(48) // 12  # how far above the edge each state lies
    state, seen = 36, []
    for _ in range(int(-safe)):
        state = {0: state - 12, 1: state + 1, 2: state + 12, 3: state - 1}[sarsa.act(state)]
        seen.append(state)
    assert row[seen[: len(seen) // 2]].max() >= 2  # not along the edge


def test_an_environment_itself_its_id_and_its_table():
    """Steps through Gymnasium learn the same lake; seeds make them repeatable."""
    options = {"discount": 0.9, "n_episodes": 150, "exploration": EpsilonGreedy(0.3)}
    lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    agent = QLearning(**options, step_size=0.5, initial_value=1.0, random_state=1).fit(lake)
    assert agent.values_[0] == pytest.approx(0.9**5, abs=1e-6)
    again = QLearning(**options, step_size=0.5, initial_value=1.0, random_state=1).fit(lake)
    assert_array_equal(agent.q_, again.q_)
    by_id = [SARSA(n_episodes=10, random_state=2).fit("FrozenLake-v1") for _ in range(2)]
    assert_array_equal(by_id[0].q_, by_id[1].q_)
    table = MDP.from_gymnasium(lake, discount=0.9).to_gymnasium()
    assert TDLearning(n_episodes=5, random_state=0).fit(table).n_states_ == 17
    back = book_world().to_gymnasium()
    planner = AdaptiveDynamicProgramming(
        discount=0.95, n_episodes=200, exploration=OptimisticExploration(2.0, 20), random_state=0
    ).fit(back)
    exact = ValueIteration().fit(book_world())
    assert planner.values_[7] == pytest.approx(exact.values_[7], abs=0.15)


@pytest.mark.parametrize("cls", AGENTS)
def test_goes_on_in_an_environment_from_a_file_with_the_same_bits(cls, tmp_path):
    options = {"max_steps": 30, "random_state": 5}
    whole = cls(n_episodes=14, **options).fit("FrozenLake-v1")
    part = cls(n_episodes=6, **options).fit("FrozenLake-v1")
    pellucid.save(part, tmp_path / "agent.pellucid")
    part = pellucid.load(tmp_path / "agent.pellucid").partial_fit("FrozenLake-v1", n_episodes=8)
    assert_array_equal(part.history_["length"], whole.history_["length"])
    assert_array_equal(part.random_words_, whole.random_words_)


def test_a_truncated_environment_keeps_the_value_of_its_last_state():
    """Gymnasium cuts off after one step; the state is worth 1 / (1 - g) = 2."""
    cut = gymnasium.wrappers.TimeLimit(loop_world().to_gymnasium(), 1)
    agent = QLearning(discount=0.5, n_episodes=300, random_state=0).fit(cut)
    assert agent.history_["length"].max() == 1
    assert agent.values_[0] == pytest.approx(2.0, abs=1e-3)


def test_tuples_of_numbers_become_one_state():
    agent = QLearning(n_episodes=300, random_state=0, discount=1.0).fit("Blackjack-v1")
    assert agent.n_states_ == 32 * 11 * 2
    assert (agent.visits_ > 0).sum() > 100


def test_without_gymnasium_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(ImportError, match=r"pellucid\[rl\]"):
        QLearning().fit("FrozenLake-v1")


def test_vectors_need_features_and_actions_must_be_numbered():
    for cls in (QLearning, TDLearning, PolicyGradient):
        with pytest.raises(ValueError, match="approximator"):
            cls().fit("CartPole-v1")
    with pytest.raises(ValueError, match="numbered to be counted"):
        AdaptiveDynamicProgramming().fit("CartPole-v1")
    with pytest.raises(ValueError, match="must be a function"):
        QLearning(approximator=LinearApproximator(np.eye(3))).fit("CartPole-v1")
    with pytest.raises(ValueError, match="numbered actions"):
        QLearning().fit("Pendulum-v1")


# --- linear approximation ------------------------------------------------------------------------


def test_indicator_features_are_the_table():
    """With one feature per state the semi-gradient is the update of the table."""
    mdp = book_world()
    features = LinearApproximator(np.eye(mdp.n_states))
    for cls, options in (
        (SARSA, {}),
        (QLearning, {}),
        (TDLearning, {}),
        (TDLearning, {"trace_decay": 0.6}),
    ):
        table = cls(n_episodes=40, random_state=0, **options).fit(mdp)
        linear = cls(n_episodes=40, random_state=0, approximator=features, **options).fit(mdp)
        assert_array_equal(linear.history_["return"], table.history_["return"])
        assert_allclose(linear.values_[~mdp.terminal], table.values_[~mdp.terminal], atol=1e-12)
        if cls is not TDLearning:
            assert_array_equal(linear.policy_, table.policy_)
            assert linear.weights_.shape == (4, mdp.n_states)


def test_linear_td_finds_the_fixed_point():
    """Phi' D (r + g P Phi w - Phi w) = 0 with the states' share D of the visits."""
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(5), size=(5, 1))
    mdp = MDP(P, rng.normal(size=(5, 1)), discount=0.8)
    phi = rng.normal(size=(5, 2))
    share = np.linalg.matrix_power(P[:, 0], 200)[0]
    A = phi.T @ (share[:, None] * (phi - 0.8 * P[:, 0] @ phi))
    exact = np.linalg.solve(A, phi.T @ (share * mdp.rewards[:, 0]))
    agent = TDLearning(
        discount=0.8, step_size=lambda n: 20 / (200 + n), approximator=LinearApproximator(phi),
        n_episodes=30, max_steps=1000, random_state=0,
    ).fit(mdp)  # fmt: skip
    assert_allclose(agent.weights_, exact, atol=0.1)


def test_divergence_stops_with_a_sentence():
    """Two states with features 1 and 2, seen only from the first: w grows by each update."""
    mdp = MDP([[[0.0, 1.0]], [[0.0, 1.0]]], [[0.0], [0.0]], start=0, discount=0.99)
    start = LinearApproximator([[1.0], [2.0]], initial=[1.0])
    for cls in (TDLearning, QLearning, SARSA):
        agent = cls(discount=0.99, approximator=start, max_steps=1, n_episodes=5000, random_state=0)
        with pytest.warns(DivergenceWarning, match="grow without bound"):
            agent.fit(mdp)
        assert np.isfinite(agent.weights_).all()
        assert 10 < len(agent.history_) < 1000
    with pytest.raises(ValueError, match="not counted"):
        QLearning(approximator=start, exploration=OptimisticExploration()).fit(mdp)


def test_tiles():
    code = TileCoding([0.0, -1.0], [1.0, 1.0], n_tiles=4, n_tilings=8)
    x = code([0.3, 0.2])
    assert x.shape == (8 * 25,)
    assert x @ x == pytest.approx(1.0)
    assert (x > 0).sum() == 8
    near, far = code([0.31, 0.2]), code([0.9, 0.2])
    assert x @ near > x @ far
    assert_array_equal(code([-5.0, 9.0]), code([0.0, 1.0]))
    with pytest.raises(ValueError, match="ranges for 2 numbers"):
        code([1.0])


def test_mountain_car_by_tiles(tmp_path):
    """-200 is never reaching the top."""
    tiles = TileCoding([-1.2, -0.07], [0.6, 0.07])
    agent = SARSA(
        discount=1.0, step_size=0.5, exploration=Greedy(), approximator=LinearApproximator(tiles),
        n_episodes=120, random_state=0,
    ).fit("MountainCar-v0")  # fmt: skip
    assert agent.history_["return"][-20:].mean() > -170
    assert agent.history_["return"][:10].mean() < -195
    pellucid.save(agent, tmp_path / "car.pellucid")
    loaded = pellucid.load(tmp_path / "car.pellucid")
    states = [[-0.5, 0.01], [0.1, -0.02]]
    assert_array_equal(loaded.predict(states), agent.predict(states))


@pytest.mark.slow
def test_cart_pole_by_tiles():
    tiles = TileCoding([-2.4, -2.0, -0.21, -2.5], [2.4, 2.0, 0.21, 2.5], n_tiles=4, n_tilings=8)
    agent = SARSA(
        discount=0.99, step_size=0.1, exploration=EpsilonGreedy(0.3, 0.98), max_steps=200,
        approximator=LinearApproximator(tiles), n_episodes=130, random_state=0,
    ).fit("CartPole-v1")  # fmt: skip
    assert agent.history_["return"][-30:].mean() > 100


@pytest.mark.slow
def test_deep_q_network_solves_cart_pole():
    """195 of the first version of CartPole, with up to 500 steps."""
    agent = DeepQNetwork(
        (128,), n_episodes=180, target_every=100, exploration=EpsilonGreedy(1.0, 0.97, 0.01),
        replay=pellucid.reinforcement.ReplayBuffer(50_000, 64), random_state=0,
    ).fit("CartPole-v1")  # fmt: skip
    assert evaluate_policy("CartPole-v1", agent.act, n_episodes=30, random_state=0).mean > 195
