r"""Simplex for piecewise linear fitting, from vertex to vertex with exact line searches.

    minimise  sum_i up_i (r_i)_+ + lo_i (-r_i)_+  +  c'theta,      r = y - D theta      (D is m x q)

A vertex interpolates q rows, the basis h. With psi_i = up_i or -lo_i by the sign of r_i, and
g = sum psi_i D_i - c over the other rows, the multipliers of the basis are a_h = -D_h^-T g. The
vertex is optimal iff -lo <= a_h <= up. Otherwise a row k that breaks its bound leaves: r_k grows
with sigma = +-1 along theta - sigma t D_h^-1 e_k, the slope starts below zero and rises by
(up_i + lo_i)|v_i| where a residual r_i + t v_i passes zero. The row at which it gets to zero
enters: one pivot crosses as many rows as it pays to.

References: Barrodale & Roberts (1973); Koenker & d'Orey (1987).
"""

from typing import Any

import numpy as np

from pellucid.core.runtime.jit import jit

OPTIMAL, UNBOUNDED, STALLED, MORE = 0, 1, 2, 3


@jit
def reach_zero(t: Any, jump: Any, row: Any, n: int, slope: float) -> int:
    """Position of the breakpoint at which a slope below zero reaches it; -1 if never.

    Quickselect on t with the jumps as weights; it permutes the arrays: everything before the
    position has t at most that of the position.
    """
    low, high = 0, n - 1
    while low <= high:
        middle = (low + high) // 2
        a, b, c = t[low], t[middle], t[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while t[i] < pivot:
                i += 1
            while t[j] > pivot:
                j -= 1
            if i <= j:
                t[i], t[j] = t[j], t[i]
                jump[i], jump[j] = jump[j], jump[i]
                row[i], row[j] = row[j], row[i]
                i += 1
                j -= 1
        left = 0.0  # t[low..j] <= pivot <= t[i..high], at most one element between
        for k in range(low, j + 1):
            left += jump[k]
        if slope + left >= 0:
            if j == low:
                return low
            high = j
            continue
        slope += left
        if i - j == 2:  # the element between equals the pivot
            if slope + jump[j + 1] >= 0:
                return j + 1
            slope += jump[j + 1]
        low = i
    return -1


@jit
def pivots(D, y, up, lo, linear, basis, inverse, theta, r, sign, tol, limit, patience):
    """Pivot until optimal: (status, pivots). basis (q,), inverse = D_h^-1, theta, r, sign change.

    sign is +1 or -1 per row, 0 for rows of the basis. ``linear`` is c of the objective.
    """
    m, q = D.shape
    g, a, z, v = np.empty(q), np.empty(q), np.empty(q), np.empty(m)
    t, jump, row = np.empty(m), np.empty(m), np.empty(m, np.int64)
    for j in range(q):
        g[j] = -linear[j]
    for i in range(m):
        if sign[i] != 0:
            psi = up[i] if sign[i] > 0 else -lo[i]
            for j in range(q):
                g[j] += psi * D[i, j]
    idle = 0
    for count in range(limit):
        worst, leave, sigma = 0.0, -1, 1.0
        for k in range(q):
            s, norm = 0.0, 0.0
            for j in range(q):
                s -= inverse[j, k] * g[j]
                norm += inverse[j, k] * inverse[j, k]
            a[k] = s
            i = basis[k]
            over = max(s - up[i], -lo[i] - s)
            if over > tol and over > worst * np.sqrt(norm):
                worst, leave = over / np.sqrt(norm), k
                sigma = 1.0 if s > up[i] else -1.0
        if leave < 0:
            return OPTIMAL, count
        out = basis[leave]
        slope = up[out] - a[leave] if sigma > 0 else lo[out] + a[leave]
        largest = 0.0
        for i in range(m):
            s = 0.0
            if sign[i] != 0:
                for j in range(q):
                    s += D[i, j] * inverse[j, leave]
            v[i] = sigma * s
            largest = max(largest, abs(s))
        n, least = 0, 1e-11 * largest
        for i in range(m):
            if sign[i] * v[i] < -least:
                t[n], jump[n], row[n] = max(-r[i] / v[i], 0.0), (up[i] + lo[i]) * abs(v[i]), i
                n += 1
        at = reach_zero(t, jump, row, n, slope)
        if at < 0:
            return UNBOUNDED, count
        step, enter = t[at], row[at]
        for k in range(at):  # crossed rows change sides; those that tie stay
            i = row[k]
            if t[k] < step:
                change = -(up[i] + lo[i]) * sign[i]
                sign[i] = -sign[i]
                for j in range(q):
                    g[j] += change * D[i, j]
        psi = up[enter] if sign[enter] > 0 else -lo[enter]
        mine = up[out] if sigma > 0 else -lo[out]
        for j in range(q):
            g[j] += mine * D[out, j] - psi * D[enter, j]
            theta[j] -= sigma * step * inverse[j, leave]
        for i in range(m):
            if sign[i] != 0:
                r[i] += step * v[i]
        r[out], r[enter] = sigma * step, 0.0
        sign[out], sign[enter] = sigma, 0
        basis[leave] = enter
        for k in range(q):
            s = 0.0
            for j in range(q):
                s += D[enter, j] * inverse[j, k]
            z[k] = s
        for j in range(q):
            inverse[j, leave] /= z[leave]
            for k in range(q):
                if k != leave:
                    inverse[j, k] -= z[k] * inverse[j, leave]
        idle = idle + 1 if step <= 0 else 0
        if idle > patience:
            return STALLED, count + 1
    return MORE, limit
