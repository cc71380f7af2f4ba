r"""Crammer and Singer's multi-class support vector machine by coordinate descent in the dual.

    P(W) = sum_k |w_k|^2/2 + C sum_i v_i max_k (1[k != y_i] + f_k(x_i) - f_{y_i}(x_i))
    D(a) = -sum_k |sum_i a_ik x_i|^2/2 - sum_i sum_k a_ik 1[k != y_i]

One loss for all classes together: a row is charged by how far its own score is from beating every
other by 1. The intercept is the weight of one more column and is shrunk with the others, as in
liblinear: a free one would couple all rows. A step is a round over the rows in random order, and
then rounds over those that moved, which are few near the end, until they move a tenth as far. The
gap is (P - D)/P, and every iterate is feasible in the dual.

References: Crammer & Singer (2001); Keerthi et al. (2008), A sequential dual method.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, hstack

from pellucid.core.arrays.typing import Array, IntArray, Rng
from pellucid.kernel.linear_svm.crammer_singer_kernels import crammer_singer_round

ROUNDS = 50  # at most over the rows that moved, per step
CALM = 0.1  # of the first round's largest move
STILL = 1e-2  # of it: a row that moved less is left to the next step


class CrammerSinger(NamedTuple):
    """The problem: rows with their intercept column, codes and costs C v."""

    X: Any  # CSR
    y: IntArray
    cost: Array
    norms: Array
    rng: Rng


class CrammerState(NamedTuple):
    W: Array  # (K, p [+ 1])
    A: Array  # (n, K)
    objective: float
    gap: float


def make_crammer_singer(
    X: Any, y: IntArray, cost: Array, scaling: float | None, rng: Rng
) -> CrammerSinger:
    """``scaling`` is the value of the intercept's column, or None."""
    X = csr_array(X)
    if scaling is not None:
        X = csr_array(hstack([X, csr_array(np.full((X.shape[0], 1), scaling))]))
    norms = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return CrammerSinger(X, y, cost, norms, rng)


def certify(problem: CrammerSinger, W: Array, A: Array) -> CrammerState:
    """Objective and duality gap."""
    y = problem.y
    F = problem.X @ W.T  # (n, K)
    rows = np.arange(len(y))
    margin = F + 1.0
    margin[rows, y] -= 1.0
    loss = margin.max(axis=1) - F[rows, y]
    half = 0.5 * float(np.square(W).sum())
    objective = half + float(problem.cost @ loss)
    dual = -half + float(A[rows, y].sum())
    return CrammerState(W, A, objective, max(objective - dual, 0.0))


def start_crammer_singer(problem: CrammerSinger, n_classes: int) -> CrammerState:
    n, p = problem.X.shape
    return certify(problem, np.zeros((n_classes, p)), np.zeros((n, n_classes)))


def crammer_singer_step(problem: CrammerSinger, state: CrammerState) -> tuple[CrammerState, float]:
    """One round over the rows in a new order, and more over those that moved."""
    X, K = problem.X, len(state.W)
    W, A = state.W.copy(), state.A.copy()
    starts, columns = (a.astype(np.int32, copy=False) for a in (X.indptr, X.indices))
    values = X.data if X.data.flags.writeable else X.data.copy()
    data = values, columns, starts, problem.y, problem.cost, problem.norms
    room = W, A, np.empty(K), np.empty(K)
    order = problem.rng.permutation(len(problem.y)).astype(np.intp)
    first = crammer_singer_round(*data, order, *room)
    far = np.abs(A - state.A).max(axis=1) * np.sqrt(problem.norms)
    moved = np.flatnonzero(far > STILL * first)
    for _ in range(ROUNDS):
        if crammer_singer_round(*data, problem.rng.permutation(moved), *room) <= CALM * first:
            break
    new = certify(problem, W, A)
    return new, new.gap / max(new.objective, 1e-300)
