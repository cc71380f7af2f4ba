"""The sweep of the graphical lasso: one lasso for every column, from its Gram matrix alone."""

import numpy as np

from pellucid.core.runtime.jit import jit


@jit
def lasso_column(W, s, j, alpha, b, g, most, tol):
    """Minimise b'Wb / 2 - s'b + alpha |b|_1 over b without entry j, by coordinates, in place.

    W (p, p), s (p,), g = W b on entry and exit (row and column j left out: b[j] = 0).
    Stops when a sweep moves no entry of b, times the deviation of its column, by more than tol.
    """
    p = len(s)
    for _ in range(most):
        largest = 0.0
        for i in range(p):
            if i == j:
                continue
            old = b[i]
            r = s[i] - g[i] + W[i, i] * old
            if r > alpha:
                new = (r - alpha) / W[i, i]
            elif r < -alpha:
                new = (r + alpha) / W[i, i]
            else:
                new = 0.0
            if new != old:
                step = new - old
                b[i] = new
                w = W[i]
                for k in range(p):
                    g[k] += step * w[k]
                largest = max(largest, abs(step) * np.sqrt(W[i, i]))
        if largest <= tol:
            break


@jit
def sweep_columns(W, S, alpha, B, most, tol):
    """Every column once: B[j] is the lasso of column j on the others; W gets W_11 b in its place.

    W, S, B (p, p); W keeps the diagonal of S; tol has no unit. Returns the largest change
    of a cell of W.
    """
    p = len(S)
    moved = 0.0
    for j in range(p):
        b = B[j]
        g = np.zeros(p)
        for i in range(p):
            if b[i] != 0.0:
                w = W[i]
                for k in range(p):
                    g[k] += b[i] * w[k]
        lasso_column(W, S[j], j, alpha, b, g, most, tol * np.sqrt(S[j, j]))
        for i in range(p):
            if i != j:
                moved = max(moved, abs(g[i] - W[j, i]))
                W[j, i] = g[i]
                W[i, j] = g[i]
    return moved
