r"""Logistic regression for a whole grid of C.

The grid rises from the C at which the first weight enters. With every weight zero the best
intercept makes p the shares of the classes, and a weight stays zero while |x_j'(p - y)| <= r/C, so

    C_first = r / max_jk |sum_i v_i x_ij (p_ik - y_ik)|            r = l1_ratio

to C_first/eps in equal ratios (r = 0 has no such C: r = 0.001 stands in for it, as in glmnet).
Each point starts at the one before it; only columns whose gradient exceeds r/C less a quarter of
its fall take part at first (the strong rule takes all of the fall; few of those ever enter), and
every point is certified over all columns.

References: Friedman, Hastie & Tibshirani (2010); Tibshirani et al. (2012), Strong rules.
"""

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from pellucid.base import check_labels, check_weights, encode_labels
from pellucid.core.arrays import check
from pellucid.core.arrays.frames import frame_matrix, is_frame
from pellucid.core.arrays.reading import check_form
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.loops.iterate import ConvergenceWarning
from pellucid.core.runtime.warn import warn
from pellucid.linear.logistic.proximal import ProximalNewton, State, relative_gap
from pellucid.linear.logistic.ridge_paths import fit_ridge_path
from pellucid.linear.penalty_scales import check_share

STRONG = 0.25  # share of the fall of r/C by which a gradient is expected to grow at most
RIDGE_SHARE = 1e-3  # the l1_ratio that stands in for 0 when a grid is made

Data = tuple[Any, IntArray, int, Array]  # X, codes of the classes, how many, weights


class LogisticPath(NamedTuple):
    """Coefficients along a grid of C; unpacks as (Cs, coefs, intercepts, gaps, n_iter)."""

    Cs: Array  # (L,) rising
    coefs: Array  # (L, p), or (L, K, p) for K > 2 classes
    intercepts: Array  # (L,) or (L, K)
    gaps: Array  # (L,) how far the objective is from its minimum, at most
    n_iter: IntArray  # (L,) rounds


def make_grid(problem: ProximalNewton, l1_ratio: float, count: int, eps: float) -> Array:
    """C in equal ratios from the smallest with a weight that is not zero to 1/eps times it."""
    largest = float(np.abs(problem.begin().gradient).max(initial=0.0))
    varies = largest > 1e-12 * problem.scale  # else every C gives the same fit
    low = max(l1_ratio, RIDGE_SHARE) / largest if varies else 1.0
    return np.geomspace(low, low / eps, count)


def solve_path(
    problem: ProximalNewton, Cs: Array, l1_ratio: float, *, tol: float, max_iter: int
) -> tuple[list[tuple[Array, Array]], Array, IntArray]:
    """Weights at every C (rising), relative gaps and rounds."""
    target = relative_gap(tol)
    found, gaps, rounds, before = [], np.empty(len(Cs)), np.zeros(len(Cs), np.intp), np.inf
    state: State | None = None
    for i, C in enumerate(Cs):
        problem.penalise(float(C), l1_ratio, target)
        state = problem.begin() if state is None else problem.again(state)
        fall = before - problem.l1 if np.isfinite(before) else 0.0
        problem.look = max(problem.l1 - STRONG * fall, 0.0)
        before, gap = problem.l1, state.gap / problem.scale
        while gap > target and rounds[i] < max_iter:
            state, gap = problem.step(state)
            rounds[i] += 1
        found.append(problem.weights(state))
        gaps[i] = gap
    return found, gaps, rounds


def ridge_points(
    problem: ProximalNewton, data: Data, Cs: Array, tol: float, max_iter: int
) -> tuple[list[tuple[Array, Array]], Array, IntArray]:
    """Without an L1 penalty: Newton's path, certified by the same gaps."""
    how: dict[str, Any] = {"fit_intercept": problem.free, "tol": tol, "max_iter": max_iter}
    path = fit_ridge_path(*data, Cs, **how)
    gaps = np.empty(len(Cs))
    for i, C in enumerate(Cs):
        problem.penalise(float(C), 0.0, relative_gap(tol))
        gaps[i] = problem.begin(path.coefs[i], path.intercepts[i]).gap / problem.scale
    return list(zip(path.coefs, path.intercepts, strict=True)), gaps, path.n_iter


def warn_late(gaps: Array, Cs: Array, tol: float, max_iter: int) -> None:
    """One warning for all points that did not converge."""
    late = np.flatnonzero(gaps > relative_gap(tol))
    if len(late):
        where = f"{len(late)} of {len(Cs)} values of C, the smallest of them {Cs[late].min():.4g}"
        worst = f"{gaps[late].max():.3g} > tol^2={relative_gap(tol):.3g}"
        text = f"no convergence in max_iter={max_iter} rounds at {where}"
        warn(f"{text}: the largest relative gap is {worst}", ConvergenceWarning)


def check_path_matrix(X: Any) -> Any:
    """X as the core wants it: float64, dense (rows or columns contiguous) or CSC."""
    check_form(X)
    if is_frame(X):
        X = frame_matrix(X)
    X = X.tocsc().astype(np.float64) if issparse(X) else np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"X must be a table with rows and columns, got shape {X.shape}")
    cells = X.data if issparse(X) else X
    if not np.isfinite(cells.sum()) and not np.isfinite(cells).all():
        if issparse(X):
            raise ValueError("X contains NaN or infinity; finite numbers only")
        row, column = np.argwhere(~np.isfinite(X))[0]
        where = f"{X[row, column]} in column {column}, row {row}"
        raise ValueError(f"X contains {where}; finite numbers only")
    if not issparse(X) and not (X.flags.f_contiguous and X.shape[0] <= X.shape[1]):
        X = np.ascontiguousarray(X)
    return X


def check_grid(Cs: int | ArrayLike) -> Any:
    """A number of values, or positive finite numbers in rising order."""
    if isinstance(Cs, Integral) and not isinstance(Cs, bool):
        check.whole(Cs=Cs)
        return int(Cs)
    message = f"Cs must be a whole number >= 1 or numbers > 0, got {Cs!r}"
    try:
        found = np.asarray(Cs, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(message) from None
    if found.ndim != 1 or len(found) == 0 or not (np.isfinite(found) & (found > 0)).all():
        raise ValueError(message)
    return np.sort(found)


def logistic_path(
    X: Any,
    y: Any,
    *,
    Cs: int | ArrayLike | None = None,
    l1_ratio: float = 0.0,
    eps: float = 1e-3,
    fit_intercept: bool = True,
    shrink_intercept: bool = False,
    sample_weight: Any = None,
    tol: float = 1e-4,
    max_iter: int = 100,
) -> LogisticPath:
    """Logistic regression along a rising grid of C, each point from the one before.

    Parameters
    ----------
    X, y : table of shape (n, p) and labels (n,)
        The rows, dense or sparse, and their two or more classes.
    Cs : number of values (None: 100), or the values themselves (used in rising order)
        A number of them starts where the first weight enters.
    l1_ratio : float, default=0.0
        Share of the L1 penalty, 0 to 1.
    eps : float, default=1e-3
        C_first / C_last of the grid.
    fit_intercept, shrink_intercept : bool, default=True and False
        Whether there is an intercept, and whether it is penalised.
    sample_weight : array of shape (n,), default=None
        Weights of the rows; None: 1 each.
    tol : float, default=1e-4
        The duality gap is at most tol^2 times the objective without any weight.
    max_iter : int, default=100
        Most rounds at each C.

    Returns
    -------
    LogisticPath : ``Cs`` (L,), ``coefs`` (L, p) or (L, K, p), ``intercepts``, ``gaps``, ``n_iter``

    Examples
    --------
    >>> from pellucid.linear import logistic_path
    >>> X, y = [[0.0, 1], [1, 0], [2, 1], [3, 0], [4, 1], [5, 0]], [0, 0, 1, 0, 1, 1]
    >>> path = logistic_path(X, y, Cs=3, eps=0.1, l1_ratio=1.0)
    >>> path.Cs.round(4), path.coefs.round(4)
    (array([0.2857, 0.9035, 2.8571]), array([[0.    , 0.    ],
           [0.6344, 0.    ],
           [1.2007, 1.9482]]))
    """
    check.whole(max_iter=max_iter)
    check.fraction(eps=eps)
    check.positive(tol=tol)
    check_share(l1_ratio=l1_ratio)
    check.boolean(fit_intercept=fit_intercept, shrink_intercept=shrink_intercept)
    asked = check_grid(100 if Cs is None else Cs)
    X = check_path_matrix(X)
    w = np.array(check_weights(sample_weight, X))
    classes, codes = encode_labels(check_labels(y, X.shape[0], logistic_path))
    live = classes[np.unique(codes[w > 0])].tolist()
    if len(live) < max(2, len(classes)):
        need = "every class needs rows of positive weight, and two of them"
        raise ValueError(f"{need}: got the class labels {live}")
    data = X, codes, len(classes), w
    how: dict[str, Any] = {"fit_intercept": fit_intercept, "shrink_intercept": shrink_intercept}
    problem = ProximalNewton(*data, **how)
    grid = make_grid(problem, l1_ratio, asked, eps) if isinstance(asked, int) else asked
    if l1_ratio == 0 and not problem.shrink:
        found, gaps, rounds = ridge_points(problem, data, grid, tol, max_iter)
    else:
        found, gaps, rounds = solve_path(problem, grid, l1_ratio, tol=tol, max_iter=max_iter)
    warn_late(gaps, grid, tol, max_iter)
    coefs, intercepts = (np.array(part) for part in zip(*found, strict=True))
    if len(classes) == 2:
        coefs, intercepts = coefs[:, 0], intercepts[:, 0]
    return LogisticPath(grid, coefs, intercepts, gaps * problem.scale * grid, rounds)
