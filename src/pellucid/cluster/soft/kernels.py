r"""Sweeps of soft clusterings: how much a row belongs to each centre, and what that moves.

With D_ik = |x_i - c_k|^2 a sweep adds, for every centre k,

    sum_i w_i u_ik^m (x_i - origin, 1)        and        sum_i w_i cost_i

where, with a = 1/(m - 1),

    fuzzy         u_ik = r_ik^a / sum_j r_ij^a,   r_ij = min_k D_ik / D_ij   (0/0 = 1)
                  cost_i = sum_k u_ik^m D_ik
    possibilistic u_ik = 1 / (1 + (D_ik / eta_k)^a)
                  cost_i = sum_k u_ik^m D_ik + eta_k (1 - u_ik)^m

Ratios lie in (0, 1] and powers are taken as exp(a log r), so that any m > 1 is safe: a row on a
centre belongs to it, and nothing overflows. For m = 2 no logarithm is needed at all.
A block of rows is copied once, by rows for the sums and by columns for the distances; both are
tiles of ``core.runtime.simd``.
"""

import numpy as np

from pellucid.compiled.epochs.logistic import exponential
from pellucid.core.runtime import simd
from pellucid.core.runtime.jit import jit

BLOCK = 128  # rows settled together: 20 columns of them are 20 kB
TINY = 1e-300
LOG2 = 0.6931471805599453


@jit
def logarithm(x):
    """log(x) to a few units in the last place, x > 0; loops over it vectorise.

    x = 2^e f with f in [0.7, 1.4], and log f = 2 artanh((f - 1) / (f + 1)) as a series.
    """
    bits = np.float64(max(x, TINY)).view(np.int64) - 4604544271217802189  # bits of sqrt(1/2)
    e = bits >> 52
    f = np.int64((bits & 0xFFFFFFFFFFFFF) + 4604544271217802189).view(np.float64)
    s = (f - 1.0) / (f + 1.0)
    q = s * s
    t = 0.09090909090909091 + q * (
        0.07692307692307693
        + q * (0.06666666666666667 + q * (0.058823529411764705 + q * 0.05263157894736842))
    )
    t = 0.2 + q * (0.14285714285714285 + q * (0.1111111111111111 + q * t))
    t = 0.3333333333333333 + q * t
    return np.float64(e) * LOG2 + (2.0 * s + 2.0 * s * q * t)


@jit
def fuzzy_block(D, k, m, U, P, cost, s):
    """U = memberships and P = their m-th powers, (k, BLOCK) both, of squared distances D."""
    a = 1.0 / (m - 1.0)
    for i in range(BLOCK):
        cost[i] = np.inf
        s[i] = 0.0
    for j in range(k):
        for i in range(BLOCK):
            cost[i] = min(cost[i], D[j, i])
    for j in range(k):
        if m == 2.0:
            for i in range(BLOCK):
                r = 1.0 if D[j, i] <= cost[i] else cost[i] / D[j, i]
                U[j, i] = r
                s[i] += r
        else:
            for i in range(BLOCK):
                r = 1.0 if D[j, i] <= cost[i] else cost[i] / D[j, i]
                r = a * logarithm(r)
                P[j, i] = r
                r = exponential(r)
                U[j, i] = r
                s[i] += r
    for i in range(BLOCK):
        cost[i] = logarithm(s[i]) if m != 2.0 else 0.0
        s[i] = 1.0 / s[i]
    for j in range(k):
        if m == 2.0:
            for i in range(BLOCK):
                u = U[j, i] * s[i]
                U[j, i] = u
                P[j, i] = u * u
        else:
            for i in range(BLOCK):
                U[j, i] *= s[i]
                P[j, i] = exponential(m * (P[j, i] - cost[i]))
    for i in range(BLOCK):
        cost[i] = 0.0
    for j in range(k):
        for i in range(BLOCK):
            cost[i] += P[j, i] * D[j, i]


@jit
def typical_block(D, k, m, eta, U, P, cost):
    """U = typicalities and P = their m-th powers, (k, BLOCK) both, of squared distances D."""
    a = 1.0 / (m - 1.0)
    for i in range(BLOCK):
        cost[i] = 0.0
    for j in range(k):
        h = max(eta[j], TINY)
        if m == 2.0:
            for i in range(BLOCK):
                u = h / (h + D[j, i])
                v = D[j, i] / (h + D[j, i])
                U[j, i] = u
                P[j, i] = u * u
                cost[i] += u * u * D[j, i] + h * (v * v)
        else:
            for i in range(BLOCK):
                r = a * logarithm(D[j, i] / h)
                q = exponential(r)
                g = logarithm(1.0 + q)
                U[j, i] = 1.0 / (1.0 + q)
                P[j, i] = exponential(-m * g)
                cost[i] += P[j, i] * D[j, i] + h * exponential(m * (max(r, -708.0) - g))


@jit
def load_block(X, start, stop, origin, S, T):
    """Rows about the origin: S (BLOCK, >= p + 1) by rows with a 1 behind, T (p, BLOCK)."""
    p = X.shape[1]
    for i in range(stop - start):
        for t in range(p):
            S[i, t] = X[start + i, t] - origin[t]
        S[i, p] = 1.0
    for i in range(stop - start, BLOCK):
        S[i, :] = 0.0
    for t in range(p):
        for i in range(BLOCK):
            T[t, i] = S[i, t]


@jit
def weigh_block(T, C, k, m, eta, D, U, P, cost, s):
    """Distances to the centres C (p, k8), then memberships (no eta) or typicalities."""
    for a in range(0, C.shape[1], simd.TILE_ROWS):
        for b in range(0, BLOCK, 2 * simd.LANES):
            simd.distance_tile_2(C, T, C.shape[0], a, b, D)
    if len(eta) == 0:
        fuzzy_block(D, k, m, U, P, cost, s)
    else:
        typical_block(D, k, m, eta, U, P, cost)


@jit(reassociate=True)
def soft_sums(X, w, C, k, m, eta, origin, total, terms):
    """Add the sums of the rows to total (k8, width); the cost and sum u^2 are returned.

    terms (k, 2): sum w u^m D and sum w u^m per centre are added where eta is empty.
    """
    n, p = X.shape
    k8, width = total.shape
    S, T = np.zeros((BLOCK, width)), np.zeros((p, BLOCK))
    D, U, P = np.zeros((k8, BLOCK)), np.zeros((k8, BLOCK)), np.zeros((k8, BLOCK))
    Q, cost, s = np.zeros((BLOCK, k8)), np.zeros(BLOCK), np.zeros(BLOCK)
    value, square = 0.0, 0.0
    for start in range(0, n, BLOCK):
        rows = min(BLOCK, n - start)
        load_block(X, start, start + rows, origin, S, T)
        weigh_block(T, C, k, m, eta, D, U, P, cost, s)
        for i in range(rows):
            s[i] = w[start + i]
        for i in range(rows, BLOCK):
            s[i] = 0.0
        # A loop that sums stores nothing: else the compiler adds it up in another order where it
        # cannot rule out that two arrays overlap, which depends on where they lie in memory.
        for i in range(BLOCK):
            value += s[i] * cost[i]
        for j in range(k):
            for i in range(BLOCK):
                Q[i, j] = s[i] * P[j, i]
            spread, weight = 0.0, 0.0
            for i in range(BLOCK):
                q = s[i] * P[j, i]
                spread += q * D[j, i]
                weight += q
                square += s[i] * U[j, i] * U[j, i]
            terms[j, 0] += spread
            terms[j, 1] += weight
        for a in range(0, k8, simd.TILE_ROWS):
            b = 0
            while b + 3 * simd.LANES <= width:
                simd.add_tile_3(Q, S, BLOCK, a, b, total)
                b += 3 * simd.LANES
            while b < width:
                simd.add_tile_1(Q, S, BLOCK, a, b, total)
                b += simd.LANES
    return value, square


@jit
def soft_values(X, C, k, m, eta, origin, out):
    """out (n, k): how much each row belongs to each centre."""
    n, p = X.shape
    k8 = C.shape[1]
    S, T = np.zeros((BLOCK, p + 1)), np.zeros((p, BLOCK))
    D, U, P = np.zeros((k8, BLOCK)), np.zeros((k8, BLOCK)), np.zeros((k8, BLOCK))
    cost, s = np.zeros(BLOCK), np.zeros(BLOCK)
    for start in range(0, n, BLOCK):
        rows = min(BLOCK, n - start)
        load_block(X, start, start + rows, origin, S, T)
        weigh_block(T, C, k, m, eta, D, U, P, cost, s)
        for i in range(rows):
            for j in range(k):
                out[start + i, j] = U[j, i]
