r"""Ordinal logistic regression: proportional odds.

Model        P(y <= k | x) = F(t_k - x'w),  t_1 < ... < t_{K-1};  y is x'w + e cut at the t_k
             F: logit 1/(1 + exp(-z)),  probit Phi(z),  cloglog 1 - exp(-exp(z))
Odds         logit: one unit of x_j multiplies the odds of y > k by exp(w_j), for every k
Estimator    argmin  sum_i v_i (-log [F(u_i) - F(l_i)]) + |w|^2/(2C),
             u, l = t_k - x'w, t_{k-1} - x'w;  C = inf is maximum likelihood
Algorithm    Newton. With a = f(u)/P, b = f(l)/P the second derivatives of log P are
             f'(u)/P - a^2,  -f'(l)/P - b^2,  a b  (uu, ll, ul); log F(u) - F(l) is concave for
             all three links. It is -inf where thresholds cross, so that a step is halved before
             they can: they increase at every iterate.        O(n (p + K)^2) a step
Errors       the inverse of the second derivatives at the maximum

References: McCullagh (1980), Regression models for ordinal data; Agresti (2010), ch. 3; Pratt
(1981), Concavity of the log likelihood.
"""

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import LinAlgWarning
from scipy.optimize import linprog
from scipy.sparse import csr_array
from scipy.special import chdtrc, expit, log_expit, log_ndtr, ndtri
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, with_callbacks
from pellucid.core.algebra.linalg import in_range
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.loops.backtrack import backtrack
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import LEAF_ROWS, Rows
from pellucid.core.records import Card, Summary
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.linear.least_squares.inference import cut, estimate_table, tail
from pellucid.linear.logistic.newton import solve_curvature
from pellucid.linear.logistic.sums import class_counts, log_likelihood_of_counts, typical_row
from pellucid.solvers import SeparationWarning

LINKS = ("logit", "probit", "cloglog")
LARGEST = 8.0  # |x'w| about its middle beyond which separation is looked for
HALVINGS = 60


def log_density(link: str, z: Array) -> Array:
    """log f(z); -inf at infinite z."""
    with np.errstate(over="ignore", invalid="ignore"):
        if link == "logit":
            value = log_expit(z) + log_expit(-z)
        elif link == "probit":
            value = -0.5 * z * z - 0.5 * np.log(2 * np.pi)
        else:
            value = z - np.exp(z)
    return np.where(np.isfinite(z), value, -np.inf)


def density_slope(link: str, z: Array) -> Array:
    """f'(z)/f(z); 0 at infinite z, where f is 0."""
    z = np.where(np.isfinite(z), z, 0.0)
    if link == "logit":
        return 1 - 2 * expit(z)
    return -z if link == "probit" else 1 - np.exp(np.minimum(z, 700.0))


def log_between(link: str, low: Array, high: Array) -> Array:
    """log [F(high) - F(low)] without cancellation; -inf where high <= low.

    >>> log_between("logit", np.array([40.0]), np.array([41.0])).round(4)
    array([-40.4587])
    """
    with np.errstate(all="ignore"):
        if link == "logit":  # F(u) - F(l) = F(u) F(-l) (1 - exp(l - u))
            value = log_expit(high) + log_expit(-low) + np.log1p(-np.exp(low - high))
        elif link == "probit":  # the tail that is small
            flip = low > 0
            a, b = np.where(flip, -high, low), np.where(flip, -low, high)
            value = log_ndtr(b) + np.log1p(-np.exp(log_ndtr(a) - log_ndtr(b)))
        else:
            # exp(-e^l) - exp(-e^u) = exp(-e^l) (1 - exp(-(e^u - e^l)))
            value = -np.exp(low) + np.log(-np.expm1(-np.exp(low) * np.expm1(high - low)))
            value = np.where(np.isneginf(low), np.log(-np.expm1(-np.exp(high))), value)
    return np.where(high > low, value, -np.inf)


def quantile(link: str, q: Array) -> Array:
    """F^-1."""
    if link == "logit":
        return np.log(q / (1 - q))
    return np.asarray(ndtri(q)) if link == "probit" else np.log(-np.log1p(-q))


class Sums(NamedTuple):
    """Loss and derivatives in (t, w)."""

    loss: float
    slope: Array  # (K - 1 + p,)
    curvature: Array  # (K - 1 + p, K - 1 + p)


class Problem(NamedTuple):
    """What is minimised; columns are taken about ``shift``."""

    rows: Rows
    n_classes: int
    link: str
    ridge: float  # 1/C
    shift: Array


class State(NamedTuple):
    """Thresholds and slopes, and what the objective looks like there."""

    theta: Array  # (K - 1 + p,)
    value: float
    slope: Array
    curvature: Array
    step: Array
    rank: int
    gap: float


def leaf_sums(problem: Problem, theta: Array, start: int) -> Sums:
    """The sums of one leaf."""
    rows = problem.rows.slice(start, start + LEAF_ROWS)
    K, link, v, c = problem.n_classes, problem.link, rows.w, rows.y
    X = rows.X - problem.shift
    ends = np.concatenate([[-np.inf], theta[: K - 1], [np.inf]])
    z = X @ theta[K - 1 :]
    u, l = ends[c + 1] - z, ends[c] - z  # noqa: E741  the letters of the formula
    log_p = log_between(link, l, u)
    with np.errstate(invalid="ignore", over="ignore"):
        a, b = np.exp(log_density(link, u) - log_p), np.exp(log_density(link, l) - log_p)
    uu, ll = a * density_slope(link, u) - a * a, -b * density_slope(link, l) - b * b
    ul = a * b
    loss = -float(v[v > 0] @ log_p[v > 0])
    U, L = _indicator(c, K, 0), _indicator(c, K, 1)  # (K - 1, n) rows cut above, below
    slope = np.concatenate([-(U @ (v * a)) + L @ (v * b), X.T @ (v * (a - b))])
    tt = -np.diag(U @ (v * uu) + L @ (v * ll))
    for k in range(K - 2):
        tt[k, k + 1] = tt[k + 1, k] = -float((v * ul)[c == k + 1].sum())
    tw = U @ ((v * (uu + ul))[:, None] * X) + L @ ((v * (ll + ul))[:, None] * X)
    ww = -(X * (v * (uu + 2 * ul + ll))[:, None]).T @ X
    return Sums(loss, slope, np.block([[tt, tw], [tw.T, ww]]))


def _indicator(codes: IntArray, K: int, below: int) -> Any:
    """(K - 1, n): 1 where the threshold is the upper (or the lower) end of the row's class."""
    place = codes - below
    inside = np.flatnonzero((place >= 0) & (place < K - 1))
    return csr_array((np.ones(len(inside)), (place[inside], inside)), shape=(K - 1, len(codes)))


def evaluate(problem: Problem, theta: Array) -> State:
    """The objective, its derivatives and the Newton step."""
    starts = range(0, problem.rows.n_rows, LEAF_ROWS)
    if (np.diff(theta[: problem.n_classes - 1]) <= 0).any():
        return State(theta, np.inf, theta, np.zeros((0, 0)), theta, 0, np.inf)
    parts = list(map_threads(partial(leaf_sums, problem, theta), starts))
    loss, g, H = parts[0]
    for part in parts[1:]:
        loss, g, H = loss + part.loss, g + part.slope, H + part.curvature
    w, m = theta[problem.n_classes - 1 :], problem.n_classes - 1
    g[m:] += problem.ridge * w
    H[m:, m:] += problem.ridge * np.eye(len(w))
    value = loss + 0.5 * problem.ridge * float(w @ w)
    if not (np.isfinite(value) and np.isfinite(g).all() and np.isfinite(H).all()):
        return State(theta, np.inf, g, H, theta, 0, np.inf)
    solved = solve_curvature(H, g)
    gap = np.sqrt(max(-float(g @ solved.step), 0.0) / float(problem.rows.w.sum()))
    return State(theta, value, g, H, solved.step, solved.rank, float(gap))


def newton_step(problem: Problem, state: State) -> tuple[State, float]:
    """One step, halved until the objective does not rise."""

    def attempt(share: float) -> tuple[State, float]:
        new = evaluate(problem, state.theta + share * state.step)
        return new, new.value

    noise = 1e-12 * max(state.value, 1e-3)
    with single_threaded_blas():
        found = backtrack(attempt, state.value, 0.0, most=HALVINGS, noise=noise)
    if found is None:
        return state._replace(gap=0.0), 0.0  # rounding is reached
    return found.point, found.point.gap


def is_separated(rows: Rows, n_classes: int) -> bool:
    """Whether some (t, w) has every margin u >= 0, l <= 0 and not all of them 0."""
    live = rows.w > 0
    X, c = rows.X[live], rows.y[live]
    X = (X - X.mean(axis=0)) / np.maximum(np.abs(X - X.mean(axis=0)).max(axis=0), 1e-300)
    U, L = _indicator(c, n_classes, 0).T.toarray(), _indicator(c, n_classes, 1).T.toarray()
    upper = np.hstack([U, -X])[c < n_classes - 1]
    lower = np.hstack([-L, X])[c > 0]
    A = np.vstack([upper, lower])
    limits = {"A_ub": -A, "b_ub": np.zeros(len(A)), "bounds": [(-1.0, 1.0)] * A.shape[1]}
    found = linprog(-A.sum(axis=0), **limits, method="highs")
    return bool(found.x is not None and (A @ found.x).max() > 1e-7)


class OrdinalLogisticRegression(Classifier):
    """Proportional odds: ordered classes as one linear score cut at increasing thresholds.

    Parameters
    ----------
    C : float, default=inf
        Inverse strength of the ridge penalty sum w^2/(2C); inf is maximum likelihood.
    link : {"logit", "probit", "cloglog"}, default="logit"
        Distribution function that turns a score into a cumulative probability.
    tol : float, default=1e-6
        Newton's gap at which it has converged: the root mean square by which scores still move.
    max_iter : int, default=100
        Largest number of Newton steps.

    Attributes
    ----------
    coef_ : (p,) slopes w; a positive one moves y to later classes
    thresholds_ : (K - 1,) increasing cut points; P(y <= classes_[k]) = F(thresholds_[k] - x'w)
    classes_ : the labels in their order, which is the sorted one
    covariance_, standard_errors_ : thresholds first, then slopes; NaN where they are not valid
    log_likelihood_, null_log_likelihood_, aic_, bic_ : of the fit
    separation_ : whether a score separates the classes, so that no maximum exists
    n_iter_, history_ : the Newton steps

    Examples
    --------
    >>> from pellucid import OrdinalLogisticRegression
    >>> x = [[0.0], [1], [2], [3], [4], [5], [6], [7], [8], [9], [10], [11]]
    >>> y = [0, 0, 1, 0, 1, 2, 1, 0, 2, 1, 2, 2]
    >>> model = OrdinalLogisticRegression().fit(x, y)
    >>> model.coef_.round(4), model.thresholds_.round(4)
    (array([0.4995]), array([1.588 , 3.8223]))
    >>> model.predict_proba([[5.0]]).round(4)
    array([[0.2871, 0.5029, 0.21  ]])
    """

    def __init__(
        self, *, C: float = np.inf, link: str = "logit", tol: float = 1e-6, max_iter: int = 100
    ) -> None:
        self.C = C
        self.link = link
        self.tol = tol
        self.max_iter = max_iter

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # classes without an order lie along no one score
        return tags

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the slopes and the thresholds between the ordered classes."""
        check.positive(C=self.C, tol=self.tol)
        check.whole(max_iter=self.max_iter)
        check.one_of(LINKS, link=self.link)
        rows = self._check_training(X, y, sample_weight)
        K, p = len(self.classes_), rows.X.shape[1]
        if K < 2:
            few = f"1 class in {rows.n_rows} samples (n_samples={rows.n_rows})"
            raise ValueError(f"{type(self).__name__} needs at least 2 classes, got {few}")
        counts = class_counts(K, rows)
        if (counts == 0).any():
            gone = self.classes_[counts == 0].tolist()
            raise ValueError(f"every class needs rows of positive weight, got none for {gone}")
        problem = Problem(rows, K, self.link, 1 / self.C, typical_row(rows.X, rows.w))

        def attributes(state: State | None) -> dict[str, Any]:
            if state is None:
                return {}
            thresholds, coef = in_units(problem, state.theta)
            return {"classes_": self.classes_, "thresholds_": thresholds, "coef_": coef}

        context = FitContext(self, X=X, y=y, sample_weight=sample_weight, max_steps=self.max_iter)
        context.attributes = attributes
        with single_threaded_blas():
            below = np.cumsum(counts)[:-1] / counts.sum()  # thresholds give each class its share
            start = evaluate(problem, np.concatenate([quantile(self.link, below), np.zeros(p)]))
        limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol, "context": context}
        limits["record"] = lambda state: {"objective": state.value}
        run = self._iterate(partial(newton_step, problem), start, **limits)
        self._set(problem, run.state, counts)
        self._warn()
        return self

    def _set(self, problem: Problem, state: State, counts: Array) -> None:
        K, p = problem.n_classes, problem.rows.X.shape[1]
        self.thresholds_, self.coef_ = in_units(problem, state.theta)
        w = state.theta[K - 1 :]
        self.log_likelihood_ = -(state.value - 0.5 * problem.ridge * float(w @ w))
        self.null_log_likelihood_ = log_likelihood_of_counts(counts)
        n, k = float(counts.sum()), state.rank
        self.n_observations_, self._rank = n, k
        penalty = np.r_[np.zeros(K - 1), np.full(p, problem.ridge)]
        inverse = np.linalg.pinv(in_range(state.curvature, "the curvature"))
        df = k - float(np.diag(inverse) @ penalty)  # as LogisticRegression
        self.aic_ = -2 * self.log_likelihood_ + 2 * df
        self.bic_ = -2 * self.log_likelihood_ + df * np.log(n)
        Z = (problem.rows.X - problem.shift)[problem.rows.w > 0] @ w
        suspect = np.isinf(self.C) and (np.ptp(Z) > 2 * LARGEST or state.gap > self.tol)
        self.separation_ = bool(suspect and is_separated(problem.rows, K))
        self._dependent = k < K - 1 + p and not self.separation_
        size = K - 1 + p
        self.covariance_ = np.full((size, size), np.nan)
        if not self._reason():
            T = np.eye(size)  # thresholds in units of X: t + shift'w
            T[: K - 1, K - 1 :] = problem.shift
            self.covariance_ = T @ np.linalg.inv(state.curvature) @ T.T
        self.standard_errors_ = np.sqrt(np.diag(self.covariance_))

    def _reason(self) -> str:
        """Why there is no inference, or nothing."""
        if np.isfinite(self.C):
            return "the fit is penalised"
        if self.separation_:
            return "the classes are separated: the maximum likelihood is not attained"
        return "the columns are linearly dependent" if self._dependent else ""

    def _warn(self) -> None:
        if self.separation_:
            what = "a linear score separates the ordered classes"
            why = "the maximum likelihood is not attained and the slopes would grow without end"
            warn(f"{what}: {why}; use a finite C", SeparationWarning)
        elif self._dependent and np.isinf(self.C):
            why = "a constant one depends on the thresholds"
            what = f"the columns of X are linearly dependent ({why})"
            warn(f"{what}: the slopes are the ones of least norm", LinAlgWarning)

    def latent(self, X: ArrayLike) -> Array:
        """The score x'w that the thresholds cut, (n,)."""
        return self._check_input(X) @ self.coef_

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """log P of each class, (n, K)."""
        z = self.latent(X)
        ends = np.concatenate([[-np.inf], self.thresholds_, [np.inf]])
        low, high = ends[None, :-1] - z[:, None], ends[None, 1:] - z[:, None]
        return log_between(self.link, low, high)

    def predict_proba(self, X: ArrayLike) -> Array:
        """P of each class, (n, K); rows sum to 1."""
        P = np.exp(self.predict_log_proba(X))
        return P / P.sum(axis=1, keepdims=True)

    def predict(self, X: ArrayLike) -> Any:
        """The most probable class."""
        codes = self.predict_log_proba(X).argmax(axis=1)
        return self.classes_[codes]

    def _names(self) -> tuple[str, ...]:
        c = self.classes_
        cuts = tuple(f"{c[k]}|{c[k + 1]}" for k in range(len(c) - 1))
        return cuts + self._feature_names()

    def summary(self, confidence: float = 0.95) -> Summary:
        """Estimates with Wald errors, thresholds first, and the test of all slopes."""
        check.fraction(confidence=confidence)
        check_is_fitted(self)
        reason = self._reason()
        if reason:
            warn(f"no valid inference: {reason}")
        b, se = np.append(self.thresholds_, self.coef_), self.standard_errors_
        z, half = b / se, cut(confidence, np.inf, "normal") * se
        ll, null = self.log_likelihood_, self.null_log_likelihood_
        df = self._rank - len(self.thresholds_)
        ratio = 2 * (ll - null)
        p = float(chdtrc(df, max(ratio, 0.0))) if df > 0 and not reason else np.nan
        scalars = {"log_likelihood": ll, "null_log_likelihood": null, "lr_statistic": ratio}
        scalars |= {"lr_p_value": p, "pseudo_r2": 1 - ll / null}
        return Summary(
            title=f"Ordinal regression, link {self.link}",
            names=self._names(),
            arrays=estimate_table(b, se, z, tail(z, np.inf, "normal"), half),
            scalars={**scalars, "aic": self.aic_, "bic": self.bic_, "n": self.n_observations_},
            valid=not reason,
            reason=reason,
        )

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"coef_": (self.n_features_in_,), "thresholds_": (len(self.classes_) - 1,)}

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        F = {"logit": "1/(1 + exp(-z))", "probit": "Phi(z)", "cloglog": "1 - exp(-exp(z))"}
        penalty = "" if np.isinf(self.C) else f" + {0.5 / self.C:.6g} sum w^2"
        numbers = {"log-likelihood": self.log_likelihood_, "AIC": self.aic_, "BIC": self.bic_}
        odds = "exp(w_j) multiplies the odds of a later class, at every cut"
        return Card(
            representation=f"P(y <= k) = F(t_k - x'w), F(z) = {F[self.link]}, "
            f"{len(self.thresholds_)} increasing thresholds",
            evaluation=f"- log-likelihood{penalty}",
            optimisation=f"Newton, {self.n_iter_} steps",
            numbers={**numbers, "n": self.n_observations_},
            scales=(odds,) if self.link == "logit" else (),
            warnings=(self._reason(),) if self._reason() else (),
        )


def in_units(problem: Problem, theta: Array) -> tuple[Array, Array]:
    """Thresholds and slopes for X itself."""
    K = problem.n_classes
    w = theta[K - 1 :].copy()
    return theta[: K - 1] + problem.shift @ w, w
