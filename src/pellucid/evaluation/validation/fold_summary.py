r"""The mean of fold scores and how sure it is.

    mean = sum S_i / k,    Var(mean) = sum (S_i - mean)^2 / (k (k - 1))          folds independent
                           Var(mean) = (1/k + n_test/n_train) s^2                corrected

Folds share training rows, so the first variance is too small; the corrected one (Nadeau and Bengio)
is honest. Limits are Student's with k - 1 degrees of freedom.
"""

import math
from typing import Any, NamedTuple

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.readable import readable
from pellucid.core.records import plain, show
from pellucid.evaluation.hypotheses.significance import score_vector, student_critical


@readable
class CvSummary(NamedTuple):
    """Mean of k fold scores with its variance and interval.

    >>> print(cv_summary([0.90, 0.85, 0.88, 0.92, 0.87]))
    0.884 (0.850452 to 0.917548), 5 folds taken as independent: the interval is too narrow
    """

    mean: float  # of the fold scores
    variance_of_mean: float  # independent or corrected
    standard_error: float  # its root
    low: float  # lower limit
    high: float  # upper limit
    k: int  # number of folds
    test_ratio: float | None = None  # n_test / n_train of the correction; None: none

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict())

    def __str__(self) -> str:
        how = "taken as independent: the interval is too narrow"
        if self.test_ratio is not None:
            how = "with the overlap of their training rows allowed for"
        if self.standard_error == 0:
            how = "of equal score: their spread says nothing about the error, which is not 0"
        return f"{show(self.mean)} ({show(self.low)} to {show(self.high)}), {self.k} folds {how}"


def cv_summary(
    scores: ArrayLike, *, confidence: float = 0.95, test_ratio: float | None = None
) -> CvSummary:
    """Mean, standard error and interval of the scores of k folds.

    ``scores`` are of at least two folds, ``confidence`` is that of the limits. ``test_ratio``,
    n_test / n_train, corrects the variance for training sets that overlap.

    >>> summary = cv_summary([0.90, 0.85, 0.88, 0.92, 0.87])
    >>> round(summary.mean, 3), round(summary.variance_of_mean, 7)
    (0.884, 0.000146)
    """
    check.fraction(confidence=confidence)
    s = score_vector(scores, "scores")
    k = len(s)
    if k < 2:
        raise ValueError(f"a variance over folds needs at least 2 scores, got {k}")
    if test_ratio is not None:
        check.positive(test_ratio=test_ratio)
    variance = float(s.var(ddof=1)) * (1 / k + (test_ratio or 0.0))
    error, mean = math.sqrt(variance), float(s.mean())
    half = student_critical(1 - confidence, k - 1, "two-sided") * error
    return CvSummary(mean, variance, error, mean - half, mean + half, k, test_ratio)
