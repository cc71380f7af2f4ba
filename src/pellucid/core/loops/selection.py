r"""Choosing among candidates: information criteria and the one-standard-error rule.

    AIC = n ln(RSS/n) + 2 k,   BIC = n ln(RSS/n) + k ln n,   AICc = AIC + 2 k (k + 1)/(n - k - 1)
    Cp = RSS/sigma2 - n + 2 k,     k coefficients, the intercept counted

One-standard-error rule: of the candidates whose mean is within one standard error OF THE BEST one,
take the simplest; cross-validation errors of neighbours differ by less than their noise.

References: Akaike (1974); Schwarz (1978); Mallows (1973); Breiman et al. (1984), section 3.4.3.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.records import plain


class Criteria(NamedTuple):
    """Information criteria of one model or of many; smaller is better. ``cp`` needs sigma2."""

    aic: Any
    aicc: Any
    bic: Any
    cp: Any = None

    def to_dict(self) -> dict[str, Any]:
        return plain(self._asdict())

    def __str__(self) -> str:
        parts = [f"{name} {plain(value)}" for name, value in self._asdict().items()]
        return f"smaller is better: {', '.join(part for part in parts if 'None' not in part)}"


def gaussian_criteria(
    rss: ArrayLike, k: ArrayLike, n: float, sigma2: ArrayLike = np.nan
) -> Criteria:
    """The criteria of normal models with k coefficients, the intercept counted.

    >>> gaussian_criteria(3.254602, 4, 8).aic.round(6)
    np.float64(0.805028)
    """
    rss, k = np.asarray(rss, dtype=np.float64), np.asarray(k, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        fit = n * np.log(rss / n)
        room = n - k - 1
        aicc = fit + 2 * k + np.where(room > 0, 2 * k * (k + 1) / room, np.inf)
        return Criteria(fit + 2 * k, aicc, fit + k * np.log(n), rss / sigma2 - n + 2 * k)


def one_standard_error(
    mean: ArrayLike,
    standard_error: ArrayLike,
    complexity: ArrayLike,
    *,
    greater_is_better: bool = True,
) -> int:
    """The simplest candidate within one standard error of the best; ties go to the better mean.

    Parameters
    ----------
    mean, standard_error : arrays of shape (m,)
        Of the scores (or losses) of m candidates; a candidate without a finite mean is left out.
    complexity : array of shape (m,)
        Larger is more complex.
    greater_is_better : bool, default=True
        False for losses.

    Returns
    -------
    int, the place of the chosen candidate

    >>> one_standard_error([0.80, 0.84, 0.85], [0.02] * 3, [1, 2, 3])
    1
    """
    loss = -np.asarray(mean, dtype=np.float64) if greater_is_better else np.asarray(mean, float)
    error, complexity = np.asarray(standard_error, float), np.asarray(complexity, float)
    if not loss.shape == error.shape == complexity.shape or loss.ndim != 1:
        shapes = f"got shapes {loss.shape}, {error.shape} and {complexity.shape}"
        raise ValueError(f"mean, standard_error and complexity must be equally long, {shapes}")
    if not np.isfinite(loss).any():
        raise ValueError("no candidate has a finite score")
    best = int(np.nanargmin(np.where(np.isfinite(loss), loss, np.nan)))
    if not error[best] >= 0:
        raise ValueError(f"the best candidate has no standard error: got {float(error[best])!r}")
    within = np.flatnonzero(loss <= loss[best] + error[best])
    order = np.lexsort((loss[within], complexity[within]))
    return int(within[order[0]])
