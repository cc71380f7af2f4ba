r"""Gradients and curvatures of the boosting losses, and adding a tree to the scores.

squared   (y - f)^2 / 2                    g = f - y            h = 1
absolute  |y - f|                          g = sign(f - y)      h = 1
quantile  q (y - f)+ + (1 - q)(f - y)+     g = [f > y] - q      h = 1
poisson   exp f - y f                      g = exp f - y        h = exp f
gamma     f + y exp(-f)                    g = 1 - y exp(-f)    h = y exp(-f)
logistic  log(1 + exp f) - y f             g = p - y            h = p (1 - p)
softmax   log sum exp f - f_y              g_k = p_k - [y = k]  h_k = p_k (1 - p_k)
"""

import math

import numpy as np

from pellucid.compiled.epochs.logistic import exponential
from pellucid.core.runtime.jit import jit

SQUARED, ABSOLUTE, QUANTILE, POISSON, GAMMA, LOGISTIC, SOFTMAX = range(7)
STRETCH = 1000  # rows that stay in the nearest cache; a product of so many 1 + e is below 2^1000


@jit
def add_leaves(F, leaf, value, begin, end):
    """F_i += value of the leaf of row i."""
    for i in range(begin, end):
        F[i] += value[leaf[i]]


@jit
def one_loss(code, q, y, f):
    """The loss of one row, as far as it depends on f."""
    if code == SQUARED:
        return 0.5 * (y - f) * (y - f)
    if code == ABSOLUTE:
        return abs(y - f)
    if code == QUANTILE:
        return q * (y - f) if y >= f else (1 - q) * (f - y)
    if code == POISSON:
        return math.exp(f) - y * f
    if code == GAMMA:
        return f + y * math.exp(-f)
    return max(f, 0.0) + math.log1p(math.exp(-abs(f))) - y * f


@jit
def losses(code, q, y, F, w, begin, end):
    """sum w l(y, f)."""
    total = 0.0
    for i in range(begin, end):
        total += w[i] * one_loss(code, q, y[i], F[i])
    return total


@jit
def gradients(code, q, y, F, w, c, g, h, begin, end):
    """g, h of the rows [begin, end) times c; returns (sum w |g|, sum w h, sum w c loss).

    A row of weight w is w rows: g and h are those of one.
    """
    a = b = total = 0.0
    for start in range(begin, end, STRETCH):
        part = slice(start, min(end, start + STRETCH))
        if code == LOGISTIC:
            total += logistic_rows(y[part], F[part], w[part], c[part], g[part], h[part])
        else:
            total += number_rows(code, q, y[part], F[part], w[part], c[part], g[part], h[part])
        x, z = sums_of(w[part], g[part], h[part])
        a, b = a + x, b + z
    return a, b, total


@jit(reassociate=True)
def sums_of(w, g, h):
    """(sum w |g|, sum w h)."""
    a = b = 0.0
    for i in range(len(w)):
        a += w[i] * abs(g[i])
        b += w[i] * h[i]
    return a, b


@jit(reassociate=True)
def squared_rows(y, F, w, c, g, h):
    """g, h and the sum of w c loss for squared errors."""
    total = 0.0
    for i in range(len(y)):
        r = F[i] - y[i]
        g[i], h[i] = c[i] * r, c[i]
        total += w[i] * c[i] * r * r
    return 0.5 * total


@jit
def number_rows(code, q, y, F, w, c, g, h):
    """g, h and the sum of w c loss for every loss of one score but the logistic."""
    if code == SQUARED:
        return squared_rows(y, F, w, c, g, h)
    total = 0.0
    for i in range(len(y)):
        f, v = F[i], c[i]
        if code == ABSOLUTE:
            g[i], h[i] = v * ((f > y[i]) - 1.0 * (f < y[i])), v
        elif code == QUANTILE:
            g[i], h[i] = v * ((f > y[i]) - q), v
        elif code == POISSON:
            e = math.exp(f)
            g[i], h[i] = v * (e - y[i]), v * e
        else:
            e = y[i] * math.exp(-f)
            g[i], h[i] = v * (1 - e), v * e
        total += w[i] * v * one_loss(code, q, y[i], f)
    return total


@jit(reassociate=True)
def log_sums(w, c, e):
    """sum w c log(1 + e), 0 <= e <= 1; one logarithm for all rows of weight 1."""
    product, others = 1.0, 0
    for i in range(len(e)):
        product *= 1.0 + e[i]
        others += w[i] * c[i] != 1.0
    if others == 0:
        return math.log(product)
    total = 0.0
    for i in range(len(e)):
        total += w[i] * c[i] * math.log1p(e[i])
    return total


@jit(reassociate=True)
def logistic_rows(y, F, w, c, g, h):
    """g, h and the sum of w c loss for the logistic loss; several loops, since each vectorises."""
    for i in range(len(y)):
        g[i] = exponential(-abs(F[i]))
    total = log_sums(w, c, g)
    for i in range(len(y)):
        total += w[i] * c[i] * (max(F[i], 0.0) - y[i] * F[i])
    for i in range(len(y)):
        e = g[i]
        s = 1.0 / (1.0 + e)
        p = s if F[i] >= 0 else e * s
        g[i], h[i] = c[i] * (p - y[i]), c[i] * (e * s * s)
    return total


@jit
def raise_to(f, top):
    """top_i = max(top_i, f_i)."""
    for i in range(len(f)):
        top[i] = max(top[i], f[i])


@jit
def add_powers(f, top, e, z):
    """e = exp(f - top), added to z."""
    for i in range(len(f)):
        e[i] = exponential(f[i] - top[i])
    for i in range(len(f)):
        z[i] += e[i]


@jit
def softmax_rows(k, y, z, c, g, h):
    """g, h of class k; g holds exp(f_k - top)."""
    for i in range(len(y)):
        p = g[i] / z[i]
        g[i], h[i] = c[i] * (p - 1.0 * (y[i] == k)), c[i] * p * (1 - p)


@jit
def softmax_gradients(y, F, w, c, G, H, sums, begin, end):
    """G, H (K, n) of the scores F (K, n); sums (K, 2) += (sum w |g|, sum w h); returns the loss."""
    K = F.shape[0]
    total = 0.0
    top, z = np.empty(STRETCH), np.empty(STRETCH)
    for start in range(begin, end, STRETCH):
        m = min(end, start + STRETCH) - start
        part = slice(start, start + m)
        top[:m] = F[0, part]
        for k in range(1, K):
            raise_to(F[k, part], top)
        z[:] = 0.0
        for k in range(K):
            add_powers(F[k, part], top, G[k, part], z)
        for i in range(m):
            own = np.int64(y[start + i])
            total += w[start + i] * c[start + i] * (math.log(z[i]) + top[i] - F[own, start + i])
        for k in range(K):
            softmax_rows(k, y[part], z, c[part], G[k, part], H[k, part])
            a, b = sums_of(w[part], G[k, part], H[k, part])
            sums[k, 0] += a
            sums[k, 1] += b
    return total


@jit
def softmax_losses(y, F, w, begin, end):
    """sum w l(y, f) for the scores F (K, n)."""
    total = 0.0
    for i in range(begin, end):
        top = F[0, i]
        for k in range(1, F.shape[0]):
            top = max(top, F[k, i])
        z = 0.0
        for k in range(F.shape[0]):
            z += math.exp(F[k, i] - top)
        total += w[i] * (math.log(z) + top - F[np.int64(y[i]), i])
    return total
