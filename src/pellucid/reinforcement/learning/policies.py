"""Policies as tables of cumulative probabilities, from which actions are drawn."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray


def policy_probabilities(
    policy: ArrayLike | None, n_states: int, n_actions: int, allowed: BoolArray | None = None
) -> Array:
    """(S, A) from actions (S,), probabilities (S, A) or None: any available action.

    >>> policy_probabilities([1, 0], 2, 2)
    array([[0., 1.],
           [1., 0.]])
    """
    open_ = np.ones((n_states, n_actions), bool) if allowed is None else allowed
    if policy is None:
        return open_ / np.maximum(open_.sum(axis=1, keepdims=True), 1)
    given = np.asarray(policy)
    if given.shape == (n_states,):
        if given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= n_actions:
            raise ValueError(f"actions of a policy must be whole numbers from 0 to {n_actions - 1}")
        chances = np.eye(n_actions)[given]
    elif given.shape == (n_states, n_actions):
        chances = given.astype(np.float64)
        if not (chances >= 0).all() or (np.abs(chances.sum(axis=1) - 1) > 1e-6).any():
            raise ValueError("the probabilities of a policy must be >= 0 and sum to 1 per state")
    else:
        S, A = n_states, n_actions
        raise ValueError(f"policy must have shape ({S},) or ({S}, {A}), got {given.shape}")
    bad = (chances > 0) & ~open_ & open_.any(axis=1, keepdims=True)  # ends have no actions
    if bad.any():
        s, a = np.argwhere(bad)[0]
        raise ValueError(f"policy takes action {a} in state {s}, where it is not available")
    return chances


def cumulative_policy(policy: Any, place: Any) -> Array:
    """Probabilities added up along each row; no rows where states are not numbered."""
    if place.n_states is None:
        if policy is not None:
            raise ValueError("observations are vectors here: policy must be a function of one")
        return np.zeros((0, place.n_actions))
    chances = policy_probabilities(policy, place.n_states, place.n_actions, place.allowed)
    total = np.cumsum(chances, axis=1)
    return np.ascontiguousarray(total / np.where(total[:, -1:] > 0, total[:, -1:], 1.0))
