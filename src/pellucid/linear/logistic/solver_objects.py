r"""Logistic regression by a solver object: ``LogisticRegression(solver=GradientDescent(...))``.

The solver gets the raw design [1 X], the start 0 (or ``coef_init``) and the objective

    (1/N) sum_i w_i loss_i + P(W)/(C N),     P = (1 - r)/2 |W|^2 + r |W|_1,   N = sum w

so that its iterates are those of the textbook: the summed gradient with rate e is
``GradientDescent(e * n)``. For K > 2 classes the parameters are those of class 0, then class 1, ...
"""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.functions.penalties import L1L2
from pellucid.core.loops.iterate import History
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.linear.logistic.sums import PIECE, softmax_curvature
from pellucid.solvers.objective import LinearObjective, Objective, shortest


class LogisticObjective(LinearObjective):
    """Two classes; whether they are separated is looked at by the estimator."""

    def separated(self, x: Array, *, search: bool = False) -> bool:
        return False


class SoftmaxObjective(Objective):
    """The mean softmax loss of K classes and a penalty.

    >>> f = SoftmaxObjective(np.ones((2, 1)), np.array([0, 1]), 3, np.ones(2), None, True, False)
    >>> round(f.value(np.zeros(6)), 6), f.gradient(np.zeros(6))[:2].round(4)
    (1.098612, array([-0.1667, -0.1667]))
    """

    convex = True
    twice = True

    def __init__(
        self,
        X: Array,
        codes: IntArray,
        n_classes: int,
        w: Array,
        penalty: L1L2 | None,
        intercept: bool,
        shrink_intercept: bool,
    ) -> None:
        n, p = X.shape
        self.D = np.column_stack([np.ones(n), X]) if intercept else X
        self.codes, self.w, self.K = codes, np.array(w, dtype=np.float64), n_classes
        self.q = p + intercept
        self.size, self.n_samples, self.total = n_classes * self.q, n, float(self.w.sum())
        self.penalty, self.smooth = penalty, penalty is None or penalty.smooth
        self.price = np.ones((n_classes, self.q))
        if intercept and not shrink_intercept:
            self.price[:, 0] = 0.0
        self.price = self.price.ravel()

    def _part(self, x: Array, rows: Any) -> tuple[float, Array, Array]:
        """sum w loss, its slope (K, q) and the probabilities of some rows."""
        D, c, w = self.D[rows], self.codes[rows], self.w[rows]
        Z = D @ x.reshape(self.K, self.q).T
        Z -= Z.max(axis=1, keepdims=True)
        E = np.exp(Z)
        total = E.sum(axis=1)
        own = np.arange(len(c)), c
        loss = float(w @ (np.log(total) - Z[own]))
        P = E / total[:, None]
        R = P.copy()
        R[own] -= 1.0
        return loss, (w[:, None] * R).T @ D, P

    def loss_value_gradient(self, x: Array) -> tuple[float, Array]:
        pieces = [slice(s, s + PIECE) for s in range(0, len(self.D), PIECE)]
        parts = list(map_threads(lambda rows: self._part(x, rows)[:2], pieces))
        value = sum(part[0] for part in parts)
        return value / self.total, np.sum([part[1] for part in parts], axis=0).ravel() / self.total

    def value(self, x: Array, rows: np.ndarray | None = None) -> float:
        if rows is None:
            found = self.loss_value_gradient(x)[0]
        else:
            rows = np.atleast_1d(rows)
            found = self._part(x, rows)[0] * len(self.D) / (len(rows) * self.total)
        return found + self._penalty_value(x)

    def _penalty_value(self, x: Array) -> float:
        return 0.0 if self.penalty is None else self.penalty.value(x[self.price > 0])

    def loss_gradient(self, x: Array, rows: np.ndarray | None = None) -> Array:
        if rows is None:
            return self.loss_value_gradient(x)[1]
        rows = np.atleast_1d(rows)
        return self._part(x, rows)[1].ravel() * len(self.D) / (len(rows) * self.total)

    def gradient(self, x: Array, rows: np.ndarray | None = None) -> Array:
        g = self.loss_gradient(x, rows)
        return g if self.penalty is None else g + self.price * self.penalty.gradient(x)

    def value_gradient(self, x: Array) -> tuple[float, Array]:
        value, g = self.loss_value_gradient(x)
        if self.penalty is None:
            return value, g
        return value + self._penalty_value(x), g + self.price * self.penalty.gradient(x)

    def hessian(self, x: Array) -> Array:
        H = np.zeros((self.K * self.q, self.K * self.q))
        with single_threaded_blas():
            for s in range(0, len(self.D), PIECE):
                rows = slice(s, s + PIECE)
                root = np.sqrt(self.w[rows])[:, None]
                H += softmax_curvature(root * self.D[rows], self._part(x, rows)[2])
        H /= self.total
        if self.penalty is not None:
            H += np.diag(self.price * self.penalty.curvature(x))
        return H

    def prox(self, v: Array, t: float) -> Array:
        return v if self.penalty is None else self.penalty.prox(v, t * self.price)

    def optimality(self, x: Array) -> float:
        return float(np.linalg.norm(shortest(self.loss_gradient(x), x, self.penalty, self.price)))

    @property
    def lipschitz(self) -> float | None:  # type: ignore[override]
        """diag p - pp' is at most 1/2, so half the largest curvature of the design."""
        with single_threaded_blas():
            G = self.D.T @ (self.w[:, None] * self.D) / self.total
        bound = 0.5 * float(np.linalg.eigvalsh(G)[-1]) + getattr(self.penalty, "bound", 0.0)
        return bound if np.isfinite(bound) else None

    def curvatures(self) -> Array:
        """Bounds of the second derivative of the loss along each coordinate."""
        return np.tile(0.25 * (self.w @ self.D**2) / self.total, self.K)


def make_objective(
    data: tuple[Array, IntArray, int, Array], penalty: L1L2 | None, intercept: bool, shrink: bool
) -> Objective:
    """The objective of two classes (parameters of the log-odds) or of more: X, codes, K, w."""
    X, codes, n_classes, w = data
    if n_classes > 2:
        return SoftmaxObjective(*data, penalty, intercept, shrink)
    free = (0,) if intercept and not shrink else ()
    y = (codes == 1).astype(np.float64)
    how: dict[str, Any] = {"intercept": intercept, "sample_weight": w}
    return LogisticObjective(X, y, "logistic", penalty, "mean", free, **how)


def named_history(history: History, n_scores: int) -> History:
    """The solver's rows with the names of an estimator's history."""
    rows = []
    for row in map(dict, history):
        x = row.pop("x")
        named = {"step": row.pop("step"), "objective": row.pop("value")}
        named["parameters"] = x if n_scores == 1 else x.reshape(n_scores, -1)
        rows.append({**named, **row})
    return History(rows)
