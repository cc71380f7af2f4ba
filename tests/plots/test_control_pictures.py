"""Pictures of decision processes and agents: the numbers drawn against their definitions."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.testing import assert_allclose, assert_array_equal

from pellucid import plots
from pellucid.plots.panels.steps import Steps
from pellucid.plots.pictures.control.mdp_graph import action_angles
from pellucid.reinforcement import (
    MDP,
    SARSA,
    AdaptiveDynamicProgramming,
    DeepQNetwork,
    PolicyGradient,
    QLearning,
    TDLearning,
    ValueIteration,
    compare_agents,
    grid_world,
)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


REPEATED = set()  # kinds whose SVG was already compared with a second one: drawing is slow


def drawn(picture, *said):
    """It draws, has words, gives the same SVG twice, and the texts given are on it."""
    found = picture.plot()
    assert isinstance(found, Axes | Figure)
    assert len(picture.alt) > 30
    assert picture.alt.endswith(".")
    figure = getattr(found, "figure", found)
    texts = " ".join(t.get_text() for t in figure.findobj(Text)).replace("\n", " ")
    for word in said:
        assert word in texts, f"{word!r} is not in the picture"
    plt.close(figure)
    if type(picture) not in REPEATED:
        REPEATED.add(type(picture))
        assert plots.svg(picture) == plots.svg(picture)


@pytest.fixture(scope="module")
def grid():
    mdp = grid_world(["...+", ".#.-", "S..."])
    return mdp, ValueIteration().fit(mdp)


@pytest.fixture(scope="module")
def chain():
    """Example 26 of the part."""
    right = [[[0.2, 0.8, 0.0]], [[0.0, 0.2, 0.8]], [[0.0, 0.0, 1.0]]]
    mdp = MDP(right, [0.0, 0.0, 1.0], terminal=[2], actions=["right"])
    return mdp, ValueIteration().fit(mdp)


@pytest.fixture(scope="module")
def pair():
    """Example 27: two states, stay or go."""
    moves = [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]
    mdp = MDP(moves, [[1, 0], [2, 0]], states=["one", "two"], actions=["stay", "go"])
    return mdp, ValueIteration().fit(mdp)


# --- values -------------------------------------------------------------------------------------


def test_values_draws_utilities_and_where_the_actions_lead(grid):
    mdp, plan = grid
    picture = plots.values(mdp, plan)
    assert_array_equal(picture.values, plan.values_)
    assert_array_equal(picture.cells, mdp.states)
    for s in np.flatnonzero(~mdp.terminal):
        row, column = mdp.states[s]
        dx, dy = picture.turns[s]
        ahead = (int(row - dy), int(column + dx))
        if ahead in mdp.states:  # the likeliest outcome of the action is where the arrow points
            chances = mdp.transitions[[s * 4 + plan.policy_[s]]].toarray()[0]
            assert chances[mdp.index(ahead)] == pytest.approx(0.8)
    assert not picture.turns[mdp.terminal].any()
    drawn(picture, "0.812", "0.388", "Utilities and policy")


def test_values_of_arrays_chances_and_states_without_a_grid(pair):
    mdp, plan = pair
    picture = plots.values(mdp, [18.0, 20.0], [[0.2, 0.8], [0.9, 0.1]])
    assert picture.actions == ("go", "stay")
    assert picture.cells is None
    assert plots.values(mdp, plan).actions == picture.actions  # example 27
    drawn(picture, "one: go", "20")
    assert plots.values(mdp, [1.0, 1.0]).actions == ("", "")


def test_values_on_a_given_shape_with_given_directions(pair):
    picture = plots.values(*pair, shape=(1, 2), directions=["up", "right"])
    assert_array_equal(picture.turns, [[1, 0], [0, 1]])
    drawn(picture, "18")
    plain = plots.values(*pair, shape=(2, 1))
    assert plain.turns is None
    drawn(plain, "18 go")


def test_values_leave_holes_and_cells_nobody_gets_to_without_arrows():
    pytest.importorskip("gymnasium")
    lake = MDP.from_gymnasium("FrozenLake-v1")
    compass = ["left", "down", "right", "up"]
    picture = plots.values(lake, ValueIteration().fit(lake), shape=(4, 4), directions=compass)
    holes = [5, 7, 11, 12, 15]
    assert [s for s in range(16) if not picture.actions[s]] == holes
    assert [s for s in range(16) if picture.terminal[s]] == holes
    assert not picture.turns[holes].any()
    assert (plots.q_table(ValueIteration().fit(lake), lake).best[holes] == -1).all()
    cliff = MDP.from_gymnasium("CliffWalking-v1")
    picture = plots.values(cliff, ValueIteration().fit(cliff), shape=(4, 12))
    assert [s for s in range(48) if not picture.actions[s]] == [*range(37, 48)]


def test_values_step_by_step(grid, tmp_path):
    mdp, plan = grid
    rounds = plots.values(mdp, plan, steps=[0, 4, -1])
    assert isinstance(rounds, Steps)
    for picture, i in zip(rounds.pictures, (0, 4, -1), strict=True):
        assert_array_equal(picture.values, plan.history_[i]["values"])
    assert len({picture.limits for picture in rounds.pictures}) == 1  # one scale for all
    assert isinstance(rounds.plot(), Figure)
    assert rounds.animate(tmp_path / "sweeps.gif").stat().st_size > 1000


def test_values_refuse_what_does_not_fit(pair):
    mdp, plan = pair
    with pytest.raises(ValueError, match="a value for each of the 2 states"):
        plots.values(mdp, [1.0])
    with pytest.raises(ValueError, match="finite"):
        plots.values(mdp, [1.0, np.nan])
    with pytest.raises(ValueError, match="an action for each of the 2 states"):
        plots.values(mdp, plan, [0, 1, 0])
    with pytest.raises(ValueError, match="actions 0 to 1"):
        plots.values(mdp, plan, [0, 2])
    with pytest.raises(ValueError, match="fit it first"):
        plots.values(mdp, ValueIteration())
    with pytest.raises(ValueError, match="more cells"):
        plots.values(mdp, plan, shape=(2, 2))
    with pytest.raises(ValueError, match="directions must be of"):
        plots.values(mdp, plan, shape=(1, 2), directions=["up", "north"])
    with pytest.raises(ValueError, match="steps= is for"):
        plots.values(mdp, [1.0, 2.0], steps=True)
    with pytest.raises(TypeError, match="mdp must be an MDP"):
        plots.values("grid", [1.0])


def test_value_sweeps_are_those_of_example_26(chain):
    mdp, plan = chain
    picture = plots.value_sweeps(plan, mdp)
    expected = [(0, 0, 1), (0, 0.72, 1), (0.5184, 0.8496, 1), (0.705024, 0.872928, 1)]
    assert_allclose(picture.values[:4], expected, atol=1e-12)
    assert_allclose(picture.values[-1], [0.7709696609, 0.8780487805, 1], atol=1e-6)
    steps = np.abs(np.diff(picture.values, axis=0)).max(axis=1)
    assert_allclose(picture.change[1:], steps, atol=1e-15)
    drawn(picture, "largest change", "utility")
    assert plots.value_sweeps(plan, mdp, states=[1]).names == ("1",)
    with pytest.raises(ValueError, match="ValueIteration"):
        plots.value_sweeps(QLearning())
    with pytest.raises(ValueError, match="3 states, the MDP has 6"):
        plots.value_sweeps(plan, grid_world(["..+", "S.-"]))


# --- q_table ------------------------------------------------------------------------------------


def test_q_table_of_example_27(pair):
    mdp, plan = pair
    picture = plots.q_table(plan, mdp)
    assert_allclose(picture.q, [[17.2, 18], [20, 16.2]], atol=1e-4)
    assert picture.best.tolist() == [1, 0]
    drawn(picture, "17.2", "two", "stay")


def test_q_table_leaves_ends_and_missing_actions_unmarked(grid):
    mdp, plan = grid
    assert_array_equal(plots.q_table(plan, mdp).best < 0, mdp.terminal)
    picture = plots.q_table([[1.0, -np.inf], [-np.inf, -np.inf]])
    assert picture.best.tolist() == [0, -1]
    drawn(picture, "–")
    drawn(plots.q_table(np.random.default_rng(0).random((300, 3))), "dotted")
    with pytest.raises(ValueError, match="fit it first"):
        plots.q_table(QLearning())
    with pytest.raises(ValueError, match="table"):
        plots.q_table([1.0, 2.0])
    with pytest.raises(ValueError, match="2 states and 2 actions, the MDP 11 and 4"):
        plots.q_table(np.eye(2), mdp)


# --- rewards ------------------------------------------------------------------------------------


def test_rewards_average_the_returns_of_the_history(grid):
    mdp, _ = grid
    agents = [kind(n_episodes=60, random_state=0).fit(mdp) for kind in (QLearning, SARSA, SARSA)]
    picture = plots.rewards(*agents, window=7)
    assert [one.name for one in picture.learners] == ["QLearning", "SARSA 1", "SARSA 2"]
    returns = agents[0].history_["return"]
    for i in (0, 3, 6, 40, 59):
        expected = np.mean(returns[max(0, i - 6) : i + 1])
        assert_allclose(picture.learners[0].smooth[i], expected, atol=1e-12)
    drawn(picture, "episode", "return", "SARSA 2")
    named = plots.rewards({"mine": agents[0]})
    assert (named.learners[0].name, named.window) == ("mine", 3)


def test_rewards_of_a_comparison_have_bands(grid):
    agents = {"q": QLearning(n_episodes=40), "sarsa": SARSA(n_episodes=40)}
    found = compare_agents(agents, grid[0], n_seeds=3, random_state=0)
    picture = plots.rewards(found, window=1)
    for i, one in enumerate(picture.learners):
        assert_allclose(one.smooth, found.returns[i].mean(axis=0), atol=1e-9)
        assert_allclose(one.low, found.low[i], atol=1e-9)
        assert_allclose(one.high, found.high[i], atol=1e-9)
    drawn(picture, "3 seeds", "sarsa")


def test_rewards_refuse_what_never_acted():
    for nothing in (QLearning(), "agent"):
        with pytest.raises(ValueError, match="fitted agents"):
            plots.rewards(nothing)
    with pytest.raises(ValueError, match="at least one"):
        plots.rewards()


# --- utility_error ------------------------------------------------------------------------------


def test_adp_needs_fewer_episodes_than_td():
    mdp = grid_world(["...+", ".#.-", "...."], discount=0.9)  # starts anywhere
    policy = ValueIteration().fit(mdp).policy_
    agents = {"ADP": AdaptiveDynamicProgramming(policy), "TD": TDLearning(policy)}
    picture = plots.utility_error(agents, mdp, at=(2, 20, 200), n_seeds=3)
    assert (picture.error[0, :2] < picture.error[1, :2]).all()
    assert picture.error[0, -1] < 0.1
    run = TDLearning(policy, n_episodes=20, random_state=0).fit(mdp)
    gap = (run.values_ - mdp.evaluate(policy))[~mdp.terminal]
    once = plots.utility_error({"TD": TDLearning(policy)}, mdp, at=(2, 20), n_seeds=1)
    assert_allclose(once.error[0, 1], np.sqrt(np.mean(gap**2)))  # going on is one long run
    drawn(picture, "ADP", "episodes")


def test_utility_error_refuses_active_agents_and_other_discounts(grid):
    mdp, plan = grid
    with pytest.raises(ValueError, match="passive agent"):
        plots.utility_error({"q": QLearning()}, mdp)
    with pytest.raises(ValueError, match="their utilities differ"):
        plots.utility_error({"td": TDLearning(plan.policy_)}, mdp)
    with pytest.raises(ValueError, match="episodes >= 1"):
        plots.utility_error({"td": TDLearning(plan.policy_)}, mdp, at=[0])
    with pytest.raises(TypeError, match="dict"):
        plots.utility_error([TDLearning()], mdp)


# --- agent_loop and mdp_graph -------------------------------------------------------------------


def test_agent_loop_says_how_an_agent_learns(grid):
    drawn(plots.agent_loop(), "environment", "action a", "state s′, reward r")
    agent = QLearning(n_episodes=2, random_state=0).fit(grid[0])
    drawn(plots.agent_loop(agent), "QLearning", "11 states, 4 actions", "max Q(s′,·)", "table of Q")
    drawn(plots.agent_loop(DeepQNetwork((32, 16))), "32-16 hidden", "replayed steps")
    drawn(plots.agent_loop(PolicyGradient()), "softmax")
    drawn(plots.agent_loop(AdaptiveDynamicProgramming()), "optimistic")
    drawn(plots.agent_loop(TDLearning([0, 1])), "the policy given")
    with pytest.raises(ValueError, match="must be an agent"):
        plots.agent_loop(3)


def test_mdp_graph_holds_every_outcome(pair, chain, grid):
    for mdp, _ in (pair, chain, grid):
        if mdp.n_states > 3:
            mdp = grid_world(["..+", "S.-"])
        picture = plots.mdp_graph(mdp)
        P = np.zeros((mdp.n_states * mdp.n_actions, mdp.n_states))
        names = list(mdp.actions)
        for k, t, p in picture.outcomes:
            s, action, reward, *_ = picture.actions[k]
            a = next(i for i, name in enumerate(names) if str(name) == action)
            P[s * mdp.n_actions + a, t] += p
            assert reward == mdp.rewards[s, a]
        assert_allclose(P, mdp.transitions.toarray())
        drawn(picture, "orange: ends", str(mdp.actions[0]))
    assert plots.mdp_graph(pair[0]).rewards == (None, None)  # it depends on the action
    assert plots.mdp_graph(chain[0]).rewards[2] == 1.0
    with pytest.raises(ValueError, match="up to 14 states"):
        plots.mdp_graph(grid_world(["........+", "S........"]))


def test_actions_leave_a_state_in_different_directions():
    angles = np.sort(action_angles([0.0, 0.0, 0.1, 3.0], np.pi))
    assert (np.diff(angles) >= np.pi / 4 - 1e-6).all()
