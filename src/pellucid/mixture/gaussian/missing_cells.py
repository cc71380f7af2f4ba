r"""Rows with missing cells in a Gaussian mixture: exact expectations, pattern by pattern.

    p(x_o) = sum_k pi_k N(x_o; mu_ko, S_k,oo)                  the density of the observed cells
    E      r_k = p(k | x_o),   E[x_u | x_o, k],   cov(x_u | x_o, k)
    M      as ever, from the expected sums

Cells must be missing at random: whether a cell is there may depend on the observed cells, not on
what it holds. A row without any cell has density 1 and the weights as its posterior. The starts
are found on a table whose gaps hold the means of their columns.

References: Ghahramani & Jordan (1994), Supervised learning from incomplete data via an EM approach.
"""

from functools import partial

import numpy as np

from pellucid.cluster.kmeans.kmeans import RAW
from pellucid.cluster.kmeans.passes import dense_rows
from pellucid.core.arrays.gaps import by_pattern
from pellucid.core.arrays.typing import Array, Map
from pellucid.core.loops import statistics
from pellucid.core.loops.statistics import LEAF_ROWS, Rows, Source, Statistic, reduce_rows
from pellucid.core.runtime.threads import map_threads
from pellucid.mixture.gaussian import missing_kernels as kernels
from pellucid.mixture.gaussian.gaussians import Factors, Sums, leaf_sums, log_joint

LOG_2PI = float(np.log(2 * np.pi))


def dense_pattern_rows(
    factors: Factors, X: Array, w: Array, prior: Array, *, adds: bool
) -> tuple[Sums, Array, Array]:
    """Sums (if ``adds``), log joints and filled rows of full or tied components."""
    k, p = factors.means.shape
    order, ends = by_pattern(X)
    U = np.ascontiguousarray(factors.root[:, :, :p])  # transposed P
    N, M, S = np.zeros(k), np.zeros((k, p)), np.zeros((k, p, p))
    J, F = np.empty((len(X), k)), np.empty((0, p) if adds else X.shape)
    P = np.ascontiguousarray(U.transpose(0, 2, 1))
    known = factors.means, U @ P, P, factors.const, prior
    value = kernels.pattern_rows(X[order], w[order], ends, *known, N, M, S, J, F, adds)
    low = np.tril(S)
    S = low + np.tril(low, -1).transpose(0, 2, 1)
    back = np.argsort(order, kind="stable")
    return Sums(N, M, S, value), J[back], F if adds else F[back]


def diagonal_joint(factors: Factors, X: Array) -> tuple[Array, Array]:
    """Log joints (n, k) of the observed cells of diagonal components, and where the gaps are."""
    gaps = np.isnan(X)
    v = factors.root  # (k, p) precisions
    known = np.where(gaps, 0.0, X)
    J = np.empty((len(X), len(v)))
    for c, mu in enumerate(factors.means):
        D = np.where(gaps, 0.0, known - mu)
        J[:, c] = np.einsum("it,it,t->i", D, D, v[c])
    free = 0.5 * (LOG_2PI - np.log(v))  # what a gap leaves out of the constant
    return factors.const - 0.5 * J + np.einsum("it,kt->ik", gaps.astype(np.float64), free), gaps


def diagonal_sums(factors: Factors, X: Array, w: Array) -> Sums:
    """Sums of diagonal components: a gap adds nothing to the means and its variance to S."""
    J, gaps = diagonal_joint(factors, X)
    top = J.max(axis=1, keepdims=True)
    R = np.exp(J - top)
    total = R.sum(axis=1, keepdims=True)
    value = float(np.einsum("i,i->", w, (top + np.log(total))[:, 0]))
    R *= w[:, None] / total
    M, S = np.zeros(factors.means.shape), np.zeros(factors.means.shape)
    for c, mu in enumerate(factors.means):
        D = np.where(gaps, 0.0, X - mu)
        M[c] = np.einsum("i,it->t", R[:, c], D)
        S[c] = np.einsum("i,it,it->t", R[:, c], D, D)
        S[c] += np.einsum("i,it->t", R[:, c], gaps.astype(np.float64)) / factors.root[c]
    return Sums(np.einsum("ik->k", R), M, S, value)


def leaf_missing(factors: Factors, rows: Rows) -> Sums:
    """The expected sums of one leaf; complete rows take the fast way."""
    X, w = dense_rows(RAW, rows)
    gaps = np.isnan(X).any(axis=1)
    if not gaps.any():
        return leaf_sums(factors, rows)
    if factors.dense:
        none = np.zeros(len(factors.const))
        found = dense_pattern_rows(factors, X[gaps], w[gaps], none, adds=True)[0]
    else:
        found = diagonal_sums(factors, X[gaps], w[gaps])
    if gaps.all():
        return found
    return statistics.add_records(leaf_sums(factors, Rows(X[~gaps], None, w[~gaps])), found)


def expectation_missing(source: Source, map_: Map, factors: Factors) -> Sums:
    """The E step over rows with missing cells."""
    return reduce_rows(
        Statistic(partial(leaf_missing, factors), statistics.add_records), source, map_
    )


def log_joint_observed(X: Array, factors: Factors) -> Array:
    """log pi_k N_k of the observed cells, shape (n, k); rows without gaps take the fast way."""
    J = log_joint(X, factors)
    rows = np.flatnonzero(np.isnan(J[:, 0]))
    rows = rows[np.isnan(X[rows]).any(axis=1)]  # a gap makes J NaN, so X is hardly read again
    if len(rows):
        J[rows] = _log_joint_gaps(X[rows], factors)
    return J


def _log_joint_gaps(X: Array, factors: Factors) -> Array:
    def leaf(start: int) -> Array:
        rows = X[start : start + LEAF_ROWS]
        if not factors.dense:
            return diagonal_joint(factors, rows)[0]
        ones = np.ones(len(rows))
        return dense_pattern_rows(factors, rows, ones, np.ones(len(factors.const)), adds=False)[1]

    return np.concatenate(list(map_threads(leaf, range(0, len(X), LEAF_ROWS))))


def fill_missing(X: Array, factors: Factors, weights: Array) -> Array:
    """Rows with each gap filled by its mean given the observed cells."""

    def leaf(start: int) -> Array:
        rows = X[start : start + LEAF_ROWS]
        if factors.dense:
            ones = np.ones(len(rows))
            return dense_pattern_rows(factors, rows, ones, weights, adds=False)[2]
        J, gaps = diagonal_joint(factors, rows)
        top = J.max(axis=1, keepdims=True)
        R = np.where(np.isfinite(top), np.exp(J - np.where(np.isfinite(top), top, 0.0)), weights)
        R /= R.sum(axis=1, keepdims=True)
        return np.where(gaps, np.einsum("ik,kt->it", R, factors.means), rows)

    return np.concatenate(list(map_threads(leaf, range(0, len(X), LEAF_ROWS))))
