r"""The functions of a basis at every cell: truncated powers, natural cubic splines, Gaussian bumps.

Each kernel takes the rows, one column of them, and writes the functions of that column from
``first`` on. K is the number of knots (centres) of the column.
"""

from math import comb

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.jit import jit


@jit
def truncated_powers(X, column, knots, degree, continuity, out, first):
    """x .. x^d, then for every knot (x - k)_+^j, j = continuity + 1 .. d; 0^0 = 1."""
    for i in range(X.shape[0]):
        x = X[i, column]
        at = first
        power = 1.0
        for _ in range(degree):
            power *= x
            out[i, at] = power
            at += 1
        for k in range(len(knots)):
            power = 1.0 if x >= knots[k] else 0.0
            u = x - knots[k] if x >= knots[k] else 0.0
            for j in range(degree + 1):
                if j > continuity:
                    out[i, at] = power
                    at += 1
                power *= u


@jit
def natural_splines(X, column, knots, out, first):
    """x, then d_k - d_{K-1} for k = 1 .. K - 2; straight beyond both ends."""
    K = len(knots)
    last = knots[K - 1] if K > 0 else 0.0
    for i in range(X.shape[0]):
        x = X[i, column]
        out[i, first] = x
        if K < 3:
            continue
        before = knots[K - 2]
        u = x - before
        d_last = u * u * u / (last - before) if u > 0.0 else 0.0
        for k in range(K - 2):
            a = knots[k]
            if x >= last:  # the cubes cancel: (k_{K-1} - k_k) (3 (x - k_K) + A_k + A_{K-1})
                value = (before - a) * (3.0 * (x - last) + (last - a) + (last - before))
            elif x > a:
                value = (x - a) * (x - a) * (x - a) / (last - a) - d_last
            else:
                value = 0.0
            out[i, first + 1 + k] = value


@jit
def bump_exponents(X, column, centers, factor, out, first):
    """-(x - b)^2 / (2 c^2) for every centre b; factor = 1 / (c sqrt 2)."""
    for i in range(X.shape[0]):
        x = X[i, column]
        for k in range(len(centers)):
            u = (x - centers[k]) * factor
            out[i, first + k] = -u * u


def shifted_power(knot: float, j: int, degree: int) -> Array:
    """The coefficients of (x - knot)^j, ascending, as (degree + 1,).

    >>> shifted_power(2.0, 2, 3)
    array([ 4., -4.,  1.,  0.])
    """
    out = np.zeros(degree + 1)
    for i in range(j + 1):
        out[i] = comb(j, i) * (-knot) ** (j - i)
    return out
