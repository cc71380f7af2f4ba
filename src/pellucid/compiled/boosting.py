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

from pellucid.compiled.logistic import exponential
from pellucid.core.jit import jit

SQUARED, ABSOLUTE, QUANTILE, POISSON, GAMMA, LOGISTIC, SOFTMAX = range(7)


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
    if code == LOGISTIC:
        return logistic_gradients(y, F, w, c, g, h, begin, end)
    for i in range(begin, end):
        f, v = F[i], c[i]
        if code == SQUARED:
            g[i], h[i] = v * (f - y[i]), v
        elif code == ABSOLUTE:
            g[i], h[i] = v * ((f > y[i]) - 1.0 * (f < y[i])), v
        elif code == QUANTILE:
            g[i], h[i] = v * ((f > y[i]) - q), v
        elif code == POISSON:
            e = math.exp(f)
            g[i], h[i] = v * (e - y[i]), v * e
        else:
            e = y[i] * math.exp(-f)
            g[i], h[i] = v * (1 - e), v * e
        a += w[i] * abs(g[i])
        b += w[i] * h[i]
        total += w[i] * v * one_loss(code, q, y[i], f)
    return a, b, total


@jit
def logistic_gradients(y, F, w, c, g, h, begin, end):
    """The same for the logistic loss, in loops that vectorise; one logarithm for many rows."""
    for i in range(begin, end):
        g[i] = exponential(-abs(F[i]))
    a = b = total = 0.0
    product = 1.0
    for i in range(begin, end):
        e, f, v = g[i], F[i], w[i] * c[i]
        s = 1.0 / (1.0 + e)
        p = s if f >= 0 else e * s
        right = s if (f >= 0) == (y[i] > 0.5) else e * s  # the probability of what happened
        if right < 1e-150 or v != 1.0:
            total += v * (max(f, 0.0) + math.log1p(e) - y[i] * f)
        else:
            product *= right
            if product < 1e-150:
                total -= math.log(product)
                product = 1.0
        g[i], h[i] = c[i] * (p - y[i]), c[i] * (e * s * s)
        a += w[i] * abs(g[i])
        b += w[i] * h[i]
    return a, b, total - math.log(product)


@jit
def softmax_gradients(y, F, w, c, G, H, sums, begin, end):
    """G, H (K, n) of the scores F (K, n); sums (K, 2) += (sum w |g|, sum w h); returns the loss."""
    K = F.shape[0]
    total = 0.0
    p = np.empty(K)
    for i in range(begin, end):
        top = F[0, i]
        for k in range(1, K):
            top = max(top, F[k, i])
        z = 0.0
        for k in range(K):
            p[k] = math.exp(F[k, i] - top)
            z += p[k]
        own = np.int64(y[i])
        total += w[i] * c[i] * (math.log(z) + top - F[own, i])
        for k in range(K):
            q = p[k] / z
            G[k, i] = c[i] * (q - (k == own))
            H[k, i] = c[i] * q * (1 - q)
            sums[k, 0] += w[i] * abs(G[k, i])
            sums[k, 1] += w[i] * H[k, i]
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


def warm() -> None:
    """Compile every kernel on tiny arrays."""
    y, F, w = np.array([0.0, 1.0]), np.zeros(2), np.ones(2)
    g, h = np.empty(2), np.empty(2)
    add_leaves(F, np.zeros(2, np.uint16), np.zeros(1), 0, 2)
    one_loss(SQUARED, 0.5, 0.0, 1.0)
    losses(SQUARED, 0.5, y, F, w, 0, 2)
    gradients(SQUARED, 0.5, y, F, w, w, g, h, 0, 2)
    logistic_gradients(y, F, w, w, g, h, 0, 2)
    two = np.zeros((2, 2))
    softmax_gradients(y, two, w, w, two.copy(), two.copy(), two.copy(), 0, 2)
    softmax_losses(y, two, w, 0, 2)
