r"""Sequential minimal optimisation: two variables at a time, the best pair by second order.

    min_b  1/2 b'K b + q'b,   lo <= b <= hi,   sum of b fixed within each group

With F = K b + q a pair (i up, j down) of one group may move while -F_i > -F_j. i is the largest
-F among those below hi; j the one whose step gains most, (F_j - F_i)^2 / (K_ii + K_jj - 2 K_ij).
A step updates F with two rows of K, and the same pass over F finds the next i and the gap

    max_{b < hi} (-F) - min_{b > lo} (-F)  <=  tol           (Fan, Chen & Lin 2005).

Rows of K are kept in single precision, in a cache with a second chance for rows that were used;
the caller removes the error that leaves in F by computing F = K b + q anew in double precision.

Variables lie in segments of consecutive places, [start, stop, first column of K, group]: regression
has two variables per row of the data, nu-machines two groups. A maximum does not vectorise, LANES
of them side by side do.    O(n) per step, O(n p) per row that is not in the cache
"""

import math

import numpy as np

from pellucid.compiled.epochs.logistic import exponential
from pellucid.core.functions.kernels import GAUSSIAN, LAPLACIAN, LINEAR, POLYNOMIAL
from pellucid.core.runtime.jit import jit

LANES = 256  # running maxima side by side
NEVER = np.float32(-np.inf)
CONVERGED, BUDGET, MISSING = range(3)  # why ``run_smo`` returned
FLAT = 3e-7  # of K_ii + K_jj: below it single precision cannot tell a curvature from zero
TINY = np.float32(1e-36)  # of rows that are 0: only FLAT may decide about others
STEPS, HAND, MISS, FILLED = range(4)  # places of ``count``
GIVEN = 100  # the formula of a matrix that is there already
ONE, ROUND32 = np.float32(1.0), np.float32(12582912.0)  # 1.5 2^23


@jit
def exp_single(x):
    """exp(x) in single precision; written so that loops over it vectorise."""
    x = min(max(x, np.float32(-87.0)), np.float32(88.0))
    t = x * np.float32(1.44269504) + ROUND32
    n = t - ROUND32
    r = x - n * np.float32(0.693359375)
    r = r + n * np.float32(2.12194440e-4)
    p = np.float32(1.9875691500e-4)
    p = p * r + np.float32(1.3981999507e-3)
    p = p * r + np.float32(8.3334519073e-3)
    p = p * r + np.float32(4.1665795894e-2)
    p = p * r + np.float32(1.6666665459e-1)
    p = p * r + np.float32(5.0000001201e-1)
    p = p * r * r + r + ONE
    bits = np.float32(p).view(np.int32) + (np.float32(t).view(np.int32) << np.int32(23))
    return np.int32(bits).view(np.float32)


@jit(reassociate=True)
def add_squares(columns, i, row):
    """row[j] = |x_i - x_j|^2; columns (p, n)."""
    p, n = columns.shape
    row[:] = np.float32(0.0)
    t = 0
    while t + 4 <= p:
        c0, c1, c2, c3 = columns[t], columns[t + 1], columns[t + 2], columns[t + 3]
        x0, x1, x2, x3 = c0[i], c1[i], c2[i], c3[i]
        for j in range(n):
            a, b, c, d = c0[j] - x0, c1[j] - x1, c2[j] - x2, c3[j] - x3
            row[j] += a * a + b * b + c * c + d * d
        t += 4
    while t < p:
        c0 = columns[t]
        x0 = c0[i]
        for j in range(n):
            a = c0[j] - x0
            row[j] += a * a
        t += 1


@jit(reassociate=True)
def add_products(columns, i, absolute, row):
    """row[j] = x_i.x_j, or with ``absolute`` sum |x_i - x_j|."""
    p, n = columns.shape
    row[:] = np.float32(0.0)
    for t in range(p):
        c = columns[t]
        x = c[i]
        if absolute:
            for j in range(n):
                row[j] += abs(c[j] - x)
        else:
            for j in range(n):
                row[j] += c[j] * x


@jit
def copy_row(whole, places, i, row):
    """row[j] = K of places i and j in single precision; no places: the rows as they come."""
    if len(places) == 0:
        K = whole[i]
        for j in range(len(row)):
            row[j] = K[j]
    else:
        K = whole[places[i]]
        for j in range(len(row)):
            row[j] = K[places[j]]


@jit
def fill_row(columns, whole, places, i, formula, gamma, coef0, degree, row):
    """row[j] = k(x_i, x_j) in single precision."""
    if formula == GIVEN:
        copy_row(whole, places, i, row)
        return
    n = columns.shape[1]
    g = np.float32(gamma)
    if formula == GAUSSIAN:
        add_squares(columns, i, row)
        for j in range(n):
            row[j] = exp_single(-g * row[j])
        return
    add_products(columns, i, formula == LAPLACIAN, row)
    if formula == LINEAR:
        return
    if formula == LAPLACIAN:
        for j in range(n):
            row[j] = exp_single(-g * row[j])
    elif formula == POLYNOMIAL:
        whole = int(degree)
        for j in range(n):
            base = g * row[j] + np.float32(coef0)
            value = ONE
            for _ in range(whole):
                value *= base
            row[j] = value
    else:
        for j in range(n):
            row[j] = math.tanh(gamma * row[j] + coef0)


@jit
def find_slot(column, busy, slot, owner, used, count):
    """The place of a row in the cache (and whether it is there); else one to fill.

    The hand goes round; a row used since its last visit is spared once, ``busy`` always.
    """
    s = slot[column]
    if s >= 0:
        used[s] = 1
        return s, True
    hand = count[HAND]
    while hand == busy or used[hand]:
        used[hand] = 0
        hand = (hand + 1) % len(owner)
    if owner[hand] >= 0:
        slot[owner[hand]] = -1
    owner[hand] = column
    slot[column] = hand
    count[HAND] = (hand + 1) % len(owner)
    count[FILLED] += 1
    return hand, False


@jit
def update_segment(F, Ki, Kj, step, up, down, best_up, best_down):
    """F += step (K_i - K_j), and the LANES largest of -F among ``up`` and of F among ``down``."""
    best_up[:] = -np.inf
    best_down[:] = -np.inf
    for c in range(0, len(F), LANES):
        m = min(LANES, len(F) - c)
        f, a, b = F[c : c + m], Ki[c : c + m], Kj[c : c + m]
        u, v = up[c : c + m], down[c : c + m]
        for k in range(m):
            x = f[k] + step * (np.float64(a[k]) - np.float64(b[k]))
            f[k] = x
            p = u[k] - x
            q = v[k] + x
            best_up[k] = p if p > best_up[k] else best_up[k]
            best_down[k] = q if q > best_down[k] else best_down[k]


@jit
def gain_segment(F, Ki, diagonal, diagonal_i, down, top, best):
    """The LANES largest gains (F_j + top)^2 / (K_ii + K_jj - 2 K_ij) of a step with i."""
    best[:] = np.float32(-1.0)
    two, zero = np.float32(2.0), np.float32(0.0)
    for c in range(0, len(F), LANES):
        m = min(LANES, len(F) - c)
        f, a, d, v = F[c : c + m], Ki[c : c + m], diagonal[c : c + m], down[c : c + m]
        for k in range(m):
            b = np.float32(top + f[k]) + v[k]
            b = b if b > zero else zero
            both = diagonal_i + d[k]
            curve = both - two * a[k]
            least = np.float32(FLAT) * both + TINY
            curve = curve if curve > least else least
            curve = curve if curve > TINY else TINY
            gain = b * b / curve
            best[k] = gain if gain > best[k] else best[k]


@jit
def best_in_lane(F, Ki, diagonal, diagonal_i, down, top, lane):
    """The place in this lane with the largest gain, or -1."""
    place, most = -1, np.float32(0.0)
    for t in range(lane, len(F), LANES):
        b = np.float32(top + F[t]) + down[t]
        if b > np.float32(0.0):
            both = diagonal_i + diagonal[t]
            curve = max(both - np.float32(2.0) * Ki[t], np.float32(FLAT) * both + TINY, TINY)
            gain = b * b / curve
            if place < 0 or gain > most:
                place, most = t, gain
    return place


@jit
def find_top(F, up, lane, value):
    """The first place of the lane with up - F = value."""
    t = lane
    while up[t] - F[t] != value:
        t += LANES
    return t


@jit
def largest(values):
    """The largest value and its place."""
    place = 0
    for k in range(1, len(values)):
        if values[k] > values[place]:
            place = k
    return values[place], place


@jit
def scan(F, Ki, Kj, step, up, down, segments, room, top, low, at):
    """Update all segments; top[g], low[g], at[g] are the group's largest -F, F and place of top."""
    top[:] = -np.inf
    low[:] = -np.inf
    for s in range(len(segments)):
        a, z, c, g = segments[s]
        if z == a:
            continue
        e = c + z - a
        update_segment(F[a:z], Ki[c:e], Kj[c:e], step, up[a:z], down[a:z], room[0], room[1])
        value, lane = largest(room[0])
        if value > top[g]:
            top[g] = value
            at[g] = a + find_top(F[a:z], up[a:z], lane, value)
        value, lane = largest(room[1])
        low[g] = max(low[g], value)


@jit
def choose_partner(F, Ki, diagonal, diagonal_i, down, segments, g, top, best):
    """The place j of group g that gains most with i, or -1."""
    place, most = -1, np.float32(0.0)
    for s in range(len(segments)):
        a, z, c, group = segments[s]
        if group != g or z == a:
            continue
        e = c + z - a
        gain_segment(F[a:z], Ki[c:e], diagonal[c:e], diagonal_i, down[a:z], top, best)
        gain, lane = largest(best)
        if gain > most:
            t = best_in_lane(F[a:z], Ki[c:e], diagonal[c:e], diagonal_i, down[a:z], top, lane)
            if t >= 0:
                place, most = a + t, gain
    return place


@jit
def column_of(place, segments):
    """The column of K that belongs to a variable."""
    for s in range(len(segments)):
        if segments[s, 0] <= place < segments[s, 1]:
            return segments[s, 2] + place - segments[s, 0]
    return -1


@jit
def move_pair(i, j, step, b, lo, hi, up, down):
    """Move b_i up and b_j down by at most ``step``; they end on a bound exactly or inside."""
    room_i, room_j = hi[i] - b[i], b[j] - lo[j]
    step = min(step, room_i, room_j)
    b[i] = hi[i] if step == room_i else b[i] + step
    b[j] = lo[j] if step == room_j else b[j] - step
    for z in (i, j):
        up[z] = np.float32(0.0) if b[z] < hi[z] else NEVER
        down[z] = np.float32(0.0) if b[z] > lo[z] else NEVER
    return step


@jit
def run_smo(source, cached, variables, search, tol, budget):
    """Steps until every group's gap is below ``tol``; the reason for returning.

    columns (p, n) single precision for a ``formula`` of the data; GIVEN reads ``whole`` at
    ``places``; below 0 a row that is not in the cache ends the call with MISSING, its column in
    count[MISS] and its place in slot. F, b, lo, hi (variables,); up, down 0 or -inf; cache
    (rows, n); top, low, at as ``scan`` leaves them.
    """
    columns, whole, places, formula, gamma, coef0, degree, diagonal = source
    cache, slot, owner, used, count = cached
    F, b, lo, hi, up, down = variables
    segments, room, best, top, low, at = search
    while True:
        g = 0
        for h in range(1, len(top)):
            if top[h] + low[h] > top[g] + low[g]:
                g = h
        if not top[g] + low[g] > tol:
            return CONVERGED
        if budget <= 0:
            return BUDGET
        i = at[g]
        ci = column_of(i, segments)
        si, there = find_slot(ci, -1, slot, owner, used, count)
        if not there:
            if formula < 0:
                count[MISS] = ci
                return MISSING
            fill_row(columns, whole, places, ci, formula, gamma, coef0, degree, cache[si])
        Ki = cache[si]
        j = choose_partner(F, Ki, diagonal, diagonal[ci], down, segments, g, top[g], best)
        if j < 0:
            return CONVERGED
        cj = column_of(j, segments)
        sj, there = find_slot(cj, si, slot, owner, used, count)
        if not there:
            if formula < 0:
                count[MISS] = cj
                return MISSING
            fill_row(columns, whole, places, cj, formula, gamma, coef0, degree, cache[sj])
        both = np.float64(diagonal[ci]) + np.float64(diagonal[cj])
        curve = max(both - 2.0 * np.float64(Ki[cj]), FLAT * both, 1e-300)
        step = move_pair(i, j, (top[g] + F[j]) / curve, b, lo, hi, up, down)
        scan(F, Ki, cache[sj], step, up, down, segments, room, top, low, at)
        count[STEPS] += 1
        budget -= 1


@jit(reassociate=True)
def gathered_sums(K, rows, at, weights, out):
    """out[i] = sum_j K[rows_i, at_j] w_j; ``at`` without a sign."""
    for i in range(len(rows)):
        row, total = K[rows[i]], 0.0
        for j in range(len(at)):
            total += weights[j] * row[at[j]]
        out[i] = total


@jit(reassociate=True)
def gaussian_sums(D, left, right, gamma, weights, out):
    """out[i] = sum_j w_j exp(-gamma |x_i - z_j|^2), from D = X Z' and the squared lengths."""
    n, m = D.shape
    for i in range(n):
        row, own, total = D[i], left[i], 0.0
        for j in range(m):
            square = max(own + right[j] - 2.0 * row[j], 0.0)
            total += weights[j] * exponential(-gamma * square)
        out[i] = total
