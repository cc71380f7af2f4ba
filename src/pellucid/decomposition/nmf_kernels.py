"""Compiled steps of NMF: every row of W is a least-squares problem of its own."""

import numpy as np

from pellucid.core.runtime.jit import jit

SINGULAR = 64 * np.finfo(np.float64).eps  # of its diagonal: a pivot that says nothing


@jit(reassociate=True)
def descend_row(w, G, b, order):
    """One round of coordinate descent on a row of W; the sizes of the projected gradients met."""
    k = len(w)
    total = 0.0
    for s in range(k):
        t = order[s]
        g = G[t]
        slope = -b[t]
        for r in range(k):
            slope += g[r] * w[r]
        if w[t] != 0.0 or slope < 0.0:
            total += abs(slope)
        if g[t] != 0.0:
            w[t] = max(w[t] - slope / g[t], 0.0)
    return total


@jit(reassociate=True)
def descend_rows(W, G, B, order, first, last):
    """One round of coordinate descent on rows first..last of |X - W H|^2/2; G = HH', B = XH'.

    Entry by entry, all rows in turn: rows do not wait for each other, the entries of one row do.
    Returns the sum of the sizes of the projected gradients met on the way.
    """
    k = W.shape[1]
    total = 0.0
    for s in range(k):
        t = order[s]
        own = G[t, t]
        for i in range(first, last):
            slope = -B[i, t]
            for r in range(k):
                slope += G[t, r] * W[i, r]
            w = W[i, t]
            if w != 0.0 or slope < 0.0:
                total += abs(slope)
            if own != 0.0:
                W[i, t] = max(w - slope / own, 0.0)
    return total


@jit(reassociate=True)
def solve_face(w, G, b, L, z, support):
    """z: the minimum over the m entries of w that are not 0; returns m, or -1 if it is not one."""
    m = 0
    for t in range(len(w)):
        if w[t] > 0.0:
            support[m] = t
            m += 1
    for s in range(m):  # G over the support = LL', then L z = b
        t = support[s]
        value = b[t]
        for r in range(s + 1):
            cell = G[t, support[r]]
            for q in range(r):
                cell -= L[s, q] * L[r, q]
            if r < s:
                L[s, r] = cell / L[r, r]
                value -= L[s, r] * z[r]
            elif cell > SINGULAR * G[t, t]:
                L[s, s] = np.sqrt(cell)
            else:
                return -1
        z[s] = value / L[s, s]
    for s in range(m - 1, -1, -1):  # L'z = z
        for q in range(s + 1, m):
            z[s] -= L[q, s] * z[q]
        z[s] /= L[s, s]
    return m


@jit(reassociate=True)
def solve_row(w, G, b, worst, L, z, support):
    """Go to the minimum over the entries of w that are above 0, dropping those that reach 0.

    Nothing here makes the objective larger. True if it ended at the minimum over all entries: the
    gradients below 0 at the others sum to at most worst. L (k, k), z, support (k,) are room.
    """
    for _ in range(len(w)):
        m = solve_face(w, G, b, L, z, support)
        if m < 0:
            return False
        reach, end = 1.0, -1
        for s in range(m):
            x = w[support[s]]
            if z[s] <= 0.0 and x <= reach * (x - z[s]):
                reach, end = x / (x - z[s]), s
        for s in range(m):
            t = support[s]
            w[t] = max(w[t] + reach * (z[s] - w[t]), 0.0) if end >= 0 else z[s]
        if end < 0:
            break
        w[support[end]] = 0.0
    total = 0.0
    for t in range(len(w)):
        if w[t] == 0.0:
            slope = -b[t]
            for r in range(len(w)):
                slope += G[t, r] * w[r]
            total += max(-slope, 0.0)
    return total <= worst


@jit
def solve_rows(W, G, B, tol, max_iter, first, last):
    """Rounds on each row alone until its projected gradients are tol of the first ones.

    After 2, 4, 8, ... rounds the entries above 0 are solved as equations.
    """
    k = W.shape[1]
    order = np.arange(k)
    L, z, support = np.empty((k, k)), np.empty(k), np.empty(k, np.int64)
    for i in range(first, last):
        w, b = W[i], B[i]
        start = 0.0
        look = 2
        for step in range(max_iter):
            total = descend_row(w, G, b, order)
            if step == 0:
                start = total
            if total <= tol * start:
                break
            if step + 1 == look:
                look *= 2
                if solve_row(w, G, b, tol * start, L, z, support):
                    break
