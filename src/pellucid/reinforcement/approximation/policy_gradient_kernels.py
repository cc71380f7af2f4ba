r"""REINFORCE on a table of preferences: whole episodes in compiled code.

    pi(a | s) = exp h(s, a) / sum_b exp h(s, b)
    h(s_t, b) += eta g^t (G_t - baseline) (1[b = a_t] - pi(b | s_t)),   G_t = r_t + g G_(t+1)

The probabilities are those under which the episode was acted; the baseline comes from earlier
episodes, so that the expectation is the gradient of the expected utility.
"""

import numpy as np

from pellucid.core.runtime.jit import jit
from pellucid.reinforcement.learning.agent_kernels import begin, move, uniform

NONE, MEAN, VALUE = 0, 1, 2  # baselines


@jit
def softmax_draw(row, allowed, chances, words):
    """Fill ``chances`` with the softmax of the preferences and draw an action."""
    top = -np.inf
    for a in range(len(row)):
        if allowed[a]:
            top = max(top, row[a])
    total = 0.0
    for a in range(len(row)):
        chances[a] = np.exp(row[a] - top) if allowed[a] else 0.0
        total += chances[a]
    u, chosen, passed = uniform(words, 0) * total, -1, 0.0
    for a in range(len(row)):
        passed += chances[a]
        if allowed[a] and (chosen < 0 or u >= passed - chances[a]) and chances[a] > 0.0:
            chosen = a
        chances[a] /= total
    return chosen


@jit
def reinforce(h, base, kind, discount, rate, states, actions, rewards, chances, n):
    """Learn from an episode of n steps; the mean absolute advantage. ``rewards`` become G_t."""
    for t in range(n - 2, -1, -1):
        rewards[t] += discount * rewards[t + 1]
    fade, size = rate, 0.0
    for t in range(n):
        s, b = states[t], 0.0
        if kind == MEAN:
            b = base.mean[0]
        elif kind == VALUE:
            b = base.values[s]
        advantage = rewards[t] - b
        size += abs(advantage)
        for a in range(h.shape[1]):
            taken = 1.0 if a == actions[t] else 0.0
            h[s, a] += fade * advantage * (taken - chances[t, a])
        fade *= discount
    for t in range(n):
        base.mean[1] += 1.0
        base.mean[0] += (rewards[t] - base.mean[0]) / base.mean[1]
        s = states[t]
        base.counts[s] += 1
        base.values[s] += (rewards[t] - base.values[s]) / base.counts[s]
    return size / n


@jit
def run_reinforce(
    world,
    h,
    base,
    kind,
    words,
    discount,
    rate,
    episode,
    stop,
    max_steps,
    budget,
    states,
    actions,
    rewards,
    chances,
    log,
):
    """Episodes until ``stop`` or ``budget`` steps; the next one. The last arrays are room."""
    first, steps = episode, 0
    while episode < stop and steps < budget:
        s, total, t = begin(world, words), 0.0, 0
        while t < max_steps:
            a = softmax_draw(h[s], world.allowed[s], chances[t], words)
            e = move(world, s, a, words)
            states[t], actions[t], rewards[t] = s, a, world.reward[e]
            total += rewards[t]
            t += 1
            if world.ends[e]:
                break
            s = world.after[e]
        log[episode - first, 0], log[episode - first, 1] = total, t
        log[episode - first, 2] = reinforce(
            h, base, kind, discount, rate, states, actions, rewards, chances, t
        )
        steps += t
        episode += 1
    return episode
