r"""One round of the dual of Crammer and Singer's multi-class support vector machine.

    min_W  sum_k |w_k|^2/2 + C sum_i v_i max_k (1[k != y_i] + w_k.x_i - w_y.x_i)
    max_a  -sum_k |sum_i a_ik x_i|^2/2 + sum_i a_{i y_i},    sum_k a_ik = 0, a_ik <= C v_i [k = y_i]

A visit to row i maximises over its K variables with the others fixed: with s_k = w_k.x_i and
A = |x_i|^2 that is  min A |a - a_old|^2/2 + sum_k a_k (s_k + 1[k != y]), a projection found by
sorting (Keerthi, Sundararajan, Chang, Hsieh & Lin, 2008). Rows are CSR, dense ones too.
"""

import numpy as np

from pellucid.core.runtime.jit import jit


@jit
def crammer_singer_round(values, columns, starts, y, cost, norms, order, W, A, b, s):
    """Visit the rows in ``order``; W (K, p) and A (n, K) are updated. The largest change."""
    K = W.shape[0]
    most = 0.0
    for i in order:
        N, c = norms[i], cost[i]
        if N <= 0.0 or c <= 0.0:
            continue
        for k in range(K):
            a = 0.0 if k == y[i] else 1.0
            for t in range(starts[i], starts[i + 1]):
                a += W[k, columns[t]] * values[t]
            s[k] = a
            b[k] = N * A[i, k] - a
        # a_k = min(upper_k, (b_k + beta)/N) with the sum 0
        D = -b
        D[y[i]] += N * c
        D.sort()
        D = D[::-1]
        total = D[0] - N * c
        r = 1
        while r < K and total < r * D[r]:
            total += D[r]
            r += 1
        beta = total / r
        for k in range(K):
            upper = c if k == y[i] else 0.0
            d = min(upper, (b[k] + beta) / N) - A[i, k]
            if d != 0.0:
                A[i, k] += d
                most = max(most, abs(d) * np.sqrt(N))
                for t in range(starts[i], starts[i + 1]):
                    W[k, columns[t]] += d * values[t]
    return most
