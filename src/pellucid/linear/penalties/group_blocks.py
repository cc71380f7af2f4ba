r"""Least squares with a penalty on the norms of groups of coefficients.

    min_W  |c - A W|^2 / 2 + sum_l t_l |W_l|_F

over W (p x k) with rows in groups: the group lasso (k = 1, groups of columns) and the multi-task
lasso (each column its own group, k targets) are the same problem.

Algorithm    within each group A_l is rotated to orthogonal columns, A_l V_l (the norm does not
             notice). Rounds on a working set of groups: sweep its cross-products to convergence,
             then look at |A_l'R| of all groups with one product and add the worst offenders.
Certificate  the duality gap: with s = min(1, min_l t_l / |A_l'R|) the point s R is feasible, so
             P - D = |R|^2/2 + sum t_l |W_l| - (|c|^2 - |c - s R|^2)/2  bounds the distance to the
             optimum. It is computed over all groups, so nothing rests on the working set.

References: Yuan & Lin (2006); Obozinski, Taskar & Jordan (2010); Massias et al. (2018).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays.typing import Array, BoolArray, IntArray
from pellucid.linear.penalties.group_kernels import block_sweeps

SWEEPS = 2000  # per round; the gap decides whether there is another


class Groups(NamedTuple):
    """The columns in order of their groups."""

    order: IntArray  # (p,) columns sorted by group
    start: IntArray  # (L + 1,) where each group begins in that order
    labels: tuple[Any, ...]  # (L,)

    @property
    def sizes(self) -> IntArray:
        return np.diff(self.start)

    def sums(self, values: Array) -> Array:
        """Sum of values (p,) over each group."""
        return np.add.reduceat(values[self.order], self.start[:-1])

    def columns(self, chosen: IntArray) -> IntArray:
        """The columns of the chosen groups, side by side."""
        return np.concatenate([self.order[self.start[i] : self.start[i + 1]] for i in chosen])


def group_columns(labels: Sequence[Any] | NDArray[Any]) -> Groups:
    """Groups of equal labels, each in the order of its first column.

    >>> group_columns(["b", "a", "b"]).order
    array([0, 2, 1])
    """
    seen: dict[Any, list[int]] = {}
    for j, label in enumerate(labels):
        seen.setdefault(label, []).append(j)
    start = np.cumsum([0, *(len(columns) for columns in seen.values())])
    order = np.array([j for columns in seen.values() for j in columns], dtype=np.intp)
    return Groups(order, start.astype(np.intp), tuple(seen))


def rotations(A: Array, sizes: IntArray) -> list[Array]:
    """V_l with orthogonal A_l V_l, the eigenvectors of A_l'A_l; the groups lie side by side."""
    ends = np.cumsum(sizes)
    blocks = [A[:, end - size : end] for size, end in zip(sizes, ends, strict=True)]
    return [np.eye(1) if b.shape[1] == 1 else np.linalg.eigh(b.T @ b)[1] for b in blocks]


def turn(W: Array, V: list[Array]) -> Array:
    """V_l W_l, block by block."""
    ends = np.cumsum([len(v) for v in V])
    return np.vstack([v @ W[end - len(v) : end] for v, end in zip(V, ends, strict=True)])


class State(NamedTuple):
    """One round: the coefficients, the working set, and how good they are."""

    W: Array  # (p, k)
    working: BoolArray  # (L,)
    objective: float
    gap: float


class BlockProblem:
    """The penalised problem on given rows: rounds of sweeps on a growing set of groups."""

    def __init__(self, A: Array, c: Array, groups: Groups, t: Array) -> None:
        self.A, self.c, self.groups, self.t = A, c, groups, t
        norms = np.sqrt(groups.sums(np.einsum("ij,ij->j", A, A)))
        self.live = norms > max(A.shape) * EPS * norms.max(initial=0.0)  # else constant columns
        self.Q = A.T @ c
        self.scale = float((c**2).sum())

    def group_norms(self, W: Array) -> Array:
        return np.sqrt(self.groups.sums((W**2).sum(axis=1)))

    def look(self, W: Array, working: BoolArray) -> tuple[State, Array]:
        """Objective, duality gap, and the correlations |A_l'R| relative to t_l."""
        used = np.flatnonzero(W.any(axis=1))
        R = self.c - self.A[:, used] @ W[used]
        pull = self.group_norms(self.A.T @ R) / self.t
        penalty = float(self.t @ self.group_norms(W))
        s = min(1.0, 1.0 / max(float(pull.max(initial=0.0)), 1e-300))
        primal = float((R**2).sum()) / 2 + penalty
        dual = (self.scale - float(((self.c - s * R) ** 2).sum())) / 2
        return State(W, working, primal, max(primal - dual, 0.0)), pull

    def start(self, W: Array | None = None) -> State:
        W = np.zeros((self.A.shape[1], self.c.shape[1])) if W is None else W
        state, pull = self.look(W, self.group_norms(W) > 0)
        return state._replace(working=self.grown(state.working, pull))

    def grown(self, working: BoolArray, pull: Array) -> BoolArray:
        """Add the groups that pull hardest: as many as there are, at least ten."""
        room = max(10, int(working.sum()))
        offers = np.flatnonzero(~working & self.live & (pull > 1 - 1e-12))
        working = working.copy()
        working[offers[np.argsort(-pull[offers], kind="stable")[:room]]] = True
        return working

    def sweep(self, W: Array, working: BoolArray, tol: float) -> Array:
        """Minimise over the groups of the working set, in the rotated columns."""
        chosen = np.flatnonzero(working)
        columns = self.groups.columns(chosen)
        sizes = self.groups.sizes[chosen]
        V = rotations(self.A[:, columns], sizes)
        Z = turn(self.A[:, columns].T, [v.T for v in V])
        part = turn(W[columns], [v.T for v in V])
        G = Z @ Z.T
        g = Z @ self.c - G @ part
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        block_sweeps(G, part, g, start, self.t[chosen], 0.01 * tol * self.scale, SWEEPS)
        W = W.copy()
        W[columns] = turn(part, V)
        return W

    def step(self, tol: float) -> Callable[[State], tuple[State, float]]:
        """One round; its gap is the duality gap relative to |c|^2."""

        def advance(state: State) -> tuple[State, float]:
            W = self.sweep(state.W, state.working, tol) if state.working.any() else state.W
            new, pull = self.look(W, state.working)
            gap = new.gap / self.scale if self.scale > 0 else 0.0
            return new._replace(working=self.grown(state.working, pull)), gap

        return advance
