r"""Several tests at once: p-values adjusted so that the first false alarm stays rare.

m p-values, p_(1) <= ... <= p_(m):

    Bonferroni           m p
    Sidak                1 - (1 - p)^m                                  (independent tests)
    Holm                 max_{j <= i} (m - j + 1) p_(j)                 never worse than Bonferroni
    Benjamini-Hochberg   min_{j >= i} m p_(j) / j                       the share of false alarms

The first three hold the probability of any false alarm below the level, the last the expected share
of false alarms among the rejections.

References: Holm (1979); Benjamini & Hochberg (1995).
"""

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike

METHODS = ("bonferroni", "holm", "sidak", "benjamini_hochberg")


def adjust_p_values(p_values: ArrayLike, method: str = "holm") -> Array:
    """Adjusted p-values, in the order given: compare each with the level as it is.

    ``p_values`` are those of the single tests; ``method`` is "bonferroni", "holm", "sidak" or
    "benjamini_hochberg".

    >>> adjust_p_values([0.01, 0.04, 0.03, 0.005])
    array([0.03, 0.06, 0.06, 0.02])
    """
    check.one_of(METHODS, method=method)
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not len(p):
        raise ValueError(f"p_values must be a vector of at least one, got shape {p.shape}")
    if not ((p >= 0) & (p <= 1)).all():  # NaN too
        raise ValueError(f"p_values must lie in [0, 1], got {p[~((p >= 0) & (p <= 1))][0]!r}")
    m = len(p)
    if method == "bonferroni":
        return np.minimum(m * p, 1.0)
    if method == "sidak":
        with np.errstate(divide="ignore"):  # p = 1
            return -np.expm1(m * np.log1p(-p))
    order = np.argsort(p, kind="stable")
    place = np.arange(1, m + 1)
    if method == "holm":
        sorted_p = np.maximum.accumulate((m - place + 1) * p[order])
    else:
        sorted_p = np.minimum.accumulate((m / place * p[order])[::-1])[::-1]
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(sorted_p, 1.0)
    return adjusted
