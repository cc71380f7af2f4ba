"""Agents on tables: single steps, the compiled loop against a plain one, convergence."""

import numpy as np
import pytest
from agents_shared import Twin, book_world, loop_world
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import pellucid
from pellucid.reinforcement import (
    MDP,
    SARSA,
    AdaptiveDynamicProgramming,
    DeepQNetwork,
    DoubleQLearning,
    EpsilonGreedy,
    Greedy,
    MonteCarloLearning,
    OptimisticExploration,
    PolicyGradient,
    QLearning,
    TDLearning,
    ValueIteration,
    grid_world,
)

CONTROL = [SARSA, QLearning, DoubleQLearning]
EVALUATION = [TDLearning, MonteCarloLearning]
EVERY = [*CONTROL, *EVALUATION, AdaptiveDynamicProgramming, PolicyGradient, DeepQNetwork]


def uneven_world():
    """Random outcomes, an action that is not available, two ends."""
    rng = np.random.default_rng(3)
    P = rng.dirichlet(np.ones(6), size=(6, 3))
    P[1, 2] = P[3, 0] = 0.0
    return MDP(P, rng.normal(size=(6, 3, 6)), terminal=[4, 5], discount=0.9)


# --- examples of the catalogue -----------------------------------------------------------------


def test_example_28_single_steps():
    td = TDLearning(discount=0.9, step_size=0.1).reset(2)
    td.values_[:] = 0.0, 0.5
    assert td.update(0, 0, 1.0, 1) == pytest.approx(1.45)
    assert td.values_[0] == pytest.approx(0.145)
    q = QLearning(discount=0.9, step_size=0.1).reset(2, 2)
    q.q_[0, 0], q.q_[1] = 0.5, (0.2, 0.8)
    q.update(0, 0, 1.0, 1)
    assert q.q_[0, 0] == pytest.approx(0.622)


def test_targets_of_single_steps():
    sarsa = SARSA(discount=0.5, step_size=1.0).reset(2, 2)
    sarsa.q_[1] = 2.0, 4.0
    assert sarsa.update(0, 1, 1.0, 1, next_action=0) == 2.0
    assert sarsa.update(0, 1, 1.0, 1, terminated=True) == -1.0
    with pytest.raises(ValueError, match="next_action"):
        sarsa.update(0, 1, 1.0, 1)
    double = DoubleQLearning(discount=0.5, step_size=1.0, random_state=0).reset(2, 2)
    double.pair_[0, 1], double.pair_[1, 1] = (3.0, 0.0), (1.0, 8.0)
    # table A: best action 0, worth 1 in B; table B: best action 1, worth 0 in A
    assert double.update(0, 0, 0.0, 1) in (0.5, 0.0)
    assert_allclose(double.q_, double.pair_.mean(axis=0), atol=4.5)
    assert double.q_[0, 0] == double.pair_[:, 0, 0].mean()


# --- the compiled loop ---------------------------------------------------------------------------


@pytest.mark.parametrize("cls", CONTROL)
@pytest.mark.parametrize("step_size", [0.1, "1/n"])
@pytest.mark.parametrize(
    "exploration", [EpsilonGreedy(0.5, 0.99, 0.1), OptimisticExploration(2.0, 3), Greedy()]
)
def test_compiled_run_equals_plain_loop_through_update(cls, step_size, exploration):
    """Every bit: numbers, choices, moves and updates written out in Python."""
    mdp = uneven_world()
    options = {"discount": 0.9, "step_size": step_size, "exploration": exploration}
    fast = cls(**options, n_episodes=40, max_steps=25, random_state=7).fit(mdp)
    slow = cls(**options, random_state=7).reset(mdp.n_states, mdp.n_actions)
    slow.allowed_[:] = fast.allowed_
    twin, returns = Twin(mdp, slow.random_words_), []

    def choose(s, episode):
        epsilon = exploration.rate(episode) if isinstance(exploration, EpsilonGreedy) else 0.0
        row = slow.q_[s]
        if isinstance(exploration, OptimisticExploration):
            row = exploration.value(row, slow.visits_[s])
        return twin.choose(row, s, epsilon)

    for episode in range(40):
        s, total = twin.reset(), 0.0
        a = choose(s, episode)
        for t in range(25):
            s2, r, end = twin.step(s, a)
            a2 = choose(s2, episode) if cls is SARSA and not end else None
            slow.random_words_[0] = twin.words[0]  # double Q-learning tosses its coin in update
            slow.update(s, a, r, s2, next_action=a2, terminated=end)
            twin.words[0] = int(slow.random_words_[0])
            total += r
            if end:
                break
            if cls is not SARSA and t < 24:
                a2 = choose(s2, episode)
            s, a = s2, a2
        returns.append(total)
    assert_array_equal(fast.q_, slow.q_)
    assert_array_equal(fast.visits_, slow.visits_)
    assert_array_equal(fast.history_["return"], returns)


@pytest.mark.parametrize("trace", [0.0, 0.7])
def test_compiled_evaluation_equals_plain_loop(trace):
    mdp = book_world()
    policy = np.full((mdp.n_states, 4), 0.25)
    options = {"discount": 0.95, "step_size": 0.2, "trace_decay": trace}
    fast = TDLearning(policy, **options, n_episodes=30, max_steps=50, random_state=1).fit(mdp)
    slow = TDLearning(policy, **options, random_state=1).reset(mdp.n_states, 4)
    twin = Twin(mdp, slow.random_words_)
    for _ in range(30):
        s = twin.reset()
        slow.traces_[:] = 0.0
        for _ in range(50):
            a = twin.by_chance(policy[s])
            s2, r, end = twin.step(s, a)
            slow.update(s, a, r, s2, terminated=end)
            if end:
                break
            s = s2
    # an agent that is told its steps does not know what the end is worth
    assert_array_equal(fast.values_[~mdp.terminal], slow.values_[~mdp.terminal])
    assert_array_equal(slow.values_[mdp.terminal], 0.0)


@pytest.mark.parametrize("cls", [*CONTROL, *EVALUATION, AdaptiveDynamicProgramming, PolicyGradient])
def test_compiled_run_equals_step_by_step_run(cls):
    """The path that environments of Gymnasium take, on the same MDP."""
    mdp = uneven_world()
    fast = cls(n_episodes=25, max_steps=30, random_state=2).fit(mdp)
    slow = cls(n_episodes=25, max_steps=30, random_state=2)
    walk = slow._walk
    takes = {cls: lambda p, first: walk(p, _uniform_policy(p)) for cls in EVALUATION}
    takes[PolicyGradient] = lambda place, first: walk(place)
    single = takes.get(cls, walk)
    slow.__dict__["_episodes"] = lambda place, first, stop, budget: single(place, first)
    slow.fit(mdp)
    assert_array_equal(fast.history_["return"], slow.history_["return"])
    assert_array_equal(fast.random_words_, slow.random_words_)
    for name in ("q_", "values_", "preferences_", "optimistic_values_", "counts_"):
        if hasattr(fast, name):
            assert_allclose(getattr(fast, name), getattr(slow, name), rtol=1e-14, atol=1e-14)


def _uniform_policy(place):
    from pellucid.reinforcement.learning.policies import cumulative_policy

    return cumulative_policy(None, place)


def test_a_step_size_function_takes_the_same_road():
    mdp = book_world()
    number = QLearning(step_size=0.1, n_episodes=30, random_state=0).fit(mdp)
    function = QLearning(step_size=lambda n: 0.1, n_episodes=30, random_state=0).fit(mdp)
    assert_array_equal(number.q_, function.q_)
    rule = OptimisticExploration(1.0, 3)
    builtin = QLearning(exploration=rule, n_episodes=30, random_state=0).fit(mdp)
    own = QLearning(exploration=lambda u, n: np.where(n < 3, 1.0, u), n_episodes=30, random_state=0)
    assert_array_equal(builtin.q_, own.fit(mdp).q_)
    planned = AdaptiveDynamicProgramming(exploration=rule, n_episodes=20, random_state=0).fit(mdp)
    own = AdaptiveDynamicProgramming(
        exploration=lambda u, n: np.where(n < 3, 1.0, u), n_episodes=20, random_state=0
    ).fit(mdp)
    assert_array_equal(planned.counts_, own.counts_)


# --- convergence -----------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [QLearning, DoubleQLearning])
def test_q_learning_reaches_the_planner(cls):
    mdp = book_world()
    live = ~mdp.terminal
    best = ValueIteration(tol=1e-10).fit(mdp)
    agent = cls(
        discount=0.95, step_size=0.05, exploration=EpsilonGreedy(0.9), n_episodes=20_000,
        random_state=0,
    ).fit(mdp)  # fmt: skip
    agent.set_params(step_size=0.002).partial_fit(mdp, n_episodes=60_000)
    assert np.abs(agent.values_ - best.values_)[live].max() < 0.03
    taken = np.take_along_axis(mdp.q_values(best.values_), agent.policy_[:, None], 1)[:, 0]
    assert (best.values_ - taken)[live].max() < 0.01  # actions as good as the best


def test_sarsa_learns_the_policy_it_follows():
    """With epsilon-greedy behaviour its values are those of the epsilon-soft policy."""
    mdp, epsilon = book_world(), 0.3
    agent = SARSA(
        discount=0.95, step_size=0.005, exploration=EpsilonGreedy(epsilon), n_episodes=60_000,
        random_state=1,
    ).fit(mdp)  # fmt: skip
    soft = np.full((mdp.n_states, 4), epsilon / 4)
    soft[np.arange(mdp.n_states), agent.policy_] += 1 - epsilon
    q = mdp.q_values(mdp.evaluate(soft))
    seen = agent.visits_ > 2000
    assert seen.sum() > 20
    assert np.abs(agent.q_ - q)[seen].max() < 0.06


@pytest.mark.parametrize("trace", [0.0, 0.8, 1.0])
def test_td_reaches_the_values_of_the_policy(trace):
    mdp = book_world(discount=0.9)
    policy = ValueIteration().fit(mdp).policy_
    exact = mdp.evaluate(policy)
    agent = TDLearning(
        policy, discount=0.9, step_size=0.005, trace_decay=trace, n_episodes=20_000, random_state=0
    ).fit(mdp)
    seen = agent.visits_ > 2000
    assert seen.sum() >= 7
    assert np.abs(agent.values_ - exact)[seen].max() < 0.05


def test_adp_passive_is_the_exact_value_of_its_estimates():
    mdp = book_world(discount=0.9)
    policy = ValueIteration().fit(mdp).policy_
    agent = AdaptiveDynamicProgramming(policy, n_episodes=300, random_state=0).fit(mdp)
    seen = agent.visits_.sum(axis=1) > 0
    guess = agent.transition_estimate_.copy()
    loops = guess.sum(axis=2) == 0
    guess[loops, 0] = 1.0  # never tried: anything
    twin = MDP(guess, np.where(agent.model_.terminal[:, None], 0.0, agent.reward_estimate_),
               terminal=agent.model_.terminal, discount=0.9)  # fmt: skip
    assert_allclose(agent.values_[seen], twin.evaluate(policy)[seen], atol=1e-10)
    common = agent.visits_.sum(axis=1) > 100
    assert np.abs(agent.values_ - mdp.evaluate(policy))[common].max() < 0.1
    assert_array_equal(agent.counts_.sum(axis=2), agent.visits_)


def test_adp_explores_and_finds_the_best_policy():
    mdp = book_world(discount=0.95)
    best = ValueIteration(tol=1e-10).fit(mdp)
    agent = AdaptiveDynamicProgramming(
        discount=0.95, exploration=OptimisticExploration(2.0, 60), n_episodes=2000, random_state=0
    ).fit(mdp)
    live = ~mdp.terminal
    assert np.abs(agent.values_ - best.values_)[live].max() < 0.05
    taken = np.take_along_axis(mdp.q_values(best.values_), agent.policy_[:, None], 1)[:, 0]
    assert (best.values_ - taken)[live].max() < 0.03


def test_a_greedy_adp_may_settle_on_a_bad_policy():
    """A small reward at hand, a large one never tried."""
    mdp = MDP(
        [[[0, 1, 0], [0, 0, 1]]] + 2 * [[[0, 1, 0], [0, 0, 1]]], [[0.1, 1.0], [0, 0], [0, 0]],
        terminal=[1, 2], start=0,
    )  # fmt: skip
    stuck = 0
    for seed in range(20):
        greedy = AdaptiveDynamicProgramming(exploration=Greedy(), n_episodes=30, random_state=seed)
        stuck += greedy.fit(mdp).policy_[0] == 0
    assert 0 < stuck < 20  # whoever tried the bad action first never left it
    for seed in range(5):
        agent = AdaptiveDynamicProgramming(n_episodes=30, random_state=seed).fit(mdp)
        assert agent.policy_[0] == 1


def test_double_q_learning_is_less_optimistic():
    """Ten actions worth 0 with noise: the maximum of noisy means is above 0."""
    q = QLearning(discount=1.0, step_size=0.1).reset(3, 10)
    double = DoubleQLearning(discount=1.0, step_size=0.1).reset(3, 10)
    rng = np.random.default_rng(0)
    sums = np.zeros(2)
    for t in range(4000):
        a, r = int(rng.integers(10)), rng.normal()
        for agent in (q, double):
            agent.update(1, a, r, 2, terminated=True)
            agent.update(0, 0, 0.0, 1)
        if t > 1000:
            sums += q.q_[0, 0], double.q_[0, 0]
    sums /= 3000
    assert sums[0] > 0.2
    assert abs(sums[1]) < 0.5 * sums[0]


# --- rules -------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [SARSA, QLearning, TDLearning])
def test_truncation_is_not_termination(cls):
    """Cut off after every step, the state is still worth 1 / (1 - g) = 2."""
    agent = cls(discount=0.5, n_episodes=300, max_steps=1, random_state=0).fit(loop_world())
    assert agent.values_[0] == pytest.approx(2.0, abs=1e-3)


def test_ties_are_broken_at_random_while_learning_only():
    P = np.ones((1, 5, 1))
    mdp = MDP(P, np.zeros((1, 5)), discount=0.5)
    agent = QLearning(exploration=Greedy(), n_episodes=1, max_steps=2000, random_state=0).fit(mdp)
    assert agent.visits_.min() > 300
    assert agent.policy_[0] == 0
    assert agent.act(0) == 0


def test_unavailable_actions_are_never_taken():
    mdp = uneven_world()
    for cls in EVERY:
        agent = cls(n_episodes=15, max_steps=20, random_state=0).fit(mdp)
        if hasattr(agent, "visits_") and agent.visits_.ndim == 2:
            assert agent.visits_[1, 2] == agent.visits_[3, 0] == 0
        assert agent.act(3) != 0 or cls in EVALUATION


def test_exploration_rules():
    assert EpsilonGreedy(0.5, 0.5, 0.2).rate(0) == 0.5
    assert EpsilonGreedy(0.5, 0.5, 0.2).rate(5) == 0.2
    assert OptimisticExploration(3.0, 2).value(1.0, 1) == 3.0
    assert OptimisticExploration(3.0, 2).value(1.0, 2) == 1.0
    mdp = grid_world(["S.+"], slip=0.0)
    agent = QLearning(exploration=EpsilonGreedy(1.0), n_episodes=400, random_state=0).fit(mdp)
    share = agent.visits_[0] / agent.visits_[0].sum()
    assert_allclose(share, 0.25, atol=0.05)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"step_size": 0.0}, "step_size must be > 0"),
        ({"step_size": 1.5}, "at most 1"),
        ({"step_size": "n"}, "'1/n'"),
        ({"discount": 1.2}, "between 0 and 1"),
        ({"n_episodes": 0}, "n_episodes"),
        ({"exploration": EpsilonGreedy(2.0)}, "epsilon"),
        ({"exploration": EpsilonGreedy(0.1, 0.0)}, "decay"),
        ({"exploration": OptimisticExploration(np.nan)}, "optimistic_reward"),
        ({"initial_value": np.inf}, "initial_value"),
        ({"random_state": "x"}, "random_state"),
    ],
)
def test_bad_parameters_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        QLearning(**options).fit(loop_world())


def test_bad_uses_are_refused():
    with pytest.raises(TypeError, match="an MDP, a Gymnasium environment or its id"):
        QLearning().fit(np.ones((3, 2)))
    with pytest.raises(TypeError, match="exploration must be"):
        QLearning(exploration="greedy").fit(loop_world())
    with pytest.raises(TypeError, match="approximator"):
        QLearning(approximator=3).fit(loop_world())
    agent = QLearning().reset(2, 2)
    for bad in (-1, 2, 0.5):
        with pytest.raises(ValueError, match="state number from 0 to 1"):
            agent.update(bad, 0, 1.0, 0)
    with pytest.raises(ValueError, match="action number"):
        agent.update(0, 2, 1.0, 0)
    with pytest.raises(ValueError, match="terminal state"):
        QLearning().fit(MDP(np.eye(2)[:, None], [0.0, 1.0], terminal=[1], start=1))
    with pytest.raises(ValueError, match="this environment has"):
        QLearning(n_episodes=2).fit(loop_world()).partial_fit(book_world())
    with pytest.raises(ValueError, match="not available"):
        TDLearning(np.full(6, 2)).fit(uneven_world())


@pytest.mark.parametrize("cls", EVERY)
def test_common_promises(cls, tmp_path):
    """Parameters, clone, card, one row per episode, the same by seed, not fitted."""
    mdp = book_world()
    agent = cls(n_episodes=12, max_steps=30, random_state=3)
    with pytest.raises(NotFittedError):
        agent.predict([0])
    with pytest.raises(NotFittedError):
        agent.card()
    again = clone(agent).fit(mdp)
    agent.fit(mdp)
    assert agent.fit(mdp) is agent
    assert_array_equal(agent.history_["return"], again.history_["return"])
    assert_array_equal(agent.history_["objective"], agent.history_["return"])
    assert len(agent.history_) == agent.n_iter_ == 12
    assert agent.history_["length"].max() <= 30
    assert np.isfinite(agent.history_["td_error"]).all()
    assert agent.card().representation
    other = cls(n_episodes=12, max_steps=30, random_state=4).fit(mdp)
    assert not np.array_equal(agent.history_["return"], other.history_["return"])
    pellucid.save(agent, tmp_path / "agent.pellucid")
    loaded = pellucid.load(tmp_path / "agent.pellucid")
    states = range(mdp.n_states)
    assert_array_equal(loaded.predict(states), agent.predict(states))


@pytest.mark.parametrize("cls", EVERY)
def test_goes_on_from_a_file_with_the_same_bits(cls, tmp_path):
    mdp = book_world()
    options = {"max_steps": 40, "random_state": 5}
    whole = cls(n_episodes=30, **options).fit(mdp)
    part = cls(n_episodes=14, **options).fit(mdp)
    pellucid.save(part, tmp_path / "agent.pellucid")
    part = pellucid.load(tmp_path / "agent.pellucid").partial_fit(mdp, n_episodes=16)
    assert_array_equal(part.history_["return"], whole.history_["return"])
    assert_array_equal(part.random_words_, whole.random_words_)
    for name in ("q_", "values_", "preferences_", "probabilities_"):
        if hasattr(whole, name):
            assert_array_equal(getattr(part, name), getattr(whole, name))


class Recorder:
    """A scikit-learn callback that counts, and stops after some episodes."""

    def __init__(self, stop_after=None):
        self.ended, self.stop_after = 0, stop_after

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        if context.parent is not None:
            self.ended += 1
            assert fitted_estimator.n_iter_ == len(fitted_estimator.history_) == self.ended
        return self.stop_after is not None and self.ended >= self.stop_after


@pytest.mark.parametrize("cls", EVERY)
def test_callbacks_see_every_episode_and_may_stop(cls):
    mdp = book_world()
    quiet = cls(n_episodes=8, max_steps=20, random_state=0).fit(mdp)
    recorder = Recorder()
    loud = cls(n_episodes=8, max_steps=20, random_state=0).set_callbacks(recorder).fit(mdp)
    assert recorder.ended == 8
    assert_array_equal(quiet.history_["return"], loud.history_["return"])
    stopped = cls(n_episodes=8, max_steps=20, random_state=0).set_callbacks(Recorder(3)).fit(mdp)
    assert len(stopped.history_) == 3


def test_a_file_whose_tables_do_not_fit_is_refused(tmp_path):
    agent = QLearning(n_episodes=3, random_state=0).fit(book_world())
    agent.q_ = agent.q_[:, :-1].copy()
    with pytest.raises(ValueError, match="q_ must be f8"):
        pellucid.save(agent, tmp_path / "agent.pellucid")
    planner = AdaptiveDynamicProgramming(n_episodes=3, random_state=0).fit(book_world())
    planner.model_.after[0, 0, 0] = 99
    with pytest.raises(ValueError, match="after must be i8"):
        pellucid.save(planner, tmp_path / "agent.pellucid")
