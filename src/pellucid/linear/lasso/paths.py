r"""The lasso and the elastic net for a whole grid of alphas.

The grid falls from alpha_max, the smallest alpha at which every coefficient is zero,

    alpha_max = max_j |x_j'y| / (n r v_j),

to eps alpha_max in equal ratios. Each point starts where the last two point to: the path is
piecewise linear in alpha, so a straight line through them is right until the support changes. From
the moments one compiled call does the whole grid; from the rows, working sets by the strong rule,
every point certified over all columns (``penalised_rows``).

As in scikit-learn, the paths fit no intercept: centre X and y, or use LassoCV and ElasticNetCV.

References: Friedman, Hastie & Tibshirani (2010); Tibshirani et al. (2012), Strong rules.
"""

from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_consistent_length

from pellucid.core.algebra.least_squares import finite, joint_moments
from pellucid.core.arrays import check
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.core.loops.iterate import ConvergenceWarning
from pellucid.core.loops.statistics import Rows, unit_weights
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.linear.lasso.budget_search import EXACT, Problem
from pellucid.linear.lasso.fit import MANY_COLUMNS
from pellucid.linear.lasso.rows import RowsProblem
from pellucid.linear.lasso.sums import PathFit, SumsProblem
from pellucid.linear.penalty_scales import check_share

TINY = float(np.finfo(np.float64).resolution)  # scikit-learn's alpha where y is 0


def alpha_grid(problem: Problem, t: int, l1_ratio: float, eps: float, count: int) -> Array:
    """Alphas in equal ratios from alpha_max to eps alpha_max."""
    if l1_ratio == 0:
        raise ValueError(
            "Automatic alpha grid generation is not supported for l1_ratio=0. Please supply a grid "
            "by providing your estimator with the appropriate `alphas=` argument."
        )
    top = float(problem.scores(problem.target(t)).max(initial=0.0)) / (problem.n * l1_ratio)
    if top <= TINY:
        return np.full(count, TINY)
    return np.geomspace(top, top * eps, num=count)


def check_alphas(alphas: int | ArrayLike) -> Any:
    """A number of alphas, or alphas >= 0 in falling order."""
    if isinstance(alphas, Integral):
        check.whole(alphas=alphas)
        return int(alphas)
    message = f"alphas must be a whole number >= 1 or numbers >= 0, got {alphas!r}"
    try:
        found = np.asarray(alphas, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(message) from None
    if found.ndim != 1 or len(found) == 0 or not (np.isfinite(found) & (found >= 0)).all():
        raise ValueError(message)
    return np.sort(found)[::-1]


def solve_path(
    problem: Problem,
    t: int,
    alphas: Array,
    l1_ratio: float,
    *,
    tol: float,
    max_iter: int,
    start: Array | None = None,
) -> PathFit:
    """The engine: one target, all alphas (falling)."""
    n, m = problem.n, len(problem.columns)
    l1, l2 = n * alphas * l1_ratio, n * alphas * (1 - l1_ratio)
    start = np.zeros(m) if start is None else start
    tol = max(tol, EXACT)
    live = l1 > 0
    parts = []
    if live.any():
        sweeps = min(100 * max_iter, check.LARGEST_WHOLE)
        limits: dict[str, Any] = {"tol": tol, "max_sweeps": sweeps}
        parts.append(problem.path(t, l1[live], l2[live], start=start, **limits))
    for a in alphas[~live]:  # no L1 penalty: ridge, or least squares at alpha = 0
        if a > 0:
            state = problem.ridge(t, n * a * (1 - l1_ratio))
            w, gap = state.w, state.gap
        else:
            w, gap = problem.least_squares(t)[0], 0.0
        parts.append(PathFit(w[None, :], np.array([gap]), np.ones(1, np.intp)))
    found = PathFit(*(np.concatenate([part[i] for part in parts]) for i in range(3)))
    late = np.flatnonzero(found.gaps > tol * problem.yy[t])
    if len(late):
        where = f"no convergence in max_iter={max_iter} at {len(late)} of {len(alphas)} alphas"
        worst = found.gaps[late].max() / problem.yy[t]
        warn(f"{where}: the largest gap is {worst:.3g} y'y > tol={tol:g}", ConvergenceWarning)
    return found


def path_problem(X: Any, Y: Array, positive: bool) -> Problem:
    """The problem of a path without an intercept: rows in memory, or blocks of a file."""
    blocks = hasattr(X, "spans")
    n, p = (X.n_rows, X.n_features) if blocks else X.shape
    kinds = {"weights": np.ones(p), "positive": np.full(p, positive)}
    if blocks:
        return SumsProblem(joint_moments(X, map_threads), p, unknowns="slopes", **kinds)
    if n > p and p <= MANY_COLUMNS:
        with single_threaded_blas(), np.errstate(all="ignore"):
            total = joint_moments(Rows(X, Y, unit_weights(n)), map_threads)
        if not finite(total):
            raise ValueError("the squares of X or y overflow float64; scale the columns down")
        return SumsProblem(total, p, unknowns="slopes", **kinds)
    return RowsProblem(X, Y, unit_weights(n), unknowns="slopes", **kinds)


def enet_path(
    X: Any,
    y: Any = None,
    *,
    l1_ratio: float = 0.5,
    eps: float = 1e-3,
    alphas: Any = 100,
    precompute: bool | str | ArrayLike = "auto",
    Xy: ArrayLike | None = None,
    copy_X: bool = True,
    coef_init: ArrayLike | None = None,
    verbose: bool = False,
    return_n_iter: bool = False,
    positive: bool = False,
    check_input: bool = True,
    tol: float = 1e-4,
    max_iter: int = 1000,
    selection: str = "cyclic",
    random_state: Seed = None,
) -> Any:
    """Elastic-net coefficients for a grid of alphas, without an intercept.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, p), or ``pellucid.data.blocks(..., target=...)``
        Blocks are read once, whatever the number of alphas; y is then their target.
    y : array of shape (n,) or (n, k)
        The target or targets.
    l1_ratio : float, default=0.5
        Share of the L1 penalty, 0 to 1.
    eps : float, default=1e-3
        alpha_min / alpha_max of the grid.
    alphas : int or array, default=100
        Number of alphas, or the alphas themselves (used in falling order).
    coef_init : array of shape (p,) or (k, p), default=None
        Coefficients to start from.
    return_n_iter : bool, default=False
        Also return the coordinate sweeps at each alpha.
    positive : bool, default=False
        Coefficients >= 0.
    tol : float, default=1e-4
        Each duality gap may be at most tol y'y.
    max_iter : int, default=1000
        Limit of the work at each alpha, in units of 100 sweeps.
    precompute, Xy, copy_X, verbose, check_input, selection, random_state
        Accepted for scikit-learn's sake, without effect.

    Returns
    -------
    alphas (L,), coefs (p, L) or (k, p, L), dual_gaps (L,) or (k, L), and the sweeps if asked for

    Examples
    --------
    >>> from pellucid.linear import enet_path
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, -1.0, 0.5]
    >>> alphas, coefs, gaps = enet_path(X, y, alphas=[0.5, 0.1])
    >>> coefs.round(4)
    array([[ 0.2762,  0.8977],
           [-0.0095, -0.5803]])
    """
    check.whole(max_iter=max_iter)
    check.positive(eps=eps)
    check.non_negative(tol=tol)
    check_share(l1_ratio=l1_ratio)
    check.boolean(positive=positive, return_n_iter=return_n_iter)
    check.one_of(("cyclic", "random"), selection=selection)
    generator(random_state)
    alphas = check_alphas(alphas)
    one = True
    if not hasattr(X, "spans"):
        X = check_array(X, accept_sparse="csc", dtype=np.float64)
        X = X if issparse(X) or X.flags.f_contiguous else np.ascontiguousarray(X)
        y = check_array(y, dtype=np.float64, ensure_2d=False)
        check_consistent_length(X, y)
        one = y.ndim == 1
        y = y[:, None] if one else y
    problem = path_problem(X, y, positive)
    count = problem.Q.shape[1]
    if isinstance(alphas, int):
        grids = [alpha_grid(problem, t, l1_ratio, eps, alphas) for t in range(count)]
        alphas = max(grids, key=lambda grid: grid[0])  # one grid for all targets
    first = np.zeros((count, problem.p)) if coef_init is None else np.atleast_2d(coef_init)
    starts = [np.array(first[t], dtype=np.float64) for t in range(count)]
    how: dict[str, Any] = {"tol": tol, "max_iter": max_iter}
    pairs = enumerate(starts)
    fits = [solve_path(problem, t, alphas, l1_ratio, start=start, **how) for t, start in pairs]
    coefs = np.array([fit.coefs.T for fit in fits])  # (k, p, L)
    gaps = np.array([fit.gaps for fit in fits]) / problem.n
    sweeps = [fit.sweeps.tolist() for fit in fits]
    if one:
        coefs, gaps, sweeps = coefs[0], gaps[0], sweeps[0]
    return (alphas, coefs, gaps, sweeps) if return_n_iter else (alphas, coefs, gaps)


def lasso_path(
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    eps: float = 1e-3,
    alphas: int | ArrayLike = 100,
    **options: Any,
) -> Any:
    """Lasso coefficients for a grid of alphas, without an intercept: ``enet_path`` with r = 1.

    Returns scikit-learn's (alphas, coefs, dual_gaps); ``X``, ``y``, ``eps``, ``alphas`` and the
    other ``options`` are those of ``enet_path``.

    Examples
    --------
    >>> from pellucid.linear import lasso_path
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, -1.0, 0.5]
    >>> alphas, coefs, gaps = lasso_path(X, y, alphas=3, eps=0.1)
    >>> alphas.round(4), coefs.round(4)
    (array([0.5   , 0.1581, 0.05  ]), array([[ 0.    ,  0.6921,  1.0165],
           [ 0.    , -0.3589, -0.6833]]))
    """
    if "l1_ratio" in options:
        raise TypeError("lasso_path has no l1_ratio: use enet_path")
    return enet_path(X, y, l1_ratio=1.0, eps=eps, alphas=alphas, **options)
