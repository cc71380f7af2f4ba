"""Returns over several steps: n-step TD and SARSA, Monte-Carlo evaluation, biased maxima."""

import numpy as np
import pytest
from agents_shared import Twin, book_world, loop_world
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

import pellucid
from pellucid.reinforcement import (
    MDP,
    SARSA,
    DoubleQLearning,
    EpsilonGreedy,
    LinearApproximator,
    MonteCarloLearning,
    QLearning,
    TDLearning,
)
from pellucid.reinforcement.learning.agent_kernels import SARSA as SARSA_TARGET
from pellucid.reinforcement.learning.agent_kernels import Control, run_control, run_evaluation
from pellucid.reinforcement.learning.policies import cumulative_policy
from pellucid.reinforcement.learning.window_kernels import run_windows
from pellucid.reinforcement.worlds.worlds import Simulation, random_words

NONE, UNSEEN = np.zeros(0), np.zeros(0, bool)


def random_walk(n):
    """States 0..n+1 in a row, both ends terminal; -1 at the left one, 1 at the right one."""
    P = np.zeros((n + 2, 2, n + 2))
    for s in range(1, n + 1):
        P[s, 0, s - 1] = P[s, 1, s + 1] = 1.0
    R = np.zeros((n + 2, 2, n + 2))
    R[1, 0, 0], R[n, 1, n + 1] = -1.0, 1.0
    return MDP(P, R, discount=1.0, terminal=[0, n + 1], start=(n + 1) // 2)


# --- n steps -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.2, 0.0])
def test_windows_of_one_step_are_td_and_sarsa_bit_by_bit(rate):
    mdp = book_world()
    place, S, A = Simulation(mdp), mdp.n_states, mdp.n_actions
    rule = Control(SARSA_TARGET, 0.9, rate, 0.3, 1.0, 0.0, 0.0, 0)
    policy, logs, tables = cumulative_policy(None, place), np.zeros((4, 40, 3)), []
    for i in range(2):
        words, u, n = random_words(0), np.zeros(S), np.zeros(S, np.int64)
        if i:
            run_evaluation(
                place.world, policy, u, n, np.zeros(S), words, 0.9, rate, NONE, 0.0, 0, 40, 25,
                10**6, logs[0],
            )  # fmt: skip
        else:
            run_windows(
                place.world, policy, rule, NONE, np.zeros((0, 1)), np.zeros((0, 1), np.int64), u, n,
                NONE, UNSEEN, words, 1, 0, 40, 25, 10**6, logs[1],
            )  # fmt: skip
        words, q, n = random_words(0), np.zeros((S, A)), np.zeros((S, A), np.int64)
        if i:
            run_control(
                place.world, q, np.zeros((0, S, A)), n, words, rule, NONE, 0, 40, 25, 10**6,
                logs[2],
            )  # fmt: skip
        else:
            run_windows(
                place.world, np.zeros((0, 1)), rule, NONE, q, n, q.reshape(-1), n.reshape(-1), NONE,
                UNSEEN, words, 1, 0, 40, 25, 10**6, logs[3],
            )  # fmt: skip
        tables.append((u, q, words))
    for one, two in zip(*tables, strict=True):
        assert_array_equal(one, two)
    assert_array_equal(logs[0, :, :2], logs[1, :, :2])
    assert_array_equal(logs[2, :, :2], logs[3, :, :2])


@pytest.mark.parametrize(
    "agent",
    [
        TDLearning(n_steps=3),
        TDLearning(n_steps=4, step_size="1/n"),
        SARSA(n_steps=3),
        SARSA(n_steps=2, step_size="1/n", exploration=EpsilonGreedy(0.4)),
        MonteCarloLearning(),
        MonteCarloLearning(visits="every", step_size=0.1),
    ],
    ids=str,
)
def test_compiled_windows_equal_plain_steps_and_go_on_from_a_file(agent, tmp_path):
    """The same bits in the compiled loop, by functions as step sizes, and after save and load."""
    mdp, runs = book_world(), []
    agent.set_params(n_episodes=30, max_steps=25, random_state=3)
    size = agent.step_size
    for step_size in (size, (lambda n: 1 / n) if size == "1/n" else lambda n: size):
        runs.append(pellucid.reinforcement.__dict__[type(agent).__name__](**agent.get_params()))
        runs[-1].set_params(step_size=step_size).fit(mdp)
    part = type(agent)(**agent.get_params()).set_params(n_episodes=12).fit(mdp)
    pellucid.save(part, tmp_path / "agent.pellucid")
    runs.append(pellucid.load(tmp_path / "agent.pellucid").partial_fit(mdp, n_episodes=18))
    for other in runs[1:]:
        assert_array_equal(other.values_, runs[0].values_)
        assert_array_equal(other.history_["return"], runs[0].history_["return"])
        assert_allclose(other.history_["td_error"], runs[0].history_["td_error"])
        assert_array_equal(other.random_words_, runs[0].random_words_)


@pytest.mark.parametrize("cls", [TDLearning, SARSA])
def test_single_steps_wait_for_their_window(cls):
    """Written out: n = 2, rate 1/2, discount 1/2; cut off after the third step."""
    agent = cls(discount=0.5, step_size=0.5, n_steps=2, initial_value=4.0).reset(4, 1)
    found = [agent.update(s, 0, float(s + 1), s + 1, next_action=0) for s in range(3)]
    assert_allclose(found, [0.0, abs(1 + 1.0 + 1.0 - 4), abs(2 + 1.5 + 1.0 - 4)])
    assert agent.end_episode() == abs(3 + 2.0 - 4)
    assert_allclose(agent.values_, [3.5, 4.25, 4.5, 4.0])
    assert agent.update(0, 0, 1.0, 1, terminated=True) == abs(1 - 3.5)


def test_features_that_indicate_states_are_the_table_over_several_steps():
    mdp = book_world()
    rule = {"n_steps": 3, "n_episodes": 20, "max_steps": 30, "random_state": 0}
    indicator = LinearApproximator(np.eye(mdp.n_states))
    for cls in (TDLearning, SARSA):
        table = cls(**rule).fit(mdp)
        features = cls(approximator=indicator, **rule).fit(mdp)
        assert_allclose(features.values_, table.values_, atol=1e-12)
        assert_array_equal(features.history_["return"], table.history_["return"])


def test_values_over_several_steps_reach_those_of_the_policy():
    mdp = book_world(discount=0.9)
    chances = np.full((mdp.n_states, 4), 0.25)
    exact = mdp.evaluate(chances)
    rule = {"discount": 0.9, "step_size": "1/n", "n_steps": 4, "random_state": 0}
    td = TDLearning(n_episodes=6000, **rule).fit(mdp)
    assert np.abs(td.values_ - exact)[~mdp.terminal].max() < 0.03
    agent = SARSA(exploration=EpsilonGreedy(1.0), n_episodes=12_000, **rule).fit(mdp)
    assert np.abs(agent.q_ - mdp.q_values(exact))[~mdp.terminal].max() < 0.06


def test_a_window_in_the_middle_learns_fastest_on_the_long_walk():
    """Sutton & Barto, example 7.1: 19 states, ten episodes, step size 0.4."""
    mdp, errors = random_walk(19), {}
    exact = np.arange(-9, 10) / 10
    for n in (1, 4, 64):
        gaps = []
        for seed in range(40):
            agent = TDLearning(
                discount=1.0, step_size=0.4, n_steps=n, n_episodes=10, random_state=seed
            ).fit(mdp)
            gaps.append(np.sqrt(np.mean((agent.values_[1:-1] - exact) ** 2)))
        errors[n] = np.mean(gaps)
    assert errors[4] < 0.75 * errors[1]
    assert errors[4] < 0.75 * errors[64]


# --- whole episodes ---------------------------------------------------------------------------


@pytest.mark.parametrize("visits", ["first", "every"])
def test_monte_carlo_is_the_mean_of_the_returns(visits):
    """Against episodes written out on the same random numbers."""
    mdp, g = book_world(), 0.9
    agent = MonteCarloLearning(visits=visits, discount=g, n_episodes=60, random_state=1)
    agent.fit(mdp)
    twin, returns = Twin(mdp, random_words(1)), [[] for _ in range(mdp.n_states)]
    for _ in range(60):
        s, walk, end = twin.reset(), [], False
        while not end:
            s2, r, end = twin.step(s, twin.by_chance([0.25] * 4))
            walk.append((s, r))
            s = s2
        for t, (s, _) in enumerate(walk):
            if visits == "every" or s not in [x for x, _ in walk[:t]]:
                returns[s].append(sum(g**k * r for k, (_, r) in enumerate(walk[t:])))
    assert_array_equal(agent.visits_, [len(x) for x in returns])
    means = np.array([np.mean(x) if x else 0.0 for x in returns])
    assert_allclose(agent.values_, np.where(mdp.terminal, mdp.final_values, means))
    if visits == "first":
        for s, x in enumerate(returns):
            wanted = np.std(x, ddof=1) / np.sqrt(len(x)) if len(x) > 1 else np.inf
            assert agent.standard_error_[s] == pytest.approx(wanted)
    else:
        with pytest.raises(AttributeError, match="visits='first'"):
            _ = agent.standard_error_


def test_endless_windows_are_monte_carlo_evaluation():
    mdp = book_world()
    rule = {"step_size": 0.1, "n_episodes": 50, "max_steps": 10_000, "random_state": 2}
    one = TDLearning(n_steps=10_000, **rule).fit(mdp)
    two = MonteCarloLearning(visits="every", **rule).fit(mdp)
    assert_array_equal(one.values_, two.values_)


def test_standard_errors_are_those_of_the_values():
    """Over 240 runs the values scatter around the truth by what each run says of itself."""
    mdp = book_world(discount=0.9)
    exact = mdp.evaluate(np.full((mdp.n_states, 4), 0.25))
    z = []
    for seed in range(240):
        agent = MonteCarloLearning(n_episodes=400, random_state=seed).fit(mdp)
        z.append(((agent.values_ - exact) / agent.standard_error_)[~mdp.terminal])
    z = np.array(z)
    assert 0.93 < np.sqrt((z**2).mean()) < 1.12
    assert np.abs(z.mean(axis=0)).max() < 4 / np.sqrt(240)


def test_the_predictor():
    """Sutton & Barto, example 6.4: A, 0, B, 0 once, B, 1 six times, B, 0 once: U(A) = 0."""
    agent = MonteCarloLearning(discount=1.0).reset(2)
    agent.update(0, 0, 0.0, 1)
    agent.update(1, 0, 0.0, 1, terminated=True)
    for r in [1.0] * 6 + [0.0]:
        agent.update(1, 0, r, 1, terminated=True)
    assert_allclose(agent.values_, [0.0, 0.75])
    assert_array_equal(agent.visits_, [1, 8])


def test_cut_off_episodes_count_with_the_value_of_the_last_state():
    agent = MonteCarloLearning(
        discount=0.5, step_size=0.1, n_episodes=300, max_steps=1, random_state=0
    ).fit(loop_world())
    assert agent.values_[0] == pytest.approx(2.0, abs=1e-3)


def test_refusals():
    mdp = loop_world()
    for agent, sentence in [
        (TDLearning(n_steps=0), "n_steps must be a whole number >= 1"),
        (SARSA(n_steps=1.5), "n_steps must be a whole number >= 1"),
        (TDLearning(n_steps=2, trace_decay=0.5), "n_steps or trace_decay, not both"),
        (MonteCarloLearning(visits="frist"), "did you mean 'first'"),
        (MonteCarloLearning(step_size=2.0), "at most 1"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            agent.fit(mdp)
    pytest.importorskip("gymnasium")
    with pytest.raises(ValueError, match="means need numbered states"):
        MonteCarloLearning().fit("CartPole-v1")


# --- biased maxima ----------------------------------------------------------------------------


def test_maximisation_bias():
    """Sutton & Barto, example 6.7: from A right ends with 0; left leads to B, where ten actions
    end with -0.1 on average and a spread of 1. Q-learning goes left far too often, double
    Q-learning hardly more than by exploring.
    """
    ends, rows = 2, []
    for s, a in np.ndindex(2, 10):  # states A, B and the ends 2 (bad), 3 (good)
        if s == 0:
            rows.append([0, 0, 1, 0] if a == 1 else [0, 1, 0, 0] if a == 0 else [0, 0, 0, 0])
        else:
            rows.append([0, 0, 0.5, 0.5])
    P = csr_array(np.array([*rows, *[[0, 0, 0, 0]] * 20], float))
    R = np.zeros((40, 4))
    R[10:20, 2:] = -1.1, 0.9
    mdp = MDP(P, csr_array(R), discount=1.0, terminal=[ends, 3], start=0)
    left = {}
    for cls in (QLearning, DoubleQLearning):
        runs = [
            cls(discount=1.0, step_size=0.1, n_episodes=300, random_state=seed).fit(mdp)
            for seed in range(150)
        ]
        share = np.mean([run.history_["length"] == 2 for run in runs], axis=0)
        left[cls] = share[20:100].mean(), share[-50:].mean()
    assert left[QLearning][0] > 0.45
    assert left[DoubleQLearning][0] < 0.6 * left[QLearning][0]
    assert left[DoubleQLearning][1] < 0.1  # exploring alone is 0.05
