r"""Ridge regression.

Model        y = b + X w + e,  e ~ N(0, s^2 I),  w ~ N(0, (s^2 / alpha) I)
Estimator    w = argmin |y - b - X w|^2 + alpha |w|^2,  the intercept free
             shrink_intercept: (b, w) = (D'D + alpha I)^-1 D'y
             Budget(t): argmin |y - b - X w|^2 subject to |w|^2 <= t
             penalty_weights v: alpha sum_j v_j w_j^2 in the place of alpha |w|^2
Algorithm    the moments of [X y], then Cholesky of Xc'Xc + alpha I; refinement and TSQR of
             [X; sqrt(alpha) I] as its condition asks; SVD of X when p >= n.   O(n p min(n, p))
             A large sparse X stays sparse: LSQR (``least_squares/large_sparse.py``).
Shrinkage    along the right singular vectors: d_j^2 / (d_j^2 + alpha); their sum is df - 1

References: Hoerl & Kennard (1970); ESL, section 3.4.1.
"""

from collections.abc import Callable
from numbers import Real
from typing import Any, Self, cast

import numpy as np
from scipy.linalg import solve_triangular

from pellucid.base import with_callbacks
from pellucid.core.algebra import least_squares as systems
from pellucid.core.algebra.least_squares import Engine, LinearFit, Wide
from pellucid.core.algebra.linalg import EPS, Solved, solve_cholesky, solve_svd, triangle
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Map, Numbers, Seed
from pellucid.core.functions.penalties import L2
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows, Source
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.stand_ins import stands_for
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.linear.budget import Budget, ridge_multiplier
from pellucid.linear.least_squares import large_sparse
from pellucid.linear.least_squares.large_sparse import LargeFit
from pellucid.linear.least_squares.least_squares import fit_positive, positive_record
from pellucid.linear.ridge.penalty_weights import check_penalty_weights, weighted_spectrum
from pellucid.linear.ridge.ridge_model import RidgeFit, RidgeModel, Spectrum
from pellucid.linear.solver_fit import ROUTE, SolverContext, is_solver, minimise_linear

SOLVERS = ("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs")
METHODS = {"svd": "qr", "cholesky": "normal"}


def spectrum_of_rows(A: Array, c: Array, tolerance: float) -> Spectrum:
    """By the SVD of the rows (or of their triangle)."""
    U, d, Vt = np.linalg.svd(A, full_matrices=False)
    d = np.where(d > tolerance * d.max(initial=0.0), d, 0.0)
    return Spectrum(Vt.T, d, U.T @ c)


def spectrum_of_sums(G: Array, B: Array, tolerance: float) -> Spectrum:
    """By the eigenvectors of the cross-products."""
    squares, V = np.linalg.eigh(G)
    squares, V = squares[::-1], V[:, ::-1]
    d = np.sqrt(np.where(squares > tolerance * squares.max(initial=0.0), squares, 0.0))
    beta = np.divide(V.T @ B, d[:, None], out=np.zeros((len(d), B.shape[1])), where=d[:, None] > 0)
    return Spectrum(V, d, beta)


def spectrum_of(engine: Engine, *, exact: bool) -> Spectrum:
    """From the triangle of the rows where it is at hand or needed, else from the sums."""
    live = engine.live
    G = engine.system.G[np.ix_(live, live)]
    if exact and engine._reduced is None:
        solved = solve_cholesky(G, engine.system.B[live])
        exact = solved is None or solved.condition > systems.FACTOR_ABOVE
    if exact or engine._reduced is not None:
        found = spectrum_of_rows(engine.reduced.A[:, live], engine.reduced.c, engine.tolerance)
    else:
        found = spectrum_of_sums(G, engine.system.B[live], engine.tolerance)
    V = np.zeros((len(engine.system.G), len(found.d)))
    V[live] = found.V
    return found._replace(V=V)


def fit_ridge(
    engine: Engine, alpha: Array | Budget, method: str, found: Spectrum | None = None
) -> RidgeFit:
    """Ridge from the sums, with one alpha per target (or the Budget that decides them)."""
    with single_threaded_blas():
        if isinstance(alpha, Budget):
            found = spectrum_of(engine, exact=True)
        alphas = multipliers(found, alpha) if isinstance(alpha, Budget) else alpha
        parts = by_alpha(alphas, lambda targets, a: engine.solve(targets, a, method))
        return assemble(parts, alphas, found or spectrum_of(engine, exact=False))


def fit_ridge_weighted(
    data: Engine | Wide, alpha: Array | Budget, weights: Array, unknowns: str
) -> RidgeFit:
    """Ridge with a penalty weight for every unknown, from the triangle of the rows."""
    with single_threaded_blas():
        A, c = (data.Z, data.V) if isinstance(data, Wide) else data.reduced[:2]
        found, dependent = weighted_spectrum(A, c, weights, max(A.shape) * EPS)
        alphas = multipliers(found, alpha) if isinstance(alpha, Budget) else alpha

        def solve(targets: IntArray, a: float) -> LinearFit:
            gain = found.gain(a)
            theta = found.V @ ((found.d * gain)[:, None] * found.beta[:, targets])
            total = (found.d**2 + a)[found.free :]
            condition = np.sqrt(total.max(initial=1.0) / total.min(initial=1.0)) if a else np.inf
            rank = int((found.d > 0).sum())
            solved = Solved(theta, found.V * np.sqrt(gain), rank, float(condition), dependent)
            penalty = a * weights[:, None]
            if isinstance(data, Wide):
                return systems.finish_wide(data, solved, unknowns, penalty, targets)
            return data.finish(solved, targets, penalty, "qr")

        return assemble(by_alpha(alphas, solve), alphas, found)._replace(weights=weights)


def fit_ridge_wide(
    wide: Wide, alpha: Array | Budget, unknowns: str, found: Spectrum | None = None
) -> RidgeFit:
    """Ridge with no more rows than columns, from one SVD of the rows (unless it is given)."""
    with single_threaded_blas():
        tolerance = max(wide.Z.shape) * EPS
        found = found or spectrum_of_rows(wide.Z, wide.V, tolerance)
        alphas = multipliers(found, alpha) if isinstance(alpha, Budget) else alpha

        def solve(targets: IntArray, a: float) -> LinearFit:
            if a == 0:
                solved = solve_svd(wide.Z, wide.V[:, targets], tolerance)
            else:
                gain = found.gain(a)
                theta = found.V @ ((found.d * gain)[:, None] * found.beta[:, targets])
                rank = int((found.d > 0).sum())
                condition = np.sqrt((found.d[0] ** 2 + a) / a)
                solved = Solved(theta, found.V * np.sqrt(gain), rank, float(condition))
            return systems.finish_wide(wide, solved, unknowns, a, targets)

        return assemble(by_alpha(alphas, solve), alphas, found)


def multipliers(found: Spectrum | None, budget: Budget) -> Array:
    """The alpha of each target that meets the budget."""
    assert found is not None
    bounds = budget.bound(found.least_squares_penalty())
    d = found.d[found.free :]
    pairs = zip(found.beta[found.free :].T, bounds, strict=True)
    return np.array([ridge_multiplier(d, beta, t) if t > 0 else 0.0 for beta, t in pairs])


def by_alpha(
    alphas: Array, solve: Callable[[IntArray, float], LinearFit]
) -> list[tuple[IntArray, LinearFit]]:
    """Solve once per distinct alpha, for all its targets together."""
    groups = [np.flatnonzero(alphas == a) for a in np.unique(alphas)]
    return [(targets, solve(targets, float(alphas[targets[0]]))) for targets in groups]


def assemble(parts: list[tuple[IntArray, LinearFit]], alphas: Array, found: Spectrum) -> RidgeFit:
    """Put the targets back in their order."""
    p, k = len(parts[0][1].coef), len(alphas)
    coef, intercept, rss = np.empty((p, k)), np.empty(k), np.empty(k)
    for targets, fit in parts:
        coef[:, targets], intercept[targets] = fit.coef, fit.intercept
        rss[targets] = np.maximum(np.diag(fit.rss), 0.0)
    return RidgeFit(tuple(fit for _, fit in parts), coef, intercept, rss, alphas, found)


def fit_ridge_positive(engine: Engine, alpha: Array, weights: Array | None = None) -> RidgeFit:
    """Ridge with w >= 0; the intercept keeps its sign."""
    with single_threaded_blas():
        A, c, _ = engine.reduced
        v = np.ones(A.shape[1]) if weights is None else weights
        if engine.unknowns == "all":
            theta = np.hstack([_positive_all(A, c[:, [j]], a * v) for j, a in enumerate(alpha)])
        elif weights is None:
            theta = fit_positive(A, c, alpha)
        else:
            parts = [penalised_rows(A, c[:, [j]], a * v) for j, a in enumerate(alpha)]
            theta = np.hstack([fit_positive(*part, np.zeros(1)) for part in parts])
        fit = positive_record(engine, theta)
        rss = np.maximum(np.diag(fit.rss), 0.0)
        found = spectrum_of(engine, exact=False)
        return RidgeFit((fit,), fit.coef, fit.intercept, rss, alpha, found, weights)


def penalised_rows(A: Array, c: Array, penalty: Array) -> tuple[Array, Array]:
    """Rows whose residual squares are |c - A w|^2 + sum penalty_j w_j^2."""
    return np.vstack([A, np.diag(np.sqrt(penalty))]), np.vstack([c, np.zeros((A.shape[1], 1))])


def _positive_all(A: Array, c: Array, penalty: Array) -> Array:
    """(b, w) with both shrunk and w >= 0: the first row of the triangle is left to b alone."""
    q = A.shape[1]
    R = triangle(np.hstack(penalised_rows(A, c, penalty)))
    w = fit_positive(R[1:q, 1:q], R[1:q, q:], np.zeros(1))
    b = solve_triangular(R[:1, :1], R[:1, q:] - R[:1, 1:q] @ w)
    return np.vstack([b, w])


class Ridge(RidgeModel):
    """Least squares with an L2 penalty.

    Parameters
    ----------
    alpha : float, array of shape (n_targets,) or Budget, default=1.0
        Penalty strength, >= 0; one per target; or the size the coefficients may have.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    copy_X : bool, default=True
        Accepted for scikit-learn's sake; X is never changed.
    max_iter, tol
        Of the steps on a large sparse X (at most 10,000, and to 1e-10 unless ``tol`` is smaller);
        every other solution is exact.
    random_state : ignored
        Accepted for scikit-learn's sake.
    solver : {"auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"}
        "cholesky" and "svd" say how; every other name gives the same exact solution. A solver
        object of ``pellucid.solvers`` iterates from 0 on (RSS + penalty)/(2n).
    positive : bool, default=False
        Coefficients >= 0 (the intercept is free).
    shrink_intercept : bool, default=False
        Penalise the intercept too: (D'D + alpha I)^-1 D'y.

    Attributes
    ----------
    coef_, intercept_ : slopes (p,) or (k, p), and intercept
    alpha_ : the penalty in use (found from a Budget)
    singular_, shrinkage_factors_ : d of centred X (of D with shrink_intercept), d^2/(d^2 + alpha)
    df_, rss_, sigma2_, sigma2_ml_ : tr H, residual squares, RSS/(n - df), RSS/n
    budget_, budget_ols_, shrinkage_ : sum of squared coefficients, that of least squares, ratio

    ``fit(X, y, penalty_weights=v)`` minimises ``RSS + alpha sum v_j w_j^2``: one weight >= 0 for
    each column, 0 for a column without a penalty; the budget counts ``sum v_j w_j^2``.

    Examples
    --------
    >>> from pellucid import Ridge
    >>> model = Ridge(alpha=1.0).fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0])
    >>> model.coef_, round(float(model.intercept_), 6), round(float(model.df_), 6)
    (array([1.]), 1.333333, 1.666667)
    """

    def __init__(
        self,
        alpha: Numbers | Budget = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        solver: str = "auto",
        positive: bool = False,
        random_state: Seed = None,
        shrink_intercept: bool = False,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.shrink_intercept = shrink_intercept

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, penalty_weights: ArrayLike | None = None
    ) -> Self:
        """Solve for the coefficients; ``penalty_weights`` (p,) multiply the columns' penalties."""
        self._check_parameters()
        rows = self._open(X, y, sample_weight)
        weights = check_penalty_weights(penalty_weights, self.n_features_in_)
        self.__dict__.pop("history_", None)
        if is_solver(self.solver):
            context: FitContext = SolverContext(self, rows, sample_weight)
        else:
            steps = self._steps() if self._is_large(rows, weights) else 0
            context = FitContext.of_rows(self, rows, sample_weight, steps)
        self._solve(rows, map_threads, weights, context)
        context.end()
        return self

    def _check_parameters(self) -> None:
        names = ("fit_intercept", "copy_X", "positive", "shrink_intercept")
        check.boolean(**{name: getattr(self, name) for name in names})
        check.non_negative(tol=self.tol)
        if self.max_iter is not None:
            check.whole(max_iter=self.max_iter)
        if not is_solver(self.solver):
            check.one_of(SOLVERS, solver=self.solver)
        elif self.positive:
            raise ValueError("positive=True has its own solver: it takes no solver object")
        generator(self.random_state)
        if self.shrink_intercept and not self.fit_intercept:
            raise ValueError("shrink_intercept=True needs fit_intercept=True")
        if isinstance(self.alpha, Budget):
            if self.positive:
                raise ValueError("a Budget cannot be combined with positive=True; give alpha")
        elif isinstance(self.alpha, Real):
            check.non_negative(alpha=self.alpha)

    def _alphas(self, k: int) -> Array | Budget:
        if isinstance(self.alpha, Budget):
            return self.alpha
        try:
            alphas = np.asarray(self.alpha, dtype=np.float64)
        except (TypeError, ValueError):
            known = "a number, one number per target or a Budget"
            raise ValueError(f"alpha must be {known}, got {self.alpha!r}") from None
        if alphas.ndim > 1 or (alphas.ndim == 1 and len(alphas) not in (1, k)):
            many = f"{len(alphas)} != {k}" if alphas.ndim == 1 else f"shape {alphas.shape}"
            raise ValueError(f"Number of targets and number of penalties do not correspond: {many}")
        if not (np.isfinite(alphas) & (alphas >= 0)).all():
            raise ValueError(f"alpha must be finite and >= 0, got {self.alpha!r}")
        return np.broadcast_to(alphas, (k,)).copy()

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        self._solve(rows, map_, None)

    def _follow(self, rows: Source, fit: RidgeFit, context: FitContext | None) -> RidgeFit:
        """The closed form's record with the point where the solver ended."""
        if not isinstance(rows, Rows):
            raise ValueError("a solver object needs the rows in memory: use fit, or solver='auto'")
        n, weights = float(np.sum(rows.w)), fit.weights
        if weights is not None and self.shrink_intercept:
            weights = weights[1:]
        penalties = [L2(a / (2 * n)) for a in fit.alpha]
        how: dict[str, Any] = {"price": weights, "context": context}
        how |= {"intercept": self.fit_intercept, "shrink_intercept": self.shrink_intercept}
        found = minimise_linear(rows, self.solver, penalties, **how)
        self.history_, self.n_iter_ = found.history, found.n_iter
        parts = tuple(part._replace(route=ROUTE, gradient=found.gradient) for part in fit.parts)
        rss = np.maximum(np.diag(found.rss), 0.0)
        fit = fit._replace(parts=parts, rss=rss, iterative=found.sentence)
        return fit._replace(coef=found.coef, intercept=found.intercept)

    def _steps(self) -> int:
        return large_sparse.STEPS if self.max_iter is None else int(self.max_iter)

    def _is_large(self, rows: Source, weights: Array | None) -> bool:
        """Whether the steps on a sparse X take the place of the exact solution."""
        special = self.positive or self.shrink_intercept or weights is not None
        if special or isinstance(self.alpha, Budget) or is_solver(self.solver):
            return False
        return self.solver != "svd" and large_sparse.is_large(rows)

    def _large(self, rows: Rows, context: FitContext | None) -> tuple[LargeFit, Array]:
        """The fit by LSQR and the penalty of each target."""
        k = 1 if rows.y.ndim == 1 else rows.y.shape[1]
        alphas = self._alphas(k)
        assert not isinstance(alphas, Budget)
        how: dict[str, Any] = {"intercept": self.fit_intercept, "tol": min(self.tol, 1e-10)}
        how |= {"max_iter": self._steps(), "name": type(self).__name__, "context": context}
        return large_sparse.fit_large(rows, alphas, **how), alphas

    def _unknowns(self) -> str:
        if self.shrink_intercept:
            return "all"
        return "centred" if self.fit_intercept else "slopes"

    def _find(self, rows: Source, map_: Map, weights: Array | None) -> RidgeFit:
        """The exact solution, from the sums or from the rows of a wide table."""
        p, unknowns = self.n_features_in_, self._unknowns()
        if rows.n_rows <= p and not self.positive:
            wide = systems.wide_system(rows, unknowns)
            alphas = self._alphas(wide.V.shape[1])
            if weights is None:
                return fit_ridge_wide(wide, alphas, unknowns)
            return fit_ridge_weighted(wide, alphas, weights, unknowns)
        total = self._sums(rows, map_)
        engine = Engine(rows, map_, total, p, unknowns=unknowns)
        alphas = self._alphas(len(total.mean) - p)
        if self.positive:
            assert not isinstance(alphas, Budget)
            return fit_ridge_positive(engine, alphas, weights)
        if weights is not None:
            return fit_ridge_weighted(engine, alphas, weights, unknowns)
        method = "auto" if is_solver(self.solver) else METHODS.get(self.solver, "auto")
        return fit_ridge(engine, alphas, method)

    def _solve(
        self, rows: Source, map_: Map, weights: Array | None, context: FitContext | None = None
    ) -> None:
        if self._is_large(rows, weights):
            self._set_large(cast("Rows", rows), *self._large(cast("Rows", rows), context))
            return
        if self.shrink_intercept:
            weights = None if weights is None else np.append(1.0, weights)
        fit = self._find(rows, map_, weights)
        one = not isinstance(self.alpha, Budget) and np.ndim(self.alpha) == 0
        self.n_iter_ = 1  # solved directly
        if is_solver(self.solver):
            fit = self._follow(rows, fit, context)
        self._set(rows, fit, self._unknowns(), shared=one)


stands_for("sklearn.linear_model", Ridge)
