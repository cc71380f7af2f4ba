r"""Reading a forest: proximities, permutation importances, quantiles, standard errors.

Proximity     p_ij = share of the trees in which rows i and j fall in the same leaf
Importance    of column j: how much the error of a tree on its out-of-bag rows grows when column
              j is permuted among them; mean over the trees
Quantiles     the training targets with the weights of the forest,
              w_i(x) = (1/B) sum_b N_bi [i in the leaf of x] / N_b(leaf)      (Meinshausen 2006)
Jackknife     V = sum_i c_i^2 - (draws / B^2) sum_b (t_b - mean t)^2,
              c_i = (1/B) sum_b (N_bi - mean N_i) (t_b - mean t): the infinitesimal jackknife
              with its correction for a finite number of trees  (Wager, Hastie & Efron 2014)
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pellucid.core.arrays.typing import Array
from pellucid.core.readable import readable
from pellucid.core.runtime.random import stream
from pellucid.core.runtime.threads import map_threads
from pellucid.ensemble.committees.bootstrap import Sampler
from pellucid.ensemble.forest.kernels.walk import add_meetings, leaf_quantiles
from pellucid.ensemble.forest.record import Forest

Errors = Callable[[int, Any, Any], float]  # of a tree, given the leaves of some rows and the rows
BLOCK = 256
CELLS = 4_000_000  # of a matrix that is held at once


@readable
class PermutationImportance(NamedTuple):
    """Increase of the out-of-bag error when a column is permuted.

    >>> from pellucid import RandomForestClassifier
    >>> X, y = [[i, 0] for i in range(20)], [0] * 10 + [1] * 10
    >>> model = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> found = model.oob_permutation_importance(X, y, random_state=0)
    >>> bool(found.mean[0] > 0.2), float(found.mean[1])
    (True, 0.0)
    """

    mean: Array  # (d,)
    std: Array  # (d,) over the trees
    per_tree: Array  # (trees, d)


def proximities(leaf: NDArray[Any], other: NDArray[Any], seen: NDArray[Any] | None = None) -> Array:
    """Share of the trees in which rows share a leaf: leaf (T, n), other (T, m)."""
    n, m = leaf.shape[1], other.shape[1]
    together = np.zeros((n, m), np.float32)
    both = np.zeros((n, m) if seen is not None else (0, 0), np.float32)
    bag = np.zeros((0, 0), np.uint8) if seen is None else np.ascontiguousarray(seen)
    leaf, other = np.ascontiguousarray(leaf), np.ascontiguousarray(other)

    def block(first: int) -> None:
        add_meetings(leaf, other, bag, bag, first, min(first + BLOCK, n), together, both)

    list(map_threads(block, range(0, n, BLOCK)))
    if seen is None:
        return together.astype(np.float64) / len(leaf)
    with np.errstate(invalid="ignore"):
        return together.astype(np.float64) / both


def permute_columns(
    forest: Forest, X: Array, bags: list[Any], errors: Errors, n_repeats: int, seed: int
) -> PermutationImportance:
    """Importances of all columns; trees that never ask about a column score 0 there."""
    d = forest.n_features

    def one(t: int) -> Array:
        rows = bags[t]
        gain = np.zeros(d)
        if len(rows) < 2:
            return gain
        rng = stream(seed, t)
        usual = errors(t, forest.leaves_at(t, X, rows), rows)
        part = forest.feature[forest.start[t] : forest.start[t + 1]]
        for j in np.unique(part[part >= 0]).tolist():
            total = 0.0
            for _ in range(n_repeats):
                cells = X[rows[rng.permutation(len(rows))], j]
                total += errors(t, forest.leaves_at(t, X, rows, j, cells), rows)
            gain[j] = total / n_repeats - usual
        return gain

    per_tree = np.array(list(map_threads(one, range(forest.n_trees))))
    std = per_tree.std(axis=0, ddof=1) if len(per_tree) > 1 else np.zeros(d)
    return PermutationImportance(per_tree.mean(axis=0), std, per_tree)


def forest_quantiles(
    forest: Forest, rows: Any, sampler: Sampler, y: Array, X: Array, q: Array, leaves: Any = None
) -> Array:
    """Quantiles (m, q) of the forest's distribution of y at each row of X.

    ``rows``: the training rows of all leaves, tree after tree, leaf after leaf. ``leaves``
    (trees, m): those of X where known, negative where a tree shall not count.
    """
    size = np.zeros(len(forest.right), np.int64)
    size[forest.right < 0] = forest.leaf_sizes()
    begin = np.cumsum(size) - size
    counts, at = np.empty(len(rows)), 0
    per_tree = np.add.reduceat(size, forest.start[:-1])
    for b, m in enumerate(per_tree.tolist()):
        counts[at : at + m] = sampler.counts(b)[rows[at : at + m]]
        at += m
    order = np.argsort(y, kind="stable")
    rank = np.empty(len(y), np.int64)
    rank[order] = np.arange(len(y))
    place, values = rank[rows], y[order]
    leaves = forest.apply(X) if leaves is None else leaves
    out = np.empty((len(X), len(q)))
    inside = forest.start, begin, size, place, counts, values

    def block(first: int) -> None:
        leaf_quantiles(leaves, first, min(first + BLOCK, len(X)), *inside, q, out)

    list(map_threads(block, range(0, len(X), BLOCK)))
    return out


def jackknife_std(forest: Forest, sampler: Sampler, X: Array) -> Array:
    """Standard error of the forest's mean at each row of X, (m, outputs)."""
    B, n = forest.n_trees, sampler.n
    N = np.array(list(map_threads(sampler.counts, range(B))))  # (B, n)
    weight = sampler.weight if len(sampler.weight) else np.ones(n)
    kept = weight > 0
    N = (N - N.mean(axis=0))[:, kept] / np.sqrt(weight[kept])  # w copies share their covariance
    leaves = forest.apply(X)
    o = forest.value.shape[1]
    variance = np.empty((len(X), o))
    step = max(1, CELLS // max(n, B))
    for first in range(0, len(X), step):
        answers = forest.at(leaves[:, first : first + step] + forest.start[:-1, None])
        for j in range(o):
            t = answers[..., j]  # (B, m)
            t = t - t.mean(axis=0)
            c = (N.T @ t) / B  # (n, m)
            noise = sampler.draws * (1 - 1 / n) * (t * t).sum(axis=0) / B**2
            variance[first : first + step, j] = (c * c).sum(axis=0) - noise
    if not sampler.replace:
        variance *= n * (n - 1) / max(n - sampler.draws, 1) ** 2
    return np.sqrt(np.maximum(variance, 0.0))
