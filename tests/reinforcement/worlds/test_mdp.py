"""Decision processes: the normal form, what is refused, Gymnasium, grids, simulation."""

import sys
import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array

from pellucid.reinforcement import MDP, grid_world, policy_evaluation, utility

RIGHT = [[[0.2, 0.8, 0.0]], [[0.0, 0.2, 0.8]], [[0.0, 0.0, 1.0]]]
STAY_GO = np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]]], dtype=float)


def test_the_three_forms_of_reward_agree():
    """R(s) paid on leaving, as R(s,a) and as R(s,a,s'), with R(terminal) moved into the last."""
    rng = np.random.default_rng(0)
    P, R = rng.dirichlet(np.ones(5), size=(5, 2)), rng.normal(size=5)
    by_state = MDP(P, R, terminal=[4])
    pairs = np.repeat(R[:, None], 2, axis=1)
    outcomes = np.repeat(pairs[:, :, None], 5, axis=2)
    outcomes[:, :, 4] += 0.9 * R[4]
    by_outcome = MDP(P, outcomes, terminal=[4])
    U = rng.normal(size=5)
    V = np.where([0, 0, 0, 0, 1], 0.0, U)
    U[4] = R[4]
    np.testing.assert_allclose(by_state.bellman(U)[:4], by_outcome.bellman(V)[:4])
    assert by_state.bellman(np.zeros(5))[4] == R[4]
    assert by_outcome.bellman(np.zeros(5))[4] == 0
    no_end = R.copy()
    no_end[4] = 0
    by_pair = MDP(P, pairs, terminal=[4])
    np.testing.assert_allclose(by_pair.bellman(V), MDP(P, no_end, terminal=[4]).bellman(V))


def test_q_values_are_the_sums_of_the_definition():
    rng = np.random.default_rng(1)
    P, R = rng.dirichlet(np.ones(4), size=(4, 3)), rng.normal(size=(4, 3, 4))
    mdp, U = MDP(P, R, discount=0.7), rng.normal(size=4)
    Q = np.einsum("sat,sat->sa", P, R + 0.7 * U)
    np.testing.assert_allclose(mdp.q_values(U), Q)
    np.testing.assert_allclose(mdp.bellman(U), Q.max(axis=1))
    np.testing.assert_array_equal(mdp.greedy(U), Q.argmax(axis=1))
    np.testing.assert_allclose(mdp.residual(U), np.abs(Q.max(axis=1) - U).max())


def test_dense_and_both_sparse_forms_are_one_thing():
    rng = np.random.default_rng(2)
    P = rng.dirichlet(np.full(6, 0.3), size=(6, 2))
    P[P < 0.05] = 0
    P /= P.sum(axis=2, keepdims=True)
    R = rng.normal(size=(6, 2, 6))
    dense = MDP(P, R)
    per_action = MDP([csr_array(P[:, a]) for a in range(2)], [csr_array(R[:, a]) for a in range(2)])
    stacked = MDP(csr_array(P.reshape(12, 6)), csr_array(R.reshape(12, 6)))
    U = rng.normal(size=6)
    for other in (per_action, stacked):
        np.testing.assert_allclose(other.q_values(U), dense.q_values(U))
        np.testing.assert_allclose(other.outcome_rewards, dense.outcome_rewards)


def test_ties_go_to_the_lowest_index_and_unavailable_actions_are_never_best():
    mdp = MDP([[[0, 0], [1, 0], [1, 0]], [[0, 1], [0, 0], [0, 1]]], np.full((2, 3), -5.0))
    np.testing.assert_array_equal(mdp.greedy([0, 0]), [1, 0])
    assert np.isneginf(mdp.q_values([0, 0])[0, 0])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"row": [0.5, 0.4]}, "state 'b', action 'go' sum to 0.9"),
        ({"row": [1.5, -0.5]}, "state 'b', action 'go' must be >= 0, got -0.5"),
        ({"row": [np.nan, 1.0]}, "state 'b', action 'go' must be >= 0, got nan"),
        ({"reward": np.inf}, "reward of state 'b', action 'go'"),
        ({"discount": 1.1}, "discount must be between 0 and 1, got 1.1"),
        ({"terminal": ["c"]}, "'c' is not a state: states are 'a', 'b'"),
        ({"terminal": ["a", "b"]}, "every state is terminal"),
        ({"start": "z"}, "'z' is not a state"),
        ({"states": ["a", "a"]}, "2 different names"),
    ],
)
def test_refusals_name_what_is_wrong(change, sentence):
    P, R = STAY_GO.copy(), np.ones((2, 2))
    if "row" in change:
        P[1, 1] = change.pop("row")
    if "reward" in change:
        R[1, 1] = change.pop("reward")
    keywords = {"states": ["a", "b"], "actions": ["stay", "go"], **change}
    with pytest.raises(ValueError, match=sentence):
        MDP(P, R, **keywords)
    if not change:  # sparse tables are refused in the same words
        with pytest.raises(ValueError, match=sentence):
            MDP(csr_array(P.reshape(4, 2)), R, **keywords)


def test_more_refusals():
    with pytest.raises(ValueError, match=r"shape \(S, A, S\)"):
        MDP(np.ones((2, 2)), [1, 2])
    with pytest.raises(ValueError, match="R\\(s\\) of shape"):
        MDP(STAY_GO, np.ones(3))
    with pytest.raises(ValueError, match="no available action and is not terminal"):
        MDP([[[0, 0]], [[0, 1]]], [1, 2])
    MDP([[[0, 1]], [[0, 0]]], [1, 2], terminal=[1])  # an end needs none
    with pytest.raises(ValueError, match="2 finite numbers"):
        MDP(STAY_GO, [1, 2]).q_values([1, np.nan])
    with pytest.raises(ValueError, match=r"sum to 0.99; .* 2 rows are wrong"):
        MDP(STAY_GO * [[[0.99], [1]]], [1, 2])


def test_rows_in_single_precision_are_rescaled():
    P = np.random.default_rng(0).dirichlet(np.ones(50), size=(50, 1)).astype(np.float32)
    mdp = MDP(P, np.zeros(50))
    np.testing.assert_allclose(mdp.transitions.sum(axis=1), 1, rtol=0, atol=1e-15)


def test_a_million_state_actions_fit_in_memory():
    """250,000 states, 4 actions: nothing of size S^2, and planning on it works."""
    S, A = 250_000, 4
    rng = np.random.default_rng(0)
    indices = rng.integers(S, size=3 * S * A).astype(np.int32)
    P = csr_array((np.tile([0.5, 0.25, 0.25], S * A), indices, np.arange(0, 3 * S * A + 1, 3)),
                  shape=(S * A, S))  # fmt: skip
    tracemalloc.start()
    mdp = MDP(P, rng.normal(size=(S, A)))
    U = mdp.bellman(np.zeros(S))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert U.shape == (S,)
    assert peak < 40 * P.nnz  # bytes: a few copies of the table
    assert mdp.transitions.nnz == P.nnz


def test_grid_world_is_the_one_of_the_books():
    mdp = grid_world(["...+", ".#.-", "S..."])
    assert mdp.n_states == 11
    assert mdp.actions == ("up", "right", "down", "left")
    assert mdp.states[mdp.start.argmax()] == (2, 0)
    row = mdp.transitions[[4 * mdp.index((2, 0)) + 0]].toarray()[0]
    want = {(1, 0): 0.8, (2, 0): 0.1, (2, 1): 0.1}
    for state, p in want.items():
        np.testing.assert_allclose(row[mdp.index(state)], p)
    assert np.flatnonzero(row).size == 3
    np.testing.assert_array_equal(mdp.final_values[mdp.terminal], [1, -1])
    assert mdp.rewards[0, 0] == -0.04


def test_grid_world_options_and_refusals():
    mdp = grid_world("S.x\n#.o", slip=0.0, step_reward=0, exits={"x": 5, "o": -2}, discount=0.5)
    assert mdp.n_states == 5
    assert sorted(mdp.final_values[mdp.terminal]) == [-2, 5]
    assert mdp.transitions.data.tolist() == [1.0] * 12
    for layout, sentence in [
        (["..", "."], "equally long"), (["##"], "not a wall"), (["SS"], "at most one start"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=sentence):
            grid_world(layout)
    with pytest.raises(ValueError, match="slip must be between 0 and 1"):
        grid_world(["S+"], slip=2)
    with pytest.raises(ValueError, match="one character"):
        grid_world(["S+"], exits={"up": 1})


def test_simulated_returns_estimate_the_utility():
    """With R(s), discounted sums of simulated rewards have the utility as their mean."""
    mdp = grid_world(["...+", ".#.-", "S..."], discount=0.95)
    policy = mdp.greedy(np.zeros(11))
    policy = np.random.default_rng(0).dirichlet(np.ones(4), size=11)
    walks = mdp.simulate(policy, n_episodes=4000, start=(2, 0), random_state=1)
    returns = np.array([utility(walk.rewards, discount=0.95) for walk in walks])
    error = returns.std() / np.sqrt(len(returns))
    assert abs(returns.mean() - mdp.evaluate(policy)[mdp.index((2, 0))]) < 4 * error
    assert all(mdp.terminal[walk.states[-1]] == walk.terminated for walk in walks)
    again = mdp.simulate(policy, n_episodes=2, start=(2, 0), random_state=1)
    np.testing.assert_array_equal(again[1].states, walks[1].states)


def test_simulation_is_cut_off():
    mdp = MDP(STAY_GO, [1.0, 2.0])
    (walk,) = mdp.simulate([0, 0], max_steps=7, start=1)
    assert walk.rewards.tolist() == [2.0] * 7
    assert not walk.terminated


def test_gymnasium_there_and_back():
    """The table environment has the same utilities, with R(s) also at the ends."""
    mdp = grid_world(["...+", ".#.-", "S..."], discount=0.9)
    env = mdp.to_gymnasium()
    back = MDP.from_gymnasium(env, discount=0.9)
    assert back.n_states == 12
    policy = np.random.default_rng(3).integers(4, size=11)
    U = policy_evaluation(mdp, policy)
    V = policy_evaluation(back, np.append(policy, 0))
    live = ~mdp.terminal
    np.testing.assert_allclose(V[:11][live], U[live])
    state, _ = env.reset(seed=0)
    assert mdp.states[state] == (2, 0)
    state, reward, terminated, truncated, _ = env.step(1)
    assert env.observation_space.contains(state)
    assert (reward, terminated, truncated) == (-0.04, False, False)


@pytest.mark.parametrize(("name", "S", "A"), [("FrozenLake-v1", 16, 4), ("CliffWalking-v1", 48, 4)])
def test_tables_of_gymnasium(name, S, A):
    mdp = MDP.from_gymnasium(name)
    assert (mdp.n_states, mdp.n_actions, mdp.discount) == (S + 1, A, 0.99)
    assert mdp.terminal.tolist() == [False] * S + [True]
    assert mdp.start[:S].sum() == 1


def test_outcomes_to_one_state_keep_their_own_rewards():
    """Two ends that pay differently are both the end state, but a move pays one of the two."""

    class Table:
        P = {0: {0: [(0.5, 0, 1.0, True), (0.5, 0, 3.0, True)]}}  # noqa: RUF012

        def reset(self): ...
        def step(self, action): ...

    mdp = MDP.from_gymnasium(Table())
    assert mdp.rewards[0, 0] == 2
    paid = [walk.rewards[0] for walk in mdp.simulate([0, 0], n_episodes=50, random_state=0)]
    assert set(paid) == {1.0, 3.0}


def test_gymnasium_refusals(monkeypatch):
    with pytest.raises(ValueError, match="no table of transitions P"):
        MDP.from_gymnasium("CartPole-v1")
    with pytest.raises(ValueError, match="Gymnasium environment or its id, got int"):
        MDP.from_gymnasium(3)
    with pytest.raises(ValueError, match="is not available in state 0"):
        MDP([[[0, 0], [1, 0]], [[0, 1], [1, 0]]], [1, 2]).to_gymnasium()
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(ImportError, match=r"pip install \"pellucid\[rl\]\""):
        MDP(STAY_GO, [1, 2]).to_gymnasium()


def test_sparse_rows_with_explicit_zeros_and_unsorted_columns():
    P = csr_array(
        (np.array([0.0, 0.25, 0.75, 1.0]), np.array([0, 2, 1, 0]), np.array([0, 3, 4, 4]))
    )
    P.resize((3, 3))
    mdp = MDP(P, [1.0, 2.0, 3.0], terminal=[2])
    np.testing.assert_allclose(mdp.q_values([1, 1, 1])[:, 0], [1.9, 2.9, 3.0])
    assert mdp.transitions.nnz == 3


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (4, 3)])
def test_sparse_transitions_of_no_process_are_refused(shape):
    with pytest.raises(ValueError, match=r"must have shape \(S\*A, S\), got"):
        MDP(csr_array(shape), np.zeros(3))


@pytest.mark.parametrize("given", [{"n_episodes": 0}, {"n_episodes": 1.5}, {"max_steps": -1}])
def test_numbers_of_a_walk_are_whole(given):
    with pytest.raises(ValueError, match=f"{next(iter(given))} must be"):
        grid_world(["S+"], slip=0.0).simulate([1, 0], **given)
