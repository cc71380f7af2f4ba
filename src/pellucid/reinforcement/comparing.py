r"""Compare agents over many seeds: learning curves with bands, and a test that is valid.

One run of an agent is one draw from a wide distribution. Every agent is run with the same seeds;
for seed k let s_k be the mean return of its last episodes. Two agents are compared by the paired
differences d_k:

    interval   mean d +- t_(n-1) sd(d) / sqrt(n)
    test       the share of the 2^n ways to flip signs of the d_k whose |mean| is at least as large

The test needs no distribution, only that d_k and -d_k are equally likely if the agents are equally
good; its p-value cannot be below 2^(1-n). Holm's correction covers all pairs.

References: Henderson et al. (2018); Colas, Sigaud & Oudeyer (2019); Fisher (1935).
"""

import time
from collections.abc import Mapping
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit
from sklearn.base import clone

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, Seed
from pellucid.core.records import text_table
from pellucid.core.runtime.random import generator, stream
from pellucid.reinforcement.learning.agents import Agent

EXACT = 16  # seeds up to which all signs are flipped
FLIPS = 20_000  # random ones beyond


class AgentDifference(NamedTuple):
    """``first`` minus ``second``: mean of the paired differences over the seeds."""

    first: str
    second: str
    mean: float
    low: float
    high: float
    p_value: float
    adjusted: float  # Holm, over all pairs


class AgentComparison(NamedTuple):
    """Learning curves of several agents over the same seeds."""

    names: tuple[str, ...]
    returns: Array  # (agents, seeds, episodes)
    mean: Array  # (agents, episodes)
    low: Array  # of the interval for the mean, at each episode
    high: Array
    final: Array  # (agents, seeds) mean return of the last episodes
    steps: Array  # (agents, seeds)
    seconds: Array  # (agents, seeds)
    differences: tuple[AgentDifference, ...]

    def __str__(self) -> str:
        rows: list[tuple[Any, ...]] = [
            (name, f.mean(), f.std(ddof=1) / np.sqrt(len(f)), int(n.mean()), t.mean())
            for name, f, n, t in zip(self.names, self.final, self.steps, self.seconds, strict=True)
        ]
        columns = ("agent", "final return", "standard error", "steps", "seconds")
        pairs = [(f"{d.first} - {d.second}", *d[2:]) for d in self.differences]
        text = text_table(columns, rows)
        if pairs:
            text += "\n\n" + text_table(("pair", "mean", "low", "high", "p", "adjusted"), pairs)
        return text


def flip_test(d: Array, seed: int = 0) -> float:
    """The p-value of |mean d| when each sign is as likely as the other.

    >>> flip_test(np.array([1.0, 2.0, 3.0, 4.0]))
    0.125
    """
    n, seen = len(d), abs(d.sum()) * (1 - 1e-12)
    if n <= EXACT:
        signs = 1.0 - 2.0 * (np.arange(2**n)[:, None] >> np.arange(n) & 1)
        return float(np.mean(np.abs(signs @ d) >= seen))
    signs = 2.0 * stream(seed, n).integers(2, size=(FLIPS, n)) - 1.0
    return float((1 + (np.abs(signs @ d) >= seen).sum()) / (1 + FLIPS))


def holm(p: Array) -> Array:
    """Adjusted for all of them.

    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate((len(p) - np.arange(len(p))) * p[order])
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def mean_limits(x: Array, confidence: float) -> tuple[Array, Array]:
    """The t-interval for the mean along the first axis."""
    n = len(x)
    half = stdtrit(n - 1, (1 + confidence) / 2) * x.std(axis=0, ddof=1) / np.sqrt(n)
    return x.mean(axis=0) - half, x.mean(axis=0) + half


def compare_agents(
    agents: Mapping[str, Agent],
    env: object,
    n_seeds: int = 10,
    *,
    last: float = 0.1,
    confidence: float = 0.95,
    random_state: Seed = 0,
) -> AgentComparison:
    """Run every agent with the same seeds and compare what they reach.

    Parameters
    ----------
    agents : dict of name -> agent
        With the same ``n_episodes``; each run is a fresh copy.
    env : MDP, Gymnasium environment or its id
        Where all agents act.
    n_seeds : int, default=10
        At least 2; five leave no p-value below 0.0625.
    last : float in (0, 1), default=0.1
        Share of the episodes, the last ones, whose mean return is the score of a run.
    confidence : float, default=0.95
        Of the intervals.
    random_state : None, int, RandomState or Generator, default=0
        For the seeds.

    Returns
    -------
    AgentComparison
        names, returns, mean, low, high, final, steps, seconds, differences.

    Examples
    --------
    >>> from pellucid.reinforcement import QLearning, SARSA, compare_agents, grid_world
    >>> mdp = grid_world(["..+", "S.-"], slip=0.2, discount=0.9)
    >>> agents = {"q": QLearning(n_episodes=50), "sarsa": SARSA(n_episodes=50)}
    >>> found = compare_agents(agents, mdp, n_seeds=4)
    >>> found.returns.shape, found.differences[0].first
    ((2, 4, 50), 'q')
    """
    check.whole(at_least=2, n_seeds=n_seeds)
    check.fraction(last=last, confidence=confidence)
    lengths = _episode_numbers(agents)
    seeds = generator(random_state).integers(2**31, size=n_seeds).tolist()
    shape = (len(agents), n_seeds)
    returns, steps, seconds = np.empty((*shape, lengths)), np.empty(shape), np.empty(shape)
    for i, agent in enumerate(agents.values()):
        for k, seed in enumerate(seeds):
            began = time.perf_counter()
            run = clone(agent).set_params(random_state=seed).fit(env)
            seconds[i, k] = time.perf_counter() - began
            if len(run.history_) != lengths:
                raise ValueError(f"a run of {list(agents)[i]!r} stopped before its last episode")
            returns[i, k], steps[i, k] = run.history_["return"], run.history_["length"].sum()
    low, high = zip(*(mean_limits(runs, confidence) for runs in returns), strict=True)
    final = returns[:, :, -max(1, round(last * lengths)) :].mean(axis=2)
    curves = (returns, returns.mean(axis=1), np.array(low), np.array(high))
    differences = _differences(tuple(agents), final, confidence)
    return AgentComparison(tuple(agents), *curves, final, steps, seconds, differences)


def _episode_numbers(agents: Mapping[str, Agent]) -> int:
    if not isinstance(agents, Mapping) or not agents:
        raise TypeError(f"agents must be a dict of name -> agent, got {agents!r}")
    for name, agent in agents.items():
        if not isinstance(agent, Agent):
            raise TypeError(f"{name!r} must be an agent such as QLearning(), got {agent!r}")
    lengths = {name: agent.n_episodes for name, agent in agents.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"agents need the same n_episodes to be compared, got {lengths}")
    return next(iter(lengths.values()))


def _differences(
    names: tuple[str, ...], final: Array, confidence: float
) -> tuple[AgentDifference, ...]:
    pairs = list(combinations(range(len(names)), 2))
    if not pairs:
        return ()
    d = [final[i] - final[j] for i, j in pairs]
    p = np.array([flip_test(one) for one in d])
    found = []
    for (i, j), one, p_value, adjusted in zip(pairs, d, p, holm(p), strict=True):
        low, high = mean_limits(one, confidence)
        numbers = (one.mean(), low, high, p_value, adjusted)
        found.append(AgentDifference(names[i], names[j], *map(float, numbers)))
    return tuple(found)
