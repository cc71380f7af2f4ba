r"""Wilcoxon's signed rank test: is the middle of the differences zero?

d_i = a_i - b_i without the zeros, R_i the ranks of |d_i| (ties share), W the sum of R_i over
d_i > 0. If a and b are alike every sign is as likely as the other, so W is a sum over n fair coins:

    E W = sum R_i / 2,    Var W = sum R_i^2 / 4

Up to n = 50 the distribution of W is counted exactly, ties included (a sum of coins, one after the
other: n^3 additions); beyond, a normal distribution with continuity correction is as good.
It asks less than the t-test: differences need a symmetric distribution, not a normal one.

References: Wilcoxon (1945); Pratt & Gibbons, Concepts of Nonparametric Theory, ch. 3.
"""

import math

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.evaluation.hypotheses import significance
from pellucid.evaluation.hypotheses.significance import SignificanceTest, score_vector

EXACT = 50  # differences up to which every pattern of signs is counted


def sign_counts(ranks: Array) -> Array:
    """Chances of twice the rank sum being 0, 1, 2, ... when every sign is a fair coin.

    >>> sign_counts(np.array([1.0, 2.0])).tolist()
    [0.25, 0.0, 0.25, 0.0, 0.25, 0.0, 0.25]
    """
    twice = np.rint(2 * ranks).astype(int)
    chance = np.zeros(int(twice.sum()) + 1)
    chance[0] = 1.0
    for step in twice:
        moved = np.zeros_like(chance)
        moved[step:] = chance[: len(chance) - step]
        chance = (chance + moved) / 2
    return chance


def wilcoxon_test(
    scores_a: ArrayLike, scores_b: ArrayLike, *, alternative: str = "two-sided", alpha: float = 0.05
) -> SignificanceTest:
    """Wilcoxon's signed rank test of a - b, pair by pair.

    ``scores_a`` and ``scores_b`` are pairs, such as two models on several data sets; pairs without
    a difference are left out. ``alternative`` is "two-sided", "greater" (a is larger) or "less";
    ``alpha`` is the level of the test. The estimate is the median of all means of two
    differences (Hodges and Lehmann).

    >>> test = wilcoxon_test([125, 115, 130, 140, 140], [110, 122, 125, 120, 141])
    >>> test.statistic, test.p_value, test.reject
    (11.0, 0.4375, False)
    """
    significance.check_test(alternative, alpha)
    a, b = score_vector(scores_a, "scores_a"), score_vector(scores_b, "scores_b")
    if len(a) != len(b):
        raise ValueError(f"scores_a and scores_b must be pairs, got {len(a)} and {len(b)} scores")
    d = (a - b)[a != b]
    if len(d) == 0:
        raise ValueError("every pair is equal: there is no difference to test")
    R = rankdata(np.abs(d))
    W = float(R[d > 0].sum())
    if len(d) <= EXACT:
        chance = sign_counts(R)
        at = round(2 * W)
        less, greater = float(chance[: at + 1].sum()), float(chance[at:].sum())
        method, critical = "Wilcoxon's signed rank test, exact", None
    else:
        mean, spread = float(R.sum()) / 2, math.sqrt(float((R**2).sum()) / 4)
        less = float(ndtr((W - mean + 0.5) / spread))
        greater = float(ndtr(-(W - mean - 0.5) / spread))
        method = "Wilcoxon's signed rank test, normal approximation"
        share = alpha / 2 if alternative == "two-sided" else alpha
        critical = float(-ndtri(share))
    p = {"less": less, "greater": greater, "two-sided": 2 * min(less, greater)}[alternative]
    p = min(p, 1.0)
    i, j = np.triu_indices(len(d))
    estimate = float(np.median((d[i] + d[j]) / 2))
    found = W, p, None, critical, p < alpha, estimate, None, None, alternative, method
    return SignificanceTest(*found)
