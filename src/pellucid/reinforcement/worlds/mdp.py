r"""Markov decision processes.

States s, actions a, P(s' | s, a), rewards, a discount g. Three ways to write the reward,

    R(s)         U(s) = R(s) + g max_a sum_s' P(s'|s,a) U(s')           U(terminal) = R(terminal)
    R(s, a)      U(s) = max_a [R(s,a) + g sum_s' P(s'|s,a) U(s')]       U(terminal) = 0
    R(s, a, s')  U(s) = max_a sum_s' P(s'|s,a) [R(s,a,s') + g U(s')]    U(terminal) = 0

become one normal form, U = max_a [r(s,a) + g (P U)(s,a)]: a sparse row of P per state and action
(row s A + a), r = -inf where an action is not available, and for a terminal state an empty row
with r = its final value. No table of size S^2 is ever made.

References: Russell & Norvig, Artificial Intelligence, ch. 17; Puterman (1994).
"""

from collections.abc import Sequence
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray, Seed
from pellucid.core.readable import readable
from pellucid.core.records import html_table
from pellucid.core.runtime.random import generator
from pellucid.reinforcement.planning.evaluation import evaluate_linear, policy_table
from pellucid.reinforcement.worlds.gym import table_environment, table_of
from pellucid.reinforcement.worlds.mdp_tables import Names, normal_form, rows_of, stack_rows
from pellucid.reinforcement.worlds.walk_kernels import walk

__all__ = ["MDP", "Episode"]


@readable
class Episode(NamedTuple):
    """One walk: ``states`` has one entry more than ``actions`` and ``rewards``.

    >>> Episode(np.array([0, 1]), np.array([1]), np.array([0.96]), True).terminated
    True
    """

    states: IntArray  # (T + 1,)
    actions: IntArray  # (T,)
    rewards: Array  # (T,)
    terminated: bool  # False: cut off before its end


MOST_ROWS = 40  # of the table in a notebook


@readable
class MDP:
    """A Markov decision process, dense or sparse.

    Parameters
    ----------
    transitions : array (S, A, S), A sparse matrices (S, S), or one sparse matrix (S*A, S)
        ``P(s' | s, a)``. A row of zeros: the action is not available in that state.
    rewards : array (S,), (S, A) or (S, A, S), or sparse like the transitions
        ``R(s)``, ``R(s, a)`` or ``R(s, a, s')``.
    discount : float in [0, 1], default=0.9
        Weight of a reward one step later.
    terminal : states, or a boolean mask
        Where an episode ends. Their rows of ``transitions`` are not looked at.
    states, actions : sequences of names, default=None
        None: 0, 1, ...
    start : a state or probabilities (S,)
        Where episodes begin; by default uniform over the states that are not terminal.

    Attributes
    ----------
    n_states, n_actions : int
    transitions : sparse array (S*A, S)
        Row ``s * A + a``; rows of terminal states are empty.
    rewards : ndarray of shape (S, A)
        Expected reward; ``-inf`` where not available, the final value in terminal states.
    terminal : boolean ndarray of shape (S,)
    final_values : ndarray of shape (S,)
    start : ndarray of shape (S,), probabilities
    outcome_rewards : ndarray, one per stored outcome
        What a simulated move pays; with R(s) a final move includes ``discount * R(terminal)``,
        so that the discounted sum of an episode is its utility.

    Examples
    --------
    >>> from pellucid.reinforcement import MDP
    >>> right = [[[0.2, 0.8, 0.0]], [[0.0, 0.2, 0.8]], [[0.0, 0.0, 1.0]]]
    >>> mdp = MDP(right, [0.0, 0.0, 1.0], terminal=[2])
    >>> mdp.bellman([0.0, 0.0, 1.0])
    array([0.  , 0.72, 1.  ])
    """

    def __init__(
        self,
        transitions: ArrayLike,
        rewards: ArrayLike,
        *,
        discount: float = 0.9,
        terminal: ArrayLike = (),
        states: Sequence[Any] | None = None,
        actions: Sequence[Any] | None = None,
        start: object = None,
    ) -> None:
        _check_discount(discount)
        P, A = stack_rows(transitions)
        S = P.shape[1]
        self.n_states, self.n_actions, self.discount = S, A, float(discount)
        self.states = _names("states", states, S)
        self.actions = _names("actions", actions, A)
        self.terminal = self._mask(terminal)
        if self.terminal.all():
            raise ValueError("every state is terminal: there is nothing to decide")
        table = normal_form(P, rewards, self.terminal, Names(self.states, self.actions))
        self.transitions = _narrow(table.P)
        self.rewards = table.expected.reshape(S, A)
        self.final_values = table.final
        self._given = table.reward
        self.start = self._distribution(start)

    # --- names -----------------------------------------------------------------------------

    @cached_property
    def _index(self) -> dict[Any, int]:
        return {name: i for i, name in enumerate(self.states)}

    def index(self, state: object) -> int:
        """The number of a state given by its name."""
        if isinstance(self.states, range):
            if isinstance(state, int | np.integer) and 0 <= state < self.n_states:
                return int(state)
        elif (key := _hashable(state)) in self._index:
            return self._index[key]
        raise ValueError(f"{state!r} is not a state: {_some(self.states)}")

    def _mask(self, terminal: Any) -> BoolArray:
        mask = np.zeros(self.n_states, dtype=bool)
        if isinstance(terminal, np.ndarray) and terminal.dtype == bool:
            if terminal.shape != mask.shape:
                raise ValueError(f"the mask of terminal states must have shape ({len(mask)},)")
            return terminal.copy()
        single = isinstance(terminal, str) or not hasattr(terminal, "__iter__")
        if not single and isinstance(terminal, tuple) and not isinstance(self.states, range):
            single = terminal in self._index  # one state whose name is a tuple
        for state in [terminal] if single else terminal:
            mask[self.index(state)] = True
        return mask

    def _distribution(self, start: object) -> Array:
        if start is None:
            return ~self.terminal / (~self.terminal).sum()
        S = self.n_states
        array = isinstance(start, np.ndarray | list) and np.shape(start) == (S,)
        if array and np.asarray(start).dtype.kind == "f":
            p = np.asarray(start, dtype=np.float64)
            if not (p >= 0).all() or abs(p.sum() - 1) > 1e-6:
                raise ValueError(f"start probabilities must be >= 0 and sum to 1, got {p.sum():g}")
            return p / p.sum()
        p = np.zeros(S)
        p[self.index(start)] = 1.0
        return p

    def _repr_html_(self) -> str:
        """For a notebook: reward and likeliest next states of every move, at most 40 of them."""
        rows = []
        for row in range(min(self.n_states * self.n_actions, MOST_ROWS)):
            s, a = divmod(row, self.n_actions)
            start, stop = self.transitions.indptr[row : row + 2]
            chances = zip(
                self.transitions.data[start:stop], self.transitions.indices[start:stop], strict=True
            )
            best = sorted(chances, reverse=True)[:3]
            to = ", ".join(f"{self.states[t]} ({p:.3g})" for p, t in best)
            end = "end" if self.terminal[s] else to or "not available"
            rows.append((str(self.states[s]), str(self.actions[a]), self.rewards[s, a], end))
        more = self.n_states * self.n_actions - len(rows)
        rest = f", and {more} more moves" if more else ""
        size = f"{self.n_states} states, {self.n_actions} actions, discount {self.discount:g}"
        table = html_table(("state", "action", "reward", "next states"), rows)
        return f"{table}<p>{size}{rest}</p>"

    def __repr__(self) -> str:
        return (
            f"MDP({self.n_states} states, {self.n_actions} actions, "
            f"{self.transitions.nnz} outcomes, discount {self.discount:g})"
        )

    # --- the Bellman equation --------------------------------------------------------------

    def q_values(self, U: ArrayLike) -> Array:
        """``r(s,a) + g sum P U``, shape (S, A); -inf where an action is not available."""
        U = self._values(U)
        return self.rewards + self.discount * (self.transitions @ U).reshape(self.rewards.shape)

    def bellman(self, U: ArrayLike) -> Array:
        """One synchronous sweep of value iteration."""
        return self.q_values(U).max(axis=1)

    def greedy(self, U: ArrayLike) -> IntArray:
        """The best action of every state by U; the lowest index on ties."""
        return self.q_values(U).argmax(axis=1)

    def residual(self, U: ArrayLike) -> float:
        """max |B U - U|; with discount g < 1, U is within residual / (1 - g) of the optimum."""
        U = self._values(U)
        return float(np.abs(self.bellman(U) - U).max())

    def evaluate(self, policy: ArrayLike) -> Array:
        """The utility of following ``policy``, (S,) actions or (S, A) probabilities."""
        return evaluate_linear(self, policy_table(self, policy))

    def _values(self, U: ArrayLike) -> Array:
        U = np.asarray(U, dtype=np.float64)
        if U.shape != (self.n_states,) or not np.isfinite(U).all():
            raise ValueError(f"values must be {self.n_states} finite numbers, got shape {U.shape}")
        return U

    # --- acting ----------------------------------------------------------------------------

    @cached_property
    def outcome_rewards(self) -> Array:
        """What each stored outcome pays when it happens."""
        P = self.transitions
        paid = self.rewards.ravel()[rows_of(P)] if self._given is None else self._given
        return paid + self.discount * self.final_values[P.indices]

    def simulate(
        self,
        policy: ArrayLike,
        *,
        n_episodes: int = 1,
        max_steps: int = 1000,
        start: object = None,
        random_state: Seed = None,
    ) -> list[Episode]:
        """Walk by ``policy``, (S,) or (S, A); an episode ends in a terminal state or is cut off.

        >>> from pellucid.reinforcement import grid_world
        >>> mdp = grid_world(["S+"], slip=0.0)
        >>> mdp.simulate([1, 0], random_state=0)[0].states
        array([0, 1])
        """
        check.whole(n_episodes=n_episodes, max_steps=max_steps)
        chances = policy_table(self, policy)
        first = np.cumsum(self.start if start is None else self._distribution(start))
        rng = generator(random_state)
        P, episodes = self.transitions, []
        for _ in range(n_episodes):
            s = min(int(np.searchsorted(first, rng.random(), side="right")), self.n_states - 1)
            states, actions = np.empty(max_steps + 1, np.intp), np.empty(max_steps, np.intp)
            paid = np.empty(max_steps)
            world = P.indptr, P.indices, P.data, self.outcome_rewards, self.terminal
            T = walk(*world, chances, s, rng.random((max_steps, 2)), states, actions, paid)
            ended = bool(self.terminal[states[T]])
            steps = states[: T + 1].copy(), actions[:T].copy(), paid[:T].copy()
            episodes.append(Episode(*steps, ended))
        return episodes

    # --- Gymnasium -------------------------------------------------------------------------

    def to_gymnasium(self) -> Any:
        """This MDP as a ``gymnasium.Env`` with a table ``P`` (extra ``rl``)."""
        return table_environment(self)

    @classmethod
    def from_gymnasium(cls, env: object, *, discount: float = 0.99) -> "MDP":
        """The MDP of a tabular Gymnasium environment, or of its id (extra ``rl``).

        States keep their numbers; one absorbing end state is appended, where every move marked
        as terminated leads.

        >>> MDP.from_gymnasium("FrozenLake-v1")
        MDP(17 states, 4 actions, 152 outcomes, discount 0.99)
        """
        table = table_of(env)
        S = table.P.shape[1]
        return cls(table.P, table.R, discount=discount, terminal=[S - 1], start=table.start)


def _check_discount(discount: Any) -> None:
    number = isinstance(discount, Real) and not isinstance(discount, bool)
    if not number or not 0 <= discount <= 1:
        raise ValueError(f"discount must be between 0 and 1, got {discount!r}")


def _names(what: str, names: Sequence[Any] | None, n: int) -> Sequence[Any]:
    if names is None:
        return range(n)
    found = tuple(_hashable(name) for name in names)
    if len(found) != n or len(set(found)) != n:
        raise ValueError(f"{what} must be {n} different names, got {len(set(found))} of them")
    return found


def _hashable(name: object) -> Any:
    return tuple(map(_hashable, name)) if isinstance(name, list | np.ndarray) else name


def _some(states: Sequence[Any]) -> str:
    if isinstance(states, range):
        return f"states are 0 to {len(states) - 1}"
    shown = ", ".join(repr(s) for s in states[:5])
    return f"states are {shown}" + (", ..." if len(states) > 5 else "")


def _narrow(P: csr_array) -> csr_array:
    """32-bit indices: half the memory, and one kind for the compiled sweeps."""
    if P.nnz >= 2**31:
        raise ValueError(f"an MDP may have up to {2**31 - 1} outcomes, got {P.nnz}")
    P.indptr, P.indices = P.indptr.astype(np.int32), P.indices.astype(np.int32)
    return P
