r"""Kernels of the L1-penalised logistic fits: rows of the loss, and the quadratic model.

Rows         p = 1/(1 + exp(-z)),  residual g = v (p - y),  curvature h = v p (1 - p)
Dual         D(t) = sum_i v_i H(y_i + s t_i / v_i),  H(a) = -a log a - (1 - a) log(1 - a)
Model        argmin_d  c'(-d) + d'G d / 2 + sum_j l1 |w_j + d_j| + l2 (w_j + d_j)^2 / 2

The model is solved by the sweeps and the exact steps of ``coordinate``: a compact copy holds the
support and the columns that break their condition, so that it stays in cache.
"""

import math

import numpy as np

from pellucid.compiled.epochs.coordinate import breaks, exact_step, sweep
from pellucid.core.runtime.jit import jit

ROUNDS = 200  # compact copies per model
SWEEPS, SHARE = 10, 10  # an exact step is tried after 10 + k/10 sweeps
LARGEST = 600  # columns up to which a support is factored rather than swept
SLACK = 1e-10  # relative violation of |c_j| <= l1 that rounding explains
DAMPING = 1e-8  # share of the diagonal that makes dependent columns solvable; Newton repairs it
CURVATURE = 1e-9  # h/v is at least this: a row that is certain must not make the model flat


@jit
def logistic_rows(z, y, v, start, stop, g, h):
    """Fill g and h of the rows from start to stop; return their loss."""
    loss = 0.0
    for i in range(start, stop):
        e = math.exp(-abs(z[i]))
        q = 1.0 / (1.0 + e)
        p = q if z[i] >= 0.0 else e * q
        loss += v[i] * (max(z[i], 0.0) - y[i] * z[i] + math.log1p(e))
        # p - y without cancellation where p is near y
        small = e * q
        if y[i] == 1.0:
            g[i] = -v[i] * (small if z[i] >= 0.0 else q)
        elif y[i] == 0.0:
            g[i] = v[i] * p
        else:
            g[i] = v[i] * (p - y[i])
        h[i] = v[i] * max(e * q * q, CURVATURE)
    return loss


@jit
def logistic_entropy(t, y, v, s, start, stop):
    """D(s t) of the rows from start to stop."""
    total = 0.0
    for i in range(start, stop):
        if v[i] > 0.0:
            a = y[i] + s * t[i] / v[i]
            if 0.0 < a < 1.0:
                total -= v[i] * (a * math.log(a) + (1.0 - a) * math.log1p(-a))
    return total


@jit(reassociate=True)
def solve_model(G, c, w, l1, l2, threshold, max_sweeps):
    """Minimise the model in place: w becomes w + d, c becomes c - G d. Returns the sweeps.

    G (m, m), c (m,) = minus the gradient of the loss, w (m,); ``threshold`` is the gain H_jj d_j^2
    of a coordinate that no longer counts.
    """
    m = len(w)
    active = np.empty(m, np.int64)
    sweeps = 0
    for _ in range(ROUNDS):
        k = 0
        for j in range(m):
            if w[j] != 0.0 or (G[j, j] > 0.0 and breaks(w[j], c[j] - l2 * w[j], l1, False, SLACK)):
                active[k] = j
                k += 1
        H, g, u = np.empty((k, k)), np.empty(k), np.empty(k)
        bound, sign = np.full(k, l1), np.zeros(k, np.bool_)
        for a in range(k):
            j = active[a]
            row = G[j]
            for b in range(k):
                H[a, b] = row[active[b]]
            H[a, a] = max(H[a, a] * (1.0 + DAMPING) + l2, 1e-300)
            g[a], u[a] = c[j] - l2 * w[j], w[j]
        small = k <= LARGEST
        limit = SWEEPS + k // SHARE if small else max_sweeps
        done, ended = sweep(H, g, u, bound, sign, threshold, min(limit, max_sweeps - sweeps))
        sweeps += done
        state = 0
        if small:
            for _ in range(10):
                state = exact_step(H, g, u, bound)
                if state != 0:
                    break
        for a in range(k):
            j = active[a]
            d = u[a] - w[j]
            if d != 0.0:
                row = G[j]
                for b in range(m):
                    c[b] -= d * row[b]
                w[j] = u[a]
        broken = False
        for j in range(m):
            if G[j, j] > 0.0:
                broken |= breaks(w[j], c[j] - l2 * w[j], l1, False, 1e-7)
        if sweeps >= max_sweeps or (not broken and (state == 1 or ended)):
            break
    return sweeps
