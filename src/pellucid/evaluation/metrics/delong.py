r"""The area under the ROC curve with DeLong's variance, in O(n log n).

With V_i = share of negatives below positive i (equal scores count 1/2) and
W_j = share of positives above negative j:

    AUC = mean V = mean W,     Var AUC = s^2(V) / P + s^2(W) / N        (1/(P-1), 1/(N-1))

V and W come from one sort (mid-ranks), never from the P x N pairs. The mean over several classes
against the rest uses the row's influence on every one of them, since the rows are shared:

    influence_i = (1/K) sum_k  [i in k] (V_ik - A_k) n/P_k + [i not in k] (W_ik - A_k) n/N_k

References: DeLong, DeLong, Clarke-Pearson (1988); Sun & Xu (2014).
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.evaluation.metrics.auc_kernels import merged_placements, placements
from pellucid.evaluation.metrics.point_scores import weighted_mean


class AucVariance(NamedTuple):
    """The area under the curve, its variance, and the weights of the two classes."""

    auc: float
    variance: float
    P: float
    N: float
    df: float = np.inf  # of the variance, by Welch's rule for two samples


class Ranking(NamedTuple):
    """Rows in the order of falling score."""

    order: IntArray
    positive: Any  # uint8, sorted
    tie_end: Any  # uint8, sorted: the last row of equal scores
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
    if w is not None:
        rank = ranking(positive, score)
        placement, v, P, N = sorted_placements(rank, w)
        up = rank.positive.astype(bool)
        return _from_placements(placement[up], v[up], placement[~up], v[~up], P, N)
    up = positive.astype(bool)
    x, z = np.sort(score[up]), np.sort(score[~up])  # two sorts of values beat one of positions
    v10, v01 = np.empty(len(x)), np.empty(len(z))
    merged_placements(x, z, v10, v01)
    return _from_placements(v10, None, v01, None, float(len(x)), float(len(z)))


def sorted_placements(rank: Ranking, w: Array | None) -> tuple[Array, Array, float, float]:
    """Placements and weights in the order of falling score, and the weights of the classes."""
    v = np.ones(len(rank.order)) if w is None else w[rank.order]
    placement = np.empty(len(v))
    P, N = placements(rank.positive, rank.tie_end, v, placement)
    placement /= np.where(rank.positive == 1, N, P)
    return placement, v, float(P), float(N)


def _from_placements(
    v10: Array, w10: Array | None, v01: Array, w01: Array | None, P: float, N: float
) -> AucVariance:
    auc = float(weighted_mean(v10, w10))
    if P <= 1 or N <= 1:
        return AucVariance(auc, float("nan"), P, N)
    s10 = float(weighted_mean((v10 - auc) ** 2, w10)) / (P - 1)
    s01 = float(weighted_mean((v01 - auc) ** 2, w01)) / (N - 1)
    squares = s10**2 / (P - 1) + s01**2 / (N - 1)
    return AucVariance(auc, s10 + s01, P, N, (s10 + s01) ** 2 / squares if squares > 0 else np.inf)


def mean_auc_variance(ranks: list[Ranking], w: Array | None = None) -> tuple[float, float]:
    """The mean area over rankings of the same rows (class against the rest) and its variance."""
    n, K = len(ranks[0].order), len(ranks)
    v = np.ones(n) if w is None else w
    influence, areas = np.zeros(n), np.empty(K)
    total = v.sum()
    for k, rank in enumerate(ranks):
        placement, u, P, N = sorted_placements(rank, w)
        up = rank.positive == 1
        areas[k] = u[up] @ placement[up] / P
        influence[rank.order] += (placement - areas[k]) * total / np.where(up, P, N) / K
    return float(areas.mean()), float(v @ influence**2 / total / (total - 1))
