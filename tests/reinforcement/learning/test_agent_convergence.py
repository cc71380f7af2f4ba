"""Every agent against the planner: the largest error over all states that can be reached.

In each line of the tables stand the bound and, beside it, the error that was measured. Values range
over 0.6 on the grid and the lake, 13 on the cliff and 23 for the taxi (20 to 28 for the policies
with random moves). Nothing is random in the last two but the agent: model learning and Q-learning
get them exactly.
"""

from functools import cache

import numpy as np
import pytest
from agents_shared import best_pairs, book_world, everywhere, reachable, soft_policy
from numpy.testing import assert_allclose

from pellucid.reinforcement import (
    MDP,
    SARSA,
    AdaptiveDynamicProgramming,
    EpsilonGreedy,
    OptimisticExploration,
    QLearning,
    TDLearning,
)
from pellucid.solvers import InverseScaling

pytest.importorskip("gymnasium")

GYMNASIUM = {"lake": ("FrozenLake-v1", 0.95), "cliff": ("CliffWalking-v1", 1.0),
             "taxi": ("Taxi-v4", 0.95)}  # fmt: skip


@cache
def world(name):
    """The 4 x 3 grid from any cell; the others from Gymnasium's own starts."""
    if name == "grid":
        return everywhere(book_world(0.95))
    env, discount = GYMNASIUM[name]
    return MDP.from_gymnasium(env, discount=discount)


@cache
def planned(name, epsilon=0.0):
    """The planner's Q; with so many random moves ever after."""
    return best_pairs(world(name), epsilon)


def power(w):
    return InverseScaling(1.0, w)


def fitted(agent, name, *, spread=False):
    mdp = world(name)
    agent.set_params(discount=mdp.discount, random_state=0)
    return agent.fit(everywhere(mdp) if spread else mdp)


def errors(agent, exact, name):
    """The largest errors of the values: over all states that can be reached, and at the starts."""
    gap = np.abs(agent.values_ - exact)
    return gap[reachable(world(name))].max(), gap[world(name).start > 0].max()


def lost(agent, name):
    """What the agent's best actions lose, for each state that can be reached: 0 if optimal."""
    mdp, q = world(name), planned(name)
    taken = np.take_along_axis(q, agent.policy_[:, None], 1)[:, 0]
    if (q.max(axis=1) - taken)[reachable(mdp)].max() < 1e-6:
        return np.zeros(mdp.n_states)  # every action is a best one
    return np.where(reachable(mdp), q.max(axis=1) - mdp.evaluate(agent.policy_), 0.0)


# --- the values of a policy ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "epsilon", "w", "n_episodes", "bound", "at_start"),
    [
        ("grid", 0.3, 0.8, 50_000, 0.025, 0.025),  # 0.0096
        ("lake", 0.3, 0.8, 100_000, 0.01, 0.003),  # 0.0039, 0.0007
        ("cliff", 0.1, 0.8, 100_000, 2.5, 0.3),  # 1.1, 0.022: the safe path, seldom left
        ("taxi", 0.1, 0.7, 100_000, 2.5, 1.2),  # 0.85, 0.44
    ],
)
def test_td_learning(name, epsilon, w, n_episodes, bound, at_start):
    """The best policy with a share of random moves, against the exact linear solve."""
    policy = soft_policy(world(name), epsilon)
    agent = TDLearning(policy, step_size=power(w), n_episodes=n_episodes)
    found = errors(fitted(agent, name), world(name).evaluate(policy), name)
    assert found[0] < bound
    assert found[1] < at_start


@pytest.mark.parametrize(
    ("name", "epsilon", "bound"),
    [("grid", 0.3, 0.02), ("lake", 0.3, 0.02), ("cliff", 0.1, 1e-9), ("taxi", 0.5, 1e-9)],
)
def test_passive_adp(name, epsilon, bound):
    """Counting needs fewer episodes: 0.007, 0.007, 1e-14, 1e-14 (the taxi from any state).

    Once every action was seen, a world without chance is known exactly.
    """
    policy = soft_policy(world(name), epsilon)
    n_episodes = 60_000 if name == "taxi" else 20_000
    agent = AdaptiveDynamicProgramming(policy, n_episodes=n_episodes)
    fitted(agent, name, spread=name == "taxi")
    assert errors(agent, world(name).evaluate(policy), name)[0] < bound


# --- the best values -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "agent", "bound"),
    [
        ("grid", {"exploration": OptimisticExploration(5.0, 3000), "plan_every": 1000,
                  "n_episodes": 8000}, 0.05),  # 0.025
        ("lake", {"exploration": EpsilonGreedy(1.0), "plan_every": 10_000,
                  "n_episodes": 50_000}, 0.05),  # 0.0076; 0.038 with another seed
        ("cliff", {"exploration": OptimisticExploration(0.0, 1), "plan_every": 20,
                   "n_episodes": 200}, 1e-12),  # 0
        ("taxi", {"exploration": OptimisticExploration(20.0, 1), "plan_every": 200,
                  "n_episodes": 3000}, 1e-12),  # 5e-15
    ],
)  # fmt: skip
def test_active_adp(name, agent, bound):
    agent = fitted(AdaptiveDynamicProgramming(**agent), name)
    assert errors(agent, planned(name).max(axis=1), name)[0] < bound
    assert lost(agent, name).max() == 0


@pytest.mark.parametrize(
    ("name", "w", "n_episodes", "bound"),
    [
        ("grid", 0.8, 100_000, 0.02),  # 0.009
        ("lake", 0.8, 150_000, 0.02),  # 0.0094
        ("cliff", 0.6, 15_000, 1e-9),  # 5e-12
        ("taxi", 0.6, 60_000, 1e-3),  # 6e-5
    ],
)
def test_q_learning(name, w, n_episodes, bound):
    agent = QLearning(step_size=power(w), exploration=EpsilonGreedy(0.5), n_episodes=n_episodes)
    fitted(agent, name)
    assert errors(agent, planned(name).max(axis=1), name)[0] < bound
    assert lost(agent, name).max() == 0


@pytest.mark.parametrize(
    ("name", "best", "tries", "step_size", "n_episodes", "bound"),
    [
        ("grid", 2.0, 20_000, power(0.8), 80_000, 0.05),  # 0.019
        ("lake", 1.0, 20_000, power(0.7), 100_000, 0.06),  # 0.032
        ("cliff", 0.0, 100, 1.0, 3000, 1e-12),  # 0
        ("taxi", 20.0, 100, 1.0, 40_000, 1e-12),  # 0
    ],
)
def test_exploration_functions(name, best, tries, step_size, n_episodes, bound):
    """Believe in the best until a pair was tried so often; then nothing is left to chance.

    On the cliff from any state: from Gymnasium's start only what lies on good paths is tried often
    enough.
    """
    agent = QLearning(
        step_size=step_size, exploration=OptimisticExploration(best, tries), initial_value=best,
        n_episodes=n_episodes,
    )  # fmt: skip
    fitted(agent, name, spread=name == "cliff")
    assert errors(agent, planned(name).max(axis=1), name)[0] < bound
    assert lost(agent, name).max() == 0


# --- SARSA: the best values with random moves, and with random moves that fade ----------------


@pytest.mark.parametrize(
    ("name", "epsilon", "w", "n_episodes", "bound", "at_start"),
    [
        ("grid", 0.3, 0.8, 100_000, 0.025, 0.025),  # 0.007
        ("lake", 0.3, 0.8, 120_000, 0.015, 0.005),  # 0.003, 0.0014
        ("cliff", 0.3, 0.7, 60_000, 1.2, 0.4),  # 0.38, 0.14
        ("taxi", 0.1, 0.6, 100_000, 2.0, 2.0),  # 0.86: from any state
    ],
)
def test_sarsa_with_random_moves(name, epsilon, w, n_episodes, bound, at_start):
    """A constant epsilon: the best that any policy with so many random moves can have."""
    agent = SARSA(
        step_size=power(w), exploration=EpsilonGreedy(epsilon), n_episodes=n_episodes,
        initial_value=20.0 if name == "taxi" else 0.0,
    )  # fmt: skip
    fitted(agent, name, spread=name == "taxi")
    found = errors(agent, planned(name, epsilon).max(axis=1), name)
    assert found[0] < bound
    assert found[1] < at_start


@pytest.mark.parametrize(
    ("name", "half_life", "w", "n_episodes", "bound", "at_start"),
    [
        ("grid", 100, 0.7, 100_000, 0.04, 0.04),  # 0.016
        ("lake", 1000, 0.6, 100_000, 0.06, 0.01),  # 0.032, 0.0034
        ("taxi", 10, 0.6, 100_000, np.inf, 0.8),  # -, 0.34: optimal from every start
    ],
)
def test_sarsa_greedy_in_the_limit(name, half_life, w, n_episodes, bound, at_start):
    """Random moves that fade with the visits of a state: the best values of all."""
    agent = SARSA(
        step_size=power(w), exploration=EpsilonGreedy(1.0, half_life=half_life),
        n_episodes=n_episodes, initial_value=20.0 if name == "taxi" else 0.0,
    )  # fmt: skip
    found = errors(fitted(agent, name), planned(name).max(axis=1), name)
    assert found[0] < bound
    assert found[1] < at_start
    starts = world(name).start > 0
    assert name != "taxi" or starts.sum() == 300
    assert_allclose(lost(agent, name)[starts], 0.0, atol=1e-9)


@pytest.mark.slow
def test_sarsa_drives_the_taxi_from_everywhere():
    """A million episodes from any of the 400 states."""
    agent = SARSA(
        step_size=power(0.6), exploration=EpsilonGreedy(1.0, half_life=30), n_episodes=1_000_000,
        initial_value=20.0,
    )  # fmt: skip
    fitted(agent, "taxi", spread=True)
    assert reachable(world("taxi")).sum() == 400  # 404 less those where a ride ends
    assert errors(agent, planned("taxi").max(axis=1), "taxi")[0] < 0.3
    assert lost(agent, "taxi").max() == 0
    soft = SARSA(
        step_size=power(0.7), exploration=EpsilonGreedy(0.1), n_episodes=1_000_000,
        initial_value=20.0,
    )  # fmt: skip
    fitted(soft, "taxi", spread=True)
    assert errors(soft, planned("taxi", 0.1).max(axis=1), "taxi")[0] < 1.0


# --- Gymnasium itself, step by step ------------------------------------------------------------


def test_gymnasium_step_by_step():
    """The environments themselves, whose tables the agents never see."""
    agent = QLearning(
        discount=1.0, step_size=1.0, exploration=EpsilonGreedy(0.2), n_episodes=400, random_state=0
    ).fit("CliffWalking-v1")
    best = planned("cliff").max(axis=1)
    assert agent.values_[36] == best[36] == -13


@pytest.mark.slow
def test_gymnasium_taxi_step_by_step():
    planner = AdaptiveDynamicProgramming(
        discount=0.95, exploration=OptimisticExploration(20.0, 1), n_episodes=2500, plan_every=200,
        random_state=0,
    ).fit("Taxi-v4")  # fmt: skip
    starts = np.flatnonzero(world("taxi").start)
    assert_allclose(planner.values_[starts], planned("taxi").max(axis=1)[starts], atol=1e-12)
