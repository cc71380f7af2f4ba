r"""Ridge coefficients for a whole range of penalties, from one decomposition.

    w(alpha) = V diag(d/(d^2 + alpha)) U'y,    df = 1 + sum d^2/(d^2 + alpha),
    RSS(alpha) = RSS(0) + sum_j (alpha/(d_j^2 + alpha) beta_j)^2

As alpha grows, |w|^2 falls and RSS rises. Leave-one-out and gcv: ``leave_one_out.py``.
"""

from typing import NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, ArrayLike, Numbers
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.linear.ridge.ridge_cv import RidgeCV, make_problem, rowwise_criterion


class RidgePath(NamedTuple):
    """One column per alpha; with several targets everything but ``df`` has them first."""

    alphas: Array  # (A,)
    coefs: Array  # (p, A), or (k, p, A)
    intercepts: Array  # (A,), or (k, A)
    df: Array  # (A,) tr H, the intercept counted
    budget: Array  # sum of squared coefficients (and of the intercept, if it is shrunk)
    rss: Array
    loocv: Array  # mean squared leave-one-out residual
    gcv: Array


def ridge_path(
    X: ArrayLike,
    y: ArrayLike,
    *,
    alphas: Numbers | None = None,
    fit_intercept: bool = True,
    shrink_intercept: bool = False,
    sample_weight: ArrayLike | None = None,
) -> RidgePath:
    """Ridge for every alpha, with degrees of freedom, leave-one-out and gcv.

    Parameters
    ----------
    X, y : arrays of shape (n, p) and (n,) or (n, k)
        The rows and their target or targets.
    alphas : array-like, optional
        Penalties >= 0, kept in the order given (0 only where the columns are independent).
        Default: 100 of them over the squared singular values.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    shrink_intercept : bool, default=False
        Penalise the intercept too.
    sample_weight : array-like, optional
        Copies of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.linear import ridge_path
    >>> x = np.linspace(1, 5, 15)[:, None]
    >>> path = ridge_path(x, np.exp(x[:, 0]), alphas=[0, 0.1, 1], shrink_intercept=True)
    >>> path.df.round(4), path.loocv.round(3)
    (array([2.    , 1.9519, 1.6616]), array([579.427, 574.75 , 620.265]))
    """
    check.boolean(fit_intercept=fit_intercept, shrink_intercept=shrink_intercept)
    if shrink_intercept and not fit_intercept:
        raise ValueError("shrink_intercept=True needs fit_intercept=True")
    door = RidgeCV(alphas)
    rows = door._open(X, y, sample_weight)
    unknowns = "all" if shrink_intercept else ("centred" if fit_intercept else "slopes")
    total = None if rows.n_rows <= rows.X.shape[1] else door._sums(rows, map_threads)
    if total is None:
        rows = rows._replace(X=to_dense(rows.X))
    problem = make_problem(rows, map_threads, total, rows.X.shape[1], alphas, unknowns)
    both = (rowwise_criterion(problem, svd=False, gcv=g, separate=True) for g in (False, True))
    loocv, gcv = (found.mean for found in both)
    at = problem.map_of()
    with single_threaded_blas():
        r, k, A = at.weights.shape
        coef = np.moveaxis((at.V @ at.weights.reshape(r, k * A)).reshape(-1, k, A), 1, 0)
        at_mean = at.y_mean[:, None] + np.tensordot(at.offset, at.weights, 1)
        intercept = at_mean - np.tensordot(coef, at.mean, (1, 0))  # (k, A)
        budget = (coef**2).sum(axis=1) + (intercept**2 if shrink_intercept else 0.0)
        df = problem.found.factors(problem.alphas).sum(axis=0) + (unknowns == "centred")
        rss = gcv * (1 - df / problem.weight) ** 2 * problem.weight  # gcv's own definition
    many = (coef, intercept, budget, rss, loocv, gcv)
    coef, intercept, *rest = (a[0] for a in many) if rows.y.ndim == 1 else many
    return RidgePath(problem.alphas, coef, intercept, df, *rest)
