r"""What is minimised: any function, or the loss of a linear model with a penalty.

    F(w) = s sum_i v_i l(y_i, x_i'w) + P(w)         v_i the sample weights, n = sum v_i
    s: 1 ("sum"), 1/n ("mean"), 1/2 ("half_sum"), 1/(2n) ("half_mean")

    gradient  s X'(v l') + P'(w)         Hessian  s X' diag(v l'') X + P''(w)
    Lipschitz constant of the gradient   s sup l'' lambda_max(X' diag(v) X) + P''

A mini-batch B of N rows estimates the whole: the sum over B is multiplied by N/|B| ("unbiased").
The course's mini-batch networks and perceptron leave it as it is ("raw": factor 1, or 1/2 for the
half scales).

Sums run over chunks of rows on the thread pool and are added in order, so the bits do not depend
on the number of threads.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.core.algebra import derivatives
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, MaybeArray
from pellucid.core.functions.losses import Loss, get_loss
from pellucid.core.functions.penalties import L1L2
from pellucid.core.loops.statistics import LEAF_ROWS, Rows, Statistic, reduce_rows
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.solvers.minimum import norm_of

SEARCH_CELLS = 200_000  # of X, up to which a linear program looks for a separating hyperplane
SCALES = ("sum", "mean", "half_sum", "half_mean")


class Objective:
    """A function to minimise; derivatives that are not given are found numerically.

    Parameters
    ----------
    value : callable
        ``value(x) -> float``, or ``value(x, rows)`` where ``n_samples`` is given.
    gradient, hessian : callables, optional
        Derivatives of the value without the penalty; found numerically where not given.
    n_samples : int, optional
        The number of rows the value is a sum over: stochastic solvers then pass ``rows``.
    penalty : L1, L2, Lq or None
        Added to the value; ``ProximalGradient`` treats it apart.
    convex : bool, default=False
        Whether the caller knows the function to be convex; the certificate then says "global".

    Examples
    --------
    >>> from pellucid.solvers import Objective
    >>> bowl = Objective(lambda x: float(x @ x))
    >>> bowl.gradient(np.array([1.0, -2.0])).round(8)
    array([ 2., -4.])
    """

    size: int | None = None
    twice = True  # has a Hessian worth looking at
    lipschitz: float | None = None

    def __init__(
        self,
        value: Callable[..., float],
        gradient: Callable[..., Array] | None = None,
        hessian: Callable[[Array], Array] | None = None,
        n_samples: int | None = None,
        *,
        penalty: L1L2 | None = None,
        convex: bool = False,
    ) -> None:
        for name, function in (("value", value), ("gradient", gradient), ("hessian", hessian)):
            if function is not None and not callable(function):
                raise TypeError(f"{name} must be a function of x, got {type(function).__name__}")
        self._value, self._gradient, self._hessian = value, gradient, hessian
        self.n_samples = n_samples
        self.penalty = penalty
        self.convex = convex and (penalty is None or penalty.convex)
        self.smooth = penalty is None or penalty.smooth
        self.price: Any = 1.0

    def value(self, x: Array, rows: IntArray | None = None) -> float:
        """F at x, or its estimate from some rows."""
        found = self._value(x) if rows is None else self._value(x, rows)
        return float(found) + (0.0 if self.penalty is None else self.penalty.value(x))

    def gradient(self, x: Array, rows: Any = None) -> Array:
        """A (sub)gradient of F at x."""
        found = self.loss_gradient(x, rows)
        return found if self.penalty is None else found + self.penalty.gradient(x)

    def loss_gradient(self, x: Array, rows: IntArray | None = None) -> Array:
        """The gradient without the penalty."""
        if self._gradient is None:
            return derivatives.numerical_gradient(lambda z: self._value(z, *_rows(rows)), x).value
        return np.asarray(self._gradient(x, *_rows(rows)), dtype=np.float64)

    def loss_value_gradient(self, x: Array) -> tuple[float, Array]:
        """Value and gradient without the penalty."""
        return float(self._value(x)), self.loss_gradient(x)

    def value_gradient(self, x: Array) -> tuple[float, Array]:
        """Value and gradient."""
        if self.penalty is None and self._gradient is not None:
            return float(self._value(x)), np.asarray(self._gradient(x), dtype=np.float64)
        return self.value(x), self.gradient(x)

    def hessian(self, x: Array) -> Array:
        """The second derivatives at x."""
        if self._hessian is not None:
            H = np.asarray(self._hessian(x), dtype=np.float64)
        elif self._gradient is not None:
            H = derivatives.numerical_jacobian(self.loss_gradient, x).value
            H = (H + H.T) / 2
        else:
            H = derivatives.numerical_hessian(self._value, x).value
        return H if self.penalty is None else H + np.diag(self.penalty.curvature(x))

    def prox(self, v: Array, t: float) -> Array:
        """argmin |u - v|^2/2 + t P(u)."""
        return v if self.penalty is None else self.penalty.prox(v, t)

    def optimality(self, x: Array) -> float:
        """The norm of the shortest subgradient at x: 0 at a minimum."""
        return norm_of(shortest(self.loss_gradient(x), x, self.penalty, self.price))

    def separated(self, x: Array, *, search: bool = False) -> bool:
        """Whether the loss has no finite minimum: x separates the classes, or some w does."""
        return False


def _rows(rows: IntArray | None) -> tuple[Any, ...]:
    return () if rows is None else (rows,)


def shortest(g: Array, x: Array, penalty: L1L2 | None, price: Any) -> Array:
    """The shortest subgradient: at x_j = 0 an L1 penalty can take off up to its weight.

    >>> from pellucid.core.functions.penalties import L1L2
    >>> shortest(np.array([0.5, -3.0]), np.zeros(2), L1L2(1.0, 0.0), 1.0)
    array([ 0., -2.])
    """
    if penalty is None:
        return g
    g = g + price * penalty.gradient(x)
    l1 = price * getattr(penalty, "l1", 0.0)
    return np.where(x == 0, np.sign(g) * np.maximum(np.abs(g) - l1, 0.0), g)


class LinearObjective(Objective):
    """The loss of a linear model plus a penalty.

    Parameters
    ----------
    X : array of shape (n, p)
        The columns of the model.
    y : array of shape (n,)
        Numbers; 0 and 1 for "logistic"; -1 and +1 for the hinges, "perceptron", "exponential".
    loss : str or Loss, default="squared"
        A name of ``pellucid.core.functions.losses``: squared, absolute, huber, poisson, logistic,
        epsilon_insensitive, hinge, squared_hinge, modified_huber, perceptron, exponential.
    penalty : L1, L2, Lq, a sum of L1 and L2, or None
        Added to the loss.
    scale : {"sum", "mean", "half_sum", "half_mean"}, default="mean"
        What the sum of losses is multiplied by: 1, 1/n, 1/2 or 1/(2n).
    unpenalised : tuple of int
        Parameters that the penalty leaves alone.
    batch : {"unbiased", "raw"}, default="unbiased"
        Whether a mini-batch estimates the whole objective or is the plain sum over its rows.
    intercept : bool, default=False
        A parameter before the others that is added to every prediction (a column of ones).
    sample_weight : array of shape (n,), optional
        A weight is a repetition.
    epsilon : float, optional
        The e of huber and the epsilon-insensitive losses.

    Examples
    --------
    >>> from pellucid.solvers import LinearObjective
    >>> f = LinearObjective([[1, 0], [1, 1], [1, 2]], [1, 2, 4], scale="half_mean")
    >>> f.value(np.zeros(2)), f.gradient(np.zeros(2)).round(4)
    (3.5, array([-2.3333, -3.3333]))
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        loss: str | Loss = "squared",
        penalty: Any = None,
        scale: str = "mean",
        unpenalised: tuple[int, ...] = (),
        batch: str = "unbiased",
        *,
        intercept: bool = False,
        sample_weight: MaybeArray = None,
        epsilon: float | None = None,
    ) -> None:
        check.one_of(SCALES, scale=scale)
        check.one_of(("unbiased", "raw"), batch=batch)
        self.X, self.y = _matrix(X), np.ascontiguousarray(y, dtype=np.float64).ravel()
        n, p = self.X.shape
        if len(self.y) != n:
            raise ValueError(f"X and y need the same number of rows, got {n} and {len(self.y)}")
        if not np.isfinite(self.X).all() or not np.isfinite(self.y).all():
            raise ValueError("X and y must be finite numbers, got NaN or infinity")
        self.loss = get_loss(loss, epsilon)
        self.loss.check_target(self.y)
        self.weights = np.ones(n) if sample_weight is None else np.array(sample_weight, float)
        self.intercept, self.size, self.n_samples = bool(intercept), p + bool(intercept), n
        total = float(self.weights.sum())
        self.half = 0.5 if scale.startswith("half") else 1.0
        self.s = self.half / (total if scale.endswith("mean") else 1.0)
        self.scale, self.batch, self.penalty = scale, batch, penalty
        self.unpenalised = tuple(unpenalised)
        self.price = np.ones(self.size)
        self.price[list(self.unpenalised)] = 0.0
        self.convex = self.loss.convex and (penalty is None or penalty.convex)
        self.smooth = self.loss.smooth and (penalty is None or penalty.smooth)
        self.twice = self.loss.smooth
        self._lipschitz: float | None = None

    def design(self) -> Array:
        """D: X, after a column of ones where there is an intercept."""
        return np.column_stack([np.ones(len(self.X)), self.X]) if self.intercept else self.X

    def margins(self, w: Array, rows: Any = slice(None)) -> Array:
        """f_i = x_i'w."""
        w = np.asarray(w, dtype=np.float64)
        b, w = (w[0], w[1:]) if self.intercept else (0.0, w)
        return self.X[rows] @ w + b

    def _sweep(self, w: Array, *, slopes: bool) -> tuple[float, Array]:
        """sum v l and, where asked, sum v l' x over all rows."""

        def chunk(start: int) -> tuple[float, Array]:
            rows = slice(start, start + LEAF_ROWS)
            f, y, v = self.margins(w, rows), self.y[rows], self.weights[rows]
            value = float(v @ self.loss.value(y, f))
            if not slopes:
                return value, w
            r = v * self.loss.gradient(y, f)
            g = self.X[rows].T @ r
            return value, np.append(r.sum(), g) if self.intercept else g

        n = len(self.X)
        with np.errstate(over="ignore", invalid="ignore"):
            if n <= LEAF_ROWS:
                if self.X.size < 1 << 14:  # BLAS uses one thread for these anyway
                    return chunk(0)
                with single_threaded_blas():
                    return chunk(0)
            parts = list(map_threads(chunk, range(0, n, LEAF_ROWS)))
        total = float(sum(part[0] for part in parts))
        return total, np.sum([part[1] for part in parts], axis=0) if slopes else w

    def _batch_factor(self, n_rows: int) -> float:
        return self.half if self.batch == "raw" else self.s * len(self.X) / n_rows

    def value(self, x: Array, rows: IntArray | None = None) -> float:
        """The value, of all rows or of ``rows``."""
        x = np.asarray(x, dtype=np.float64)
        if rows is None:
            found = self.s * self._sweep(x, slopes=False)[0]
        else:
            rows = np.atleast_1d(rows)
            losses = self.loss.value(self.y[rows], self.margins(x, rows))
            found = self._batch_factor(len(rows)) * float(self.weights[rows] @ losses)
        return found + self._penalty_value(x)

    def _penalty_value(self, x: Array) -> float:
        return 0.0 if self.penalty is None else self.penalty.value(x[self.price > 0])

    def loss_gradient(self, x: Array, rows: IntArray | None = None) -> Array:
        """The gradient without the penalty."""
        if rows is None:
            return self.s * self._sweep(x, slopes=True)[1]
        rows = np.atleast_1d(rows)
        r = self.weights[rows] * self.loss.gradient(self.y[rows], self.margins(x, rows))
        g = self.X[rows].T @ r
        return self._batch_factor(len(rows)) * (np.append(r.sum(), g) if self.intercept else g)

    def gradient(self, x: Array, rows: Any = None) -> Array:
        """The gradient, of all rows or of ``rows``."""
        x = np.asarray(x, dtype=np.float64)
        return self._with_penalty(self.loss_gradient(x, rows), x)

    def _with_penalty(self, g: Array, x: Array) -> Array:
        return g if self.penalty is None else g + self.price * self.penalty.gradient(x)

    def loss_value_gradient(self, x: Array) -> tuple[float, Array]:
        """Value and gradient without the penalty."""
        value, g = self._sweep(x, slopes=True)
        return self.s * value, self.s * g

    def value_gradient(self, x: Array) -> tuple[float, Array]:
        """Value and gradient in one pass."""
        x = np.asarray(x, dtype=np.float64)
        value, g = self.loss_value_gradient(x)
        return value + self._penalty_value(x), self._with_penalty(g, x)

    def hessian(self, x: Array) -> Array:
        """The matrix of second derivatives."""
        x = np.asarray(x, dtype=np.float64)
        b, w = (x[0], x[1:]) if self.intercept else (0.0, x)
        H = self._gram(lambda rows: rows.w * self.loss.curvature(rows.y, rows.X @ w + b))
        if self.penalty is None:
            return H
        return H + np.diag(self.price * self.penalty.curvature(x))

    def _gram(self, weigh: Callable[[Rows], Array]) -> Array:
        """s D' diag(v) D, where ``weigh`` returns v of some rows."""

        def leaf(rows: Rows) -> Array:
            v = weigh(rows)
            V = v[:, None] * rows.X
            G = V.T @ rows.X
            if not self.intercept:
                return G
            sums = V.sum(axis=0)[None]  # the products with the column of ones
            return np.block([[v.sum(), sums], [sums.T, G]])

        rows = Rows(self.X, self.y, self.weights)
        return self.s * reduce_rows(Statistic(leaf, operator.add), rows, map_threads)

    def prox(self, v: Array, t: float) -> Array:
        """The proximal step of the penalty."""
        return v if self.penalty is None else self.penalty.prox(v, t * self.price)

    @property
    def lipschitz(self) -> float | None:  # type: ignore[override]
        """The largest curvature of the smooth part, or None where it has no bound."""
        if not np.isfinite(self.loss.bound):
            return None
        if self._lipschitz is None:
            largest = np.linalg.eigvalsh(self._gram(lambda rows: rows.w))[-1]
            extra = getattr(self.penalty, "bound", 0.0)
            self._lipschitz = float(self.loss.bound * largest + extra)
        return self._lipschitz if np.isfinite(self._lipschitz) else None

    def curvatures(self) -> Array:
        """Bounds of the second derivative of the loss along each coordinate."""
        squares = self.weights @ self.X**2
        total = [self.weights.sum()] if self.intercept else []
        return self.s * self.loss.bound * np.append(total, squares)

    def separated(self, x: Array, *, search: bool = False) -> bool:
        """Whether ``x`` separates the classes, so that no minimum exists."""
        if self.loss.name not in ("logistic", "exponential") or self.penalty is not None:
            return False
        signs = 2 * self.y - 1 if self.loss.name == "logistic" else self.y
        live = self.weights > 0
        if (signs * self.margins(x))[live].min() > 0:
            return True
        few = search and self.X.size <= SEARCH_CELLS
        return few and separable(self.design()[live], signs[live])


def separable(D: Array, signs: Array) -> bool:
    """Whether some w has s_i x_i'w >= 0 for all rows and > 0 for one: a linear program.

    >>> separable(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([-1.0, 1.0]))
    True
    """
    A = signs[:, None] * D / np.maximum(np.abs(D).max(axis=0), np.finfo(np.float64).tiny)
    from scipy.optimize import linprog  # slow to import, and seldom needed

    found = linprog(-A.sum(axis=0), A_ub=-A, b_ub=np.zeros(len(A)), bounds=(-1, 1))
    return bool(found.status == 0 and -found.fun > 1e-7 * len(A) ** 0.5)


def _matrix(X: ArrayLike) -> Array:
    X = np.ascontiguousarray(X, dtype=np.float64)
    X = X[:, None] if X.ndim == 1 else X
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"X must be a matrix with rows and columns, got shape {X.shape}")
    return X
