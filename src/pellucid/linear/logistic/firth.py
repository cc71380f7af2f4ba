r"""Firth's logistic regression: the likelihood with Jeffreys' prior.

Estimator    argmax l*(t) = sum_i w_i log P(y_i | x_i) + (1/2) log |I(t)|,
             I = D' diag(v) D the information, v_i = w_i p_i (1 - p_i)
Score        U* = D'(w (y - p) + h (1/2 - p)),   h_i = v_i d_i' I^-1 d_i the leverages
Algorithm    t <- t + I^-1 U*, at most STEP per coordinate, halved while l* falls.   O(n q^2) each
Inference    penalised likelihood ratio: 2 (l*(t) - max l* with t_j held) ~ chi^2(1); the profile
             interval of t_j holds the values that this test does not reject. Its ends are found by
             Newton steps in all coordinates, where these fail by a search over held fits

The prior takes off the first-order bias of maximum likelihood, and as |I| falls to 0 where
probabilities reach 0 or 1, the estimate is finite for separated classes too.

References: Firth (1993); Heinze & Schemper (2002); Venzon & Moolgavkar (1988) for the ends.
"""

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import LinAlgWarning, lapack, qr
from scipy.optimize import brentq
from scipy.special import chdtrc, chdtri, expit
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, ClassWeight, IntArray
from pellucid.core.loops.backtrack import halved
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card, Summary
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.inference.decisions.linear_rule import LinearClassifier, class_weights
from pellucid.linear.linear_model import dependent_sentence
from pellucid.linear.logistic import outcome
from pellucid.linear.logistic.sums import class_counts

STEP = 5.0  # longest step of one coordinate, in log-odds per standard deviation
ATTEMPTS = 31
PROFILE_TOL = 1e-7  # of the held fits, in standard errors
JOINT_STEPS = 15  # before an end is searched for with held fits
REACH = 60  # doublings in the search for the end of an interval


class Data(NamedTuple):
    """Rows in scaled columns."""

    D: Array  # (n, q)
    y: Array  # (n,) 0 or 1
    w: Array  # (n,)


class Point(NamedTuple):
    """l* and its derivatives."""

    theta: Array  # (q,)
    value: float  # l*
    likelihood: float  # l
    score: Array  # (q,) U*
    root: Array  # (q, q) Cholesky of I
    move: Array  # (q,) I^-1 U* on the free coordinates
    gap: float  # sqrt(U* I^-1 U*)


def firth_point(data: Data, theta: Array, free: BoolArray) -> Point:
    """l* at theta; the coordinates that are not free are held."""
    D, y, w = data
    with np.errstate(over="ignore", invalid="ignore"):
        z = D @ theta
        p = expit(z)
        A = np.sqrt(w * p * expit(-z))[:, None] * D
    likelihood = -float(w @ np.logaddexp(0.0, np.where(y == 1, -z, z)))
    L, info = lapack.dpotrf(A.T @ A, lower=1, clean=1)
    none = np.zeros(len(theta))
    if info != 0 or not np.isfinite(likelihood):
        return Point(theta, -np.inf, likelihood, none, L, none, np.inf)
    Z = lapack.dtrtrs(L, A.T, lower=1)[0]  # (q, n)
    h = (Z**2).sum(axis=0)
    score = D.T @ (w * (y - p) + h * (0.5 - p))
    value = likelihood + float(np.log(np.diag(L)).sum())
    if free.all():
        move = lapack.dpotrs(L, score, lower=1)[0]
    else:
        inner = (L @ L.T)[np.ix_(free, free)]
        move = none.copy()
        move[free] = np.linalg.solve(inner, score[free]) if free.any() else 0.0
    return Point(theta, value, likelihood, score, L, move, float(np.sqrt(max(score @ move, 0.0))))


def firth_step(data: Data, free: BoolArray, point: Point) -> tuple[Point, float]:
    """One step of Fisher scoring, halved while l* falls."""
    with single_threaded_blas():
        step = point.move * min(1.0, STEP / max(np.abs(point.move).max(initial=0.0), 1e-300))

        def attempt(t: float) -> tuple[Point, float]:
            tried = firth_point(data, point.theta + t * step, free)
            return tried, -tried.value

        noise = 1e-12 * abs(point.value)
        new: Point = halved(attempt, -point.value, most=ATTEMPTS, noise=noise).point
    stuck = new.gap <= 1e-6 and new.gap > 0.99 * point.gap  # rounding
    return new, 0.0 if stuck else new.gap


def held_maximum(data: Data, start: Array, j: int, value: float, max_iter: int) -> Point:
    """The largest l* with coordinate j held at ``value``."""
    free = np.ones(len(start), dtype=bool)
    free[j] = False
    theta = start.copy()
    theta[j] = value
    point = firth_point(data, theta, free)
    if not np.isfinite(point.value):  # too far from the start: begin at the middle
        theta = np.where(free, 0.0, theta)
        point = firth_point(data, theta, free)
    for _ in range(max_iter):
        if point.gap <= PROFILE_TOL or not np.isfinite(point.value):
            break
        point, gap = firth_step(data, free, point)
        if gap == 0.0:
            break
    return point


def joint_end(data: Data, best: Point, j: int, sign: float, drop: float) -> float | None:
    """An end of the interval, by steps that move all coordinates; None where they do not arrive.

    About theta, with V = I^-1, m = V U* and v its column j, the largest l* for a move d_j is
    l* + U*'m/2 - (d_j - m_j)^2/(2 v_j), at d = m + v (d_j - m_j)/v_j. The step makes it the wanted
    value.
    """
    free, unit = np.ones(len(best.theta), dtype=bool), np.zeros(len(best.theta))
    unit[j] = 1.0
    wanted, point = best.value - drop, best
    for _ in range(JOINT_STEPS):
        v, m = lapack.dpotrs(point.root, unit, lower=1)[0], point.move
        above = point.value + 0.5 * float(point.score @ m) - wanted
        if not above > 0:
            return None
        away = sign * np.sqrt(2 * v[j] * above)  # d_j - m_j
        off = max(point.gap**2 - m[j] ** 2 / v[j], 0.0)  # of the other coordinates
        if abs(m[j] + away) <= PROFILE_TOL * np.sqrt(v[j]) and off <= PROFILE_TOL:
            return float(point.theta[j] + m[j] + away)
        step = m + v * (away / v[j])
        if np.abs(step).max() > STEP:
            return None
        point = firth_point(data, point.theta + step, free)
        if not np.isfinite(point.value):
            return None
    return None


def profile_interval(
    data: Data, best: Point, j: int, se: float, drop: float, max_iter: int
) -> tuple[float, float]:
    """The values of coordinate j whose held maximum is at most ``drop`` below the best."""
    ends = []
    for sign in (-1.0, 1.0):
        end = joint_end(data, best, j, sign, drop)
        if end is not None:
            ends.append(end)
            continue
        warm = [best.theta]

        def excess(distance: float, sign: float = sign, warm: list[Array] = warm) -> float:
            found = held_maximum(data, warm[0], j, best.theta[j] + sign * distance, max_iter)
            if np.isfinite(found.value):
                warm[0] = found.theta
            return max(best.value - found.value, 0.0) - drop

        far = 2 * se
        for _ in range(REACH):
            if excess(far) > 0:
                break
            far *= 2
        else:
            ends.append(sign * np.inf)
            continue
        ends.append(best.theta[j] + sign * brentq(excess, 0.0, far, xtol=1e-9 * se, rtol=1e-10))
    return ends[0], ends[1]


def independent_columns(D: Array, w: Array) -> Any:
    """Columns that no earlier choice of pivots explains, the first kept where it can be."""
    A = np.sqrt(w)[:, None] * D
    size = np.linalg.norm(A, axis=0)
    A = A / np.where(size > 0, size, 1.0)
    if size[0] > 0:
        A[:, 0] *= 1e3  # an intercept is chosen first
    R, order = qr(A, mode="r", pivoting=True)
    diagonal = np.abs(np.diag(R[: min(R.shape)]))
    limit = max(D.shape) * EPS * 10
    rank = int((diagonal > limit * np.where(diagonal[0] > 1, 1.0, diagonal[0])).sum())
    return np.sort(order[:rank])


class FirthLogisticRegression(LinearClassifier):
    """Logistic regression with Jeffreys' prior: less bias, and finite on separated classes.

    Two classes. ``summary()`` has profile-likelihood intervals and penalised likelihood-ratio
    tests; for them the model keeps its training rows.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    class_weight : None, "balanced" or dict, default=None
        What a row of each class counts.
    tol : float, default=1e-8
        Length of the step to come, in standard errors.
    max_iter : int, default=100
        Largest number of steps.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (1, p) and (1,)
    log_likelihood_, penalized_log_likelihood_ : without and with (1/2) log |I|
    covariance_, standard_errors_ : inverse information, the intercept first
    n_iter_, history_ : steps; objective (minus the penalised log-likelihood) and gap of each

    Examples
    --------
    >>> from pellucid import FirthLogisticRegression
    >>> model = FirthLogisticRegression().fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> model.coef_.round(4), model.intercept_.round(4)
    (array([[1.3099]]), array([-1.9649]))
    """

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        class_weight: ClassWeight = None,
        tol: float = 1e-8,
        max_iter: int = 100,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Maximise the penalised likelihood."""
        check.boolean(fit_intercept=self.fit_intercept)
        check.positive(tol=self.tol)
        check.whole(max_iter=self.max_iter)
        rows = self._check_training(X, y, sample_weight)
        self._need_two_classes(rows.n_rows)
        if len(self.classes_) > 2:
            two = f"FirthLogisticRegression takes 2 classes, got {len(self.classes_)}"
            raise ValueError(f"Only binary classification is supported. {two}")
        counts = class_counts(2, rows)
        factor = class_weights(self.class_weight, self.classes_, counts)
        if not (counts * factor > 0).all():
            raise ValueError("FirthLogisticRegression needs rows of 2 classes of positive weight")
        self.n_observations_ = float(counts.sum())
        live = np.asarray(rows.w > 0)
        w = (rows.w * factor[rows.y])[live]
        data, kept, scale = self._design(rows.X[live], rows.y[live], w)
        free = np.ones(data.D.shape[1], dtype=bool)
        with single_threaded_blas():
            start = firth_point(data, np.zeros(len(free)), free)
        context = FitContext.of_rows(self, rows, sample_weight, self.max_iter)
        context.attributes = lambda state: self._in_units(state.theta, kept, scale)
        limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol, "context": context}
        limits["record"] = lambda s: {"objective": -s.value, "log_likelihood": s.likelihood}
        run = self._iterate(partial(firth_step, data, free), start, **limits)
        self.coef_, self.intercept_ = self._in_units(run.state.theta, kept, scale).values()
        self.log_likelihood_ = run.state.likelihood
        self.penalized_log_likelihood_ = run.state.value + float(np.log(scale).sum())
        self._converged = run.converged
        self._kept, self._scale, self._best = kept, scale, run.state.theta
        self._rows_design, self._rows_y, self._rows_w = data
        q = self.n_features_in_ + self.fit_intercept
        root = lapack.dtrtri(run.state.root, lower=1)[0] / scale  # I^-1 = root'root in units of X
        self.covariance_ = np.full((q, q), np.nan)
        self.covariance_[np.ix_(kept, kept)] = root.T @ root
        self.standard_errors_ = np.sqrt(np.diag(self.covariance_))
        return self

    def _design(self, X: Array, codes: Array, w: Array) -> tuple[Data, Any, Array]:
        """Columns of size 1 that are independent, which they are, and their sizes.

        The intercept is the first of the positions; t_j of the data is scale_j times that of X.
        """
        n, p = X.shape
        D = np.column_stack([np.ones(n), X]) if self.fit_intercept else X
        kept = independent_columns(D, w)
        if len(kept) < D.shape[1]:
            gone = np.setdiff1d(np.arange(D.shape[1]), kept) - int(self.fit_intercept)
            which = dependent_sentence(self._feature_names(), tuple(gone.tolist()), (n, p))
            follow = "the coefficients of columns that follow from others are 0"
            warn(f"{which}: {follow}", LinAlgWarning)
        D = D[:, kept]
        if D.shape[1] == 0:
            raise ValueError("every column of X is 0 and there is no intercept: nothing to fit")
        scale = np.abs(D).max(axis=0)
        return Data(np.ascontiguousarray(D / scale), (codes == 1).astype(float), w), kept, scale

    def _in_units(self, theta: Array, kept: IntArray, scale: Array) -> dict[str, Any]:
        full = np.zeros(self.n_features_in_ + self.fit_intercept)
        full[kept] = theta / scale
        b = full[:1] if self.fit_intercept else np.zeros(1)
        return {"coef_": full[self.fit_intercept :][None].copy(), "intercept_": b.copy()}

    predict_log_proba = outcome.predict_log_proba
    predict_proba = outcome.predict_proba

    def summary(self, confidence: float = 0.95) -> Summary:
        """Estimates with penalised likelihood-ratio tests and profile intervals."""
        check_is_fitted(self)
        check.fraction(confidence=confidence)
        data = Data(self._rows_design, self._rows_y, self._rows_w)
        names = (("intercept",) if self.fit_intercept else ()) + self._feature_names()
        q, b = len(names), self.fit_intercept
        estimate = np.append(self.intercept_, self.coef_[0]) if b else self.coef_[0]
        statistic, low, high = (np.full(q, np.nan) for _ in range(3))
        free = np.ones(len(self._best), dtype=bool)
        drop = float(chdtri(1, 1 - confidence)) / 2
        with single_threaded_blas():
            best = firth_point(data, self._best, free)
            for place, j in enumerate(self._kept if self._converged else ()):
                s, se = self._scale[place], self.standard_errors_[j] * self._scale[place]
                held = held_maximum(data, best.theta, place, 0.0, self.max_iter)
                statistic[j] = max(2 * (best.value - held.value), 0.0)
                ends = profile_interval(data, best, place, se, drop, self.max_iter)
                low[j], high[j] = ends[0] / s, ends[1] / s
        with np.errstate(over="ignore"):
            ratio = np.exp(estimate)
        arrays = {"estimate": estimate, "standard_error": self.standard_errors_}
        arrays |= {"statistic": statistic, "p_value": chdtrc(1, statistic)}
        reason = "" if len(self._kept) == q else "columns are linearly dependent"
        reason = reason if self._converged else "it did not converge"
        return Summary(
            title="Firth's logistic regression",
            names=names,
            arrays={**arrays, "low": low, "high": high, "odds_ratio": ratio},
            scalars={**self._likelihoods(), "n": self.n_observations_},
            valid=not reason,
            reason=reason,
            notes=(
                "statistic: penalised likelihood ratio, chi-squared with 1 degree of freedom",
                "low, high: profile of the penalised likelihood, not symmetric",
            )
            if self._converged
            else (),
        )

    def _likelihoods(self) -> dict[str, float]:
        penalized = self.penalized_log_likelihood_
        return {"log_likelihood": self.log_likelihood_, "penalized_log_likelihood": penalized}

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        check_is_fitted(self)
        score = "b + x'w" if self.fit_intercept else "x'w"
        notes = () if self._converged else ("the iteration did not converge",)
        numbers = {"n": self.n_observations_, **self._likelihoods(), "n_iter": self.n_iter_}
        first, second = self.classes_
        return Card(
            representation=f"log P({second})/P({first}) = {score}: a hyperplane",
            evaluation="-log-likelihood - (1/2) log |information|: Jeffreys' prior, which takes "
            "off the first-order bias and keeps the estimate finite on separated classes",
            optimisation=f"Fisher scoring with step halving, {self.n_iter_} steps",
            numbers=numbers,
            warnings=notes,
        )
