r"""Sweeps of k-means over rows: which centre is nearest, and what each centre then owns.

**Nearest, exactly.** The label of x is the lowest j with the least

    D_j = sum_t (x_t - c_jt)^2,      summed directly, in a fixed order (``squared_distance``).

A tile of GATHER rows and eight centres first computes ``|c|^2 - 2 c'x`` about a common origin,
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

import numpy as np

from pellucid.core.runtime import simd
from pellucid.core.runtime.jit import jit

GATHER = 96  # rows that are settled together: four tiles of three AVX-512 vectors
BOUNDED = 1024  # rows whose bounds are checked before any is settled
AHEAD = 12  # rows asked for before they are gathered
LINE = 8  # doubles in a line of the cache
BLOCK = 128  # rows in a tile: 20 columns of them are 20 kB, which stays in the first cache
LIMBS = 3


@jit
def tile_scores(G, C2, cn, scores, best, second, index):
    """Least and second least of ``cn_j + C2_j'g`` for the GATHER columns g of G, and which j.

    G (p, GATHER); C2 = -2 C' (p, k8) and cn = |c|^2 (k8,), padded to multiples of TILE_ROWS with
    0 and inf; scores (k8, GATHER) is scratch.
    """
    p, k8 = C2.shape
    for a in range(0, k8, simd.TILE_ROWS):
        for b in range(0, GATHER, 3 * simd.LANES):
            simd.set_tile_3(C2, G, p, a, b, scores)
    for i in range(GATHER):
        best[i] = np.inf
        second[i] = np.inf
        index[i] = 0
    for j in range(k8):
        row, shift = scores[j], cn[j]
        for i in range(GATHER):
            v, b = row[i] + shift, best[i]
            second[i] = min(second[i], max(v, b))
            index[i] = j if v < b else index[i]
            best[i] = min(v, b)


@jit(reassociate=True)
def quick_distance(x, c):
    """sum_t (x_t - c_t)^2 in any order, where labels do not hang on it.

    (Not one body compiled twice: Numba's cache would not tell the two apart.)
    """
    total = 0.0
    for t in range(len(x)):
        e = x[t] - c[t]
        total += e * e
    return total


@jit
def squared_distance(x, c):
    """sum_t (x_t - c_t)^2, from the first t to the last."""
    total = 0.0
    for t in range(len(x)):
        e = x[t] - c[t]
        total += e * e
    return total


@jit
def nearest_two(x, C):
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
def add_row(total, x, weight, grid):
    """Add ``weight (x, 1)`` to total (LIMBS, p + 1); a negative weight takes it away again.

    grid (2, LIMBS) holds the M of the values and those of the weights.
    """
    p = len(x)
    first, second, third = total[0], total[1], total[2]
    M0, M1, M2 = grid[0, 0], grid[0, 1], grid[0, 2]
    for t in range(p):
        v = weight * x[t]
        hi = (v + M0) - M0
        v -= hi
        mid = (v + M1) - M1
        v -= mid
        first[t] += hi
        second[t] += mid
        third[t] += (v + M2) - M2
    v = weight
    for q in range(LIMBS):
        piece = (v + grid[1, q]) - grid[1, q]
        v -= piece
        total[q, p] += piece


@jit
def sweep(X, w, C, C2, cn, origin, grid, labels, upper, lower, moved, drift, half, total):
    """One assignment of the rows X (n, p) to the centres C (k, p), skipping by the bounds.

    labels (n,) holds the last assignment, -1 where there is none; upper and lower its bounds,
    before the centres moved by ``moved`` (k,) and, for the others of each, by up to ``drift``.
    total (k, LIMBS, p + 1), or empty, receives what the centres gain and lose. Returns the
    number of changed labels and the sum of w (D_new - D_old) over them (D_old = 0 where there
    was none).
    (One long function: a second level of calls would double the time to compile it.)
    """
    n, p = X.shape
    scores, best, second = np.empty((len(cn), GATHER)), np.empty(GATHER), np.empty(GATHER)
    index, waiting = np.empty(GATHER, np.int64), np.empty(BOUNDED + GATHER, np.int64)
    G, norm = np.zeros((p, GATHER)), np.empty(GATHER)
    slack = 4.0 * (p + 8) * 2.0**-52
    count, changed, gain = 0, 0, 0.0
    for start in range(0, n, BOUNDED):
        stop = min(start + BOUNDED, n)
        for i in range(start, stop):  # without branches: which rows may change is hard to guess
            own = max(labels[i], 0)
            u = (upper[i] + moved[own]) * (1.0 + 2.0**-51)  # rounded away from the label
            low = (lower[i] - drift[own]) * (1.0 - 2.0**-51)
            upper[i] = u
            lower[i] = low
            waiting[count] = i
            far = half[own] if half[own] > low else low
            count += 1 - int((labels[i] >= 0) & (u * (1.0 + slack) < far))
        done = 0
        while count - done >= GATHER or (stop == n and count > done):
            m = min(GATHER, count - done)
            for s in range(m):
                for t in range(0, p, LINE):
                    simd.prefetch(X, waiting[min(done + s + AHEAD, count - 1)], t)
                i = waiting[done + s]
                xx = 0.0
                for t in range(p):
                    v = X[i, t] - origin[t]
                    G[t, s] = v
                    xx += v * v
                norm[s] = xx
            tile_scores(G, C2, cn, scores, best, second, index)
            for s in range(m):
                g, xx, j = waiting[done + s], norm[s], index[s]
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
                    add_row(total[j], X[g], w[g], grid)
                    if old < 0:
                        gain += w[g] * quick_distance(X[g], C[j])
                        continue
                    add_row(total[old], X[g], -w[g], grid)
                    fall = quick_distance(X[g], C[old]) - quick_distance(X[g], C[j])
                    gain -= w[g] * max(fall, 0.0)  # not below 0, but for rounding
            done += m
        for s in range(done, count):  # fewer than a tile: they wait for the next rows
            waiting[s - done] = waiting[s]
        count -= done
    return changed, gain


@jit
def group_rows(X, w, labels, grid, total):
    """Add every row to the exact sum (k, LIMBS, p + 1) of its label."""
    for i in range(X.shape[0]):
        add_row(total[labels[i]], X[i], w[i], grid)


@jit
def own_distances(X, C, labels, out):
    """out_i = D of each row to the centre of its label."""
    for i in range(X.shape[0]):
        out[i] = quick_distance(X[i], C[labels[i]])


@jit
def to_tiles(X, tiles):
    """Lay the rows out as tiles (n / BLOCK, d4, BLOCK); the padding stays as it is."""
    n, p = X.shape
    for b in range(tiles.shape[0]):
        start = b * BLOCK
        for i in range(min(BLOCK, n - start)):
            for t in range(p):
                tiles[b, t, i] = X[start + i, t]


@jit
def tile_distances(tile, C, out):
    """out_ji = sum_t (tile_ti - C_tj)^2 for the BLOCK columns of a tile and the columns of C.

    tile (d4, BLOCK), C (d4, m8) with m8 a multiple of TILE_ROWS, out (m8, BLOCK).
    """
    for a in range(0, C.shape[1], simd.TILE_ROWS):
        for b in range(0, BLOCK, 2 * simd.LANES):
            simd.distance_tile_2(C, tile, C.shape[0], a, b, out)


@jit(reassociate=True)
def tile_potential(new, now, w, power):
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
def seed_tiles(tiles, w, last, candidates, near, power, potential):
    """Several starts at once: what each candidate centre would leave to draw from.

    near (n / BLOCK, starts, BLOCK) is the squared distance of every row to the nearest centre of
    each start; it is first brought up to date with ``last`` (starts or 0, d4), the centres chosen
    last. potential (starts, m) receives ``tile_potential`` summed over the rows if candidates
    (starts, m, d4) were chosen next.
    """
    starts, m, d4 = candidates.shape
    first = len(last)  # columns of C: the last centres, then the candidates start by start
    columns = -(-(first + starts * m) // simd.TILE_ROWS) * simd.TILE_ROWS
    C, D = np.zeros((d4, columns)), np.empty((columns, BLOCK))
    for t in range(d4):
        for r in range(first):
            C[t, r] = last[r, t]
        for r in range(starts):
            for j in range(m):
                C[t, first + r * m + j] = candidates[r, j, t]
    potential[:] = 0.0
    for b in range(tiles.shape[0]):
        tile_distances(tiles[b], C, D)
        for r in range(starts):
            now = near[b, r]
            if first > 0:
                for i in range(BLOCK):
                    now[i] = min(D[r, i], now[i])
            for j in range(m):
                s = tile_potential(D[first + r * m + j], now, w[b], power)
                potential[r, j] = (
                    max(potential[r, j], s) if power == np.inf else potential[r, j] + s
                )


@jit
def draw_in_order(v, w, order, u, power, out):
    """Rows at the quantiles u of their mass w v^(power / 2), the rows taken in ``order``.

    Power -1: by weight alone; power inf: the first of the farthest rows of positive weight.
    """
    n = len(order)
    below = np.empty(n)
    total, last, far, at = 0.0, 0, -1.0, 0
    for i in range(n):
        r = order[i]
        if power == 2.0:
            mass = w[r] * v[r]
        elif power == -1.0:
            mass = w[r]
        elif power == 0.0:
            mass = w[r] if v[r] > 0.0 else 0.0
        elif power == np.inf:
            mass = w[r]
            if w[r] > 0.0 and v[r] > far:
                far, at = v[r], i
        else:
            mass = w[r] * v[r] ** (0.5 * power)
        total += mass
        below[i] = total
        if mass > 0.0:
            last = i
    for j in range(len(u)):
        if power != np.inf:
            at = min(np.searchsorted(below, u[j] * total, side="right"), last)
        out[j] = order[at]
