"""From what people write down to the normal form of an MDP: one sparse row per state and action.

    transitions  (S, A, S), A sparse (S, S), or one sparse (S A, S)   ->  CSR rows s A + a
    rewards      R(s), R(s, a) or R(s, a, s')                         ->  one number per outcome

Every check of an MDP is here; what is refused is named by its state and action.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array, issparse

from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray

SUM_TOLERANCE = 1e-6  # a row may miss 1 by this much (tables in single precision); it is rescaled


class Names(NamedTuple):
    """How states and actions are called."""

    states: Sequence[Any]
    actions: Sequence[Any]

    def pair(self, row: int) -> str:
        """``state 'a', action 'b'`` of a row."""
        s, a = divmod(int(row), len(self.actions))
        return f"state {self.states[s]!r}, action {self.actions[a]!r}"


class Outcomes(NamedTuple):
    """The rows of the table: outcome k of row s A + a leads to ``indices[k]`` and pays that."""

    P: csr_array  # (S A, S)
    reward: Array | None  # (nnz,) with R(s, a, s'), else None
    expected: Array  # (S A,) reward r(s, a); -inf where the action is not available
    final: Array  # (S,) value of the terminal states, 0 elsewhere


def stack_rows(transitions: ArrayLike) -> tuple[csr_array, int]:
    """The transitions as one CSR matrix (S A, S), and A."""
    if issparse(transitions):
        P = csr_array(transitions, dtype=np.float64, copy=True)
        S = P.shape[1]
        if P.ndim != 2 or S == 0 or P.shape[0] == 0 or P.shape[0] % S:
            raise ValueError(
                f"one sparse matrix of transitions must have shape (S*A, S), got {P.shape}"
            )
        return P, P.shape[0] // S
    if isinstance(transitions, list | tuple) and len(transitions) and issparse(transitions[0]):
        return _interleave(transitions), len(transitions)
    dense = np.asarray(transitions, dtype=np.float64)
    if dense.ndim != 3 or dense.shape[0] != dense.shape[2] or dense.size == 0:
        raise ValueError(
            "transitions must have shape (S, A, S), or be A sparse matrices (S, S) or one sparse "
            f"matrix (S*A, S); got an array of shape {dense.shape}"
        )
    S, A, _ = dense.shape
    return csr_array(dense.reshape(S * A, S)), A


def _interleave(matrices: Sequence[Any]) -> csr_array:
    """Row s of matrix a becomes row s A + a."""
    shapes = {m.shape if issparse(m) else np.shape(m) for m in matrices}
    S, A = matrices[0].shape[0], len(matrices)
    if shapes != {(S, S)} or S == 0:
        raise ValueError(f"every sparse matrix must have the same shape (S, S), got {shapes}")
    parts = [coo_array(m) for m in matrices]
    row = np.concatenate([p.coords[0].astype(np.int64) * A + a for a, p in enumerate(parts)])
    col = np.concatenate([p.coords[1] for p in parts])
    data = np.concatenate([p.data for p in parts]).astype(np.float64)
    return csr_array((data, (row, col)), shape=(S * A, S))


def rows_of(P: csr_array) -> IntArray:
    """The row of every stored outcome."""
    return np.repeat(np.arange(P.shape[0], dtype=np.int32), np.diff(P.indptr))


def check_rows(P: csr_array, terminal: BoolArray, names: Names) -> csr_array:
    """Refuse rows that are no distribution; rescale those that miss 1 by rounding."""
    A = len(names.actions)
    live = np.repeat(~terminal, A)
    bad = ~(P.data >= 0)  # NaN too
    if bad.any():
        row = rows_of(P)
        bad &= live[row]
        if bad.any():
            k = int(np.flatnonzero(bad)[0])
            raise ValueError(
                f"the probabilities of {names.pair(row[k])} must be >= 0, got {P.data[k]} "
                f"for next state {names.states[P.indices[k]]!r}"
            )
    total = P @ np.ones(P.shape[1])
    wrong = live & (np.abs(total - 1) > SUM_TOLERANCE) & (total != 0)
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"the probabilities of {names.pair(first)} sum to {total[first]:.10g}; "
            f"they must sum to 1 (or all be 0: action not available){_others(int(wrong.sum()))}"
        )
    stuck = ~terminal & ~(total.reshape(-1, A) > 0).any(axis=1)
    if stuck.any():
        s = int(np.flatnonzero(stuck)[0])
        raise ValueError(
            f"state {names.states[s]!r} has no available action and is not terminal: "
            "give it a row that sums to 1, or list it in terminal"
        )
    off = live & (np.abs(total - 1) > 1e-12) & (total != 0)
    if off.any():
        P.data = P.data / np.where(off, total, 1.0)[rows_of(P)]
    return P


def _others(count: int) -> str:
    return f"; {count} rows are wrong" if count > 1 else ""


def spread_rewards(P: csr_array, rewards: Any, A: int) -> tuple[str, Array]:
    """Which of the three forms, and the numbers: (S,), (S A,) or one per outcome."""
    S = P.shape[1]
    if issparse(rewards) or (isinstance(rewards, list | tuple) and any(map(issparse, rewards))):
        R = csr_array(rewards) if issparse(rewards) else _interleave(rewards)
        if R.shape != P.shape:
            raise ValueError(f"sparse rewards must have shape {P.shape} in all, got {R.shape}")
        aligned = np.array_equal(R.indptr, P.indptr) and np.array_equal(R.indices, P.indices)
        each = R.data if aligned else np.asarray(R[rows_of(P), P.indices])
        return "outcome", np.asarray(each, dtype=np.float64)
    R = np.asarray(rewards, dtype=np.float64)
    if R.shape == (S,):
        return "state", R
    if R.shape == (S, A):
        return "action", R.ravel()
    if R.shape == (S, A, S):
        return "outcome", R.reshape(S * A, S)[rows_of(P), P.indices]
    raise ValueError(
        f"rewards must be R(s) of shape ({S},), R(s,a) of shape ({S}, {A}) or R(s,a,s') of shape "
        f"({S}, {A}, {S}), got shape {R.shape}"
    )


def normal_form(P: csr_array, rewards: ArrayLike, terminal: BoolArray, names: Names) -> Outcomes:
    """Checked rows and rewards: terminal rows are empty, expected rewards include them."""
    S, A = len(names.states), len(names.actions)
    form, R = spread_rewards(P, rewards, A)
    P = check_rows(P, terminal, names)
    P, R = _drop(P, R, terminal, A, per_outcome=form == "outcome")
    _check_finite(form, R, P, names)
    final = np.where(terminal, R, 0.0) if form == "state" else np.zeros(S)
    if form == "state":
        expected = np.repeat(R, A)
    elif form == "action":
        expected = R.copy()
    else:
        expected = csr_array((P.data * R, P.indices, P.indptr), shape=P.shape) @ np.ones(S)
    expected[np.repeat(terminal, A)] = np.repeat(final[terminal], A)
    expected[np.repeat(~terminal, A) & (np.diff(P.indptr) == 0)] = -np.inf
    return Outcomes(P, R if form == "outcome" else None, expected, final)


def _drop(
    P: csr_array, R: Array, terminal: BoolArray, A: int, *, per_outcome: bool
) -> tuple[csr_array, Array]:
    """Leave out what cannot happen: moves from terminal states and probabilities of 0."""
    keep = P.data != 0
    if terminal.any():
        keep &= ~np.repeat(terminal, A)[rows_of(P)]
    if not keep.all():
        indptr = np.concatenate([[0], np.cumsum(keep)])[P.indptr].astype(P.indptr.dtype)
        P = csr_array((P.data[keep], P.indices[keep], indptr), shape=P.shape)
        R = R[keep] if per_outcome else R
    return P, R


def _check_finite(form: str, R: Array, P: csr_array, names: Names) -> None:
    bad = ~np.isfinite(R)
    if form == "action":  # the reward of an action that is not available may be anything
        bad &= np.diff(P.indptr) > 0
    if not bad.any():
        return
    k = int(np.flatnonzero(bad)[0])
    row = k if form == "action" else int(rows_of(P)[k]) if form == "outcome" else -1
    where = f"state {names.states[k]!r}" if form == "state" else names.pair(row)
    raise ValueError(f"the reward of {where} must be a finite number, got {R[k]}")
