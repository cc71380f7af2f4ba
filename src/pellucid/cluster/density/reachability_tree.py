r"""The cores of HDBSCAN: the tree of reachability, its clusters, and which of them to keep.

    stability(C) = sum over what leaves C of (lambda_leaves - lambda_born) x rows

Excess of mass: from the leaves up, a cluster is kept if it is at least as stable as the kept ones
below it together. ``leaf``: the clusters without clusters below. A kept cluster that was born
below ``epsilon`` gives way to its first ancestor born above it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pellucid.cluster.density.reachability_kernels import condense, reach_tree
from pellucid.cluster.density.regions import BLOCK_VALUES, SMALL, run
from pellucid.cluster.dissimilarity import kernel_order, mapped_rows
from pellucid.cluster.hierarchy.kernels.rows import matrix_spanning_tree
from pellucid.cluster.hierarchy.linkage import MergeTree, blank, finished
from pellucid.compiled.distances.brute import direct_distances
from pellucid.compiled.distances.kd_building import build_tree
from pellucid.compiled.distances.kd_tree import tree_nearest
from pellucid.core.arrays.typing import Array, BoolArray, IntArray
from pellucid.core.functions.metrics import Metric

FEW = 64  # neighbours up to which a list of the nearest is kept in order


def core_distances(E: Array, kind: int, order: float, k: int) -> Array:
    """Reduced distance of each row to its k-th nearest one, itself included.

    >>> core_distances(np.array([[0.0], [1.0], [3.0]]), 2, 2.0, 2)
    array([1., 1., 4.])
    """
    if k > FEW:
        return selected_distances(E, kind, order, k)
    n, tree = len(E), build_tree(E)
    rows = tree.slots.ravel()[tree.slots.ravel() < n]  # neighbours in space after each other
    out, index = np.empty((n, k)), np.empty((n, k), np.int64)

    def search(start: int) -> None:
        stop, seen = min(start + SMALL, n), np.zeros(1, np.int64)
        tree_nearest(*tree, E, rows, start, stop, kind, order, out, index, seen)

    run(search, list(range(0, n, SMALL)))
    return out[:, k - 1].copy()


def selected_distances(E: Array, kind: int, order: float, k: int) -> Array:
    """The same for many neighbours: all distances of a few rows at a time, and a selection."""
    n, columns = len(E), np.array(E.T, order="C")
    out, step = np.empty(n), max(1, BLOCK_VALUES // (8 * n))

    def select(start: int) -> None:
        Q = E[start : start + step]
        D = np.empty((len(Q), n))
        direct_distances(columns, Q, 0, len(Q), kind, order, D)
        D.partition(k - 1, axis=1)
        out[start : start + step] = D[:, k - 1]

    run(select, list(range(0, n, step)))
    return out


def reachability_tree(X: Array, metric: Metric, k: int, alpha: float) -> MergeTree:
    """Single linkage of mutual reachability, of rows under a metric with a Minkowski form."""
    E, (kind, order) = mapped_rows(metric, X), kernel_order(metric)
    XT = np.vstack([E.T, core_distances(E, kind, order, k)])
    ends, heights = blank(len(X))
    reach_tree(XT, kind, order, float(alpha ** (-1.0 / metric.power)), ends, heights)
    heights = metric.finish(heights)
    return finished(ends, heights, np.argsort(heights, kind="stable"))


def reachability_tree_of(D: Array, k: int, alpha: float) -> MergeTree:
    """The same of a matrix of distances.

    >>> x = np.array([0.0, 1.0, 3.0, 9.0])
    >>> reachability_tree_of(abs(x[:, None] - x), 2, 1.0).heights
    array([1., 2., 6.])
    """
    core = np.partition(D, k - 1, axis=1)[:, k - 1]
    M = np.maximum(D / alpha, np.maximum(core[:, None], core))
    ends, heights = blank(len(D))
    matrix_spanning_tree(M, ends, heights)
    return finished(ends, heights, np.argsort(heights, kind="stable"))


class Condensed(NamedTuple):
    """Clusters from the root (0) down, and where every row falls out."""

    parent: IntArray  # (m,) -1 for the root
    birth: Array  # (m,) density at which it splits off
    size: IntArray  # (m,) rows at birth
    cluster: IntArray  # (n,) the smallest cluster of each row
    fall: Array  # (n,) density at which the row leaves it


def condensed(tree: MergeTree, fewest: int) -> Condensed:
    """Forget clusters of fewer rows."""
    n = len(tree.heights) + 1
    parent, size = np.empty(n, np.int64), np.empty(n, np.int64)
    birth, fall, cluster = np.empty(n), np.empty(2 * n - 1), np.empty(2 * n - 1, np.int64)
    m = condense(*tree, fewest, parent, birth, size, cluster, fall)
    ends: Any = (parent[:m], birth[:m], size[:m], cluster[:n], fall[:n])
    return Condensed(*(values.copy() for values in ends))


def stabilities(tree: Condensed) -> Array:
    """Excess of mass of every cluster; infinite where copies of a row (infinite density) stay."""
    parent, birth, size, cluster, fall = tree
    leaves = np.concatenate([fall, birth[1:]])
    whose = np.concatenate([cluster, parent[1:]])
    born = birth[whose]
    gain = np.where(leaves > born, leaves, 0.0) - np.where(leaves > born, born, 0.0)
    mass = gain * np.concatenate([np.ones(len(fall)), size[1:]])
    return np.bincount(whose, mass, len(birth)).astype(np.float64)


def excess_of_mass(tree: Condensed, largest: int, single: bool) -> BoolArray:
    """Which clusters are at least as stable as what is kept below them."""
    stable, m = stabilities(tree), len(tree.parent)
    below, kept = np.zeros(m), np.zeros(m, dtype=bool)
    for c in range(m - 1, -1 if single else 0, -1):
        kept[c] = not (below[c] > stable[c] or tree.size[c] > largest)
        if tree.parent[c] >= 0:
            below[tree.parent[c]] += stable[c] if kept[c] else below[c]
    return topmost(tree, kept)


def topmost(tree: Condensed, kept: BoolArray) -> BoolArray:
    """Those without a kept cluster above them."""
    out, covered = kept.copy(), np.zeros(len(kept), dtype=bool)
    for c in range(1, len(kept)):
        covered[c] = covered[tree.parent[c]] or kept[tree.parent[c]]
        out[c] &= not covered[c]
    return out


def leaf_clusters(tree: Condensed) -> BoolArray:
    """Those without clusters below; the root alone is none."""
    kept = np.ones(len(tree.parent), dtype=bool)
    kept[tree.parent[1:]] = False
    kept[0] = False
    return kept


def above(tree: Condensed, kept: BoolArray, epsilon: float, single: bool) -> BoolArray:
    """Replace clusters born at a height below ``epsilon`` by an ancestor born above it."""
    out = np.zeros_like(kept)
    for c in np.flatnonzero(kept):
        while c > 0 and 1.0 / tree.birth[c] < epsilon and (tree.parent[c] > 0 or single):
            c = tree.parent[c]
        out[c] = True
    return topmost(tree, out)


class Selection(NamedTuple):
    """Labels, how firmly each row belongs, and the kept clusters in the order of their labels."""

    labels: IntArray
    strength: Array
    clusters: IntArray


def select(tree: Condensed, method: str, epsilon: float, largest: int, single: bool) -> Selection:
    """Keep clusters and label the rows; clusters are numbered by first row."""
    kept = excess_of_mass(tree, largest, single) if method == "eom" else leaf_clusters(tree)
    if epsilon > 0 and not kept[0]:
        kept = above(tree, kept, epsilon, single)
    m = len(kept)
    top = np.where(kept, np.arange(m), -1)
    for c in range(1, m):
        if not kept[c]:
            top[c] = top[tree.parent[c]]
    own = top[tree.cluster]
    if kept[0]:  # one cluster: rows that leave before the densest do are noise
        last = 1.0 / epsilon if epsilon > 0 else _last(tree)[0]
        own = np.where(tree.fall >= last, own, -1)
    found, first = np.unique(own[own >= 0], return_index=True)
    clusters = found[np.argsort(first)]
    number = np.full(m + 1, -1)
    number[clusters] = np.arange(len(clusters))
    return Selection(number[own], strengths(tree, own), clusters)


def _last(tree: Condensed) -> Array:
    """The density at which the last of each cluster leaves it."""
    last = np.zeros(len(tree.parent))
    np.maximum.at(last, tree.cluster, tree.fall)
    np.maximum.at(last, tree.parent[1:], tree.birth[1:])
    return last


def strengths(tree: Condensed, own: IntArray) -> Array:
    """lambda of the row / largest lambda of its cluster, at most 1; 0 for noise."""
    last = _last(tree)[np.maximum(own, 0)]
    certain = np.isinf(tree.fall) | (last == 0.0)
    ratio = np.divide(tree.fall, last, out=np.ones_like(last), where=~certain)
    return np.where(own >= 0, np.minimum(ratio, 1.0), 0.0)


def cut_labels(labels: IntArray, fewest: int) -> IntArray:
    """Groups of fewer rows become noise, the others are numbered by first row.

    >>> cut_labels(np.array([0, 0, 1, 2, 2]), 2)
    array([ 0,  0, -1,  1,  1])
    """
    large = np.bincount(labels) >= fewest
    return np.where(large, np.cumsum(large) - 1, -1)[labels]


def centre_of(X: Array, strength: Array, distances: Callable[[Array], Array]) -> Array:
    """The row with the least sum of distances to the others, weighted by their strength."""
    return X[int(np.argmin((distances(X) * strength).sum(axis=1)))]
