r"""Probabilistic principal components of rows with missing cells, by EM.

o observed, u missing cells of a row, D = x - mu; M = s2 I + W_o'W_o (d x d) for each pattern:

    z | x_o ~ N(M^-1 W_o'D_o, s2 M^-1)          x_u | x_o ~ N(mu_u + W_u z, s2 (I + W_u M^-1 W_u'))
    log p(x_o) = -1/2 [o log 2 pi + log |M| + (o - d) log s2 + |D_o - W_o z|^2/s2 + |z|^2]

E    expected sums of x and xx' over the missing cells
M    the closed form (eigenvectors) for the expected mean and 1/n covariance

The missing cells are the only hidden quantities (z is integrated out in M), so without gaps one
round is the closed form, and with few gaps few rounds are enough. The likelihood of the observed
cells never falls. O(n d m^2) a round for the rows with gaps, n m^2 for the others.

References: Tipping & Bishop (1999); Ilin & Raiko (2010), Practical approaches to PCA with missing
values.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays.gaps import by_pattern
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, IntArray, Map
from pellucid.core.loops.statistics import Rows, Source, Statistic, add_records, reduce_rows
from pellucid.decomposition.spectrum import by_eigen

LOG_2PI = float(np.log(2 * np.pi))
CHUNK = 1 << 22  # numbers of conditional roots that are held at a time


class Plane(NamedTuple):
    """The model: mu, W and s2."""

    mean: Array  # (m,)
    W: Array  # (m, d)
    noise: float


class Expected(NamedTuple):
    """Expected sums about the mean in use, and the log-likelihood of the observed cells."""

    weight: float
    first: Array  # (m,)
    second: Array  # (m, m)
    value: float


class GapState(NamedTuple):
    """Where EM stands: the model, the E step at it, and the spectrum it came from."""

    plane: Plane
    sums: Expected
    eigenvalues: Array  # (m,)

    def row(self) -> dict[str, float]:
        """The row of the history."""
        return {"objective": self.sums.value, "noise_variance": self.plane.noise}


class Given(NamedTuple):
    """What is known of z and of the missing cells of some rows."""

    z: Array  # (n, d)
    D: Array  # (n, m)  x - mu, gaps filled by W z
    log_density: Array  # (n,)
    roots: Array  # (patterns, d, d)  L^-T with M = L L'
    which: IntArray  # (n,) pattern of each row
    gaps: Array  # (patterns, m)


def given(plane: Plane, X: Array) -> Given:
    """Condition on the observed cells; rows of one pattern share one factorisation."""
    mean, W, s2 = plane
    m, d = W.shape
    order, ends = by_pattern(X)
    which: IntArray = np.empty(len(X), dtype=np.intp)
    which[order] = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    gaps = np.isnan(X[order[ends - 1]])  # (q, m)
    pairs = (W[:, :, None] * W[:, None, :]).reshape(m, d * d)
    M = ((~gaps) @ pairs).reshape(-1, d, d) + s2 * np.eye(d)
    L = np.linalg.cholesky(M)
    roots = np.linalg.inv(L).transpose(0, 2, 1)
    hidden = gaps[which]
    D = np.where(hidden, 0.0, X - mean)
    b = D @ W
    A = roots[which]  # M^-1 = A A'
    z = np.einsum("nij,nkj,nk->ni", A, A, b, optimize=True)
    rebuilt = z @ W.T
    far = (np.where(hidden, 0.0, D - rebuilt) ** 2).sum(axis=1) / s2 + (z**2).sum(axis=1)
    seen = (~gaps).sum(axis=1)
    log_det = 2.0 * np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1)
    constant = seen * LOG_2PI + log_det + (seen - d) * np.log(s2)
    log_density = -0.5 * (constant[which] + far)
    return Given(z, np.where(hidden, rebuilt, D), log_density, roots, which, gaps)


def latent_covariances(plane: Plane, X: Array) -> Array:
    """The covariance of z given each row, (n, d, d)."""
    found = given(plane, X)
    return plane.noise * (found.roots @ found.roots.transpose(0, 2, 1))[found.which]


def repair(values: Array, X: Array, better: Callable[[Array], Array]) -> Array:
    """Replace the values of rows with gaps, which are NaN (so that X is hardly read again).

    >>> repair(np.array([1.0, np.nan]), np.array([[2.0], [np.nan]]), len)
    array([1., 1.])
    """
    rows = np.flatnonzero(np.isnan(values.reshape(len(values), -1)[:, 0]))
    rows = rows[np.isnan(X[rows]).any(axis=1)]
    if len(rows):
        values[rows] = better(X[rows])
    return values


def hidden_covariance(plane: Plane, found: Given, w: Array) -> Array:
    """sum_i w_i cov(x_u | x_o) over the rows, (m, m)."""
    _, W, s2 = plane
    m, d = W.shape
    mass = np.bincount(found.which, w, len(found.gaps))  # of each pattern
    K = np.diag(s2 * (mass @ found.gaps))
    step = max(1, CHUNK // (m * d))
    for start in range(0, len(found.gaps), step):
        part = slice(start, start + step)
        V = np.sqrt(s2 * mass[part])[:, None, None] * (W @ found.roots[part])  # (q, m, d)
        V *= found.gaps[part][:, :, None]
        V = V.transpose(1, 0, 2).reshape(m, -1)
        K += V @ V.T
    return K


def leaf_expected(plane: Plane, rows: Rows) -> Expected:
    """The expected sums of one leaf."""
    X = to_dense(rows.X)
    w = np.asarray(rows.w)
    found = given(plane, X)
    D = found.D
    second = D.T @ (D * w[:, None]) + hidden_covariance(plane, found, w)
    return Expected(float(w.sum()), w @ D, second, float(w @ found.log_density))


def expect(source: Source, map_: Map, plane: Plane) -> Expected:
    """The E step."""
    return reduce_rows(Statistic(partial(leaf_expected, plane), add_records), source, map_)


def maximise(mean: Array, sums: Expected, d: int) -> tuple[Plane, Array]:
    """The M step: the closed form for the expected moments, and the spectrum it is made of."""
    shift = sums.first / sums.weight
    S = sums.second / sums.weight - np.outer(shift, shift)
    found = by_eigen(0.5 * (S + S.T), len(S))
    values = found.squares
    s2 = float(values[d:].mean())
    if not s2 > len(S) * EPS * values[0]:
        raise ValueError(f"n_components={d} leaves no noise: the cells lie in {d} directions")
    W = found.V[:d].T * np.sqrt(np.maximum(values[:d] - s2, 0.0))
    return Plane(mean + shift, W, s2), values


def gap_step(source: Source, map_: Map, state: GapState) -> tuple[GapState, float]:
    """One round of EM; the gap is the relative change of C = W W' + s2 I."""
    d = state.plane.W.shape[1]
    plane, values = maximise(state.plane.mean, state.sums, d)
    new, old = (p.W @ p.W.T + p.noise * np.eye(len(p.mean)) for p in (plane, state.plane))
    change = float(np.linalg.norm(new - old) / np.linalg.norm(new))
    return GapState(plane, expect(source, map_, plane), values), change
