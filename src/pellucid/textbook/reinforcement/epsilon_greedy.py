r"""Epsilon-greedy and optimistic exploration: try things now to do well later.

Choose      with probability e any action, else the one with the largest value Q[s, a]
Step        a greedy agent never learns what it never tries. With e > 0 each action is tried without
            end, so every value is learned; letting e fade like 1 / visits makes the policy best in
            the limit. Optimism instead: an action tried fewer than m times counts as worth r+.
Cost        |A| per choice.
The fast version breaks ties at random, and knows which actions are there.
"""

import numpy as np


def epsilon_greedy(q: np.ndarray, e: float) -> np.ndarray:
    """Probabilities of the actions, from their values; ties share the greedy part."""
    best = q == q.max()
    return e / len(q) + (1 - e) * best / best.sum()


def optimistic(q: np.ndarray, visits: np.ndarray, r_plus: float, m: int) -> np.ndarray:
    """Values to act by: what is little known looks good."""
    return np.where(visits < m, r_plus, q)
