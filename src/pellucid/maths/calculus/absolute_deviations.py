r"""The median as the minimiser of the sum of absolute deviations.

    S(a) = sum_i |x_i - a|      convex, piecewise linear, kinks at the data
    slope between x_(k) and x_(k+1):  k - (n - k) = 2k - n
    minimisers: all m with P(X <= m) >= 1/2 and P(X >= m) >= 1/2, an interval [low, high]

A value that occurs c times turns the slope by 2c.
"""

from functools import cached_property
from typing import Any

import numpy as np

from pellucid.core.arrays.quantiles import median_ends
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.maths.inputs import vector
from pellucid.maths.wording import folded, number


def median_knots(knots: Array, weight: Array) -> tuple[float, float]:
    """The points with at most half of the weight on either side; knots rise.

    >>> median_knots(np.array([1.0, 2.0, 5.0]), np.array([1.0, 1.0, 2.0]))
    (2.0, 5.0)
    """
    low, high = median_ends(knots, weight)
    return float(low), float(high)


def _knots(x: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Array, Array]:
    x = vector(x, "x")
    w = np.ones(len(x)) if sample_weight is None else vector(sample_weight, "sample_weight", len(x))
    if (w < 0).any() or not w.any():
        raise ValueError("sample_weight must be >= 0 with at least one positive")
    knots, where = np.unique(x[w > 0], return_inverse=True)
    return knots, np.bincount(where, weights=w[w > 0]).astype(np.float64)


def median_interval(x: ArrayLike, sample_weight: ArrayLike | None = None) -> tuple[float, float]:
    """All medians: the m with P(X <= m) >= 1/2 and P(X >= m) >= 1/2, as (low, high).

    ``x`` is the sample; a ``sample_weight`` is a repetition.

    >>> from pellucid.maths import median_interval
    >>> median_interval([2, 4, 5, 10]), median_interval([1, 2, 9])
    ((4.0, 5.0), (2.0, 2.0))
    """
    return median_knots(*_knots(x, sample_weight))


class L1Profile:
    """The function S(a) = sum |x_i - a|.

    Attributes
    ----------
    knots : ndarray
        The distinct values of x, where the slope changes.
    weight : ndarray
        Sum of the weights at each knot.
    slopes : ndarray
        Left of the first knot, between the knots, right of the last: -n, ..., n.
    minimisers : tuple (low, high)
    minimum : float

    Examples
    --------
    >>> from pellucid.maths import l1_profile
    >>> print(l1_profile([2, 4, 5, 10]))
    The sum of absolute deviations of 4 values is least, 9, everywhere between 4 and 5.
    """

    def __init__(self, knots: Array, weight: Array) -> None:
        self.knots = knots
        self.weight = weight
        left = np.concatenate([[0.0], np.cumsum(weight)])
        self.slopes = 2 * left - left[-1]
        self.minimisers = median_knots(knots, weight)

    def value(self, a: ArrayLike) -> Any:
        """S(a), for a number or each of several."""
        a = np.asarray(a, dtype=np.float64)
        if not np.isfinite(a).all():
            raise ValueError("a must hold finite numbers only")
        sums = np.abs(a[..., None] - self.knots) @ self.weight
        return float(sums) if a.ndim == 0 else sums

    @cached_property
    def minimum(self) -> float:
        return self.value(self.minimisers[0])

    def __repr__(self) -> str:
        return f"L1Profile(minimisers={self.minimisers}, minimum={self.minimum:g})"

    def __str__(self) -> str:
        low, high = self.minimisers
        between = f"everywhere between {number(low)} and {number(high)}"
        where = f"at {number(low)}" if low == high else between
        return folded(
            f"The sum of absolute deviations of {number(self.weight.sum())} values is least, "
            f"{number(self.minimum)}, {where}."
        )


def l1_profile(x: ArrayLike, sample_weight: ArrayLike | None = None) -> L1Profile:
    """The sum of absolute deviations as a function, with its kinks, slopes and minimisers.

    ``x`` are the numbers x_i; a ``sample_weight`` is a repetition.

    >>> from pellucid.maths import l1_profile
    >>> profile = l1_profile([2, 4, 5, 10])
    >>> profile.slopes, profile.value([4, 4.5, 5.2]).round(6), profile.minimisers
    (array([-4., -2.,  0.,  2.,  4.]), array([9. , 9. , 9.4]), (4.0, 5.0))
    """
    return L1Profile(*_knots(x, sample_weight))
