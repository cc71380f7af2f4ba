r"""Which rows does only one model get right: McNemar's test, and Cochran's Q for several models.

    b = rows only A gets right, c = rows only B gets right; equal models: b ~ Binomial(b + c, 1/2)
    exact        p = 2 P(Binomial(b + c, 1/2) <= min(b, c)), at most 1
    chi2         (|b - c| - 1)^2 / (b + c)          one degree of freedom (continuity corrected)
    uncorrected  (b - c)^2 / (b + c)

    Q = (m - 1) (m sum_j G_j^2 - T^2) / (m T - sum_i L_i^2)        m - 1 degrees of freedom

with G_j the number of rows model j gets right, L_i the number of models that get row i right, and
T their sum. For two models Q is McNemar's uncorrected statistic. The interval of the difference in
accuracy (b - c)/n adds one row to b and to c (Bonett and Price), which covers well for small n.

References: McNemar (1947); Cochran (1950); Bonett & Price (2012); Dietterich (1998).
"""

import math
from typing import Any

import numpy as np
from scipy.special import bdtr, chdtrc, chdtri, ndtri

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike, BoolArray
from pellucid.evaluation.hypotheses.significance import SignificanceTest

FEW = 25  # discordant rows below which the exact test is taken
METHODS = ("auto", "exact", "chi2", "uncorrected")


def mcnemar_test(
    correct_a: ArrayLike, correct_b: ArrayLike, *, method: str = "auto", alpha: float = 0.05
) -> SignificanceTest:
    """Test that two classifiers are right equally often, on the same test rows.

    ``correct_a`` and ``correct_b`` say row by row whether each model is right. ``method`` is
    "exact", "chi2" or "uncorrected"; "auto" is exact for fewer than 25 rows on which they differ,
    else "chi2". ``alpha`` is the level of the test.

    >>> import numpy as np
    >>> a = np.repeat([True, False, True], [9, 3, 20])
    >>> b = np.repeat([False, True, True], [9, 3, 20])
    >>> round(mcnemar_test(a, b).p_value, 8)
    0.14599609
    >>> test = mcnemar_test(a, b, method="chi2")
    >>> round(test.statistic, 8), round(test.p_value, 8)
    (2.08333333, 0.14891467)
    """
    check.one_of(METHODS, method=method)
    check.fraction(alpha=alpha)
    right = _truths([correct_a, correct_b], "correct_a and correct_b").T
    n, only_a = len(right), int((right[:, 0] & ~right[:, 1]).sum())
    only_b = int((right[:, 1] & ~right[:, 0]).sum())
    differ = only_a + only_b
    if method == "auto":
        method = "exact" if differ < FEW else "chi2"
    z = float(ndtri(1 - alpha / 2))
    pa, pb = (only_a + 1) / (n + 2), (only_b + 1) / (n + 2)
    half = z * math.sqrt((pa + pb - (pa - pb) ** 2) / (n + 2))
    low, high = max(pa - pb - half, -1.0), min(pa - pb + half, 1.0)
    df: Any = None
    if method == "exact":
        statistic, critical = float(min(only_a, only_b)), None
        p = min(1.0, 2 * float(bdtr(min(only_a, only_b), differ, 0.5))) if differ else 1.0
    else:
        step = 1 if method == "chi2" else 0
        gap = max(abs(only_a - only_b) - step, 0)  # the correction never turns the sign
        statistic = gap**2 / differ if differ else 0.0
        df, critical = 1, float(chdtri(1, alpha))
        p = float(chdtrc(1, statistic))
    name = {"exact": "exact", "chi2": "continuity corrected", "uncorrected": "uncorrected"}[method]
    result = statistic, p, df, critical, p < alpha, (only_a - only_b) / n, low, high
    return SignificanceTest(*result, "two-sided", f"McNemar's test ({name})")


def cochran_q_test(correct: ArrayLike, *, alpha: float = 0.05) -> SignificanceTest:
    """Test that several classifiers are right equally often, on the same test rows.

    ``correct`` (n, m) says row by row whether each of m models is right, ``alpha`` is the level of
    the test. The estimate is the largest accuracy minus the smallest; there is no interval for it.

    >>> rows = ["110", "111", "100", "110", "010", "111", "100", "110"]
    >>> test = cochran_q_test([[cell == "1" for cell in row] for row in rows])
    >>> round(test.statistic, 8), round(test.p_value, 8)
    (7.0, 0.03019738)
    """
    check.fraction(alpha=alpha)
    right = _truths(correct, "correct")
    n, m = right.shape
    if m < 2:
        raise ValueError(f"Cochran's Q compares at least 2 models, got {m}")
    G, L = right.sum(axis=0), right.sum(axis=1)
    T = int(L.sum())
    spread = m * T - int((L**2).sum())
    Q = (m - 1) * (m * int((G**2).sum()) - T**2) / spread if spread else 0.0
    p, critical = float(chdtrc(m - 1, Q)), float(chdtri(m - 1, alpha))
    result = float(Q), p, m - 1, critical, critical < Q, float((G.max() - G.min()) / n), None, None
    return SignificanceTest(*result, "two-sided", "Cochran's Q test")


def _truths(values: ArrayLike | list[ArrayLike], name: str) -> BoolArray:
    """A table of True and False (or 1 and 0)."""
    if isinstance(values, list) and len({np.shape(row) for row in values}) > 1:
        raise ValueError(f"{name} must have equal lengths, got {[np.size(row) for row in values]}")
    table = np.asarray(values)
    if table.ndim != 2:
        raise ValueError(f"{name} must be boolean vectors, one per model, got {table.ndim - 1}-D")
    if table.size == 0:
        raise ValueError(f"{name} must have at least one row, got none")
    if table.dtype.kind != "b" and not np.isin(table, (0, 1)).all():
        raise ValueError(f"{name} must hold True and False (right or wrong), not predictions")
    return table.astype(bool)
