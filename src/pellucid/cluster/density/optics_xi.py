r"""Clusters from the visits of OPTICS.

In the order of the visits the reachabilities r are a plot with valleys, and a valley is a cluster.

    cut at eps    a row with r > eps starts a cluster if its core distance is at most eps, else it
                  is noise; the others follow the row before them. DBSCAN, but for border rows
    xi            r falls steeply at i if r_i (1 - xi) >= r_(i+1), and rises steeply if
                  r_i <= r_(i+1) (1 - xi). A cluster goes from a steep fall to a steep rise between
                  which nothing is higher than either end less xi; falls and rises may hold
                  ``min_samples`` rows that are not steep
    predecessors  the last row of a cluster must have been reached from inside it, else it is left
                  out

References: Ankerst, Breunig, Kriegel & Sander (1999); Schubert & Gertz (2018).
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.cluster.density.optics_graph import check_size, rows_of_size
from pellucid.cluster.hierarchy.kernels.graph import wider
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike, IntArray
from pellucid.core.readable import readable
from pellucid.core.runtime.jit import jit

ROOM = 64  # clusters and falls at the start


@readable
class XiClusters(NamedTuple):
    """Labels of the rows, and all nested clusters.

    Examples
    --------
    >>> from pellucid.cluster import XiClusters, cluster_optics_xi
    >>> plot = {"reachability": [np.inf, 1, 9, 1], "predecessor": [-1, 0, 1, 2]}
    >>> found = cluster_optics_xi(**plot, ordering=[0, 1, 2, 3], min_samples=2)
    >>> isinstance(found, XiClusters), found.labels
    (True, array([0, 0, 1, 1]))
    """

    labels: IntArray  # (n,) -1 for rows in none of the smallest clusters
    clusters: IntArray  # (m, 2) first and last visit; small ones before those around them


@jit
def steep(ratio, i, keep, up):
    """Whether r changes steeply at i; ratio is r_i / r_(i + 1), keep is 1 - xi."""
    return ratio[i] <= keep if up else ratio[i] >= 1.0 / keep if keep > 0.0 else np.isinf(ratio[i])


@jit
def end_of_area(ratio, start, keep, min_samples, up):
    """The last steep place of the fall or rise that begins at ``start``."""
    end, flat, i = start, 0, start
    while i < len(ratio):
        if steep(ratio, i, keep, up):
            end, flat = i, 0
        elif (ratio[i] > 1.0) if up else (ratio[i] < 1.0):
            break
        else:
            flat += 1
            if flat > min_samples:
                break
        i += 1
    return end


@jit
def reached_inside(r, source, place, start, end):
    """The last visit up to ``end`` that was reached from the cluster; ``start`` if there is none.

    source (n,): the row from which the row of a visit was reached, place (n,): visits of rows.
    """
    while end > start:
        if r[start] > r[end]:
            return end
        if source[end] >= 0 and start <= place[source[end]] < end:
            return end
        end -= 1
    return start


@jit
def valleys(r, ratio, source, place, keep, min_samples, min_size, correct):
    """First and last visits of all clusters, small ones first; r (n + 1,) ends with inf."""
    falls, falls_end, between = np.empty(ROOM, np.int64), np.empty(ROOM, np.int64), np.empty(ROOM)
    firsts, lasts = np.empty(ROOM, np.int64), np.empty(ROOM, np.int64)
    many, found, at, top = 0, 0, 0, 0.0
    for i in range(len(ratio)):
        up = steep(ratio, i, keep, True)
        if i < at or not (up or steep(ratio, i, keep, False)):
            continue
        for j in range(at, i + 1):
            top = max(top, r[j])
        kept = 0  # falls that are still higher than what followed
        for f in range(many):
            if top < np.inf and top <= r[falls[f]] * keep:
                falls[kept], falls_end[kept] = falls[f], falls_end[f]
                between[kept] = max(between[f], top)
                kept += 1
        many = kept
        end = end_of_area(ratio, i, keep, min_samples, up)
        at = end + 1
        top = r[at]
        if not up:
            if many == len(falls):
                falls, falls_end = wider(falls, many), wider(falls_end, many)
                between = wider(between, many)
            falls[many], falls_end[many], between[many] = i, end, 0.0
            many += 1
            continue
        for f in range(many - 1, -1, -1):  # the last fall gives the smallest cluster
            first, last, high = falls[f], end, r[falls[f]]
            if top * keep < between[f]:
                continue
            if high * keep >= top:  # the left end is higher: begin at the height of the right one
                while r[first + 1] > top and first < falls_end[f]:
                    first += 1
            elif top * keep >= high:  # the right end is higher
                while last > i and r[last - 1] > high:
                    last -= 1
            if correct:
                last = reached_inside(r, source, place, first, last)
                if last == first:
                    continue
            if last - first + 1 < min_size or first > falls_end[f] or last < i:
                continue
            if found == len(firsts):
                firsts, lasts = wider(firsts, found), wider(lasts, found)
            firsts[found], lasts[found] = first, last
            found += 1
    return firsts[:found], lasts[:found]


@jit
def number_valleys(firsts, lasts, ordering, labels):
    """Label the clusters that hold no labelled row, in their order."""
    number = 0
    for c in range(len(firsts)):
        free = True
        for i in range(firsts[c], lasts[c] + 1):
            free = free and labels[ordering[i]] < 0
        if free:
            for i in range(firsts[c], lasts[c] + 1):
                labels[ordering[i]] = number
            number += 1


def visits(ordering: ArrayLike, **columns: ArrayLike) -> tuple[Any, ...]:
    """The columns of a graph as arrays of one length; the order must name every row once."""
    order = np.array(ordering)
    n = len(order)
    if order.ndim != 1 or order.dtype.kind not in "iu" or (np.sort(order) != np.arange(n)).any():
        raise ValueError(f"ordering must name each of the {n} rows once")
    found = [np.array(column) for column in columns.values()]
    for name, column in zip(columns, found, strict=True):
        if column.shape != (n,) or np.isnan(column).any():
            raise ValueError(f"{name} must hold {n} numbers, got shape {column.shape}")
    return (order.astype(np.int64), *found)


def check_xi(xi: float) -> None:
    """xi is a share."""
    check.non_negative(xi=xi)
    if xi > 1:
        raise ValueError(f"xi must be between 0 and 1, got {xi!r}")


def cluster_optics_dbscan(
    *, reachability: ArrayLike, core_distances: ArrayLike, ordering: ArrayLike, eps: float
) -> IntArray:
    """Labels of DBSCAN at the radius eps, from the visits of OPTICS; -1 is noise.

    Parameters
    ----------
    reachability, core_distances, ordering : array of shape (n,)
        As ``compute_optics_graph`` or a fitted ``OPTICS`` has them.
    eps : float
        The radius, at most the ``max_eps`` of the visits.

    Examples
    --------
    >>> from pellucid.cluster import cluster_optics_dbscan, compute_optics_graph
    >>> X = [[1.0, 2], [2, 5], [3, 6], [8, 7], [8, 8], [7, 3]]
    >>> graph = compute_optics_graph(X, min_samples=2)
    >>> cluster_optics_dbscan(reachability=graph.reachability, eps=4.5,
    ...     core_distances=graph.core_distances, ordering=graph.ordering)
    array([0, 0, 0, 1, 1, 1])
    """
    check.non_negative(eps=eps)
    order, reach, core = visits(ordering, reachability=reachability, core_distances=core_distances)
    far, dense = reach > eps, core <= eps
    labels = np.empty(len(order), np.int64)
    labels[order] = np.cumsum((far & dense)[order]) - 1
    labels[far & ~dense] = -1
    return labels


def cluster_optics_xi(
    *,
    reachability: ArrayLike,
    predecessor: ArrayLike,
    ordering: ArrayLike,
    min_samples: float,
    min_cluster_size: float | None = None,
    xi: float = 0.05,
    predecessor_correction: bool = True,
) -> XiClusters:
    """Clusters between steep falls and rises of the reachability.

    Parameters
    ----------
    reachability, predecessor, ordering : array of shape (n,)
        As ``compute_optics_graph`` or a fitted ``OPTICS`` has them.
    min_samples : int or float
        That of the visits; a fall or rise may hold so many rows that are not steep.
    min_cluster_size : int or float, default=None
        Rows, or share of the rows, of a cluster at least; None is ``min_samples``.
    xi : float, default=0.05
        A change by this share from one visit to the next is steep.
    predecessor_correction : bool, default=True
        Leave out last rows that were reached from outside the cluster.

    Returns
    -------
    labels : ndarray of shape (n,)
        The smallest clusters; -1 for rows in none of them.
    clusters : ndarray of shape (m, 2)
        First and last visit of all clusters, those inside others first.

    Examples
    --------
    >>> from pellucid.cluster import cluster_optics_xi, compute_optics_graph
    >>> X = [[1.0, 2], [2, 5], [3, 6], [8, 7], [8, 8], [7, 3]]
    >>> graph = compute_optics_graph(X, min_samples=2)
    >>> cluster_optics_xi(reachability=graph.reachability, predecessor=graph.predecessor,
    ...     ordering=graph.ordering, min_samples=2).clusters.tolist()
    [[0, 2], [3, 5], [0, 5]]
    """
    order, reach, source = visits(ordering, reachability=reachability, predecessor=predecessor)
    n = len(order)
    min_cluster_size = min_samples if min_cluster_size is None else min_cluster_size
    check_size(n, min_samples=min_samples, min_cluster_size=min_cluster_size)
    check_xi(xi)
    check.boolean(predecessor_correction=predecessor_correction)
    if source.dtype.kind not in "iu" or (source < -1).any() or (source >= n).any():
        raise ValueError(f"predecessor must hold rows from 0 to {n - 1}, or -1")
    r = np.append(reach[order].astype(np.float64), np.inf)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        ratio = r[:-1] / r[1:]
    sizes = rows_of_size(min_samples, n), rows_of_size(min_cluster_size, n)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    from_row = source[order].astype(np.int64)
    correct = bool(predecessor_correction)
    firsts, lasts = valleys(r, ratio, from_row, place, 1.0 - xi, *sizes, correct)
    labels = np.full(n, -1, np.int64)
    number_valleys(firsts, lasts, order, labels)
    return XiClusters(labels, np.column_stack([firsts, lasts]))
