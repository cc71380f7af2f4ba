r"""The area under the ROC curve with DeLong's variance, in O(n log n).

With V_i = share of negatives below positive i (equal scores count 1/2) and
W_j = share of positives above negative j:

    AUC = mean V = mean W,     Var AUC = s^2(V) / P + s^2(W) / N        (1/(P-1), 1/(N-1))

V and W come from one sort (mid-ranks), never from the P x N pairs. The mean over several classes
against the rest uses the row's influence on every one of them, since the rows are shared:

    influence_i = (1/K) sum_k  [i in k] (V_ik - A_k) n/P_k + [i not in k] (W_ik - A_k) n/N_k

References: DeLong, DeLong, Clarke-Pearson (1988); Sun & Xu (2014).
"""

from typing import NamedTuple

import numpy as np

from pellucid.compiled.auc import placements
from pellucid.core.typing import Array, IntArray


class AucVariance(NamedTuple):
    """The area, its variance and, in row order, the placement (share in [0, 1]) of every row."""

    auc: float
    variance: float
    placement: Array
    P: float
    N: float


class Ranking(NamedTuple):
    """Rows in the order of falling score."""

    order: IntArray
    positive: Array  # uint8, sorted
    tie_end: Array  # uint8, sorted: the last row of equal scores
    ties: bool


def ranking(positive: Array, score: Array) -> Ranking:
    """Sort once; ``positive`` is a 0/1 vector."""
    order = np.argsort(-score)
    s = score[order]
    tie_end = np.ones(len(s), dtype=np.uint8)
    tie_end[:-1] = s[1:] != s[:-1]
    return Ranking(order, positive.astype(np.uint8)[order], tie_end, not tie_end.all())


def delong_variance(positive: Array, score: Array, w: Array | None = None) -> AucVariance:
    """The area of one score and its variance; weights are repetitions.

    >>> result = delong_variance(np.array([1, 1, 0, 0]), np.array([0.9, 0.4, 0.5, 0.1]))
    >>> result.auc, result.variance
    (0.75, 0.125)
    """
    rank = ranking(positive, score)
    v = np.ones(len(score)) if w is None else w[rank.order]
    sorted_placement = np.empty(len(score))
    P, N = placements(rank.positive, rank.tie_end, v, sorted_placement)
    is_positive = rank.positive.astype(bool)
    sorted_placement /= np.where(is_positive, N, P)
    v10, w10 = sorted_placement[is_positive], v[is_positive]
    v01, w01 = sorted_placement[~is_positive], v[~is_positive]
    auc = float(w10 @ v10 / P)
    variance = np.nan
    if P > 1 and N > 1:
        s10, s01 = w10 @ (v10 - auc) ** 2 / (P - 1), w01 @ (v01 - auc) ** 2 / (N - 1)
        variance = float(s10 / P + s01 / N)
    placement = np.empty(len(score))
    placement[rank.order] = sorted_placement
    return AucVariance(auc, variance, placement, float(P), float(N))


def mean_auc_variance(Y: Array, S: Array, w: Array | None = None) -> tuple[float, float]:
    """The mean area over columns (class against the rest) and its variance. Y, S (n, K)."""
    n, K = S.shape
    v = np.ones(n) if w is None else w
    influence, areas = np.zeros(n), np.empty(K)
    total = v.sum()
    for k in range(K):
        one = delong_variance(Y[:, k], S[:, k], w)
        areas[k] = one.auc
        size = np.where(Y[:, k] > 0, one.P, one.N)
        influence += (one.placement - one.auc) * total / size / K
    return float(areas.mean()), float(v @ influence**2 / total / (total - 1))
