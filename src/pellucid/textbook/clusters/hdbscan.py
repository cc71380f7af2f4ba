r"""HDBSCAN: the groups of DBSCAN for every eps at once, and the most persistent of them.

Distance    core_i = distance to the m-th nearest row, itself included;
            reach(i, j) = max(d_ij, core_i, core_j); its single-linkage tree, cut at eps, is DBSCAN
Condense    walk down the tree: a side with fewer than m rows only falls out of the group, two sides
            with at least m rows are two new groups. Density is 1 / eps.
Step        stability = sum over the rows of (density where the row leaves - density at birth);
            from the leaves up, keep a group if it is at least as stable as what is kept inside it.
Cost        n^3 as written here.
The fast version grows the spanning tree without the matrix and says how firmly a row belongs; a
row at equal reach of two groups may go to either.
"""

from typing import NamedTuple

import numpy as np


class Group(NamedTuple):
    rows: set[int]  # at birth
    birth: float  # density
    stability: float
    inside: list["Group"]


def merge_tree(D: np.ndarray) -> list[tuple[set[int], set[int], float]]:
    """Single linkage: the two sides and the height of each merge, highest last."""
    groups, merges = [{i} for i in range(len(D))], []
    while len(groups) > 1:
        pairs = [(a, b) for a in range(len(groups)) for b in range(a)]
        gap = [D[np.ix_(list(groups[a]), list(groups[b]))].min() for a, b in pairs]
        a, b = pairs[int(np.argmin(gap))]
        merges.append((groups[a], groups[b], min(gap)))
        groups = [g for k, g in enumerate(groups) if k not in (a, b)] + [groups[a] | groups[b]]
    return merges


def condense(rows: set[int], birth: float, splits: dict[frozenset[int], tuple], m: int) -> Group:
    """Follow a group down the tree until it falls apart."""
    now, stability = rows, 0.0
    while True:
        one, other, height = splits[frozenset(now)]
        density = 1 / height
        if min(len(one), len(other)) >= m:  # two new groups: everybody leaves
            inside = [condense(side, density, splits, m) for side in (one, other)]
            return Group(rows, birth, stability + len(now) * (density - birth), inside)
        large, small = (one, other) if len(one) >= len(other) else (other, one)
        if len(large) < m:  # the end: everybody leaves
            return Group(rows, birth, stability + len(now) * (density - birth), [])
        stability += len(small) * (density - birth)
        now = large


def chosen(group: Group, is_root: bool) -> tuple[float, list[set[int]]]:
    """The best total stability inside a group, and the groups that give it."""
    below = [chosen(g, False) for g in group.inside]
    total = sum(s for s, _ in below)
    if not is_root and (not below or group.stability >= total):
        return group.stability, [group.rows]
    return total, [rows for _, found in below for rows in found]


def hdbscan(X: np.ndarray, m: int = 5) -> np.ndarray:
    """Labels by first row; -1 is noise. The group of all rows is never chosen."""
    D = np.linalg.norm(X[:, None, :] - X[None, :, :], axis=2)
    core = np.sort(D, axis=1)[:, m - 1]
    reach = np.maximum(D, np.maximum(core[:, None], core[None, :]))
    splits = {frozenset(a | b): (a, b, height) for a, b, height in merge_tree(reach)}
    _, groups = chosen(condense(set(range(len(X))), 0.0, splits, m), True)
    labels = np.full(len(X), -1)
    for label, rows in enumerate(sorted(groups, key=min)):
        labels[list(rows)] = label
    return labels
