r"""Cosines of many numbers at once.

    x = n pi + r,  |r| <= pi/2,      cos x = (-1)^n cos r

cos r is its Taylor polynomial to r^20 (the rest is below 4e-16 at pi/2 and alternates), pi is
taken off in three parts, the first two of 33 bits, so that n pi is exact for |x| < LIMIT. No branch
and no call: loops over it vectorise.
"""

import numpy as np

from pellucid.core.runtime.jit import jit

LIMIT = 1e6  # up to which the three parts of pi are enough
ROUND = 6755399441055744.0  # 1.5 2^52: adding it rounds to a whole number, the last bit is n's


@jit
def cosine(x):
    """cos(x) to two units of 1e-16, |x| < LIMIT."""
    t = x * 0.3183098861837907 + ROUND
    n = t - ROUND
    r = x - n * 3.14159265346825122834
    r = r - n * 1.21542010126079319532e-10
    r = r - n * 4.04453249759190126308e-21
    s = r * r
    p = 4.110317623312165e-19
    p = p * s - 1.5619206968586226e-16
    p = p * s + 4.779477332387385e-14
    p = p * s - 1.1470745597729725e-11
    p = p * s + 2.08767569878681e-09
    p = p * s - 2.755731922398589e-07
    p = p * s + 2.48015873015873e-05
    p = p * s - 0.001388888888888889
    p = p * s + 0.041666666666666664
    p = p * s - 0.5
    p = p * s + 1.0
    bits = np.float64(p).view(np.int64) ^ (np.float64(t).view(np.int64) << 63)
    return np.int64(bits).view(np.float64)


@jit
def shifted_cosines(Z, offset, scale):
    """Z = scale cos(Z + offset) in place; how many arguments were too large for that."""
    n, d = Z.shape
    wild = 0
    for i in range(n):
        row = Z[i]
        for j in range(d):
            x = row[j] + offset[j]
            wild += abs(x) > LIMIT
            row[j] = scale * cosine(x)
    return wild
