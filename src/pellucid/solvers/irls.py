r"""Iteratively reweighted least squares: Newton's method for a linear model, one step at a time.

    v_i = l''(y_i, f_i),   z_i = f_i - l'(y_i, f_i) / v_i,   f = X b
    b_new = argmin sum v_i (z_i - x_i'b)^2 = b - (X'VX)^-1 X'l'

Reference: McCullagh & Nelder, Generalized Linear Models, section 2.5; ESL, section 4.4.1.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.functions.losses import get_loss
from pellucid.core.runtime.warn import warn
from pellucid.solvers.minimum import SeparationWarning

VANISHED = 1e-10  # weights below this say nothing any more


class IRLSStep(NamedTuple):
    """The new coefficients, the working response and weights they solve, and the loss there."""

    coef: Array
    working_response: Array
    weights: Array
    value: float


def irls_step(
    X: ArrayLike, y: ArrayLike, coef: ArrayLike, loss: Any = "logistic", damping: float = 0.0
) -> IRLSStep:
    """One step of iteratively reweighted least squares from ``coef``.

    Parameters
    ----------
    X : array of shape (n, p)
        With a column of ones where the model has an intercept.
    y : array of shape (n,)
        Targets.
    coef : array of shape (p,)
    loss : str, default="logistic"
        A loss with a second derivative: logistic (y in {0, 1}), poisson, squared, huber...
    damping : float, default=0.0
        Added to the diagonal of X'VX.

    Examples
    --------
    >>> from pellucid.solvers import irls_step
    >>> X = np.column_stack([np.ones(6), np.arange(6)])
    >>> irls_step(X, [0, 0, 1, 0, 1, 1], [0.0, 0.0]).coef.round(6)
    array([-2. ,  0.8])
    """
    check.non_negative(damping=damping)
    X, y, b = (np.asarray(a, dtype=np.float64) for a in (X, y, coef))
    chosen = get_loss(loss)
    chosen.check_target(y)
    f = X @ b
    v, slope = chosen.curvature(y, f), chosen.gradient(y, f)
    live = v > 0
    z = np.where(live, f - slope / np.where(live, v, 1.0), f)
    if v.max(initial=0.0) < VANISHED:
        why = "the classes are separated and the coefficients run to infinity (remedy: a penalty)"
        warn(f"every working weight vanishes: {why}", SeparationWarning)
    root = np.sqrt(v[live])
    rows, right = root[:, None] * X[live], -slope[live] / root
    if damping > 0:
        rows = np.vstack([rows, np.sqrt(damping) * np.eye(X.shape[1])])
        right = np.append(right, np.zeros(X.shape[1]))
    new = b + np.linalg.lstsq(rows, right, rcond=None)[0] if len(rows) else b.copy()
    return IRLSStep(new, z, v, float(chosen.value(y, X @ new).sum()))
