r"""The inner loops of least angle regression.

Columns are held by position: ``order[t]`` is the column at position t, the k active ones first, in
the order in which they entered. With A_active = Q R (Q orthonormal, R upper triangular),

    b = Q'c,   R'z = s (the signs),   u = Q z,
    g = A'(c - Q b)      the correlations that least squares on the active columns would leave,
    a = A'u              the share of C that is added to them,

every correlation is g + C a while the active ones all stand at C s, and the coefficients are
R^-1 (b - C z). So nothing is accumulated along the path: a knot is solved from b, z and C alone.

``H`` holds R in its first k columns. In the Gram form it is Q'A for all p columns, a new row from
a row of A'A. In the row form (p > n, or columns so close that A'A would cost digits) only R is
kept, beside the rows of Q, which are orthogonalised twice.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.jit import jit

REFRESH = 32  # entries after which g and a are computed afresh
# Places in the state's whole numbers: active columns; the column that left last; the one that
# leaves at this knot (-1: none).
K, BARRED, LEFT = 0, 1, 2
# And in its numbers: the correlation; the sign of the column about to enter (0: none); BARRED's.
C, SIGN, SIDE = 0, 1, 2


class LarsState(NamedTuple):
    """Everything a step of the path reads and writes, in place."""

    whole: Any  # (3,) K, BARRED, LEFT
    number: Any  # (3,) C, SIGN, SIDE
    A: Any  # (m, p) compact rows, or (0, 0) in the Gram form
    G: Any  # (p, p) A'A, or (0, 0) in the row form
    c: Any  # (m,) or (0,)
    c0: Any  # (p,) A'c by column
    norm: Any  # (p,) lengths of the columns of A
    tiny: Any  # (p,) correlations up to which are rounding error
    skip: Any  # (p,) columns that depend on the active ones
    order: Any  # (p,)
    g: Any  # (p,) by position
    a: Any  # (p,) by position
    H: Any  # (limit + 1, p), or (limit + 1, limit + 1) in the row form
    Q: Any  # (limit + 1, m), or (0, 0) in the Gram form
    b: Any  # (limit + 1,)
    z: Any  # (limit + 1,)
    s: Any  # (limit + 1,)
    v: Any  # (limit + 1,) R^-1 b
    d: Any  # (limit + 1,) R^-1 z
    work: Any  # (2, p) scratch


@jit(reassociate=True)
def append_gram(G, order, H, k):
    """Row k of H = Q'A for the column at position k; its length off the active columns."""
    p = len(order)
    row = order[k]
    h = H[k]
    for t in range(k, p):
        h[t] = G[row, order[t]]
    i = 0
    while i + 4 <= k:  # four rows at a time: h is read and written a quarter as often
        h0, h1, h2, h3 = H[i], H[i + 1], H[i + 2], H[i + 3]
        r0, r1, r2, r3 = h0[k], h1[k], h2[k], h3[k]
        for t in range(k, p):
            h[t] -= r0 * h0[t] + r1 * h1[t] + r2 * h2[t] + r3 * h3[t]
        i += 4
    while i < k:
        h0 = H[i]
        r0 = h0[k]
        for t in range(k, p):
            h[t] -= r0 * h0[t]
        i += 1
    length = np.sqrt(max(h[k], 0.0))
    if length > 0.0:
        h[k] = length
        for t in range(k + 1, p):
            h[t] /= length
    return length


@jit(reassociate=True)
def append_rows(A, column, Q, H, k):
    """Row k of Q, and column k of R; the length of the column off the active ones."""
    q = Q[k]
    m = len(q)
    for i in range(m):
        q[i] = A[i, column]
    for r in range(k):
        H[r, k] = 0.0
    for _ in range(2):  # the second time takes off what rounding left
        for r in range(k):
            row = Q[r]
            dot = 0.0
            for i in range(m):
                dot += row[i] * q[i]
            for i in range(m):
                q[i] -= dot * row[i]
            H[r, k] += dot
    square = 0.0
    for i in range(m):
        square += q[i] * q[i]
    length = np.sqrt(square)
    if length > 0.0:
        for i in range(m):
            q[i] /= length
    H[k, k] = length
    return length


@jit(reassociate=True)
def row_products(A, x, out):
    """out = A'x."""
    m, p = A.shape
    out[:] = 0.0
    i = 0
    while i + 4 <= m:
        r0, r1, r2, r3 = A[i], A[i + 1], A[i + 2], A[i + 3]
        x0, x1, x2, x3 = x[i], x[i + 1], x[i + 2], x[i + 3]
        for t in range(p):
            out[t] += x0 * r0[t] + x1 * r1[t] + x2 * r2[t] + x3 * r3[t]
        i += 4
    while i < m:
        row, xi = A[i], x[i]
        for t in range(p):
            out[t] += xi * row[t]
        i += 1


@jit(reassociate=True)
def two_row_products(A, x, y, out, other):
    """out = A'x and other = A'y, in one reading of A."""
    m, p = A.shape
    out[:] = 0.0
    other[:] = 0.0
    i = 0
    while i + 2 <= m:
        r0, r1 = A[i], A[i + 1]
        x0, x1, y0, y1 = x[i], x[i + 1], y[i], y[i + 1]
        for t in range(p):
            out[t] += x0 * r0[t] + x1 * r1[t]
            other[t] += y0 * r0[t] + y1 * r1[t]
        i += 2
    if i < m:
        row = A[i]
        for t in range(p):
            out[t] += x[i] * row[t]
            other[t] += y[i] * row[t]


@jit(reassociate=True)
def refresh(state, gram):
    """g and a of the inactive columns from b, z and the factors."""
    k, p = state.whole[K], len(state.order)
    order, g, a, b, z = state.order, state.g, state.a, state.b, state.z
    if gram:
        for t in range(k, p):
            g[t] = state.c0[order[t]]
            a[t] = 0.0
        for i in range(k):
            h, bi, zi = state.H[i], b[i], z[i]
            for t in range(k, p):
                g[t] -= bi * h[t]
                a[t] += zi * h[t]
        return
    residual, u = state.c.copy(), np.zeros(len(state.c))
    for r in range(k):
        q = state.Q[r]
        for i in range(len(q)):
            residual[i] -= b[r] * q[i]
            u[i] += z[r] * q[i]
    two_row_products(state.A, residual, u, state.work[0], state.work[1])
    for t in range(k, p):
        g[t] = state.work[0, order[t]]
        a[t] = state.work[1, order[t]]


@jit(reassociate=True)
def enter(state, gram):
    """The column at position k, whose row of H or Q is ready, becomes active."""
    k, p = state.whole[K], len(state.order)
    H, b, z, g, a = state.H, state.b, state.z, state.g, state.a
    share = state.number[SIGN]
    for r in range(k):
        share -= H[r, k] * z[r]
    z[k] = share / H[k, k]
    state.s[k] = state.number[SIGN]
    state.whole[K] = k + 1
    if gram:
        b[k] = g[k] / H[k, k]
        h = H[k]
        for t in range(k + 1, p):
            g[t] -= b[k] * h[t]
            a[t] += z[k] * h[t]
    else:
        dot = 0.0
        for i in range(len(state.c)):
            dot += state.Q[k, i] * state.c[i]
        b[k] = dot
        h = state.work[0]
        row_products(state.A, state.Q[k], h)
        for t in range(k + 1, p):
            g[t] -= dot * h[state.order[t]]
            a[t] += z[k] * h[state.order[t]]
    if (k + 1) % REFRESH == 0:
        refresh(state, gram)


@jit
def next_entry(state, positive, tie):
    """(C', position, sign) of the next column to become as correlated as the active ones.

    c_j = g_j + C a_j meets C or -C on the side of g_j, at |g_j| / (1 - sign a_j). Of equals
    (within ``tie``) the lowest column comes first. A column that has just left is at C now, and
    its line does not meet the same one twice. Position -1: none will.
    """
    order, g, a = state.order, state.g, state.a
    limit = state.number[C]
    best, position, side = 0.0, -1, 0.0
    for t in range(state.whole[K], len(order)):
        j = order[t]
        if abs(g[t]) <= state.tiny[j] or state.skip[j]:
            continue
        sign = 1.0 if g[t] > 0.0 else -1.0
        if positive and sign < 0.0:
            continue
        slope = 1.0 - sign * a[t]
        if slope <= 0.0 or (j == state.whole[BARRED] and sign == state.number[SIDE]):
            continue
        at = min(abs(g[t]) / slope, limit)
        if at > best + tie or (at >= best - tie and (position < 0 or j < order[position])):
            best, position, side = at, t, sign
    return best, position, side


@jit
def seek(state, gram, positive, tie, tolerance):
    """C' and sign of the next column to enter, brought to position k with its row of H or Q.

    A column within ``tolerance`` of the span of the active ones is skipped: it is their
    combination, a twin if there is one of them. Sign 0: no column is left.
    """
    k = state.whole[K]
    order, g, a, H = state.order, state.g, state.a, state.H
    while k < len(H):
        at, t, sign = next_entry(state, positive, tie)
        if t < 0:
            break
        order[k], order[t] = order[t], order[k]
        g[k], g[t] = g[t], g[k]
        a[k], a[t] = a[t], a[k]
        if gram:
            for r in range(k):
                H[r, k], H[r, t] = H[r, t], H[r, k]
            length = append_gram(state.G, order, H, k)
        else:
            length = append_rows(state.A, order[k], state.Q, H, k)
        if length > tolerance * state.norm[order[k]]:
            return at, sign
        state.skip[order[k]] = True
    return 0.0, 0.0


@jit(reassociate=True)
def solve_two(state):
    """v = R^-1 b and d = R^-1 z, in one reading of R."""
    k = state.whole[K]
    v, d = state.v, state.d
    for i in range(k - 1, -1, -1):
        row = state.H[i]
        x, y = 0.0, 0.0
        for t in range(i + 1, k):
            x += row[t] * v[t]
            y += row[t] * d[t]
        v[i] = (state.b[i] - x) / row[i]
        d[i] = (state.z[i] - y) / row[i]


@jit
def next_exit(state, entered):
    """(C', position) of the next coefficient v - C d to reach 0; position -1: none will.

    It does if least squares would have it on the other side of 0 from its sign.
    """
    best, position = 0.0, -1
    for i in range(state.whole[K]):
        v, d, s = state.v[i], state.d[i], state.s[i]
        if i == entered or d * s >= 0.0 or v * s >= 0.0:
            continue
        at = min(v / d, state.number[C])
        if at > best:
            best, position = at, i
    return best, position


@jit
def leave(state, i, gram):
    """Take position i out of the active set: Givens rotations bring R back to a triangle."""
    k = state.whole[K]
    H, Q, b, z, order, s = state.H, state.Q, state.b, state.z, state.order, state.s
    column, sign = order[i], s[i]
    for t in range(i, k - 1):
        order[t], s[t] = order[t + 1], s[t + 1]
    order[k - 1] = column
    for row in range(k):
        deleted = H[row, i]
        for t in range(i, k - 1):
            H[row, t] = H[row, t + 1]
        H[row, k - 1] = deleted
    width = H.shape[1] if gram else k
    for r in range(i, k - 1):
        length = np.hypot(H[r, r], H[r + 1, r])
        cos, sin = H[r, r] / length, H[r + 1, r] / length
        for t in range(r, width):
            x, y = H[r, t], H[r + 1, t]
            H[r, t], H[r + 1, t] = cos * x + sin * y, cos * y - sin * x
        for t in range(Q.shape[1]):
            x, y = Q[r, t], Q[r + 1, t]
            Q[r, t], Q[r + 1, t] = cos * x + sin * y, cos * y - sin * x
        b[r], b[r + 1] = cos * b[r] + sin * b[r + 1], cos * b[r + 1] - sin * b[r]
        z[r], z[r + 1] = cos * z[r] + sin * z[r + 1], cos * z[r + 1] - sin * z[r]
    state.whole[K] = k - 1
    state.whole[BARRED], state.number[SIDE] = column, sign
    state.skip[:] = False  # what depended on the column may not depend on the rest
    refresh(state, gram)


@jit
def lars_step(state, gram, lasso, positive, lowest, tie, tolerance, coef):
    """From one knot to the next; False where the path ends there.

    The column found by the last ``seek`` enters, C falls until another one is as correlated, a
    coefficient is 0 (``lasso``) or C is ``lowest``. coef (p,), 0 on entry, becomes the coefficients
    at the new knot (``lasso`` only: those of LAR are solved for all knots at once).
    """
    entered = -1
    state.whole[LEFT] = -1
    if state.number[SIGN] != 0.0:
        entered = state.whole[K]
        enter(state, gram)
        state.whole[BARRED] = -1
    k = state.whole[K]
    at, sign = seek(state, gram, positive, tie, tolerance)
    out, position = 0.0, -1
    if lasso:
        solve_two(state)
        out, position = next_exit(state, entered)
    falls = max(at, out)
    ended = falls <= lowest
    falls = max(falls, lowest)
    state.number[C] = falls
    state.number[SIGN] = 0.0
    if lasso:
        for i in range(k):
            coef[state.order[i]] = state.v[i] - falls * state.d[i]
    if ended:
        return False
    if position >= 0 and out >= at:
        state.whole[LEFT] = state.order[position]
        coef[state.order[position]] = 0.0
        leave(state, position, gram)
    else:
        state.number[SIGN] = sign
    return True


def new_state(
    A: Array, G: Array, c: Array, c0: Array, norm: Array, tiny: Array, limit: int
) -> LarsState:
    """The state before the first step; ``limit`` columns at most become active."""
    p, m, rows = len(c0), len(c), limit + 1
    gram = len(G) > 0
    at = np.array([0, -1, -1]), np.array([np.inf, 0.0, 0.0])
    columns = np.zeros(p, np.bool_), np.arange(p), c0.copy(), np.zeros(p)  # skip, order, g, a
    H, Q = np.zeros((rows, p if gram else rows)), np.zeros((0, 0) if gram else (rows, m))
    b, z, s, v, d = (np.zeros(rows) for _ in range(5))
    given = A, G, c, c0, norm, tiny
    return LarsState(*at, *given, *columns, H, Q, b, z, s, v, d, np.zeros((2, p)))
