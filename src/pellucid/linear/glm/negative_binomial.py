r"""Negative binomial regression: counts that vary more than Poisson's.

Model        y ~ Poisson(g mu), g ~ Gamma with mean 1 and variance a:  Var[y] = mu + a mu^2
             log mu = b + w.x + log exposure
Estimator    argmax of the likelihood in b, w and a, less (alpha/2) |w|^2 of its mean
Algorithm    Newton in (b, w) and log a at once (``glm.py``): their mixed derivatives are 0 in the
             mean, so the curvature is taken in two blocks. Convex in (b, w) for every a.

Where the counts vary no more than Poisson's, a falls towards 0 and is set to 0. Errors of the
coefficients are those for a known a, which is right for many rows because the two are independent
then (Lawless 1987); this is what R's ``glm.nb`` reports.

References: Lawless (1987), Negative binomial and mixed Poisson regression; Hilbe, Negative Binomial
Regression.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.core.loops.iterate import History, Iteration
from pellucid.linear.glm.counts import negative_binomial
from pellucid.linear.glm.ending import Outcome, close
from pellucid.linear.glm.families import Family, tweedie
from pellucid.linear.glm.glm import LARGEST, GeneralizedLinearModel
from pellucid.linear.glm.newton import NewtonState, last_step, newton_step, start_newton
from pellucid.linear.glm.start import null_theta
from pellucid.linear.glm.sums import Problem, Totals

NOTHING = 1e-7  # share of the variance a mu^2 in mu below which a counts as 0
START = 0.1  # least share to start from


class NegativeBinomialRegressor(GeneralizedLinearModel):
    """Regression for counts with more variation than Poisson's: variance mu + a mu^2.

    ``fit(X, y, exposure=hours)`` models events per hour. ``sample_weight`` equals repetition;
    ``fit`` and ``fit_blocks`` give the same model.

    Parameters
    ----------
    dispersion : float or None, default=None
        a of the variance, >= 0 (0 is Poisson's); None estimates it by maximum likelihood.
    alpha : float, default=0.0
        Strength of the penalty ``(alpha/2) |w|^2`` beside minus the mean log-likelihood, >= 0; 0
        is maximum likelihood, with standard errors and tests in ``summary()``.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised.
    max_iter : int, default=100
        Largest number of steps.
    tol : float, default=1e-4
        The iteration ends when the step to come changes the means by at most tol/100 of
        themselves (root mean square; tol/10,000 for alpha=0), and takes it.
    warm_start : bool, default=False
        Start from the last fit.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (p,) and float
    n_iter_, history_ : steps; objective, dispersion, gap and parameters of each
    dispersion_, dispersion_error_ : a, and its standard error where it was estimated
    deviance_, null_deviance_, df_, log_likelihood_, aic_, bic_ : of this fit
    pearson_dispersion_ : X^2/(n - df): near 1 where the variance is right
    covariance_, standard_errors_ : of maximum likelihood, the intercept first

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import NegativeBinomialRegressor
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(2000, 1))
    >>> y = rng.poisson(np.exp(1 + 0.5 * x[:, 0]) * rng.gamma(2.0, 0.5, 2000))
    >>> model = NegativeBinomialRegressor().fit(x, y)
    >>> round(model.intercept_, 1), model.coef_.round(1), round(model.dispersion_, 1)
    (1.0, array([0.5]), 0.5)
    """

    def __init__(
        self,
        dispersion: float | None = None,
        *,
        alpha: float = 0.0,
        fit_intercept: bool = True,
        max_iter: int = 100,
        tol: float = 1e-4,
        warm_start: bool = False,
    ) -> None:
        self.dispersion = dispersion
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.dispersion is not None:
            check.non_negative(dispersion=self.dispersion)
            check.finite(dispersion=self.dispersion)

    def _family(self) -> Family:
        given = self.dispersion
        return negative_binomial(
            float(getattr(self, "dispersion_", 1.0) if given is None else given)
        )

    def _problem(self, *data: Any) -> Problem:
        problem = super()._problem(*data)
        if problem.wide and self.dispersion is None:
            what = f"dispersion=None takes fewer than {LARGEST} columns"
            raise ValueError(f"{what}, got {len(problem.shift)}; give a dispersion")
        return problem._replace(shaped=self.dispersion is None)

    def _null(self, problem: Problem, totals: Totals) -> Array:
        """The model without x; a by the method of moments."""
        theta = null_theta(problem, totals)
        if not problem.shaped:
            return theta
        poisson = problem._replace(family=tweedie(1.0, "log"), shaped=False)
        spread = close(poisson, theta, 0 * theta, curved=False).pearson / totals.weight
        share = max(spread - 1, START) if np.isfinite(spread) else START
        return np.append(theta, np.log(share * totals.weight / totals.y))

    def _stop(self, totals: Totals) -> Callable[[History], bool] | None:
        mean = totals.y / totals.weight
        return lambda history: history[-1].get("dispersion", np.inf) * mean < NOTHING

    def _row(self, problem: Problem, state: NewtonState) -> dict[str, Any]:
        row = super()._row(problem, state)
        return {**row, "dispersion": np.exp(state.point.theta[-1])} if problem.shaped else row

    def _settle(
        self, problem: Problem, run: Iteration, totals: Totals
    ) -> tuple[Problem, Iteration]:
        """Hold a where the loop left it, at 0 where the counts vary no more than Poisson's."""
        if self.dispersion is not None:
            self.dispersion_, self.dispersion_error_ = float(self.dispersion), np.nan
            return problem, run
        state = run.state
        theta = last_step(state) if run.converged else state.point.theta
        a = float(np.exp(theta[-1]))
        none = a * totals.y / totals.weight < NOTHING
        a = 0.0 if none else a
        information = state.point.curvature[-1, -1] * problem.total
        self.dispersion_ = a
        determined = information > 0  # in floating point: counts of 30 digits say nothing of a
        error = float(a / np.sqrt(information)) if determined else np.inf
        self.dispersion_error_ = np.nan if none else error
        fixed = problem._replace(family=negative_binomial(a), shaped=False)
        state = start_newton(fixed, theta[:-1])
        if none:  # the coefficients of Poisson's law, a few steps away
            for _ in range(self.max_iter):
                if state.gap <= self._goal():
                    break
                state, _ = newton_step(fixed, state)
        converged = state.gap <= self._goal() if none else run.converged
        return fixed, run._replace(state=state, converged=converged)

    def _remark(self) -> str:
        if self.dispersion is not None:
            return ""
        if self.dispersion_ == 0:
            return "the dispersion is 0: the counts vary no more than Poisson's"
        found = f"{self.dispersion_:.4g} with standard error {self.dispersion_error_:.2g}"
        return f"the dispersion is estimated by maximum likelihood: {found}"

    def _finish(self, problem: Problem, outcome: Outcome) -> None:
        a = self.dispersion_
        super()._finish(problem, outcome)
        self.dispersion_ = a
        if self.dispersion is None:  # one more parameter
            self.aic_, self.bic_ = self.aic_ + 2, self.bic_ + float(np.log(self.n_observations_))
