r"""Tweedie regression: the variance is a power of the mean.

Model        Var[y] = phi mu^power,   log mu or mu = b + w.x + offset
Estimator    argmin (1/N) sum_i v_i d(y_i, mu_i) + (alpha/2) |w|^2,   d half the deviance (families)
Algorithm    Newton (``glm.py``). Convex for a log link with 1 <= power <= 2, and for the identity
             with power 0 or 1; elsewhere the answer is a local minimum, and the card says so.

Power 0 is the normal, 1 the Poisson, 2 the gamma, 3 the inverse Gaussian distribution; between 1
and 2 lie sums of a Poisson number of gammas, which are 0 with positive probability.

Reference: Jorgensen, The Theory of Dispersion Models, ch. 4.
"""

from pellucid.core.arrays import check
from pellucid.linear.glm.families import Family, tweedie
from pellucid.linear.glm.glm import GeneralizedLinearModel


class TweedieRegressor(GeneralizedLinearModel):
    """Regression whose variance is a power of the mean: normal, counts, amounts, claims.

    ``sample_weight`` equals repetition; ``fit`` and ``fit_blocks`` give the same model.

    Parameters
    ----------
    power : float, default=0.0
        Of the mean in the variance: 0 normal, 1 Poisson, 1 to 2 amounts that may be 0, 2 gamma,
        3 inverse Gaussian.
    alpha : float, default=1.0
        Strength of the penalty ``(alpha/2) |w|^2`` beside half the mean deviance, >= 0; 0 is
        maximum likelihood, with standard errors and tests in ``summary()``.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised.
    link : {"auto", "identity", "log"}, default="auto"
        "auto" is the identity for power <= 0 and the logarithm else.
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
    deviance_, null_deviance_, df_, log_likelihood_, aic_, bic_ : of this fit; the likelihood is NaN
        where the density has no closed form
    dispersion_ : phi by Pearson, sum (y - mu)^2/mu^power/(n - df)
    covariance_, standard_errors_ : of maximum likelihood, the intercept first

    Examples
    --------
    >>> from pellucid import TweedieRegressor
    >>> model = TweedieRegressor(power=1.5, alpha=0).fit([[0], [0], [1], [1]], [0.0, 2.0, 4.0, 4.0])
    >>> model.predict([[0], [1]]).round(6)
    array([1., 4.])
    """

    def __init__(
        self,
        *,
        power: float = 0.0,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        link: str = "auto",
        solver: str = "lbfgs",
        max_iter: int = 100,
        tol: float = 1e-4,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.power = power
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.link = link
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check.one_of(("auto", "identity", "log"), link=self.link)
        check.finite(power=self.power)

    def _family(self) -> Family:
        link = self.link if self.link != "auto" else "identity" if self.power <= 0 else "log"
        return tweedie(self.power, link)
