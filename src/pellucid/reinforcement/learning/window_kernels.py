r"""Learning from returns over several steps: n-step windows and whole episodes.

    G_t = r_t + g r_{t+1} + ... + g^{n-1} r_{t+n-1} + g^n V(x_{t+n}),     V(x_t) += a (G_t - V(x_t))

x is a state (evaluation of a policy) or a pair s A + a (SARSA); V one flat table. After the end
nothing comes; where an episode is cut off, the last x keeps its value. With n = 1 these are TD(0)
and SARSA with the same bits, with n >= the length of the episode Monte-Carlo evaluation.

References: Watkins (1989); Sutton & Barto (2018), ch. 5 and 7.
"""

import numpy as np

from pellucid.core.runtime.jit import jit
from pellucid.reinforcement.learning.agent_kernels import (
    begin,
    choose,
    exploration_rate,
    locate,
    move,
    pace,
    uniform,
)


@jit
def window_return(rewards, first, last, ahead, discount):
    """r_first + g r_{first+1} + ... + g^k ahead."""
    G = ahead
    for t in range(last - 1, first - 1, -1):
        G = rewards[t] + discount * G
    return G


@jit
def approach(table, visits, squares, x, G, rate):
    """V(x) += a (G - V(x)), a = 1/n for rate 0; the error.

    ``squares``, if it has a length, adds up squared deviations from the mean (for a = 1/n).
    """
    visits[x] += 1
    error = G - table[x]
    table[x] += (rate if rate > 0.0 else 1.0 / visits[x]) * error
    if len(squares) > 0:
        squares[x] += error * (G - table[x])
    return error


@jit
def settle(table, visits, squares, seen, cells, rewards, first, last, ahead, discount, rate, rates):
    """The updates that were waiting for the end; sum of absolute errors and their number.

    ``seen``, if it has a length, is all False before and after: then only the first visit counts.
    """
    for t in range(last - 1, first - 1, -1):
        ahead = rewards[t] + discount * ahead
        rewards[t] = ahead
    errors, n = 0.0, 0
    for t in range(first, last):
        if len(seen) > 0:
            if seen[cells[t]]:
                continue
            seen[cells[t]] = True
        x = cells[t]
        far = pace(rate, rates, visits[x] + 1)
        errors += abs(approach(table, visits, squares, x, rewards[t], far))
        n += 1
    if len(seen) > 0:
        for t in range(first, last):
            seen[cells[t]] = False
    return errors, n


@jit
def run_windows(
    world,
    policy,
    rule,
    rates,
    q,
    tries,
    table,
    visits,
    squares,
    seen,
    words,
    window,
    episode,
    stop,
    max_steps,
    budget,
    log,
):
    """As ``agent_kernels.run_control``. A policy without rows: actions by ``rule`` and ``q``."""
    A, control, discount, rate = world.allowed.shape[1], len(policy) == 0, rule.discount, rule.rate
    cells, rewards = np.empty(max_steps, np.intp), np.empty(max_steps)
    started, steps, tabled, enough = episode, 0, len(rates) > 0, len(rates) - max_steps
    top = visits.max() if tabled else 0
    while episode < stop and steps < budget and (top < enough or not tabled):
        epsilon = exploration_rate(rule, episode)
        s, a = begin(world, words), 0
        if control:
            a = choose(q, tries, world.allowed, rule, epsilon, s, words)
        total, errors, n, T, done, ended, x = 0.0, 0.0, 0, 0, 0, False, 0
        while max_steps > T and not ended:
            if not control:
                a = locate(policy[s], 0, A, uniform(words, 0))
            cells[T] = s * A + a if control else s
            e = move(world, s, a, words)
            s, ended, rewards[T] = world.after[e], world.ends[e], world.reward[e]
            total += rewards[T]
            T += 1
            if ended:
                break
            if control:
                a = choose(q, tries, world.allowed, rule, epsilon, s, words)
            x = s * A + a if control else s
            if window <= T:
                G = window_return(rewards, done, T, table[x], discount)
                far = pace(rate, rates, visits[cells[done]] + 1)
                errors += abs(approach(table, visits, squares, cells[done], G, far))
                n += 1
                done += 1
        ahead = 0.0 if ended else table[x]
        more = settle(
            table, visits, squares, seen, cells, rewards, done, T, ahead, discount, rate, rates
        )
        if tabled:
            for t in range(T):
                top = max(top, visits[cells[t]])
        log[episode - started, 0], log[episode - started, 1] = total, T
        log[episode - started, 2] = (errors + more[0]) / (n + more[1])
        steps += T
        episode += 1
    return episode
