r"""Sweeps of 2-means: on which side of the plane between two centres a row lies.

The squared distances D_0 and D_1 of a row x to the centres differ by

    D_0 - D_1 = 2 f,     f = (x - o)'(c_1 - c_0) - (|c_1 - o|^2 - |c_0 - o|^2) / 2

so one product decides where two distances were needed. The rounding error of f is at most
``slack (|x - o|^2 + 2 A)`` with A = |c_0 - o|^2 + |c_1 - o|^2; where it could change the sign, the
direct sums decide, so that labels are those of ``cluster.kmeans.kernels``.

**Margins.** The distances themselves differ by at least

    | |x - c_0| - |x - c_1| |  =  2 |f| / (|x - c_0| + |x - c_1|)  >=  2 |f| / q,
    q  =  sqrt(4 |x - o|^2 + 2 A) + |c_0 + c_1 - 2 o|  >=  sqrt(2 D_0 + 2 D_1)

(with o halfway between the centres the last term vanishes but for rounding, and q is exact on the
plane), and a round changes this by no more than the way both centres go, the same for every row.
So one number per row, its margin plus the way gone so far, says until when its side is sure.
"""

import numpy as np

from pellucid.cluster.kmeans.kernels import (
    AHEAD,
    BOUNDED,
    LINE,
    add_row,
    quick_distance,
    squared_distance,
)
from pellucid.core.runtime import simd
from pellucid.core.runtime.jit import jit


@jit(reassociate=True)
def product_and_norm(x, origin, d):
    """(x - o)'d and |x - o|^2, summed in any order."""
    product, norm = 0.0, 0.0
    for t in range(len(x)):
        v = x[t] - origin[t]
        product += v * d[t]
        norm += v * v
    return product, norm


@jit
def side_sweep(X, w, C, origin, d, offset, spread, apart, spent, grid, side, sure, total):
    """Bring side (n,), 0 or 1, up to date with the centres C (2, p), where it is not sure.

    d = c_1 - c_0, offset = (|c_1 - o|^2 - |c_0 - o|^2) / 2, spread = 2 A, apart the last term of q;
    spent is the way that the centres have gone, sure (n,) the way until which a side is certain.
    total (LIMBS, p + 1) receives what side 1 gains and loses. Returns how many were looked at.
    """
    n, p = X.shape
    waiting = np.empty(BOUNDED, np.int64)
    slack, looked = 4.0 * (p + 8) * 2.0**-52, 0
    floor = slack * spread + 1e-290  # smaller squares vanish
    for start in range(0, n, BOUNDED):
        count = 0
        for i in range(start, min(start + BOUNDED, n)):  # without branches: hard to guess
            waiting[count] = i
            count += 1 - int(sure[i] > spent)
        looked += count
        for s in range(count):
            i = waiting[s]
            ahead = waiting[min(s + AHEAD, count - 1)]
            for t in range(0, p, LINE):
                simd.prefetch(X, ahead, t)
            product, norm = product_and_norm(X[i], origin, d)
            f = product - offset
            certain = abs(f) - (slack * norm + floor)
            if certain > 0.0:
                j = 1 if f > 0.0 else 0
                q = np.sqrt(4.0 * norm + spread) * (1.0 + slack) + apart
                # less what the direct sums may be off by; rounded towards "not sure"
                sure[i] = (2.0 * certain / q - 2.0 * slack * q + spent) * (1.0 - 2.0**-50)
            else:
                j = 1 if squared_distance(X[i], C[1]) < squared_distance(X[i], C[0]) else 0
                sure[i] = -1.0
            if j != side[i]:
                side[i] = j
                add_row(total, X[i], w[i] if j == 1 else -w[i], grid)
    return looked


@jit
def side_costs(X, w, C, side, out):
    """Add w D to the centre of its side, out (2,), for every row."""
    for i in range(X.shape[0]):
        out[side[i]] += w[i] * quick_distance(X[i], C[side[i]])
