r"""Adam on float32 gradients, fused: penalty, moments, weights and their float32 copy in one pass.

    g <- g + 2 l2 w,  m <- a m + (1 - a) g,  r <- b r + (1 - b) g^2
    w <- w - eta m / (1 - a^t) / (sqrt(r / (1 - b^t)) + eps)

Weights and moments stay float64; the step itself is taken in float32, as exact as its gradient.
Reference: Kingma & Ba (2015).
"""

import numpy as np

from pellucid.core.runtime.jit import jit

STRETCH = 2048  # parameters that stay in the cache between the loops
TINY = 1e-36  # a mean square below it is nothing beside eps, and would be slow in float32


@jit(reassociate=True)
def adam_pass(
    w, copy, gradients, m, r, mean, edges, prices, first, last, l2, part, eta, a, b, eps, t
):
    """One step in place of the pieces ``first`` to ``last``; ``copy`` is w in float32.

    The gradient g is the sum of the rows of ``gradients`` (its first row is overwritten); ``mean``
    gains ``part`` g. Piece k, the parameters ``edges[k]`` to ``edges[k + 1]``, is penalised by
    l2 prices[k]. Returns the sum of squares of those with a price, before the step.
    """
    rate = np.float32(eta / (1 - a**t))
    second, small = np.float32(1 / np.sqrt(1 - b**t)), np.float32(eps)
    squares = 0.0
    for k in range(first, last):
        pull = 2 * l2 * prices[k]
        for begin in range(edges[k], edges[k + 1], STRETCH):
            end = min(begin + STRETCH, edges[k + 1])
            wk, gk, mk, rk = w[begin:end], gradients[0, begin:end], m[begin:end], r[begin:end]
            ck, sk = copy[begin:end], mean[begin:end]
            for i in range(1, len(gradients)):
                other = gradients[i, begin:end]
                for j in range(len(gk)):
                    gk[j] += other[j]
            if pull > 0:
                for j in range(len(wk)):
                    squares += wk[j] * wk[j]
                    gk[j] += np.float32(pull * wk[j])
            for j in range(len(gk)):
                s = np.float64(gk[j])
                sk[j] += part * s
                mk[j] = a * mk[j] + (1 - a) * s
                rk[j] = b * rk[j] + (1 - b) * s * s
            for j in range(len(wk)):
                root = np.sqrt(np.float32(rk[j] + TINY))
                wk[j] -= np.float64(rate * np.float32(mk[j]) / (second * root + small))
                ck[j] = np.float32(wk[j])
    return squares
