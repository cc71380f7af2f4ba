r"""Ledoit-Wolf shrinkage: a covariance matrix for few rows.

Minimise    the expected squared error of C = (1 - d) S + d mu I over d, mu = tr S / p
Step        S is right on average but varies; mu I does not vary but is wrong. With a = |S - mu I|^2
            and b the variance of S, the best mix is d = b / a. Both are read off the rows: S is a
            mean of the matrices x x', so its variance is that of these matrices by n.
Cost        n p^2.
The fast version needs one pass, and can be continued with more rows.
"""

import numpy as np


def ledoit_wolf(X: np.ndarray) -> tuple[np.ndarray, float]:
    """C (p, p) and d."""
    n, p = X.shape
    Z = X - X.mean(axis=0)
    S = Z.T @ Z / n
    target = np.trace(S) / p * np.eye(p)
    a = ((S - target) ** 2).sum()
    b = sum(((np.outer(z, z) - S) ** 2).sum() for z in Z) / n**2
    d = min(b, a) / a
    return (1 - d) * S + d * target, float(d)
