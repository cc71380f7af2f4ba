r"""Linear regression by least squares.

Model        y = b + X w + e,  e ~ N(0, s^2 I),   D = [1 X]
Estimator    argmin |y - b - X w|^2, the maximum of the likelihood
             with noise_covariance S:  argmin (y - D b)' S^-1 (y - D b)
Algorithm    one pass for the moments of [X y], Cholesky of the centred cross-products; where the
             unit-norm columns have condition > 1e2 one residual pass refines the answer, and above
             1e3 the rows are factored instead (TSQR), so the condition is never squared.
             O(n p^2 + p^3); memory O(p^2), whatever n. More columns than rows: SVD, least norm.
             A large sparse X stays sparse: LSQR (``large_sparse.py``), without inference.

References: Björck, Numerical Methods for Least Squares Problems; Aitken (1935) for known S;
Lawson & Hanson (1974) for non-negative coefficients; ESL, section 3.2 and algorithm 3.1.
"""

from typing import Any, Self, cast

import numpy as np
import scipy
from scipy.linalg import LinAlgWarning, solve_triangular

from pellucid.base import with_callbacks
from pellucid.core.algebra.least_squares import Engine, LinearFit, finish_wide, wide_system
from pellucid.core.algebra.linalg import EPS, Solved, gram_schmidt, solve_svd
from pellucid.core.arrays import check
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, ArrayLike, Map
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Moments, Rows, Source, unit_weights
from pellucid.core.records import Card
from pellucid.core.runtime.stand_ins import stands_for
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.linear.least_squares import large_sparse
from pellucid.linear.least_squares.inference import log_likelihood
from pellucid.linear.least_squares.smoother import Smoother
from pellucid.linear.least_squares.summary import LinearInference, bare, standard_errors
from pellucid.linear.linear_model import dependent_sentence, one_dimensional
from pellucid.linear.solver_fit import ROUTE, SolverContext, is_solver, minimise_linear

SOLVERS = ("auto", "normal", "qr", "gram_schmidt", "svd", "pinv")
REASONS = {
    "cholesky": "Cholesky of the cross-products: the columns are well conditioned",
    "refined": "Cholesky of the cross-products and one residual refinement",
    "qr": "QR of the rows (TSQR) and one residual refinement: the condition is not squared",
    "svd": "SVD, least norm",
    "gram_schmidt": "successive orthogonalisation (Gram-Schmidt, each twice) and back substitution",
    "positive": "active set of Lawson and Hanson on the triangular factor",
}


def fit_tall(
    source: Source, map_: Map, total: Moments, p: int, *, unknowns: str, solver: str
) -> LinearFit:
    """Least squares with more rows than columns, from its moments."""
    engine = Engine(source, map_, total, p, unknowns=unknowns)
    every = np.arange(len(total.mean) - p)
    if solver == "gram_schmidt":
        return orthogonalise(engine)
    method = "svd" if solver == "pinv" else solver
    return engine.solve(every, method=method)


def fit_wide(source: Source, *, unknowns: str) -> LinearFit:
    """Least norm with no more rows than columns."""
    wide = wide_system(source, unknowns)
    with single_threaded_blas():
        solved = solve_svd(wide.Z, wide.V, max(wide.Z.shape) * EPS)
        return finish_wide(wide, solved, unknowns, 0.0, np.arange(wide.V.shape[1]))


def orthogonalise(engine: Engine) -> LinearFit:
    """Regression by successive orthogonalisation of the columns of D.

    It runs on the triangle of the rows, whose columns have the inner products of D.
    """
    with single_threaded_blas():
        A, c, _ = engine.reduced
        live = engine.live
        Z, gamma = gram_schmidt(A[:, live] / engine.at.scale[live])
        squares = (Z**2).sum(axis=0)
        if not (squares > 0).all():
            return engine.solve(np.arange(c.shape[1]), method="svd")
        b = solve_triangular(gamma, (Z.T @ c) / squares[:, None], unit_diagonal=True)
        root = solve_triangular(gamma, np.diag(1 / np.sqrt(squares)), unit_diagonal=True)
        scale = engine.at.scale[live][:, None]
        condition = np.linalg.cond(gamma * np.sqrt(squares)[:, None]) if len(live) else 1.0
        solved = engine.embed(Solved(b / scale, root / scale, len(live), float(condition)))
        return engine.finish(solved, np.arange(c.shape[1]), 0.0, "gram_schmidt")


def fit_positive(A: Array, c: Array, alpha: Array) -> Array:
    """argmin |c - A w|^2 + alpha |w|^2 subject to w >= 0, one column of c at a time.

    >>> fit_positive(np.eye(2), np.array([[3.0], [-1.0]]), np.zeros(1)).ravel()
    array([3., 0.])
    """
    q = A.shape[1]
    W = np.zeros((q, c.shape[1]))
    for j, a in enumerate(alpha):
        rows, right = A, c[:, j]
        if a > 0:
            rows = np.vstack([A, np.sqrt(a) * np.eye(q)])
            right = np.append(right, np.zeros(q))
        if q and (rows.T @ right > 0).any():  # else 0 is the answer, and nnls leaves it unset
            W[:, j] = scipy.optimize.nnls(rows, right, maxiter=max(1000, 30 * q))[0]
    return W


def positive_fit(engine: Engine) -> LinearFit:
    """Least squares under w >= 0."""
    A, c, _ = engine.reduced
    return positive_record(engine, fit_positive(A, c, np.zeros(c.shape[1])))


def positive_record(engine: Engine, theta: Array) -> LinearFit:
    """The record of a fit under w >= 0: coefficients and residuals, no inference."""
    k = theta.shape[1]
    empty = Solved(theta, np.zeros((len(theta), 0)), len(engine.live), np.nan)
    return engine.finish(empty, np.arange(k), 0.0, "positive")


def generalised(X: Array, Y: Array, S: Array, *, intercept: bool) -> tuple[Rows, float, Array]:
    """Rows whitened by S = L L': L^-1 D and L^-1 y; ln det S; total squares of y about its mean."""
    L = np.linalg.cholesky(S)
    ones = np.ones((len(X), 1))
    Z, V, u = (solve_triangular(L, M, lower=True) for M in (X, Y, ones))
    total = (V**2).sum(axis=0) - ((u.T @ V)[0] ** 2 / (u.T @ u)[0, 0] if intercept else 0.0)
    design = np.ascontiguousarray(np.hstack([u, Z]) if intercept else Z)
    return Rows(design, V, unit_weights(len(X))), 2 * float(np.log(np.diag(L)).sum()), total


class LinearRegression(LinearInference):
    """Ordinary least squares, with standard errors, tests and intervals.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    copy_X : bool, default=True
        Accepted for scikit-learn's sake; X is never changed.
    tol : float, default=1e-6
        Where the steps on a large sparse X end (see ``core.algebra.lsqr``); every other solution
        is exact.
    n_jobs : int or None, default=None
        Accepted for scikit-learn's sake; all cores are used.
    positive : bool, default=False
        Coefficients >= 0 (the intercept is free); no inference then.
    solver : {"auto", "normal", "qr", "gram_schmidt", "svd", "pinv"} or object, default="auto"
        How to solve: Cholesky of D'D, QR, successive orthogonalisation, SVD, or pinv(D'D)D'y,
        whose least norm counts the intercept. "auto" takes the cheapest that is accurate enough.
        A solver object of ``pellucid.solvers`` iterates from 0 on RSS/(2n) with the raw columns
        and leaves ``history_``.

    Attributes
    ----------
    coef_, intercept_ : slopes (p,) or (k, p), and intercept; 0 for a constant column
    rank_, singular_ : rank of the unit-norm centred columns, singular values of centred X
    standard_errors_, covariance_ : of all parameters, the intercept first
    rss_, df_, sigma2_, sigma2_ml_ : residual squares, parameters, RSS/(n - df), RSS/n
    noise_covariance_ : (k, k) residual covariance of the targets
    log_likelihood_ : at the maximum
    condition_ : of the unit-norm columns

    Examples
    --------
    >>> from pellucid import LinearRegression
    >>> model = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0])
    >>> round(float(model.intercept_), 4), model.coef_, round(float(model.rss_), 4)
    (0.8333, array([1.5]), 0.1667)
    >>> model.predict_interval([[1.5]]).round(2)
    array([[-3.18,  9.35]])
    """

    _keeps_single = True

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        positive: bool = False,
        solver: str = "auto",
    ) -> None:
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive
        self.solver = solver

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, noise_covariance: ArrayLike | None = None
    ) -> Self:
        """Solve the least-squares problem; ``noise_covariance`` (n, n) of correlated noise."""
        self._check_parameters()
        rows = self._open(X, y, sample_weight)
        by_leaves = rows.n_rows > self.n_features_in_ and noise_covariance is None
        if not by_leaves or is_solver(self.solver):
            rows = rows.double()
        self.__dict__.pop("history_", None)
        if is_solver(self.solver):
            context: FitContext = SolverContext(self, rows, sample_weight)
        else:
            steps = large_sparse.STEPS if self._is_large(rows) else 0
            context = FitContext.of_rows(self, rows, sample_weight, steps)
        if noise_covariance is None:
            self._fit_rows(rows, map_threads, context)
        else:
            self._fit_generalised(rows, noise_covariance, sample_weight)
        context.end()
        return self

    def _check_parameters(self) -> None:
        check.boolean(fit_intercept=self.fit_intercept, copy_X=self.copy_X, positive=self.positive)
        check.non_negative(tol=self.tol)
        if self.n_jobs is not None and not isinstance(self.n_jobs, int | np.integer):
            raise ValueError(f"n_jobs must be None or a whole number, got {self.n_jobs!r}")
        if not is_solver(self.solver):
            check.one_of(SOLVERS, solver=self.solver)
        if self.positive and not (isinstance(self.solver, str) and self.solver == "auto"):
            own = "positive=True has its own solver: use solver='auto'"
            raise ValueError(f"{own}, got {self.solver!r}")

    def _is_large(self, rows: Source) -> bool:
        return not self.positive and self.solver == "auto" and large_sparse.is_large(rows)

    def _fit_rows(self, rows: Source, map_: Map, context: FitContext | None = None) -> None:
        self._check_parameters()
        p = self.n_features_in_
        if self._is_large(rows):
            self._fit_large(cast("Rows", rows), context)
            return
        method = "auto" if is_solver(self.solver) else self.solver
        unknowns = "centred" if self.fit_intercept else "slopes"
        if method == "pinv" and self.fit_intercept:
            unknowns = "all"
        wide = rows.n_rows <= p and not self.positive
        if wide:
            fit = fit_wide(rows, unknowns=unknowns)
        else:
            total = self._sums(rows, map_)
            with single_threaded_blas():
                if self.positive:
                    fit = positive_fit(Engine(rows, map_, total, p, unknowns=unknowns))
                else:
                    fit = fit_tall(rows, map_, total, p, unknowns=unknowns, solver=method)
        tss = np.diag(fit.tss)  # squares of y about its mean (about 0 without an intercept)
        if unknowns == "all" and wide:
            tss = (wide_system(rows, "centred").V ** 2).sum(axis=0)
        elif unknowns == "all":
            tss = np.diag(total.scatter)[p:]
        self._generalised = False
        self._iterative = self._unconverged = ""
        if is_solver(self.solver):
            fit = self._follow(rows, fit, context)
        self._set(rows, fit, unknowns, tss, log_determinant=0.0)

    def _fit_large(self, rows: Rows, context: FitContext | None) -> None:
        """LSQR: everything but the inference."""
        k = 1 if rows.y.ndim == 1 else rows.y.shape[1]
        how: dict[str, Any] = {"intercept": self.fit_intercept, "tol": self.tol}
        how["max_iter"] = large_sparse.STEPS
        name = type(self).__name__
        fit = large_sparse.fit_large(rows, np.zeros(k), **how, name=name, context=context)
        for attribute, value in large_sparse.shared_attributes(self, rows, fit).items():
            setattr(self, attribute, value)
        squares = np.maximum(np.diag(fit.rss), 0.0)
        found = log_likelihood(squares, fit.weight)
        errors = np.full((k, self.n_features_in_ + self.fit_intercept), np.nan)
        single = rows.y.ndim == 1
        self.standard_errors_ = errors[0] if single else errors
        self.log_likelihood_ = float(found[0]) if single else found
        self.noise_covariance_, self._tss = np.full((k, k), np.nan), fit.tss
        self.__dict__.pop("rank_", None)
        self._generalised, self._unconverged = False, large_sparse.why_not(self.n_features_in_)

    def _follow(self, rows: Source, fit: LinearFit, context: FitContext | None) -> LinearFit:
        """The closed form's record with the point where the solver ended."""
        if not isinstance(rows, Rows):
            raise ValueError("a solver object needs the rows in memory: use fit, or solver='auto'")
        how: dict[str, Any] = {"intercept": self.fit_intercept, "context": context}
        found = minimise_linear(rows, self.solver, [None] * len(fit.intercept), **how)
        self.history_, self.n_iter_, self._iterative = found.history, found.n_iter, found.sentence
        if not found.converged:
            self._unconverged = f"the solver ended before it converged ({found.reason})"
        point = {name: getattr(found, name) for name in ("coef", "intercept", "rss", "gradient")}
        return fit._replace(**point, route=ROUTE)

    def _fit_generalised(self, rows: Rows, S: Any, sample_weight: ArrayLike | None) -> None:
        if sample_weight is not None or self.positive or self.solver not in ("auto", "qr", "svd"):
            settings = "solver 'auto', 'qr' or 'svd', positive=False and sample_weight=None"
            why = "weights are part of the covariance"
            raise ValueError(f"noise_covariance works with {settings} ({why})")
        X, n = rows.X, rows.n_rows
        X = to_dense(X)
        self._refuse_nonfinite(X)
        S = check_array(S, dtype=np.float64)
        if S.shape != (n, n) or not np.allclose(S, S.T, rtol=1e-10, atol=1e-14 * np.abs(S).max()):
            wanted = f"a symmetric ({n}, {n}) matrix"
            raise ValueError(f"noise_covariance must be {wanted}, got {S.shape}")
        Y, b = np.atleast_2d(rows.y.T).T, self.fit_intercept
        try:
            white, log_determinant, tss = generalised(X, Y, S, intercept=b)
        except np.linalg.LinAlgError:
            raise ValueError("noise_covariance must be positive definite") from None
        q = white.X.shape[1]
        if n <= q:
            fit = fit_wide(white, unknowns="slopes")
        else:
            total = self._sums(white, map_threads)
            fit = fit_tall(white, map_threads, total, q, unknowns="slopes", solver=self.solver)
        if b:
            related = tuple(j - 1 for j in fit.dependent if j > 0)
            fit = fit._replace(intercept=fit.coef[0], coef=fit.coef[1:], mean=fit.mean[1:])
            fit = fit._replace(dependent=related)
        self._generalised = True
        self._iterative = self._unconverged = ""
        self._set(rows, fit, "all" if b else "slopes", tss, log_determinant)

    def _set(
        self, rows: Source, fit: LinearFit, unknowns: str, tss: Array, log_determinant: float
    ) -> None:
        single = len(fit.intercept) == 1 and one_dimensional(rows)
        pick = (lambda a: float(a[0])) if single else (lambda a: a)
        n, squares = fit.weight, np.maximum(np.diag(fit.rss), 0.0)
        self._smoother = smoother_of(fit, unknowns, self._not_linear())
        self.coef_ = fit.coef[:, 0] if single else np.ascontiguousarray(fit.coef.T)
        intercept = np.float64(fit.intercept[0]) if single else fit.intercept
        self.intercept_ = intercept if self.fit_intercept else 0.0
        self.rank_ = fit.rank - (unknowns == "all")
        self.df_ = np.nan if self.positive else float(self.rank_ + self.fit_intercept)
        self.condition_, self.solver_, self.gradient_ = fit.condition, fit.route, fit.gradient
        self.n_observations_, self._dependent, self._tss = n, fit.dependent, tss
        self._shape = (rows.n_rows, self.n_features_in_)
        self.rss_, self.sigma2_ml_ = pick(squares), pick(squares / n)
        free = n - self.df_
        noise = fit.rss / free if free > 1e-9 else np.full_like(fit.rss, np.nan)
        self.noise_covariance_ = noise
        sigma2 = np.maximum(np.diag(noise), 0.0)
        self.sigma2_ = pick(sigma2)
        errors = standard_errors(self._smoother, sigma2, estimable=self._estimable())
        self.standard_errors_ = errors[0] if single else errors
        self.log_likelihood_ = pick(log_likelihood(squares, n) - log_determinant / 2)
        self._warn(free)

    def _not_linear(self) -> str:
        if self.positive:
            return "a fit with positive=True is not linear in y: it has no hat matrix"
        if self._unconverged:
            return f"{self._unconverged}: it is not a fixed matrix times y"
        if self._generalised:
            return "leverage and leave-one-out need independent noise, not a noise_covariance"
        return ""

    def _estimable(self) -> bool:
        return not self._dependent and not self.positive and not self._unconverged

    def _warn(self, free: float) -> None:
        if self._dependent:
            which = dependent_sentence(self._feature_names(), self._dependent, self._shape)
            many = "the least-norm solution is one of many (remedy: drop columns, or use Ridge)"
            warn(f"{which}; {many}", LinAlgWarning)
        elif self.solver == "normal" and self.solver_ not in ("cholesky", "refined"):
            why = f"the normal equations are too ill-conditioned (condition {self.condition_:.2g})"
            warn(f"{why} for Cholesky; the rows were factored by QR instead", LinAlgWarning)
        if not free > 1e-9 and not self.positive:
            few = f"{self.n_observations_:g} observations for {self.df_:g} parameters"
            what = "sigma2_ and the standard errors are NaN"
            warn(f"{few} leave nothing to estimate the noise from: {what}")

    @property
    def singular_(self) -> Array:
        """Singular values of the centred X (of D where the intercept is part of the unknowns)."""
        self._refuse_large("singular_")
        T = self._smoother.basis
        if self.fit_intercept and not T[0, 1:].any():
            T = T[1:, 1:]
        size = min(self._shape[0], len(T))
        found = 1 / np.linalg.svd(T, compute_uv=False)[::-1] if T.shape[1] else np.zeros(0)
        return np.append(found, np.zeros(max(0, size - len(found))))

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        names, notes = self._feature_names(), []
        large = self.solver_ == large_sparse.ROUTE
        slopes = self._smoother.basis[1:] if self.fit_intercept else self._smoother.basis
        zero = np.flatnonzero(np.linalg.norm(slopes, axis=1) == 0)
        if large:
            notes.append(f"no inference: {self._unconverged}")
        elif len(zero) and not self.positive:
            constant = ", ".join(names[j] for j in zero)
            notes.append(f"constant columns have coefficient 0: {constant}")
        if self._dependent:
            notes.append(dependent_sentence(names, self._dependent, self._shape))
        numbers = {"n": self.n_observations_}
        numbers |= {} if large else {"df": self.df_, "rank": self.rank_}
        numbers |= {"rss": bare(self.rss_), "sigma2": bare(self.sigma2_)}
        return Card(
            representation="y = b + x'w" if self.fit_intercept else "y = x'w",
            evaluation="RSS = sum (y - b - x'w)^2, the likelihood of equal normal noise"
            + (" with the given covariance" if self._generalised else ""),
            optimisation="; ".join(self._optimisation()),
            numbers={**numbers, "log_likelihood": bare(self.log_likelihood_)},
            warnings=tuple(notes),
        )

    def _uniqueness(self) -> str:
        if self.solver_ == large_sparse.ROUTE:
            return "convex: the minimiser of least norm, from a start at 0"
        if self._unconverged:
            return "strictly convex: there is one minimiser"
        return "strictly convex: the only minimiser"

    def _optimisation(self) -> list[str]:
        if self.positive:
            return [REASONS[self.solver_], "convex problem: the optimum over w >= 0"]
        many = "convex, one of many minimisers: the one of least norm"
        if self._unconverged:
            many = "convex: there are many minimisers"
        return [
            self._iterative or f"{REASONS[self.solver_]} (condition {self.condition_:.3g})",
            many if self._dependent else self._uniqueness(),
            f"largest |x_j'r|/(|x_j||y|) = {self.gradient_:.1e}",
        ]


def smoother_of(fit: LinearFit, unknowns: str, reason: str) -> Smoother:
    """H of a least-squares fit."""
    T = fit.root
    if unknowns == "centred":
        q, r = T.shape
        basis = np.zeros((q + 1, r + 1))
        basis[0, 0], basis[1:, 1:] = 1 / np.sqrt(fit.weight), T
        T = basis
    return Smoother(fit.mean, unknowns != "slopes", T, np.ones(T.shape[1]), reason)


stands_for("sklearn.linear_model", LinearRegression)
