"""Worlds and a plain Python twin of the compiled agents."""

from copy import copy

import numpy as np
from scipy.sparse import csr_array, eye_array, kron

from pellucid.reinforcement import MDP, ValueIteration, grid_world

MASK = 2**64 - 1

BOOK = ["...+", ".#.-", "S..."]  # the 4 x 3 world of the textbooks


def book_world(discount=0.95, slip=0.2):
    return grid_world(BOOK, discount=discount, slip=slip)


def loop_world():
    """One state that pays 1 for ever."""
    return MDP([[[1.0]]], [[1.0]], discount=0.5)


class Twin:
    """SplitMix64, moves and choices written out on Python numbers."""

    def __init__(self, mdp, words):
        self.mdp, self.words = mdp, [int(w) for w in words]

    def uniform(self, k):
        self.words[k] = z = (self.words[k] + 0x9E3779B97F4A7C15) & MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return ((z ^ (z >> 31)) >> 11) / 2**53

    def _among(self, items, chances, u):
        total = 0.0
        for item, p in zip(items, chances, strict=True):
            total += p
            if u < total:
                return item
        return item

    def reset(self):
        items = [s for s in range(self.mdp.n_states) if self.mdp.start[s] > 0]
        return self._among(items, self.mdp.start[items], self.uniform(1))

    def step(self, s, a):
        P, row = self.mdp.transitions, s * self.mdp.n_actions + a
        places = range(P.indptr[row], P.indptr[row + 1])
        k = self._among(places, P.data[places.start : places.stop], self.uniform(1))
        after = int(P.indices[k])
        return after, float(self.mdp.outcome_rewards[k]), bool(self.mdp.terminal[after])

    def open(self, s):
        P, A = self.mdp.transitions, self.mdp.n_actions
        return [a for a in range(A) if P.indptr[s * A + a + 1] > P.indptr[s * A + a]]

    def choose(self, row, s, epsilon):
        candidates = self.open(s)
        if not (epsilon > 0 and self.uniform(0) < epsilon):
            best = max(row[a] for a in candidates)
            candidates = [a for a in candidates if row[a] == best]
        k = int(self.uniform(0) * len(candidates)) if len(candidates) > 1 else 0
        return candidates[k]

    def by_chance(self, chances):
        return self._among(range(len(chances)), chances, self.uniform(0))


# --- what agents converge to -----------------------------------------------------------------


def paid(mdp):
    """The expected reward of each pair as agents see it: ends are worth 0, what they pay is paid
    on the way there."""
    P = mdp.transitions
    each = csr_array((P.data * mdp.outcome_rewards, P.indices, P.indptr), P.shape)
    return each @ np.ones(mdp.n_states)


def softened(mdp, epsilon):
    """The process in which a random action is taken instead with probability epsilon: its best
    values are the best that any policy with so many random moves has."""
    S, A = mdp.n_states, mdp.n_actions
    mix = (1 - epsilon) * eye_array(S * A) + epsilon * kron(eye_array(S), np.full((A, A), 1 / A))
    return MDP(csr_array(mix @ mdp.transitions), (mix @ paid(mdp)).reshape(S, A),
               discount=mdp.discount, terminal=mdp.terminal)  # fmt: skip


def best_pairs(mdp, epsilon=0.0):
    """The planner's Q(s, a), after which a random action follows with probability epsilon."""
    U = ValueIteration(tol=1e-11, max_iter=100_000).fit(softened(mdp, epsilon)).values_
    return (paid(mdp) + mdp.discount * (mdp.transitions @ U)).reshape(mdp.n_states, -1)


def soft_policy(mdp, epsilon):
    """The best policy with that many random moves, as probabilities."""
    Q = best_pairs(mdp, epsilon)
    chances = np.full(Q.shape, epsilon / Q.shape[1])
    chances[np.arange(len(Q)), Q.argmax(axis=1)] += 1 - epsilon
    return chances


def reachable(mdp):
    """States that are not the end and can be reached from a start."""
    step = csr_array(kron(eye_array(mdp.n_states), np.ones((1, mdp.n_actions))) @ mdp.transitions)
    seen = mdp.start > 0
    while True:
        more = seen | (step.T @ (seen & ~mdp.terminal).astype(float) > 0)
        if (more == seen).all():
            return seen & ~mdp.terminal
        seen = more


def everywhere(mdp):
    """The same process, started in any state that can be reached."""
    live, other = reachable(mdp), copy(mdp)
    other.start = live / live.sum()
    return other
