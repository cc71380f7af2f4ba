r"""Sweeps of k-means over rows: which centre is nearest, and what each centre then owns.

**Nearest, exactly.** The label of x is the lowest j with the least

    D_j = sum_t (x_t - c_jt)^2,      summed directly, in a fixed order (``squared_distance``).

A tile of BLOCK rows and four centres first computes ``|c|^2 - 2 c'x`` about a common origin,
which costs one multiplication per coordinate instead of two operations, and whose rounding error
is at most ``slack (3 |x|^2 + 2 D)``. Where that cannot tell the best from the second, the direct
sums decide. So labels do not depend on how rows were grouped.

**Bounds** (Hamerly 2010). After centres move by s_j, a row with distance at most u from its own
centre and at least l from every other keeps its label if

    u + s_own < max(l - max_{j != own} s_j,  half the distance from its centre to the next one).

**Exact sums.** A sum of floats depends on their order. Here each value is cut into LIMBS pieces,
piece q a multiple of a unit so coarse that n of them add without rounding:

    v = hi + mid + lo + (less than the last unit),     hi = (v + M_0) - M_0, ...

so the total is the same for any order of rows, threads or blocks, and moving a row from one
centre to another leaves no trace (two times about 35 bits below the largest value, then more).
"""

from typing import Any

import numpy as np

from pellucid.core.jit import jit

BLOCK = 128  # rows in a tile: 20 columns of them are 20 kB, which stays in the first cache
LIMBS = 3


@jit(reassociate=True)
def tile_scores(G: Any, C2: Any, cn: Any, acc: Any, best: Any, second: Any, index: Any) -> None:
    """Least and second least of ``cn_j + C2_j'g`` for the BLOCK columns g of G, and which j.

    G (d4, BLOCK); C2 = -2 C (k4, d4) and cn = |c|^2 (k4,), padded to multiples of four with 0
    and inf; acc (4, BLOCK) is scratch.
    """
    for i in range(BLOCK):
        best[i] = np.inf
        second[i] = np.inf
        index[i] = 0
    for j in range(0, C2.shape[0], 4):
        a0, a1, a2, a3 = acc[0], acc[1], acc[2], acc[3]
        n0, n1, n2, n3 = cn[j], cn[j + 1], cn[j + 2], cn[j + 3]
        for i in range(BLOCK):
            a0[i] = n0
            a1[i] = n1
            a2[i] = n2
            a3[i] = n3
        for t in range(0, C2.shape[1], 4):
            x0, x1, x2, x3 = G[t], G[t + 1], G[t + 2], G[t + 3]
            c00, c01, c02, c03 = C2[j, t], C2[j, t + 1], C2[j, t + 2], C2[j, t + 3]
            c10, c11, c12, c13 = C2[j + 1, t], C2[j + 1, t + 1], C2[j + 1, t + 2], C2[j + 1, t + 3]
            c20, c21, c22, c23 = C2[j + 2, t], C2[j + 2, t + 1], C2[j + 2, t + 2], C2[j + 2, t + 3]
            c30, c31, c32, c33 = C2[j + 3, t], C2[j + 3, t + 1], C2[j + 3, t + 2], C2[j + 3, t + 3]
            for i in range(BLOCK):
                p, q, r, s = x0[i], x1[i], x2[i], x3[i]
                a0[i] += c00 * p + c01 * q + c02 * r + c03 * s
                a1[i] += c10 * p + c11 * q + c12 * r + c13 * s
                a2[i] += c20 * p + c21 * q + c22 * r + c23 * s
                a3[i] += c30 * p + c31 * q + c32 * r + c33 * s
        for m in range(4):
            a = acc[m]
            for i in range(BLOCK):
                v, b = a[i], best[i]
                second[i] = min(second[i], max(v, b))
                index[i] = j + m if v < b else index[i]
                best[i] = min(v, b)


@jit
def squared_distance(x: Any, c: Any) -> float:
    """sum_t (x_t - c_t)^2, from the first t to the last."""
    total = 0.0
    for t in range(len(x)):
        e = x[t] - c[t]
        total += e * e
    return total


@jit
def nearest_two(x: Any, C: Any) -> tuple[int, float, float]:
    """The nearest centre (lowest index on ties), and the least and second least D."""
    j, least, second = 0, np.inf, np.inf
    for m in range(C.shape[0]):
        d = squared_distance(x, C[m])
        if d < least:
            j, least, second = m, d, least
        elif d < second:
            second = d
    return j, least, second


@jit
def add_row(total: Any, x: Any, weight: float, grid: Any) -> None:
    """Add ``weight (x, 1)`` to total (p + 1, LIMBS); a negative weight takes it away again.

    grid (2, LIMBS) holds the M of the values and those of the weights.
    """
    p = len(x)
    for t in range(p + 1):
        row = 0 if t < p else 1
        v = weight * x[t] if t < p else weight
        hi = (v + grid[row, 0]) - grid[row, 0]
        v -= hi
        mid = (v + grid[row, 1]) - grid[row, 1]
        v -= mid
        total[t, 0] += hi
        total[t, 1] += mid
        total[t, 2] += (v + grid[row, 2]) - grid[row, 2]


@jit
def sweep(
    X: Any, w: Any, C: Any, C2: Any, cn: Any, origin: Any, grid: Any, labels: Any, upper: Any,
    lower: Any, moved: Any, drift: Any, half: Any, total: Any,
) -> tuple[int, float]:  # fmt: skip
    """One assignment of the rows X (n, p) to the centres C (k, p), skipping by the bounds.

    labels (n,) holds the last assignment, -1 where there is none; upper and lower its bounds,
    before the centres moved by ``moved`` (k,) and, for the others of each, by up to ``drift``.
    total (k, p + 1, LIMBS), or empty, receives what the centres gain and lose. Returns the
    number of changed labels and the sum of w (D_new - D_old) over them (D_old = 0 where there
    was none).
    (One long function: a second level of calls would double the time to compile it.)
    """
    n, p = X.shape
    acc, best, second = np.empty((4, BLOCK)), np.empty(BLOCK), np.empty(BLOCK)
    index, chosen = np.empty(BLOCK, np.int32), np.empty(BLOCK, np.int64)
    G, norm = np.zeros((C2.shape[1], BLOCK)), np.empty(BLOCK)
    slack = 4.0 * (p + 8) * 2.0**-52
    count, changed, gain = 0, 0, 0.0
    for i in range(n):
        own = labels[i]
        skip = False
        if own >= 0:
            u = (upper[i] + moved[own]) * (1.0 + 2.0**-51)  # rounded away from the label
            low = (lower[i] - drift[own]) * (1.0 - 2.0**-51)
            upper[i] = u
            lower[i] = low
            skip = u * (1.0 + slack) < max(low, half[own])
        if not skip:  # gather
            xx = 0.0
            for t in range(p):
                v = X[i, t] - origin[t]
                G[t, count] = v
                xx += v * v
            norm[count] = xx
            chosen[count] = i
            count += 1
        if count == BLOCK or (i == n - 1 and count > 0):  # settle what was gathered
            tile_scores(G, C2, cn, acc, best, second, index)
            for s in range(count):
                g, xx, j = chosen[s], norm[s], index[s]
                high = max(best[s] + xx, 0.0) * (1.0 + 2.0 * slack) + 3.0 * slack * xx
                low = (second[s] + xx) * (1.0 - 2.0 * slack) - 3.0 * slack * xx
                if not high < low:
                    j, high, low = nearest_two(X[g], C)
                    high, low = high * (1.0 + slack), low * (1.0 - slack)
                upper[g] = np.sqrt(high)
                lower[g] = np.sqrt(max(low, 0.0))
                old = labels[g]
                if j != old:
                    labels[g] = j
                    changed += 1
                    if total.shape[0] == 0:  # only the labels are wanted
                        continue
                    change = squared_distance(X[g], C[j])
                    add_row(total[j], X[g], w[g], grid)
                    if old >= 0:
                        change -= squared_distance(X[g], C[old])
                        add_row(total[old], X[g], -w[g], grid)
                    gain += w[g] * change
            count = 0
    return changed, gain


@jit
def group_rows(X: Any, w: Any, labels: Any, grid: Any, total: Any) -> None:
    """Add every row to the exact sum (k, p + 1, LIMBS) of its label."""
    for i in range(X.shape[0]):
        add_row(total[labels[i]], X[i], w[i], grid)


@jit
def own_distances(X: Any, C: Any, labels: Any, out: Any) -> None:
    """out_i = D of each row to the centre of its label."""
    for i in range(X.shape[0]):
        out[i] = squared_distance(X[i], C[labels[i]])


@jit
def to_tiles(X: Any, tiles: Any) -> None:
    """Lay the rows out as tiles (n / BLOCK, d4, BLOCK); the padding stays as it is."""
    n, p = X.shape
    for b in range(tiles.shape[0]):
        start = b * BLOCK
        for i in range(min(BLOCK, n - start)):
            for t in range(p):
                tiles[b, t, i] = X[start + i, t]


@jit(reassociate=True)
def tile_distances(tile: Any, c: Any, out: Any) -> None:
    """out_i = sum_t (tile_ti - c_t)^2 for the BLOCK columns of one tile."""
    for i in range(BLOCK):
        out[i] = 0.0
    for t in range(0, len(c), 4):
        x0, x1, x2, x3 = tile[t], tile[t + 1], tile[t + 2], tile[t + 3]
        c0, c1, c2, c3 = c[t], c[t + 1], c[t + 2], c[t + 3]
        for i in range(BLOCK):
            e0, e1, e2, e3 = x0[i] - c0, x1[i] - c1, x2[i] - c2, x3[i] - c3
            out[i] += e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3


@jit(reassociate=True)
def tile_potential(new: Any, now: Any, w: Any, power: float) -> float:
    """sum_i w_i v_i^(power / 2) over one tile, v = min(new, now).

    Power 0 counts the v > 0, power inf finds the largest v of a row of positive weight.
    """
    s = 0.0
    if power == 2.0:
        for i in range(BLOCK):
            s += w[i] * min(new[i], now[i])
    elif power == 0.0:
        for i in range(BLOCK):
            s += w[i] if min(new[i], now[i]) > 0.0 else 0.0
    elif power == np.inf:
        for i in range(BLOCK):
            s = max(s, min(new[i], now[i]) if w[i] > 0.0 else 0.0)
    else:
        for i in range(BLOCK):
            s += w[i] * min(new[i], now[i]) ** (0.5 * power)
    return s


@jit
def seed_tiles(
    tiles: Any, w: Any, last: Any, candidates: Any, near: Any, power: float, potential: Any
) -> None:
    """Several starts at once: what each candidate centre would leave to draw from.

    near (n / BLOCK, starts, BLOCK) is the squared distance of every row to the nearest centre of
    each start; it is first brought up to date with ``last`` (starts or 0, d4), the centres chosen
    last. potential (starts, m) receives ``tile_potential`` summed over the rows if candidates
    (starts, m, d4) were chosen next.
    """
    new = np.empty(BLOCK)
    for r in range(candidates.shape[0]):
        for j in range(candidates.shape[1]):
            potential[r, j] = 0.0
    for b in range(tiles.shape[0]):
        for r in range(candidates.shape[0]):
            now = near[b, r]
            if last.shape[0] > 0:
                tile_distances(tiles[b], last[r], new)
                for i in range(BLOCK):
                    now[i] = min(new[i], now[i])
            for j in range(candidates.shape[1]):
                tile_distances(tiles[b], candidates[r, j], new)
                s = tile_potential(new, now, w[b], power)
                potential[r, j] = (
                    max(potential[r, j], s) if power == np.inf else potential[r, j] + s
                )


def warm() -> None:
    """Compile every kernel by calling it once on tiny arrays."""
    X, w, C = np.array([[0.0], [1.0], [5.0]]), np.ones(3), np.array([[0.0], [5.0]])
    C2, cn = np.zeros((4, 4)), np.full(4, np.inf)
    C2[:2, :1], cn[:2] = -2.0 * C, C[:, 0] ** 2
    labels, bound, zero = np.full(3, -1, np.int32), np.zeros(3), np.zeros(2)
    total, grid = np.zeros((2, 2, LIMBS)), np.full((2, LIMBS), 2.0**53)
    sweep(X, w, C, C2, cn, zero[:1], grid, labels, bound, bound.copy(), zero, zero, zero, total)
    group_rows(X, w, labels, grid, total)
    own_distances(X, C, labels, bound)
    tiles, near = np.zeros((1, 4, BLOCK)), np.full((1, 1, BLOCK), np.inf)
    to_tiles(X, tiles)
    one = np.ones((1, BLOCK))
    seed_tiles(tiles, one, C2[:1], C2[None, :1], near, 2.0, np.zeros((1, 1)))
