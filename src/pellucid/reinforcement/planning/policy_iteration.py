r"""Policy iteration.

Evaluate     U = r_pi + g P_pi U                 exact: one sparse LU, or for g <= 0.97, where it
                                                 is cheaper, sweeps in place to the last digit;
                                                 modified: k sweeps
Improve      pi(s) <- argmax_a [r(s,a) + g sum P(s'|s,a) U(s')] where that is strictly better
Stop         when no action is strictly better: then U solves the Bellman equation.
             Modified: and B U - U, which the sweeps drive to 0, is the same everywhere to 1e-10
             of the size of U. What is left is known: with low <= B U - U <= high,
             B U + g low / (1 - g) <= U* <= B U + g high / (1 - g), and the middle is taken
             (with terminal states, which never move, low <= 0 <= high).

There are finitely many policies and every step improves: a handful of steps in practice. With
g = 1 a policy that never ends has no finite utility (its system is singular), so the start must
end; and a set of states that can be kept for ever at no reward is worth 0, which improving alone
would not find: it compares staying one step longer, not staying for ever.

References: Howard (1960); MacQueen (1966) for the limits; Puterman & Shin (1978), modified
policy iteration.
"""

from typing import Any, NamedTuple, Self

import numpy as np

from pellucid.base import with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Rng, Seed
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.reinforcement.planning import evaluation as policies
from pellucid.reinforcement.planning import planner
from pellucid.reinforcement.planning.evaluation import bounded, chain_of_actions, solve_chain
from pellucid.reinforcement.planning.planner import StationaryPlanner, check_mdp, mdp_words
from pellucid.reinforcement.planning.sweep_kernels import follow, improve
from pellucid.reinforcement.planning.value_iteration import Rows, rows_of_mdp
from pellucid.reinforcement.worlds.mdp import MDP
from pellucid.reinforcement.worlds.mdp_tables import rows_of

SLACK = 1e-11  # of the largest value: what rounding can make; only more is "strictly better"
FADING = 0.97  # discount up to which sweeps reach the last digit before an LU is done
ROUNDING, MOST = 2e-15, 100  # the last digit; rounds of 20 sweeps before an LU is tried after all
SETTLED = 1e-10  # relative residual at which the sweeps of the modified form have settled


class State(NamedTuple):
    """A policy, its values (exact, or after the sweeps) and what the improvement found."""

    values: Array
    policy: IntArray  # after the improvement
    changed: int
    residual: float  # of ``values``
    bound: float  # on the error of ``values``


def random_policy(mdp: MDP, rng: Rng) -> IntArray:
    """An available action per state, each as likely as the others; action 0 in terminal states."""
    u = np.where(np.isneginf(mdp.rewards), -1.0, rng.random(mdp.rewards.shape))
    return np.where(mdp.terminal, 0, u.argmax(axis=1))


def free_rest(mdp: MDP) -> IntArray:
    """Where one can stay for ever at no reward: an action that does so, else -1.

    The greatest set of states with an action that pays nothing and never leaves the set.
    """
    P, A = mdp.transitions, mdp.n_actions
    row = rows_of(P)
    free = (mdp.rewards.ravel() == 0) & np.repeat(~mdp.terminal, A)
    inside = free.reshape(-1, A).any(axis=1)
    while inside.any():
        leaves = np.zeros(len(free), dtype=bool)
        leaves[row[~inside[P.indices]]] = True
        free &= ~leaves
        still = free.reshape(-1, A).any(axis=1)
        if (still == inside).all():
            break
        inside = still
    stay = free.reshape(-1, A)
    return np.where(stay.any(axis=1), stay.argmax(axis=1), -1)


def evaluate(mdp: MDP, U: Array, policy: IntArray, sweeps: int | None) -> Array:
    """The values of the policy: exact, or ``sweeps`` sweeps from U on."""
    chain = chain_of_actions(mdp, policy)
    if sweeps is None and (len(U) <= policies.DENSE or mdp.discount > FADING):
        return solve_chain(bounded(mdp, chain), mdp.discount)
    if sweeps is not None:
        for _ in range(sweeps):  # every state at once: that evens out B U - U the fastest
            U = chain.P @ U
            U *= mdp.discount
            U += chain.r
        return U
    indptr, indices = (a.astype(np.int32, copy=False) for a in (chain.P.indptr, chain.P.indices))
    rows = Rows(indptr, indices, chain.P.data, chain.r, mdp.discount)
    U, only = U.copy(), np.zeros(len(U), dtype=np.intp)  # one action is left
    for _ in range(MOST):
        change = follow(*rows, U, only, 20)
        if change <= ROUNDING * np.abs(U).max():
            return U
    return solve_chain(chain, mdp.discount)


def policy_step(
    mdp: MDP, rows: Rows, rest: IntArray, state: State, sweeps: int | None
) -> tuple[State, float]:
    """Evaluate, improve. The gap is how many states found a better action."""
    U = evaluate(mdp, state.values, state.policy, sweeps)
    policy, W = state.policy.copy(), np.empty_like(U)
    paid = np.abs(rows.r[np.isfinite(rows.r)])
    size = max(float(np.abs(U).max()), float(paid.max(initial=0.0)))
    slack = SLACK * size
    changed, low, high = improve(*rows, U, W, policy, slack)
    idle = (rest >= 0) & (U + slack < 0) if len(rest) else np.zeros(0, dtype=bool)
    if idle.any():  # worth less than nothing, where nothing can be had
        policy[idle] = rest[idle]
        U = np.where(idle, 0.0, U) if sweeps is not None else U
        changed += int(idle.sum())
    if mdp.terminal.any():
        low, high = min(low, 0.0), max(high, 0.0)
    settled = sweeps is None or high - low <= SETTLED * size
    if sweeps is not None and settled and not changed and mdp.discount < 1:
        return State(*centred(mdp, W, low, high, policy)), 0.0
    residual = max(-low, high)
    bound = residual / (1 - mdp.discount) if mdp.discount < 1 else np.inf if residual else 0.0
    return State(U, policy, changed, residual, bound), float(changed or not settled)


def centred(
    mdp: MDP, W: Array, low: float, high: float, policy: IntArray
) -> tuple[Array, IntArray, int, float, float]:
    """The middle of the limits between which the optimum lies, and half their distance."""
    far = mdp.discount / (1 - mdp.discount)
    U = W + far * (low + high) / 2
    U[mdp.terminal] = mdp.final_values[mdp.terminal]
    return U, policy, 0, mdp.residual(U), far * (high - low) / 2


def lowest_best(mdp: MDP, Q: Array) -> IntArray:
    """The first of the actions that are equally good but for rounding."""
    best = Q.max(axis=1, keepdims=True)
    size = np.abs(Q[np.isfinite(Q)]).max(initial=0.0)
    return (best - SLACK * size <= Q).argmax(axis=1)


class PolicyIteration(StationaryPlanner):
    """The optimal policy of a known MDP: evaluate it, improve it, until nothing is better.

    Parameters
    ----------
    initial_policy : "random" or array (S,), default="random"
        With discount 1 a policy that never ends is replaced by a shortest-path policy; the card
        says so.
    evaluation : "exact" or int, default="exact"
        Solve for the values of each policy, or this many sweeps (modified policy iteration).
    max_iter : int, default=1000
        Most improvements.
    random_state : int, Generator or None
        Seed of the random numbers.

    Attributes
    ----------
    values_, q_ : ndarray of shape (S,) and (S, A)
    policy_ : ndarray of shape (S,)
        The lowest index of equally good actions; with discount 1 the policy that was evaluated.
    error_bound_ : float
        ``values_`` is at most this far from the optimum: residual / (1 - g), modified: half the
        distance of the limits; discount 1: inf, or 0 when the Bellman equation holds exactly.
    history_ : History
        ``change`` of the values (also ``objective``), ``changed`` actions, ``residual`` of the
        Bellman equation, ``policy`` after each improvement.
    n_iter_ : int

    Examples
    --------
    >>> from pellucid.reinforcement import MDP, PolicyIteration
    >>> stay_go = [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]
    >>> model = PolicyIteration(random_state=0).fit(MDP(stay_go, [[1, 0], [2, 0]]))
    >>> model.values_.round(6), model.policy_
    (array([18., 20.]), array([1, 0]))
    """

    _tol_name = "_moved"
    _moved = 0.0  # actions that the last step may change where it has converged

    def __init__(
        self,
        *,
        initial_policy: str | ArrayLike = "random",
        evaluation: str | int = "exact",
        max_iter: int = 1000,
        random_state: Seed = None,
    ) -> None:
        self.initial_policy = initial_policy
        self.evaluation = evaluation
        self.max_iter = max_iter
        self.random_state = random_state

    @with_callbacks
    def fit(self, mdp: MDP) -> Self:
        """Solve ``mdp``."""
        check.whole(max_iter=self.max_iter)
        if isinstance(self.evaluation, str):
            check.one_of(("exact",), evaluation=self.evaluation)
        else:
            check.whole(evaluation=self.evaluation)
        mdp = check_mdp(mdp)
        self._run(mdp, self._first_policy(mdp))
        self.problem_ = mdp_words(mdp)
        return self

    def _first_policy(self, mdp: MDP) -> IntArray:
        if isinstance(self.initial_policy, str):
            check.one_of(("random",), initial_policy=self.initial_policy)
            policy = random_policy(mdp, generator(self.random_state))
        else:
            policy = policies.policy_actions(mdp, self.initial_policy)
            policies.policy_table(mdp, policy)  # refuses actions that are not available
        chain = chain_of_actions(mdp, policy)
        self.replaced_ = bool(mdp.discount == 1 and policies.endless(mdp, chain).any())
        return planner.shortest_path_policy(mdp) if self.replaced_ else policy

    def _run(self, mdp: MDP, policy: IntArray) -> None:
        rows, g = rows_of_mdp(mdp), mdp.discount
        sweeps = None if isinstance(self.evaluation, str) else int(self.evaluation)
        rest = free_rest(mdp) if g == 1 else np.zeros(0, dtype=np.intp)
        rest = rest if (rest >= 0).any() else np.zeros(0, dtype=np.intp)
        last = np.zeros(mdp.n_states)

        def step(state: State) -> tuple[State, float]:
            return policy_step(mdp, rows, rest, state, sweeps)

        def record(state: State) -> dict[str, Any]:
            nonlocal last
            change, last = float(np.abs(state.values - last).max()), state.values
            row = {"objective": change, "change": change, "changed": state.changed}
            return row | {"residual": state.residual, "policy": state.policy}

        def attributes(state: State) -> dict[str, Any]:
            Q = mdp.q_values(state.values)
            own = state.policy if g == 1 else lowest_best(mdp, Q)
            return {"values_": state.values, "q_": Q, "policy_": own, "error_bound_": state.bound}

        start = State(np.zeros(mdp.n_states), policy, 0, np.inf, np.inf)
        self._solve(mdp, step, start, 0.0, record, attributes)

    def card(self) -> Card:
        """Describe the model: its hypothesis, what it minimises and how."""
        exact = isinstance(self.evaluation, str)
        how = "solved exactly" if exact else f"approximated by {self.evaluation} sweeps"
        replaced = "discount 1: the first policy never ended and was replaced by a shortest path"
        return Card(
            "an action per state",
            "U = r_pi + g P_pi U, the utility of the policy",
            f"policy iteration, values {how}, until no action is strictly better",
            {**self.problem_, "n_iter": self.n_iter_, "error_bound": self.error_bound_},
            warnings=(replaced,) if self.replaced_ else (),
        )
