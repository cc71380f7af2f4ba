r"""Poisson regression: counts, or rates of events, whose logarithm is linear in x.

Model        y ~ Poisson(mu),   log mu = b + w.x + log exposure
Estimator    argmin (1/N) sum_i v_i [y_i log(y_i/mu_i) - y_i + mu_i] + (alpha/2) |w|^2
Algorithm    Newton (``glm.py``); the log link is the natural one, so the objective is convex

Reference: McCullagh & Nelder, Generalized Linear Models, ch. 6.
"""

from pellucid.linear.glm.families import Family, tweedie
from pellucid.linear.glm.glm import GeneralizedLinearModel


class PoissonRegressor(GeneralizedLinearModel):
    """Regression for counts: the logarithm of the mean is linear, the variance is the mean.

    ``fit(X, y, exposure=hours)`` models events per hour. ``sample_weight`` equals repetition;
    ``fit`` and ``fit_blocks`` give the same model.

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
    dispersion_, pearson_dispersion_ : 1, and X^2/(n - df): above 1 where counts vary more
    covariance_, standard_errors_ : of maximum likelihood, the intercept first

    Examples
    --------
    Dobson's randomised trial (the example of R's ``glm``):

    >>> from pellucid import PoissonRegressor
    >>> counts = [18, 17, 15, 20, 10, 20, 25, 13, 12]
    >>> X = [[o == 1, o == 2, t == 1, t == 2] for t in range(3) for o in range(3)]
    >>> model = PoissonRegressor(alpha=0).fit(X, counts)
    >>> model.coef_[:2].round(4), round(model.deviance_, 4), model.standard_errors_[:3].round(4)
    (array([-0.4543, -0.293 ]), 5.1291, array([0.1709, 0.2022, 0.1927]))
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
        return tweedie(1.0, "log", dispersion_known=True)
