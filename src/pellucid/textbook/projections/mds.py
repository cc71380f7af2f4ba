r"""MDS: points whose distances are those given, by majorisation.

Minimise    stress(Y) = sum_{i<j} (|y_i - y_j| - delta_ij)^2
Step        Cauchy and Schwarz: |y_i - y_j| >= (y_i - y_j)'(z_i - z_j)/|z_i - z_j|, with equality at
            Y = Z. Put in for the middle term of the square it leaves a quadratic above the stress
            that touches it at Z; its minimum is y_i = (1/n) sum_j delta_ij/d_ij (z_i - z_j)
Cost        n^2 k a step.
The fast version has non-metric maps, starts by eigenvectors, and passes by blocks of rows.
"""

import numpy as np


def mds(delta: np.ndarray, Y: np.ndarray, steps: int) -> np.ndarray:
    """SMACOF from the start Y (n, k)."""
    for _ in range(steps):
        gaps = Y[:, None] - Y
        d = np.linalg.norm(gaps, axis=2)
        ratio = np.where(d > 0, delta / np.where(d > 0, d, 1), 0)
        Y = (ratio[:, :, None] * gaps).sum(axis=1) / len(Y)
    return Y
