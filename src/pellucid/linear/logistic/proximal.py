r"""Proximal Newton for logistic regression with an L1 penalty, alone or beside an L2 one.

Objective    F(W, b) = C sum_i v_i loss_i + (1 - r)/2 |W|^2 + r |W|_1;  b is free
             K = 2: loss = log(1 + exp z) - y z, one row of W;  K > 2: softmax, K rows
Step         the loss is replaced by its quadratic at (W, b), the intercept is eliminated, and
             the lasso that is left is solved by coordinate descent (``solve_model``); then go
             back from W + d towards W until F has fallen enough
Working set  only coordinates that are not zero or break |gradient| <= r/C take part; one round
             solves on them, looks at all columns, and lets the worst of the others join
Reuse        cross-products cost the most, so a quadratic serves several steps while each brings
             the gap down by a factor; it is renewed when one does not
Certificate  with t = s (p - y) v, shifted so that it sums to 0 (a free intercept asks for it),
             D(t) = sum_i v_i H(y_i + t_i/v_i) - sum_j (|x_j't| - r/C)_+^2 C/(2(1 - r)) <= min F/C
             so that F - C D bounds the distance to the minimum; s = 1, or the largest s that
             makes the last sum vanish
Cost         a round: O(n p) to look, O(n m^2) for the cross-products of m coordinates

The minimum is exact whatever the path to it, and zeros are exact zeros.

References: Friedman, Hastie & Tibshirani (2010); Lee, Sun & Saunders (2014), Proximal Newton-type
methods; Massias, Gramfort & Salmon (2018), Celer; Bertrand et al. (2022), skglm.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array, hstack, issparse

from pellucid.compiled.epochs import logistic_coordinate as kernels
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.loops.backtrack import backtrack
from pellucid.core.loops.iterate import iterate
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.linear.logistic.columns import make_columns, row_blocks

NEWTON = 30  # quadratics per round
HALVINGS = 40
ENOUGH = 1e-2  # share of the promised decrease that a step must bring
RENEW = 0.3  # a quadratic is used again while the gap falls below this share
FIRST = 100  # coordinates that may join in the first round
JOINT = 2500  # unknowns up to which the classes are solved together
EXACT = 1e-13  # relative gap below which rounding decides
ROUNDING = 1e-13  # of F: a promised decrease below it cannot be seen
MAX_SWEEPS = 2000
GOAL = 1e-5  # share of the gap of all columns to which the working set is solved
INNER = 1e-3  # share of the gap that one coordinate of the model may leave behind


class ProximalFit(NamedTuple):
    """The minimiser, and by how much at most its objective lies above the minimum."""

    coef: Array  # (1 or K, p)
    intercept: Array  # (1 or K,)
    n_iter: int
    objective: float
    gap: float
    converged: bool = True
    history: Any = None


class State(NamedTuple):
    """One point, what the loss looks like there, and its certificate (in units of F/C)."""

    W: Array  # (k, p)
    b: Array  # (k,)
    Z: Array  # (k, n) scores
    rows: Any  # loss and derivatives by row
    gradient: Array  # (k, p) of the loss, at the dual point
    value: float
    gap: float
    slope: Any = None  # (k, p) of the loss itself, where all columns are worked on


class Rows(NamedTuple):
    """The loss and its derivatives at the scores Z."""

    loss: float
    G: Array  # (k, n) residuals v (p - y)
    H: Array  # (k, n) curvatures v p (1 - p); for softmax the probabilities


class Quadratic(NamedTuple):
    """Second derivatives on the coordinates of a group of classes, the intercepts eliminated."""

    classes: IntArray
    chosen: list[IntArray]  # columns of each class
    G: Array  # (m, m)
    B: Array  # (c, m) of intercepts and coordinates
    inverse: Array  # (c, c) of the intercepts' own; 0 without free intercepts


class Kept(NamedTuple):
    """Cross-products about the means, weighted by the curvature h of some earlier point."""

    h: Array
    chosen: IntArray
    G: Array
    mean: Array

    def covering(self, columns: Any, index: IntArray) -> "Kept":
        """The same h for more columns: only the rows of the new ones are computed."""
        new = np.setdiff1d(index, self.chosen)
        if len(new) == 0:
            return self
        every, total = np.concatenate([self.chosen, new]), self.h.sum()
        mean = columns.transposed(every, self.h[None, :])[0] / total
        m, q = len(self.chosen), len(every)
        G = np.empty((q, q))
        G[:m, :m] = self.G
        G[m:] = columns.cross(new, every, self.h) - total * np.outer(mean[m:], mean)
        G[:m, m:] = G[m:, :m].T
        return Kept(self.h, every, G, mean)

    def only(self, index: IntArray) -> tuple[Array, Array]:
        """G and the means of some of the columns."""
        if np.array_equal(index, self.chosen):
            return self.G, self.mean
        order = np.argsort(self.chosen)
        place = order[np.searchsorted(self.chosen, index, sorter=order)]
        return self.G[np.ix_(place, place)], self.mean[place]


class BinaryLoss:
    """log(1 + exp z) - y z."""

    def __init__(self, codes: IntArray, v: Array) -> None:
        self.y = codes.astype(np.float64)
        self.v = np.ascontiguousarray(v, dtype=np.float64)
        self.k, self.n = 1, len(codes)
        self.blocks = row_blocks(self.n)

    def null(self) -> Array:
        share = (self.v @ self.y) / self.v.sum()
        return np.array([np.log(share / (1 - share))])

    def rows(self, Z: Array) -> Rows:
        g, h = np.empty(self.n), np.empty(self.n)
        z, y, v = Z[0], self.y, self.v
        parts = map_threads(lambda s: kernels.logistic_rows(z, y, v, s[0], s[1], g, h), self.blocks)
        return Rows(sum(parts), g[None, :], h[None, :])

    def dual_shift(self, rows: Rows) -> Array:
        """Residuals that sum to 0: one Newton step of the intercept, to first order."""
        c = rows.G[0].sum() / rows.H[0].sum()
        return rows.G - np.clip(c, -1.0, 1.0) * rows.H

    def entropy(self, T: Array, s: float) -> float:
        what = T[0], self.y, self.v, s
        return sum(map_threads(lambda b: kernels.logistic_entropy(*what, *b), self.blocks))

    def curvature(self, rows: Rows, k: int, j: int) -> Array:
        return rows.H[0]


class SoftmaxLoss:
    """log sum_k exp z_k - z_y, in all K scores."""

    def __init__(self, codes: IntArray, n_classes: int, v: Array) -> None:
        self.codes, self.v = codes, np.ascontiguousarray(v, dtype=np.float64)
        self.k, self.n = n_classes, len(codes)
        self.Y = np.zeros((n_classes, self.n))
        self.Y[codes, np.arange(self.n)] = 1.0

    def null(self) -> Array:
        share = np.log(self.Y @ self.v / self.v.sum())
        return share - share.mean()

    def rows(self, Z: Array) -> Rows:
        top = Z.max(axis=0)
        P = np.exp(Z - top)
        total = P.sum(axis=0)
        P /= total
        own = Z[self.codes, np.arange(self.n)]
        return Rows(float(self.v @ (np.log(total) + top - own)), self.v * (P - self.Y), P)

    def dual_shift(self, rows: Rows) -> Array:
        P, v = rows.H, self.v
        M = np.diag(P @ v) - (P * v) @ P.T
        c = np.linalg.pinv(M, rcond=1e-12) @ rows.G.sum(axis=1)
        spread = c[:, None] - c @ P  # (k, n)
        most = max(float(spread.max()), 1.0)
        return rows.G - v * P * spread / most

    def entropy(self, T: Array, s: float) -> float:
        seen = self.v > 0
        A = self.Y[:, seen] + s * T[:, seen] / self.v[seen]
        A = np.clip(A, 0.0, 1.0)
        logs = np.log(np.where(A > 0, A, 1.0))
        return float(-(A * logs).sum(axis=0) @ self.v[seen])

    def curvature(self, rows: Rows, k: int, j: int) -> Array:
        """v P_k (1[k = j] - P_j) of every row."""
        P = rows.H
        return self.v * P[k] * ((1.0 - P[k]) if k == j else -P[j])


class ProximalNewton:
    """The problem of one data set, for any C and l1_ratio; ``step`` is one round."""

    def __init__(
        self,
        X: Any,
        codes: IntArray,
        n_classes: int,
        w: Array,
        *,
        fit_intercept: bool = True,
        shrink_intercept: bool = False,
    ) -> None:
        self.shrink = bool(fit_intercept and shrink_intercept)
        self.free = bool(fit_intercept and not shrink_intercept)
        if self.shrink:  # the intercept is one more column
            ones = np.ones((X.shape[0], 1))
            X = hstack([X, csr_array(ones)]) if issparse(X) else np.hstack([X, ones])
        self.columns = make_columns(X, n_classes)
        self.n, self.p = X.shape
        binary = n_classes == 2
        self.loss: Any = BinaryLoss(codes, w) if binary else SoftmaxLoss(codes, n_classes, w)
        self.k = self.loss.k
        self.l1, self.l2 = 1.0, 0.0
        self.target, self.look = 0.0, np.inf
        self.kept: Any = None  # the quadratic in use, where all columns are worked on
        self.before = np.inf
        nothing = np.zeros((self.k, self.n))
        if self.free:
            nothing += self.loss.null()[:, None]
        self.scale = max(self.loss.rows(nothing).loss, 1e-300)  # F/C with every weight zero

    def penalise(self, C: float, l1_ratio: float, tol: float) -> None:
        """Set the penalty, and the relative gap at which a point is good enough."""
        self.l1, self.l2 = l1_ratio / C, (1.0 - l1_ratio) / C
        self.target, self.look, self.before = max(tol, EXACT) * self.scale, self.l1, np.inf

    def begin(self, coef: Array | None = None, intercept: Array | None = None) -> State:
        """The state at given weights, or at zero with the best intercept."""
        W, b = np.zeros((self.k, self.p)), self.loss.null() if self.free else np.zeros(self.k)
        if coef is not None:
            W[:, : coef.shape[1]] = coef
        if intercept is not None:
            if self.shrink:
                W[:, -1] = intercept
            elif self.free:
                b = np.array(intercept, dtype=np.float64)
        Z = np.repeat(b[:, None], self.n, axis=1)
        for k in range(self.k):
            live = np.flatnonzero(W[k])
            if len(live) and self.columns.whole:
                Z[k] += self.columns.dot(live, W[k])
            elif len(live):
                Z[k] += self.columns.dot(live, W[k, live])
        return self.certified(W, b, Z, self.loss.rows(Z))

    def dual(self, rows: Rows) -> Array:
        return self.loss.dual_shift(rows) if self.free else rows.G

    def penalty(self, W: Array) -> float:
        return float(self.l1 * np.abs(W).sum() + 0.5 * self.l2 * np.square(W).sum())

    def bound(self, T: Array, gradient: Array) -> float:
        """The dual value at T, or at the part of it that is feasible, whichever is larger."""
        largest = float(np.abs(gradient).max(initial=0.0))
        best = -np.inf
        if largest > self.l1 and self.l2 > 0:
            over = np.maximum(np.abs(gradient) - self.l1, 0.0)
            best = self.loss.entropy(T, 1.0) - float(np.square(over).sum()) / (2 * self.l2)
        if self.l1 > 0 or largest == 0:
            s = 1.0 if largest <= self.l1 else self.l1 / largest
            best = max(best, self.loss.entropy(T, s))
        return best

    def certified(self, W: Array, b: Array, Z: Array, rows: Rows) -> State:
        """Look at all columns: the state with its gap."""
        T, k = self.dual(rows), self.k
        if self.columns.whole and self.free:
            both = self.columns.all(np.concatenate([rows.G, T]))
            slope, M = both[:k], both[k:]
        else:
            slope = M = self.columns.all(T)
        value = rows.loss + self.penalty(W)
        return State(W, b, Z, rows, M, value, max(value - self.bound(T, M), 0.0), slope)

    def again(self, state: State) -> State:
        """The same point under a new penalty."""
        value = state.rows.loss + self.penalty(state.W)
        gap = max(value - self.bound(self.dual(state.rows), state.gradient), 0.0)
        return state._replace(value=value, gap=gap)

    def step(self, state: State) -> tuple[State, float]:
        """Solve on the working set, then look at all columns; the gap is relative to F(0)."""
        with single_threaded_blas():
            if self.columns.whole:
                new = self.newton(state)
            else:
                index = self.working_set(state)
                self.look = self.l1
                new = self.certified(*self.solve(state, index))
        return new, new.gap / self.scale

    def newton(self, state: State) -> State:
        """One Newton step on all columns, with the quadratic that is kept while it serves."""
        index = [np.arange(self.p)]
        fresh = state.gap > RENEW * self.before
        for _ in range(2):
            fresh |= self.kept is None
            quadratics = self.model(state.rows, index, fresh)
            self.before = state.gap
            at = *state[:4], state.value
            move = self.search(at, quadratics, list(state.slope), state.gap)
            if move is not None:
                return self.certified(*move[:4])
            if fresh:
                break
            fresh = True
        return state

    def working_set(self, state: State) -> list[IntArray]:
        """Columns of each class that are not zero, or that look as if they should not be."""
        if self.l1 == 0:
            return [np.arange(self.p)] * self.k
        size = np.abs(state.gradient + self.l2 * state.W)
        live = state.W != 0
        room = max(FIRST, 2 * int(live.sum()))
        outside = np.where(live, -np.inf, size - self.look).ravel()
        join = np.flatnonzero(outside > 0)
        if len(join) > room:
            join = np.sort(join[np.argsort(-outside[join], kind="stable")[:room]])
        inside = live.copy()
        inside.ravel()[join] = True
        return [np.flatnonzero(inside[k]) for k in range(self.k)]

    def solve(self, state: State, index: list[IntArray]) -> tuple[Array, Array, Array, Rows]:
        """Newton steps on the working set until its own gap is small enough."""
        columns, at = self.columns, (*state[:4], state.value)
        goal = max(0.3 * self.target, GOAL * state.gap)
        quadratics, before = None, np.inf
        for _ in range(NEWTON):
            rows, value = at[3:]
            T = self.dual(rows)
            both = zip(index, rows.G, T, strict=True)
            parts = [columns.transposed(i, np.stack([g, t])) for i, g, t in both]
            gap = value - self.bound(T, np.concatenate([part[1] for part in parts]))
            if gap <= goal:
                break
            if quadratics is None or gap > RENEW * before:
                quadratics = self.model(rows, index, quadratics is not None)
            before = gap
            move = self.search(at, quadratics, [part[0] for part in parts], gap)
            if move is None:
                break
            at = move
        return at[:4]

    def model(self, rows: Rows, index: list[IntArray], fresh: bool) -> list[Quadratic]:
        """The quadratic of all classes together, or a majoriser with the classes apart.

        For two classes the one of an earlier point does unless a ``fresh`` one is asked for.
        """
        if self.k == 1:
            if fresh or self.kept is None:
                h = rows.H[0]
                self.kept = Kept(h, index[0], *self.columns.gram(index[0], h))
            self.kept = self.kept.covering(self.columns, index[0])
            (G, mean), total = self.kept.only(index[0]), float(self.kept.h.sum())
            first = np.zeros(1, np.intp)
            if not self.free:
                G = G + total * np.outer(mean, mean)
                return [Quadratic(first, index, G, np.zeros((1, len(mean))), np.zeros((1, 1)))]
            return [Quadratic(first, index, G, total * mean[None, :], np.array([[1 / total]]))]
        classes = np.arange(self.k)
        if sum(len(i) for i in index) <= JOINT:
            return [self.joint(rows, index, classes, 1.0)]
        return [self.joint(rows, index, classes[k : k + 1], 2.0) for k in classes]

    def joint(self, rows: Rows, index: list[IntArray], classes: IntArray, by: float) -> Quadratic:
        """Second derivatives of some classes, times ``by``: diag p - pp' <= 2 diag p (1 - p)."""
        ends = np.cumsum([0, *(len(index[k]) for k in classes)])
        m, c = int(ends[-1]), len(classes)
        G, B, own = np.zeros((m, m)), np.zeros((c, m)), np.zeros((c, c))
        for a, k in enumerate(classes):
            for d in range(a + 1):
                j = classes[d]
                h = by * self.loss.curvature(rows, k, j)
                here, there = slice(ends[a], ends[a + 1]), slice(ends[d], ends[d + 1])
                G[here, there] = self.columns.cross(index[k], index[j], h)
                G[there, here] = G[here, there].T
                own[a, d] = own[d, a] = h.sum()
                B[d, here] = self.columns.transposed(index[k], h[None, :])[0]
                B[a, there] = self.columns.transposed(index[j], h[None, :])[0]
        inverse = np.zeros((c, c))
        if self.free:
            inverse[:] = np.linalg.pinv(own, rcond=1e-12, hermitian=True)
        G -= B.T @ inverse @ B
        return Quadratic(classes, [index[k] for k in classes], G, B, inverse)

    def search(self, at: Any, quadratics: list[Quadratic], g: list[Array], gap: float) -> Any:
        """Minimise the quadratics, then halve the step until F falls; None if it cannot.

        ``at`` and what is returned are (W, b, Z, rows, value).
        """
        W, b, Z, rows, value = at
        D, db, dZ, promise = np.zeros_like(W), np.zeros_like(b), np.zeros_like(Z), 0.0
        for q in quadratics:
            old = np.concatenate([W[k, i] for k, i in zip(q.classes, q.chosen, strict=True)])
            slope = np.concatenate([g[k] for k in q.classes])
            offset = rows.G[q.classes].sum(axis=1)
            d = self.minimise(q, old, slope - q.B.T @ (q.inverse @ offset), gap)
            shift = -q.inverse @ (offset + q.B @ d)
            db[q.classes] = shift
            promise += float(slope @ d + offset @ shift)
            for k, i, part in zip(q.classes, q.chosen, _split(d, q.chosen), strict=True):
                D[k, i] = part
                dZ[k] = self.columns.dot(i, part) + db[k]
        promise += self.penalty(W + D) - self.penalty(W)

        def attempt(t: float) -> tuple[Any, float]:
            V, found = W + t * D, self.loss.rows(Z + t * dZ)
            new = found.loss + self.penalty(V)
            return (V, b + t * db, Z + t * dZ, found, new), new

        lost = ROUNDING * value if abs(promise) < ROUNDING * value else 0.0
        least = min(promise, 0.0)
        taken = backtrack(attempt, value, least, c=ENOUGH, most=HALVINGS, noise=lost)
        return None if taken is None else taken.point

    def minimise(self, q: Quadratic, old: Array, slope: Array, gap: float) -> Array:
        """The d that minimises slope'd + d'G d/2 + penalty(old + d)."""
        if self.l1 == 0:
            H = q.G + self.l2 * np.eye(len(old))
            return -cho_solve(cho_factor(H), slope + self.l2 * old)
        new, c = old.copy(), -slope
        limits = INNER * gap / max(len(old), 1), MAX_SWEEPS
        kernels.solve_model(q.G, c, new, self.l1, self.l2, *limits)
        return new - old

    def weights(self, state: State) -> tuple[Array, Array]:
        """Slopes and intercepts of a state."""
        if self.shrink:
            return state.W[:, :-1].copy(), state.W[:, -1].copy()
        return state.W.copy(), state.b - (state.b.mean() if self.k > 1 and self.free else 0.0)


def _split(d: Array, index: list[IntArray]) -> list[Array]:
    return np.split(d, np.cumsum([len(i) for i in index])[:-1])


def relative_gap(tol: float) -> float:
    """scikit-learn's tol bounds a gradient; the gap is of second order in it."""
    return max(tol * tol, EXACT)


def fit_proximal_newton(
    X: ArrayLike,
    codes: IntArray,
    n_classes: int,
    w: Array,
    C: float,
    l1_ratio: float,
    *,
    fit_intercept: bool = True,
    shrink_intercept: bool = False,
    tol: float = 1e-4,
    max_iter: int = 100,
    start: tuple[Array, Array] | None = None,
    loop: Any = iterate,
    **options: Any,
) -> ProximalFit:
    """Minimise C sum w loss + (1 - r)/2 |W|^2 + r |W|_1 to a gap of tol^2 times F(0).

    ``loop`` is ``iterate`` or an estimator's ``_iterate``; ``options`` go to it (``context``).
    ``start`` is (coef, intercept).

    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 1.0], [5.0, 0.0]])
    >>> codes = np.array([0, 0, 1, 0, 1, 1])
    >>> fit = fit_proximal_newton(X, codes, 2, np.ones(6), 1.0, 1.0, tol=1e-6)
    >>> fit.coef.round(4), fit.intercept.round(4), fit.gap < 1e-9
    (array([[0.6736, 0.    ]]), array([-1.6841]), True)
    """
    how = {"fit_intercept": fit_intercept, "shrink_intercept": shrink_intercept}
    problem = ProximalNewton(X, codes, n_classes, w, **how)
    problem.penalise(C, l1_ratio, relative_gap(tol))
    state = problem.begin(*(start if start is not None else (None, None)))

    def record(state: State) -> dict[str, Any]:
        return {"objective": C * state.value, "nonzero": int(np.count_nonzero(state.W))}

    limits = {"max_iter": max_iter, "tol": max(relative_gap(tol), EXACT)}
    run = loop(problem.step, state, **limits, record=record, **options)
    found = *problem.weights(run.state), max(run.n_iter, 1)
    value, gap = C * run.state.value, C * run.state.gap
    return ProximalFit(*found, value, gap, run.converged, run.history)
