r"""Corrected t-test: is one model better than another on the same folds?

Given       differences d_1, ..., d_k of the scores of two models, fold by fold
Solve       T = mean(d) / sqrt((1/k + n_test/n_train) s^2), s^2 their variance (divisor k - 1)
Step        if the d were independent, their mean would have variance s^2 / k. The training sets of
            the folds overlap, so the d go together; with a correlation of n_test / n the variance
            becomes (1/k + n_test/n_train) s^2 (Nadeau and Bengio). T is compared with Student's t
            of k - 1 degrees of freedom. With ratio 0 it is the plain paired t-test.
Cost        k.
The fast version has one-sided forms and gives the interval of the difference.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr


class Test(NamedTuple):
    statistic: float
    p_value: float


def corrected_t_test(d: np.ndarray, ratio: float) -> Test:
    """Two-sided; ``ratio`` is n_test / n_train."""
    k = len(d)
    T = d.mean() / np.sqrt((1 / k + ratio) * d.var(ddof=1))
    return Test(float(T), float(2 * stdtr(k - 1, -abs(T))))
