"""What agents act in: an MDP simulated in compiled code, or a Gymnasium environment.

Both are reset and stepped in the same way. An episode's randomness comes from the second of the
agent's two stored words (``learning.agent_kernels``): an environment of Gymnasium is seeded from it
at every reset, so that a run can be continued from a file with the same bits.

Termination (the process ends: nothing comes after) and truncation (we stop looking: the next state
still has its value) are kept apart.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from pellucid.core.arrays.typing import Array, Seed
from pellucid.core.runtime.random import generator
from pellucid.reinforcement.learning.agent_kernels import World, begin, move, uniform
from pellucid.reinforcement.worlds.gym import make_environment
from pellucid.reinforcement.worlds.mdp import MDP


class Step(NamedTuple):
    """What an action led to."""

    observation: Any
    reward: float
    terminated: bool
    truncated: bool


class Place(Protocol):
    """The sizes of an environment, as agents see them."""

    n_states: Any  # None: observations are vectors
    n_actions: int
    n_inputs: int  # numbers in an observation
    allowed: Any  # (S, A), of an MDP; else None
    final: Any  # (S,) U of the terminal states, NaN elsewhere, of an MDP; else None


class Simulation:
    """An MDP to act in.

    >>> from pellucid.reinforcement.worlds.grid import grid_world
    >>> place, words = Simulation(grid_world(["S+"], slip=0.0)), random_words(0)
    >>> place.reset(words), place.step(1, words).reward
    (0, 0.96)
    """

    def __init__(self, mdp: MDP) -> None:
        if (mdp.start[mdp.terminal] > 0).any():
            s = int(np.flatnonzero((mdp.start > 0) & mdp.terminal)[0])
            raise ValueError(f"agents cannot start in the terminal state {mdp.states[s]!r}")
        P = mdp.transitions
        total = np.concatenate([[0.0], np.cumsum(P.data)])
        before = np.repeat(total[P.indptr[:-1]], np.diff(P.indptr))
        start = np.flatnonzero(mdp.start > 0)
        self.allowed: Any = (np.diff(P.indptr) > 0).reshape(mdp.n_states, mdp.n_actions)
        self.n_states: Any = mdp.n_states
        self.final: Any = np.where(mdp.terminal, mdp.final_values, np.nan)
        self.n_actions, self.n_inputs = mdp.n_actions, mdp.n_states
        self.state = -1
        reward = np.ascontiguousarray(mdp.outcome_rewards)
        outcomes = (P.indptr, P.indices, total[1:] - before, reward, mdp.terminal[P.indices])
        self.world = World(*outcomes, self.allowed, start, np.cumsum(mdp.start[start]))

    def reset(self, words: Array) -> int:
        self.state = int(begin(self.world, words))
        return self.state

    def step(self, action: int, words: Array) -> Step:
        e = move(self.world, self.state, action, words)
        self.state = int(self.world.after[e])
        return Step(self.state, float(self.world.reward[e]), bool(self.world.ends[e]), False)


class Move(NamedTuple):
    """One step of a walk that was watched; ``tables`` is what ``look()`` said before it."""

    state: int
    action: int
    reward: float
    after: int
    terminated: bool
    tables: Any


class Watched:
    """An MDP to act in whose walks are kept: the same moves, step by step.

    ``look()`` is asked before every step, for instance for a copy of the agent's table.

    >>> from pellucid.reinforcement.worlds.grid import grid_world
    >>> place, words = Watched(grid_world(["S+"], slip=0.0)), random_words(0)
    >>> place.reset(words), place.step(1, words).terminated, place.walks[0][0].reward
    (0, True, 0.96)
    """

    def __init__(self, mdp: MDP, look: Callable[[], Any] | None = None) -> None:
        self.place, self.look = Simulation(mdp), look
        self.n_states, self.n_actions = self.place.n_states, self.place.n_actions
        self.n_inputs, self.allowed = self.place.n_inputs, self.place.allowed
        self.final = self.place.final
        self.walks: list[list[Move]] = []

    def reset(self, words: Array) -> int:
        self.walks.append([])
        return self.place.reset(words)

    def step(self, action: int, words: Array) -> Step:
        state, seen = self.place.state, None if self.look is None else self.look()
        step = self.place.step(action, words)
        move = Move(state, int(action), step.reward, step.observation, step.terminated, seen)
        self.walks[-1].append(move)
        return step


class Surroundings:
    """A Gymnasium environment to act in: numbered states, or vectors of numbers."""

    allowed: Any = None
    final: Any = None

    def __init__(self, env: object) -> None:
        self.env = make_environment(env)
        seen: Any = getattr(self.env, "observation_space", None)
        acted: Any = getattr(self.env, "action_space", None)
        if seen is None or acted is None:
            raise ValueError("an environment needs an observation_space and an action_space")
        if not hasattr(acted, "n") or np.ndim(acted.n):
            raise ValueError(f"agents choose among numbered actions (Discrete), got {acted}")
        self.n_actions, self.first_action = int(acted.n), int(getattr(acted, "start", 0))
        self.sizes = _sizes(seen)
        self.n_states: Any = None if self.sizes is None else int(np.prod(self.sizes[:, 1]))
        if self.n_states is None and (
            getattr(seen, "shape", None) is None or seen.dtype.kind not in "fiub"
        ):
            raise ValueError(f"observations must be numbers (Discrete, Box), got {seen}")
        self.n_inputs = self.n_states or int(np.prod(seen.shape))

    def _see(self, observation: Any) -> Any:
        """Several numbers from a finite set become one; arrays become one vector."""
        if self.sizes is None:
            return np.asarray(observation, dtype=np.float64).ravel()
        code = 0
        for value, (low, n) in zip(np.atleast_1d(observation), self.sizes, strict=True):
            code = code * int(n) + int(value) - int(low)
        return code

    def reset(self, words: Array) -> Any:
        observation, _ = self.env.reset(seed=int(uniform(words, 1) * 2**31))
        return self._see(observation)

    def step(self, action: int, words: Array) -> Step:
        seen, reward, terminated, truncated, _ = self.env.step(int(action) + self.first_action)
        return Step(self._see(seen), float(reward), bool(terminated), bool(truncated))


def _sizes(space: Any) -> Any:
    """(lowest, how many) of each number of a finite space; None for vectors."""
    if hasattr(space, "nvec"):  # MultiDiscrete
        low = np.broadcast_to(getattr(space, "start", 0), np.shape(space.nvec))
        return np.column_stack([np.ravel(low), np.ravel(space.nvec)])
    if hasattr(space, "spaces") and isinstance(space.spaces, list | tuple):  # Tuple
        parts = [_sizes(part) for part in space.spaces]
        return None if any(part is None for part in parts) else np.concatenate(parts)
    if hasattr(space, "n") and not np.ndim(space.n) and not space.shape:  # Discrete
        return np.array([[int(getattr(space, "start", 0)), int(space.n)]])
    return None


def open_world(env: object) -> Any:
    """A place to act in from an MDP (or one that is watched), a Gymnasium environment or its id."""
    if isinstance(env, MDP):
        return Simulation(env)
    if isinstance(env, Watched):
        return env
    if not isinstance(env, str) and not (hasattr(env, "reset") and hasattr(env, "step")):
        kind = type(env).__name__
        raise TypeError(f"env must be an MDP, a Gymnasium environment or its id, got {kind}")
    return Surroundings(env)


def random_words(random_state: Seed) -> Any:
    """The state of the two streams: choices of the agent, moves of the world."""
    return generator(random_state).integers(2**64, size=2, dtype=np.uint64)


def one_hot(state: int, n: int) -> Array:
    """A numbered state as a vector.

    >>> one_hot(1, 3)
    array([0., 1., 0.])
    """
    row = np.zeros(n)
    row[state] = 1.0
    return row
