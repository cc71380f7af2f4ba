r"""Adaptive dynamic programming in compiled code: count, estimate, plan, act.

The model is a list of the next states met for each pair (s, a), so that a plan costs
O(pairs x outcomes met) per sweep, not O(S^2 A):

    Q+(s, a) = r(s, a) + g f(sum_s' N(s, a, s') / N(s, a) U+(s'), N(s, a)),   U+(s) = max_a Q+(s, a)

in place, from the values of the plan before: one more observation moves them little.
"""

from typing import NamedTuple

import numpy as np

from pellucid.core.runtime.jit import jit
from pellucid.reinforcement.learning.agent_kernels import begin, faded, locate, move, pick, uniform


class Planner(NamedTuple):
    """How the agent plans and explores."""

    discount: float
    optimistic: float
    n_visits: int
    epsilon: float
    decay: float
    minimum: float
    plan_every: int
    tol: float
    max_sweeps: int
    half_life: float = 0.0


@jit
def observe(model, s, a, r, s2, ended):
    """Count one step; False where the list of next states is full."""
    n = model.n_after[s, a]
    k = 0
    while k < n and model.after[s, a, k] != s2:
        k += 1
    if k == n:
        if n == model.after.shape[2]:
            return False
        model.after[s, a, k] = s2
        model.n_after[s, a] = n + 1
    model.counts[s, a, k] += 1
    model.visits[s, a] += 1
    model.reward[s, a] += r
    if ended:
        model.terminal[s2] = True
    return True


@jit
def backed_up(model, u, planner, s, a, optimistic):
    """Q+(s, a), or Q(s, a) where not ``optimistic``."""
    n = model.visits[s, a]
    ahead = 0.0
    if optimistic and n < planner.n_visits:
        ahead = planner.optimistic
    elif n > 0:
        for k in range(model.n_after[s, a]):
            s2 = model.after[s, a, k]
            if not model.terminal[s2]:
                ahead += model.counts[s, a, k] * u[s2]
        ahead /= n
    r = model.reward[s, a] / n if n > 0 else 0.0
    return r + planner.discount * ahead


@jit
def solved(model, u, planner, s, a, optimistic):
    """As ``backed_up``, solved for U(s) where (s, a) may lead back to s: sweeps converge sooner."""
    n = model.visits[s, a]
    if n == 0 or (optimistic and n < planner.n_visits):
        return backed_up(model, u, planner, s, a, optimistic)
    ahead, stays = 0.0, 0
    for k in range(model.n_after[s, a]):
        s2 = model.after[s, a, k]
        if s2 == s:
            stays = model.counts[s, a, k]
        elif not model.terminal[s2]:
            ahead += model.counts[s, a, k] * u[s2]
    left = n - planner.discount * stays
    if left < 1e-9 * n:  # never leaves, discount 1
        return backed_up(model, u, planner, s, a, optimistic)
    return (model.reward[s, a] + planner.discount * ahead) / left


@jit
def plan(model, u, planner, optimistic, tol, max_sweeps):
    """Value iteration in place until nothing moves by more than ``tol`` times the largest value.

    Returns the last change.
    """
    S, A = model.visits.shape
    change = np.inf
    for sweep in range(max_sweeps):
        change, size = 0.0, 0.0
        for i in range(S):
            s = i if sweep % 2 else S - 1 - i
            best = -np.inf
            if not model.terminal[s]:
                for a in range(A):
                    known = optimistic or model.visits[s, a] > 0
                    if model.allowed[s, a] and known:
                        best = max(best, solved(model, u, planner, s, a, optimistic))
            if best == -np.inf:
                best = 0.0
            change = max(change, abs(best - u[s]))
            u[s] = best
            size = max(size, abs(best))
        if change <= tol * size:
            break
    return change


@jit
def decide(model, u, planner, epsilon, s, words, row):
    """An action by the optimistic values; ``row`` is room for A numbers."""
    if planner.half_life > 0.0:
        epsilon = faded(epsilon, planner.half_life, planner.minimum, model.visits, s)
    for a in range(len(row)):
        row[a] = backed_up(model, u, planner, s, a, True)
    return pick(row, model.allowed[s], epsilon, words)


@jit
def run_planning(
    world, model, u, words, planner, policy, episode, stop, max_steps, budget, clock, log
):
    """Episodes of an agent that replans every ``plan_every`` steps; the next episode.

    ``policy``, if it has rows, are cumulative probabilities of actions: then nothing is planned.
    ``clock[0]`` counts the steps of all episodes; ``log`` (n, 3) receives return, length and the
    mean absolute error r + g U(s') - U(s).
    """
    A, passive = model.visits.shape[1], len(policy) > 0
    first, steps, row = episode, 0, np.empty(A)
    while episode < stop and steps < budget:
        epsilon = max(planner.epsilon * planner.decay**episode, planner.minimum)
        s, total, errors, t = begin(world, words), 0.0, 0.0, 0
        while t < max_steps:
            if passive:
                a = locate(policy[s], 0, A, uniform(words, 0))
            else:
                a = decide(model, u, planner, epsilon, s, words, row)
            e = move(world, s, a, words)
            s2, r, ended = world.after[e], world.reward[e], world.ends[e]
            t += 1
            clock[0] += 1
            observe(model, s, a, r, s2, ended)
            errors += abs(r + (0.0 if ended else planner.discount * u[s2]) - u[s])
            if not passive and clock[0] % planner.plan_every == 0:
                plan(model, u, planner, True, planner.tol, planner.max_sweeps)
            total += r
            if ended:
                break
            s = s2
        log[episode - first, 0], log[episode - first, 1] = total, t
        log[episode - first, 2] = errors / t
        steps += t
        episode += 1
    return episode
