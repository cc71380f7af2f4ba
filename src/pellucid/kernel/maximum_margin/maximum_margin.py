r"""The maximum-margin classifier as the exact quadratic programme.

Hard margin   min 1/2 |w|^2,  y_i (w.phi(x_i) + b) >= 1                   (C = inf)
Soft margin   min 1/2 |w|^2 + C sum xi_i,  y_i (w.phi(x_i) + b) >= 1 - xi_i,  xi_i >= 0
Dual          max sum a - 1/2 sum a_i a_j y_i y_j k(x_i, x_j),  sum a y = 0,  0 <= a_i <= C
Algorithm     interior point on the smaller of the two (``programmes.py``); then the multipliers
              strictly between the bounds are solved for exactly:
              K_FF b_F + b = y_F - K_FC b_C,  sum b = 0           (b = a y, F free, C at the bound)
Cost          O(n p^2) per step of the primal, O(n^3) of the dual; 10 to 30 steps

References: Vapnik (1982); Boser, Guyon & Vapnik (1992); Mehrotra (1992).
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.optimize import linprog

from pellucid.base import Classifier, with_callbacks
from pellucid.core.algebra.hyperplane import Hyperplane
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, MaybeArray
from pellucid.core.functions import kernels
from pellucid.core.functions.kernels import Kernel, KernelLike, LinearKernel, PrecomputedKernel
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows
from pellucid.core.records import Card
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.kernel.maximum_margin import interior_point, programmes
from pellucid.kernel.maximum_margin.interior_point import Point, Programme
from pellucid.kernel.svm.distinct import Distinct, distinct_rows, own_rows
from pellucid.kernel.svm.margins import read_margins
from pellucid.kernel.svm.svm_model import cell_variance

SOLVERS = ("auto", "primal", "dual", "interior_point")
TOUCHING = 1e-10  # squared distance of the hulls, of the largest k(x, x): below it they meet
PLAIN = 10  # powers of 2: rows between 1/1000 and 1000 are taken as they are


class NotSeparableError(ValueError):
    """No surface of this kernel separates the classes, so there is no hard margin."""

    def __init__(self, kernel: KernelLike) -> None:
        why = "a hard margin (C=inf) does not exist; give a finite C or another kernel"
        super().__init__(f"the classes cannot be separated with {kernel!r}: {why}")


class Table(NamedTuple):
    """Distinct training rows, y = -1 or +1, their bounds and products.

    Products of any size are divided by ``unit``; multipliers and bounds are then ``unit`` times
    what they are for the rows as given, and w is sqrt(unit) times.
    """

    X: Any
    y: Array
    C: Array
    K: Array | None  # None: linear, by X
    unit: float = 1.0

    def in_units(self) -> "Table":
        """The same with products near 1, where theirs are far from it."""
        squares = (self.X**2).sum(axis=1) if self.K is None else np.diagonal(self.K)
        power = math.frexp(float(squares.max()))[1] // 2
        if abs(power) <= PLAIN or not np.isfinite(squares).all():
            return self
        unit = 4.0**power
        K = None if self.K is None else self.K / unit
        X = self.X / 2.0**power if self.K is None else self.X
        return Table(X, self.y, self.C * unit, K, unit)

    def product(self, beta: Array) -> Array:
        """K beta."""
        return self.X @ (self.X.T @ beta) if self.K is None else self.K @ beta


class Multipliers(NamedTuple):
    """A solution: beta = a y, the bias, the interval it may lie in, and K beta."""

    beta: Array
    bias: float
    interval: tuple[float, float]
    product: Array


def find_bias(table: Table, beta: Array, near: float) -> Multipliers:
    """The mean of y - K beta over 0 < a < C; without any the middle of the optimal interval."""
    a, product = beta * table.y, table.product(beta)
    up = np.where(table.y > 0, a < table.C - near, a > near)
    down = np.where(table.y > 0, a > near, a < table.C - near)
    rest = table.y - product
    low = float(rest[up].max(initial=-np.inf))
    high = float(rest[down].min(initial=np.inf))
    free = (a > near) & (a < table.C - near)
    bias = float(rest[free].mean()) if free.any() else 0.5 * (low + high)
    return Multipliers(beta, bias, (min(low, high), max(low, high)), product)


def breach(table: Table, m: Multipliers) -> float:
    """The largest violation: bounds, sum of a y, and y f against 1 where a says so."""
    a, f = m.beta * table.y, table.y * (m.product + m.bias)
    size = max(1.0, float(a.max()))
    outside = max(float(-a.min()), float((a - table.C).max()), abs(float(m.beta.sum()))) / size
    below = np.where(a < table.C, np.maximum(0.0, 1.0 - f), 0.0)
    above = np.where(a > 0, np.maximum(0.0, f - 1.0), 0.0)
    return max(outside, float(below.max()), float(above.max()))


def polish(table: Table, a: Array, near: float) -> Multipliers:
    """Put multipliers near a bound on it and solve for the others exactly, if that is better.

    Which are near depends on how far the interior point got: the best of a few guesses is kept.
    """
    most = float(a.max())
    guesses = [near, *(share * most for share in (1e-8, 1e-6, 1e-4, 1e-2))]
    best = find_bias(table, np.clip(a, 0.0, table.C) * table.y, near)
    smallest = breach(table, best)
    for guess in guesses:
        for found in solve_free(table, a, guess):
            if (size := breach(table, found)) < smallest:
                best, smallest = found, size
        if smallest <= 1e-12:
            break
    return best


def solve_free(table: Table, a: Array, near: float) -> Iterator[Multipliers]:
    """The multipliers with those near a bound on it; then with the free ones solved for."""
    edge = np.minimum(near, 0.01 * table.C)
    a = np.where(a <= edge, 0.0, np.where(a >= table.C - edge, table.C, a))
    free = np.flatnonzero((a > 0) & (a < table.C))
    beta = a * table.y
    yield find_bias(table, beta, 0.0)
    m = len(free)
    if not 0 < m <= 2000:
        return
    K = table.X[free] @ table.X[free].T if table.K is None else table.K[np.ix_(free, free)]
    system = np.zeros((m + 1, m + 1))
    system[:m, :m], system[:m, m], system[m, :m] = K, 1.0, 1.0
    for _ in range(3):  # the second solve removes the rounding of the first
        now = find_bias(table, beta, 0.0)
        right = np.append((table.y - now.product - now.bias)[free], -beta.sum())
        beta = beta.copy()
        beta[free] += np.linalg.lstsq(system, right, rcond=1e-13)[0][:m]
    yield find_bias(table, beta, 0.0)


class MaximumMarginClassifier(Classifier):
    """The widest margin between two classes, solved to machine precision.

    For many rows SVC is the fast approximation of the same programme. ``sample_weight`` equals
    repetition: it multiplies C; with C=inf only whether it is 0 matters.

    Parameters
    ----------
    C : float, default=inf
        Price of the slack; inf is the hard margin, which exists only for separable classes.
    kernel : Kernel, name or callable, default="linear"
        "linear", "poly", "rbf", "sigmoid" (scikit-learn's defaults), "precomputed".
    solver : {"auto", "primal", "dual", "interior_point"}, default="auto"
        Which programme the interior-point method is given: the primal (p + 1 variables after
        elimination; linear kernel only) or the dual (n variables). "auto" and "interior_point":
        the smaller.
    tol : float, default=1e-8
        Relative gap and residuals at the end.
    support_threshold : float, default=1e-5
        Multipliers up to it are 0 (times the largest multiplier where that is below 1).
    max_iter : int, default=200
        Largest number of interior-point steps.

    Attributes
    ----------
    multipliers_ : ndarray of shape (n,)
    support_, support_vectors_, dual_coef_, coef_, intercept_
        Indices and rows with a > threshold, a y of them, w (linear kernel), b as (1,) array.
    margin_, margin_width_ : float
        1/|w| and 2/|w|.
    slack_, categories_ : ndarray of shape (n,)
        xi, and "outside", "on_margin", "inside", "misclassified".
    n_margin_errors_ : int
        Rows with y f < 1.
    primal_objective_, dual_objective_ : float
    kkt_violation_ : float
        Largest breach of sum a y = 0, w = sum a y x, a (1 - xi - y f) = 0.
    intercept_interval_ : tuple
        The biases that are optimal; one point when some 0 < a < C.
    history_ : History
        ``pcost dcost gap pres dres`` of every step. The hard margin's dual is solved as the
        nearest points of the convex hulls, whose cost is half their squared distance.

    Examples
    --------
    >>> from pellucid import MaximumMarginClassifier
    >>> X = [[0, 0], [1, 0], [0, 1], [2, 2], [3, 2], [3, 3]]
    >>> model = MaximumMarginClassifier().fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.coef_.round(6), model.intercept_.round(6)
    (array([[0.666667, 0.666667]]), array([-1.666667]))
    >>> model.multipliers_.round(6), round(model.margin_, 6)
    (array([0.      , 0.222222, 0.222222, 0.444444, 0.      , 0.      ]), 1.06066)
    """

    def __init__(
        self,
        *,
        C: float = np.inf,
        kernel: KernelLike = "linear",
        solver: str = "auto",
        tol: float = 1e-8,
        support_threshold: float = 1e-5,
        max_iter: int = 200,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.solver = solver
        self.tol = tol
        self.support_threshold = support_threshold
        self.max_iter = max_iter

    @property
    def _precomputed(self) -> bool:
        return kernels.is_precomputed(self.kernel)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.pairwise = self._precomputed
        return tags

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: MaybeArray = None) -> Self:
        """Solve the quadratic programme of the widest margin."""
        check.positive(C=self.C, tol=self.tol)
        check.non_negative(support_threshold=self.support_threshold)
        check.whole(max_iter=self.max_iter)
        check.one_of(SOLVERS, solver=self.solver)
        context = FitContext(self, X=X, y=y, sample_weight=sample_weight, max_steps=self.max_iter)
        rows = self._check_training(X, y, sample_weight)
        self._need_two_classes(rows)
        found, table = self._open(rows)
        with single_threaded_blas():
            programme, read = self._programme(table)
            context.attributes = lambda p: self._attributes(rows, found, table, read(p))
            start = interior_point.start(programme, np.zeros_like(programme.q))
            limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol}
            limits |= {"record": Point.row, "context": context}
            limits["stop"] = lambda rows: hulls_touch(programme, rows[-1])
            run = self._iterate(partial(advance, programme, self.tol), start, **limits)
            for name, value in context.attributes(run.state).items():
                setattr(self, name, value)
        return self

    def _need_two_classes(self, rows: Rows) -> None:
        if len(self.classes_) > 2:
            two = f"MaximumMarginClassifier takes 2 classes, got {len(self.classes_)}"
            raise ValueError(f"Only binary classification is supported. {two}")
        live = np.unique(rows.y[np.asarray(rows.w) > 0])
        check.two_classes(self, len(live), rows.n_rows)

    def _open(self, rows: Rows) -> tuple[Distinct, Table]:
        """Distinct rows and their Gram matrix, where the dual or the kernel needs one."""
        X, w = rows.X, np.asarray(rows.w)
        sign = 2.0 * np.asarray(rows.y) - 1.0
        if self._precomputed:
            if X.shape[0] != X.shape[1]:
                raise ValueError(f"a precomputed kernel must be square, got shape {X.shape}")
            found = own_rows(w)
            self.kernel_: Kernel = PrecomputedKernel()
            part = X[np.ix_(found.first, found.first)]
        else:
            found = distinct_rows(X, sign, w)
            part = X[found.first]
            known = {"n_features": X.shape[1], "variance": cell_variance(part, found.w)}
            self.kernel_ = kernels.kernel_from(self.kernel, **known)
        linear = isinstance(self.kernel_, LinearKernel)
        if self.solver == "primal" and not linear:
            raise ValueError(f"solver='primal' is for the linear kernel, got {self.kernel!r}")
        small = self.solver != "dual" and part.shape[1] + 1 < part.shape[0]
        primal = linear and (self.solver == "primal" or small)
        K = None if primal else self.kernel_(part)
        bound = self.C * found.w if np.isfinite(self.C) else np.full(len(found.w), np.inf)
        return found, Table(part, sign[found.first], bound, K).in_units()

    def _programme(self, table: Table) -> tuple[Programme, Any]:
        """The programme and how the multipliers are read off its iterates."""
        hard = not np.isfinite(self.C)
        y, n = table.y, len(table.y)
        if table.K is None:
            if hard:
                self._need_separable(table)
            C = None if hard else table.C
            return programmes.primal_programme(table.X, y, C), lambda p: p.z[:n]
        Q = y[:, None] * table.K * y
        if not hard:
            return programmes.dual_programme(Q, y, table.C), lambda p: p.x
        Q = Q / (largest := max(float(np.diagonal(table.K).max()), 1e-300))

        def read(p: Point) -> Array:
            squared = float(p.x @ Q @ p.x)
            if squared <= TOUCHING:
                raise NotSeparableError(self.kernel_)
            return 2.0 * p.x / (squared * largest)

        return programmes.hull_programme(Q, y), read

    def _need_separable(self, table: Table) -> None:
        n, p = table.X.shape
        scale = np.abs(table.X).max(axis=0)
        Z = table.X / np.where(scale > 0, scale, 1.0)
        M = table.y[:, None] * np.column_stack([Z, np.ones(n)])
        test = linprog(np.zeros(p + 1), A_ub=-M, b_ub=-np.ones(n), bounds=(None, None))
        if test.status == 2:
            raise NotSeparableError(self.kernel_)

    def _attributes(self, rows: Rows, found: Distinct, table: Table, a: Array) -> dict[str, Any]:
        near = self.support_threshold * min(1.0, float(a.max()))
        best = polish(table, a, near)
        best = best._replace(beta=best.beta / table.unit)
        near /= table.unit
        squared_norm = float(best.beta @ best.product)
        w, y = np.asarray(rows.w), 2.0 * np.asarray(rows.y) - 1.0
        beta = found.spread(best.beta, w)
        support = np.flatnonzero(np.abs(beta) > near)
        f = found.repeat(best.product + best.bias, 0.0)
        absent = np.flatnonzero(found.kind < 0)
        if len(absent):
            f[absent] = self._values(rows.X[absent], rows.X, support, beta) + best.bias
        C = np.full(len(w), np.inf) if not np.isfinite(self.C) else self.C * w
        read = read_margins(beta * y, y, f, squared_norm, C, at_bound=near, slop=1e-6)
        attributes = {
            "kernel_": self.kernel_,
            "multipliers_": beta * y,
            "support_": support.astype(np.int32),
            "support_vectors_": np.empty((0, 0)) if self._precomputed else rows.X[support],
            "dual_coef_": beta[None, support],
            "intercept_": np.array([best.bias]),
            "intercept_interval_": best.interval,
            **read.attributes(),
        }
        if isinstance(self.kernel_, LinearKernel):
            root = math.sqrt(table.unit) if table.K is None else 1.0  # of X in its units
            attributes["coef_"] = (best.beta @ table.X * root)[None, :]
        return attributes

    def _values(self, Z: Array, X: Array, support: IntArray, beta: Array) -> Array:
        if self._precomputed:
            return Z[:, support] @ beta[support]
        return self.kernel_(Z, X[support]) @ beta[support]

    def decision_function(self, X: Any) -> Array:
        """f(x), positive for ``classes_[1]``."""
        X = self._check_input(X)
        if isinstance(self.kernel_, LinearKernel):
            return X @ self.coef_[0] + self.intercept_[0]
        if self._precomputed:
            return X[:, self.support_] @ self.dual_coef_[0] + self.intercept_[0]
        return self.kernel_(X, self.support_vectors_) @ self.dual_coef_[0] + self.intercept_[0]

    def predict(self, X: ArrayLike) -> Any:
        """The class on whose side of the boundary each row lies."""
        scores = self.decision_function(X)
        return self.classes_[(scores >= 0).astype(np.intp)]

    def boundary(self) -> Hyperplane:
        """The separating hyperplane, positive on the side of ``classes_[1]``; linear kernel."""
        if not isinstance(self.kernel_, LinearKernel):
            raise ValueError(f"only the linear kernel has a hyperplane, this is {self.kernel_!r}")
        return Hyperplane(self.coef_[0], float(self.intercept_[0]))

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        s = len(self.support_)
        shapes = {"dual_coef_": (1, s), "intercept_": (1,)}
        if not self._precomputed:
            shapes["support_vectors_"] = (s, self.n_features_in_)
        if isinstance(self.kernel_, LinearKernel):
            shapes["coef_"] = (1, self.n_features_in_)
        return shapes

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        hard = not np.isfinite(self.C)
        return Card(
            f"sign of sum_i a_i y_i k(x_i, x) + b with k = {self.kernel_!r}",
            "1/2 |w|^2 with every y f >= 1" if hard else "1/2 |w|^2 + C sum max(0, 1 - y f)",
            "interior point on the quadratic programme, then the free multipliers exactly",
            {
                "C": float(self.C),
                "margin": self.margin_,
                "support vectors": len(self.support_),
                "margin errors": self.n_margin_errors_,
                "steps": self.n_iter_,
                "KKT violation": self.kkt_violation_,
            },
        )


def advance(programme: Programme, tol: float, p: Point) -> tuple[Point, float]:
    """One step and how far there is to go."""
    try:
        new = interior_point.interior_step(programme, p)
    except ValueError as error:  # a matrix that is not finite, or not positive but for rounding
        cure = "scale the columns, or give a C nearer to 1 / (the length of a row)^2"
        raise ValueError(f"the quadratic programme has lost its digits: {cure}") from error
    hull = len(programme.b) == 2  # its cost is a squared distance, however small
    return new, interior_point.distance_to_go(new, tol, TOUCHING if hull else 1.0)


def hulls_touch(programme: Programme, row: dict[str, Any]) -> bool:
    """Whether the nearest points of the hulls are as good as one: there is no more to find."""
    return len(programme.b) == 2 and row["pres"] <= 1e-7 and 2.0 * row["pcost"] <= TOUCHING
