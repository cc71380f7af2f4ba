"""Every kind of agent goes on from a model file with the same bits, in each of its variants."""

import numpy as np
import pytest
from agents_shared import book_world

import pellucid
from pellucid.reinforcement import (
    SARSA,
    AdaptiveDynamicProgramming,
    DeepQNetwork,
    DoubleQLearning,
    EpsilonGreedy,
    LinearApproximator,
    MonteCarloLearning,
    OptimisticExploration,
    PolicyGradient,
    QLearning,
    ReplayBuffer,
    TDLearning,
    TileCoding,
)
from pellucid.reinforcement.learning.policies import cumulative_policy
from pellucid.reinforcement.worlds.worlds import Simulation
from pellucid.solvers import InverseScaling, LinearDecay

POLICY = np.array([1, 1, 1, 0, 0, 0, 0, 0, 3, 3, 3])
FADING = EpsilonGreedy(1.0, 0.99, 0.01, half_life=4)
POWER = InverseScaling(1.0, 0.7)
FEATURES = LinearApproximator(np.random.default_rng(0).normal(size=(11, 4)) / 4)
ADP = AdaptiveDynamicProgramming

VARIANTS = {
    "td, schedule": TDLearning(step_size=POWER),
    "td, traces": TDLearning(trace_decay=0.7, step_size=LinearDecay(0.5, 0.01, 50)),
    "td, windows": TDLearning(POLICY, n_steps=3, step_size=POWER),
    "td, features": TDLearning(approximator=FEATURES, trace_decay=0.5, step_size=POWER),
    "td, features, windows": TDLearning(approximator=FEATURES, n_steps=4),
    "monte carlo, every visit": MonteCarloLearning(visits="every"),
    "monte carlo, schedule": MonteCarloLearning(POLICY, step_size=POWER),
    "sarsa, fading": SARSA(step_size=POWER, exploration=FADING),
    "sarsa, windows": SARSA(n_steps=3, step_size="1/n", exploration=FADING),
    "sarsa, features": SARSA(approximator=FEATURES, step_size=POWER),
    "q, optimistic": QLearning(exploration=OptimisticExploration(2.0, 3), step_size="1/n"),
    "q, features": QLearning(approximator=FEATURES, step_size=0.05),
    "double q": DoubleQLearning(step_size=POWER, exploration=FADING),
    "adp, passive": ADP(POLICY),
    "adp, active": ADP(plan_every=7, exploration=OptimisticExploration(2.0, 3)),
    "adp, fading": ADP(plan_every=3, exploration=FADING),
    "reinforce, value": PolicyGradient(baseline="value", learning_rate=0.1),
    "reinforce, features": PolicyGradient(baseline="value", approximator=FEATURES),
    "reinforce, plain": PolicyGradient(baseline=None),
    "deep q": DeepQNetwork((6, 5), replay=ReplayBuffer(60, 8), target_every=7),
}


def parts(value, where=""):
    """Every array and number inside, by where it is."""
    if isinstance(value, np.ndarray | float | int | bool | np.generic):
        yield where, np.asarray(value)
    elif isinstance(value, tuple | list):
        for i, item in enumerate(value):
            yield from parts(item, f"{where}[{i}]")
    elif hasattr(value, "__dict__"):
        for name, item in sorted(vars(value).items()):
            if name not in ("history_", "n_episodes", "_rates", "_work"):
                yield from parts(item, f"{where}.{name}")


def same_bits(one, two):
    left, right = dict(parts(one)), dict(parts(two))
    assert left.keys() == right.keys()
    assert any(name.endswith("random_words_") for name in left)
    for name, value in left.items():
        assert value.dtype == right[name].dtype, name
        assert value.tobytes() == right[name].tobytes(), name
    for column in ("return", "length", "td_error"):
        np.testing.assert_array_equal(one.history_[column], two.history_[column])


@pytest.mark.parametrize("name", list(VARIANTS))
def test_goes_on_with_the_same_bits(name, tmp_path):
    """9 + 1 + 8 episodes with two files between them are 18 episodes."""
    mdp, agent = book_world(), VARIANTS[name].set_params(max_steps=30, random_state=5)
    whole = agent.set_params(n_episodes=18).fit(mdp)
    part = type(agent)(**agent.get_params(deep=False)).set_params(n_episodes=9).fit(mdp)
    for more in (1, 8):
        pellucid.save(part, tmp_path / "agent.pellucid")
        part = pellucid.load(tmp_path / "agent.pellucid").partial_fit(mdp, n_episodes=more)
    same_bits(whole, part)


def test_goes_on_in_an_environment_of_vectors(tmp_path):
    """Tiles over the car's place and speed; a model file holds them by name."""
    pytest.importorskip("gymnasium")
    tiles = LinearApproximator(TileCoding([-1.2, -0.07], [0.6, 0.07], 4, 4))
    for agent in (
        SARSA(approximator=tiles, n_steps=2, step_size=POWER),
        QLearning(approximator=tiles),
        TDLearning(approximator=tiles, trace_decay=0.9),
        PolicyGradient(approximator=tiles, baseline="value"),
        DeepQNetwork((6,), replay=ReplayBuffer(60, 8), target_every=7),
    ):
        agent.set_params(max_steps=25, random_state=1, n_episodes=6)
        whole = type(agent)(**agent.get_params(deep=False)).fit("MountainCar-v0")
        part = agent.set_params(n_episodes=4).fit("MountainCar-v0")
        pellucid.save(part, tmp_path / "agent.pellucid")
        part = pellucid.load(tmp_path / "agent.pellucid").partial_fit(
            "MountainCar-v0", n_episodes=2
        )
        same_bits(whole, part)


TABLES = [name for name in VARIANTS if "features" not in name and "deep" not in name]


@pytest.mark.parametrize("name", TABLES)
def test_compiled_runs_equal_single_steps(name):
    """The compiled loop against the steps that environments of Gymnasium take: the same bits.

    Plans may differ in the last bits: sums are taken in another order.
    """
    mdp = book_world()
    agent = VARIANTS[name].set_params(max_steps=30, random_state=3, n_episodes=15)
    fast = type(agent)(**agent.get_params(deep=False)).fit(mdp)
    slow, chances = type(agent)(**agent.get_params(deep=False)), None
    if isinstance(agent, TDLearning | MonteCarloLearning):
        chances = cumulative_policy(agent.policy, Simulation(mdp))
    walk = slow._walk

    def single(place, first, stop, budget):
        if isinstance(agent, PolicyGradient):
            return walk(place)
        return walk(place, first if chances is None else chances)

    slow.__dict__["_episodes"] = single
    slow.fit(mdp)
    del slow.__dict__["_episodes"]
    np.testing.assert_array_equal(fast.random_words_, slow.random_words_)
    for column in ("return", "length"):
        np.testing.assert_array_equal(fast.history_[column], slow.history_[column])
    for one, two in zip(parts(fast), parts(slow), strict=True):
        assert one[0] == two[0]
        np.testing.assert_allclose(one[1], two[1], rtol=1e-13, atol=1e-13)


def test_step_sizes_and_half_lives_that_are_none_are_refused():
    mdp = book_world()
    for cls in (QLearning, TDLearning, MonteCarloLearning):
        agent = cls(step_size=lambda n: 0.5 if n < 5 else 0.0, n_episodes=50, random_state=0)
        with pytest.raises(ValueError, match=r"step_size\(5\) must be a number > 0, got 0.0"):
            agent.fit(mdp)
        far = cls(step_size=lambda n: 0.5 if n < 900 else -1.0, n_episodes=5, random_state=0)
        assert far.fit(mdp).visits_.max() < 900  # asked for, not used
    with pytest.raises(ValueError, match="half_life must be > 0"):
        SARSA(exploration=EpsilonGreedy(half_life=0.0)).fit(mdp)
    with pytest.raises(ValueError, match="without half_life"):
        SARSA(approximator=FEATURES, exploration=FADING).fit(mdp)
    with pytest.raises(ValueError, match="without half_life"):
        DeepQNetwork(exploration=FADING).fit(mdp)


def test_a_schedule_that_is_changed_is_asked_again():
    """Its parameters are settings of the agent; 1/n is the power 1."""
    mdp, options = book_world(), {"n_episodes": 20, "random_state": 0}
    agent = SARSA(step_size=InverseScaling(1.0, 0.6), **options).fit(mdp)
    agent.set_params(step_size__power=1.0).fit(mdp)
    np.testing.assert_array_equal(agent.q_, SARSA(step_size="1/n", **options).fit(mdp).q_)
    for function in (lambda n: 1 / n, lambda n: 2 / (n + 1)):
        SARSA(step_size=function, **options).fit(mdp)
