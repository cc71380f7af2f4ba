r"""Adjusted p-values: many tests, and still few false alarms.

Given       p-values p_(1) <= ... <= p_(m)
Solve       Bonferroni m p; Holm max_{j <= i} (m - j + 1) p_(j);
            Benjamini-Hochberg min_{j >= i} m p_(j) / j
Step        some of m true nothings falls below a / m with probability at most a (union bound).
            Holm: once the smallest is rejected only m - 1 can be true nothings, and so on: always
            at least as strong. Benjamini-Hochberg bounds the expected share of false alarms among
            the rejections instead: with k rejections at the threshold t about m t are false.
Cost        m log m.
The fast version has Sidak's form too.
"""

from typing import NamedTuple

import numpy as np


class Adjusted(NamedTuple):
    bonferroni: np.ndarray
    holm: np.ndarray
    benjamini_hochberg: np.ndarray


def adjust_p_values(p: np.ndarray) -> Adjusted:
    """In the order given; compare each with the level as it is."""
    m = len(p)
    order = np.argsort(p, kind="stable")
    place = np.argsort(order, kind="stable")
    j = np.arange(1, m + 1)
    holm = np.maximum.accumulate((m - j + 1) * p[order])
    share = np.minimum.accumulate((m * p[order] / j)[::-1])[::-1]
    return Adjusted(*(np.minimum(1, a) for a in (m * p, holm[place], share[place])))
