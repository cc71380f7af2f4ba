r"""Automatic relevance determination: one prior precision for every slope.

Model        y = b + X w + e,  e ~ N(0, 1/alpha),  w_j ~ N(0, 1/lambda_j),  gamma priors
Iteration    sigma = (diag(lambda) + alpha X'X)^-1 over the columns kept,  w = alpha sigma X'y
             gamma_j  = 1 - lambda_j sigma_jj
             lambda_j = (gamma_j + 2 lambda_1) / (w_j^2 + 2 lambda_2)
             alpha    = (n - sum gamma_j + 2 alpha_1) / (RSS + 2 alpha_2)
             columns with lambda_j >= threshold_lambda are dropped: their slope is 0
Algorithm    one pass for the moments of [X y]; a step costs one Cholesky of the columns kept, or of
             the rows where they are fewer (Woodbury), so it gets cheaper as columns fall away

References: MacKay (1994); Tipping (2001), Sparse Bayesian learning.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import pinvh
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.core.algebra.least_squares import Compact
from pellucid.core.algebra.linalg import EPS, solve_cholesky
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray, Map
from pellucid.core.loops.iterate import UNKNOWN, FitContext
from pellucid.core.loops.statistics import Source
from pellucid.core.records import Card
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.linear.bayes.bayesian_ridge import TINY, Gammas, target_variance
from pellucid.linear.bayes.integrated import Integrated
from pellucid.linear.bayes.normal_predictive import NormalPredictive, gamma_parameters

GRID = 64  # points of the average over a precision
FAR = 20.0  # exponents from the top to which it reaches


class Sums(NamedTuple):
    """What the steps need of the rows."""

    compact: Compact
    G: Array  # (p, p) X'X
    B: Array  # (p,) X'y
    n: float


class State(NamedTuple):
    """One round: w and sigma of the precisions before it, and the precisions after it."""

    coef: Array  # (p,)
    alpha: float
    lam: Array  # (p,)
    kept: BoolArray  # (p,)
    score: float


def slope_covariance(data: Sums, alpha: float, lam: Array, kept: BoolArray) -> Array:
    """(diag(lambda) + alpha X'X)^-1 over the columns kept."""
    k = int(kept.sum())
    A = data.compact.A[:, kept]
    if len(A) < k:
        W = A / lam[kept]
        inner = np.eye(len(A)) / alpha + W @ A.T
        return np.diag(1 / lam[kept]) - W.T @ np.linalg.solve(inner, W)
    M = alpha * data.G[np.ix_(kept, kept)] + np.diag(lam[kept])
    solved = solve_cholesky(M, np.zeros((k, 1)))
    if solved is None:  # precisions of very different size: the pseudo-inverse
        return pinvh(M)
    return solved.root @ solved.root.T


def slopes(data: Sums, alpha: float, sigma: Array, kept: BoolArray) -> Array:
    """w = alpha sigma X'y on the columns kept, 0 elsewhere."""
    w = np.zeros(len(kept))
    w[kept] = alpha * sigma @ data.B[kept]
    return w


def relevance_round(data: Sums, prior: Gammas, threshold: float, state: State) -> State:
    """One update of all precisions, and the columns that survive it."""
    alpha, kept = state.alpha, state.kept
    lam = state.lam.copy()
    sigma = slope_covariance(data, alpha, lam, kept)
    w = slopes(data, alpha, sigma, kept)
    rss = float(data.compact.rss(w[:, None])[0])
    gamma = 1 - lam[kept] * np.diag(sigma)
    lam[kept] = (gamma + 2 * prior.lambda_1) / np.maximum(w[kept] ** 2 + 2 * prior.lambda_2, TINY)
    lam = np.maximum(lam, TINY)
    alpha = (data.n - gamma.sum() + 2 * prior.alpha_1) / max(rss + 2 * prior.alpha_2, TINY)
    alpha = max(float(alpha), TINY)
    kept = lam < threshold
    w[~kept] = 0.0
    score = (prior.lambda_1 * np.log(lam) - prior.lambda_2 * lam).sum()
    score += prior.alpha_1 * np.log(alpha) - prior.alpha_2 * alpha
    score += 0.5 * (np.linalg.slogdet(sigma)[1] + data.n * np.log(alpha) + np.log(lam).sum())
    score -= 0.5 * (alpha * rss + (lam * w**2).sum())
    return State(w, alpha, lam, kept, float(score))


def missing_variance(data: Sums, alpha: float, lam: Array, kept: BoolArray, sigma: Array) -> Array:
    """What sigma lacks, since each lambda_j is an estimate: mean squares about w_j, less sigma_jj.

    Given the other precisions the evidence of lambda_j and the posterior of w_j depend on two
    numbers s, q (Tipping & Faul 2003). With u = s/(lambda_j + s) uniform on (0, 1)

        p(u | y) ~ sqrt(1 - u) exp(u q^2/2s),      w_j | u ~ N(u q/s, u/s)

    and the average over u is a sum over its grid. Columns that were dropped are counted too.
    """
    out = ~kept
    w, var = slopes(data, alpha, sigma, kept), np.zeros(len(lam))
    var[kept] = np.diag(sigma)
    s, q = np.zeros(len(lam)), np.zeros(len(lam))
    s[kept], q[kept] = 1 / var[kept] - lam[kept], w[kept] / var[kept]  # w = q var, 1/var = lam + s
    across = alpha * data.G[np.ix_(out, kept)]
    s[out] = alpha * np.diag(data.G)[out] - np.einsum("jk,kl,jl->j", across, sigma, across)
    q[out] = alpha * (data.B[out] - across @ (sigma @ data.B[kept]))
    live = s > EPS * (alpha * np.diag(data.G) + lam)
    s = np.where(live, s, 1.0)
    peak = q**2 / (2 * s)  # of v = 1 - u: p(v | y) ~ sqrt(v) exp(-peak v)
    v = np.outer(1 / np.maximum(peak / FAR, 1.0), (np.arange(GRID) + 0.5) / GRID)  # (p, GRID)
    fit = 0.5 * np.log(v) - peak[:, None] * v
    weight = np.exp(fit - fit.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    gap = (1 - v) * (q / s)[:, None] - w[:, None]
    square = (weight * ((1 - v) / s[:, None] + gap**2)).sum(axis=1)
    return np.where(live, np.maximum(square - var, 0.0), 0.0)


class ARDRegression(NormalPredictive):
    """Bayesian regression that finds which columns matter.

    Parameters
    ----------
    max_iter : int, default=300
        Largest number of updates.
    tol : float, default=1e-3
        Stop when the coefficients change by less in sum.
    alpha_1, alpha_2 : float, default=1e-6
        Shape and rate of the gamma prior of the noise precision.
    lambda_1, lambda_2 : float, default=1e-6
        Shape and rate of the gamma prior of the precisions of the slopes.
    compute_score : bool, default=False
        Keep the objective of every step in ``scores_``.
    threshold_lambda : float, default=1e4
        A column whose precision reaches it is dropped.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    copy_X : bool, default=True
        Accepted for scikit-learn's sake; X is never changed.
    verbose : bool, default=False
        Above 0 prints the steps and the time of the fit.

    Attributes
    ----------
    coef_, intercept_ : posterior mean, 0 for a dropped column
    alpha_, lambda_ : precision of the noise, and (p,) of the slopes
    sigma_ : posterior covariance of the slopes kept
    scores_ : objective per step (empty without compute_score)
    n_iter_, history_ : steps, and one row for each
    X_offset_, X_scale_ : mean of X, and ones

    Examples
    --------
    >>> from pellucid import ARDRegression
    >>> model = ARDRegression().fit([[0.0, 0], [1, 1], [2, 2]], [0.0, 1, 2])
    >>> model.predict([[1.0, 1]]).round(4)
    array([1.])
    """

    _interval_note = (
        "low and high integrate over each precision with the others as estimated: still too narrow "
        "for few rows"
    )

    def __init__(
        self,
        *,
        max_iter: int = 300,
        tol: float = 1e-3,
        alpha_1: float = 1e-6,
        alpha_2: float = 1e-6,
        lambda_1: float = 1e-6,
        lambda_2: float = 1e-6,
        compute_score: bool = False,
        threshold_lambda: float = 1e4,
        fit_intercept: bool = True,
        copy_X: bool = True,
        verbose: bool | int = False,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.alpha_1 = alpha_1
        self.alpha_2 = alpha_2
        self.lambda_1 = lambda_1
        self.lambda_2 = lambda_2
        self.compute_score = compute_score
        self.threshold_lambda = threshold_lambda
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the posterior and the precision of every column."""
        return self._fit_steps(X, y, sample_weight)

    def _check_parameters(self) -> None:
        gamma_parameters(self)
        check.non_negative(threshold_lambda=self.threshold_lambda)

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        with single_threaded_blas():
            compact = self._compact(rows, map_, intercept=self.fit_intercept)
            G, B = compact.A.T @ compact.A, compact.A.T @ compact.c[:, 0]
            alpha = 1 / (target_variance(self, rows, map_, compact) + EPS)
            self._relevance(Sums(compact, G, B, compact.weight), alpha)

    def _relevance(self, data: Sums, alpha: float) -> None:
        prior = Gammas(self.alpha_1, self.alpha_2, self.lambda_1, self.lambda_2)
        p = len(data.B)
        self.X_offset_, self.X_scale_ = data.compact.mean, np.ones(p)

        def finish(state: State) -> dict[str, Any]:
            sigma = slope_covariance(data, state.alpha, state.lam, state.kept)
            w = slopes(data, state.alpha, sigma, state.kept)
            b = float(data.compact.intercept(w)[0]) if self.fit_intercept else 0.0
            found = {"coef_": w, "intercept_": b, "sigma_": sigma}
            return {**found, "alpha_": state.alpha, "lambda_": state.lam}

        context = FitContext(self, max_steps=self.max_iter, attributes=finish)
        first = State(np.full(p, np.nan), alpha, np.ones(p), np.ones(p, dtype=bool), np.nan)

        def step(state: State) -> tuple[State, float]:
            new = relevance_round(data, prior, self.threshold_lambda, state)
            change = float(np.abs(new.coef - state.coef).sum())
            if not new.kept.any():
                return new, 0.0
            return new, change if np.isfinite(change) else UNKNOWN

        def record(s: State) -> dict[str, Any]:
            return {"objective": -s.score, "alpha": s.alpha, "kept": int(s.kept.sum())}

        limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol, "start_row": False}
        run = self._iterate(step, first, record=record, context=context, **limits)
        self.__dict__.update(finish(run.state))
        self._missing = missing_variance(
            data, self.alpha_, self.lambda_, run.state.kept, self.sigma_
        )
        self.n_observations_ = data.n
        scores = np.array([-row["objective"] for row in run.history])
        self.scores_ = scores if self.compute_score else np.zeros(0)

    def _noise_room(self) -> tuple[float, float]:
        """Degrees of freedom of the noise, at least 1, and its factor beyond 1/alpha_."""
        spent = float((1 - self.lambda_[self._live()] * np.diag(self.sigma_)).sum())
        room = self.n_observations_ - spent
        df = max(room - self.fit_intercept, 1.0)
        return df, max(room, df) / df  # alpha_ does not count the intercept

    def _wide(self) -> Integrated:
        df, ratio = self._noise_room()
        return Integrated(ratio * self.sigma_, ratio / self.alpha_, df)

    def _extra(self) -> Array:
        return self._noise_room()[1] * self._missing

    def _live(self) -> IntArray:
        return np.flatnonzero(self.lambda_ < self.threshold_lambda)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        p = self.n_features_in_
        k = int((np.asarray(self.lambda_) < self.threshold_lambda).sum())
        return {
            "coef_": (p,),
            "lambda_": (p,),
            "_missing": (p,),
            "X_offset_": (p,),
            "sigma_": (k, k),
        }

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        check_is_fitted(self)
        live = self._live()
        names = [self._feature_names()[j] for j in live]
        shown = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
        numbers = {"alpha": self.alpha_, "kept": len(live), "columns": self.n_features_in_}
        end = ": a local maximum" if self._converged and len(live) else ""
        limit = f"threshold_lambda={self.threshold_lambda:g} is in units of X and y: scale them"
        none = () if len(live) else (f"no column is kept, and alpha is of the fit before; {limit}",)
        return Card(
            representation="y = b + x'w + e" if self.fit_intercept else "y = x'w + e",
            evaluation="marginal likelihood of w_j ~ N(0, 1/lambda_j), e ~ N(0, 1/alpha)",
            optimisation=f"fixed point of the precisions, {self.n_iter_} steps{end}; "
            f"columns kept: {shown or 'none'}",
            numbers={**numbers, "n": self.n_observations_},
            warnings=(*self._unfinished(), "its intervals are too narrow for few rows", *none),
        )
