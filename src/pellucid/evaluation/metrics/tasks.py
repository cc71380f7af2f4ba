r"""Metrics of other tasks: several labels per row, rankings, clusterings.

Rankings, for each group (query) with more than one relevance level:

    dcg  = sum_r gain_r / log2(r + 1)  with linear gains, equal scores sharing the mean gain
    ndcg = dcg / best dcg,    average precision and reciprocal rank with relevant = relevance > 0
    pairwise accuracy = share of pairs of different relevance in the right order (equal scores 1/2)
    Kendall's tau-b = (concordant - discordant) / sqrt(pairs untied in one * untied in the other)

Pairs are counted by merging, O(n log n). Intervals of rankings are Student's over the groups.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from pellucid.base import encode_labels
from pellucid.compiled.counts.inversions import inversions
from pellucid.core.arrays import check
from pellucid.core.arrays.partitions import adjusted_rand
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.evaluation.intervals import intervals
from pellucid.evaluation.intervals.bootstrap_intervals import bootstrap_interval, make_units
from pellucid.evaluation.intervals.intervals import (
    Interval,
    MetricTable,
    mean_interval,
    with_room,
)
from pellucid.evaluation.intervals.resampled import moment_statistic
from pellucid.evaluation.metrics import point_scores as ps
from pellucid.evaluation.metrics import prepared, silhouette
from pellucid.evaluation.metrics.metrics import warn_undefined
from pellucid.evaluation.metrics.prepared import column, numbers, same_length
from pellucid.evaluation.metrics.registry import discounted_gain, normalised_gain


def multilabel_metrics(
    Y: ArrayLike,
    Yhat: ArrayLike,
    *,
    confidence: float = 0.95,
    sample_weight: ArrayLike | None = None,
    random_state: Seed = 0,
) -> MetricTable:
    """Subset accuracy, Hamming loss, micro and macro F1 and the Jaccard index of 0/1 matrices.

    ``Y`` and ``Yhat`` (n, labels) are truth and prediction, 0 or 1; ``confidence`` is that of the
    intervals, ``sample_weight`` says how often each row counts, ``random_state`` is the seed of the
    bootstrap. ``jaccard`` is the mean over rows of shared / joint labels; two empty rows agree (1).

    >>> Y = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]]
    >>> table = multilabel_metrics(Y, [[1, 0], [0, 1], [1, 0], [1, 0], [0, 1], [1, 1]])
    >>> round(table["subset_accuracy"].estimate, 4), round(table["hamming"].estimate, 4)
    (0.8333, 0.0833)
    """
    check.fraction(confidence=confidence)
    A, B = (prepared.indicators(column(M, name), name) for M, name in ((Y, "Y"), (Yhat, "Yhat")))
    if A.shape != B.shape:
        raise ValueError(f"Y has shape {A.shape} and Yhat {B.shape}")
    w = prepared.weights(sample_weight, len(A))
    if w is not None:
        A, B, w = A[w > 0], B[w > 0], w[w > 0]
    v = np.ones(len(A)) if w is None else w
    n = intervals.counted(v.sum())
    both, any_ = A * B, np.maximum(A, B)
    right = (A == B).all(axis=1)
    jaccard = np.where(any_.any(axis=1), both.sum(axis=1) / np.maximum(any_.sum(axis=1), 1), 1.0)
    out = {
        "subset_accuracy": intervals.proportion_interval(
            float(v @ right), n, confidence=confidence
        ),
        "hamming": mean_interval((A != B).mean(axis=1), confidence=confidence, sample_weight=v),
        "jaccard": mean_interval(jaccard, confidence=confidence, sample_weight=v),
    }
    units, k = make_units(len(A), w), A.shape[1]
    M = np.hstack([both, A + B])  # F1 = 2 tp / (actual + predicted)
    for name, micro in (("f1_micro", True), ("f1_macro", False)):

        def value(s: Array, micro: bool = micro) -> Array:
            hit, size = s[..., :k], s[..., k:]
            if micro:
                return ps.ratio(2 * hit.sum(axis=-1), size.sum(axis=-1))
            return ps.ratio(2 * hit, size).mean(axis=-1)

        estimate = float(value(v @ M))
        if math.isnan(estimate):
            warn_undefined(name, "for a label that is neither present nor predicted")
            out[name] = Interval(estimate, math.nan, math.nan, math.nan, "bca", n, confidence)
            continue
        options: dict[str, Any] = {"confidence": confidence, "random_state": random_state}
        statistic = moment_statistic(M, value, units, estimate)
        out[name] = bootstrap_interval(statistic, n=n, name=name, **options)
    return MetricTable({name: with_room(name, found, n) for name, found in out.items()})


class PairCounts(NamedTuple):
    """Pairs of rows: all, tied in one, in the other, in both, and in opposite order."""

    total: int
    tied_relevance: int
    tied_score: int
    tied_both: int
    discordant: int

    @property
    def concordant(self) -> int:
        return self.total - self.tied_relevance - self.tied_score + self.tied_both - self.discordant


def count_pairs(relevance: Array, score: Array) -> PairCounts:
    """Knight's algorithm: sort by relevance, then count the inversions of the scores.

    >>> count_pairs(np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.3, 0.2]))
    PairCounts(total=3, tied_relevance=0, tied_score=0, tied_both=0, discordant=1)
    """
    order = np.lexsort((score, relevance))
    r, s = relevance[order], np.ascontiguousarray(score[order])

    def tied(*change: Array) -> int:
        starts = np.flatnonzero(np.append(True, np.logical_or.reduce(change)))
        size = np.diff(np.append(starts, len(r)))
        return int((size * (size - 1) // 2).sum())

    by_score = np.sort(s)
    n = len(r)
    return PairCounts(
        n * (n - 1) // 2,
        tied(r[1:] != r[:-1]),
        tied(by_score[1:] != by_score[:-1]),
        tied(r[1:] != r[:-1], s[1:] != s[:-1]),
        int(inversions(s)),
    )


class RankingTable(MetricTable):
    """A ``MetricTable`` that knows how many groups count.

    Parameters
    ----------
    intervals : dict
        Name -> Interval.
    groups, skipped : int
        Groups that count, and those with one relevance level only.

    >>> table = ranking_metrics([1, 0, 2, 2], [0.9, 0.1, 0.3, 0.4], [1, 1, 2, 2])
    >>> table.groups, table.skipped
    (1, 1)
    """

    groups: int
    skipped: int

    def __init__(self, intervals: dict[str, Interval], groups: int, skipped: int) -> None:
        notes = [f"{groups} group(s)"]
        if skipped:
            notes.append(f"{skipped} group(s) with one relevance level only were left out")
        if groups == 1:
            notes.append("one group has no interval")
        super().__init__(intervals, tuple(notes))
        object.__setattr__(self, "groups", groups)
        object.__setattr__(self, "skipped", skipped)


def ranking_metrics(
    relevance: ArrayLike,
    score: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    k: int | None = None,
    confidence: float = 0.95,
) -> RankingTable:
    """ndcg, dcg, mean average precision, reciprocal rank, pairwise accuracy and Kendall's tau.

    ``relevance`` (n,) of each row is >= 0; the greater ``score`` is ranked first. ``groups`` are
    the query of every row: metrics are means over the groups. Only the first ``k`` places count for
    dcg, ndcg, average precision and reciprocal rank. ``confidence`` is that of the intervals.

    >>> groups = [1, 1, 1, 1, 2, 2]
    >>> table = ranking_metrics([3, 2, 0, 1, 0, 1], [0.9, 0.7, 0.8, 0.6, 0.2, 0.1], groups)
    >>> round(table["pairwise_accuracy"].estimate, 4), table.groups
    (0.3333, 2)
    """
    check.fraction(confidence=confidence)
    if k is not None:
        check.whole(k=k)
    y = numbers(column(relevance, "relevance"), "relevance", ndim=1)
    s = numbers(column(score, "score"), "score", ndim=1)
    same_length(len(y), len(s))
    if (y < 0).any():
        raise ValueError(f"relevance must be >= 0, got {y.min()!r}")
    codes = np.zeros(len(y), dtype=np.intp)
    if groups is not None:
        codes = encode_labels(column(groups, "groups"))[1]
        same_length(len(y), len(codes))
    order = np.argsort(codes, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    useful = [rows for rows in parts if np.ptp(y[rows]) > 0]
    if not useful:
        raise ValueError("every group has one relevance level only: no order can be judged")
    values = np.array([_rank_one(y[rows], s[rows], k) for rows in useful])
    out = {}
    for name, column_ in zip(_RANK_NAMES, values.T, strict=True):
        if len(useful) > 1:
            found = mean_interval(column_, confidence=confidence)
            out[name] = with_room(name, found, len(useful))
        else:
            nan = math.nan
            out[name] = Interval(float(column_[0]), nan, nan, nan, "one group", 1, confidence)
    return RankingTable(out, len(useful), len(parts) - len(useful))


_RANK_NAMES: tuple[str, ...] = ("ndcg", "dcg", "mean_average_precision", "reciprocal_rank")
_RANK_NAMES += ("pairwise_accuracy", "kendall_tau")


def _rank_one(y: Array, s: Array, k: int | None) -> tuple[float, ...]:
    pairs = count_pairs(y, s)
    different = pairs.total - pairs.tied_relevance
    half = (pairs.tied_score - pairs.tied_both) / 2
    untied = math.sqrt(different * (pairs.total - pairs.tied_score))
    tau = (pairs.concordant - pairs.discordant) / untied if untied > 0 else 0.0
    relevant = (y > 0).astype(np.float64)
    gains = normalised_gain(y, s, k), discounted_gain(y, s, k)
    places = average_precision_at(relevant, s, k), reciprocal_rank(relevant, s, k)
    return *gains, *places, (pairs.concordant + half) / different, tau


def average_precision_at(relevant: Array, score: Array, k: int | None = None) -> float:
    """The mean precision at the places of the relevant rows (of the first k); NaN if none is."""
    if not relevant.any():
        return math.nan
    if k is None:
        return ps.step_area(ps.cumulative_counts(relevant, score, None))
    hit = relevant[np.argsort(-score, kind="stable")][:k]
    precision = np.cumsum(hit) / np.arange(1, len(hit) + 1)
    return float(precision @ hit / min(k, relevant.sum()))


def reciprocal_rank(relevant: Array, score: Array, k: int | None = None) -> float:
    """1 / place of the first relevant row; equal scores take their mean place; 0 beyond k."""
    best = score[relevant > 0].max()
    rank = 1 + float((score > best).sum()) + (float((score == best).sum()) - 1) / 2
    return 1 / rank if k is None or rank <= k else 0.0


def normalised_information(table: Array) -> float:
    """Mutual information over the mean of the two entropies."""

    def entropy(x: Array) -> float:
        p = x[x > 0] / x.sum()
        return float(-(p * np.log(p)).sum())

    first, second = entropy(table.sum(axis=1)), entropy(table.sum(axis=0))
    shared = first + second - entropy(table.ravel())
    if first == 0 and second == 0:
        return 1.0
    return max(0.0, shared) / ((first + second) / 2)


class ClusteringTable(MetricTable):
    """A ``MetricTable`` with the sizes of the clusters.

    Parameters
    ----------
    intervals : dict
        Name -> Interval.
    sizes : dict
        Cluster -> number of rows.

    >>> clustering_metrics([[0.0], [1.0], [9.0]], ["a", "a", "b"]).sizes
    {'a': 2.0, 'b': 1.0}
    """

    sizes: dict[Any, float]

    def __init__(self, intervals: dict[str, Interval], sizes: dict[Any, float]) -> None:
        words = ", ".join(f"{label}: {size:g}" for label, size in list(sizes.items())[:20])
        super().__init__(intervals, (f"sizes {words}",))
        object.__setattr__(self, "sizes", sizes)


def clustering_metrics(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    truth: ArrayLike | None = None,
    confidence: float = 0.95,
    sample_weight: ArrayLike | None = None,
) -> ClusteringTable:
    """SSE, mean silhouette, Calinski-Harabasz, Davies-Bouldin; with the truth ARI and NMI.

    ``X`` are the rows (n, p), ``labels`` the cluster of each; ``truth`` the true groups, where they
    are known. ``confidence`` is of the silhouette's interval, Student's over the rows with the
    clustering held fixed; the other numbers describe the whole clustering and have no interval.
    ``sample_weight`` says how often each row counts.

    >>> table = clustering_metrics([[0.0], [0.1], [5.0], [5.2]], [0, 0, 1, 1], truth=[0, 0, 1, 1])
    >>> round(table["silhouette"].estimate, 3), table["adjusted_rand"].estimate, table.sizes
    (0.97, 1.0, {0: 2.0, 1: 2.0})
    """
    check.fraction(confidence=confidence)
    data = prepared.prepare("clusters", X, labels, sample_weight)
    names = encode_labels(column(labels, "labels"))[0]
    A, c, w = data.y, data.prediction, data.w
    v = np.ones(len(A)) if w is None else w
    n = intervals.counted(v.sum())
    k = len(np.unique(c))

    def point(value: float) -> Interval:
        return Interval(float(value), math.nan, math.nan, math.nan, "no interval", n, confidence)

    out = {"sse": point(silhouette.within_squares(A, c, w))}
    names_ = "silhouette", "calinski_harabasz", "davies_bouldin"
    if 2 <= k < n:
        s = silhouette.silhouette_scores(A, c, w)
        out["silhouette"] = mean_interval(s, confidence=confidence, sample_weight=v)
        out["calinski_harabasz"] = point(silhouette.calinski_harabasz_index(A, c, w))
        out["davies_bouldin"] = point(silhouette.davies_bouldin_index(A, c, w))
    else:
        warn_undefined(", ".join(names_), f"for {k} cluster(s) of {n:g} rows")
        out |= {name: point(math.nan) for name in names_}
    if truth is not None:
        t = column(truth, "truth")
        same_length(len(t), len(column(labels, "labels")))
        if sample_weight is not None:
            t = t[np.asarray(sample_weight) > 0]
        classes, codes = encode_labels(prepared.check_labels(t, "truth"))
        together = np.bincount(codes * (c.max() + 1) + c, weights=v)
        table = np.zeros(len(classes) * (c.max() + 1))
        table[: len(together)] = together
        table = table.reshape(len(classes), -1)
        out["adjusted_rand"] = point(adjusted_rand(table))
        out["normalised_mutual_information"] = point(normalised_information(table))
    sizes = np.bincount(c, weights=v)
    return ClusteringTable(out, {names[j].item(): float(sizes[j]) for j in np.unique(c)})
