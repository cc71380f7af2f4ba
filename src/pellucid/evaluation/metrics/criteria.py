r"""Information criteria: how well a model fits, less what its parameters cost. Smaller is better.

    AIC = -2 log L + 2 k,   BIC = -2 log L + k ln n,   AICc = AIC + 2 k (k + 1)/(n - k - 1)
    normal errors:  -2 log L = n ln(RSS/n) up to a constant,   Cp = RSS/sigma2 - n + 2 k

k counts all coefficients, the intercept too. AICc is infinite where n <= k + 1.

References: Akaike (1974); Schwarz (1978); Mallows (1973); Hurvich & Tsai (1989).
"""

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.loops import selection
from pellucid.core.loops.selection import Criteria, one_standard_error
from pellucid.core.runtime.warn import warn

__all__ = ["gaussian_criteria", "information_criteria", "one_standard_error"]


def _counts(n_parameters: ArrayLike, n_samples: float) -> tuple[Array, float]:
    k = np.asarray(n_parameters, dtype=np.float64)
    n = float(n_samples)
    if not (np.isfinite(k) & (k >= 0)).all():
        raise ValueError(f"n_parameters must be >= 0, got {n_parameters!r}")
    if not (np.isfinite(n) and n > 0):
        raise ValueError(f"n_samples must be > 0, got {n_samples!r}")
    return k, n


def information_criteria(
    log_likelihood: ArrayLike, n_parameters: ArrayLike, n_samples: float
) -> Criteria:
    """AIC, AICc and BIC of one model or of many.

    ``log_likelihood`` is log L at its maximum, ``n_parameters`` counts every parameter that was
    estimated, ``n_samples`` the rows.

    >>> from pellucid.evaluation import information_criteria
    >>> found = information_criteria(-10.0, 2, 20)
    >>> found.aic, round(found.bic, 4)
    (24.0, 25.9915)
    """
    k, n = _counts(n_parameters, n_samples)
    log_l = np.asarray(log_likelihood, dtype=np.float64)
    if np.isnan(log_l).any():
        raise ValueError("log_likelihood contains NaN")
    fit, room = -2 * log_l, n - k - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        extra = np.where(room > 0, 2 * k * (k + 1) / room, np.inf)
    return _plain(Criteria(fit + 2 * k, fit + 2 * k + extra, fit + k * np.log(n), None))


def gaussian_criteria(
    rss: ArrayLike, n_parameters: ArrayLike, n_samples: float, *, sigma2: float | None = None
) -> Criteria:
    """AIC, AICc, BIC and Mallows' Cp of linear models with normal errors.

    ``rss`` are residual sums of squares, >= 0; 0 gives -inf with a warning. ``n_parameters`` counts
    the coefficients, the intercept too, ``n_samples`` the rows. ``sigma2`` is the noise variance,
    usually that of the largest model; without it there is no Cp.

    >>> from pellucid.evaluation import gaussian_criteria
    >>> found = gaussian_criteria([111.5, 10.9047619], [1, 2], 8, sigma2=0.8136505239)
    >>> found.aic.round(6), found.cp.round(6)
    (array([23.076664,  6.478064]), array([131.036721,   9.402267]))
    """
    k, n = _counts(n_parameters, n_samples)
    r = np.asarray(rss, dtype=np.float64)
    if not (np.isfinite(r) & (r >= 0)).all():
        raise ValueError(f"rss must be finite and >= 0, got {rss!r}")
    if sigma2 is not None and not (np.isfinite(sigma2) and sigma2 > 0):
        raise ValueError(f"sigma2 must be > 0, got {sigma2!r}")
    if (r == 0).any():
        warn("rss is 0: the model goes through every point and its criteria are -inf")
    found = selection.gaussian_criteria(r, k, n, np.nan if sigma2 is None else sigma2)
    aicc = np.where(r > 0, found.aicc, -np.inf)
    return _plain(found._replace(aicc=aicc, cp=None if sigma2 is None else found.cp))


def _plain(found: Criteria) -> Criteria:
    """Floats where one model was given."""
    return Criteria(*(float(v) if v is not None and np.ndim(v) == 0 else v for v in found))
