r"""Block coordinate descent for penalties on the norms of groups of coefficients.

With W (p x k) cut into blocks W_l of rows, one pass minimises over each block in turn

    1/2 tr(W'GW) - tr(Q'W) + sum_l t_l |W_l|_F ,      g = Q - G W kept up to date.

The columns are rotated beforehand so that every diagonal block of G is diagonal (the norm does
not notice). With B = g_l + D_l W_l the block is 0 if |B| <= t, else W_i = B_i / (d_i + t/s) where
s = |W_l| is the root of sum_i |B_i|^2 / (d_i s + t)^2 = 1. That sum is convex and falls in s, so
Newton's method climbs to the root from s = 0 without overshoot.
"""

import numpy as np

from pellucid.core.runtime.jit import jit


@jit
def block_size(squares, d, t):
    """s > 0 with sum squares_i / (d_i s + t)^2 = 1, given that sum squares > t^2 > 0."""
    s = 0.0
    for _ in range(100):
        value = -1.0
        slope = 0.0
        for i in range(len(d)):
            below = d[i] * s + t
            term = squares[i] / (below * below)
            value += term
            slope += 2.0 * term * d[i] / below
        if value <= 1e-15 or slope == 0.0:
            break
        step = value / slope
        s += step
        if step <= 1e-16 * s:
            break
    return s


@jit
def block_sweeps(G, W, g, start, t, tol, max_sweeps):
    """Sweep over the blocks until no move lowers the objective by more than ``tol``; in place.

    G (p, p) has diagonal blocks; block l owns rows start[l] to start[l + 1]. Returns the sweeps.
    """
    k = W.shape[1]
    p = len(W)
    largest = np.max(start[1:] - start[:-1])
    B = np.empty((largest, k))
    squares = np.empty(largest)
    for sweep in range(max_sweeps):
        best = 0.0
        for l in range(len(t)):  # noqa: E741  the letter of the formula
            lo, hi = start[l], start[l + 1]
            total = 0.0
            for i in range(lo, hi):
                squares[i - lo] = 0.0
                for c in range(k):
                    b = g[i, c] + G[i, i] * W[i, c]
                    B[i - lo, c] = b
                    squares[i - lo] += b * b
                total += squares[i - lo]
            d = np.diag(G)[lo:hi]
            s = block_size(squares[: hi - lo], d, t[l]) if total > t[l] * t[l] else 0.0
            for i in range(lo, hi):
                for c in range(k):
                    new = B[i - lo, c] * s / (G[i, i] * s + t[l]) if s > 0.0 else 0.0
                    move = new - W[i, c]
                    if move != 0.0:
                        W[i, c] = new
                        for j in range(p):
                            g[j, c] -= move * G[i, j]
                        best = max(best, move * move * G[i, i])
        if best <= tol:
            return sweep + 1
    return max_sweeps
