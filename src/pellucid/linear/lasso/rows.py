r"""The lasso and the elastic net from the rows: working sets, certified over all columns.

When p is large, most coefficients are zero and G = X'X is never needed whole. A working set of
columns is solved on its own cross-products (``compiled.epochs.coordinate``); then one product X'r
over all columns tells which of them break their condition |x_j'r| <= l1_j, and the duality gap of
the WHOLE problem. Breaking columns join the working set; the answer is accepted only by its gap, so
the guess of the working set costs time when it is wrong, never correctness.

Along a path the guess is in the spirit of the sequential strong rule (Tibshirani et al. 2012), by
which columns with |x_j'r| >= l1_new - (l1_old - l1_new) are nearly always enough; REACH is the
share of that margin in use. Several strengths are solved before they are checked together, as one
matrix product.

The intercept and unpenalised columns F are projected out: with Q an orthonormal basis of F and
M = I - QQ', the problem is that of M X and M y. X itself is neither copied nor made dense: the
columns of the working set are projected one by one, and X'r needs no projection since r = M r.
Products with all columns are cut at fixed places, so that threads do not change their bits.
"""

from typing import Any

import numpy as np
from scipy.sparse import csc_array, diags_array, issparse, vstack

from pellucid.compiled.epochs.coordinate import extrapolate, solve_gram
from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, BoolArray, IntArray
from pellucid.core.loops.statistics import is_unit
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.linear.lasso.sums import DEPENDENT, Coefficients, PathFit, State

CHUNK = 1024  # columns of X'r that one thread takes
FIRST = 128  # columns a working set starts with, and the fewest it grows by
BATCH = 4  # strengths of a path that are checked together
REACH = 0.1  # of the way that the strong rule allows for: more is rarely needed, and never trusted
INNER = 0.9  # share of the tolerance that the working set may use up


class DenseColumns:
    """M X of a dense X: products with all columns, copies of a few."""

    def __init__(self, X: Array, Q: Array) -> None:
        self.X, self.Q, self.n = X, Q, len(X)
        self.XQ = self._products(Q) if Q.shape[1] else np.zeros((X.shape[1], 0))
        self.kept = np.empty((FIRST, self.n))  # the working set, one column a row
        self.size = 0

    def _products(self, R: Array) -> Array:
        out = np.empty((self.X.shape[1], R.shape[1]))

        def part(start: int) -> None:
            np.matmul(self.X[:, start : start + CHUNK].T, R, out=out[start : start + CHUNK])

        list(map_threads(part, range(0, len(out), CHUNK)))
        return out

    def correlate(self, R: Array) -> Array:
        """X'R for R = M R, (p, k)."""
        return self._products(R) - self.XQ @ (self.Q.T @ R)

    def columns(self, index: IntArray) -> Array:
        """M x_j of some columns, one a row."""
        C = np.ascontiguousarray(self.X[:, index].T)
        before = (C**2).sum(axis=1)
        for _ in range(2):  # a column far from 0 needs it twice
            C -= (C @ self.Q) @ self.Q.T
        C[(C**2).sum(axis=1) <= (10 * EPS) ** 2 * before] = 0.0
        if self.Q.shape[1] > 1:
            C[(C**2).sum(axis=1) <= DEPENDENT * before] = 0.0
        return C

    def cross_products(self, index: IntArray) -> Array:
        C = self.columns(index)
        return C @ C.T

    def clear(self) -> None:
        self.size = 0

    def join(self, index: IntArray) -> Array:
        """Let columns join the working set; their products with all of it, (new, size)."""
        m, k = self.size, len(index)
        if m + k > len(self.kept):
            grown = np.empty((max(2 * len(self.kept), m + k), self.n))
            grown[:m] = self.kept[:m]
            self.kept = grown
        self.kept[m : m + k] = self.columns(index)
        self.size = m + k
        return self.kept[m : m + k] @ self.kept[: m + k].T

    def fitted(self, S: Array) -> Array:
        """M X W of coefficients S (m, b) of the working set."""
        live = np.flatnonzero(S.any(axis=1))
        return self.kept[live].T @ S[live]


class SparseColumns:
    """M X of a sparse X; only products are dense."""

    def __init__(self, X: Any, Q: Array) -> None:
        self.X, self.Q, self.n = csc_array(X), Q, X.shape[0]
        starts = range(0, X.shape[1], CHUNK)
        self.blocks = [self.X[:, start : start + CHUNK].T.tocsr() for start in starts]
        self.XQ = self._products(Q) if Q.shape[1] else np.zeros((X.shape[1], 0))
        self.index = np.empty(0, np.intp)

    def _products(self, R: Array) -> Array:
        return np.vstack(list(map_threads(lambda block: block @ R, self.blocks)))

    def correlate(self, R: Array) -> Array:
        return self._products(R) - self.XQ @ (self.Q.T @ R)

    def _cross(self, a: IntArray, b: IntArray) -> Array:
        raw = (self.X[:, a].T @ self.X[:, b]).toarray()
        G = raw - self.XQ[a] @ self.XQ[b].T
        same = a[:, None] == b[None, :]
        floor = DEPENDENT if self.Q.shape[1] > 1 else 100 * EPS
        G[same & (floor * raw >= G)] = 0.0  # nothing is left of the column
        return G

    def cross_products(self, index: IntArray) -> Array:
        return self._cross(index, index)

    def clear(self) -> None:
        self.index = np.empty(0, np.intp)

    def join(self, index: IntArray) -> Array:
        self.index = np.append(self.index, index)
        return self._cross(index, self.index)

    def fitted(self, S: Array) -> Array:
        live = np.flatnonzero(S.any(axis=1))
        F = self.X[:, self.index[live]] @ S[live]
        return F - self.Q @ (self.Q.T @ F)


class WorkingSet:
    """The columns being solved: their cross-products, coefficients and c = X'r."""

    def __init__(
        self, design: DenseColumns | SparseColumns, q: Array, weights: Array, positive: BoolArray
    ) -> None:
        self.design, self.q_all = design, q
        self.weights_all, self.positive_all = weights, positive
        self.index = np.empty(0, np.intp)
        self.inside = np.zeros(len(q), bool)
        self.G = np.empty((FIRST, FIRST))
        self.q, self.c, self.w, self.before, self.weights = (np.zeros(FIRST) for _ in range(5))
        self.positive = np.zeros(FIRST, bool)
        design.clear()

    @property
    def size(self) -> int:
        return len(self.index)

    def add(self, index: IntArray) -> None:
        """Let columns join with coefficient 0."""
        m, k = self.size, len(index)
        if k == 0:
            return
        if m + k > len(self.G):
            self._grow(max(2 * len(self.G), m + k))
        B = self.design.join(index)
        self.G[m : m + k, : m + k], self.G[:m, m : m + k] = B, B[:, :m].T
        new = slice(m, m + k)
        self.q[new], self.w[new], self.before[new] = self.q_all[index], 0.0, 0.0
        self.weights[new], self.positive[new] = self.weights_all[index], self.positive_all[index]
        self.c[new] = self.q[new] - B[:, :m] @ self.w[:m]
        self.index, self.inside[index] = np.append(self.index, index), True

    def _grow(self, size: int) -> None:
        m = self.size
        G = np.empty((size, size))
        G[:m, :m] = self.G[:m, :m]
        self.G = G
        for name in ("q", "c", "w", "before", "weights", "positive"):
            old = getattr(self, name)
            new = np.zeros(size, old.dtype)
            new[:m] = old[:m]
            setattr(self, name, new)

    def set(self, w: Array) -> None:
        """Start from coefficients of all columns; those that are not zero must be inside."""
        m = self.size
        self.w[:m] = w[self.index]
        self.c[:m] = self.q[:m] - self.G[:m, :m] @ self.w[:m]

    def restart(self, w: Array) -> None:
        """Go on from coefficients of the first columns, with nothing to extrapolate from."""
        m = len(w)
        self.w[:m], self.before[:m] = w, 0.0
        self.c[:m] = self.q[:m] - self.G[:m, :m] @ w

    def extrapolate(self, factor: float) -> None:
        """Start the next strength of a path where its last two point to."""
        extrapolate(self.G, self.size, self.c, self.w, self.before, factor)

    def solve(self, l1: float, l2: float, yy: float, tol: float, exact: bool, sweeps: int) -> int:
        """Coordinate descent inside the working set."""
        a, b = l1 * self.weights, l2 * self.weights
        problem = self.G, self.size, self.q, self.c, self.w, a, b, self.positive
        done, _, _ = solve_gram(*problem, yy, tol * yy, exact, sweeps)
        return int(done)


class RowsProblem:
    """The penalised columns of rows in memory, with the methods of ``SumsProblem``."""

    def __init__(
        self, X: Any, Y: Array, w: Array, *, unknowns: str, weights: Array, positive: BoolArray
    ) -> None:
        """X (n, p) dense or sparse, Y (n, k), sample weights w (n,)."""
        live = None if is_unit(w) or (w > 0).all() else w > 0
        if live is not None:
            X, Y, w = X[live], Y[live], w[live]
        self.n, self.p, self.unknowns = float(w.sum()), X.shape[1], unknowns
        if unknowns == "all":
            X = with_ones(X)
        self.columns, self.free = np.flatnonzero(weights > 0), np.flatnonzero(weights == 0)
        self.weights = np.ascontiguousarray(weights[self.columns])
        self.positive = np.ascontiguousarray(positive[self.columns])
        with single_threaded_blas():
            root = None if is_unit(w) else np.sqrt(w)
            F = X[:, self.free].toarray() if issparse(X) else X[:, self.free]
            if unknowns == "centred":
                F = np.column_stack([np.ones(len(Y)), F])
            Z = X[:, self.columns] if len(self.free) else X
            self.Y, self.F, Z = scaled(Y, root), scaled(F, root), scaled(Z, root)
            U, d, _ = np.linalg.svd(self.F / norms(self.F), full_matrices=False)
            self.free_rank = int((d > max(self.F.shape) * EPS * d.max(initial=0.0)).sum())
            Q = np.ascontiguousarray(U[:, : self.free_rank])
            self.free_rank -= unknowns == "centred"
            self.design = SparseColumns(Z, Q) if issparse(Z) else DenseColumns(Z, Q)
            self.V = self.Y - Q @ (Q.T @ self.Y)
            self.V -= Q @ (Q.T @ self.V)
            self.yy = (self.V**2).sum(axis=0)
            self.Q = self.design.correlate(self.V)
        self._sets: dict[int, WorkingSet] = {}

    def target(self, t: int) -> Array:
        return np.ascontiguousarray(self.Q[:, t])

    def scores(self, c: Array) -> Array:
        return (np.where(self.positive, c.T, np.abs(c.T)) / self.weights).T

    def start(self, t: int, w: Array, l1: float, l2: float) -> State:
        with single_threaded_blas():
            inside = WorkingSet(self.design, self.target(t), self.weights, self.positive)
            inside.add(np.flatnonzero(w))
            inside.set(w)
        self._sets = {t: inside}  # one working set at a time: they share the kept columns
        return self._certified(t, w, l1, l2)

    def _certified(self, t: int, w: Array, l1: float, l2: float) -> State:
        """F, its gap over all columns and c at coefficients of the working set."""
        with single_threaded_blas():
            inside = self._sets[t]
            S = w[inside.index][:, None]
            R = self.V[:, [t]] - self.design.fitted(S)
            C = self.design.correlate(R)
            at = S, R, C
            gap, value = certificate(self, t, inside, at, np.array([l1]), np.array([l2]))
        return State(w, np.ascontiguousarray(C[:, 0]), float(value[0]), float(gap[0]))

    def round(self, t: int, state: State, l1: float, l2: float, tol: float) -> State:
        """Let breaking columns join, solve the working set, check all columns."""
        inside, yy = self._sets[t], self.yy[t]
        with single_threaded_blas():
            scores = np.where(inside.inside, -np.inf, self.scores(state.c))
            inside.add(strongest(scores, l1 if inside.size else 0.0, FIRST + inside.size))
            inside.solve(l1, l2, yy, INNER * tol, False, 1000)
            state = self._certified(t, self._whole(inside), l1, l2)
            if state.gap <= tol * yy:  # near enough to solve the support's equations exactly
                inside.solve(l1, l2, yy, INNER * tol, True, 1000)
                state = self._certified(t, self._whole(inside), l1, l2)
        return state

    def _whole(self, inside: WorkingSet) -> Array:
        w = np.zeros(len(self.columns))
        w[inside.index] = inside.w[: inside.size]
        return w

    def path(
        self, t: int, l1: Array, l2: Array, *, tol: float, max_sweeps: int, start: Array
    ) -> PathFit:
        """Solve for every (l1[i], l2[i]), each from the one before; l1 falls."""
        with single_threaded_blas():
            return working_set_path(self, t, l1, l2, tol, max_sweeps, start)

    def _row_products(self, b: Array) -> Array:
        """K = M X diag(1/b) X'M, (n, n)."""
        X, Q = self.design.X, self.design.Q
        K: Any = (X @ diags_array(1 / b)) @ X.T if issparse(X) else (X / b) @ X.T
        K = to_dense(K)
        for _ in range(2):
            K = K - Q @ (Q.T @ K)
            K = K - (K @ Q) @ Q.T
        return K

    def ridge(self, t: int, l2: float) -> State:
        """The solution where l1 = 0 < l2 by the dual: r = (I + K)^-1 y, w = X'r / l2."""
        with single_threaded_blas():
            b, y = l2 * self.weights, self.V[:, t]
            K = self._row_products(b)
            r = np.linalg.solve(K + np.eye(len(K)), y)
            c = self.design.correlate(r[:, None])[:, 0]
            w = c / b
            value = 0.5 * (r @ r + b @ w**2)
            dual = r @ y - 0.5 * (r @ r) - 0.5 * (c**2 / b).sum()
        return State(w, c, float(value), max(float(value - dual), 0.0))

    def least_squares(self, t: int) -> tuple[Array, bool]:
        """The least-norm solution without any penalty, w = X'K^+ y, and whether it is unique."""
        with single_threaded_blas():
            K = self._row_products(np.ones(len(self.columns)))
            values, U = np.linalg.eigh(K)
            live = values > len(K) * EPS * values.max(initial=0.0)
            a = U[:, live] @ ((U[:, live].T @ self.V[:, t]) / values[live])
            w = self.design.correlate(a[:, None])[:, 0]
        return w, int(live.sum()) == len(self.columns)

    def cross_products(self, columns: IntArray) -> Array:
        with single_threaded_blas():
            return self.design.cross_products(columns)

    def expand(self, t: int, W: Array) -> Coefficients:
        theta = np.zeros((len(W), len(self.columns) + len(self.free)))
        theta[:, self.columns] = W
        intercept = np.zeros(len(W))
        if self.F.shape[1]:
            with single_threaded_blas():
                rest = self.Y[:, [t]] - self.design.X @ W.T  # (n, L), not projected
                if self.F.shape[1] == 1:
                    free = (self.F.T @ rest / (self.F**2).sum()).T
                else:
                    scale = norms(self.F)
                    free = np.linalg.lstsq(self.F / scale, rest, rcond=None)[0].T / scale
            if self.unknowns == "centred":
                intercept, free = free[:, 0], free[:, 1:]
            theta[:, self.free] = free
        if self.unknowns == "all":
            return Coefficients(theta[:, 1:], theta[:, 0])
        return Coefficients(theta, intercept)


def certificate(
    problem: RowsProblem, t: int, inside: WorkingSet, at: tuple[Array, ...], l1: Array, l2: Array
) -> tuple[Array, Array]:
    """(gap, F) at S, R, C: coefficients (m, b), their residuals (n, b) and C = X'R (p, b)."""
    S, R, C = at
    m, v = len(S), inside.weights[: len(S), None]
    rr, ry = (R**2).sum(axis=0), problem.V[:, t] @ R
    absolute, squares = l1 * (v * np.abs(S)).sum(axis=0), l2 * (v * S**2).sum(axis=0)
    g = C.copy()
    g[inside.index[:m]] -= l2 * v * S
    ratio = problem.scores(g).max(axis=0, initial=0.0) / l1
    total = rr + squares
    s = np.divide(ry, total, out=np.zeros(len(rr)), where=total > 0)
    s = np.minimum(np.maximum(s, 0.0), 1 / np.maximum(ratio, 1e-300))
    value = 0.5 * total + absolute
    return np.maximum(value - s * ry + 0.5 * s**2 * total, 0.0), value


def working_set_path(
    problem: RowsProblem, t: int, l1: Array, l2: Array, tol: float, max_sweeps: int, start: Array
) -> PathFit:
    """The path by working sets; BATCH strengths are solved, then checked together."""
    q, yy, count = problem.target(t), problem.yy[t], len(l1)
    inside = WorkingSet(problem.design, q, problem.weights, problem.positive)
    inside.add(np.flatnonzero(start))
    inside.set(start)
    R = problem.V[:, [t]] - problem.design.fitted(inside.w[: inside.size, None])
    c = problem.design.correlate(R)[:, 0]
    coefs, gaps = np.zeros((count, len(q))), np.zeros(count)
    sweeps = np.zeros(count, np.intp)
    i, before = 0, max(float(problem.scores(c).max(initial=0.0)), l1[0])
    while i < count:
        stop = min(i + BATCH, count)
        scores = np.where(inside.inside, -np.inf, problem.scores(c))
        reach = l1[stop - 1] - REACH * (before - l1[stop - 1])
        new = strongest(scores, max(reach, 0.0), FIRST + inside.size)
        inside.add(new)
        m, S = inside.size, np.empty((inside.size, stop - i))
        for b in range(i, stop):
            if b > 1 and l1[b - 1] < l1[b - 2]:
                inside.extrapolate((l1[b] - l1[b - 1]) / (l1[b - 1] - l1[b - 2]))
            sweeps[b] += inside.solve(l1[b], l2[b], yy, INNER * tol, False, max_sweeps)
            S[:, b - i] = inside.w[:m]
        R = problem.V[:, [t]] - problem.design.fitted(S)
        C = problem.design.correlate(R)
        found, _ = certificate(problem, t, inside, (S, R, C), l1[i:stop], l2[i:stop])
        bad = np.flatnonzero(found > tol * yy)
        good = int(bad[0]) if len(bad) else stop - i
        if good == 0:
            outside = np.where(inside.inside, -np.inf, problem.scores(C[:, 0]))
            if not (outside > l1[i]).any():
                good = 1  # nothing can join: the sweeps ran out, the gap tells
        coefs[i : i + good, inside.index] = S[:, :good].T
        gaps[i : i + good] = found[:good]
        last = min(good, stop - i - 1)
        c = np.ascontiguousarray(C[:, last])
        if good:
            before = l1[i + good - 1]
        if good < stop - i:
            inside.restart(S[:, good])
        i += good
    return PathFit(coefs, gaps, sweeps)


def strongest(scores: Array, threshold: float, most: int) -> IntArray:
    """The columns whose score is at least the threshold; the ``most`` largest if there are more."""
    found = np.flatnonzero((scores >= threshold) & (scores > 0))
    if len(found) > most:
        order = np.argsort(-scores[found], kind="stable")
        found = np.sort(found[order[:most]])
    return found


def with_ones(X: Any) -> Any:
    """[1 X]."""
    ones = np.ones((X.shape[0], 1))
    if issparse(X):
        return vstack([csc_array(ones.T), csc_array(X).T]).T.tocsc()
    return np.hstack([ones, X])


def scaled(X: Any, root: Array | None) -> Any:
    """sqrt(w) X."""
    if root is None:
        return X
    return (diags_array(root) @ X).tocsc() if issparse(X) else X * root[:, None]


def norms(F: Array) -> Array:
    """Lengths of the columns; 1 for a column of zeros."""
    size = np.sqrt((F**2).sum(axis=0))
    return np.where(size > 0, size, 1.0)
