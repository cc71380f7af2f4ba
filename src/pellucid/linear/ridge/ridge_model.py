r"""Attributes, summary and card of every ridge fit, whatever chose its penalty.

With X = U diag(d) V' of the centred X (after columns without a penalty have been projected out)

    w = V diag(d g) U'y,    g = 1/(d^2 + alpha),    h(x) = 1/n + sum_r (x'v_r)^2 g_r,
    df = 1 + sum_j d_j^2 g_j.
"""

from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.algebra.least_squares import LinearFit
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.core.loops.statistics import Rows, Source
from pellucid.core.records import Card, Summary
from pellucid.core.runtime.warn import warn
from pellucid.linear import linear_model
from pellucid.linear.least_squares import large_sparse
from pellucid.linear.least_squares import smoother as smoothing
from pellucid.linear.least_squares.inference import cuts, estimate_table
from pellucid.linear.least_squares.large_sparse import LargeFit, shared_attributes
from pellucid.linear.least_squares.least_squares import REASONS
from pellucid.linear.least_squares.smoother import Smoother, intercept_first
from pellucid.linear.least_squares.summary import bare
from pellucid.linear.linear_model import LinearModel, one_dimensional, warn_free_of_penalty
from pellucid.linear.ridge.posterior import ridge_spread

AGAIN = "fit it again on rows drawn with replacement to see how far its parameters move"


def way(route: str) -> str:
    """How the system was solved: with alpha it is well conditioned, whatever the columns are.

    >>> way("cholesky")
    'Cholesky of the cross-products with alpha added: a well conditioned system'
    """
    own = {"cholesky": "Cholesky of the cross-products with alpha added: a well conditioned system"}
    return {**REASONS, **own, "svd": "SVD of the rows"}[route]


class Spectrum(NamedTuple):
    """X = U diag(d) V' of the centred X (of D, if the intercept is shrunk); beta = U'y.

    With penalty weights the first ``free`` directions have no penalty (and d = 1); the others are
    those of the rest of X, orthogonal to them, its columns divided by the roots of their weights.
    """

    V: Array  # (q, r)
    d: Array  # (r,) falling, 0 where it is rounding error
    beta: Array  # (r, k)
    free: int = 0

    def factors(self, alpha: float | Array) -> Array:
        """d^2 / (d^2 + alpha); 0 for directions without data."""
        return (self.d**2 * self.gain(alpha).T).T

    def gain(self, alpha: float | Array) -> Array:
        """1 / (d^2 + alpha) on the space the data span; (r,) or (r, k)."""
        total = np.add.outer(self.d**2, alpha)
        total[: self.free] = 1.0
        live = np.broadcast_to((self.d > 0).reshape(-1, *[1] * np.ndim(alpha)), total.shape)
        return np.divide(1.0, total, out=np.zeros(total.shape), where=live)

    def least_squares_penalty(self) -> Array:
        """|w|^2 of the least-norm least-squares fit, per target."""
        d, beta = self.d[self.free :], self.beta[self.free :]
        live = d > 0
        return ((beta[live] / d[live, None]) ** 2).sum(axis=0)


class RidgeFit(NamedTuple):
    """One ridge fit per target."""

    parts: tuple[LinearFit, ...]  # one per distinct alpha
    coef: Array  # (p, k)
    intercept: Array  # (k,)
    rss: Array  # (k,)
    alpha: Array  # (k,)
    spectrum: Spectrum
    weights: Array | None = None  # (q,) penalty of each unknown, where they differ
    iterative: str = ""  # how a solver object got on


class RidgeModel(LinearModel):
    """Base of the ridge regressors: attributes, summary and card of one fit."""

    positive = False
    _alpha_note = ""  # where alpha comes from, said of the posterior intervals
    shrink_intercept = False
    _smoother: Smoother

    leverage = smoothing.leverage
    hat_matrix = smoothing.hat_matrix
    loo_residuals = smoothing.loo_residuals
    loocv = smoothing.loocv
    gcv = smoothing.gcv
    jackknife_interval = smoothing.jackknife_interval

    def _set(self, rows: Source, fit: RidgeFit, unknowns: str, *, shared: bool) -> None:
        """Set the attributes of a fit; ``shared``: one alpha for all targets."""
        single = fit.coef.shape[1] == 1 and one_dimensional(rows)
        pick = (lambda a: float(a[0])) if single else (lambda a: a)
        first, k = fit.parts[0], fit.coef.shape[1]
        n = first.weight
        free = unknowns == "centred"  # the intercept is not shrunk: one more degree of freedom
        self.alpha_ = alpha = float(fit.alpha[0]) if shared or single else fit.alpha
        self.coef_ = fit.coef[:, 0] if single else np.ascontiguousarray(fit.coef.T)
        intercept = np.float64(fit.intercept[0]) if single else fit.intercept
        self.intercept_ = intercept if self.fit_intercept else 0.0
        size = min(rows.n_rows, len(fit.spectrum.V)) - fit.spectrum.free
        d = fit.spectrum.d[fit.spectrum.free :][:size]
        self.singular_ = np.append(d, np.zeros(size - len(d)))
        factors = fit.spectrum.factors(alpha)  # (r,) or (r, k)
        self.shrinkage_factors_ = np.moveaxis(factors, 0, -1)
        df = factors.sum(axis=0) + free
        self.df_ = (df if np.ndim(df) else float(df)) if not self.positive else np.nan
        self.rss_, self.sigma2_ml_, self.n_observations_ = pick(fit.rss), pick(fit.rss / n), n
        room = n - np.broadcast_to(self.df_, (k,))
        sigma2 = np.divide(fit.rss, room, out=np.full(k, np.nan), where=room > 1e-9)
        self.sigma2_ = pick(sigma2)
        theta = np.vstack([fit.intercept, fit.coef]) if self.shrink_intercept else fit.coef
        weights = np.ones(len(theta)) if fit.weights is None else fit.weights
        spent, least = weights @ theta**2, fit.spectrum.least_squares_penalty()
        self.budget_, self.budget_ols_ = pick(spent), pick(least)
        self.shrinkage_ = pick(np.divide(spent, least, out=np.ones(k), where=least > 0))
        self.condition_ = max(part.condition for part in fit.parts)
        self.gradient_ = max(part.gradient for part in fit.parts)
        self.solver_, self._iterative = first.route, fit.iterative
        self._weighted = fit.weights is not None
        self._shape = (rows.n_rows, self.n_features_in_)
        self._dependent = tuple(sorted({j for part in fit.parts for j in part.dependent}))
        self._smoother = ridge_smoother(fit.spectrum, alpha, first, unknowns, self.positive)
        self._warn(room)

    def _set_large(self, rows: Rows, fit: LargeFit, alphas: Array) -> None:
        """The attributes of a fit by LSQR; what hangs on the whole spectrum is not known."""
        for name, value in shared_attributes(self, rows, fit).items():
            setattr(self, name, value)
        single = rows.y.ndim == 1
        spent = (fit.coef**2).sum(axis=0)
        unknown = np.nan if single else np.full(len(alphas), np.nan)
        self.alpha_ = float(alphas[0]) if single or (alphas == alphas[0]).all() else alphas
        self.budget_ = float(spent[0]) if single else spent
        self.budget_ols_, self.shrinkage_, self._weighted = unknown, unknown, False
        for name in ("singular_", "shrinkage_factors_"):
            self.__dict__.pop(name, None)

    def _warn(self, room: Array) -> None:
        if self._dependent:
            warn_free_of_penalty(self, self._dependent, self._shape)
        if not (room > 1e-9).all() and not self.positive:
            few = smoothing.no_freedom(self.n_observations_, bare(np.max(self.df_)))
            warn(f"{few}: sigma2_ is NaN")

    @property
    def _converged(self) -> bool:
        return not self._iterative or "converged after" in self._iterative

    def summary(self, confidence: float = 0.95) -> Summary:
        """Estimates, their sampling errors, and the posterior intervals of the normal prior.

        Shrinkage biases the estimates, so there is no t-test: ``valid`` is False. The standard
        errors are those of sigma2 A X'X A with A = (X'X + alpha I)^-1; low and high bound the
        posterior N(w, sigma2 A), widened by Student's t with n - df degrees of freedom, since
        sigma2 is an estimate: at alpha = 0 they are the intervals of least squares. Where columns
        depend on one another, the prior alone decides in the directions left open.
        """
        check.fraction(confidence=confidence)
        check_is_fitted(self)
        b = intercept_first(self.intercept_, self.coef_, intercept=self.fit_intercept)
        none = np.full(b.shape, np.nan)
        error, half, posterior, unseen = none, none, none, 0
        if not self._converged:
            reason = "the solver ended before it converged"
        elif self._smoother.reason:
            reason = f"{self._smoother.reason}, and so no errors; {AGAIN}"
        else:
            alpha = np.atleast_1d(np.asarray(self.alpha_, dtype=float))
            error, posterior, unseen = ridge_spread(
                self._smoother,
                np.atleast_2d(self.shrinkage_factors_),
                np.atleast_1d(self.sigma2_),
                alpha,
                shrunk=self.shrink_intercept,
                weighted=self._weighted,
            )
            free = self.n_observations_ - np.atleast_1d(self.df_)
            width = cuts(confidence, np.where(free > 0, free, np.nan), "t")  # sigma2 is estimated
            half = width[:, None] * posterior
            reason = self._posterior_of(alpha, unseen) + self._alpha_note
        arrays = {**estimate_table(b, error, none, none, half), "posterior_sd": posterior}
        if np.ndim(self.coef_) == 1:
            arrays = {name: values[0] for name, values in arrays.items()}
        names = (("intercept",) if self.fit_intercept else ()) + self._feature_names()
        scalars = {"alpha": bare(self.alpha_), "df": bare(self.df_), "n": self.n_observations_}
        scalars |= {"rss": bare(self.rss_), "sigma2": bare(self.sigma2_)}
        return Summary(
            title="Ridge regression",
            names=names,
            arrays=arrays,
            scalars=scalars,
            valid=False,
            reason=reason,
        )

    def _depend(self) -> bool:
        """Whether least squares, beside which ``budget_ols_`` stands, has many solutions."""
        if self.solver_ == large_sparse.ROUTE or self._weighted:
            return False
        unknowns = self._shape[1] + (self.shrink_intercept and self.fit_intercept)
        return bool(np.count_nonzero(self.singular_) < unknowns)

    def _posterior_of(self, alpha: Array, unseen: int) -> str:
        """What low and high are, and why there is no test."""
        if not alpha.any():
            reason = "without a penalty the estimates, low and high are those of LinearRegression"
            return f"{reason}, which tests them"
        prior = "w_j ~ N(0, sigma2/(alpha v_j))" if self._weighted else "w ~ N(0, (sigma2/alpha) I)"
        if self.shrink_intercept and self.fit_intercept:
            prior = prior.replace("w ~", "(b, w) ~") + (
                ", b ~ N(0, sigma2/alpha)" if self._weighted else ""
            )
        reason = (
            "the estimates are shrunk and so biased: t-tests do not hold; low and high are "
            f"posterior intervals (t with n - df) under {prior}"
        )
        if unseen:
            what = f"{unseen} direction{'s' * (unseen > 1)} of the columns"
            reason += f"; of {what} the rows say nothing: there the prior alone decides"
            if self._weighted:
                reason += ", and no interval is computed"
        return reason

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        n, alpha = self.n_observations_, self.alpha_
        squares = "sum v_j w_j^2" if self._weighted else "|w|^2"
        both = self.shrink_intercept and self.fit_intercept
        shrunk = f"b^2 + {squares}" if both else squares
        one = np.ndim(alpha) == 0
        text = f"{alpha:.6g}" if one else "alpha (one per target)"
        mean = f"{alpha / n:.6g}" if one else "alpha/n"
        whole = f"({shrunk})" if " + " in shrunk else shrunk
        scales = [
            f"lambda = {text} in RSS + lambda {whole} and in RSS/2 + (lambda/2) {whole}",
            f"lambda = {mean} in RSS/n + lambda {whole}",
        ]
        shrinks = bool(np.any(alpha))
        if shrinks:
            law = "w_j ~ N(0, tau^2/v_j)" if self._weighted else "w ~ N(0, tau^2 I)"
            law = law.replace("w ~", "(b, w) ~") if both else law
            scales.append(f"prior: {law} with tau^2 = s^2/{text}")
        if shrinks and np.ndim(self.budget_) == 0 and self._converged:
            scales.append(f"constraint: {shrunk} <= {self.budget_:.6g}")
        notes = []
        if self._dependent:
            names = self._feature_names()
            notes.append(linear_model.dependent_sentence(names, self._dependent, self._shape))
        if self._depend():
            notes.append("the columns are dependent: budget_ols is that of the least-norm fit")
        unique = "one of many minimisers" if self._dependent else "the only minimiser"
        if not self._converged:
            unique = "ended before it converged"
        if self.solver_ == large_sparse.ROUTE and not np.all(alpha):
            unique = "the minimiser of least norm"
        gradient = f"; largest |x_j'r - alpha w_j|/(|x_j||y|) = {self.gradient_:.1e}"
        certificate = "" if self.positive else gradient
        if self._weighted:
            notes.append("the columns have penalty weights v_j of their own; 0 is no penalty")
        how = "sum (y - b - x'w)^2" if self.fit_intercept else "sum (y - x'w)^2"
        numbers = {"alpha": bare(alpha), "n": n}
        shown: tuple[str, ...] = ("df", "rss", "sigma2", "budget", "budget_ols", "shrinkage")
        if self.solver_ == large_sparse.ROUTE:
            notes.append(f"no degrees of freedom: {self._smoother.reason}")
            shown = ("rss", "budget")
        return Card(
            representation="y = b + x'w" if self.fit_intercept else "y = x'w",
            evaluation=f"{how} + {text} ({shrunk})" + (", w >= 0" if self.positive else ""),
            optimisation=f"{self._iterative or way(self.solver_)}; {unique}{certificate}",
            numbers={**numbers, **{name: bare(getattr(self, f"{name}_")) for name in shown}},
            scales=tuple(scales),
            warnings=tuple(notes),
        )


def ridge_smoother(
    found: Spectrum, alpha: float | Array, fit: LinearFit, unknowns: str, positive: bool
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
