r"""What a policy is worth.

    U = r_pi + g P_pi U                          a linear system: sparse LU, or sweeps
    r_pi(s) = sum_a pi(a|s) r(s,a),   P_pi(s,.) = sum_a pi(a|s) P(.|s,a)

With g = 1 the system is singular where the policy never ends. A set of states that is never left
again is worth 0 if it pays nothing; if it pays, the utility is infinite or not defined, and that
raises. I - g P_pi is an M-matrix, so LU needs no pivoting and keeps the order of least fill.

References: Bertsekas & Tsitsiklis (1991); Puterman (1994), ch. 6 and 7.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.loops.iterate import iterate

if TYPE_CHECKING:
    from pellucid.reinforcement.worlds.mdp import MDP

DENSE = 128  # states up to which a dense solve is faster


class Chain(NamedTuple):
    """What is left of an MDP when the actions are chosen: a Markov chain with rewards."""

    P: csr_array  # (S, S); rows of states worth a fixed value are empty
    r: Array  # (S,)


def policy_table(mdp: "MDP", policy: ArrayLike | None) -> Array:
    """The policy as probabilities (S, A), checked."""
    S, A = mdp.n_states, mdp.n_actions
    policy = np.asarray(policy)
    if policy.shape == (S, A):
        table = policy.astype(np.float64)
        sums = table.sum(axis=1)
        bad = ~mdp.terminal & (~(table >= 0).all(axis=1) | ~(np.abs(sums - 1) <= 1e-6))
        if bad.any():
            s = int(np.flatnonzero(bad)[0])
            raise ValueError(
                f"the policy in state {mdp.states[s]!r} must be probabilities that sum to 1, "
                f"got {table[s].tolist()}"
            )
        table[~mdp.terminal] /= sums[~mdp.terminal, None]
        table[mdp.terminal] = 1.0 / A
    else:
        table = np.zeros((S, A))
        table[np.arange(S), policy_actions(mdp, policy)] = 1.0
    blocked = (table > 0) & np.isneginf(mdp.rewards)
    if blocked.any():
        s, a = np.argwhere(blocked)[0]
        raise ValueError(
            f"the policy takes action {mdp.actions[a]!r} in state {mdp.states[s]!r}, "
            "where it is not available"
        )
    return table


def policy_actions(mdp: "MDP", policy: ArrayLike | None) -> IntArray:
    """The policy as one action per state, checked; terminal states may hold anything."""
    S, A = mdp.n_states, mdp.n_actions
    policy = np.asarray(policy)
    whole = policy.shape == (S,) and (
        policy.dtype.kind in "iu" or (policy.dtype.kind == "f" and (policy % 1 == 0).all())
    )
    if not whole:
        raise ValueError(
            f"a policy must be {S} whole numbers (an action per state) or probabilities of shape "
            f"({S}, {A}), got shape {policy.shape} of {policy.dtype}"
        )
    actions = np.where(mdp.terminal, 0, policy).astype(np.intp)
    bad = (actions < 0) | (actions >= A)
    if bad.any():
        s = int(np.flatnonzero(bad)[0])
        name, got = mdp.states[s], actions[s]
        raise ValueError(f"the action of state {name!r} must be 0 to {A - 1}, got {got}")
    return actions


def chain_of_actions(mdp: "MDP", actions: IntArray) -> Chain:
    """The chain of a policy with one action per state: rows are picked, nothing is summed."""
    rows = np.arange(mdp.n_states) * mdp.n_actions + actions
    return Chain(csr_array(mdp.transitions[rows]), mdp.rewards.ravel()[rows])


def chain_of(mdp: "MDP", table: Array) -> Chain:
    """The chain of a stochastic policy (S, A)."""
    S, A = table.shape
    if ((table == 0) | (table == 1)).all():
        return chain_of_actions(mdp, table.argmax(axis=1))
    keep = table.ravel() > 0
    pairs = np.flatnonzero(keep)
    mix = csr_array((table.ravel()[pairs], (pairs // A, pairs)), shape=(S, S * A))
    return Chain(csr_array(mix @ mdp.transitions), mix @ np.where(keep, mdp.rewards.ravel(), 0.0))


def endless(mdp: "MDP", chain: Chain) -> Array:
    """Mask of the states in sets that are never left and hold no terminal state."""
    _, label = connected_components(chain.P, directed=True, connection="strong")
    row = np.repeat(np.arange(mdp.n_states), np.diff(chain.P.indptr))
    open_class = np.zeros(label.max() + 1, dtype=bool)
    open_class[label[row[label[row] != label[chain.P.indices]]]] = True
    return ~open_class[label] & ~mdp.terminal


def bounded(mdp: "MDP", chain: Chain) -> Chain:
    """The chain with its endless sets, if they pay nothing, worth 0; raises if one pays."""
    if mdp.discount < 1:
        return chain
    never = endless(mdp, chain)
    paying = never & (chain.r != 0)
    if paying.any():
        s = int(np.flatnonzero(paying)[0])
        raise ValueError(
            f"with discount 1 this policy has no finite value: from state {mdp.states[s]!r} it "
            f"never ends and collects {chain.r[s]:g} again and again; use a discount < 1"
        )
    if not never.any():
        return chain
    keep = csr_array((np.where(never, 0.0, 1.0), np.arange(len(never)), np.arange(len(never) + 1)))
    cut = csr_array(keep @ chain.P)
    cut.eliminate_zeros()
    return Chain(cut, chain.r)


def solve_chain(chain: Chain, g: float) -> Array:
    """U = r + g P U."""
    S = len(chain.r)
    if S <= DENSE:
        return np.linalg.solve(np.eye(S) - g * chain.P.toarray(), chain.r)
    M = csc_array(eye_array(S) - g * chain.P)
    symmetric = {"permc_spec": "MMD_AT_PLUS_A", "options": {"SymmetricMode": True}}
    factor = splu(M, diag_pivot_thresh=0.0, **symmetric)
    U = factor.solve(chain.r)
    return U + factor.solve(chain.r - M @ U)  # one refinement: LU was done without pivoting


def sweep_chain(chain: Chain, g: float, tol: float) -> Array:
    """The same by sweeps U <- r + g P U from 0 until the largest change is below tol."""

    def sweep(U: Array) -> tuple[Array, float]:
        new = chain.r + g * (chain.P @ U)
        return new, float(np.abs(new - U).max())

    run = iterate(sweep, np.zeros(len(chain.r)), max_iter=1_000_000, tol=tol, name="evaluation")
    return run.state


def evaluate_linear(mdp: "MDP", table: Array) -> Array:
    """The utility of a policy (S, A) by one sparse solve."""
    return solve_chain(bounded(mdp, chain_of(mdp, table)), mdp.discount)


def policy_evaluation(
    mdp: "MDP", policy: ArrayLike, *, method: str = "linear", tol: float = 1e-10
) -> Array:
    """The utility of every state of ``mdp`` under ``policy``.

    Parameters
    ----------
    mdp : MDP
    policy : (S,) actions or (S, A) probabilities
    method : {"linear", "iterative"}
        One sparse LU, or sweeps until the largest change is below ``tol``.
    tol : float
        Of the sweeps.

    Returns
    -------
    ndarray of shape (S,)
        Infinite values raise a ValueError.

    Examples
    --------
    >>> from pellucid.reinforcement import grid_world, policy_evaluation
    >>> mdp = grid_world(["S.+"], step_reward=-0.1, slip=0.0)
    >>> policy_evaluation(mdp, [1, 1, 0])
    array([0.8, 0.9, 1. ])
    """
    check.one_of(("linear", "iterative"), method=method)
    check.positive(tol=tol)
    table = policy_table(mdp, policy)
    if method == "linear":
        return evaluate_linear(mdp, table)
    return sweep_chain(bounded(mdp, chain_of(mdp, table)), mdp.discount, tol)
