r"""Ridge regression.

Model        y = b + X w + e,  e ~ N(0, s^2 I),  w ~ N(0, (s^2 / alpha) I)
Estimator    w = argmin |y - b - X w|^2 + alpha |w|^2,  the intercept free
             shrink_intercept: (b, w) = (D'D + alpha I)^-1 D'y
             Budget(t): argmin |y - b - X w|^2 subject to |w|^2 <= t
Algorithm    the moments of [X y], then Cholesky of Xc'Xc + alpha I; refinement and TSQR of
             [X; sqrt(alpha) I] as its condition asks; SVD of X when p >= n.   O(n p min(n, p))
Shrinkage    along the right singular vectors: d_j^2 / (d_j^2 + alpha); their sum is df - 1

References: Hoerl & Kennard (1970); ESL, section 3.4.1.
"""

import warnings
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import LinAlgWarning, solve_triangular

from pellucid.base import with_callbacks
from pellucid.core import check
from pellucid.core.iterate import FitContext
from pellucid.core.leastsquares import (
    FACTOR_ABOVE,
    Engine,
    LinearFit,
    Wide,
    finish_wide,
    wide_system,
)
from pellucid.core.linalg import EPS, Solved, solve_cholesky, solve_svd, triangle
from pellucid.core.random import generator
from pellucid.core.records import Card, Summary
from pellucid.core.statistics import Source
from pellucid.core.threads import map_threads, single_threaded_blas
from pellucid.core.typing import Array, IntArray, Map
from pellucid.linear.base import dependent_sentence, one_dimensional
from pellucid.linear.budget import Budget, ridge_multiplier
from pellucid.linear.inference import cut
from pellucid.linear.least_squares import (
    REASONS,
    fit_positive,
    positive_record,
)
from pellucid.linear.smoother import LinearSmoother, Smoother, intercept_first
from pellucid.linear.summary import bare, parameter_root

SOLVERS = ("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs")
METHODS = {"svd": "qr", "cholesky": "normal"}


class Spectrum(NamedTuple):
    """X = U diag(d) V' of the centred X (of D, if the intercept is shrunk); beta = U'y."""

    V: Array  # (q, r)
    d: Array  # (r,) falling, 0 where it is rounding error
    beta: Array  # (r, k)

    def factors(self, alpha: Any) -> Array:
        """d^2 / (d^2 + alpha); 0 for directions without data."""
        return (self.d**2 * self.gain(alpha).T).T

    def gain(self, alpha: Any) -> Array:
        """1 / (d^2 + alpha) on the space the data span; (r,) or (r, k)."""
        total = np.add.outer(self.d**2, alpha)
        live = np.broadcast_to((self.d > 0).reshape(-1, *[1] * np.ndim(alpha)), total.shape)
        return np.divide(1.0, total, out=np.zeros(total.shape), where=live)

    def least_squares_penalty(self) -> Array:
        """|w|^2 of the least-norm least-squares fit, per target."""
        live = self.d > 0
        return ((self.beta[live] / self.d[live, None]) ** 2).sum(axis=0)


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
        exact = solved is None or solved.condition > FACTOR_ABOVE
    if exact or engine._reduced is not None:
        found = spectrum_of_rows(engine.reduced.A[:, live], engine.reduced.c, engine.tolerance)
    else:
        found = spectrum_of_sums(G, engine.system.B[live], engine.tolerance)
    V = np.zeros((len(engine.system.G), len(found.d)))
    V[live] = found.V
    return found._replace(V=V)


class RidgeFit(NamedTuple):
    """One ridge fit per target."""

    parts: tuple[LinearFit, ...]  # one per distinct alpha
    coef: Array  # (p, k)
    intercept: Array  # (k,)
    rss: Array  # (k,)
    alpha: Array  # (k,)
    spectrum: Spectrum


def fit_ridge(engine: Engine, alpha: Array | Budget, method: str) -> RidgeFit:
    """Ridge from the sums, with one alpha per target (or the Budget that decides them)."""
    with single_threaded_blas():
        found = spectrum_of(engine, exact=True) if isinstance(alpha, Budget) else None
        alphas = multipliers(found, alpha) if isinstance(alpha, Budget) else alpha

        def solve(targets: IntArray, a: float) -> LinearFit:
            return engine.solve(targets, a, method)

        parts = by_alpha(alphas, solve)
        return assemble(parts, alphas, found or spectrum_of(engine, exact=False))


def fit_ridge_wide(wide: Wide, alpha: Array | Budget, unknowns: str) -> RidgeFit:
    """Ridge with no more rows than columns, from one SVD of the rows."""
    with single_threaded_blas():
        tolerance = max(wide.Z.shape) * EPS
        found = spectrum_of_rows(wide.Z, wide.V, tolerance)
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
            return finish_wide(wide, solved, unknowns, a, targets)

        return assemble(by_alpha(alphas, solve), alphas, found)


def multipliers(found: Spectrum | None, budget: Budget) -> Array:
    """The alpha of each target that meets the budget."""
    assert found is not None
    bounds = budget.bound(found.least_squares_penalty())
    pairs = zip(found.beta.T, bounds, strict=True)
    return np.array([ridge_multiplier(found.d, beta, t) if t > 0 else 0.0 for beta, t in pairs])


def by_alpha(alphas: Array, solve: Any) -> list[tuple[IntArray, LinearFit]]:
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


def fit_ridge_positive(engine: Engine, alpha: Array) -> RidgeFit:
    """Ridge with w >= 0; the intercept keeps its sign."""
    with single_threaded_blas():
        A, c, _ = engine.reduced
        if engine.unknowns == "all":
            theta = np.hstack([_positive_all(A, c[:, [j]], a) for j, a in enumerate(alpha)])
        else:
            theta = fit_positive(A, c, alpha)
        fit = positive_record(engine, theta)
        rss = np.maximum(np.diag(fit.rss), 0.0)
        found = spectrum_of(engine, exact=False)
        return RidgeFit((fit,), fit.coef, fit.intercept, rss, alpha, found)


def _positive_all(A: Array, c: Array, alpha: float) -> Array:
    """(b, w) with both shrunk and w >= 0: the first row of the triangle is left to b alone."""
    q = A.shape[1]
    R = triangle(np.hstack([np.vstack([A, np.sqrt(alpha) * np.eye(q)]),
                            np.vstack([c, np.zeros((q, 1))])]))  # fmt: skip
    w = fit_positive(R[1:q, 1:q], R[1:q, q:], np.zeros(1))
    b = solve_triangular(R[:1, :1], R[:1, q:] - R[:1, 1:q] @ w)
    return np.vstack([b, w])


class Ridge(LinearSmoother):
    """Least squares with an L2 penalty.

    Parameters
    ----------
    alpha : float, array of shape (n_targets,) or Budget, default=1.0
        Penalty strength, >= 0; one per target; or the size the coefficients may have.
    fit_intercept : bool, default=True
    copy_X : bool, default=True
        Accepted for scikit-learn's sake; X is never changed.
    max_iter, tol, random_state
        Accepted for scikit-learn's sake; the solution is exact.
    solver : {"auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"}
        "cholesky" and "svd" say how; every other name gives the same exact solution.
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

    Examples
    --------
    >>> from pellucid import Ridge
    >>> model = Ridge(alpha=1.0).fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0])
    >>> model.coef_, round(float(model.intercept_), 6), round(float(model.df_), 6)
    (array([1.]), 1.333333, 1.666667)
    """

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        self._check_parameters()
        rows = self._open(X, y, sample_weight)
        context = FitContext(self, X=rows.X, y=rows.y, sample_weight=sample_weight)
        self._fit_rows(rows, map_threads)
        context.end()
        return self

    def _check_parameters(self) -> None:
        check.boolean(
            fit_intercept=self.fit_intercept, copy_X=self.copy_X, positive=self.positive,
            shrink_intercept=self.shrink_intercept,
        )  # fmt: skip
        check.non_negative(tol=self.tol)
        if self.max_iter is not None:
            check.whole(max_iter=self.max_iter)
        check.one_of(SOLVERS, solver=self.solver)
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
            raise ValueError(
                f"alpha must be a number, one number per target or a Budget, got {self.alpha!r}"
            ) from None
        if alphas.ndim > 1 or (alphas.ndim == 1 and len(alphas) not in (1, k)):
            raise ValueError(
                f"alpha must be one number or one per target ({k}), got shape {alphas.shape}"
            )
        if not (np.isfinite(alphas) & (alphas >= 0)).all():
            raise ValueError(f"alpha must be finite and >= 0, got {self.alpha!r}")
        return np.broadcast_to(alphas, (k,)).copy()

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        p = self.n_features_in_
        unknowns = "centred" if self.fit_intercept else "slopes"
        if self.shrink_intercept:
            unknowns = "all"
        if rows.n_rows <= p and not self.positive:
            wide = wide_system(rows, unknowns)
            fit = fit_ridge_wide(wide, self._alphas(wide.V.shape[1]), unknowns)
        else:
            total = self._sums(rows, map_)
            engine = Engine(rows, map_, total, p, unknowns=unknowns)
            alphas = self._alphas(len(total.mean) - p)
            if self.positive:
                assert not isinstance(alphas, Budget)
                fit = fit_ridge_positive(engine, alphas)
            else:
                fit = fit_ridge(engine, alphas, METHODS.get(self.solver, "auto"))
        self._set(rows, fit, unknowns)

    def _set(self, rows: Source, fit: RidgeFit, unknowns: str) -> None:
        single = fit.coef.shape[1] == 1 and one_dimensional(rows)
        pick = (lambda a: float(a[0])) if single else (lambda a: a)
        first, k = fit.parts[0], fit.coef.shape[1]
        n = first.weight
        free = unknowns == "centred"  # the intercept is not shrunk: one more degree of freedom
        shared = single or (np.ndim(self.alpha) == 0 and not isinstance(self.alpha, Budget))
        alpha = float(fit.alpha[0]) if shared else fit.alpha
        self.alpha_ = alpha
        self.coef_ = fit.coef[:, 0] if single else np.ascontiguousarray(fit.coef.T)
        self.intercept_ = pick(fit.intercept) if self.fit_intercept else 0.0
        size = min(rows.n_rows, len(fit.spectrum.V))
        d = fit.spectrum.d[:size]
        self.singular_ = np.append(d, np.zeros(size - len(d)))
        factors = fit.spectrum.factors(alpha)  # (r,) or (r, k)
        self.shrinkage_factors_ = np.moveaxis(factors, 0, -1)
        df = factors.sum(axis=0) + free
        self.df_ = (df if np.ndim(df) else float(df)) if not self.positive else np.nan
        self.rss_ = pick(fit.rss)
        self.n_observations_ = n
        self.sigma2_ml_ = pick(fit.rss / n)
        room = n - np.broadcast_to(self.df_, (k,))
        sigma2 = np.divide(fit.rss, room, out=np.full(k, np.nan), where=room > 1e-9)
        self.sigma2_ = pick(sigma2)
        theta = np.vstack([fit.intercept, fit.coef]) if self.shrink_intercept else fit.coef
        self.budget_ = pick((theta**2).sum(axis=0))
        least = fit.spectrum.least_squares_penalty()
        self.budget_ols_ = pick(least)
        ratio = np.divide((theta**2).sum(axis=0), least, out=np.ones(k), where=least > 0)
        self.shrinkage_ = pick(ratio)
        self.condition_ = max(part.condition for part in fit.parts)
        self.gradient_ = max(part.gradient for part in fit.parts)
        self.solver_ = first.route
        self.n_iter_ = 1  # solved directly
        self._shape = (rows.n_rows, self.n_features_in_)
        self._dependent = tuple(sorted({j for part in fit.parts for j in part.dependent}))
        self._smoother = ridge_smoother(fit.spectrum, alpha, first, unknowns, self.positive)
        self._warn(room)

    def _warn(self, room: Array) -> None:
        if self._dependent:
            warnings.warn(
                f"{dependent_sentence(self._feature_names(), self._dependent, self._shape)} and "
                "alpha is 0: the least-norm solution is one of many (remedy: alpha > 0)",
                LinAlgWarning,
                stacklevel=4,
            )
        if not (room > 1e-9).all() and not self.positive:
            warnings.warn(
                f"{self.n_observations_:g} observations for {bare(np.max(self.df_)):g} degrees "
                "of freedom leave nothing to estimate the noise from: sigma2_ is NaN",
                UserWarning,
                stacklevel=4,
            )

    def summary(self, confidence: float = 0.95) -> Summary:
        """Estimates, their sampling errors, and the posterior intervals of the normal prior.

        Shrinkage biases the estimates, so there is no t-test: ``valid`` is False. The standard
        errors are those of sigma2 A X'X A with A = (X'X + alpha I)^-1; low and high bound the
        posterior N(w, sigma2 A).
        """
        check.fraction(confidence=confidence)
        smoother = self._linear()
        T = parameter_root(smoother)
        gain = np.atleast_2d(smoother.gain.T)  # (1 or k, r)
        factors = np.atleast_2d(self.shrinkage_factors_)
        if smoother.intercept and not self.shrink_intercept:
            factors = np.column_stack([np.ones(len(factors)), factors[:, : gain.shape[1] - 1]])
        factors = factors[:, : gain.shape[1]]
        sigma = np.sqrt(np.atleast_1d(self.sigma2_))[:, None]
        posterior = sigma * np.sqrt(gain @ (T**2).T)  # (k, q)
        error = sigma * np.sqrt((gain * factors) @ (T**2).T)
        b = intercept_first(self.intercept_, self.coef_, intercept=self.fit_intercept)
        half = cut(confidence, np.inf, "normal") * posterior
        arrays = {
            "estimate": b, "standard_error": error, "statistic": np.full(b.shape, np.nan),
            "p_value": np.full(b.shape, np.nan), "low": b - half, "high": b + half,
            "posterior_sd": posterior,
        }  # fmt: skip
        if np.ndim(self.coef_) == 1:
            arrays = {name: values[0] for name, values in arrays.items()}
        names = (("intercept",) if self.fit_intercept else ()) + self._feature_names()
        return Summary(
            title="Ridge regression",
            names=names,
            arrays=arrays,
            scalars={
                "alpha": bare(self.alpha_), "df": bare(self.df_), "n": self.n_observations_,
                "rss": bare(self.rss_), "sigma2": bare(self.sigma2_),
            },
            valid=False,
            reason="the estimates are shrunk and so biased: t-tests do not hold; low and high are "
            "posterior intervals under w ~ N(0, (sigma2/alpha) I)",
        )  # fmt: skip

    def card(self) -> Card:
        n, alpha = self.n_observations_, self.alpha_
        shrunk = "b^2 + |w|^2" if self.shrink_intercept else "|w|^2"
        one = np.ndim(alpha) == 0
        text = f"{alpha:.6g}" if one else "alpha (one per target)"
        scales = [
            f"lambda = {text} in RSS + lambda {shrunk} and in RSS/2 + (lambda/2) {shrunk}",
            f"lambda = {alpha / n:.6g} in RSS/n + lambda {shrunk}" if one else
            f"lambda = alpha/n in RSS/n + lambda {shrunk}",
            f"prior: w ~ N(0, tau^2 I) with tau^2 = s^2/{text}",
        ]  # fmt: skip
        if np.ndim(self.budget_) == 0:
            scales.append(f"constraint: {shrunk} <= {self.budget_:.6g}")
        notes = []
        if self._dependent:
            notes.append(dependent_sentence(self._feature_names(), self._dependent, self._shape))
        if isinstance(self.alpha, Budget) and self._shape[0] <= self._shape[1]:
            notes.append("more columns than rows: budget_ols_ is that of the least-norm fit")
        unique = "one of many minimisers" if self._dependent else "the only minimiser"
        gradient = f"; largest |x_j'r - alpha w_j|/(|x_j||y|) = {self.gradient_:.1e}"
        certificate = "" if self.positive else gradient
        how = "sum (y - b - x'w)^2" if self.fit_intercept else "sum (y - x'w)^2"
        return Card(
            representation="y = b + x'w" if self.fit_intercept else "y = x'w",
            evaluation=f"{how} + {text} ({shrunk})" + (", w >= 0" if self.positive else ""),
            optimisation=f"{REASONS[self.solver_]}; {unique}{certificate}",
            numbers={
                "alpha": bare(alpha), "n": n, "df": bare(self.df_), "rss": bare(self.rss_),
                "sigma2": bare(self.sigma2_), "budget": bare(self.budget_),
                "budget_ols": bare(self.budget_ols_), "shrinkage": bare(self.shrinkage_),
            },
            scales=tuple(scales),
            warnings=tuple(notes),
        )  # fmt: skip


def ridge_smoother(
    found: Spectrum, alpha: Any, fit: LinearFit, unknowns: str, positive: bool
) -> Smoother:
    """H of a ridge fit."""
    basis, gain = found.V, found.gain(alpha)
    if unknowns == "centred":
        q, r = basis.shape
        padded = np.zeros((q + 1, r + 1))
        padded[0, 0], padded[1:, 1:] = 1 / np.sqrt(fit.weight), basis
        basis, gain = padded, np.concatenate([np.ones((1, *gain.shape[1:])), gain])
    reason = "a fit with positive=True is not linear in y: it has no hat matrix" if positive else ""
    return Smoother(fit.mean, unknowns != "slopes", basis, gain, reason)
