r"""Graphical lasso: which columns depend on each other, given all the rest?

Minimise    tr(S T) - log det T + alpha sum over i != j of |T_ij|
            over inverse covariances T; in normal rows T_ij = 0 says that i and j are independent
            given the others, so that the cells that are not 0 are the edges of a graph
Step        with the other columns of W = T^-1 held, column j of W is W_11 b, where b is a lasso
            of column j on the others (Gram matrix W_11, products s_12): b_i is the soft threshold
            of what is left for it. Go round the columns; T_jj = 1/(s_jj - w_12'b), T_12 = -b T_jj.
Cost        p^3 for each round.
The fast version is compiled and stops by the gap between this minimum and its dual.
"""

import numpy as np


def lasso_from_products(
    G: np.ndarray, c: np.ndarray, alpha: float, rounds: int = 200
) -> np.ndarray:
    """argmin b'Gb/2 - c'b + alpha |b|_1, one entry at a time."""
    b = np.zeros(len(c))
    for _ in range(rounds):
        for i in range(len(c)):
            r = c[i] - G[i] @ b + G[i, i] * b[i]
            b[i] = np.sign(r) * max(abs(r) - alpha, 0) / G[i, i]
    return b


def graphical_lasso(S: np.ndarray, alpha: float, rounds: int = 50) -> np.ndarray:
    """T (p, p)."""
    p = len(S)
    W = 0.95 * S + 0.05 * np.diag(np.diag(S))
    T = np.zeros((p, p))
    for _ in range(rounds):
        for j in range(p):
            rest = np.delete(np.arange(p), j)
            b = lasso_from_products(W[np.ix_(rest, rest)], S[rest, j], alpha)
            W[rest, j] = W[j, rest] = W[np.ix_(rest, rest)] @ b
            T[j, j] = 1 / (S[j, j] - W[rest, j] @ b)
            T[rest, j] = -b * T[j, j]
    return (T + T.T) / 2
