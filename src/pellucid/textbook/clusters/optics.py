r"""OPTICS: visit the rows from dense to thin; valleys of the distances on the way are groups.

Define      core_i = distance to the m-th nearest row, itself included;
            reach_j = least max(d_ij, core_i) over the rows i visited so far
Step        visit the row with the least reach (the first row where none was reached).
Groups      in the order of the visits reach falls into a group and rises out of it. A change by the
            share xi is steep; a fall or a rise may hold m places that are not. A group goes from
            a fall to a rise if both ends are higher by xi than what lies between, and its last
            row must have been reached from inside.
Cost        n^2 p.
The fast version keeps no matrix and asks a kd-tree where rows beyond eps do not matter.
"""

from typing import NamedTuple

import numpy as np


class Visits(NamedTuple):
    order: np.ndarray  # (n,) rows
    core: np.ndarray  # (n,) by row
    reach: np.ndarray  # (n,) by row, inf: never reached
    source: np.ndarray  # (n,) by row, -1: never reached


def optics(X: np.ndarray, m: int = 5, eps: float = np.inf) -> Visits:
    """The visits; rows farther apart than eps do not reach each other."""
    D = np.linalg.norm(X[:, None, :] - X[None, :, :], axis=2)
    core = np.sort(D, axis=1)[:, m - 1]
    core[core > eps] = np.inf
    n = len(X)
    reach, source, left, order = np.full(n, np.inf), np.full(n, -1), list(range(n)), []
    while left:
        i = left[int(np.argmin(reach[left]))]
        left.remove(i)
        order.append(i)
        for j in left if np.isfinite(core[i]) else ():
            if D[i, j] <= eps and max(D[i, j], core[i]) < reach[j]:
                reach[j], source[j] = max(D[i, j], core[i]), i
    return Visits(np.array(order), core, reach, source)


def groups_below(visits: Visits, eps: float) -> np.ndarray:
    """Labels of DBSCAN at a radius, but for rows on the border of two groups."""
    labels, group = np.full(len(visits.order), -1), -1
    for i in visits.order:
        if visits.reach[i] > eps and visits.core[i] <= eps:
            group += 1
        if visits.reach[i] <= eps or visits.core[i] <= eps:
            labels[i] = group
    return labels


def last_steep(ratio: np.ndarray, start: int, m: int, xi: float) -> int:
    """Where a fall (ratios above 1) or a rise (below 1) that begins at ``start`` ends."""
    up = ratio[start] < 1
    end, flat = start, 0
    for i in range(start, len(ratio)):
        if ratio[i] <= 1 - xi if up else ratio[i] >= 1 / (1 - xi):
            end, flat = i, 0
        elif (ratio[i] > 1) if up else (ratio[i] < 1):
            break
        else:
            flat += 1
            if flat > m:
                break
    return end


def steep_groups(visits: Visits, m: int = 5, xi: float = 0.05) -> list[tuple[int, int]]:
    """First and last visit of every group of at least m rows, small groups first."""
    r = np.append(visits.reach[visits.order], np.inf)
    with np.errstate(invalid="ignore"):
        ratio = r[:-1] / r[1:]
    falls: list[tuple[int, int]] = []
    groups, next_place = [], 0
    for i in range(len(ratio)):
        steep = ratio[i] <= 1 - xi or ratio[i] >= 1 / (1 - xi)
        if i < next_place or not steep:
            continue
        end = last_steep(ratio, i, m, xi)
        next_place = end + 1
        if ratio[i] > 1:
            falls.append((i, end))
            continue
        for first, bottom in reversed(falls):
            between = r[bottom + 1 : i + 1].max()
            if between == np.inf or between > (1 - xi) * min(r[first], r[end + 1]):
                continue
            a, b = first, end
            while r[first] * (1 - xi) >= r[end + 1] and r[a + 1] > r[end + 1] and a < bottom:
                a += 1
            while r[end + 1] * (1 - xi) >= r[first] and r[b - 1] > r[first] and b > i:
                b -= 1
            inside = set(visits.order[a:b])
            while b > a and r[a] <= r[b] and visits.source[visits.order[b]] not in inside:
                b -= 1
                inside.discard(visits.order[b])
            if b - a + 1 >= m and b >= i:
                groups.append((a, b))
    return groups
