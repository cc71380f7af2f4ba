r"""Least-squares algebra over leaves of rows: cross-products, Cholesky, TSQR, SVD.

Every method below minimises

    |y - b - X w|^2 + alpha |w|^2       (rows weighted; X is n x p, y is n x k)

from sums over leaves that merge in the fixed tree of ``core.loops.statistics``.

Cross-products   the moments of [X y] give G = Xc'Xc and B = Xc'y, centred. (G + alpha I) w = B is
                 solved by Cholesky after scaling to a unit diagonal. n p^2 operations, but the
                 relative error of w is about eps cond(X)^2.
Refinement       one more pass for the residuals r of that w: w += (G + alpha I)^-1 (Xc'r - alpha w)
                 brings the error down to about eps cond(X).
TSQR             R of [1, (X - mean)/scale, y] per leaf; two leaves merge by R of [R1; R2]. Never
                 squares the condition; the small triangle then serves back substitution, the SVD
                 (rank, least norm), Gram-Schmidt and non-negative least squares alike.

References: Golub & Van Loan, Matrix Computations, ch. 5; Demmel, Grigori, Hoemmen & Langou (2012),
communication-optimal QR; Björck (1987), corrected semi-normal equations.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from pellucid.core.algebra import gram, linalg
from pellucid.core.algebra.linalg import Solved
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.tensors import like, namespace
from pellucid.core.arrays.typing import Array, IntArray, Map
from pellucid.core.loops import statistics
from pellucid.core.loops.device import DeviceRows, on_device, tensor_moments
from pellucid.core.loops.statistics import Moments, Rows, Source, Statistic
from pellucid.core.runtime.threads import single_threaded_blas

FACTOR_ABOVE = 1e3  # condition of the unit-norm columns from which the rows are factored (TSQR)
REFINE_ABOVE = 1e2  # ... and from which a residual pass is added, up to REFINE_CELLS cells of X:
REFINE_CELLS = 2**23  # on more, Cholesky alone (10 digits at 1e3) saves reading them twice


# --- pass 1: moments of [X y] ---------------------------------------------------------------


def dense_leaf(rows: Rows) -> tuple[Array, Array]:
    """X and y of a leaf as two dense matrices."""
    X = to_dense(rows.X)
    return X, rows.y if rows.y.ndim == 2 else rows.y[:, None]


def leaf_moments(rows: Rows) -> Moments:
    """Moments of [X y] over one leaf.

    >>> rows = Rows(np.array([[1.0], [3.0]]), np.array([0.0, 4.0]), np.ones(2))
    >>> leaf_moments(rows).scatter
    array([[2., 4.],
           [4., 8.]])
    """
    X, Y = dense_leaf(rows)
    with np.errstate(all="ignore"):  # overflow and NaN show in the result, and are refused there
        if X.shape[1] <= gram.WIDEST:
            return gram.joint_moments(X, Y, rows.w)
        return statistics.moments(np.hstack([X, Y]), rows.w)


@on_device(leaf_moments)
def device_moments(rows: DeviceRows) -> Moments:
    """Moments of [X y] over tensors."""
    return tensor_moments(*rows)


def joint_moments(source: Source, map_: Map) -> Moments:
    """Moments of [X y] over all rows."""
    return statistics.reduce_rows(Statistic(leaf_moments, statistics.merge_moments), source, map_)


# --- the system in its unknowns --------------------------------------------------------------


class Coordinates(NamedTuple):
    """Where the rows are looked at from: Z = [1, (X - shift)/scale], or X/scale alone."""

    intercept: bool
    shift: Array  # (p,) the means; 0 without an intercept
    scale: Array  # (p,) the norms of the columns so shifted; 0 for a constant column
    y_shift: Array  # (k,)

    @property
    def active(self) -> IntArray:
        """The columns that are not constant (not zero, without an intercept)."""
        return np.flatnonzero(self.scale)


def coordinates(total: Moments, p: int, *, intercept: bool) -> Coordinates:
    """Centre and scale by the moments of [X y].

    >>> total = Moments(2.0, np.array([2.0, 5.0]), np.array([[2.0, 1.0], [1.0, 9.0]]))
    >>> coordinates(total, 1, intercept=True).shift
    array([2.])
    """
    squares, mean = np.diag(total.scatter)[:p], total.mean
    if intercept:
        return Coordinates(True, mean[:p], np.sqrt(squares), mean[p:])
    norms = np.sqrt(squares + total.weight * mean[:p] ** 2)
    return Coordinates(False, np.zeros(p), norms, np.zeros(len(mean) - p))


class System(NamedTuple):
    """Normal equations G theta = B of one choice of unknowns; Y = y'y in the same coordinates."""

    G: Array  # (q, q)
    B: Array  # (q, k)
    Y: Array  # (k, k)


def normal_system(total: Moments, p: int, unknowns: str) -> System:
    """The normal equations for ``unknowns``.

    ``centred``: w with the intercept eliminated; ``slopes``: w without intercept; ``all``: (b, w).
    """
    W, mean, S = total
    if unknowns == "centred":
        return System(S[:p, :p], S[:p, p:], S[p:, p:])
    raw = S + W * np.outer(mean, mean)
    if unknowns == "slopes":
        return System(raw[:p, :p], raw[:p, p:], raw[p:, p:])
    G = np.empty((p + 1, p + 1))
    G[0, 0], G[0, 1:], G[1:, 0], G[1:, 1:] = W, W * mean[:p], W * mean[:p], raw[:p, :p]
    return System(G, np.vstack([W * mean[p:], raw[:p, p:]]), raw[p:, p:])


# --- factoring the rows: TSQR ----------------------------------------------------------------


def standard_rows(rows: Rows, at: Coordinates) -> Array:
    """sqrt(w) [1, (X - shift)/scale, y - y_shift] of a leaf, without the constant columns."""
    X, Y = dense_leaf(rows)
    columns = [(X[:, at.active] - at.shift[at.active]) / at.scale[at.active], Y - at.y_shift]
    Z = np.hstack([np.ones((len(X), 1)), *columns] if at.intercept else columns)
    return Z if statistics.is_unit(rows.w) else Z * np.sqrt(rows.w)[:, None]


def leaf_triangle(at: Coordinates, rows: Rows) -> Array:
    """R of one leaf."""
    return linalg.triangle(standard_rows(rows, at))


@on_device(leaf_triangle)
def device_triangle(at: Coordinates, rows: DeviceRows) -> Any:
    """R of tensors, with no more rows than columns."""
    X, xp = rows.X, namespace(rows.X)
    keep = like(at.active, X, xp.int64)
    shift, scale = like(at.shift[at.active], X), like(at.scale[at.active], X)
    Y = xp.reshape(rows.y, (X.shape[0], -1)) - like(at.y_shift, X)
    columns = [(xp.take(X, keep, axis=1) - shift) / scale, Y]
    ones = xp.ones((X.shape[0], 1), dtype=X.dtype, device=X.device)
    Z = xp.concat([ones, *columns] if at.intercept else columns, axis=1)
    return xp.linalg.qr(Z if rows.w is None else Z * xp.sqrt(rows.w)[:, None], mode="reduced").R


def merge_triangles(a: Array, b: Array) -> Array:
    """R of the rows of two leaves taken together."""
    return linalg.triangle(np.vstack([a, b]))


def tsqr(source: Source, map_: Map, at: Coordinates) -> Array:
    """R of [1, (X - shift)/scale, y - y_shift] over all rows, square (zero rows below)."""
    R = statistics.reduce_rows(Statistic(partial(leaf_triangle, at), merge_triangles), source, map_)
    return np.vstack([R, np.zeros((R.shape[1] - len(R), R.shape[1]))])


class Reduced(NamedTuple):
    """A small problem with the residuals of the whole: |y - D theta|^2 = |c - A theta|^2 + rest."""

    A: Array  # (m, q)
    c: Array  # (m, k)
    rest: Array  # (k, k)


def reduced_system(R: Array, at: Coordinates, unknowns: str) -> Reduced:
    """The small problem for ``unknowns`` (see ``normal_system``) from the triangle of ``tsqr``."""
    p, active = len(at.scale), at.active
    q = len(active) + at.intercept
    A = np.zeros((q, p + at.intercept))
    A[:, active + at.intercept] = R[:q, at.intercept : q] * at.scale[active]
    c, rest = R[:q, q:], R[q:, q:].T @ R[q:, q:]
    if not at.intercept:
        return Reduced(A, c, rest)
    if unknowns == "centred":
        return Reduced(A[1:, 1:], c[1:], rest)
    A[:, 0] = R[:q, 0]
    A[:, 1:] += np.outer(R[:q, 0], at.shift)  # X = (X - shift) + 1 shift'
    return Reduced(A, c + np.outer(R[:q, 0], at.y_shift), rest)


# --- residual pass ---------------------------------------------------------------------------


class Residuals(NamedTuple):
    """Sums of the residuals r of one theta: 1'r, (X - shift)'r, r'r (rows weighted)."""

    total: Array  # (k,)
    gradient: Array  # (p, k)
    squares: Array  # (k, k)


def leaf_residuals(
    shift: Array, targets: IntArray, centre: Array, coef: Array, rows: Rows
) -> Residuals:
    """Residual sums of one leaf; ``centre`` is the prediction at ``shift``."""
    X, Y = dense_leaf(rows)
    C = X - shift
    E = (Y[:, targets] - centre) - C @ coef
    V = E if statistics.is_unit(rows.w) else E * rows.w[:, None]
    return Residuals(V.sum(axis=0), C.T @ V, E.T @ V)


@on_device(leaf_residuals)
def device_residuals(
    shift: Array, targets: IntArray, centre: Array, coef: Array, rows: DeviceRows
) -> Residuals:
    """Residual sums of tensors."""
    X, xp = rows.X, namespace(rows.X)
    Y = xp.take(xp.reshape(rows.y, (X.shape[0], -1)), like(targets, X, xp.int64), axis=1)
    C = X - like(shift, X)
    E = (Y - like(centre, X)) - C @ like(coef, X)
    V = E if rows.w is None else E * rows.w[:, None]
    return Residuals(xp.sum(V, axis=0), C.T @ V, E.T @ V)


def residual_sums(
    source: Source, map_: Map, shift: Array, targets: IntArray, centre: Array, coef: Array
) -> Residuals:
    """Residual sums over all rows."""
    summarise = partial(leaf_residuals, shift, targets, centre, coef)
    return statistics.reduce_rows(Statistic(summarise, statistics.add_records), source, map_)


# --- the whole way ---------------------------------------------------------------------------


class LinearFit(NamedTuple):
    """A linear fit with what its inference needs; k targets."""

    coef: Array  # (p, k)
    intercept: Array  # (k,)
    root: Array  # (q, r): T T' = (G + alpha I)^-1 for the unknowns
    rank: int
    rss: Array  # (k, k) residual cross-products
    condition: float  # of the unit-norm columns
    gradient: float  # largest |x_j'r - alpha w_j| / (|x_j| |y|)
    route: str  # cholesky, refined, qr or svd
    dependent: tuple[int, ...]  # columns of X that take part in an exact relation
    mean: Array  # (p,) the point from which root sees the rows; 0 where b is an unknown
    weight: float  # n, the sum of the weights
    tss: Array  # (k, k) cross-products of y in the same coordinates


class Engine:
    """One data set, many right-hand sides: the moments, and the triangle once someone needs it."""

    def __init__(self, source: Source, map_: Map, total: Moments, p: int, *, unknowns: str) -> None:
        self.source, self.map, self.total, self.p, self.unknowns = source, map_, total, p, unknowns
        self.at = coordinates(total, p, intercept=unknowns != "slopes")
        self.system = normal_system(total, p, unknowns)
        self.tolerance = max(source.n_rows, p) * linalg.EPS
        self._reduced: Reduced | None = None

    @property
    def live(self) -> IntArray:
        """The unknowns that the data say anything about.

        Where b has a penalty, a column that is the same in every row shares its part with b.
        """
        if self.unknowns != "all":
            return self.at.active
        return np.append(0, np.flatnonzero((self.at.scale > 0) | (self.at.shift != 0)) + 1)

    @property
    def reduced(self) -> Reduced:
        """The small problem; the rows are read again the first time."""
        if self._reduced is None:
            R = tsqr(self.source, self.map, self.at)
            self._reduced = reduced_system(R, self.at, self.unknowns)
        return self._reduced

    def solve(self, targets: IntArray, alpha: float = 0.0, method: str = "auto") -> LinearFit:
        """Fit ``targets`` with penalty ``alpha`` by the cheapest way that is accurate enough."""
        with single_threaded_blas():  # the last bits must not depend on the number of cores
            limit = {"auto": FACTOR_ABOVE, "normal": np.sqrt(1 / linalg.EPS)}.get(method, 0.0)
            solved = self._normal(targets, alpha) if limit > 0 else None
            if solved is not None and solved.condition <= limit:
                return self.finish(solved, targets, alpha, "cholesky")
            A, c = self.reduced.A[:, self.live], self.reduced.c[:, targets]
            if method == "svd":
                solved = self.embed(linalg.solve_svd(A, c, self.tolerance))
            else:
                solved = self.embed(linalg.solve_triangle(A, c, alpha, self.tolerance))
            route = "svd" if method == "svd" or solved.dependent else "qr"
            return self.finish(solved, targets, alpha, route)

    def _normal(self, targets: IntArray, alpha: float) -> Solved | None:
        live, (G, B, _) = self.live, self.system
        solved = linalg.solve_cholesky(G[np.ix_(live, live)], B[np.ix_(live, targets)], alpha)
        return None if solved is None else self.embed(solved)

    def embed(self, solved: Solved) -> Solved:
        """Back to all unknowns: a constant column has coefficient 0."""
        q, live = len(self.system.G), self.live
        theta, root = np.zeros((q, solved.theta.shape[1])), np.zeros((q, solved.root.shape[1]))
        theta[live], root[live] = solved.theta, solved.root
        dependent = tuple(int(live[j]) for j in solved.dependent)
        return solved._replace(theta=theta, root=root, dependent=dependent)

    def split(self, theta: Array, targets: IntArray) -> tuple[Array, Array]:
        """(prediction at the shift, coef) of a vector of unknowns."""
        if self.unknowns == "all":
            return theta[0] + self.at.shift @ theta[1:], theta[1:]
        return self.at.y_shift[targets], theta

    def finish(
        self, solved: Solved, targets: IntArray, alpha: float | Array, route: str
    ) -> LinearFit:
        """The record of a solution, refined; ``alpha`` may be a penalty for each unknown (q, 1)."""
        theta, root = solved.theta, solved.root
        G, B, Y = self.system.G, self.system.B[:, targets], self.system.Y[np.ix_(targets, targets)]
        centre, coef = self.split(theta, targets)
        rss = Y - theta.T @ B - B.T @ theta + theta.T @ G @ theta
        lost = np.diag(rss) <= 1e-6 * np.diag(Y)  # the subtraction has eaten six digits
        small = self.source.n_rows * self.p <= REFINE_CELLS
        if route != "cholesky" or lost.any() or (small and solved.condition > REFINE_ABOVE):
            sums = residual_sums(self.source, self.map, self.at.shift, targets, centre, coef)
            theta, change, rss = self._correct(theta, root, alpha, sums)
            if self.unknowns == "all":
                centre, coef = self.split(theta, targets)
            else:
                centre, coef = centre + change, theta
            route = "refined" if route == "cholesky" else route
        scale = np.sqrt(np.outer(np.diag(G), np.diag(Y)))
        slope = np.abs(B - G @ theta - alpha * theta)
        gradient = float((slope / np.where(scale > 0, scale, 1.0)).max(initial=0.0))
        offset = 1 if self.unknowns == "all" else 0
        intercept = centre - self.at.shift @ coef if self.at.intercept else 0.0 * centre
        dependent = tuple(j - offset for j in solved.dependent if j >= offset)
        found = coef, intercept, root, solved.rank, rss, solved.condition, gradient, route
        mean = 0.0 * self.at.shift if offset else self.at.shift
        return LinearFit(*found, dependent, mean, self.total.weight, Y)

    def _correct(
        self, theta: Array, root: Array, alpha: float | Array, sums: Residuals
    ) -> tuple[Array, Array, Array]:
        """One step of refinement, and the residual cross-products after it."""
        slope = sums.gradient
        if self.unknowns == "all":
            slope = np.vstack([sums.total, slope + np.outer(self.at.shift, sums.total)])
        step = root @ (root.T @ (slope - alpha * theta))
        change = sums.total / self.total.weight if self.unknowns == "centred" else 0 * sums.total
        gain = step.T @ slope
        rss = sums.squares - gain - gain.T + step.T @ (slope - alpha * (theta + step))
        rss -= self.total.weight * np.outer(change, change)
        return theta + step, change, rss


def gather(source: Source) -> Rows:
    """All rows of a source in one dense block: for tables with more columns than rows."""
    if isinstance(source, Rows):
        return Rows(*dense_leaf(source), source.w)
    leaves = [leaf for span in source.spans() for leaf in span.leaves()]
    parts = [(*dense_leaf(leaf), leaf.w) for leaf in leaves]
    X, Y, w = (np.concatenate([part[i] for part in parts]) for i in range(3))
    return Rows(X, Y, w)


class Wide(NamedTuple):
    """All rows at once, centred and weighted: sqrt(w)(X - mean), sqrt(w)(y - y_mean)."""

    Z: Array  # (n, q)
    V: Array  # (n, k)
    mean: Array  # (p,)
    y_mean: Array  # (k,)
    weight: float


def wide_system(source: Source, unknowns: str) -> Wide:
    """The rows of a table with no more rows than columns, for ``unknowns`` (``normal_system``)."""
    X, Y, w = gather(source)
    if unknowns == "centred":
        origin, y_origin = X[np.argmax(w)], Y[np.argmax(w)]  # a constant column becomes 0 exactly
        Z = X - origin
        mean = origin + w @ Z / w.sum()
        y_mean = y_origin + w @ (Y - y_origin) / w.sum()
        np.subtract(X, mean, out=Z)
    else:
        mean, y_mean = np.zeros(X.shape[1]), np.zeros(Y.shape[1])
        Z = np.hstack([np.ones((len(X), 1)), X]) if unknowns == "all" else X - mean
    V = Y - y_mean
    if not statistics.is_unit(w):
        root_w = np.sqrt(w)[:, None]
        Z, V = root_w * Z, root_w * V
    return Wide(Z, V, mean, y_mean, float(w.sum()))


def finish_wide(
    wide: Wide, solved: Solved, unknowns: str, alpha: float | Array, targets: IntArray
) -> LinearFit:
    """The record of a fit of a wide table."""
    Z, V, theta = wide.Z, wide.V[:, targets], solved.theta
    E = V - Z @ theta
    norms = np.outer(np.linalg.norm(Z, axis=0), np.linalg.norm(V, axis=0))
    slope = np.abs(Z.T @ E - alpha * theta) / np.where(norms > 0, norms, 1.0)
    offset = 1 if unknowns == "all" else 0
    coef = theta[offset:]
    intercept = theta[0] if offset else wide.y_mean[targets] - wide.mean @ coef
    dependent = tuple(j - offset for j in solved.dependent if j >= offset)
    found = coef, intercept, solved.root, solved.rank, E.T @ E, solved.condition
    gradient = float(slope.max(initial=0.0))
    return LinearFit(*found, gradient, "svd", dependent, wide.mean, wide.weight, V.T @ V)


def finite(total: Moments) -> bool:
    """Whether every moment is a finite number."""
    return bool(np.isfinite(total.mean).all() and np.isfinite(total.scatter).all())


class Compact(NamedTuple):
    """A few rows that stand for all: |y - b - X w|^2 = |c - A w|^2 + rest for every w, best b.

    Without an intercept b = 0 and the means are 0. Methods written for rows (LAR, subsets,
    principal components, partial least squares) run on (A, c) unchanged, whatever n was.
    """

    A: Array  # (m, p), m <= min(n, p); a constant column is 0 exactly
    c: Array  # (m, k)
    rest: Array  # (k, k)
    mean: Array  # (p,) of X; 0 without an intercept
    y_mean: Array  # (k,)
    weight: float  # n, the sum of the weights
    condition: float  # of the unit-norm columns; inf where they are dependent or p >= n

    def intercept(self, coef: Array) -> Array:
        """The intercept of coefficients (p, k) or (p,): (k,)."""
        return self.y_mean - self.mean @ coef

    def rss(self, coef: Array) -> Array:
        """Residual sums of squares of coefficients (p, k): (k,)."""
        E = self.c - self.A @ coef
        return (E**2).sum(axis=0) + np.diag(self.rest)

    @property
    def tss(self) -> Array:
        """Squares of y about its mean (about 0 without an intercept): (k,)."""
        return (self.c**2).sum(axis=0) + np.diag(self.rest)


def compact_rows(
    source: Source, map_: Map, total: Moments | None, p: int, *, intercept: bool
) -> Compact:
    """The compact rows: Cholesky of the sums, TSQR of ill-conditioned rows, or the rows (n <= p).

    ``total`` is needed for tables with more rows than columns.

    >>> from pellucid.core.runtime.threads import map_threads
    >>> rows = Rows(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 4.0]), np.ones(3))
    >>> small = compact_rows(rows, map_threads, joint_moments(rows, map_threads), 1, intercept=True)
    >>> (small.A**2).round(6), small.tss.round(6)
    (array([[2.]]), array([4.666667]))
    """
    unknowns = "centred" if intercept else "slopes"
    with single_threaded_blas():
        if total is None:
            wide = wide_system(source, unknowns)
            nothing = np.zeros((wide.V.shape[1], wide.V.shape[1]))
            return Compact(wide.Z, wide.V, nothing, wide.mean, wide.y_mean, wide.weight, np.inf)
        engine = Engine(source, map_, total, p, unknowns=unknowns)
        live, at = engine.live, engine.at
        G, B, Y = engine.system
        solved = linalg.solve_cholesky(G[np.ix_(live, live)], B[live])
        if solved is not None and solved.condition <= FACTOR_ABOVE:
            scale = at.scale[live]
            L = np.linalg.cholesky(G[np.ix_(live, live)] / np.outer(scale, scale))
            A, c = np.zeros((len(live), p)), B[live] / scale[:, None]
            c = solve_triangular(L, c, lower=True)
            A[:, live] = L.T * scale
            rest = Y - c.T @ c
            kept, squares = np.diag(rest), np.diag(Y)
            lost = bool(((kept <= 1e-6 * squares) & (squares > 0)).any())  # six digits are gone
        else:
            lost = True
        if lost:
            A, c, rest = engine.reduced
        condition = np.inf if solved is None else solved.condition
        return Compact(A, c, rest, at.shift, at.y_shift, total.weight, condition)
