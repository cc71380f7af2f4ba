r"""The likelihood of a power transform and its first two derivatives, all columns at once.

With g(m, l) = (e^{m l} - 1)/m and its derivatives in m,

    g' = (l e^u - g)/m,    g'' = (l^2 e^u - 2 g')/m,    u = m l

(power series for small u, where these lose their digits). A column of one sign is T = g(m, l) with
l its centred logarithm; a column of both signs is T = g(m, l) where l >= 0 and -g(2 - m, -l) where
l < 0. Up to a constant, twice the mean negative log-likelihood is

    f(m) = ln var T - 2 (m - 1) mean l        (mean l = 0 for a column of one sign)
    f' = 2 cov(T, T')/var T - 2 mean l
    f'' = 2 (var T' + cov(T, T''))/var T - (2 cov(T, T')/var T)^2.
"""

from typing import NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, BoolArray
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.threads import map_threads

ROWS = 1024
SMALL = 0.05  # below this the series are used
TERMS = 9


@jit
def exponents(L, m, mixed, out):
    """u = m l; where a column has both signs and l < 0, (2 - m)(-l)."""
    n, p = L.shape
    for i in range(n):
        for j in range(p):
            l = L[i, j]  # noqa: E741  the letter of the formula
            out[i, j] = (m[j] - 2.0) * l if mixed[j] and l < 0.0 else m[j] * l


@jit
def power_sums(L, E, m, mixed, sums):
    """sums (8, p): count, means of T T' T'', and centred TT, TT', T'T', TT''. E = exp(u)."""
    n, p = L.shape
    origin = np.full((3, p), np.nan)
    for i in range(n):
        for j in range(p):
            l = L[i, j]  # noqa: E741
            if l != l:
                continue
            turned = mixed[j] and l < 0.0
            a = -l if turned else l
            v = 2.0 - m[j] if turned else m[j]
            u = v * a
            if abs(u) < SMALL:
                t, t1, t2, term = 0.0, 0.0, 0.0, 1.0
                for k in range(TERMS):  # sums of u^k / ((k + s) k!), s = 1, 2, 3
                    t += term / (k + 1)
                    t1 += term / (k + 2)
                    t2 += term / (k + 3)
                    term *= u / (k + 1)
                t, t1, t2 = a * t, a * a * t1, a * a * a * t2
            else:
                e = E[i, j]
                t = (e - 1.0) / v
                t1 = (a * e - t) / v
                t2 = (a * a * e - 2.0 * t1) / v
            if turned:
                t, t2 = -t, -t2
            if sums[0, j] == 0.0:
                origin[0, j], origin[1, j], origin[2, j] = t, t1, t2
            t, t1, t2 = t - origin[0, j], t1 - origin[1, j], t2 - origin[2, j]
            sums[0, j] += 1.0
            sums[1, j] += t
            sums[2, j] += t1
            sums[3, j] += t2
            sums[4, j] += t * t
            sums[5, j] += t * t1
            sums[6, j] += t1 * t1
            sums[7, j] += t * t2
    for j in range(p):
        if sums[0, j] > 0.0:
            a, b, c = sums[1, j] / sums[0, j], sums[2, j] / sums[0, j], sums[3, j] / sums[0, j]
            sums[4, j] -= sums[1, j] * a
            sums[5, j] -= sums[1, j] * b
            sums[6, j] -= sums[2, j] * b
            sums[7, j] -= sums[1, j] * c
            sums[1, j], sums[2, j] = a + origin[0, j], b + origin[1, j]
            sums[3, j] = c + origin[2, j]


def merge_sums(a: Array, b: Array) -> Array:
    """The sums of two sets of rows taken together (Chan)."""
    n = np.maximum(a[0] + b[0], 1.0)
    gap, share = b[1:4] - a[1:4], b[0] / n
    cross = np.stack([gap[0] * gap[0], gap[0] * gap[1], gap[1] * gap[1], gap[0] * gap[2]])
    return np.vstack([a[0] + b[0], a[1:4] + gap * share, a[4:] + b[4:] + cross * (a[0] * share)])


class Likelihood(NamedTuple):
    """f, f' and f'' of every column."""

    value: Array
    slope: Array
    curvature: Array


def likelihood(L: Array, m: Array, mixed: BoolArray, mean: Array) -> Likelihood:
    """f of every column at the exponents m; not finite where T leaves the range of numbers."""

    def work(start: int) -> Array:
        chunk = L[start : start + ROWS]
        E = np.empty_like(chunk)
        exponents(chunk, m, mixed, E)
        with np.errstate(over="ignore", under="ignore"):
            np.exp(E, out=E)
        sums = np.zeros((8, L.shape[1]))
        power_sums(chunk, E, m, mixed, sums)
        return sums

    with np.errstate(all="ignore"):
        parts = list(map_threads(work, range(0, len(L), ROWS)))
        while len(parts) > 1:  # a fixed tree
            pairs = zip(parts[::2], parts[1::2], strict=False)
            parts = [merge_sums(a, b) for a, b in pairs] + parts[len(parts) // 2 * 2 :]
        count, _, _, _, tt, t1, s11, t2 = parts[0]
        ratio = 2.0 * t1 / tt
        value = np.log(tt / count) - 2.0 * (m - 1.0) * mean
        return Likelihood(value, ratio - 2.0 * mean, 2.0 * (s11 + t2) / tt - ratio**2)
