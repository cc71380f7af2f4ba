"""Agents on simulated worlds: steps of learning against plain Python and NumPy loops."""

# ruff: noqa: B007

from typing import Any

import numpy as np

from benchmarks.harness import OURS, Case

STEPS, SIDE = 1_000_000, 20
MASK = 0xFFFFFFFFFFFFFFFF


def open_grid() -> Any:
    """A slippery 20 x 20 floor without an end: the goal in the corner pays and leads to the start.

    Every contender takes exactly the number of steps it is given.
    """
    from scipy.sparse import csr_array

    from pellucid.reinforcement import MDP, grid_world

    rows = ["." * SIDE for _ in range(SIDE)]
    rows[0] = "." * (SIDE - 1) + "+"
    rows[-1] = "S" + "." * (SIDE - 1)
    grid = grid_world(rows, slip=0.2, step_reward=-0.01)
    goal, start = SIDE - 1, SIDE * SIDE - SIDE
    P, paid = grid.transitions.tocoo(), grid.outcome_rewards
    row = np.concatenate([P.coords[0], goal * 4 + np.arange(4)])
    col = np.concatenate([np.where(P.coords[1] == goal, start, P.coords[1]), np.full(4, start)])
    shape = (4 * SIDE * SIDE, SIDE * SIDE)
    chances = csr_array((np.append(P.data, np.ones(4)), (row, col)), shape)
    rewards = csr_array((np.append(paid * P.data, np.full(4, 1e-9)), (row, col)), shape)
    rewards.data /= chances.data
    return MDP(chances, rewards, discount=0.99, start=start)


def lists(mdp: Any) -> tuple[Any, ...]:
    """The world as Python lists."""
    P, A = mdp.transitions, mdp.n_actions
    outcomes = []
    for s in range(mdp.n_states):
        outcomes.append([])
        for a in range(A):
            first, last = P.indptr[s * A + a], P.indptr[s * A + a + 1]
            rows, total = [], 0.0
            for k in range(first, last):
                total += float(P.data[k])
                after = int(P.indices[k])
                rows.append(
                    (total, after, float(mdp.outcome_rewards[k]), bool(mdp.terminal[after]))
                )
            outcomes[-1].append(rows)
    return outcomes, int(np.argmax(mdp.start)), mdp.n_states


def ours(cls_name: str, **options: Any) -> Any:
    def run(mdp: Any) -> Any:
        import pellucid.reinforcement as rl

        agent = getattr(rl, cls_name)(
            discount=0.99, n_episodes=STEPS // 1000, max_steps=1000, random_state=0, **options
        ).fit(mdp)
        return agent.values_[[0, SIDE * SIDE - SIDE]]

    return run


def power(n: int) -> float:
    return n**-0.7


def plain_q(mdp: Any, *, numpy_rows: bool = False, on_policy: bool = False) -> Any:
    """The loop as it is usually written: random, a table, an epsilon-greedy choice."""
    import random

    outcomes, start, n = lists(mdp)
    rng, A = random.Random(0), 4
    q: Any = np.zeros((n, A)) if numpy_rows else [[0.0] * A for _ in range(n)]

    def choose(s: int) -> int:
        if rng.random() < 0.1:
            return rng.randrange(A)
        row = q[s]
        if numpy_rows:
            return int(rng.choice(np.flatnonzero(row == row.max())))
        best = max(row)
        ties = [a for a in range(A) if row[a] == best]
        return ties[0] if len(ties) == 1 else rng.choice(ties)

    for _ in range(STEPS // 1000 // 10):
        s = start
        a = choose(s)
        for _ in range(1000):
            u = rng.random()
            for total, after, reward, ended in outcomes[s][a]:
                if u < total:
                    break
            a2 = 0 if ended else choose(after)
            ahead = 0.0 if ended else (q[after][a2] if on_policy else max(q[after]))
            q[s][a] += 0.1 * (reward + 0.99 * ahead - q[s][a])
            if ended:
                break
            s, a = after, a2
    return np.array([max(q[0]), max(q[SIDE * SIDE - SIDE])])


def numpy_q(mdp: Any) -> Any:
    return plain_q(mdp, numpy_rows=True)


def plain_sarsa(mdp: Any) -> Any:
    return plain_q(mdp, on_policy=True)


def plain_td(mdp: Any) -> Any:
    """TD(0) of random moves in Python lists, a tenth of the episodes."""
    import random

    outcomes, start, n = lists(mdp)
    rng, u = random.Random(0), [0.0] * n
    for _ in range(STEPS // 1000 // 10):
        s = start
        for _ in range(1000):
            draw = rng.random()
            for total, after, reward, ended in outcomes[s][rng.randrange(4)]:
                if draw < total:
                    break
            u[s] += 0.1 * (reward + (0.0 if ended else 0.99 * u[after]) - u[s])
            if ended:
                break
            s = after
    return np.array([u[0], u[SIDE * SIDE - SIDE]])


def plain_returns(mdp: Any) -> Any:
    """First-visit means of returns of random moves in Python lists, a tenth of the episodes."""
    import random

    outcomes, start, n = lists(mdp)
    rng, u, count = random.Random(0), [0.0] * n, [0] * n
    for _ in range(STEPS // 1000 // 10):
        s, walk = start, []
        for _ in range(1000):
            draw = rng.random()
            for total, after, reward, ended in outcomes[s][rng.randrange(4)]:
                if draw < total:
                    break
            walk.append((s, reward))
            if ended:
                break
            s = after
        G, first = u[s], {}
        for s, reward in reversed(walk):
            G = reward + 0.99 * G
            first[s] = G
        for s, G in first.items():
            count[s] += 1
            u[s] += (G - u[s]) / count[s]
    return np.array([u[0], u[SIDE * SIDE - SIDE]])


def alike(a: Any, b: Any) -> bool:
    """Learning is random and peers do a tenth of it: values of the same order (up to 100)."""
    return bool(np.isfinite(b).all() and np.abs(a - b).max() < 5.0)


def small_grid() -> Any:
    from pellucid.reinforcement import grid_world

    return grid_world(["...+", ".#.-", "S..."], discount=0.95)


def ours_planning(mdp: Any) -> Any:
    from pellucid.reinforcement import AdaptiveDynamicProgramming, OptimisticExploration

    agent = AdaptiveDynamicProgramming(
        discount=0.95, exploration=OptimisticExploration(2.0, 30), n_episodes=300, random_state=0
    ).fit(mdp)
    return agent.values_[:3]


def numpy_planning(mdp: Any) -> Any:
    """Count, and plan by value iteration on dense arrays after each step; 30 episodes."""
    rng, (S, A) = np.random.default_rng(0), (mdp.n_states, mdp.n_actions)
    outcomes, _, _ = lists(mdp)
    starts = np.flatnonzero(mdp.start)
    N, R, U = np.zeros((S, A, S)), np.zeros((S, A)), np.zeros(S)
    for _ in range(30):
        s = int(rng.choice(starts, p=mdp.start[starts]))
        for _ in range(1000):
            n = N.sum(axis=2)
            ahead = np.where(n < 30, 2.0, (N @ U) / np.maximum(n, 1))
            Q = R / np.maximum(n, 1) + 0.95 * ahead
            a = int(rng.choice(np.flatnonzero(Q[s] == Q[s].max())))
            draw = rng.random()
            for total, after, reward, ended in outcomes[s][a]:
                if draw < total:
                    break
            N[s, a, after] += 1
            R[s, a] += reward
            n = N.sum(axis=2)
            P = N / np.maximum(n, 1)[:, :, None]
            for _ in range(100):
                ahead = np.where(n < 30, 2.0, P @ U)
                new = (R / np.maximum(n, 1) + 0.95 * ahead).max(axis=1)
                new[mdp.terminal] = 0.0
                change, U = np.abs(new - U).max(), new
                if change < 1e-9:
                    break
            if ended:
                break
            s = after
    return U[:3]


def gradient_world() -> Any:
    from pellucid.reinforcement import grid_world

    return grid_world(["....+", ".....", "S...."], slip=0.1, discount=0.95)


def ours_gradient(mdp: Any) -> Any:
    from pellucid.reinforcement import PolicyGradient

    agent = PolicyGradient(
        discount=0.95, learning_rate=0.1, n_episodes=5000, max_steps=200, random_state=0
    ).fit(mdp)
    return np.array([agent.history_["return"][400:500].mean()])


def numpy_gradient(mdp: Any) -> Any:
    """REINFORCE with a mean baseline on NumPy rows; 500 episodes."""
    rng, (S, A) = np.random.default_rng(0), (mdp.n_states, mdp.n_actions)
    outcomes, _, _ = lists(mdp)
    starts = np.flatnonzero(mdp.start)
    h, mean, count, totals = np.zeros((S, A)), 0.0, 0, []
    for _ in range(500):
        s, steps = int(rng.choice(starts)), []
        for _ in range(200):
            p = np.exp(h[s] - h[s].max())
            p /= p.sum()
            a = int(min(np.searchsorted(np.cumsum(p), rng.random()), A - 1))
            draw = rng.random()
            for total, after, reward, ended in outcomes[s][a]:
                if draw < total:
                    break
            steps.append((s, a, reward, p))
            if ended:
                break
            s = after
        G, back = 0.0, []
        for _, _, r, _ in reversed(steps):
            G = r + 0.95 * G
            back.append(G)
        base, fade = mean, 0.1
        for (s, a, _, p), G in zip(steps, reversed(back), strict=True):
            slope = -p
            slope[a] += 1
            h[s] += fade * (G - base) * slope
            fade *= 0.95
            count += 1
            mean += (G - mean) / count
        totals.append(sum(step[2] for step in steps))
    return np.array([np.mean(totals[400:500])])


def cart_steps() -> Any:
    return "CartPole-v1"


def ours_deep(env: Any) -> Any:
    from pellucid.reinforcement import DeepQNetwork

    agent = DeepQNetwork((64,), n_episodes=60, random_state=0).fit(env)
    return np.array([agent.n_moves_ / 60])


def torch_deep(env: Any) -> Any:
    """The usual single-file agent: a torch network, replay lists, one Adam step per move."""
    import random
    from collections import deque

    import gymnasium
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(1)
    rng, world = random.Random(0), gymnasium.make(env)

    def build() -> Any:
        layers = torch.nn.Linear(4, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2)
        return torch.nn.Sequential(*layers)

    net, target = build(), build()
    target.load_state_dict(net.state_dict())
    adam, memory, moves = torch.optim.Adam(net.parameters(), lr=1e-3), deque(maxlen=10_000), 0
    for episode in range(60):
        x, _ = world.reset(seed=episode)
        ended = cut = False
        while not (ended or cut):
            if rng.random() < max(0.98**episode, 0.05):
                a = rng.randrange(2)
            else:
                with torch.no_grad():
                    a = int(net(torch.from_numpy(x)[None]).argmax())
            x2, r, ended, cut, _ = world.step(a)
            memory.append((x, a, r, x2, ended))
            x, moves = x2, moves + 1
            if len(memory) >= 32:
                batch = rng.sample(memory, 32)
                X, A, R, X2, E = (np.array(part) for part in zip(*batch, strict=True))
                with torch.no_grad():
                    best = target(torch.from_numpy(X2)).max(dim=1).values
                    y = torch.from_numpy(R).float() + 0.99 * best * torch.from_numpy(~E).float()
                taken = torch.from_numpy(A)[:, None]
                loss = ((net(torch.from_numpy(X)).gather(1, taken)[:, 0] - y) ** 2).mean()
                adam.zero_grad()
                loss.backward()
                adam.step()
            if moves % 200 == 0:
                target.load_state_dict(net.state_dict())
    return np.array([moves / 60])


TENTH = {"python lists": 0.1, "numpy rows": 0.1}

CASES = [
    Case(
        "QLearning, 1,000,000 steps on a 20 x 20 grid",
        open_grid,
        {OURS: ours("QLearning"), "python lists": plain_q, "numpy rows": numpy_q},
        alike,
        "two random numbers and one row of four values per step",
        note="Peers take a tenth of the steps; the ratio is per step.",
        work=TENTH,
    ),
    Case(
        "QLearning, 1,000,000 steps on a 20 x 20 grid, steps of n^-0.7 by a function",
        open_grid,
        {OURS: ours("QLearning", step_size=power), "python lists": plain_q},
        alike,
        "as above; the function is asked once for each n",
        note="Peers take a tenth of the steps, with a constant step size; the ratio is per step.",
        work=TENTH,
    ),
    Case(
        "SARSA, 1,000,000 steps on a 20 x 20 grid",
        open_grid,
        {OURS: ours("SARSA"), "python lists": plain_sarsa},
        alike,
        "two random numbers and one row of four values per step",
        note="Peers take a tenth of the steps; the ratio is per step.",
        work=TENTH,
    ),
    Case(
        "DoubleQLearning, 1,000,000 steps on a 20 x 20 grid (peer: plain Q-learning)",
        open_grid,
        {OURS: ours("DoubleQLearning"), "python lists": plain_q},
        alike,
        "three random numbers and two rows of four values per step",
        note="Peers take a tenth of the steps; the ratio is per step.",
        work=TENTH,
    ),
    Case(
        "TDLearning, 1,000,000 random moves on a 20 x 20 grid",
        open_grid,
        {OURS: ours("TDLearning"), "python lists": plain_td},
        alike,
        "two random numbers per step",
        note="Peers take a tenth of the steps; the ratio is per step.",
        work=TENTH,
    ),
    Case(
        "TDLearning, windows of 4, 1,000,000 random moves on a 20 x 20 grid (peer: one step)",
        open_grid,
        {OURS: ours("TDLearning", n_steps=4), "python lists": plain_td},
        alike,
        "two random numbers and four rewards per step",
        note="Peers take a tenth of the steps; the ratio is per step.",
        work=TENTH,
    ),
    Case(
        "MonteCarloLearning, first visits, 1,000,000 random moves on a 20 x 20 grid",
        open_grid,
        {OURS: ours("MonteCarloLearning"), "python lists": plain_returns},
        alike,
        "two random numbers per step, and one pass back over the episode",
        note="Peers take a tenth of the steps; the ratio is per step.",
        work=TENTH,
    ),
    Case(
        "AdaptiveDynamicProgramming, 300 episodes on the 4 x 3 grid, a plan after every step",
        small_grid,
        {OURS: ours_planning, "numpy": numpy_planning},
        lambda a, b: bool(np.isfinite(b).all()),
        "sweeps over 44 pairs of some three outcomes",
        note="The peer does 30 episodes; the ratio is per episode.",
        work={"numpy": 0.1},
    ),
    Case(
        "PolicyGradient, 5,000 episodes on a 5 x 3 grid",
        gradient_world,
        {OURS: ours_gradient, "numpy rows": numpy_gradient},
        lambda a, b: bool(np.abs(a - b).max() < 0.3),
        "four exponentials per step",
        note="The peer does 500 episodes; the ratio is per episode.",
        work=TENTH,
    ),
    Case(
        "DeepQNetwork, 60 episodes of CartPole, one hidden layer of 64",
        cart_steps,
        {OURS: ours_deep, "torch": torch_deep},
        lambda a, b: bool(np.isfinite(b).all()),
        "about 100,000 multiply-adds per move",
        note="Runs differ in length by luck; compare the times per move.",
        rounds=1,
        repeats=1,
    ),
]
