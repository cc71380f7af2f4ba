r"""Least squares and ridge on a sparse table too large for its cells or its cross-products.

Objective    |y - b - X w|^2 + alpha |w|^2,  the intercept b free
Algorithm    LSQR (``core.algebra.lsqr``) on the centred columns, which are never written down
             (``core.algebra.shifted``); with a penalty on [Z; sqrt(alpha) I] D, D the inverse roots
             of its column squares: one product with X and one with X' a step
Memory       a few vectors of n + p numbers
Certificate  largest |x_j'r - alpha w_j| / (|x_j| |y|), computed anew at the end
Without a penalty dependent columns get the solution of least norm. Nothing of the size p x p is
known, so there are no standard errors, no hat matrix, no degrees of freedom.

Reference: Paige & Saunders (1982).
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from pellucid.core.algebra import lsqr
from pellucid.core.algebra.shifted import Shifted
from pellucid.core.arrays.sparse import column_spread
from pellucid.core.arrays.typing import Array
from pellucid.core.loops.iterate import FitContext, History, Iteration, iterate
from pellucid.core.loops.statistics import Rows, Source, is_unit
from pellucid.linear.least_squares.smoother import Smoother
from pellucid.linear.linear_model import SPARSE_COLUMNS

CELLS = 1 << 24  # cells of a sparse X with no more rows than columns that are written out
STEPS = 10_000  # at most, unless max_iter says otherwise
ROUTE = "lsqr"  # the ``solver_`` of such a fit
REASON = "LSQR on the sparse X, which is not written out"


class LargeFit(NamedTuple):
    """A linear fit without inference; k targets."""

    coef: Array  # (p, k)
    intercept: Array  # (k,)
    rss: Array  # (k, k) residual cross-products
    tss: Array  # (k,) squares of y about its mean
    gradient: float
    condition: float  # estimated from below
    weight: float
    history: History
    n_iter: int


def is_large(rows: Source) -> bool:
    """Whether the exact ways would write out too much of a sparse X."""
    if not (isinstance(rows, Rows) and issparse(rows.X)):
        return False
    n, p = rows.X.shape
    return n * p > CELLS if n <= p else p > SPARSE_COLUMNS


def why_not(p: int) -> str:
    """Why such a fit has no inference, for errors and cards."""
    return f"the inverse of X'X ({p} x {p}) is not formed for a sparse X of this size"


def no_smoother(p: int, *, intercept: bool) -> Smoother:
    """The hat matrix that is not known, with the reason."""
    q = p + intercept
    return Smoother(np.zeros(p), intercept, np.zeros((q, 0)), np.zeros(0), why_not(p))


def fit_large(
    rows: Rows,
    alpha: Array,
    *,
    intercept: bool,
    tol: float,
    max_iter: int,
    name: str,
    context: FitContext | None = None,
) -> LargeFit:
    """Fit every target of ``rows`` with its penalty ``alpha`` (k,).

    >>> from scipy.sparse import csr_array
    >>> X = csr_array([[0.0], [1.0], [2.0]])
    >>> fit = fit_large(Rows(X, np.array([1.0, 2.0, 4.0]), np.ones(3)), np.array([1.0]),
    ...                 intercept=True, tol=1e-12, max_iter=10, name="Ridge")
    >>> fit.coef.round(9), fit.intercept.round(6)
    (array([[1.]]), array([1.333333]))
    """
    X, w, p = rows.X, rows.w, rows.X.shape[1]
    Y = rows.y if rows.y.ndim == 2 else rows.y[:, None]
    spread = column_spread(X, w)
    mean, y_mean = spread.mean, w @ Y / spread.weight
    squares = spread.squares
    if not intercept:
        squares = squares + spread.weight * mean**2
        mean, y_mean = np.zeros(p), np.zeros(Y.shape[1])
    if not (np.isfinite(squares).all() and np.isfinite(w @ Y**2).all()):
        raise ValueError("the squares of X or y overflow float64; scale the columns down")
    Z = Shifted(X, mean, np.ones(p), w)
    V = Y - y_mean if is_unit(w) else (Y - y_mean) * np.sqrt(w)[:, None]
    runs = []
    coef = np.zeros((p, Y.shape[1]))
    for j, a in enumerate(alpha):
        task = context
        if context is not None and len(alpha) > 1:
            task = context.subtask(f"target {j}", max_iter)
        run, coef[:, j] = solve_target(Z, V[:, j], float(a), squares, tol, max_iter, name, task)
        if task is not None and len(alpha) > 1:
            task.end(run.state)
        runs.append(run)
    E = V - Z.times(coef)
    slope = np.abs(Z.transposed_times(E) - alpha * coef)
    scale = np.sqrt(np.outer(squares, (V**2).sum(axis=0)))
    gradient = float((slope / np.where(scale > 0, scale, 1.0)).max(initial=0.0))
    condition = max(run.state.condition for run in runs)
    place = coef, y_mean - mean @ coef, E.T @ E, (V**2).sum(axis=0), gradient, condition
    return LargeFit(*place, spread.weight, joined(runs), max(1, *(run.n_iter for run in runs)))


def solve_target(
    Z: Shifted,
    b: Array,
    alpha: float,
    squares: Array,
    tol: float,
    max_iter: int,
    name: str,
    context: FitContext | None,
) -> tuple[Iteration, Array]:
    """LSQR for one target, and its coefficients."""
    n, p = Z.X.shape
    unit, root = np.ones(p), np.sqrt(alpha)
    if alpha > 0:
        unit = 1 / np.sqrt(squares + alpha)
        b = np.append(b, np.zeros(p))

    def times(v: Array) -> Array:
        d = unit * v
        return np.append(Z.times(d), root * d) if alpha > 0 else Z.times(d)

    def transposed(u: Array) -> Array:
        back = Z.transposed_times(u[:n])
        return unit * (back + root * u[n:]) if alpha > 0 else back

    start = lsqr.start(b, transposed, p)
    step = partial(lsqr.step, times, transposed, float(np.linalg.norm(b)))
    run = iterate(
        step,
        start,
        max_iter=max_iter,
        tol=tol,
        record=lambda state: {"objective": state.objective},
        name=name,
        context=context,
    )
    return run, unit * run.state.x


def joined(runs: list[Iteration]) -> History:
    """The rows of all targets."""
    if len(runs) == 1:
        return runs[0].history
    return History([{**row, "target": j} for j, run in enumerate(runs) for row in run.history])


def sentence(fit: LargeFit) -> str:
    """How it went, for the card."""
    return f"{REASON}: {fit.n_iter} steps (condition at least {fit.condition:.3g})"


def shared_attributes(model: Any, rows: Rows, fit: LargeFit) -> dict[str, Any]:
    """What least squares and ridge both leave behind; ``df_`` and ``sigma2_`` are not known."""
    single = fit.coef.shape[1] == 1 and rows.y.ndim == 1
    squares = np.maximum(np.diag(fit.rss), 0.0)
    p, k = fit.coef.shape
    unknown = np.nan if single else np.full(k, np.nan)
    intercept = float(fit.intercept[0]) if single else fit.intercept
    return {
        "coef_": fit.coef[:, 0] if single else np.ascontiguousarray(fit.coef.T),
        "intercept_": intercept if model.fit_intercept else 0.0,
        "rss_": float(squares[0]) if single else squares,
        "sigma2_ml_": float(squares[0] / fit.weight) if single else squares / fit.weight,
        "sigma2_": unknown,
        "df_": np.nan,
        "n_observations_": fit.weight,
        "condition_": fit.condition,
        "gradient_": fit.gradient,
        "solver_": ROUTE,
        "history_": fit.history,
        "n_iter_": fit.n_iter,
        "_iterative": sentence(fit),
        "_dependent": (),
        "_shape": (rows.n_rows, p),
        "_smoother": no_smoother(p, intercept=model.fit_intercept),
    }
