r"""Principal angles: how far two subspaces lie apart.

Minimise    the angle of x in the first and y in the second subspace; then
            again, orthogonal to the pairs before
Step        with orthonormal columns Q and R, x = Qa and y = Rb: cos = a'Q'Rb with |a| = |b| = 1,
            whose maxima one after the other are the singular values of Q'R. The largest angle is 0
            only if one contains the other; resample the rows and see how far PCA's plane turns.
Cost        p d^2.
The fast version gives the largest angle over many resamples, with the eigenvalues.
"""

import numpy as np


def principal_angles(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The angles between the spans of the columns, in degrees, rising."""
    Q, _ = np.linalg.qr(A)
    R, _ = np.linalg.qr(B)
    cosines = np.linalg.svd(Q.T @ R, compute_uv=False)
    return np.degrees(np.arccos(np.clip(cosines, 0, 1)))
