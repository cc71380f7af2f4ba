r"""Sweeps of Gaussian mixtures: the E step and the sums of the M step in one pass over the rows.

For rows x and components k, with D = x - mu_k about the component's own mean (nothing cancels),

    full   log pi_k N_k = c_k - |P_k D|^2 / 2,          P_k lower triangular, P_k S_k P_k' = I
    diag   log pi_k N_k = c_k - sum_t v_kt D_t^2 / 2

    r_k = pi_k N_k / sum_l pi_l N_l,    then  N_k += w r_k,  M_k += w r_k D,  S_k += w r_k D D'

A block of BLOCK rows stays in the first caches for all components. P_k D uses the triangle only;
S_k collects only the rows with r_k above NEGLIGIBLE, which for separate groups are few.
"""

import numpy as np

from pellucid.compiled.epochs.logistic import exponential
from pellucid.core.runtime import simd
from pellucid.core.runtime.jit import jit

BLOCK = 96  # rows: whole tiles of three vectors, for vectors of four or eight doubles
NEGLIGIBLE = 1e-30  # such a share of a row cannot change a sum in which it is added to 1
UNDERFLOW = -700.0


@jit(reassociate=True)
def joint_full(X, start, m, mu, PT, const, DT, Y, R):
    """R[k, i] = log pi_k N_k(x_i) of m rows; PT (k or 1, p, d8) holds the transposed P.

    DT (p, BLOCK) and Y (d8, BLOCK) are scratch.
    """
    k, p = mu.shape
    d8 = PT.shape[2]
    for c in range(k):
        for t in range(p):
            row, shift = DT[t], mu[c, t]
            for i in range(m):
                row[i] = X[start + i, t] - shift
        factor = PT[min(c, PT.shape[0] - 1)]
        for a in range(0, d8, simd.TILE_ROWS):  # column a of the triangle ends at row a
            for b in range(0, m, 3 * simd.LANES):
                simd.set_tile_3(factor, DT, min(p, a + simd.TILE_ROWS), a, b, Y)
        out, level = R[c], const[c]
        for i in range(m):
            out[i] = 0.0
        for a in range(p):
            row = Y[a]
            for i in range(m):
                out[i] += row[i] * row[i]
        for i in range(m):
            out[i] = level - 0.5 * out[i]


@jit(reassociate=True)
def joint_diag(X, start, m, mu, precision, const, DT, R):
    """R[k, i] = log pi_k N_k(x_i) of m rows; precision (k, p); DT (p, BLOCK) is scratch."""
    k, p = mu.shape
    for t in range(p):
        row = DT[t]
        for i in range(m):
            row[i] = X[start + i, t]
    for c in range(k):
        out, level = R[c], const[c]
        for i in range(m):
            out[i] = 0.0
        for t in range(p):
            row, shift, v = DT[t], mu[c, t], precision[c, t]
            for i in range(m):
                e = row[i] - shift
                out[i] += v * e * e
        for i in range(m):
            out[i] = level - 0.5 * out[i]


@jit(reassociate=True)
def share(R, w, start, m, top, total):
    """Turn log joints R[k, i] into w_i r_ik; returns sum_i w_i log p(x_i)."""
    k = R.shape[0]
    for i in range(m):
        top[i] = R[0, i]
        total[i] = 0.0
    for c in range(1, k):
        row = R[c]
        for i in range(m):
            top[i] = max(top[i], row[i])
    for c in range(k):
        row = R[c]
        for i in range(m):
            gap = row[i] - top[i]
            e = exponential(gap)
            e = e if gap > UNDERFLOW else 0.0
            row[i] = e
            total[i] += e
    value = 0.0
    for i in range(m):  # stores nothing: else where arrays lie decides the order of the sum
        v = w[start + i]
        value += v * (top[i] + np.log(total[i])) if v > 0.0 else 0.0
    for i in range(m):
        v = w[start + i]
        total[i] = v / total[i] if v > 0.0 else 0.0
    for c in range(k):
        row = R[c]
        for i in range(m):
            row[i] *= total[i]
    return value


@jit(reassociate=True)
def gather(X, start, m, r, mu, D, W, N, M):
    """D = x - mu and W = r D of the rows with a share in the component; N and M grow."""
    p = len(mu)
    count, mass = 0, 0.0
    for i in range(m):
        v = r[i]
        if v > NEGLIGIBLE:
            left, right = D[count], W[count]
            for t in range(p):
                e = X[start + i, t] - mu[t]
                left[t] = e
                right[t] = v * e
                M[t] += v * e
            mass += v
            count += 1
    N[0] += mass
    return count


@jit
def sums_full(X, w, mu, PT, const, N, M, S):
    """Add N (k, 1), M (k, p) and the lower triangle of S (k, d8, d8); returns the log-likelihood.

    X (n, p), w (n,), mu (k, p), PT (k or 1, p, d8), const (k,), d8 a multiple of LANES.
    """
    n, p = X.shape
    k, d8 = len(mu), PT.shape[2]
    DT, Y, R = np.zeros((p, BLOCK)), np.empty((d8, BLOCK)), np.empty((k, BLOCK))
    D, W = np.zeros((BLOCK, d8)), np.zeros((BLOCK, d8))
    top, total = np.empty(BLOCK), np.empty(BLOCK)
    value = 0.0
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        joint_full(X, start, m, mu, PT, const, DT, Y, R)
        value += share(R, w, start, m, top, total)
        for c in range(k):
            count = gather(X, start, m, R[c], mu[c], D, W, N[c], M[c])
            if count == 0:
                continue
            for a in range(0, d8, simd.TILE_ROWS):
                b, end = 0, a + simd.TILE_ROWS
                while end - b > 2 * simd.LANES:
                    simd.add_tile_3(D, W, count, a, b, S[c])
                    b += 3 * simd.LANES
                if end - b > simd.LANES:
                    simd.add_tile_2(D, W, count, a, b, S[c])
                elif end - b > 0:
                    simd.add_tile_1(D, W, count, a, b, S[c])
    return value


@jit(reassociate=True)
def square_sums(DT, m, r, mu, N, M, S):
    """N += sum r, M_t += sum r (x_t - mu_t), S_t += sum r (x_t - mu_t)^2 over one block."""
    mass = 0.0
    for i in range(m):
        mass += r[i]
    N[0] += mass
    if mass <= NEGLIGIBLE:
        return
    for t in range(len(mu)):
        row, shift = DT[t], mu[t]
        first, second = 0.0, 0.0
        for i in range(m):
            e = row[i] - shift
            first += r[i] * e
            second += r[i] * e * e
        M[t] += first
        S[t] += second


@jit
def sums_diag(X, w, mu, precision, const, N, M, S):
    """As ``sums_full`` with precision (k, p) and the diagonals S (k, p) only."""
    n, p = X.shape
    k = len(mu)
    DT, R = np.zeros((p, BLOCK)), np.empty((k, BLOCK))
    top, total = np.empty(BLOCK), np.empty(BLOCK)
    value = 0.0
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        joint_diag(X, start, m, mu, precision, const, DT, R)
        value += share(R, w, start, m, top, total)
        for c in range(k):
            square_sums(DT, m, R[c], mu[c], N[c], M[c], S[c])
    return value


@jit
def rows_full(X, mu, PT, const, out):
    """out[i, k] = log pi_k N_k(x_i)."""
    n, p = X.shape
    k = len(mu)
    DT, Y, R = np.zeros((p, BLOCK)), np.empty((PT.shape[2], BLOCK)), np.empty((k, BLOCK))
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        joint_full(X, start, m, mu, PT, const, DT, Y, R)
        for c in range(k):
            for i in range(m):
                out[start + i, c] = R[c, i]


@jit
def rows_diag(X, mu, precision, const, out):
    """out[i, k] = log pi_k N_k(x_i)."""
    n, p = X.shape
    k = len(mu)
    DT, R = np.zeros((p, BLOCK)), np.empty((k, BLOCK))
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        joint_diag(X, start, m, mu, precision, const, DT, R)
        for c in range(k):
            for i in range(m):
                out[start + i, c] = R[c, i]
