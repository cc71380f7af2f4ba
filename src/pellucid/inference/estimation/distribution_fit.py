r"""The member of a family that fits a sample, with standard errors.

    "mle"        the largest likelihood: closed forms, or Newton's method on sufficient statistics
    "unbiased"   estimators whose expectation is the parameter (variance: n - 1)
    "moments"    mean and variance of the member are those of the sample

    standard errors   sqrt(diag(J^-1)),  J = -Hessian of the log-likelihood at the estimate
    AIC = 2 k - 2 log L,    BIC = k log n - 2 log L

An estimate on the boundary (all successes) has no curvature that could be read as an error, nor
has a family whose support moves with its parameters: the reason is given instead of a number.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.inference.distributions import category_counts as categories
from pellucid.inference.distributions import continuous, discrete, location_scale, normal
from pellucid.inference.distributions.distribution import Distribution
from pellucid.inference.distributions.normal import moments_of
from pellucid.inference.distributions.samples import rows_of, sample_of

FAMILIES: dict[str, type] = {
    "bernoulli": discrete.Bernoulli,
    "binomial": discrete.Binomial,
    "poisson": discrete.Poisson,
    "categorical": categories.Categorical,
    "multinomial": categories.Multinomial,
    "uniform": continuous.Uniform,
    "exponential": continuous.Exponential,
    "gamma": continuous.Gamma,
    "inverse_gamma": continuous.InverseGamma,
    "beta": continuous.Beta,
    "dirichlet": categories.Dirichlet,
    "normal": normal.Normal,
    "laplace": location_scale.Laplace,
    "logistic": location_scale.Logistic,
    "student_t": location_scale.StudentT,
}
POSITIVE = ("std", "scale", "rate", "shape", "alpha", "beta", "df")  # parameters above 0
METHODS = ("mle", "unbiased", "moments")


@readable
@dataclass(frozen=True, eq=False)
class DistributionFit:
    """A fitted distribution with its likelihood and standard errors.

    >>> fit = fit_distribution([1.0, 2.0, 3.0], "normal")
    >>> print(fit)
    Normal by the largest likelihood, n = 3: mean = 2 +/- 0.4714, std = 0.8165 +/- 0.3333.
    Log-likelihood -3.649, AIC 11.3, BIC 9.494.
    """

    distribution: Any  # with the fitted parameters
    log_likelihood: float  # of the sample
    standard_errors: dict[str, Any]  # by parameter name
    aic: float  # 2 k - 2 log-likelihood
    bic: float  # k log n - 2 log-likelihood
    n: float  # size of the sample, or sum of weights
    method: str = "mle"  # how it was fitted
    reason: str = ""  # why standard errors are missing
    free: tuple[str, ...] = field(default=(), repr=False)  # names of the fitted parameters

    def interval(self, level: float = 0.95) -> dict[str, Array | None]:
        """Estimate -/+ t standard errors; None where there is no error.

        Positive parameters (scales, rates, shapes) have theirs on the scale of the logarithm. The
        quantile is Student's with a degree of freedom less for each parameter; the normal
        distribution's where there is only one, whose error needs no other estimate.
        """
        check.fraction(level=level)
        upper, k = (1 + level) / 2, len(self.free)
        t = float(ndtri(upper) if k == 1 else stdtrit(max(self.n - k, 1.0), upper))
        found: dict[str, Array | None] = {}
        for name in self.free:
            error, at = self.standard_errors[name], self.distribution.parameters[name]
            if error is None:
                found[name] = None
            elif name in POSITIVE and at > 0:
                found[name] = at * np.exp([-t * error / at, t * error / at])
            else:
                found[name] = np.array([at - t * error, at + t * error])
        return found

    def __str__(self) -> str:
        words = "the largest likelihood", "unbiased estimates", "its moments"
        how = words[METHODS.index(self.method)]
        parts = [
            _reading(name, self.distribution.parameters[name], self.standard_errors[name])
            for name in self.free
        ]
        text = f"{type(self.distribution).__name__} by {how}, n = {self.n:g}: {', '.join(parts)}.\n"
        text += f"Log-likelihood {self.log_likelihood:.4g}, AIC {self.aic:.4g}, BIC {self.bic:.4g}."
        return text + (f"\nNo standard error: {self.reason}." if self.reason else "")


def _reading(name: str, at: Array, error: float | None) -> str:
    if np.ndim(at):
        return f"{name} = {np.round(at, 4).tolist()}"
    return f"{name} = {at:.4g}" + ("" if error is None else f" +/- {error:.4g}")


def find_family(family: object) -> Any:
    """The class of a name; a class or a member stands for itself."""
    if isinstance(family, str):
        names = {name.replace("_", ""): name for name in FAMILIES}
        name = names.get(family.lower().replace("_", "").replace(" ", ""), family)
        check.one_of(tuple(FAMILIES), family=name)
        return FAMILIES[name]
    known = isinstance(family, Distribution) or (
        isinstance(family, type) and issubclass(family, Distribution)
    )
    if not known or not hasattr(family, "free"):
        raise ValueError(f"family must be a name or a distribution class, got {family!r}")
    return family


def count_parameters(law: Any) -> int:
    """Free numbers: probabilities that sum to one have one less."""
    simplex = isinstance(law, categories.Categorical | categories.Multinomial)
    return sum(np.size(law.parameters[name]) for name in law.free) - simplex


def standard_errors(law: Any, statistics: Any) -> tuple[dict[str, Any], str]:
    """The error of each parameter, or None with the reason."""
    blank: dict[str, Any] = dict.fromkeys(law.free)
    if not law.regular:
        return blank, "the support depends on the parameters, so the likelihood has no curvature"
    reason = law._boundary() if hasattr(law, "_boundary") else ""
    names = [name for name in law.free if not (reason and name != "mean" and name != "scale")]
    if not names:
        return blank, reason
    if hasattr(law, "_errors"):
        return law._errors(statistics), reason
    kept = [law.free.index(name) for name in names]
    J = law._information(statistics)[np.ix_(kept, kept)]
    values, vectors = np.linalg.eigh(J)
    if not values[0] > 0:
        return blank, "the log-likelihood does not curve down at the estimate"
    errors = np.sqrt(((vectors / values) * vectors).sum(axis=1))
    return {**blank, **dict(zip(names, errors.tolist(), strict=True))}, reason


def estimate(
    family: Any, x: ArrayLike | None, sample_weight: ArrayLike, method: str
) -> tuple[Any, Any]:
    """The distribution and the statistics of the sample."""
    if family is discrete.Binomial:
        raise ValueError("the n of a binomial is known: give family=Binomial(n, 0.5)")
    statistics = family.statistics(x, sample_weight)
    if method == "mle":
        return family.from_statistics(statistics), statistics
    if method == "unbiased":
        if not hasattr(family, "_unbiased"):
            name = getattr(family, "__name__", type(family).__name__)
            raise ValueError(f"no unbiased estimator of {name} is known here; use 'mle'")
        return family._unbiased(statistics), statistics
    return _by_moments(family, x, sample_weight, statistics), statistics


def _by_moments(family: Any, x: Any, sample_weight: ArrayLike, statistics: Any) -> Any:
    cls = family if isinstance(family, type) else type(family)
    if issubclass(cls, categories.Categorical):
        return family.from_statistics(statistics)
    if issubclass(cls, categories.Dirichlet | categories.Multinomial):
        rows = rows_of(x, sample_weight)
        centre = rows.w @ rows.x / rows.n
        return family._from_moments(centre, rows.w @ (rows.x - centre) ** 2 / rows.n, rows)
    sample = sample_of(x, sample_weight)
    n, mean, scatter = moments_of(sample)
    one = issubclass(cls, discrete.Successes | discrete.Poisson | continuous.Exponential)
    if not scatter > 0 and not one:
        values = f"x does not vary (all values {mean:g})"
        raise ValueError(f"{values}: its variance fits no {cls.__name__}")
    return family._from_moments(mean, scatter / n, sample)


def fit_distribution(
    x: ArrayLike, family: object, method: str = "mle", sample_weight: Any = None
) -> DistributionFit:
    """Fit a family of distributions to a sample.

    ``x`` are numbers, labels of a categorical, or rows of a multinomial or Dirichlet sample;
    ``sample_weight`` are numbers of repetitions. ``family`` is a class or one of bernoulli,
    binomial (as ``Binomial(n, 0.5)``: its n is known), poisson, categorical, multinomial, uniform,
    exponential, gamma, inverse_gamma, beta, dirichlet, normal, laplace, logistic, student_t.
    ``method`` is "mle", "unbiased" or "moments".

    >>> from pellucid.inference import fit_distribution
    >>> fit = fit_distribution([2.5, 3.0, 4.5, 5.0, 6.0], "normal")
    >>> fit.distribution.mean, round(fit.log_likelihood, 6), round(fit.standard_errors["mean"], 6)
    (4.2, -8.361737, 0.576194)
    """
    check.one_of(METHODS, method=method)
    law, statistics = estimate(find_family(family), x, sample_weight, method)
    errors, reason = standard_errors(law, statistics)
    n, k, value = statistics.n, count_parameters(law), law._given(statistics)
    aic, bic = 2 * k - 2 * value, k * float(np.log(n)) - 2 * value
    return DistributionFit(law, value, errors, aic, bic, n, method, reason, law.free)
