"""Markov decision processes from and for Gymnasium (extra ``rl``).

A tabular environment has ``P[s][a]``, a list of (probability, next state, reward, terminated).
Two outcomes that lead to one state may pay differently: they stay two outcomes here.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from pellucid.core.arrays.typing import Array

if TYPE_CHECKING:
    from pellucid.reinforcement.worlds.mdp import MDP


class GymTable(NamedTuple):
    """A tabular environment as sparse rows; the last state is the end."""

    P: csr_array  # ((S + 1) A, S + 1)
    R: csr_array  # the same structure
    start: Array | None  # (S + 1,)


def gymnasium() -> Any:
    """The library, or one sentence."""
    try:
        import gymnasium
    except ImportError as error:
        raise ImportError('environments need Gymnasium: pip install "pellucid[rl]"') from error
    return gymnasium


def make_environment(env: object) -> Any:
    """An environment from its id, or as given."""
    if isinstance(env, str):
        library = gymnasium()
        try:
            return library.make(env)
        except library.error.Error as error:  # no such id, another version, a part not installed
            raise ValueError(f"there is no environment {env!r}: {error}") from error
    if not hasattr(env, "reset") or not hasattr(env, "step"):
        raise ValueError(f"env must be a Gymnasium environment or its id, got {type(env).__name__}")
    return env


def table_of(env: object) -> GymTable:
    """Read ``P`` of a tabular environment."""
    env = getattr(make_environment(env), "unwrapped", env)
    table = getattr(env, "P", None)
    if table is None:
        raise ValueError(
            f"{type(env).__name__} has no table of transitions P, so its MDP is not known: "
            "let an agent learn it by acting"
        )
    S, A = len(table), len(table[0])
    counts, rows = np.zeros((S + 1) * A, np.int64), []
    for s in range(S):
        for a in range(A):
            counts[s * A + a] = len(table[s][a])
            rows += [(p, S if ended else t, r) for p, t, r, ended in table[s][a]]
    probability, state, reward = (np.array(column) for column in zip(*rows, strict=True))
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices = state.astype(np.int64)
    shape = ((S + 1) * A, S + 1)
    P = csr_array((probability.astype(float), indices, indptr), shape=shape)
    R = csr_array((reward.astype(float), indices, indptr), shape=shape)
    start = getattr(env, "initial_state_distrib", None)
    return GymTable(P, R, None if start is None else np.append(np.asarray(start, float), 0.0))


def gym_rows(mdp: "MDP") -> dict[int, dict[int, list[tuple[float, int, float, bool]]]]:
    """``P[s][a]`` of an MDP; an action that is not available leaves everything as it is."""
    P, paid = mdp.transitions, mdp.outcome_rewards
    table: dict[int, dict[int, list[tuple[float, int, float, bool]]]] = {}
    for s in range(mdp.n_states):
        table[s] = {}
        for a in range(mdp.n_actions):
            first, last = P.indptr[s * mdp.n_actions + a : s * mdp.n_actions + a + 2]
            table[s][a] = [
                (float(P.data[k]), int(t := P.indices[k]), float(paid[k]), bool(mdp.terminal[t]))
                for k in range(first, last)
            ] or [(1.0, s, 0.0, bool(mdp.terminal[s]))]
    return table


def table_environment(mdp: "MDP") -> Any:
    """A ``gymnasium.Env`` that walks through ``mdp``."""
    library = gymnasium()
    blocked = np.argwhere(np.isneginf(mdp.rewards))
    if len(blocked):
        s, a = blocked[0]
        raise ValueError(
            "Gymnasium lets every action be taken in every state, but action "
            f"{mdp.actions[a]!r} is not available in state {mdp.states[s]!r}"
        )

    class TableEnvironment(library.Env):  # type: ignore[name-defined]
        """Discrete states and actions; ``P`` is the table, ``s`` the state."""

        def __init__(self) -> None:
            self.P = gym_rows(mdp)
            self.initial_state_distrib = mdp.start
            self.observation_space = library.spaces.Discrete(mdp.n_states)
            self.action_space = library.spaces.Discrete(mdp.n_actions)

        def reset(
            self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
        ) -> tuple[int, dict]:
            super().reset(seed=seed)
            self.s = int(self.np_random.choice(mdp.n_states, p=self.initial_state_distrib))
            return self.s, {}

        def step(self, action: int) -> tuple[int, float, bool, bool, dict]:
            outcomes = self.P[self.s][int(action)]
            u = self.np_random.random()
            for p, state, reward, ended in outcomes:  # noqa: B007  the last one that is reached
                if u < p:
                    break
                u -= p
            self.s = state
            return state, reward, ended, False, {"prob": p}

    return TableEnvironment()
