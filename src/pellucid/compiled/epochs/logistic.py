r"""One sweep of the logistic loss: value, slope and curvature while the rows are in cache.

With D = [1, X - a] (a any shift of the columns), scores z = D t and p = 1/(1 + exp(-z)),

    loss      sum w (log(1 + exp z) - y z)
    slope     D'(w (p - y))
    curvature D' diag(w p (1 - p)) D

A block of rows is copied once into scratch memory, which then serves the scores, the slope and,
scaled by sqrt(w p (1 - p)), the tiles of ``core.runtime.simd`` for the curvature (lower triangle).
``softmax_residuals`` is the same for K classes, on scores that BLAS has made; ``sparse_sums`` reads
the rows of a CSR matrix once for scores and slope.
"""

import numpy as np

from pellucid.core.algebra.gram import add_tiles
from pellucid.core.runtime import simd
from pellucid.core.runtime.jit import jit

BLOCK_ROWS = 64  # of 56 columns: 28 kB, two thirds of a first-level cache
AHEAD_ROWS = 4 * BLOCK_ROWS  # asked for before they are needed
LINE = 8  # doubles in a line of the cache
ROUND = 6755399441055744.0  # 1.5 2^52: adding it rounds to a whole number in the low bits


@jit
def exponential(x):
    """exp(x) to about one unit in the last place; written so that loops over it vectorise.

    x = n log 2 + r, a polynomial for exp(r), and n added to the exponent bits.
    """
    x = min(max(x, -708.0), 709.0)
    t = x * 1.4426950408889634 + ROUND
    n = t - ROUND
    r = x - n * 0.693147180369123816490
    r = r - n * 1.90821492927058770002e-10
    p = 1.6059043836821613e-10
    p = p * r + 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 0.0001984126984126984
    p = p * r + 0.001388888888888889
    p = p * r + 0.008333333333333333
    p = p * r + 0.041666666666666664
    p = p * r + 0.16666666666666666
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    bits = np.float64(p).view(np.int64) + (np.float64(t).view(np.int64) << 52)
    return np.int64(bits).view(np.float64)


@jit(reassociate=True)
def copy_rows(X, start, m, shift, ones, S):
    """S = [ones, X - shift] of m rows."""
    p = X.shape[1]
    for i in range(m):
        for j in range(0, p, LINE):  # rows to come arrive while the tiles compute
            simd.prefetch(X, start + AHEAD_ROWS + i, j)
        S[i, 0] = ones
        for j in range(p):
            S[i, j + 1] = X[start + i, j] - shift[j]


@jit(reassociate=True)
def binary_rows(y, w, weighted, start, m, S, theta, z, e, g):
    """Scores, loss and slope of the rows in S; rows of S become sqrt(w p (1 - p)) times them."""
    d = S.shape[1]
    for i in range(m):
        a = 0.0
        for j in range(d):
            a += S[i, j] * theta[j]
        z[i] = a
    for i in range(m):
        e[i] = exponential(-abs(z[i]))
    loss, wrong = 0.0, 0
    for i in range(m):
        v = w[start + i] if weighted else 1.0
        hit = 1.0 if y[start + i] == 1 else 0.0
        loss += v * (max(z[i], 0.0) - hit * z[i] + np.log1p(e[i]))
        wrong += v > 0.0 and (z[i] <= 0.0 if hit > 0.0 else z[i] >= 0.0)
        q = 1.0 / (1.0 + e[i])
        p = q if z[i] >= 0.0 else e[i] * q
        z[i] = v * (p - hit)
        e[i] = np.sqrt(v * e[i]) * q
    for i in range(m):
        r, root = z[i], e[i]
        for j in range(d):
            g[j] += r * S[i, j]
            S[i, j] *= root
    return loss, wrong


@jit
def binary_sums(X, y, w, weighted, shift, ones, theta, S, z, e, G, g):
    """Add the curvature to G (d, d) and the slope to g (d,); return the loss and the errors.

    X (n, p), y (n,) codes 0 and 1, w (n,); theta (d,) intercept first, d a multiple of LANES;
    S (BLOCK_ROWS, d), z and e (BLOCK_ROWS,) are scratch, the columns of S beyond p + 1 are 0.
    """
    n = len(X)
    rows = len(S)
    loss, wrong = 0.0, 0
    for start in range(0, n, rows):
        m = min(rows, n - start)
        copy_rows(X, start, m, shift, ones, S)
        part, errors = binary_rows(y, w, weighted, start, m, S, theta, z, e, g)
        loss += part
        wrong += errors
        add_tiles(S, m, G)
    return loss, wrong


@jit(reassociate=True)
def softmax_residuals(Z, y, w, weighted, P, keep):
    """Scores Z (m, K) become w (p_k - [y = k]); return the loss and the errors.

    With ``keep`` the probabilities are left in P (m, K). One column is the score of class 1 of two.
    """
    m, K = Z.shape
    loss, wrong = 0.0, 0
    for i in range(m):
        row = Z[i]
        v = w[i] if weighted else 1.0
        c = y[i]
        if K == 1:
            z = row[0]
            hit = 1.0 if c == 1 else 0.0
            e = exponential(-abs(z))
            q = 1.0 / (1.0 + e)
            loss += v * (max(z, 0.0) - hit * z + np.log1p(e))
            wrong += v > 0.0 and (z <= 0.0 if hit > 0.0 else z >= 0.0)
            p = q if z >= 0.0 else e * q
            if keep:
                P[i, 0] = p
            row[0] = v * (p - hit)
            continue
        top = row[0]
        for k in range(1, K):
            top = max(top, row[k])
        own = row[c]
        rivals = 0
        for k in range(K):
            rivals += row[k] >= own
        wrong += v > 0.0 and rivals > 1
        total = 0.0
        for k in range(K):
            row[k] = exponential(row[k] - top)
            total += row[k]
        loss += v * (np.log(total) - (own - top))
        share = 1.0 / total
        for k in range(K):
            row[k] *= share
        if keep:
            for k in range(K):
                P[i, k] = row[k]
        row[c] -= 1.0
        for k in range(K):
            row[k] *= v
    return loss, wrong


@jit(reassociate=True)
def sparse_scores(values, columns, starts, W, b, Z):
    """Z = X W + b of the rows of a CSR matrix; W (p, K)."""
    m, K = Z.shape
    if K == 1:  # without the inner loop
        for i in range(m):
            a = b[0]
            for t in range(starts[i], starts[i + 1]):
                a += values[t] * W[columns[t], 0]
            Z[i, 0] = a
        return
    for i in range(m):
        for k in range(K):
            Z[i, k] = b[k]
        for t in range(starts[i], starts[i + 1]):
            x, j = values[t], columns[t]
            for k in range(K):
                Z[i, k] += x * W[j, k]


@jit(reassociate=True)
def sparse_slopes(values, columns, starts, R, G):
    """G += X'R of the rows of a CSR matrix; G (p, K)."""
    m, K = R.shape
    if K == 1:
        for i in range(m):
            r = R[i, 0]
            for t in range(starts[i], starts[i + 1]):
                G[columns[t], 0] += r * values[t]
        return
    for i in range(m):
        for t in range(starts[i], starts[i + 1]):
            x, j = values[t], columns[t]
            for k in range(K):
                G[j, k] += x * R[i, k]
