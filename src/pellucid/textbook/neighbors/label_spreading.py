r"""Label spreading: like propagation, but a known label may give way to its neighbours.

Minimise    tr F'(I - S) F + (1 / a - 1) |F - Y|^2,  S = D^-1/2 W D^-1/2 without its diagonal,
            Y one-hot where the label is known and 0 elsewhere
Step        the gradient vanishes where F = a S F + (1 - a) Y: a share a from the neighbours, the
            rest from its own label. Repeating it converges, since S has no eigenvalue above 1;
            the limit is F = (1 - a) (I - a S)^-1 Y.
Cost        n^3 for the limit.
The fast version repeats the step on sparse graphs of neighbours.
"""

import numpy as np


def label_spreading(
    X: np.ndarray, y: np.ndarray, a: float = 0.2, gamma: float = 20.0
) -> np.ndarray:
    """Shares of the classes for every row, (n, K); -1 in y is an unknown label."""
    n = len(y)
    W = np.exp(-gamma * ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))
    np.fill_diagonal(W, 0.0)
    root = np.sqrt(W.sum(axis=1))
    S = W / np.outer(root, root)
    Y = np.zeros((n, y.max() + 1))
    Y[y >= 0, y[y >= 0]] = 1
    F = np.linalg.solve(np.eye(n) - a * S, (1 - a) * Y)
    return F / F.sum(axis=1, keepdims=True)
