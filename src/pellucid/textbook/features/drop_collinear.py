r"""Drop collinear columns: leave out what the columns before already say.

Given       columns x_1 .. x_p, centred
Step        Gram and Schmidt: take off x_j its projections on the columns kept so far; if nothing is
            left, x_j is a linear function of them: drop it. Least squares has then one answer, with
            the same fitted values. Do the projection twice: rounding leaves a
            little of what was taken off.
Cost        n p^2.
The fast version also says which function a dropped column is of the kept ones.
"""

import numpy as np


def drop_collinear(X: np.ndarray, tol: float = 1e-7) -> list[int]:
    """The columns that are kept."""
    Q = np.zeros((len(X), 0))
    kept = []
    for j in range(X.shape[1]):
        x = X[:, j] - X[:, j].mean()
        z = x - Q @ (Q.T @ x)
        z = z - Q @ (Q.T @ z)
        if np.linalg.norm(z) > tol * np.linalg.norm(x):
            Q = np.column_stack([Q, z / np.linalg.norm(z)])
            kept.append(j)
    return kept
