r"""The record of every test of difference, and Student's rule that most of them share.

    T = estimate / standard error,   two-sided: reject iff |T| > t_{alpha/2, df}
                                     greater:   reject iff  T > t_{alpha, df}
                                     less:      reject iff  T < -t_{alpha, df}

The interval is the set of differences that the same test would not reject. Where the observations
do not vary at all, T is infinite or 0 and p is 0 or 1: 0 if the mean differs (to the side asked
for), 1 if not.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.core.records import plain, show

ALTERNATIVES = ("two-sided", "greater", "less")
ROUNDING = 16 * np.finfo(np.float64).eps  # relative; smaller spreads are equal numbers, rounded


@readable
class SignificanceTest(NamedTuple):
    """What a test found. ``critical`` is the value the statistic must pass to be significant.

    ``df`` is None for exact tests and a pair for F tests; ``low``, ``high`` are the limits of the
    estimate at confidence 1 - alpha, None where the test gives none.

    >>> from pellucid.evaluation import paired_t_test
    >>> test = paired_t_test([0.90, 0.85, 0.88], [0.86, 0.84, 0.85])
    >>> test.reject, round(test.estimate, 4)
    (False, 0.0267)
    """

    statistic: float  # T, F, chi2 or a count
    p_value: float  # of the statistic
    df: Any
    critical: float | None
    reject: bool  # whether p is below the level
    estimate: float  # of the difference
    low: float | None
    high: float | None
    alternative: str  # two-sided, greater or less
    method: str  # name of the test

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict())

    def __str__(self) -> str:
        interval = ""
        if self.low is not None and self.high is not None:
            interval = f", interval {show(self.low)} to {show(self.high)}"
        verdict = "significant" if self.reject else "not significant: it may be chance"
        df = "" if self.df is None else f", df {self.df}"
        side = "" if self.alternative == "two-sided" else f", one-sided ({self.alternative})"
        found = f"estimate {show(self.estimate)}{interval}; statistic {show(self.statistic)}{df}"
        return f"{self.method}: {found}, p = {show(self.p_value)}{side}; {verdict}."


def check_test(alternative: str, alpha: float) -> None:
    """Refuse an unknown alternative and a level outside (0, 1)."""
    check.one_of(ALTERNATIVES, alternative=alternative)
    check.fraction(alpha=alpha)


def score_vector(values: ArrayLike, name: str) -> Array:
    """One finite number per fold."""
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1:
        raise ValueError(f"{name} must be one number per fold, got shape {vector.shape}")
    if not np.isfinite(vector).all():
        where = int(np.argmin(np.isfinite(vector)))
        raise ValueError(f"{name} must be finite numbers, got {vector[where]!r} at place {where}")
    return vector


def student_p(T: float, df: float, alternative: str) -> float:
    """The p-value of T under Student's distribution.

    >>> round(student_p(2.7764451, 4, "two-sided"), 6)
    0.05
    """
    if alternative == "two-sided":
        return float(2 * stdtr(df, -abs(T)))
    return float(stdtr(df, -T if alternative == "greater" else T))


def student_critical(alpha: float, df: float, alternative: str) -> float:
    """t_{alpha/2, df}, or t_{alpha, df} for one side; always positive for alpha < 1/2."""
    return float(-stdtrit(df, alpha / 2 if alternative == "two-sided" else alpha))


def student_test(
    differences: Array, factor: float, scale: float, alternative: str, alpha: float, method: str
) -> SignificanceTest:
    """Test mean 0 with Var(mean) = factor * s^2, s^2 with 1/(k-1); ``scale`` judges rounding."""
    k = len(differences)
    mean = float(differences.mean())
    s = float(differences.std(ddof=1))
    if s <= ROUNDING * scale:  # no spread beyond rounding
        s, mean = 0.0, mean if abs(mean) > ROUNDING * scale else 0.0
    error = math.sqrt(factor) * s
    critical = student_critical(alpha, k - 1, alternative)
    if error > 0:
        T = mean / error
        p = student_p(T, k - 1, alternative)
    else:
        T = math.copysign(math.inf, mean) if mean else 0.0
        p = 1.0 if T == 0 else student_p(T, k - 1, alternative)
    low = -math.inf if alternative == "less" else mean - critical * error
    high = math.inf if alternative == "greater" else mean + critical * error
    reject = {"two-sided": abs(T), "greater": T, "less": -T}[alternative] > critical
    found = T, p, k - 1, critical, bool(reject), mean, low, high
    return SignificanceTest(*found, alternative, method)
