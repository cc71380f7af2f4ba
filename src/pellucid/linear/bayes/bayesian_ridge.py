r"""Bayesian ridge regression by evidence iteration.

Model        y = b + X w + e,  e ~ N(0, 1/alpha),  w ~ N(0, I/lambda),
             alpha ~ Gamma(alpha_1, alpha_2),  lambda ~ Gamma(lambda_1, lambda_2)
Iteration    with X'X = V diag(e) V':  w = V diag(1/(e + lambda/alpha)) V'X'y
             gamma  = sum alpha e_j / (lambda + alpha e_j)      effective parameters
             lambda = (gamma + 2 lambda_1) / (|w|^2 + 2 lambda_2)
             alpha  = (n - gamma + 2 alpha_1) / (RSS + 2 alpha_2)
             until sum |w_new - w| <= tol                                   (MacKay 1992)
Algorithm    one pass for the moments of [X y], one SVD of a p x p triangle, then O(p) operations
             and one product with V a step; the intercept is eliminated by centring

``BayesianLinearRegression`` maximises the same marginal likelihood over its whole range, with the
intercept integrated out; this class keeps scikit-learn's iteration, attributes and numbers.

References: MacKay (1992), Bayesian interpolation; Tipping (2001).
"""

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.core.algebra.least_squares import Compact, compact_rows
from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Map
from pellucid.core.loops.iterate import UNKNOWN, FitContext
from pellucid.core.loops.statistics import Source
from pellucid.core.records import Card
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.linear.bayes.evidence import Directions
from pellucid.linear.bayes.integrated import Integrated, average, both_grid
from pellucid.linear.bayes.normal_predictive import NormalPredictive, gamma_parameters

TINY = 1e-100  # keeps a precision finite where its data vanish and its prior is improper


class Spectral(NamedTuple):
    """The rows in their singular directions."""

    V: Array  # (p, r)
    e: Array  # (r,) eigenvalues of X'X
    u: Array  # (r,) d_j (U'y)_j
    target: Array  # (r,) U'y
    rest: float  # squares of y outside the columns
    n: float
    p: int


class State(NamedTuple):
    """One round: w of the precisions before it, and the precisions that follow from it."""

    coef: Array  # (p,)
    alpha: float
    lam: float
    score: float  # log marginal likelihood of (coef, alpha, lambda) before the update


class Gammas(NamedTuple):
    """The priors of the two precisions."""

    alpha_1: float
    alpha_2: float
    lambda_1: float
    lambda_2: float


def spectral(compact: Compact) -> Spectral:
    """One SVD of the compact rows."""
    U, d, Vt = np.linalg.svd(compact.A, full_matrices=False)
    target = U.T @ compact.c[:, 0]
    rest = float(compact.rest[0, 0] + ((compact.c[:, 0] - U @ target) ** 2).sum())
    p = compact.A.shape[1]
    return Spectral(Vt.T, d**2, d * target, target, max(rest, 0.0), compact.weight, p)


def coefficients(data: Spectral, alpha: float, lam: float) -> tuple[Array, float]:
    """(w, RSS) given the precisions."""
    w = data.V @ (data.u / (data.e + lam / alpha))
    shrink = (lam / alpha) / (data.e + lam / alpha)  # of each direction, left in the residual
    return w, float(((shrink * data.target) ** 2).sum()) + data.rest


def log_marginal(
    data: Spectral, w: Array, rss: float, alpha: float, lam: float, prior: Gammas
) -> float:
    """ln p(y, alpha, lambda) with the slopes integrated out."""
    log_alpha, log_lam = np.log(alpha), np.log(lam)
    unseen = (data.p - len(data.e)) * log_lam  # directions without data
    spread = np.log(lam + alpha * data.e).sum() + unseen
    fit = data.p * log_lam + data.n * log_alpha - alpha * rss - lam * (w @ w)
    fit = fit - spread - data.n * np.log(2 * np.pi)
    hyper = prior.lambda_1 * log_lam - prior.lambda_2 * lam + prior.alpha_1 * log_alpha
    return float(hyper - prior.alpha_2 * alpha + 0.5 * fit)


def ridge_round(data: Spectral, prior: Gammas, state: State) -> State:
    """The update of MacKay."""
    alpha, lam = state.alpha, state.lam
    w, rss = coefficients(data, alpha, lam)
    score = log_marginal(data, w, rss, alpha, lam, prior)
    gamma = float((alpha * data.e / (lam + alpha * data.e)).sum())
    new_lam = (gamma + 2 * prior.lambda_1) / max(float(w @ w) + 2 * prior.lambda_2, TINY)
    new_alpha = (data.n - gamma + 2 * prior.alpha_1) / max(rss + 2 * prior.alpha_2, TINY)
    return State(w, max(new_alpha, TINY), max(new_lam, TINY), score)


def covariance(data: Spectral, alpha: float, lam: float) -> Array:
    """(alpha X'X + lambda I)^-1, also where there are fewer directions than columns."""
    S = (data.V / (alpha * data.e + lam)) @ data.V.T
    if len(data.e) < data.p:
        S += (np.eye(data.p) - data.V @ data.V.T) / lam
    return S


class BayesianRidge(NormalPredictive):
    """Ridge regression whose penalty is found by evidence iteration.

    Parameters
    ----------
    max_iter : int, default=300
        Largest number of updates.
    tol : float, default=1e-3
        Stop when the coefficients change by less in sum.
    alpha_1, alpha_2 : float, default=1e-6
        Shape and rate of the gamma prior of the noise precision.
    lambda_1, lambda_2 : float, default=1e-6
        Shape and rate of the gamma prior of the precision of the slopes.
    alpha_init, lambda_init : float or None, default=None
        Where to start; None: 1/Var(y) and 1.
    compute_score : bool, default=False
        Keep the log marginal likelihood of every step in ``scores_``.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    copy_X : bool, default=True
        Accepted for scikit-learn's sake; X is never changed.
    verbose : bool, default=False
        Above 0 prints the steps and the time of the fit.

    Attributes
    ----------
    coef_, intercept_ : posterior mean
    alpha_, lambda_ : precisions of the noise and of the slopes
    sigma_ : posterior covariance of the slopes
    scores_ : log marginal likelihood per step (empty without compute_score)
    n_iter_, history_ : steps, and one row for each
    X_offset_, X_scale_ : mean of X, and ones

    Examples
    --------
    >>> from pellucid import BayesianRidge
    >>> model = BayesianRidge().fit([[0.0, 0], [1, 1], [2, 2]], [0.0, 1, 2])
    >>> model.predict([[1.0, 1]]).round(4)
    array([1.])
    """

    _interval_note = "low and high integrate over both precisions, which are estimates"

    def __init__(
        self,
        *,
        max_iter: int = 300,
        tol: float = 1e-3,
        alpha_1: float = 1e-6,
        alpha_2: float = 1e-6,
        lambda_1: float = 1e-6,
        lambda_2: float = 1e-6,
        alpha_init: float | None = None,
        lambda_init: float | None = None,
        compute_score: bool = False,
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
        self.alpha_init = alpha_init
        self.lambda_init = lambda_init
        self.compute_score = compute_score
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the posterior and the two precisions that maximise the evidence."""
        return self._fit_steps(X, y, sample_weight)

    def _check_parameters(self) -> None:
        gamma_parameters(self)
        starts = {"alpha_init": self.alpha_init, "lambda_init": self.lambda_init}
        check.positive(**{name: value for name, value in starts.items() if value is not None})

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        with single_threaded_blas():
            compact = self._compact(rows, map_, intercept=self.fit_intercept)
            data = spectral(compact)
            variance = target_variance(self, rows, map_, compact)
        prior = Gammas(self.alpha_1, self.alpha_2, self.lambda_1, self.lambda_2)
        alpha = 1 / (variance + EPS) if self.alpha_init is None else float(self.alpha_init)
        lam = 1.0 if self.lambda_init is None else float(self.lambda_init)
        self.X_offset_, self.X_scale_ = compact.mean, np.ones(data.p)

        def finish(state: State) -> dict[str, Any]:
            w, _ = coefficients(data, state.alpha, state.lam)
            b = float(compact.intercept(w)[0]) if self.fit_intercept else 0.0
            sigma = covariance(data, state.alpha, state.lam)
            found = {"coef_": w, "intercept_": b, "sigma_": sigma}
            return {**found, "alpha_": state.alpha, "lambda_": state.lam}

        context = FitContext(self, max_steps=self.max_iter, attributes=finish)
        first = State(np.full(data.p, np.nan), alpha, lam, np.nan)

        def step(state: State) -> tuple[State, float]:
            new = ridge_round(data, prior, state)
            change = float(np.abs(new.coef - state.coef).sum())
            return new, change if np.isfinite(change) else UNKNOWN

        limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol, "start_row": False}
        limits["record"] = lambda s: {"objective": -s.score, "alpha": s.alpha, "lambda": s.lam}
        run = self._iterate(step, first, context=context, **limits)
        self.__dict__.update(finish(run.state))
        self.n_observations_ = data.n
        self._wide_sigma, self._wide_noise, self._wide_df = self._average(data, prior)
        w, rss = coefficients(data, self.alpha_, self.lambda_)
        self._score = log_marginal(data, w, rss, self.alpha_, self.lambda_, prior)
        scores = [*(-row["objective"] for row in run.history), self._score]
        self.scores_ = np.array(scores) if self.compute_score else np.zeros(0)

    def _average(self, data: Spectral, prior: Gammas) -> Integrated:
        """The slopes with both precisions integrated out."""
        d, seen = np.sqrt(data.e), data.e > EPS * data.e.max(initial=0.0)
        kept = Directions(d[seen], data.target[seen], data.rest, data.n - self.fit_intercept, 0.0)
        if not (kept.n > 0 and kept.rest + kept.beta @ kept.beta + prior.alpha_2 > 0):
            return Integrated(self.sigma_, 1 / self.alpha_, np.inf)
        grid = both_grid(kept, prior.alpha_1, prior.alpha_2, (prior.lambda_1, prior.lambda_2))
        V, noise = average(data.V, d, data.target, grid, 1 / self.lambda_, 1 / self.alpha_)
        return Integrated(V, noise, grid.df)

    def _wide(self) -> Integrated:
        return Integrated(self._wide_sigma, self._wide_noise, self._wide_df)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        p = self.n_features_in_
        return {"coef_": (p,), "sigma_": (p, p), "_wide_sigma": (p, p), "X_offset_": (p,)}

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        check_is_fitted(self)
        ratio = self.lambda_ / self.alpha_
        numbers = {"alpha": self.alpha_, "lambda": self.lambda_, "n": self.n_observations_}
        end = ": a stationary point" if self._converged else ""
        return Card(
            representation="y = b + x'w + e" if self.fit_intercept else "y = x'w + e",
            evaluation="marginal likelihood of w ~ N(0, I/lambda), e ~ N(0, 1/alpha), gamma priors",
            optimisation=f"MacKay's fixed point on the spectrum of X'X, {self.n_iter_} steps{end}",
            numbers={**numbers, "log_marginal_likelihood": self._score},
            scales=(f"ridge: the slopes are those of Ridge({ratio:.6g})",),
            warnings=self._unfinished(),
        )


def target_variance(model: BaseEstimator, rows: Source, map_: Map, compact: Compact) -> float:
    """Var(y) about its mean, also where the fit has no intercept."""
    if not model.fit_intercept:
        p = model.n_features_in_
        total = model._sums(rows, map_) if rows.n_rows > p else None
        compact = compact_rows(rows, map_, total, p, intercept=True)
    return float(compact.tss[0] / compact.weight)
