r"""Whether counts spread more than Poisson counts of the same means would (PEL416).

With m_i the means of a Poisson regression on the learning rows, p of its coefficients,

    dispersion   sum (y_i - m_i)^2 / m_i / (n - p)      1 for Poisson counts
    alpha        slope through 0 of z_i = ((y_i - m_i)^2 - y_i) / m_i on m_i
    test         sum m_i z_i / sqrt(2 sum m_i^2), normal for Poisson counts: Var z_i = 2

where alpha is that of the negative binomial's variance m + alpha m^2; the test is its score test.

References: Cameron & Trivedi (1990), Regression-based tests for overdispersion; Dean (1992),
Testing for overdispersion in Poisson and binomial regression models.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from pellucid.core.arrays.typing import Array
from pellucid.evaluation.splits.folds import FAILURES
from pellucid.study.candidates.candidates import public
from pellucid.study.candidates.training import Workshop
from pellucid.study.verdict.insights import full_rank

MOST_ROWS, LEVEL = 20_000, 0.01


class Dispersion(NamedTuple):
    """How counts spread around their means."""

    dispersion: float  # variance over mean, 1 for Poisson counts
    alpha: float  # of the variance m + alpha m^2
    p_value: float  # of "no more than Poisson counts"


def count_dispersion(y: Array, mean: Array, n_coefficients: int) -> Dispersion:
    """How the counts ``y`` spread around fitted means.

    >>> found = count_dispersion(np.array([0.0, 9.0, 0.0, 7.0]), np.full(4, 4.0), 1)
    >>> found.dispersion, found.alpha
    (5.5, 0.78125)
    """
    freedom = max(len(y) - n_coefficients, 1)
    dispersion = float((((y - mean) ** 2) / mean).sum() / freedom)
    z = ((y - mean) ** 2 - y) / mean
    size = float(mean @ mean)
    alpha = float(z @ mean) / size
    return Dispersion(dispersion, alpha, float(ndtr(-alpha * math.sqrt(size / 2))))


def learned_dispersion(shop: Workshop) -> Dispersion | None:
    """That of the learning rows; None where the target does not count, or cannot be fitted."""
    rows = np.unique(np.concatenate([np.concatenate(fold) for fold in shop.folds]))
    model = public("PoissonRegressor")
    if shop.scorer.task.nature != "counts" or model is None or len(rows) > MOST_ROWS:
        return None
    features = shop.make_features({"reference": True})
    Z = features.fit_transform(shop.frame[rows], shop.y[rows])
    X, _ = full_rank(Z, features.get_feature_names_out())
    y = shop.y[rows]
    if len(y) < 2 * (X.shape[1] + 2) or not y.any():
        return None
    try:
        mean = model(alpha=0.0, max_iter=200).fit(X, y).predict(X)
    except FAILURES:
        return None
    return count_dispersion(y, mean, X.shape[1] + 1)
