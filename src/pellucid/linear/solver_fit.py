r"""Linear regression by a solver object: ``LinearRegression(solver=GradientDescent(...))``.

The solver gets the raw design D = [1 X] (not centred, not scaled), the start 0 and the objective

    (RSS + penalty) / (2 n)        n the sum of the weights

so that its iterates are those of the textbook. ``history_`` has a row per iteration with
``objective`` and ``parameters`` (the intercept first), row 0 being the start. Targets are fitted
one after the other; with several, each row also names its ``target``.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.functions.penalties import L1L2
from pellucid.core.loops.iterate import FitContext, History
from pellucid.core.loops.statistics import Rows
from pellucid.solvers.minimum import Minimum, risen_words
from pellucid.solvers.objective import LinearObjective

ROUTE = "iterative"  # the ``solver_`` of such a fit
NO_ZEROS = "SubgradientDescent"  # never lands on a kink


class LinearDescent(NamedTuple):
    """A linear fit by a solver, k targets."""

    coef: Array  # (p, k)
    intercept: Array  # (k,)
    rss: Array  # (k, k) residual cross-products
    gradient: float  # largest |d_j'r - penalty| / (|d_j| |y|)
    history: History
    n_iter: int
    converged: bool
    reason: str
    sentence: str  # how it went, for the card


def is_solver(value: object) -> bool:
    """Whether ``solver=`` was given an object rather than a word.

    >>> from pellucid.solvers import Newton
    >>> is_solver(Newton()), is_solver("auto")
    (True, False)
    """
    return isinstance(value, BaseEstimator) and hasattr(value, "minimise")


class SolverContext(FitContext):
    """Fit callbacks that see the model as if the fit had stopped at the solver's point."""

    def __init__(self, model: BaseEstimator, rows: Rows, sample_weight: ArrayLike | None) -> None:
        self.done: list[Array] = []  # the parameters of the targets before the current one

        def attributes(state: Any) -> dict[str, Any]:
            if state is None:  # the fit is over
                return {"coef_": model.coef_, "intercept_": model.intercept_}
            if isinstance(state, dict):
                return state
            k = 1 if rows.y.ndim == 1 else rows.y.shape[1]
            later = [np.zeros(len(state.x))] * (k - len(self.done) - 1)
            W = np.array([*self.done, state.x, *later])
            b, coef = (W[:, 0], W[:, 1:]) if model.fit_intercept else (np.zeros(k), W)
            if rows.y.ndim == 1:
                return {"coef_": coef[0], "intercept_": float(b[0])}
            return {"coef_": coef, "intercept_": b}

        data = {"X": rows.X, "y": rows.y, "sample_weight": sample_weight}
        steps = getattr(model.solver, "max_iter", None)
        super().__init__(model, **data, max_steps=steps, attributes=attributes)


def minimise_linear(
    rows: Rows,
    solver: BaseEstimator,
    penalties: list[Any],
    *,
    intercept: bool,
    shrink_intercept: bool = False,
    price: Array | None = None,
    context: FitContext | None = None,
) -> LinearDescent:
    """Minimise RSS/(2n) + penalty for every target with ``solver``.

    Parameters
    ----------
    rows : Rows
        Checked rows in memory; a sparse X is made dense.
    solver : a solver object of ``pellucid.solvers``
    penalties : list
        One of L1, L2, L1L2, Lq or None per target, in the scale of RSS/(2n).
    intercept, shrink_intercept : bool
        Whether there is an intercept, and whether the penalty counts it.
    price : array of shape (p,), optional
        What multiplies the penalty of each coefficient (``penalty_weights``).
    context : FitContext, optional

    Examples
    --------
    >>> from pellucid.solvers import GradientDescent
    >>> rows = Rows(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 4.0]), np.ones(3))
    >>> fit = minimise_linear(rows, GradientDescent(0.1, max_iter=1, tol=None), [None],
    ...                       intercept=True)
    >>> fit.history["parameters"][1].round(7)
    array([0.2333333, 0.3333333])
    """
    X = np.ascontiguousarray(to_dense(rows.X))
    Y = rows.y if rows.y.ndim == 2 else rows.y[:, None]
    k, q = Y.shape[1], X.shape[1] + intercept
    W, found, slopes = np.zeros((q, k)), [], 0.0
    for j in range(k):
        free = (0,) if intercept and not shrink_intercept else ()
        how = {"penalty": penalties[j], "scale": "half_mean", "unpenalised": free}
        f = LinearObjective(X, Y[:, j], **how, intercept=intercept, sample_weight=rows.w)
        if price is not None:
            f.price[intercept:] *= price
        task = context.subtask(f"target {j}", None) if context is not None and k > 1 else context
        best = solver.minimise(f, "zeros", context=task)
        if k > 1 and task is not None:
            task.end(best)
        W[:, j] = best.x
        found.append(best)
        if isinstance(context, SolverContext) and k > 1:
            context.done.append(best.x)
        slopes = max(slopes, relative_gradient(f, best.x))
    E = Y - X @ W[intercept:] - (W[0] if intercept else 0.0)
    converged = all(best.converged for best in found)
    reasons = [best.reason for best in found if not best.converged] or ["converged"]
    place = W[intercept:], W[0] if intercept else np.zeros(k), E.T @ (rows.w[:, None] * E), slopes
    rounds = max(max(best.n_iter for best in found), 1)
    text = describe(solver, found, penalties[0])
    return LinearDescent(*place, join_histories(found), rounds, converged, reasons[0], text)


def fit_iterative_lasso(
    rows: Rows, solver: BaseEstimator, alpha: float, l1_ratio: float = 1.0, **options: Any
) -> LinearDescent:
    """Lasso (l1_ratio=1) or elastic net by a solver object, in scikit-learn's scale.

    RSS/(2n) + alpha r sum |w| + alpha (1 - r)/2 sum w^2. ProximalGradient and CoordinateDescent
    give exact zeros; SubgradientDescent and GradientDescent never do. ``options`` are those of
    ``minimise_linear``.

    >>> from pellucid.solvers import CoordinateDescent
    >>> rows = Rows(np.array([[-1.0], [0.0], [1.0]]), np.array([1.0, 2.0, 4.0]), np.ones(3))
    >>> fit_iterative_lasso(rows, CoordinateDescent(), 0.5, intercept=True).coef.ravel().round(6)
    array([0.75])
    """
    k = 1 if rows.y.ndim == 1 else rows.y.shape[1]
    penalty = L1L2(alpha * l1_ratio, alpha * (1 - l1_ratio) / 2)
    return minimise_linear(rows, solver, [penalty] * k, **options)


def relative_gradient(f: LinearObjective, w: Array) -> float:
    """The largest entry of the gradient of RSS + penalty over 2, relative to |d_j| |y|."""
    norms = np.sqrt(f.weights @ f.X**2)
    norms = np.append([np.sqrt(f.weights.sum())] if f.intercept else [], norms)
    scale = norms * np.sqrt(f.weights @ f.y**2)
    slope = np.abs(f.gradient(w)) * f.weights.sum()
    return float((slope / np.where(scale > 0, scale, 1.0)).max(initial=0.0))


def join_histories(found: list[Minimum]) -> History:
    """The rows of all targets, with the common names of an estimator's history."""
    rows = []
    for j, best in enumerate(found):
        for row in best.history:
            row = dict(row)
            named = {"step": row.pop("step"), "objective": row.pop("value")}
            named["parameters"] = row.pop("x")
            if len(found) > 1:
                named["target"] = j
            rows.append({**named, **row})
    return History(rows)


def telling(found: list[Minimum]) -> Minimum:
    """The run of several to speak of: one that ended badly, else the last."""
    badly = [one for one in found if risen_words(one) or one.reason == "diverged"]
    badly = badly or [one for one in found if not one.converged]
    return badly[0] if badly else found[-1]


def describe(solver: BaseEstimator, found: list[Minimum], penalty: Any) -> str:
    """One sentence about the run of a solver."""
    name, last = type(solver).__name__, telling(found)
    text = f"{name}: {last.reason} after {last.n_iter} iterations ({last.n_updates} updates), "
    text += "O(n p) each against O(n p^2 + p^3) once for the closed form; "
    text += "; ".join(part for part in (risen_words(last), str(last.certificate)) if part)
    if getattr(penalty, "l1", 0.0) and name in (NO_ZEROS, "GradientDescent"):
        text += "; it never reaches exact zeros (ProximalGradient and CoordinateDescent do)"
    return text
