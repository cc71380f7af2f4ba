r"""Collinearity: how far each column follows from the others.

Given       columns centred and scaled to length 1, so that X'X is their correlation matrix
Solve       Var(b_j) = s^2 / |z_j|^2, z_j what is left of x_j after regression on the others
Step        1 / |z_j|^2 = 1 / (1 - R_j^2) is the variance inflation of column j (VIF);
            the ratio of the largest to the smallest singular value is the condition number.
            Above 10 and 30 the single coefficients say little; predictions may still be good.
Cost        n p^2 and a singular value decomposition.
The fast version names exact relations ("x2 = 4 + x0 - 2 x1") and proposes remedies.
"""

from typing import NamedTuple

import numpy as np


class Collinearity(NamedTuple):
    vif: np.ndarray  # (p,)
    condition_number: float


def collinearity(X: np.ndarray) -> Collinearity:
    """Variance inflation of every column, and the condition of all."""
    Z = X - X.mean(axis=0)
    Z = Z / np.sqrt((Z**2).sum(axis=0))
    d = np.linalg.svd(Z, compute_uv=False)
    vif = np.diag(np.linalg.inv(Z.T @ Z))  # = 1 / |z_j|^2, by the block inverse
    return Collinearity(vif, d[0] / d[-1])
