"""The agents of the textbook agree with the fast ones, told the same steps."""

import numpy as np
import pytest
from agreement import same, same_mean, slopes

from pellucid.reinforcement import (
    MDP,
    SARSA,
    AdaptiveDynamicProgramming,
    DoubleQLearning,
    EpsilonGreedy,
    Greedy,
    LinearApproximator,
    MonteCarloLearning,
    OptimisticExploration,
    PolicyGradient,
    QLearning,
    TDLearning,
    ValueIteration,
)
from pellucid.reinforcement.approximation.value_network import ValueNetwork
from pellucid.textbook.reinforcement.adaptive_dynamic_programming import (
    adaptive_dynamic_programming,
)
from pellucid.textbook.reinforcement.deep_q_network import (
    Batch,
    Network,
    deep_q_network,
    loss_gradient,
    targets,
    values,
)
from pellucid.textbook.reinforcement.double_q_learning import backup as double_backup
from pellucid.textbook.reinforcement.double_q_learning import double_q_learning
from pellucid.textbook.reinforcement.epsilon_greedy import epsilon_greedy, optimistic
from pellucid.textbook.reinforcement.linear_td import linear_td
from pellucid.textbook.reinforcement.monte_carlo import monte_carlo
from pellucid.textbook.reinforcement.n_step_td import n_step_td
from pellucid.textbook.reinforcement.policy_gradient import episodes as gradient_episodes
from pellucid.textbook.reinforcement.policy_gradient import policy_gradient
from pellucid.textbook.reinforcement.q_learning import episodes as q_episodes
from pellucid.textbook.reinforcement.q_learning import q_learning
from pellucid.textbook.reinforcement.sarsa import episodes as sarsa_episodes
from pellucid.textbook.reinforcement.sarsa import sarsa
from pellucid.textbook.reinforcement.td_lambda import td_lambda
from pellucid.textbook.reinforcement.td_learning import td_learning

rng = np.random.default_rng(0)
G = 0.9


def world():
    """A corridor of four states and an end: right is good, and the floor is slippery."""
    P = np.zeros((5, 2, 5))
    for s in range(4):
        P[s, 0, max(s - 1, 0)] += 0.9
        P[s, 0, s + 1] += 0.1
        P[s, 1, s + 1] += 0.9
        P[s, 1, s] += 0.1
    P[4, :, 4] = 1
    R = np.full((5, 2), -0.1)
    R[3, 1], R[4] = 1.0, 0.0
    return P, R, np.arange(5) == 4


def walks(n=6):
    """Episodes of a random policy, as steps (s, r, t, end)."""
    P, R, ends = world()
    found = []
    for state in q_episodes(P, R, ends, G, 0.1, 1.0, n, rng):
        found.append([(s, r, t, end) for s, _, r, t, end in state.steps])
    return found


def told(agent, episodes):
    agent.reset(5, 2)
    for episode in episodes:
        for s, r, t, end in episode:
            agent.update(s, 0, r, t, terminated=end)
    return agent


def test_evaluation():
    episodes = walks()
    steps = [step for episode in episodes for step in episode]
    visits = [[(s, r) for s, r, _, _ in episode] for episode in episodes]
    book = td_learning(steps, 5, G, 0.1)
    same(book, told(TDLearning(discount=G, step_size=0.1), episodes).values_, atol=1e-12)
    book = td_lambda(steps, 5, G, 0.7, 0.1)
    fast = told(TDLearning(discount=G, step_size=0.1, trace_decay=0.7), episodes).values_
    same(book, fast, atol=1e-12)
    book = n_step_td(visits, 5, G, 3, 0.1)
    fast = told(TDLearning(discount=G, step_size=0.1, n_steps=3), episodes).values_
    same(book, fast, atol=1e-12)
    book = monte_carlo(visits, 5, G)
    same(book.U, told(MonteCarloLearning(discount=G), episodes).values_, atol=1e-12)
    F = rng.normal(size=(5, 3))
    agent = TDLearning(discount=G, step_size=0.05, approximator=LinearApproximator(F))
    told(agent, episodes)
    same(linear_td(steps, F, G, 0.05), agent.weights_, atol=1e-12)


def test_q_learning():
    P, R, ends = world()
    agent = QLearning(discount=G, step_size=0.1).reset(5, 2)
    for state in q_episodes(P, R, ends, G, 0.1, 0.3, 10, rng):
        for s, a, r, t, end in state.steps:
            agent.update(s, a, r, t, terminated=end)
        same(state.Q, agent.q_, atol=1e-12)
    best = ValueIteration().fit(MDP(P, R, discount=G, terminal=[4])).policy_[:4]
    assert (q_learning(P, R, ends, G, 150, rng)[:4].argmax(axis=1) == best).all()


def test_sarsa():
    P, R, ends = world()
    agent = SARSA(discount=G, step_size=0.1).reset(5, 2)
    for state in sarsa_episodes(P, R, ends, G, 0.1, 0.3, 10, rng):
        for s, a, r, t, b, end in state.steps:
            agent.update(s, a, r, t, next_action=b, terminated=end)
        same(state.Q, agent.q_, atol=1e-12)
    assert (sarsa(P, R, ends, G, 150, rng)[:4].argmax(axis=1) == 1).all()


def test_double_q_learning():
    P, R, ends = world()
    agent = DoubleQLearning(discount=G, step_size=0.1, random_state=0).reset(5, 2)
    Q, coins = np.zeros((2, 5, 2)), []
    for state in q_episodes(P, R, ends, G, 0.1, 0.3, 8, rng):
        for step in state.steps:
            before = agent.pair_.copy()
            s, a, r, t, end = step
            agent.update(s, a, r, t, terminated=end)
            i = int((agent.pair_[1] != before[1]).any())  # the coin of the fast one
            coins.append(i)
            double_backup(Q, i, *step, G, 0.1)
            same(Q, agent.pair_, atol=1e-12)
    same_mean(coins, 0.5)
    assert (double_q_learning(P, R, ends, G, 300, rng)[:4].argmax(axis=1) == 1).all()


def test_exploration():
    q, n = np.array([0.3, 0.9, 0.9]), np.array([9, 1, 9])
    chances = epsilon_greedy(q, 0.3)
    same(chances, [0.1, 0.45, 0.45])
    agent = QLearning(exploration=EpsilonGreedy(0.3), random_state=0).reset(1, 3)
    agent.q_[0] = q
    drawn = [agent._choose(0, 0) for _ in range(2000)]
    same_mean(np.equal.outer(drawn, range(3)), chances)
    same(optimistic(q, n, 2.0, 5), OptimisticExploration(2.0, 5).value(q, n))


@pytest.mark.parametrize("m", [0, 4])
def test_adaptive_dynamic_programming(m):
    P, R, ends = world()
    exploration = Greedy() if m == 0 else OptimisticExploration(2.0, m)
    agent = AdaptiveDynamicProgramming(discount=G, exploration=exploration).reset(5, 2)
    steps = []
    for state in q_episodes(P, R, ends, G, 0.1, 1.0, 5, rng):
        for s, a, r, t, end in state.steps:
            agent.update(s, a, r, t, terminated=end)
            steps.append((s, a, r, -1 if end else t))
    book = adaptive_dynamic_programming(steps, 5, 2, G, 2.0, m)
    same(book.visits, agent.counts_.sum(axis=2) if agent.counts_.ndim == 3 else agent.counts_)
    same(book.R, agent.reward_estimate_, atol=1e-12)
    fast = agent.values_ if m == 0 else agent.optimistic_values_
    same(np.where(book.visits.any(axis=1), book.Q.max(axis=1), 0), fast)


def test_deep_q_network():
    network = Network(*(rng.normal(size=s) for s in ((4, 8), 8, (8, 3), 3)))
    n = 20
    batch = Batch(
        rng.normal(size=(n, 4)),
        rng.integers(3, size=n),
        rng.normal(size=n),
        rng.normal(size=(n, 4)),
        rng.random(n) < 0.2,
    )
    target = targets(network, batch, G)
    loss, gradient = loss_gradient(network, batch, target)
    for name, slope in gradient._asdict().items():

        def moved(part, name=name):
            return loss_gradient(network._replace(**{name: part}), batch, target)[0]

        same(slope, slopes(moved, getattr(network, name)), atol=1e-8)
    fast = ValueNetwork(4, 3, (8,), random_state=0)
    fast.values(batch.x)
    ends = np.cumsum([32, 8, 24, 3])[:-1]
    twin = Network(
        *(p.reshape(w.shape) for p, w in zip(np.split(fast.vector_, ends), network, strict=True))
    )
    same(values(twin, batch.x), fast.values(batch.x), atol=1e-10)
    theirs = fast.gradient(batch.x, batch.a, target)
    ours = loss_gradient(twin, batch, target)
    same(ours[0], theirs[0])
    same(np.concatenate([part.ravel() for part in ours[1]]), theirs[1], atol=1e-12)
    learned = deep_q_network(network, batch, G, 0.01, 60, 30, 10, rng)
    assert loss_gradient(learned, batch, targets(learned, batch, G))[0] < loss


def test_policy_gradient():
    P, R, ends = world()
    agent = PolicyGradient(discount=G, learning_rate=0.1).reset(5, 2)
    for state in gradient_episodes(P, R, ends, G, 0.1, 12, rng):
        for k, (s, a, r) in enumerate(state.steps):
            agent.update(s, a, r, terminated=k == len(state.steps) - 1)
        same(state.h, agent.preferences_, atol=1e-10)
    assert (policy_gradient(P, R, ends, G, 200, rng)[:4, 1] > 0.5).all()
