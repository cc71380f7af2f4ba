r"""Gamma regression: positive amounts whose logarithm of the mean is linear in x.

Model        y ~ Gamma with mean mu and variance phi mu^2,   log mu = b + w.x + offset
Estimator    argmin (1/N) sum_i v_i [y_i/mu_i - 1 - log(y_i/mu_i)] + (alpha/2) |w|^2
Algorithm    Newton (``glm.py``); convex. Units of y only change the intercept.

Reference: McCullagh & Nelder, Generalized Linear Models, ch. 8.
"""

from pellucid.linear.glm.families import Family, tweedie
from pellucid.linear.glm.glm import GeneralizedLinearModel


class GammaRegressor(GeneralizedLinearModel):
    """Regression for positive amounts whose spread grows with their mean.

    ``sample_weight`` equals repetition; ``fit`` and ``fit_blocks`` give the same model.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty ``(alpha/2) |w|^2`` beside half the mean deviance, >= 0; 0 is
        maximum likelihood, with standard errors and tests in ``summary()``.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised.
    solver : {"lbfgs", "newton-cholesky"}, default="lbfgs"
        Accepted for scikit-learn's sake: both lead to the same minimum by Newton's method.
    max_iter : int, default=100
        Largest number of steps.
    tol : float, default=1e-4
        The iteration ends when the step to come changes the means by at most tol/100 of
        themselves (root mean square; tol/10,000 for alpha=0), and takes it.
    warm_start : bool, default=False
        Start from the last fit.
    verbose : int, default=0
        Above 0 prints the steps and the time of the fit.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (p,) and float
    n_iter_, history_ : steps; objective, mean deviance, gap and parameters of each
    deviance_, null_deviance_, df_, log_likelihood_, aic_, bic_ : of this fit
    dispersion_ : phi by Pearson, sum ((y - mu)/mu)^2/(n - df)
    covariance_, standard_errors_ : of maximum likelihood, the intercept first

    Examples
    --------
    >>> from pellucid import GammaRegressor
    >>> model = GammaRegressor(alpha=0).fit([[0], [0], [1], [1]], [1.0, 3.0, 5.0, 15.0])
    >>> model.predict([[0], [1]]).round(6), round(model.dispersion_, 6)
    (array([ 2., 10.]), 0.5)
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "lbfgs",
        max_iter: int = 100,
        tol: float = 1e-4,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose

    def _family(self) -> Family:
        return tweedie(2.0, "log")
