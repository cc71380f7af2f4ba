r"""Rounds of soft clustering: weigh every row for every centre, move the centres, until they rest.

    weigh   u_ik = how much row i belongs to centre k, from D_ik = d(x_i, c_k)
    move    c_k = the centre of the rows, weighted with w_i u_ik^m

``fuzzy`` and ``possibilistic`` say what u is; both steps minimise their objective with the other
part held fixed, so it cannot rise. What the move gains follows from the sums themselves,

    J(u, new c) = J(u, c) - sum_k W_k |new c_k - c_k|^2,      W_k = sum_i w_i u_ik^m,

so one sweep per round is enough, and (W_k, sum w u^m x, J) is a statistic: it can be added over
blocks of a file.

Rounds converge linearly, and slowly where groups overlap. After PLAIN_ROUNDS rounds by the book
the next sweep is made where the last few rounds seem to lead (Anderson mixing), or, where that
led uphill because the rounds are leaving a saddle, further along the last move, twice as far each
time. If J is not lower there than it was, the sweep is made at the centres themselves. So J still
never rises, and the rounds stop where the plain ones would.
"""

from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from pellucid.cluster.kmeans.kmeans import RAW, Problem
from pellucid.cluster.kmeans.lloyd import Limits
from pellucid.cluster.kmeans.passes import Space, dense_rows, plain_array
from pellucid.cluster.soft import kernels
from pellucid.core.arrays.quantiles import weighted_median
from pellucid.core.arrays.typing import Array
from pellucid.core.loops.iterate import ConvergenceWarning, History, Iteration, iterate
from pellucid.core.loops.statistics import LEAF_ROWS, Rows, Statistic, add_records, reduce_rows
from pellucid.core.runtime import simd
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.core.runtime.warn import warn

PLAIN_ROUNDS = 30  # by the book, so that a run can be followed by hand
DEPTH = 6  # rounds an extrapolation looks back
FUZZY = np.empty(0)  # no scales: memberships, not typicalities


class Weights(NamedTuple):
    """How much rows belong to centres, from distances."""

    m: float
    eta: Array  # (k,) scales of typicalities, or FUZZY


class Memberships(NamedTuple):
    """Values u (n, k), their m-th powers, and the cost of each row."""

    u: Array
    power: Array
    cost: Array


def weigh(D: Array, weights: Weights) -> Memberships:
    """Memberships or typicalities of D (n, k) = d(x_i, c_k), in the log domain.

    >>> weigh(np.array([[1.0, 3.0], [0.0, 2.0]]), Weights(2.0, FUZZY)).u
    array([[0.75, 0.25],
           [1.  , 0.  ]])
    """
    m, eta = weights
    with np.errstate(divide="ignore", over="ignore"):
        if len(eta) == 0:
            least = D.min(axis=1, keepdims=True)
            ratio = np.divide(least, D, out=np.ones_like(D), where=least < D)
            log_r = np.log(ratio) / (m - 1)
            log_u = log_r - np.log(np.exp(log_r).sum(axis=1, keepdims=True))
            power = np.exp(m * log_u)
            return Memberships(np.exp(log_u), power, (power * D).sum(axis=1))
        h = np.maximum(eta, kernels.TINY)
        log_q = np.log(D / h) / (m - 1)
        log_u = -np.logaddexp(0.0, log_q)
        rest = np.exp(-m * np.logaddexp(0.0, -log_q))  # (1 - u)^m
        power = np.exp(m * log_u)
        return Memberships(np.exp(log_u), power, (power * D + h * rest).sum(axis=1))


class Sums(NamedTuple):
    """The statistic of one sweep."""

    total: Array  # (k, p + 1)  sum w u^m (x - origin, 1)
    spread: Array  # (k,)  sum w u^m D
    cost: float  # J at the centres of the sweep
    square: float  # sum w u^2
    weight: float  # sum w


def padded(C: Array, origin: Array) -> Array:
    """Centres about the origin by columns (p, k8), padded to whole tiles."""
    k, p = C.shape
    out = np.zeros((p, -(-k // simd.TILE_ROWS) * simd.TILE_ROWS))
    out[:, :k] = (C - origin).T
    return out


def leaf_sums(space: Space, C: Array, origin: Array, weights: Weights, rows: Rows) -> Sums:
    """The statistic of one leaf."""
    X, w = dense_rows(space, rows)
    k, p = C.shape
    P = padded(C, origin)
    total = np.zeros((P.shape[1], -(-(p + 1) // simd.LANES) * simd.LANES))
    terms = np.zeros((k, 2))
    cost, square = kernels.soft_sums(X, w, P, k, *weights, origin, total, terms)
    return Sums(total[:k, : p + 1], terms[:, 0], cost, square, float(w.sum()))


def leaf_values(space: Space, X: Array, C: Array, weights: Weights, out: Array) -> None:
    """Memberships or typicalities of prepared rows, into ``out`` (n, k)."""
    if space.compiled:
        origin = C.mean(axis=0)
        kernels.soft_values(X, padded(C, origin), len(C), *weights, origin, out)
    else:
        out[:] = weigh(space.distance.pairwise(X, C), weights).u


def values_of(space: Space, X: Any, C: Array, weights: Weights) -> Array:
    """Memberships or typicalities (n, k) of checked rows, dense or sparse."""
    out = np.empty((X.shape[0], len(C)))
    rows, C = Rows(X, None, np.broadcast_to(np.float64(1.0), X.shape[:1])), plain_array(C)

    def part(start: int) -> None:
        stop = min(start + LEAF_ROWS, X.shape[0])
        leaf, _ = dense_rows(space, rows.slice(start, stop))
        leaf_values(space, leaf, C, weights, out[start:stop])

    list(map_threads(part, range(0, X.shape[0], LEAF_ROWS)))
    return out


class Move(NamedTuple):
    """One round: J before and after the centres moved."""

    centers: Array  # (k, p)
    before: float
    after: float
    sums: Sums


class Sweeps(Protocol):
    """Sweeps over the rows for given centres."""

    def sums(self, C: Array, weights: Weights) -> Sums: ...

    def move(self, C: Array, weights: Weights) -> Move: ...


class TileSweeps:
    """Compiled sweeps over any source of rows: Euclidean, or directions."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.space = problem, problem.space
        self.read = RAW if problem.dense is not None else problem.space  # scaled already
        self.origin = plain_array(problem.box.mean)

    def sums(self, C: Array, weights: Weights) -> Sums:
        leaf = partial(leaf_sums, self.read, plain_array(C), self.origin, weights)
        found = reduce_rows(Statistic(leaf, add_records), self.problem.source, self.problem.map_)
        scale = self.space.scale
        return found._replace(cost=scale * found.cost, spread=scale * found.spread)

    def move(self, C: Array, weights: Weights) -> Move:
        sums = self.sums(C, weights)
        W, S = sums.total[:, -1], sums.total[:, :-1]
        full = W > 0
        pull = W
        if self.space.unit:
            S = S + W[:, None] * self.origin
            pull = np.sqrt((S**2).sum(axis=1))
            full = pull > 1e-12 * W  # opposite directions that cancel have no mean direction
            new = S / np.where(full, pull, 1.0)[:, None]
        else:
            new = self.origin + S / np.where(full, W, 1.0)[:, None]
        new = np.where(full[:, None], new, C)
        fall = self.space.scale * float((pull * ((new - C) ** 2).sum(axis=1)).sum())
        return Move(new, sums.cost, max(sums.cost - fall, 0.0), sums)


class PlainSweeps:
    """Sweeps over rows in memory for any distance, with means or medians."""

    def __init__(self, problem: Problem) -> None:
        if not isinstance(problem.source, Rows):
            raise ValueError("fit_blocks needs metric 'euclidean' or 'cosine'; or fit some rows")
        self.space = problem.space
        self.X, self.w = dense_rows(problem.space, problem.source)

    def _weigh(self, C: Array, weights: Weights) -> tuple[Array, Memberships]:
        D = self.space.distance.pairwise(self.X, C)
        return D, weigh(D, weights)

    def sums(self, C: Array, weights: Weights) -> Sums:
        D, found = self._weigh(C, weights)
        Q = self.w[:, None] * found.power
        total = np.column_stack([Q.T @ self.X, Q.sum(axis=0)])
        cost, square = self.w @ found.cost, self.w @ (found.u**2).sum(axis=1)
        return Sums(total, (Q * D).sum(axis=0), float(cost), float(square), float(self.w.sum()))

    def move(self, C: Array, weights: Weights) -> Move:
        D, found = self._weigh(C, weights)
        Q = self.w[:, None] * found.power
        W = Q.sum(axis=0)
        if self.space.center == "median":
            pairs = zip(Q.T, C, strict=True)
            new = np.array([weighted_median(self.X, q) if q.any() else c for q, c in pairs])
        else:
            new = np.where((W > 0)[:, None], (Q.T @ self.X) / np.where(W > 0, W, 1.0)[:, None], C)
        after = float((Q * self.space.distance.pairwise(self.X, new)).sum())
        before = float((Q * D).sum())
        sums = Sums(np.empty((0, 0)), (Q * D).sum(axis=0), before, 0.0, 0.0)
        return Move(new, before, after, sums)


def sweeps_of(problem: Problem) -> Sweeps:
    """The sweeps that fit the problem's distance."""
    return TileSweeps(problem) if problem.space.compiled else PlainSweeps(problem)


class State(NamedTuple):
    """Where a run stands: the centres, and where the next sweep will be made."""

    step: int
    centers: Array
    move: Move | None
    target: Array  # equal to centers, or extrapolated from the last rounds
    memory: tuple[tuple[Array, Array], ...] = ()  # (from, to) of the last rounds
    stretch: float = 0.0  # by how much the last move is lengthened; 0: extrapolate instead


def extrapolated(memory: tuple[tuple[Array, Array], ...]) -> Array:
    """Where the last rounds seem to lead (Anderson mixing).

    The combination sum_r a_r to_r, sum a = 1, whose moves sum_r a_r (to_r - from_r) cancel best.
    """
    first, last = memory[:-1], memory[-1]
    G = np.column_stack([(to - frm - last[1] + last[0]).ravel() for frm, to in first])
    H = np.column_stack([(to - last[1]).ravel() for _, to in first])
    a = np.linalg.lstsq(G, -(last[1] - last[0]).ravel(), rcond=1e-10)[0]
    return last[1] + (H @ a).reshape(last[1].shape)


def as_if_stopped(state: State, **fixed: Any) -> dict[str, Any]:
    """The fitted attributes as if the fit had ended with this round."""
    value = None if state.move is None else state.move.after
    return {"cluster_centers_": state.centers, "objective_": value, "n_iter_": state.step, **fixed}


def rises(history: History) -> int:
    """The number of steps, of either kind, in which the objective rose by more than rounding."""
    values = np.column_stack([history["before"], history["objective"]]).ravel()
    return int((np.diff(values) > 1e-12 * values[0]).sum())


def warn_of_limit(model: Any) -> None:
    """Warn where the rounds of a fitted model ended before its centres rested."""
    if model._end == "max_iter":
        say = f"{type(model).__name__}: no convergence in max_iter={model.max_iter} rounds"
        gap = f"a centre last moved by {model.history_[-1]['gap']:.3g} (tol={model.tol:g})"
        warn(f"{say}: {gap}", ConvergenceWarning)


class Run(NamedTuple):
    """One finished run, and the sums at its last centres."""

    centers: Array
    sums: Sums
    iteration: Iteration


def run_soft(sweeps: Sweeps, start: Array, weights: Weights, limits: Limits) -> Run:
    """Rounds from one start until no coordinate of a centre moves by ``tol``."""

    def step(state: State) -> tuple[State, float]:
        origin, memory, stretch = state.target, state.memory, 2.0 * state.stretch
        move = sweeps.move(origin, weights)
        reached = np.inf if state.move is None else state.move.after
        if origin is not state.centers and not move.before <= reached:  # uphill: from the centres
            origin, memory, stretch = state.centers, (), 0.0 if stretch else 1.0
            move = sweeps.move(origin, weights)
        gap = float(np.abs(move.centers - origin).max())
        memory = (*memory, (origin, move.centers))[-DEPTH:]
        target = move.centers
        if state.step >= PLAIN_ROUNDS and gap > 0:
            if stretch:
                target = move.centers + stretch * (move.centers - origin)
            elif len(memory) > 1:
                target = extrapolated(memory)
        return State(state.step + 1, move.centers, move, target, memory, stretch), gap

    def record(state: State) -> dict[str, Any]:
        assert state.move is not None  # there is no row for the start
        move = state.move
        return {"objective": move.after, "before": move.before, "centers": state.centers}

    limits = limits._replace(tol=float(np.nextafter(limits.tol, 0.0)))  # strictly less than tol
    how = {"record": record, "start_row": False, "warn": False, **limits._asdict()}
    with single_threaded_blas():  # held once, not in every sweep
        run = iterate(step, State(0, start, None, start), **how)
        return Run(run.state.centers, sweeps.sums(run.state.centers, weights), run)
