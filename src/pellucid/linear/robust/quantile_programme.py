r"""Quantile regression as a linear programme: samples that grow, rows that keep their side.

    minimise  sum_i up_i (r_i)_+ + lo_i (-r_i)_+,    r = y - D theta

A row far from the fit is held: psi_i r_i, with psi_i = up_i or -lo_i by its side, is a lower bound
of its loss and linear in theta. The optimum with rows held is therefore a lower bound of the
optimum; when no held row has changed sides the two are equal. The simplex of
``quantile_kernels.py`` runs on the other rows only. The fit of a sample tells which rows of
the next sample, eight times larger, are near.

References: Portnoy & Koenker (1997), The Gaussian hare and the Laplacian tortoise.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

from pellucid.core.algebra.linalg import EPS, solve_cholesky
from pellucid.core.arrays.typing import Array, BoolArray, IntArray
from pellucid.linear.robust.quantile_kernels import MORE, OPTIMAL, STALLED, UNBOUNDED, pivots

FIRST = 1000  # rows of the first sample, at least
GROWTH = 8  # from sample to sample
REFRESH = 200  # pivots after which the inverse of the basis is computed anew


class Rows(NamedTuple):
    """Rows of the linear programme; the last n_penalty rows stand for alpha |w_j|."""

    D: Array  # (m, q) standardised columns
    y: Array  # (m,)
    up: Array  # (m,) price of a positive residual
    lo: Array  # (m,) price of a negative one
    n_penalty: int

    @property
    def n_data(self) -> int:
        return len(self.y) - self.n_penalty

    def take(self, index: IntArray) -> "Rows":
        D, y, up, lo = (np.ascontiguousarray(a[index]) for a in self[:4])
        return Rows(D, y, up, lo, int((index >= self.n_data).sum()))

    def loss(self, theta: Array) -> float:
        r = self.y - self.D @ theta
        return float(np.where(r > 0, self.up * r, -self.lo * r).sum())


class State(NamedTuple):
    """Where the fit stands after a round."""

    theta: Array  # (q,)
    basis: IntArray  # (q,) rows that are fitted exactly
    size: int  # rows of the sample
    active: BoolArray  # (m,) rows that are pivoted on
    side: Array  # (m,) +1 or -1, the side a row counts on; 0 in the basis
    objective: float  # over all rows
    pivots: int
    done: bool


def vertex(
    rows: Rows, linear: Array, basis: IntArray, scale: float
) -> tuple[Array, IntArray, Array, int, int]:
    """Optimal vertex of ``rows`` from that of ``basis``: (theta, basis, sides, status, pivots).

    A stalled simplex (many rows meet in one vertex) goes on with y moved by a trace of noise, and
    finishes with y as given.
    """
    tol = 1e-9 * float((rows.up + rows.lo).max())
    sign = np.ones(len(rows.y))
    total, stalls, y = 0, 0, rows.y
    patience = 50 + 2 * len(basis)
    while True:
        inverse = np.linalg.inv(rows.D[basis])
        theta = inverse @ y[basis]
        theta += inverse @ (y[basis] - rows.D[basis] @ theta)
        r = y - rows.D @ theta
        r[np.abs(r) <= 1e-13 * scale] = 0.0
        sign = np.where(r > 0, 1.0, np.where(r < 0, -1.0, np.where(sign == 0, 1.0, sign)))
        r[basis], sign[basis] = 0.0, 0.0
        vertex = linear, basis, inverse, theta, r, sign
        status, count = pivots(rows.D, y, rows.up, rows.lo, *vertex, tol, REFRESH, patience)
        total += count
        if status == OPTIMAL and y is not rows.y:
            y = rows.y
        elif (status == OPTIMAL and count == 0) or status == UNBOUNDED:
            return theta, basis, sign, status, total
        elif status == STALLED:
            stalls += 1
            if stalls > 4:
                return theta, basis, sign, status, total
            noise = np.random.default_rng(stalls).uniform(-1, 1, size=len(y))
            y = rows.y + 1e-9 * 10.0**-stalls * scale * noise
        elif status == MORE:
            patience = patience if y is rows.y else 10**9


def first_basis(rows: Rows, sample: IntArray, tau: float, intercept: bool) -> IntArray:
    """q independent rows to start from: all slopes 0 with a penalty, else near least squares."""
    q, n = rows.D.shape[1], rows.n_data
    if q == 0:
        return np.arange(0)
    if rows.n_penalty:
        if not intercept:
            return np.arange(n, n + q)
        order = sample[np.argsort(rows.y[sample], kind="stable")]
        share = np.cumsum(rows.up[order] + rows.lo[order])
        middle = order[min(np.searchsorted(share, tau * share[-1]), len(order) - 1)]
        return np.append(middle, np.arange(n, n + q - 1))
    D, y = rows.D[sample], rows.y[sample]
    r = y - D @ np.linalg.lstsq(D, y, rcond=None)[0]
    r = np.abs(r - np.quantile(r, tau)) if intercept else np.abs(r)
    near = sample[np.argsort(r, kind="stable")]
    for candidates in (near[: 10 * q], near, np.arange(n)):
        if len(candidates) >= q:
            R, order = qr(rows.D[candidates].T, mode="r", pivoting=True)
            if abs(R[q - 1, q - 1]) > 1e-8 * abs(R[0, 0]):
                return candidates[order[:q]]
    return candidates[order[:q]]


def fit_round(rows: Rows, order: IntArray, scale: float, state: State) -> tuple[State, float]:
    """Solve on the active rows of the sample; rows that changed sides become active."""
    n, q = rows.n_data, rows.D.shape[1]
    penalties = np.arange(n, n + rows.n_penalty)
    inside = np.sort(order[: state.size])
    share = state.size / n
    active = state.active.copy()
    active[state.basis] = active[penalties] = True
    theta = state.theta
    still = inside[~active[inside]]
    before = rows.y[still] - rows.D[still] @ theta
    psi = np.where(before > 0, rows.up[still], -rows.lo[still])
    chosen = np.concatenate([inside[active[inside]], penalties])
    part = rows.take(chosen)
    if rows.n_penalty and share < 1:  # the penalty counts as many rows as the sample has
        cap = np.where(chosen >= n, share, 1.0)
        part = part._replace(up=part.up * cap, lo=part.lo * cap)
    place = np.full(len(rows.y), -1)
    place[chosen] = np.arange(len(chosen))
    local = place[state.basis]
    theta, local, sign, status, count = vertex(part, -psi @ rows.D[still], local, scale)
    basis = chosen[local]
    if status == UNBOUNDED:  # too many rows were held: take all of them
        active[inside] = True
        return state._replace(active=active), 1.0
    side = np.zeros(len(rows.y))
    side[still], side[chosen] = np.where(before > 0, 1.0, -1.0), sign
    after = rows.y[still] - rows.D[still] @ theta
    wrong = still[(after * before < 0) | ((before == 0) & (after != 0))]
    active[wrong] = True
    objective = rows.loss(theta)
    total = state.pivots + count
    if len(wrong):
        gap = 1.0
        if state.size == n:  # held rows pay less than their loss: a lower bound of the optimum
            short = np.where(after > 0, rows.up[still] * after, -rows.lo[still] * after)
            gap = float((short - psi * after).sum()) / max(objective, 1e-300)
        found = theta, basis, state.size, active, side, objective, total, state.done
        return State(*found), max(gap, 1e-300)
    if state.size == n:
        return State(theta, basis, n, active, side, objective, total, True), 0.0
    size = min(n, GROWTH * state.size)
    active = near_rows(rows, order[:size], theta, q)
    return State(theta, basis, size, active, side, objective, total, False), 1.0


def near_rows(rows: Rows, inside: IntArray, theta: Array, q: int) -> BoolArray:
    """The rows of a sample so near the fit of the last one that they may change sides."""
    r = np.abs(rows.y[inside] - rows.D[inside] @ theta)
    before = max(len(inside) // GROWTH, 1)
    keep = min(len(inside), int(len(inside) * 3 * np.sqrt(q / before)) + 20 * q)
    active = np.zeros(len(rows.y), dtype=bool)
    near = inside if keep >= len(inside) else inside[np.argpartition(r, keep)[:keep]]
    active[near] = True
    return active


def start(rows: Rows, tau: float, intercept: bool) -> tuple[State, IntArray]:
    """The first vertex, and the order in which rows join the samples."""
    n, q = rows.n_data, rows.D.shape[1]
    size = max(FIRST, 50 * q)
    sampled = n > 4 * size
    order = np.random.default_rng(0).permutation(n) if sampled else np.arange(n)
    size = size if sampled else n
    basis = first_basis(rows, order[:size], tau, intercept)
    theta: Array = np.asarray(np.linalg.solve(rows.D[basis], rows.y[basis]), dtype=np.float64)
    active = np.zeros(len(rows.y), dtype=bool)
    active[order[:size]] = True
    side = np.ones(len(rows.y))
    return State(theta, basis, size, active, side, rows.loss(theta), 0, q == 0), order


class Certificate(NamedTuple):
    """Primal minus dual value, and whether another point is as good."""

    gap: float
    unique: bool


def optimum(
    rows: Rows, near: State | None, *, tau: float = 0.5, share: float = 1.0, rounds: int = 1000
) -> State:
    """The optimal vertex of ``rows``, started from that of a similar problem if there is one.

    ``share`` of the rows, those nearest to the fit, may change sides at first; more join as needed.
    """
    n, q = rows.n_data, rows.D.shape[1]
    if near is None:
        first = first_basis(rows, np.arange(n), tau, bool(q) and bool((rows.D[:, 0] == 1).all()))
    else:
        first = near.basis
    theta: Array = np.asarray(np.linalg.solve(rows.D[first], rows.y[first]), dtype=np.float64)
    keep = min(n, int(share * n) + 20 * q)
    active = np.ones(len(rows.y), dtype=bool)
    if keep < n:
        active[np.argpartition(np.abs(rows.y - rows.D @ theta)[:n], keep)[keep:]] = False
    scale = float(np.abs(rows.y).max()) or 1.0
    state = State(theta, first, n, active, np.ones(len(rows.y)), 0.0, 0, q == 0)
    for _ in range(rounds):
        if state.done:
            break
        state, _ = fit_round(rows, np.arange(n), scale, state)
    return state


class DualPoint(NamedTuple):
    """The dual values of a vertex."""

    a: Array  # (m,) the price of every row, within its bounds
    basic: Array  # (q,) those of the basis before they are bounded
    inverse: Array  # (q, q) of the rows of the basis
    tied: BoolArray  # (m,) rows fitted exactly that are not in the basis


def dual_point(rows: Rows, state: State, scale: float) -> DualPoint:
    """Prices on the side of every row; those of the basis balance the others."""
    basis = state.basis
    r = rows.y - rows.D @ state.theta
    tied = np.abs(r) <= 1e-12 * scale
    a = np.where(np.where(tied, state.side, r) > 0, rows.up, -rows.lo)
    tied[basis] = False
    a[basis] = 0.0
    inverse: Array = np.asarray(np.linalg.inv(rows.D[basis]), dtype=np.float64)
    basic = -inverse.T @ (rows.D.T @ a)
    a[basis] = np.clip(basic, -rows.lo[basis], rows.up[basis])
    return DualPoint(a, basic, inverse, tied)


def certify(rows: Rows, state: State, scale: float) -> Certificate:
    """The gap of a vertex to its dual point, and its edges that cost nothing."""
    a, a_h, inverse, tied = dual_point(rows, state, scale)
    gap = rows.loss(state.theta) - float(a @ rows.y)
    tol = 1e-8 * float((rows.up + rows.lo).max())
    unique = True
    for k, i in enumerate(state.basis):
        for sigma, slope in ((1, rows.up[i] - a_h[k]), (-1, rows.lo[i] + a_h[k])):
            if slope <= tol and unique:
                v = sigma * (rows.D[tied] @ inverse[:, k])
                held = np.where(v > 0, rows.up[tied] * v, -rows.lo[tied] * v) - a[tied] * v
                unique = bool(slope + held.sum() > tol)
    return Certificate(gap, unique)


class Columns(NamedTuple):
    """D = [1, (X - mean)/scale] on the columns that say something."""

    mean: Array  # (p,)
    scale: Array  # (p,)
    kept: IntArray  # columns in use
    dependent: tuple[int, ...]  # columns left out since the others say the same


def standardise(X: Array, w: Array, *, intercept: bool, free: bool) -> tuple[Array, Columns]:
    """Centred unit columns; without a penalty (``free``) only independent ones."""
    n = w.sum()
    origin = X[np.argmax(w)] if intercept else np.zeros(X.shape[1])
    mean = origin + w @ (X - origin) / n if intercept else origin
    Z = X - mean
    scale = np.sqrt(w @ Z**2 / n)
    kept = np.flatnonzero(scale > 1e-14 * np.abs(mean))
    Z = Z[:, kept] / scale[kept]
    D = np.ascontiguousarray(np.column_stack([np.ones(len(X)), Z]) if intercept else Z)
    dependent: tuple[int, ...] = ()
    if free and D.shape[1]:
        n_rows, q = D.shape
        solved = solve_cholesky(D.T @ D, np.zeros((q, 1))) if n_rows >= q else None
        if solved is None or solved.condition > 1e6:
            R, order = qr(D, mode="r", pivoting=True)
            size = np.abs(np.diag(R))
            rank = int((size > max(D.shape) * 10 * EPS * size[0]).sum())
            if rank < D.shape[1]:
                good = np.sort(order[:rank])
                if intercept and 0 not in good:  # the intercept stays
                    good = np.sort(np.append(good[:-1], 0))
                lost = np.setdiff1d(np.arange(D.shape[1]), good)
                dependent = tuple(int(kept[j - intercept]) for j in lost if j - intercept >= 0)
                D = np.ascontiguousarray(D[:, good])
                slopes = good[good >= intercept] - intercept
                kept = kept[slopes]
    return D, Columns(mean, scale, kept, dependent)
