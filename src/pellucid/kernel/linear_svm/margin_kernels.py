r"""One sweep of the piecewise linear and quadratic losses of support vector machines.

With D = [ones, X - a], residuals e = y - D t and, for each row, the dual variable

    p = argmax  p e - epsilon |p| - p^2/(2 kappa) - (p - p0)^2/(2 sigma),   low <= p <= high

(low, high) = (0, U) for y = +1, (-U, 0) for y = -1 in classification, (-U, U) in regression, the
sweep adds up the losses, the slopes of the rows with p > 0 and with p < 0, and the curvature of the
rows whose p is free to move. Only those rows enter the tiles of ``core.runtime.simd``: near a
minimum they are few, and a sweep costs little more than reading the rows.

Statistics   0 loss, 1 value of the maximum above, 2 and 3 sum v (p y - epsilon |p|) by sign,
             4 and 5 sum v p^2 by sign, 6 number of free rows
"""

import numpy as np

from pellucid.core.algebra.gram import add_tiles
from pellucid.core.runtime.jit import jit

BLOCK_ROWS = 64
STATISTICS = 7


@jit
def dual_of(e, y, p0, classify, upper, epsilon, inv_kappa, inv_sigma):
    """The dual variable of one row, whether it is free, and its loss."""
    m = e + inv_sigma * p0
    size = abs(m) - epsilon
    h = inv_kappa + inv_sigma
    free = size > 0.0
    p = size / h if free else 0.0
    if p >= upper:
        p, free = upper, False
    if m < 0.0:
        p = -p
    u = abs(e) - epsilon
    if classify and p * y <= 0.0:
        p, free = 0.0, False
    if u <= 0.0 or (classify and e * y <= 0.0):
        return p, free, 0.0
    return p, free, (0.5 * u * u / inv_kappa if inv_kappa > 0.0 else upper * u)


@jit(reassociate=True)
def scores(X, w, b, z):
    """z = b + X w."""
    n, p = X.shape
    for i in range(n):
        a = b
        for j in range(p):
            a += X[i, j] * w[j]
        z[i] = a


@jit
def line_sums(e, f, t, y, v, weighted, P0, loss):
    """sum v p f and sum v f^2 [p is free]/h at the residuals e - t f: slope and curvature."""
    classify, upper, epsilon, inv_kappa, inv_sigma = loss
    slope, bend = 0.0, 0.0
    for i in range(len(e)):
        p, free, _ = dual_of(
            e[i] - t * f[i], y[i], P0[i], classify > 0.0, upper, epsilon, inv_kappa, inv_sigma
        )
        vf = v[i] * f[i] if weighted else f[i]
        slope += p * vf
        if free:
            bend += vf * f[i]
    return slope, bend / (inv_kappa + inv_sigma)


@jit(reassociate=True)
def add_slope(X, row, shift, ones, weight, S, k, g):
    """S[k] = [ones, x - shift] and g += weight S[k]."""
    S[k, 0] = ones
    g[0] += weight * ones
    for j in range(X.shape[1]):
        s = X[row, j] - shift[j]
        S[k, j + 1] = s
        g[j + 1] += weight * s


@jit
def margin_sums(X, y, v, weighted, shift, ones, e, P0, loss, S, P, G, g, found):
    """Fill P (n,); add to G (d, d), g (2, d) for p > 0 and p < 0, and found (STATISTICS,).

    ``loss`` holds classify, upper, epsilon, 1/kappa, 1/sigma; S (BLOCK_ROWS, d) is scratch whose
    columns beyond p + 1 are 0.
    """
    classify, upper, epsilon, inv_kappa, inv_sigma = loss
    k = 0
    for r in range(len(y)):
        vr = v[r] if weighted else 1.0
        p, free, part = dual_of(
            e[r], y[r], P0[r], classify > 0.0, upper, epsilon, inv_kappa, inv_sigma
        )
        P[r] = p
        gone = p - P0[r]
        square = vr * p * p
        found[0] += vr * part
        found[1] += (
            vr * (p * e[r] - epsilon * abs(p) - 0.5 * inv_sigma * gone * gone)
            - 0.5 * inv_kappa * square
        )
        if p == 0.0 or vr == 0.0:
            continue
        side = 0 if p > 0.0 else 1
        found[2 + side] += vr * (p * y[r] - epsilon * abs(p))
        found[4 + side] += square
        add_slope(X, r, shift, ones, vr * p, S, k, g[side])
        if free:
            found[6] += 1.0
            root = np.sqrt(vr / (inv_kappa + inv_sigma))
            for j in range(X.shape[1] + 1):
                S[k, j] *= root
            k += 1
            if k == len(S):
                add_tiles(S, k, G)
                k = 0
    if k > 0:
        add_tiles(S, k, G)
