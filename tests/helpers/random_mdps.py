"""Random decision processes for the tests."""

import numpy as np

from pellucid.reinforcement import MDP


def random_mdp(seed, *, S=12, A=3, discount=0.9, form="action", ends=1, blocked=True):
    """Sparse random rows; some actions are not available; the last ``ends`` states are terminal."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(S, 0.2), size=(S, A))
    P[P < 0.02] = 0.0
    P /= P.sum(axis=2, keepdims=True)
    if blocked:
        P[rng.random((S, A)) < 0.2] = 0.0
        P[np.arange(S), 0] = rng.dirichlet(np.ones(S), size=S)  # one action is always there
    R = {"state": (S,), "action": (S, A), "outcome": (S, A, S)}[form]
    terminal = range(S - ends, S)
    return MDP(P, rng.normal(size=R), discount=discount, terminal=terminal)
