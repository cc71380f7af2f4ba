r"""The hinge loss of a linear score, with its subgradient.

    R(w, b) = alpha/2 |w|^2 + (1/n) sum_i max(0, 1 - y_i (w.x_i + b)),      y = -1 or +1

R is convex with a kink where y f = 1; the subgradient takes the row as loss-free there. The step
w - eta dR/dw on one row is that of the large-scale support vector machine by stochastic
subgradients, ``SGDClassifier(loss="hinge")``.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable


@readable
class HingeRisk(NamedTuple):
    """Value and subgradient of the regularised mean hinge loss.

    >>> HingeRisk(1.0, np.zeros(2), 0.0).value
    1.0
    """

    value: float  # of the risk R
    coef_subgradient: Array  # (p,)
    intercept_subgradient: float  # of the intercept b


def hinge_risk(
    coef: ArrayLike, intercept: float, X: ArrayLike, y: ArrayLike, alpha: float
) -> HingeRisk:
    """alpha/2 |w|^2 + mean hinge loss at (coef, intercept), with a subgradient.

    Parameters
    ----------
    coef, intercept : array-like of shape (n_features,) and float
        w and b of the score w.x + b.
    X, y : array-like of shape (n_samples, n_features) and labels -1 and +1
        The rows.
    alpha : float
        Strength of the penalty, >= 0.

    Examples
    --------
    >>> hinge_risk((0.5, -0.5), 0.0, [[1, 2]], [1], 0.1)
    HingeRisk(value=1.525, coef_subgradient=array([-0.95, -2.05]), intercept_subgradient=-1.0)
    """
    check.non_negative(alpha=alpha)
    w = np.asarray(coef, dtype=np.float64).ravel()
    rows: Any = np.atleast_2d(np.asarray(X, dtype=np.float64))
    labels = np.asarray(y, dtype=np.float64).ravel()
    if rows.shape != (len(labels), len(w)) or len(labels) == 0:
        given = f"{len(labels)} labels and {len(w)} coefficients"
        raise ValueError(f"X has shape {rows.shape}, which does not fit {given}")
    if not np.isin(labels, (-1.0, 1.0)).all():
        raise ValueError("hinge_risk needs labels -1 and +1 in y")
    if not (np.isfinite(rows).all() and np.isfinite(w).all() and np.isfinite(intercept)):
        raise ValueError("hinge_risk needs finite numbers in coef, intercept and X")
    short = 1.0 - labels * (rows @ w + intercept)
    q = np.where(short > 0, labels, 0.0) / len(labels)
    value = 0.5 * alpha * float(w @ w) + float(np.maximum(short, 0.0).mean())
    return HingeRisk(value, alpha * w - rows.T @ q, -float(q.sum()))
