r"""Five times two-fold cross-validation: a test that leaves enough data on both sides.

    d_ij   difference of the scores in half j of repetition i,  i = 1..5, j = 1, 2
    s_i^2  = sum_j (d_ij - dbar_i)^2
    t      = d_11 / sqrt(sum_i s_i^2 / 5)             5 degrees of freedom     (Dietterich)
    F      = sum_ij d_ij^2 / (2 sum_i s_i^2)          10 and 5                 (Alpaydin)

The training sets of one repetition do not overlap, which is what the variances need. F uses all
ten differences, so it does not depend on which came first; it is the one to prefer. Its interval
holds the shifts c that F does not reject for d - c: dbar +- sqrt((2 F_alpha S - SS)/10), where
S = sum s_i^2 and SS = sum (d_ij - dbar)^2.

References: Dietterich (1998); Alpaydin (1999).
"""

import math
from typing import Any

import numpy as np
from scipy.special import fdtrc, fdtri
from sklearn.base import BaseEstimator

from pellucid.core.arrays import check
from pellucid.core.arrays.reading import row_table
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.evaluation.hypotheses import significance
from pellucid.evaluation.hypotheses.significance import SignificanceTest
from pellucid.evaluation.metrics.metrics import MetricLike, resolve_metric, task_of
from pellucid.evaluation.splits.folds import check_data, classifies, fold_scores, half_splits


def five_by_two_test(
    differences: ArrayLike, *, statistic: str = "t", alpha: float = 0.05
) -> SignificanceTest:
    """Test that two models score alike, from the differences of a 5 x 2 cross-validation.

    ``differences`` (5, 2) are score of a minus score of b: a row per repetition, a column per half.
    ``statistic`` is "t", Dietterich's, whose estimate is the first difference, or "f", Alpaydin's
    combined F, whose estimate is the mean of all ten. ``alpha`` is the level of the test.

    >>> d = [[0.02, 0.04], [0.01, 0.03], [0.03, 0.02], [0.0, 0.02], [0.04, 0.03]]
    >>> test = five_by_two_test(d)
    >>> round(test.statistic, 8), round(test.p_value, 8)
    (1.69030851, 0.15176111)
    >>> test = five_by_two_test(d, statistic="f")
    >>> round(test.statistic, 8), round(test.p_value, 8), test.reject
    (5.14285714, 0.04231633, True)
    """
    check.one_of(("t", "f"), statistic=statistic)
    check.fraction(alpha=alpha)
    d = np.asarray(differences, dtype=np.float64)
    if d.shape != (5, 2):
        raise ValueError(f"differences must have shape (5, 2), got {d.shape}")
    if not np.isfinite(d).all():
        raise ValueError("differences must be finite numbers, got NaN or infinity")
    spread = float(((d - d.mean(axis=1, keepdims=True)) ** 2).sum())  # S
    if math.sqrt(spread) <= significance.ROUNDING * max(1.0, float(np.abs(d).max())):
        spread = 0.0
    return _t(d, spread, alpha) if statistic == "t" else _f(d, spread, alpha)


def _t(d: Array, spread: float, alpha: float) -> SignificanceTest:
    first, error = float(d[0, 0]), math.sqrt(spread / 5)
    T = first / error if error > 0 else math.copysign(math.inf, first) if first else 0.0
    p = significance.student_p(T, 5, "two-sided")
    critical = significance.student_critical(alpha, 5, "two-sided")
    low, high = first - critical * error, first + critical * error
    found = T, p, 5, critical, abs(T) > critical, first, low, high
    return SignificanceTest(*found, "two-sided", "5x2cv t-test")


def _f(d: Array, spread: float, alpha: float) -> SignificanceTest:
    total, mean = float((d**2).sum()), float(d.mean())
    F = total / (2 * spread) if spread > 0 else math.inf if total > 0 else 0.0
    p = float(fdtrc(10, 5, F)) if math.isfinite(F) else 0.0
    critical = float(fdtri(10, 5, 1 - alpha))
    room = (2 * critical * spread - float(((d - mean) ** 2).sum())) / 10
    half = math.sqrt(room) if room >= 0 else None  # below zero: F rejects every shift
    low, high = (None, None) if half is None else (mean - half, mean + half)
    found = F, p, (10, 5), critical, critical < F, mean, low, high
    return SignificanceTest(*found, "two-sided", "5x2cv F-test")


def five_by_two_cv(
    estimator_a: BaseEstimator,
    estimator_b: BaseEstimator,
    X: Any,
    y: Any,
    *,
    metric: MetricLike = None,
    statistic: str = "f",
    alpha: float = 0.05,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> SignificanceTest:
    """Halve the data five times, train both models on each half, and test the differences.

    Parameters
    ----------
    estimator_a, estimator_b : estimators
        Unfitted; both are fitted ten times on the same halves (stratified for classifiers).
    metric : str, callable or None, default=None
        r2 for regressors, accuracy for classifiers. Losses keep their sign: for those a negative
        estimate means that a is better.
    statistic : {"t", "f"}, default="f"
        See ``five_by_two_test``.
    alpha : float, default=0.05
        Level of the test.
    X, y, random_state, n_jobs
        The data; the seed of the halves; workers, which the numbers do not depend on.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import LinearRegression, Ridge
    >>> from pellucid.evaluation import five_by_two_cv
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + rng.normal(size=60)
    >>> five_by_two_cv(LinearRegression(), Ridge(1e3), X, y).reject
    True
    """
    check.one_of(("t", "f"), statistic=statistic)
    X = row_table(X)
    y = check_data(X, y)
    models = {"a": estimator_a, "b": estimator_b}
    measure = resolve_metric(metric, task_of(estimator_a) if metric is None else None)
    splits = half_splits(
        X, y, classifier=classifies(models.values()), repeats=5, random_state=random_state
    )
    a, b = fold_scores(models, X, y, splits, measure, n_jobs=n_jobs)
    return five_by_two_test((a - b).reshape(5, 2), statistic=statistic, alpha=alpha)
