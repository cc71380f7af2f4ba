r"""Least angle regression, and the lasso by the same walk.

LAR          start at 0; move the coefficients of the active columns along (X_A'X_A)^-1 X_A'r, so
             that their correlations with the residual fall together, until another column is as
             correlated; it joins. After min(n - 1, p) steps: least squares.
Lasso        the same, but a coefficient that reaches 0 leaves: then every point of the path
             minimises RSS/(2n) + alpha |w|_1 with alpha = max_j |x_j'r| / n.
Algorithm    while the active columns stand at correlation C with signs s,

                 w_A = (X_A'X_A)^-1 (X_A'y - C s),    x_j'r = g_j + C a_j,

             so the next knot is the largest C' <= C at which some |g_j| = C'(1 - sign a_j) or, for
             the lasso, some w_j = 0. One row of Q'X per entry, Givens rotations per exit; no
             quantity is accumulated from knot to knot.    O(p k) per step on compact rows
Ties         lowest column first; a column that is a combination of active ones is skipped.

References: Efron, Hastie, Johnstone & Tibshirani (2004); Osborne, Presnell & Turlach (2000).
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from pellucid.core.algebra.least_squares import joint_moments
from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays import check
from pellucid.core.arrays.reading import check_array, check_X_y
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.loops.iterate import FitContext, History, iterate
from pellucid.core.loops.statistics import Rows, unit_weights
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.linear.lars.kernels import LEFT, SIGN, C, K, LarsState, lars_step, new_state, seek
from pellucid.linear.lars.problem import Problem, problems

TIE = 1e-12  # of the first correlation: nearer ones are equal, and the lowest column enters
METHODS = ("lar", "lasso")


class Rule(NamedTuple):
    """Where a path may go and where it ends."""

    lasso: bool
    positive: bool
    alpha_min: float
    max_iter: float
    eps: float


class LarsPath(NamedTuple):
    """The knots of one path; without the whole path only the last one."""

    alphas: Array  # (n_iter + 1,) or (1,)
    coefs: Array  # (p, n_iter + 1) or (p, 1)
    active: list[int]  # at the end, in order of entry
    moves: list[tuple[str, int]]
    n_iter: int
    history: History
    dependent: list[int]  # columns left out as combinations of active ones


class Walk(NamedTuple):
    """What a path records on its way."""

    state: LarsState
    knots: list[float]  # C
    coefs: list[Array]  # of the lasso (the last ones only, if that is all one wants to keep);
    # those of LAR are solved together at the end
    moves: list[tuple[str, int]]


def start(problem: Problem, rule: Rule, *, whole: bool) -> tuple[Walk, Any]:
    """The empty model with the first column found, and the step from knot to knot."""
    p, gram = len(problem.c0), len(problem.G) > 0
    size = max(len(problem.c), p)
    limit = int(min(problem.rank, rule.max_iter))
    tiny = 16 * np.sqrt(size) * EPS * problem.norm * np.sqrt(problem.yy)
    state = new_state(problem.A, problem.G, problem.c, problem.c0, problem.norm, tiny, limit)
    tolerance = float(max(np.sqrt(size * EPS) if gram else size * EPS, rule.eps))
    tie = TIE * float(np.abs(problem.c0).max(initial=0.0))
    lowest = float(rule.alpha_min * problem.n)
    state.number[C], state.number[SIGN] = seek(state, gram, rule.positive, tie, tolerance)
    first = max(float(state.number[C]), lowest)
    nothing = np.zeros(0)

    def step(walk: Walk) -> tuple[Walk, float]:
        state, coef = walk.state, np.zeros(p) if rule.lasso else nothing
        if state.number[SIGN] != 0:
            walk.moves.append(("add", int(state.order[state.whole[K]])))
        more = lars_step(state, gram, rule.lasso, rule.positive, lowest, tie, tolerance, coef)
        if state.whole[LEFT] >= 0:
            walk.moves.append(("drop", int(state.whole[LEFT])))
        walk.knots.append(float(state.number[C]))
        if not whole:
            walk.coefs.clear()
        walk.coefs.append(coef)
        return walk, walk.knots[-1] / problem.n if more else rule.alpha_min

    return Walk(state, [first], [np.zeros(p) if rule.lasso else nothing], []), step


def lar_coefficients(walk: Walk) -> Array:
    """R^-1 (b - C z) at every knot of a LAR path, (p, knots): one triangular solve."""
    state, k = walk.state, int(walk.state.whole[K])
    coefs = np.zeros((len(state.order), len(walk.knots)))
    T = np.triu(state.b[:k, None] - np.outer(state.z[:k], walk.knots[1:]))
    coefs[state.order[:k], 1:] = solve_triangular(state.H[:k, :k], T, check_finite=False)
    return coefs


def last_coefficient(walk: Walk, rule: Rule) -> Array:
    """The coefficients at the last knot, (p,)."""
    state, k = walk.state, int(walk.state.whole[K])
    if rule.lasso:
        return walk.coefs[-1]
    coef = np.zeros(len(state.order))
    t = state.b[:k] - walk.knots[-1] * state.z[:k]
    coef[state.order[:k]] = solve_triangular(state.H[:k, :k], t, check_finite=False)
    return coef


def describe(problem: Problem, rule: Rule, walk: Walk) -> dict[str, Any]:
    """The row of the history: the residual is (c - Q b) + C Q z, two orthogonal parts."""
    state, k, now = walk.state, int(walk.state.whole[K]), walk.knots[-1]
    b, z = state.b[:k], state.z[:k]
    rss = problem.rest + max(problem.yy - float(b @ b), 0.0) + now * now * float(z @ z)
    alpha = now / problem.n
    size = float(np.abs(walk.coefs[-1]).sum()) if rule.lasso else 0.0
    return {"objective": rss / (2 * problem.n) + alpha * size, "alpha": alpha, "active": k}


def walk_path(
    problem: Problem, rule: Rule, *, whole: bool = True, context: FitContext | None = None
) -> LarsPath:
    """The path of ``rule``; ``whole=False`` keeps its last knot only."""
    with single_threaded_blas():  # the last bits must not depend on the number of cores
        walk, step = start(problem, rule, whole=whole)
        there = not walk.knots[0] > rule.alpha_min * problem.n  # before the first step
        limit = 0 if there else rule.max_iter
        most = int(min(limit, 1000 * (problem.rank + 1)))  # a bound where the user sets none
        how: dict[str, Any] = {"max_iter": most, "tol": rule.alpha_min, "warn": False}
        how["record"] = partial(describe, problem, rule)
        run = iterate(step, walk, context=context, **how)
        alphas = np.array(walk.knots) / problem.n
        if run.converged or there:
            alphas[-1] = max(rule.alpha_min, 0.0)
        if not whole:
            alphas, coefs = alphas[-1:], last_coefficient(walk, rule)[:, None]
        elif rule.lasso:
            coefs = np.array(walk.coefs).T
        else:
            coefs = lar_coefficients(walk)
        active = [int(j) for j in walk.state.order[: walk.state.whole[K]]]
        dependent = dependent_columns(problem, walk.state) if run.converged else []
        return LarsPath(alphas, coefs, active, walk.moves, run.n_iter, run.history, dependent)


def dependent_columns(problem: Problem, state: LarsState) -> list[int]:
    """Inactive columns that are combinations of the active ones, at the end of a path."""
    k = int(state.whole[K])
    j = np.sort(state.order[k:])
    j = j[problem.norm[j] > 0]
    if len(j) == 0 or k == 0 or k >= problem.rank:
        return []
    if len(problem.G):
        H, place = state.H[:k], np.argsort(state.order)
        off = np.sqrt(np.maximum(problem.norm[j] ** 2 - (H[:, place[j]] ** 2).sum(axis=0), 0.0))
    else:
        Q = state.Q[:k]
        off = np.linalg.norm(problem.A[:, j] - Q.T @ (Q @ problem.A[:, j]), axis=0)
    near = off <= np.sqrt(EPS) * problem.norm[j]
    if problem.wide and near.all() and k >= len(problem.c) - 1:
        return []  # the active columns span all rows: no column is to blame
    return [int(i) for i in j[near]]


def interpolate(alphas: Array, coefs: Array, alpha: float) -> Array:
    """The coefficients of a path at ``alpha``, on the line between two knots.

    >>> interpolate(np.array([2.0, 1.0]), np.array([[0.0, 3.0]]), 1.5)
    array([1.5])
    """
    if alpha >= alphas[0]:
        return coefs[:, 0].copy()
    if alpha < alphas[-1]:
        raise ValueError(f"the path ends at alpha = {alphas[-1]:g}, got alpha={alpha!r}")
    i = int(np.searchsorted(-alphas, -alpha, side="left"))
    share = (alphas[i - 1] - alpha) / (alphas[i - 1] - alphas[i])
    return coefs[:, i - 1] + share * (coefs[:, i] - coefs[:, i - 1])


def lars_path(
    X: ArrayLike | None,
    y: ArrayLike,
    Xy: ArrayLike | None = None,
    *,
    Gram: Any = None,
    max_iter: float = 500,
    alpha_min: float = 0.0,
    method: str = "lar",
    copy_X: bool = True,
    eps: float | None = EPS,
    copy_Gram: bool = True,
    verbose: int = 0,
    return_path: bool = True,
    return_n_iter: bool = False,
    positive: bool = False,
) -> tuple[Any, ...]:
    """Return the knots of the least angle or lasso path: ``(alphas, active, coefs)``.

    Nothing is centred or scaled: the model is y = X w.

    Parameters
    ----------
    X, y : arrays of shape (n, p) and (n,)
        The rows and their target.
    Xy : array of shape (p,), optional
        X'y, read together with a ``Gram`` that is an array.
    Gram : None, "auto", bool or array of shape (p, p)
        X'X if it is at hand; anything but an array leaves the choice to us.
    max_iter : int, default=500
        Steps at most; ``np.inf`` for no limit.
    alpha_min : float, default=0
        The path ends where alpha = max_j |x_j'r| / n has fallen to this.
    method : {"lar", "lasso"}
        With "lasso" a coefficient that reaches 0 leaves the active set.
    eps : float
        A column nearer than this (relative to its length) to the span of the active ones is
        skipped; at least max(n, p) times the precision of float64.
    return_path : bool, default=True
        False: only the last knot, alpha (1,) and coefs (p,).
    return_n_iter : bool, default=False
        Append the number of steps to the answer.
    positive : bool, default=False
        Coefficients >= 0; for the lasso only.
    copy_X, copy_Gram, verbose
        Accepted for scikit-learn's sake; nothing is overwritten or printed.

    Returns
    -------
    alphas (n_steps + 1,), active (the columns at the end, in order of entry), coefs
    (p, n_steps + 1), and n_iter if asked for.

    Examples
    --------
    >>> from pellucid.linear import lars_path
    >>> alphas, active, coefs = lars_path([[1.0, 0.0], [0.0, 1.0]], [2.0, -3.0])
    >>> alphas, active, coefs.tolist()
    (array([1.5, 1. , 0. ]), [1, 0], [[0.0, 0.0, 2.0], [0.0, -1.0, -3.0]])
    """
    check_rule(method=method, max_iter=max_iter, alpha_min=alpha_min, positive=positive)
    check.boolean(copy_X=copy_X, copy_Gram=copy_Gram, return_path=return_path)
    if X is None:
        raise ValueError("lars_path needs X, got None")
    rows, target = check_X_y(X, y, dtype=np.float64, y_numeric=True)
    target = np.asarray(target, dtype=np.float64)
    rule = Rule(method == "lasso", positive, alpha_min, max_iter, EPS if eps is None else eps)
    path = walk_path(path_problem(rows, target, Xy, Gram), rule, whole=return_path)
    answer = (path.alphas, path.active, path.coefs if return_path else path.coefs[:, 0])
    return (*answer, path.n_iter) if return_n_iter else answer


def path_problem(X: Array, y: Array, Xy: ArrayLike | None, Gram: Any) -> Problem:
    """The problem of ``lars_path``'s arguments."""
    n, p = X.shape
    if isinstance(Gram, np.ndarray):
        G = check_array(Gram, dtype=np.float64)
        c0 = X.T @ y if Xy is None else check_array(Xy, dtype=np.float64, ensure_2d=False)
        if G.shape != (p, p) or c0.shape != (p,):
            wanted, got = f"({p}, {p}) and ({p},)", f"{G.shape} and {c0.shape}"
            raise ValueError(f"Gram and Xy must have shapes {wanted}, got {got}")
        G, norm = np.array(G, dtype=np.float64), np.sqrt(np.maximum(np.diag(G), 0.0))
        none, sizes = np.zeros((0, 0)), (float(y @ y), 0.0, n, min(n, p))
        return Problem(none, G, np.zeros(0), np.array(c0), norm, *sizes)
    if not (Gram is None or isinstance(Gram, bool) or (isinstance(Gram, str) and Gram == "auto")):
        raise ValueError(f"Gram must be None, 'auto', True, False or an array, got {Gram!r}")
    rows = Rows(X, y, unit_weights(n))
    with single_threaded_blas():
        total = joint_moments(rows, map_threads) if n > p else None
        return problems(rows, map_threads, total, p, intercept=False).parts[0]


def check_rule(*, method: str, max_iter: float, alpha_min: float, positive: bool) -> None:
    """Raise ValueError for limits that no path can meet."""
    check.one_of(METHODS, method=method)
    check.boolean(positive=positive)
    check.non_negative(alpha_min=alpha_min)
    if max_iter != np.inf:
        check.whole(at_least=0, max_iter=max_iter)
    if positive and method == "lar":
        raise ValueError("positive=True needs method='lasso'")
