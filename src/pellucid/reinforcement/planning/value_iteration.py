r"""Value iteration.

Bellman      U(s) = max_a [r(s,a) + g sum_s' P(s'|s,a) U(s')]
Algorithm    U <- B U from U = 0, every state at once or in place, until the largest change of a
             sweep is below tol.    O(outcomes) per sweep
Bound        B is a contraction: |B U - B V| <= g |U - V| in the largest coordinate, so after a
             sweep that changed U by at most c,   |U - U*| <= c g / (1 - g).
             The same holds for sweeps in place.

States that do the same thing in another place share one small table of probabilities
(``pattern_kernels``): the sweeps of a grid world hardly read anything but the values.

``in_place="marked"`` gets to the same kind of point faster: states are renumbered by their
distance to the reward, so that one sweep carries a value far; an action that may stay is solved
for; a state is visited only if a successor of it has moved by more than a threshold; the start is
the value of collecting the median reward for ever. When nothing is marked any more, a synchronous
sweep over all states measures the change that the bound speaks of; where it is not below tol, the
states concerned are marked again with half the threshold.

References: Bellman (1957); Puterman (1994), ch. 6; Wingate & Seppi (2005) for the marking.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from pellucid.base import with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads, thread_count
from pellucid.reinforcement.planning import pattern_kernels, planner, sweep_kernels
from pellucid.reinforcement.planning.pattern_kernels import LANES, MOST, pattern_sweep, successors
from pellucid.reinforcement.planning.planner import StationaryPlanner, check_mdp, greedy_policy
from pellucid.reinforcement.planning.sweep_kernels import marked_sweep, predecessors, renumber
from pellucid.reinforcement.worlds.mdp import MDP

THREADED = 500_000  # outcomes from which one sweep is shared by the threads
KEPT = 8_000_000  # values kept in the history: 64 MB
ORDERS = (False, True, "marked")


class Rows(NamedTuple):
    """The arrays of the normal form, as the compiled sweeps read them."""

    indptr: Any
    indices: Any
    p: Array
    r: Array
    g: float


class Sweeps(NamedTuple):
    """One way to compute B U: ``kernel(*arrays, U, W, first, last)`` returns max |W - U|."""

    kernel: Callable[..., float]
    arrays: tuple[Any, ...]
    n_outcomes: int


class State(NamedTuple):
    """Values after a sweep, and by how much it changed them."""

    values: Array
    change: float
    visited: int


class Marks(NamedTuple):
    """The state of the marked sweeps; ``values`` are in the order of the renumbered states."""

    values: Array
    change: float
    visited: int
    marked: BoolArray
    waiting: int  # marks set and not yet visited
    threshold: float


class Order(NamedTuple):
    """The renumbered rows: state order[i] is called i."""

    rows: Rows
    order: Any
    first: Any
    before: Any


def rows_of_mdp(mdp: MDP) -> Rows:
    P = mdp.transitions
    return Rows(P.indptr, P.indices, P.data, mdp.rewards.ravel(), mdp.discount)


def plain_sweeps(rows: Rows) -> Sweeps:
    return Sweeps(sweep_kernels.sweep, tuple(rows), len(rows.p))


def shared_sweeps(rows: Rows, S: int) -> Sweeps:
    """By shared patterns, if the actions of a state lead to the same few states."""
    A, nnz = len(rows.r) // S, len(rows.p)
    groups = -(-A // LANES)
    first, after = np.empty(S + 1, np.uint32), np.empty(nnz // (2 * groups) + MOST, np.uint32)
    n = successors(rows.indptr, rows.indices, A, MOST, first, after)
    if n < 0:
        return plain_sweeps(rows)
    after = after[:n].copy()
    table, pattern = np.empty(((n + S) * groups, LANES)), np.empty(S, np.uint32)
    slots = np.full(1 << (2 * S).bit_length(), -1, np.int32)
    used = pattern_kernels.share_patterns(*rows[:4], first, after, slots, pattern, table)
    arrays = (after, first, pattern, table[:used].copy(), groups, rows.g)
    return Sweeps(pattern_sweep, arrays, nnz)


def synchronous(table: Sweeps, U: Array) -> tuple[Array, float]:
    """B U and max |B U - U|; large tables by threads, each with its own states."""
    W = np.empty_like(U)
    if table.n_outcomes < THREADED or thread_count() == 1:
        return W, table.kernel(*table.arrays, U, W, 0, len(U))
    ends = np.linspace(0, len(U), 4 * thread_count() + 1).astype(int)
    spans = pairwise(ends)
    return W, max(map_threads(lambda span: table.kernel(*table.arrays, U, W, *span), spans))


def sweep_step(table: Sweeps, state: State, *, in_place: bool) -> tuple[State, float]:
    """One sweep over all states."""
    if in_place:
        U = state.values.copy()
        change = table.kernel(*table.arrays, U, U, 0, len(U))
    else:
        U, change = synchronous(table, state.values)
    return State(U, change, len(U)), change


def renumbered(mdp: MDP) -> Order:
    """States by their distance to those whose reward stands out; the others behind them."""
    best = mdp.rewards.max(axis=1)
    high = best > (np.median(best) + best.max()) / 2
    seeds = high if high.any() else mdp.terminal
    order = planner.look_back(mdp.transitions, np.flatnonzero(seeds)).order
    old = rows_of_mdp(mdp)
    indptr, indices, p, r = (np.empty_like(array) for array in old[:4])
    new = Rows(indptr, indices, p, r, old.g)
    renumber(order, *old[:4], *new[:4])
    first, before = np.empty(mdp.n_states + 1, np.int32), np.empty(len(new.p), np.int32)
    n = predecessors(new.indptr, new.indices, mdp.n_states, first, before)
    return Order(new, order, first, before[:n])


def plateau(mdp: MDP) -> Array:
    """The value of collecting the median best reward for ever; 0 where that is not finite."""
    g = mdp.discount
    best = mdp.rewards.max(axis=1)[~mdp.terminal]
    U = np.full(mdp.n_states, np.median(best) / (1 - g) if g < 1 else 0.0)
    U[mdp.terminal] = mdp.final_values[mdp.terminal]
    return U


def marked_step(table: Order, state: Marks, tol: float) -> tuple[Marks, float]:
    """A sweep over the marked states, or, when there are none, over all to measure the change."""
    rows, U = table.rows, state.values
    if state.waiting:
        work = (U, state.marked, state.threshold, table.first, table.before)
        visited, waiting, change = marked_sweep(*rows, *work)
        moved = Marks(U, change, visited, state.marked, waiting, state.threshold)
        return moved, max(change, tol)  # only a sweep over all states may end the loop
    W, change = synchronous(plain_sweeps(rows), U)
    if change < tol:
        return Marks(W, change, len(U), state.marked, 0, state.threshold), change
    threshold = state.threshold / 2
    marked = np.abs(W - U) > threshold
    return Marks(U, change, len(U), marked, int(marked.sum()), threshold), change


class ValueIteration(StationaryPlanner):
    """The optimal utilities and policy of a known MDP, by sweeps of the Bellman equation.

    Parameters
    ----------
    tol : float, default=1e-6
        Stop when a sweep changes no value by ``tol`` or more.
    max_iter : int, default=10_000
        Most sweeps.
    in_place : False, True or "marked", default=False
        False: every state from the values of the sweep before. True: each state from the newest
        values. "marked": in place, only where something changed, in an order that carries values
        far; the fastest on large sparse problems, with the same bound on the error.
    initial : array (S,), default=0 everywhere ("marked": a constant guess)
        Values to start from.

    Attributes
    ----------
    values_ : ndarray of shape (S,)
    q_ : ndarray of shape (S, A)
        ``r(s,a) + g sum P U``; -inf where an action is not available.
    policy_ : ndarray of shape (S,)
        Best action by ``q_``, the lowest index on ties (with discount 1: of those that end).
    error_bound_ : float
        ``values_`` is at most this far from the optimum: the last change times g / (1 - g). With
        discount 1 there is no such bound: inf, or 0 when nothing changed at all.
    history_ : History
        ``change`` (also ``objective``), ``visited`` states and ``values`` after every sweep; the
        values while all of them together are no more than 8 million numbers.
    n_iter_ : int
        Sweeps.

    Examples
    --------
    >>> from pellucid.reinforcement import MDP, ValueIteration
    >>> right = [[[0.2, 0.8, 0.0]], [[0.0, 0.2, 0.8]], [[0.0, 0.0, 1.0]]]
    >>> mdp = MDP(right, [0.0, 0.0, 1.0], discount=0.9, terminal=[2])
    >>> model = ValueIteration().fit(mdp)
    >>> model.values_.round(4), model.history_["values"][1]
    (array([0.771, 0.878, 1.   ]), array([0.  , 0.72, 1.  ]))
    """

    def __init__(
        self,
        *,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        in_place: bool | str = False,
        initial: ArrayLike | None = None,
    ) -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.in_place = in_place
        self.initial = initial

    @with_callbacks
    def fit(self, mdp: MDP) -> Self:
        """Solve ``mdp``."""
        check.positive(tol=self.tol)
        check.whole(max_iter=self.max_iter)
        if self.in_place not in ORDERS:
            raise ValueError(f"in_place must be False, True or 'marked', got {self.in_place!r}")
        mdp = check_mdp(mdp)
        if self.in_place == "marked":
            self._run_marked(mdp)
        else:
            self._run_sweeps(mdp)
        self.problem_ = planner.mdp_words(mdp)
        return self

    def _run_sweeps(self, mdp: MDP) -> None:
        table = shared_sweeps(rows_of_mdp(mdp), mdp.n_states)
        U = np.zeros(mdp.n_states) if self.initial is None else mdp._values(self.initial).copy()
        in_place = bool(self.in_place)

        def step(state: State) -> tuple[State, float]:
            return sweep_step(table, state, in_place=in_place)

        self._finish(mdp, step, State(U, np.inf, 0), np.arange(0))

    def _run_marked(self, mdp: MDP) -> None:
        table = renumbered(mdp)
        U = plateau(mdp) if self.initial is None else mdp._values(self.initial)
        S = mdp.n_states
        start = Marks(U[table.order], np.inf, 0, np.ones(S, bool), S, self.tol / 2)

        def step(state: Marks) -> tuple[Marks, float]:
            return marked_step(table, state, self.tol)

        self._finish(mdp, step, start, table.order)

    def _finish(self, mdp: MDP, step: Any, start: object, order: IntArray) -> None:
        """Run the loop; values go back to the order of the MDP's states."""
        room = KEPT // mdp.n_states

        def values(state: Any) -> Array:
            if not len(order):
                return state.values
            U = np.empty_like(state.values)
            U[order] = state.values
            return U

        def attributes(state: Any) -> dict[str, Any]:
            U, g = values(state), mdp.discount
            Q = mdp.q_values(U)
            bound = state.change * g / (1 - g) if g < 1 else np.inf if state.change else 0.0
            return {"values_": U, "q_": Q, "policy_": greedy_policy(mdp, Q), "error_bound_": bound}

        def record(state: Any) -> dict[str, Any]:
            nonlocal room
            room -= 1
            row = {"objective": state.change, "change": state.change, "visited": state.visited}
            return row | ({"values": values(state)} if room >= 0 else {})

        below = float(np.nextafter(self.tol, 0))  # stop when change < tol
        self._solve(mdp, step, start, below, record, attributes)

    def card(self) -> Card:
        """Describe the model: its hypothesis, what it minimises and how."""
        how = {False: "synchronous", True: "in place", "marked": "in place where marked"}
        return Card(
            "a utility per state; the policy is greedy in it",
            "the Bellman equation U(s) = max_a [r(s,a) + g sum P(s'|s,a) U(s')]",
            f"value iteration, {how[self.in_place]}, until no value changes by {self.tol:g}",
            {**self.problem_, "n_iter": self.n_iter_, "error_bound": self.error_bound_},
            warnings=self._doubts(),
        )

    def _doubts(self) -> tuple[str, ...]:
        if self.problem_["discount"] == 1 and self.error_bound_:
            return ("discount 1: the change of a sweep does not bound the error",)
        return ()
