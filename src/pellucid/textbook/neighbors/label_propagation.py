r"""Label propagation: labels spread along a graph of similar rows.

Minimise    sum_ij W_ij |f_i - f_j|^2 / 2 over F (n, K), with f_i fixed where the label is known
Step        setting the derivative of a free f_i to 0 gives f_i = sum_j W_ij f_j / sum_j W_ij: the
            mean of its neighbours. With P = D^-1 W split into known (l) and unknown (u) rows:
            (I - P_uu) F_u = P_ul F_l, one linear system. f_i is also the chance that a random
            walk from i meets a label of each class first.
Cost        u^3 for u unknown rows.
The fast version repeats F <- P F on sparse graphs, and says which rows no label reaches.
"""

import numpy as np


def label_propagation(X: np.ndarray, y: np.ndarray, gamma: float = 20.0) -> np.ndarray:
    """Shares of the classes for every row, (n, K); -1 in y is an unknown label."""
    W = np.exp(-gamma * ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))
    P = W / W.sum(axis=1, keepdims=True)
    known, unknown = np.flatnonzero(y >= 0), np.flatnonzero(y < 0)
    F = np.zeros((len(y), y.max() + 1))
    F[known, y[known]] = 1
    A = np.eye(len(unknown)) - P[np.ix_(unknown, unknown)]
    F[unknown] = np.linalg.solve(A, P[np.ix_(unknown, known)] @ F[known])
    return F / F.sum(axis=1, keepdims=True)
