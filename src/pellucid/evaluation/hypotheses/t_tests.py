r"""Tests of a mean and of the difference of two models on the same folds.

    d_i = a_i - b_i,   s^2 = sum (d_i - dbar)^2 / (k - 1)
    paired t       T = dbar / sqrt(s^2 / k)
    corrected t    T = dbar / sqrt((1/k + n_test/n_train) s^2)           k - 1 degrees of freedom

The folds of a cross-validation share training rows, so their scores are not independent and
s^2/k is too small: the paired t-test calls equal models different too often. Nadeau and Bengio's
correction adds the share that the overlap hides; it is the default of this library.

References: Nadeau & Bengio (2003); Dietterich (1998).
"""

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.evaluation.hypotheses import significance
from pellucid.evaluation.hypotheses.significance import SignificanceTest, score_vector, student_test


def mean_test(
    values: ArrayLike, mean: float = 0.0, *, alternative: str = "two-sided", alpha: float = 0.05
) -> SignificanceTest:
    """Student's t-test that the expectation of independent values is ``mean``.

    The estimate and its limits are those of the expectation itself. ``values`` are at least two
    independent observations, ``mean`` is the expectation to be refuted. ``alternative`` is
    "two-sided", "greater" or "less": on which side the expectation may lie. ``alpha`` is the share
    of true hypotheses that may be rejected.

    >>> test = mean_test([0.90, 0.85, 0.88, 0.92, 0.87], 0.85)
    >>> round(test.statistic, 4), round(test.low, 7), round(test.high, 7)
    (2.8139, 0.8504521, 0.9175479)
    """
    significance.check_test(alternative, alpha)
    score_vector([mean], "mean")
    x = score_vector(values, "values")
    _enough(len(x))
    scale = max(float(np.abs(x).max()), abs(mean))
    test = student_test(x - mean, 1 / len(x), scale, alternative, alpha, "one-sample t-test")
    low, high = (None if limit is None else limit + mean for limit in (test.low, test.high))
    return test._replace(estimate=test.estimate + mean, low=low, high=high)


def paired_t_test(
    scores_a: ArrayLike, scores_b: ArrayLike, *, alternative: str = "two-sided", alpha: float = 0.05
) -> SignificanceTest:
    """Student's t-test of a - b on the SAME folds, treated as independent.

    Right for independent test sets; on folds whose training sets overlap it rejects too often:
    use ``corrected_t_test``.

    ``scores_a`` and ``scores_b`` are the scores of the two models, fold by fold. ``alternative`` is
    "two-sided", "greater" (the scores of a are larger) or "less"; ``alpha`` is the level of the
    test.

    >>> test = paired_t_test([0.90, 0.85, 0.88, 0.92, 0.87], [0.86, 0.84, 0.85, 0.88, 0.86])
    >>> round(test.statistic, 8), round(test.p_value, 8), test.reject
    (3.83349086, 0.01856256, True)
    """
    significance.check_test(alternative, alpha)
    d, scale = _differences(scores_a, scores_b)
    return student_test(d, 1 / len(d), scale, alternative, alpha, "paired t-test")


def corrected_t_test(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    test_ratio: float,
    alternative: str = "two-sided",
    alpha: float = 0.05,
) -> SignificanceTest:
    """Nadeau and Bengio's t-test of a - b on folds whose training sets overlap.

    ``scores_a``, ``scores_b``, ``alternative`` and ``alpha`` are as in ``paired_t_test``, the folds
    of one or of repeated cross-validations. ``test_ratio`` is rows tested per row trained on,
    n_test / n_train: 1/(k-1) for k-fold cross-validation.

    >>> a, b = [0.90, 0.85, 0.88, 0.92, 0.87], [0.86, 0.84, 0.85, 0.88, 0.86]
    >>> test = corrected_t_test(a, b, test_ratio=1 / 4)
    >>> round(test.statistic, 8), round(test.p_value, 8), test.reject
    (2.55566057, 0.06292667, False)
    """
    significance.check_test(alternative, alpha)
    check.positive(test_ratio=test_ratio)
    d, scale = _differences(scores_a, scores_b)
    factor = 1 / len(d) + test_ratio
    return student_test(d, factor, scale, alternative, alpha, "corrected t-test")


def _differences(scores_a: ArrayLike, scores_b: ArrayLike) -> tuple[Array, float]:
    a, b = score_vector(scores_a, "scores_a"), score_vector(scores_b, "scores_b")
    if len(a) != len(b):
        got = f"got {len(a)} and {len(b)} scores"
        raise ValueError(f"both models need a score on the same folds, {got}")
    _enough(len(a))
    return a - b, float(max(np.abs(a).max(), np.abs(b).max()))


def _enough(k: int) -> None:
    if k < 2:
        raise ValueError(f"a t-test needs at least 2 values, got {k}")
