"""What the planners share: the door for MDPs, reachability, ways to the end, acting."""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray
from pellucid.core.loops.iterate import FitContext
from pellucid.reinforcement.planning.evaluation import chain_of_actions, endless
from pellucid.reinforcement.planning.sweep_kernels import breadth_first, predecessors
from pellucid.reinforcement.worlds.mdp import MDP
from pellucid.reinforcement.worlds.mdp_tables import rows_of

TIE = 1e-10  # relative difference of utilities that counts as none


class Backwards(NamedTuple):
    """Who leads where, seen from the goal."""

    first: Any  # (S + 1,) int32
    before: Any  # states that may lead to s: before[first[s]:first[s + 1]]
    order: Any  # (S,) states by distance to the seeds
    depth: Any  # (S,) that distance; -1 = no way
    n_reached: int


def look_back(P: csr_array, seeds: IntArray) -> Backwards:
    """Breadth-first search from the seeds against the direction of the moves."""
    S = P.shape[1]
    first, before = np.empty(S + 1, np.int32), np.empty(P.nnz, np.int32)
    before = before[: predecessors(P.indptr, P.indices, S, first, before)]
    order, depth = np.empty(S, np.int32), np.empty(S, np.int32)
    n = breadth_first(first, before, seeds.astype(np.intp), order, depth)
    return Backwards(first, before, order, depth, n)


def check_planned(mdp: object) -> MDP:
    """Refuse what is no MDP."""
    if not isinstance(mdp, MDP):
        raise TypeError(
            f"a planner needs an MDP, got {type(mdp).__name__}; "
            "MDP.from_gymnasium reads the table of an environment"
        )
    return mdp


def check_mdp(mdp: object) -> MDP:
    """Refuse what is no MDP, and one whose utilities need not be finite."""
    mdp = check_planned(mdp)
    if mdp.discount < 1:
        return mdp
    back = look_back(mdp.transitions, np.flatnonzero(mdp.terminal))
    if back.n_reached < mdp.n_states:
        s = int(np.flatnonzero(back.depth < 0)[0])
        why = "there is none" if not mdp.terminal.any() else f"state {mdp.states[s]!r} reaches none"
        raise ValueError(
            "with discount 1 a terminal state must be reachable from every state, "
            f"but {why}; use a discount < 1"
        )
    return mdp


def shortest_path_policy(mdp: MDP, allowed: BoolArray | None = None) -> IntArray:
    """For every state the first allowed action that may bring it one step nearer to the end.

    -1 where allowed actions, (S, A), never get there. Following it ends with probability 1 from
    every other state: each has a chance to come nearer, and distances are finite.
    """
    P, A = mdp.transitions, mdp.n_actions
    if allowed is not None:
        mask = allowed.ravel()[rows_of(P)]
        indptr = np.concatenate([[0], np.cumsum(mask)])[P.indptr].astype(np.int32)
        P = csr_array((P.data[mask], P.indices[mask], indptr), shape=P.shape)
    depth = look_back(P, np.flatnonzero(mdp.terminal)).depth
    far = np.iinfo(np.int32).max
    away = np.where(depth < 0, far, depth)
    nearest = np.full(len(P.indptr) - 1, far)
    used = np.flatnonzero(np.diff(P.indptr))
    nearest[used] = np.minimum.reduceat(away[P.indices], P.indptr[used])
    nearer = nearest.reshape(-1, A) < away[:, None]
    actions = np.where(nearer.any(axis=1), nearer.argmax(axis=1), -1)
    actions[mdp.terminal] = 0
    return actions.astype(np.intp)


def greedy_policy(mdp: MDP, Q: Array) -> IntArray:
    """The best action by Q, the lowest index on ties.

    With discount 1 a tie may be between going on and standing still for ever, which Q cannot tell
    apart: then the tied actions on the shortest way out are taken.
    """
    policy = Q.argmax(axis=1)
    if mdp.discount < 1 or not endless(mdp, chain_of_actions(mdp, policy)).any():
        return policy
    best = Q.max(axis=1, keepdims=True)
    way = shortest_path_policy(mdp, best - TIE * (1 + np.abs(best)) <= Q)
    return np.where(way >= 0, way, policy)


class Planner(Estimator):
    """Base of what solves a known MDP: ``fit(mdp)``."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags


class StationaryPlanner(Planner):
    """Base of those whose policy does not depend on the time that is left."""

    policy_: IntArray
    max_iter: int

    def _solve(
        self, mdp: MDP, step: Any, start: Any, tol: float, record: Any, attributes: Any
    ) -> None:
        """Run the loop; ``attributes`` of its last state are the fitted ones."""
        context = FitContext(self, X=mdp, max_steps=self.max_iter, attributes=attributes)
        rows: dict[str, Any] = {"record": record, "start_row": False}
        run = self._iterate(step, start, max_iter=self.max_iter, tol=tol, context=context, **rows)
        found = attributes(run.state)
        self.values_, self.q_, self.policy_ = found["values_"], found["q_"], found["policy_"]
        self.error_bound_ = float(found["error_bound_"])

    def act(self, state: int) -> int:
        """The best action in the state of that number."""
        return int(self.predict([state])[0])

    def predict(self, states: ArrayLike) -> IntArray:
        """The best action of each of the states, given by number."""
        check_is_fitted(self)
        return self.policy_[state_numbers(states, len(self.policy_))]


def state_numbers(states: ArrayLike, n: int) -> IntArray:
    """Whole numbers from 0 to n - 1, or one sentence."""
    found = np.asarray(states)
    if found.dtype.kind not in "iu" or (found < 0).any() or (found >= n).any():
        raise ValueError(f"states must be whole numbers from 0 to {n - 1}, got {states!r}")
    return found.astype(np.intp)


def mdp_words(mdp: MDP) -> dict[str, Any]:
    """The size of the problem, for cards."""
    size = {"n_states": mdp.n_states, "n_actions": mdp.n_actions}
    return {**size, "n_outcomes": int(mdp.transitions.nnz), "discount": mdp.discount}
