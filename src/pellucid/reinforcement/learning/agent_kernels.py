r"""Agents that learn on a simulated Markov decision process: whole runs in one compiled loop.

The random numbers are those of SplitMix64: two words of state, ``words[0]`` for the choices of the
agent and ``words[1]`` for the moves of the world, so that agents can be compared on the same luck
and a run continues from two stored numbers. Single steps from Python call the same functions in the
same order: a run has the same bits either way.

References: Steele, Lea & Flood (2014) for the generator; Sutton & Barto (2018) for the updates.
"""

from typing import NamedTuple

import numpy as np

from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.splitmix import GOLDEN, splitmix64

SARSA, Q, DOUBLE_Q = 0, 1, 2  # kinds of targets

S11 = np.uint64(11)
UNIT = 1.0 / 9007199254740992.0  # 2^-53
LINEAR = 16  # so many outcomes are searched one by one


class World(NamedTuple):
    """A process as lists: the outcomes of action a in state s are first[s A + a] .. the next."""

    first: np.ndarray  # (S A + 1,)
    after: np.ndarray  # next state of each outcome
    cumulative: np.ndarray  # probabilities of the outcomes of one pair, added up
    reward: np.ndarray
    ends: np.ndarray  # whether the outcome ends the episode
    allowed: np.ndarray  # (S, A)
    start: np.ndarray  # states
    start_cumulative: np.ndarray


class Control(NamedTuple):
    """How an agent of action values learns and explores."""

    kind: int
    discount: float
    rate: float  # 0: 1/n; below 0: from a table
    epsilon: float
    decay: float
    minimum: float
    optimistic: float
    n_visits: int  # tries below which a pair counts as worth ``optimistic``
    half_life: float = 0.0  # visits of a state after which it explores half as much; 0: never


@jit
def scrambled(z):
    """A number in [0, 1) from a word."""
    return float(splitmix64(z) >> S11) * UNIT


@jit
def uniform(words, k):
    """The next number of stream k, in [0, 1)."""
    words[k] += GOLDEN
    return scrambled(words[k])


@jit
def random_rows(words, count, rows):
    """Fill ``rows`` with whole numbers below count."""
    for i in range(len(rows)):
        rows[i] = int(uniform(words, 0) * count)


@jit
def locate(cumulative, low, high, u):
    """The first place in low..high-1 whose cumulative probability is above u, or the last."""
    last = high - 1
    if high - low <= LINEAR:
        while low < last and u >= cumulative[low]:
            low += 1
        return low
    while low < last:
        middle = (low + last) // 2
        if u < cumulative[middle]:
            last = middle
        else:
            low = middle + 1
    return low


@jit
def begin(world, words):
    """A first state."""
    u = uniform(words, 1)
    return world.start[locate(world.start_cumulative, 0, len(world.start), u)]


@jit
def move(world, s, a, words):
    """The outcome of an action, as its place in the lists."""
    row = s * world.allowed.shape[1] + a
    return locate(world.cumulative, world.first[row], world.first[row + 1], uniform(words, 1))


@jit
def pick(row, allowed, epsilon, words):
    """An action: any one with probability epsilon, else one of the best; ties at random."""
    explores = epsilon > 0.0 and uniform(words, 0) < epsilon
    best, ties = -np.inf, 0
    for a in range(len(row)):
        if not allowed[a]:
            continue
        if explores or row[a] == best:
            ties += 1
        elif row[a] > best:
            best, ties = row[a], 1
    k = int(uniform(words, 0) * ties) if ties > 1 else 0
    for a in range(len(row)):
        if allowed[a] and (explores or row[a] == best):
            if k == 0:
                return a
            k -= 1
    return 0


@jit
def faded(epsilon, half_life, minimum, visits, s):
    """epsilon x h / (h + N(s)), not below the minimum."""
    n = 0
    for a in range(visits.shape[1]):
        n += visits[s, a]
    return max(epsilon * half_life / (half_life + n), minimum)


@jit
def pace(rate, rates, n):
    """The rate of the n-th update: constant, 1/n for 0, from the table below 0."""
    if rate > 0.0:
        return rate
    return 1.0 / n if rate == 0.0 else rates[n]


@jit
def believed(q, visits, rule, s, a):
    """The value of an action as the exploration rule sees it."""
    return rule.optimistic if visits[s, a] < rule.n_visits else q[s, a]


@jit
def choose(q, visits, allowed, rule, epsilon, s, words):
    """The action of an agent in state s: ``pick`` on row s, without making the row.

    Selects instead of branches: what the best action is cannot be predicted.
    """
    if rule.half_life > 0.0:
        epsilon = faded(epsilon, rule.half_life, rule.minimum, visits, s)
    if epsilon > 0.0 and uniform(words, 0) < epsilon:
        ties = 0
        for a in range(q.shape[1]):
            ties += allowed[s, a]
        k = int(uniform(words, 0) * ties) if ties > 1 else 0
        for a in range(q.shape[1]):
            if allowed[s, a]:
                if k == 0:
                    return a
                k -= 1
    best, first, ties = -np.inf, 0, 0
    for a in range(q.shape[1]):
        value = believed(q, visits, rule, s, a) if allowed[s, a] else -np.inf
        better, equal = value > best, value == best
        first = a if better else first
        ties = 1 if better else ties + equal
        best = max(value, best)
    if ties < 2:
        return first
    k = int(uniform(words, 0) * ties)
    for a in range(first, q.shape[1]):
        if allowed[s, a] and believed(q, visits, rule, s, a) == best:
            if k == 0:
                return a
            k -= 1
    return first


@jit
def best_value(q, allowed, s):
    """max_a Q(s, a) of the actions available."""
    best = -np.inf
    for a in range(q.shape[1]):
        best = max(best, q[s, a] if allowed[s, a] else -np.inf)
    return best


@jit
def best_action(q, allowed, s):
    """The lowest action of greatest value."""
    best = -1
    for a in range(q.shape[1]):
        if allowed[s, a] and (best < 0 or q[s, a] > q[s, best]):
            best = a
    return best


@jit
def learn(q, pair, visits, allowed, rule, rate, s, a, r, s2, a2, ended, words):
    """One update; the temporal-difference error.

    SARSA     r + g Q(s', a')          Q-learning  r + g max Q(s', .)
    double Q  r + g Q_B(s', argmax Q_A(s', .)) for table A, chosen by a coin; q is their mean
    """
    visits[s, a] += 1
    if rate <= 0.0:
        rate = 1.0 / visits[s, a]
    if rule.kind == DOUBLE_Q:
        i = 0 if uniform(words, 0) < 0.5 else 1
        ahead = 0.0 if ended else pair[1 - i, s2, best_action(pair[i], allowed, s2)]
        error = r + rule.discount * ahead - pair[i, s, a]
        pair[i, s, a] += rate * error
        q[s, a] = 0.5 * (pair[0, s, a] + pair[1, s, a])
        return error
    if ended:
        ahead = 0.0
    elif rule.kind == SARSA:
        ahead = q[s2, a2]
    else:
        ahead = best_value(q, allowed, s2)
    error = r + rule.discount * ahead - q[s, a]
    q[s, a] += rate * error
    return error


@jit
def exploration_rate(rule, episode):
    """epsilon x decay^episode, not below the minimum."""
    return max(rule.epsilon * rule.decay**episode, rule.minimum)


@jit
def run_control(world, q, pair, visits, words, rule, rates, episode, stop, max_steps, budget, log):
    """Episodes ``episode`` .. ``stop``-1, or until ``budget`` steps are done; the next episode.

    ``rates``, if it has a length, are the rates of the n-th update of a pair (rule.rate < 0); when
    an episode might need more of them, the run stops too.
    ``log`` (n, 3) receives return, length and mean absolute error of each. ``choose``, ``move`` and
    ``learn`` are written out here: counting references to the arrays handed to functions takes
    longer than a step does. SARSA's update waits until the next action is known.
    """
    allowed, places, after, cumulative = world.allowed, world.first, world.after, world.cumulative
    reward, ends, A = world.reward, world.ends, q.shape[1]
    kind, discount, fixed, n_visits = rule.kind, rule.discount, rule.rate, rule.n_visits
    optimistic, w0, w1 = rule.optimistic, words[0], words[1]
    half_life, minimum, enough = rule.half_life, rule.minimum, len(rates) - max_steps
    first, steps, negative, tabled = episode, 0, -np.inf, len(rates) > 0
    top = visits.max() if tabled else 0
    while episode < stop and steps < budget and (top < enough or not tabled):
        fading = max(rule.epsilon * rule.decay**episode, minimum)
        epsilon = fading
        w1 += GOLDEN
        s = world.start[locate(world.start_cumulative, 0, len(world.start), scrambled(w1))]
        total, errors, t, waits = 0.0, 0.0, 0, False
        from_s, from_a, r, ended = s, 0, 0.0, False
        while True:
            # choose: any action, or one of the best
            if half_life > 0.0:
                n = 0
                for b in range(A):
                    n += visits[s, b]
                epsilon = max(fading * half_life / (half_life + n), minimum)
            explores = False
            if epsilon > 0.0:
                w0 += GOLDEN
                explores = scrambled(w0) < epsilon
            best, a, ties = negative, 0, 0
            for b in range(A):
                value = 0.0 if explores else q[s, b]
                if n_visits > 0 and not explores and visits[s, b] < n_visits:
                    value = optimistic
                value = value if allowed[s, b] else negative
                better = value > best
                a = b if better else a
                ties = 1 if better else ties + (value == best)
                best = max(value, best)
            if ties > 1:
                w0 += GOLDEN
                k = int(scrambled(w0) * ties)
                for b in range(a, A):
                    value = 0.0 if explores else q[s, b]
                    if n_visits > 0 and not explores and visits[s, b] < n_visits:
                        value = optimistic
                    if allowed[s, b] and value == best:
                        if k == 0:
                            a = b
                            break
                        k -= 1
            if waits:
                n = visits[from_s, from_a] + 1
                visits[from_s, from_a] = n
                top = max(top, n)
                rate = fixed if fixed > 0.0 else (rates[n] if tabled else 1.0 / n)
                error = r + discount * q[s, a] - q[from_s, from_a]
                q[from_s, from_a] += rate * error
                errors += abs(error)
                if t == max_steps:
                    break
            # move
            w1 += GOLDEN
            u, row = scrambled(w1), s * A + a
            e, last = places[row], places[row + 1] - 1
            if last - e < LINEAR:
                while e < last and u >= cumulative[e]:
                    e += 1
            else:
                e = locate(cumulative, e, last + 1, u)
            r, ended, from_s, from_a = reward[e], ends[e], s, a
            s = after[e]
            t += 1
            total += r
            waits = kind == SARSA and not ended
            if waits:
                continue
            # learn
            n = visits[from_s, from_a] + 1
            visits[from_s, from_a] = n
            top = max(top, n)
            rate = fixed if fixed > 0.0 else (rates[n] if tabled else 1.0 / n)
            ahead = 0.0
            if kind == DOUBLE_Q:
                w0 += GOLDEN
                i = 0 if scrambled(w0) < 0.5 else 1
                if not ended:
                    top = negative
                    for b in range(A):
                        if allowed[s, b] and pair[i, s, b] > top:
                            top, ahead = pair[i, s, b], pair[1 - i, s, b]
                error = r + discount * ahead - pair[i, from_s, from_a]
                pair[i, from_s, from_a] += rate * error
                q[from_s, from_a] = 0.5 * (pair[0, from_s, from_a] + pair[1, from_s, from_a])
            else:
                if not ended:
                    ahead = negative
                    for b in range(A):
                        ahead = max(ahead, q[s, b] if allowed[s, b] else negative)
                error = r + discount * ahead - q[from_s, from_a]
                q[from_s, from_a] += rate * error
            errors += abs(error)
            if ended or t == max_steps:
                break
        log[episode - first, 0], log[episode - first, 1] = total, t
        log[episode - first, 2] = errors / t
        steps += t
        episode += 1
    words[0], words[1] = w0, w1
    return episode


@jit
def evaluate_step(u, visits, traces, discount, rate, trace, s, r, s2, ended):
    """TD(lambda): U += a d e, d = r + g U(s') - U(s), e the decaying traces; d is returned."""
    visits[s] += 1
    if rate <= 0.0:
        rate = 1.0 / visits[s]
    error = r - u[s] if ended else r + discount * u[s2] - u[s]
    if trace == 0.0:
        u[s] += rate * error
        return error
    traces[s] += 1.0
    for i in range(len(u)):
        if traces[i] > 0.0:
            u[i] += rate * error * traces[i]
            traces[i] = 0.0 if ended else traces[i] * discount * trace
    return error


@jit
def run_evaluation(
    world,
    policy,
    values,
    visits,
    traces,
    words,
    discount,
    rate,
    rates,
    trace,
    episode,
    stop,
    max_steps,
    budget,
    log,
):
    """As ``run_control``, for the values of a policy given by cumulative probabilities (S, A)."""
    places, after, cumulative, A = world.first, world.after, world.cumulative, policy.shape[1]
    reward, ends, w0 = world.reward, world.ends, words[0]
    first, steps, tabled, enough = episode, 0, len(rates) > 0, len(rates) - max_steps
    top = visits.max() if tabled else 0
    while episode < stop and steps < budget and (top < enough or not tabled):
        s, total, errors, t = begin(world, words), 0.0, 0.0, 0
        w1 = words[1]
        traces[:] = 0.0
        while t < max_steps:
            w0 += GOLDEN
            w1 += GOLDEN
            u, v, a = scrambled(w0), scrambled(w1), 0
            while a < A - 1 and u >= policy[s, a]:
                a += 1
            e, last = places[s * A + a], places[s * A + a + 1] - 1
            while e < last and v >= cumulative[e]:
                e += 1
            s2, r, ended = after[e], reward[e], ends[e]
            t += 1
            n = visits[s] + 1
            top = max(top, n)
            far = rate if rate > 0.0 else (rates[n] if tabled else 1.0 / n)
            if trace == 0.0:  # ``evaluate_step``, written out as in ``run_control``
                visits[s] = n
                error = r - values[s] if ended else r + discount * values[s2] - values[s]
                values[s] += far * error
            else:
                error = evaluate_step(values, visits, traces, discount, far, trace, s, r, s2, ended)
            total += r
            errors += abs(error)
            if ended:
                break
            s = s2
        words[1] = w1
        log[episode - first, 0], log[episode - first, 1] = total, t
        log[episode - first, 2] = errors / t
        steps += t
        episode += 1
    words[0] = w0
    return episode
