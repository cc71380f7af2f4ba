"""What the pictures of decision processes read off: states, actions, values, policies."""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, BoolArray, IntArray
from pellucid.core.figures import figures
from pellucid.reinforcement.worlds.mdp import MDP

TURNS = {"up": (0, 1), "right": (1, 0), "down": (0, -1), "left": (-1, 0)}  # on paper
MOST_STATES = 2500


class Plan(NamedTuple):
    """Values of the states and, where there is a policy, an action for each (-1: none)."""

    values: Array  # (S,)
    policy: IntArray | None  # (S,)


def check_world(mdp: Any) -> MDP:
    if not isinstance(mdp, MDP):
        raise TypeError(f"mdp must be an MDP of pellucid.reinforcement, got {type(mdp).__name__}")
    return mdp


def plan_of(mdp: MDP, V: np.ndarray, policy: Any = None) -> Plan:
    """Values (and policy) as arrays: V may be a fitted planner or agent."""
    if hasattr(V, "values_"):
        policy = getattr(V, "policy_", None) if policy is None else policy
        V = V.values_
    elif hasattr(V, "fit"):
        raise ValueError(f"{type(V).__name__} has no values_: fit it first")
    V = np.asarray(V, dtype=np.float64)
    S = mdp.n_states
    if V.shape != (S,):
        raise ValueError(f"V must hold a value for each of the {S} states, got shape {V.shape}")
    if not np.isfinite(V).all():
        raise ValueError("V must hold finite numbers, got NaN or infinity")
    return Plan(V, None if policy is None else actions_of(mdp, policy))


def actions_of(mdp: MDP, policy: Any) -> IntArray:
    """One action per state, -1 where there is no choice.

    ``policy`` holds (S,) actions, or (S, A) chances of which the likeliest counts.
    """
    found, S = np.asarray(policy), mdp.n_states
    if found.shape == (S, mdp.n_actions):
        found = found.argmax(axis=1)
    if found.shape != (S,):
        raise ValueError(f"policy needs an action for each of the {S} states, got {found.shape}")
    actions = found.astype(np.intp)
    if ((actions < 0) | (actions >= mdp.n_actions)).any():
        raise ValueError(f"policy must hold actions 0 to {mdp.n_actions - 1}")
    return np.where(mdp.terminal | nothing_to_choose(mdp), -1, actions)


def nothing_to_choose(mdp: MDP) -> BoolArray:
    """States where all actions do the same thing, such as the holes of FrozenLake."""
    P, r, A = mdp.transitions, mdp.rewards, mdp.n_actions
    if A == 1:
        return np.zeros(mdp.n_states, bool)
    alike = (r == r[:, :1]).all(axis=1)
    for a in range(1, A):
        apart = P[a::A] - P[::A]
        alike &= np.asarray(abs(apart).sum(axis=1)).ravel() == 0
    return alike


def met(mdp: MDP) -> BoolArray:
    """States that some walk from the start gets to."""
    P, A = mdp.transitions, mdp.n_actions
    found, n = mdp.start > 0, 0
    while found.sum() > n:
        n = int(found.sum())
        found = found | (np.repeat(found, A).astype(np.float64) @ P > 0)
    return found


def drawn_ends(mdp: MDP) -> BoolArray:
    """Ends, and states from which every action ends at once and for nothing."""
    P, A = mdp.transitions, mdp.n_actions
    over = (P @ mdp.terminal.astype(np.float64)).reshape(-1, A).min(axis=1) > 1 - 1e-12
    free = (mdp.rewards == 0).all(axis=1)
    return mdp.terminal | (nothing_to_choose(mdp) & over & free)


def cells_of(mdp: MDP, shape: Any = None) -> IntArray | None:
    """Row and column of every state on a grid, (S, 2); -1 where it is not on it; None: no grid.

    States named (row, column) are on one; ``shape`` says that states count through the rows.
    """
    if shape is not None:
        rows, columns = shape
        if not 0 < rows * columns <= mdp.n_states:
            raise ValueError(f"shape {shape!r} has more cells than the {mdp.n_states} states")
        at = np.full((mdp.n_states, 2), -1, dtype=np.intp)
        at[: rows * columns] = np.indices((rows, columns)).reshape(2, -1).T
        return at
    pairs = all(
        isinstance(s, tuple) and len(s) == 2 and all(isinstance(i, int) and i >= 0 for i in s)
        for s in mdp.states
    )
    return np.array(mdp.states, dtype=np.intp) if pairs else None


def turns_of(mdp: MDP, directions: Any = None) -> list[tuple[int, int]] | None:
    """Where each action points, or None where actions have no direction."""
    names = list(mdp.actions) if directions is None else list(directions)
    if directions is not None and len(names) != mdp.n_actions:
        raise ValueError(f"directions must name {mdp.n_actions} actions, got {len(names)}")
    strange = [name for name in names if name not in TURNS]
    if strange and directions is not None:
        raise ValueError(f"directions must be of {sorted(TURNS)}, got {strange[0]!r}")
    return None if strange else [TURNS[name] for name in names]


def number(value: float) -> str:
    """A value with three figures, short."""
    return figures(float(value), 3 if abs(value) >= 1e-3 or value == 0 else 1, missing="nan")
