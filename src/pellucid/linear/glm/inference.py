r"""Standard errors, tests and intervals of a generalised linear model without penalty.

    Cov(t) = phi (D' diag(mu'^2/V) D)^-1
    t_j/se_j ~ N(0, 1), or t(n - q) where phi is estimated
    phi = 1 for counts; else Pearson's X^2/(n - q)
    likelihood ratio  (D_0 - D)/phi ~ chi^2(difference of parameters)

The information is the expected one, as in R's ``glm`` and in statsmodels.

Reference: McCullagh & Nelder, Generalized Linear Models, section 4.4 and ch. 8.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import chdtrc

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.core.records import Summary
from pellucid.core.runtime.warn import warn
from pellucid.linear.least_squares.inference import cut, estimate_table, tail

OVER = 1.5  # Pearson's dispersion from which counts are called more variable than Poisson's


def invalid(model: Any) -> str:
    """Why there is no inference, or nothing."""
    if model.alpha > 0:
        return "the estimates are shrunk by the penalty (alpha > 0)"
    if model._vanishing:
        return "the mean of some rows runs to 0: there is no finite maximum"
    if model._dependent:
        return "the columns are linearly dependent: the coefficients are one choice of many"
    if not model._converged:
        return "the iteration did not converge"
    if model._covariance is None:
        return "there are too many columns for the curvature that the errors are made of"
    if not model.n_observations_ - model.df_ > 1e-9 and not model._family().dispersion_known:
        return "there are no more observations than parameters"
    if not model._phi() > 0:
        return "every row is fitted exactly: nothing is left to estimate errors from"
    return ""


def parameters(model: Any) -> tuple[tuple[str, ...], Array]:
    """Names and values, the intercept first."""
    if not model.fit_intercept:
        return model._feature_names(), model.coef_
    return ("intercept", *model._feature_names()), np.append(model.intercept_, model.coef_)


def reference(model: Any, distribution: str) -> tuple[str, float]:
    """The distribution of an estimate over its error, and its degrees of freedom."""
    check.one_of(("auto", "normal", "t"), distribution=distribution)
    known = model._family().dispersion_known
    kind = distribution if distribution != "auto" else "normal" if known else "t"
    return kind, model.n_observations_ - model.df_


def glm_summary(
    model: Any, confidence: float, distribution: str, ends: Callable[[float], Array] | None
) -> Summary:
    """Estimates, errors, tests and intervals; ``ends(cut)`` are those of the profile, (q, 2)."""
    check.fraction(confidence=confidence)
    kind, free = reference(model, distribution)
    reason = invalid(model)
    if reason:
        warn(f"no valid inference: {reason}")
    names, b = parameters(model)
    se = np.full(len(b), np.nan) if reason else model.standard_errors_
    width = cut(confidence, free, kind)
    half = width * se
    with np.errstate(all="ignore"):
        statistic = b / se
        ratio = {"ratio": np.exp(b)} if model._link == "log" else {}
    table = estimate_table(b, se, statistic, tail(statistic, free, kind), half)
    profiled = ends is not None and not reason
    if ends is not None and profiled:
        table["low"], table["high"] = ends(width).T
    return Summary(
        title=f"Generalised linear model: {model._family().name}, {model._link} link",
        names=names,
        arrays={**table, **ratio},
        scalars=scalars(model, reason),
        valid=not reason,
        reason=reason,
        notes=notes(model, kind, free, profiled)[bool(reason) :],
    )


def scalars(model: Any, reason: str) -> dict[str, float]:
    """The numbers below the table."""
    k = model.df_ - model.fit_intercept
    phi = model._phi()
    ratio = (model.null_deviance_ - model.deviance_) / phi if phi else np.nan  # 0: nothing is left
    p = np.nan if reason or not k > 0 else float(chdtrc(k, max(ratio, 0.0)))
    found = {"deviance": model.deviance_, "null_deviance": model.null_deviance_}
    found |= {"d2": 1 - model.deviance_ / model.null_deviance_ if model.null_deviance_ else np.nan}
    found |= {"dispersion": model.dispersion_, "pearson_dispersion": model.pearson_dispersion_}
    found |= {"lr_statistic": ratio, "lr_p_value": p, "log_likelihood": model.log_likelihood_}
    last = {"n": model.n_observations_, "df_residual": model.n_observations_ - model.df_}
    return {**found, "aic": model.aic_, "bic": model.bic_, **last}


def notes(model: Any, kind: str, free: float, profiled: bool) -> tuple[str, ...]:
    """How to read the table."""
    known = model._family().dispersion_known
    wald = "Wald: normal for many rows" if kind == "normal" else f"Wald: t with {free:g} df"
    said = [f"tests and intervals are {wald}"]
    if profiled:
        said = [f"tests are {wald}", "low, high: profile of the likelihood, not symmetric"]
    if model._remark():
        said.append(f"{model._remark()}; the errors of the coefficients take it as known")
    if not known:
        said.append("the dispersion is Pearson's X^2 over the residual degrees of freedom")
    elif model.pearson_dispersion_ > OVER:
        more = f"Pearson's dispersion is {model.pearson_dispersion_:.3g}, not 1"
        said.append(f"{more}: y varies more than the family says and the errors are too small")
    if model._link == "log":
        said.append("ratio = exp(estimate): what the mean is multiplied by per unit of the column")
    return tuple(said)
