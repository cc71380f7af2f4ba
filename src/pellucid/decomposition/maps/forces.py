r"""Forces between the points of a t-SNE map.

With u = 1/(1 + d^2/f) of a pair at distance d and f degrees of freedom, w = u^((f+1)/2), the map
has the probabilities q = w/Z, Z = sum of w over all pairs, and

    dKL/dy_i = (2 (f+1)/f) [ sum_j p_ij u_ij (y_i - y_j)  -  (1/Z) sum_j w_ij u_ij (y_i - y_j) ]

The first sum, the attraction, has a term for each neighbour and is computed as it stands. The
second, the repulsion, is over all pairs. It is computed in one of three ways:

    pairs   as it stands, n^2: exact
    grid    by splines on a grid and Fourier transforms (``grid.py``): n + cells log cells
    tree    Barnes and Hut (``tree.py``): n log n, groups that look small stand for their rows

``choose`` takes the one that should cost least now. On one or two dimensions f = 1. Points are
given by coordinate, Y (k, n), so that sums run along memory.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.threads import map_threads
from pellucid.decomposition.maps import grid as grids
from pellucid.decomposition.maps.tree import tree_forces

TILE = 512  # pairs of a point whose weights are held at once
SPAN = 256  # points a thread takes at a time
STRIPS = 8  # tasks of the form by pairs: always as many, so that sums have one order
PAIR, CELL, POINT, GRID, VISIT = 0.27, 10.0, 140.0, 2e5, 15.0  # costs in ns, as measured
HALF_ROOT = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2)
LOG_2 = 0.6931471805599453


class Repulsion(NamedTuple):
    """The second sum without 1/Z, and Z; the grid serves the next map too."""

    force: Array  # (k, n)
    Z: float
    form: str
    grid: Any = None


@jit(reassociate=True)
def attract(
    first: Any, index: Any, P: Any, Y: Any, f: float, start: int, stop: int, out: Any
) -> float:
    """The attraction of points start to stop into out (k, n); returns sum_j p log(1 + d^2/f).

    The logarithm is that of the fraction in [sqrt(1/2), sqrt 2), by the series of artanh, plus the
    exponent's: loops without calls are what compilers turn into vectors.
    """
    k = len(Y)
    most = 0
    for i in range(start, stop):
        most = max(most, first[i + 1] - first[i])
    T, E = np.empty(most), np.empty((k, most))
    bits = T.view(np.int64)
    g = 1.0 / f
    total = 0.0
    for i in range(start, stop):
        a, m = first[i], first[i + 1] - first[i]
        near, p = index[a : a + m], P[a : a + m]
        for j in range(m):
            T[j] = 1.0
        for c in range(k):
            y, row = Y[c, i], Y[c]
            for j in range(m):
                e = y - row[near[j]]
                E[c, j] = e
                T[j] += g * e * e
        for c in range(k):
            force = 0.0
            for j in range(m):
                force += p[j] / T[j] * E[c, j]
            out[c, i] = force
        for j in range(m):
            exponent = (bits[j] - HALF_ROOT) >> 52
            bits[j] -= exponent << 52
            z = (T[j] - 1.0) / (T[j] + 1.0)
            q = z * z
            series = 1 / 9 + q * (1 / 11 + q * (1 / 13 + q * (1 / 15 + q / 17)))
            series = 1.0 + q * (1 / 3 + q * (1 / 5 + q * (1 / 7 + q * series)))
            total += p[j] * (exponent * LOG_2 + 2.0 * z * series)
    return total


@jit(reassociate=True)
def repel(Y: Any, f: float, start: int, stop: int, out: Any) -> float:
    """Add the forces of points start to stop and all later ones to both; returns the sum of w."""
    k, n = Y.shape
    T, g, Z = np.empty(TILE), 1.0 / f, 0.0
    for i in range(start, stop):
        for a in range(i + 1, n, TILE):
            m = min(TILE, n - a)
            for j in range(m):
                T[j] = 1.0
            for c in range(k):
                y, row = Y[c, i], Y[c, a : a + m]
                for j in range(m):
                    e = y - row[j]
                    T[j] += g * e * e
            total = 0.0
            if f == 1.0:
                for j in range(m):
                    u = 1.0 / T[j]
                    total += u
                    T[j] = u * u
            elif f == 2.0:
                for j in range(m):
                    u = 1.0 / T[j]
                    w = u * np.sqrt(u)
                    total += w
                    T[j] = w * u
            else:
                for j in range(m):
                    u = 1.0 / T[j]
                    w = u ** (0.5 * (f + 1.0))
                    total += w
                    T[j] = w * u
            Z += total
            for c in range(k):
                y, row, push, force = Y[c, i], Y[c, a : a + m], out[c, a : a + m], 0.0
                for j in range(m):
                    e = T[j] * (y - row[j])
                    force += e
                    push[j] -= e
                out[c, i] += force
    return Z


def spans(n: int) -> range:
    return range(0, n, SPAN)


def attraction(first: Any, index: Any, P: Array, Y: Array, f: float) -> tuple[Array, float]:
    """(the first sum (k, n), sum of p log(1 + d^2/f))."""
    out = np.empty_like(Y)
    n = Y.shape[1]

    def part(a: int) -> float:
        return attract(first, index, P, Y, f, a, min(a + SPAN, n), out)

    return out, sum(map_threads(part, spans(n)))


def all_pairs(Y: Array, f: float) -> Repulsion:
    """The second sum as it stands, each pair once; strips of rows with as many pairs each."""
    k, n = Y.shape
    ends = np.round(n * (1 - np.sqrt(1 - np.arange(STRIPS + 1) / STRIPS))).astype(np.int64)
    out = np.zeros((STRIPS, k, n))

    def strip(s: int) -> float:
        return repel(Y, f, ends[s], ends[s + 1], out[s])

    Z = 2.0 * sum(map_threads(strip, range(STRIPS)))
    return Repulsion(out.sum(axis=0), Z, "pairs")


def choose(Y: Array, angle: float) -> str:
    """The form that should cost least; with an angle of 0 all pairs are wanted."""
    k, n = Y.shape
    if angle == 0:
        return "pairs"
    walk = VISIT * (2.1 / angle**0.6) ** k
    cost = {"pairs": PAIR * k * n * n, "tree": walk * n * np.log2(n)}
    if k <= 2:
        cost["grid"] = GRID + POINT * n + CELL * grids.cells(Y)
    return min(cost, key=lambda form: cost[form])


def repulsion(Y: Array, f: float, angle: float, grid: Any = None) -> Repulsion:
    """The second sum by the form that should cost least; ``grid`` is that of the last map."""
    form = choose(Y, angle)
    if form == "pairs":
        return all_pairs(Y, f)._replace(grid=grid)
    if form == "tree":
        force, Z = tree_forces(Y, f, angle)
        return Repulsion(force, Z, form, grid)
    force, Z, grid = grids.grid_forces(Y, grid)
    return Repulsion(force, Z, form, grid)
