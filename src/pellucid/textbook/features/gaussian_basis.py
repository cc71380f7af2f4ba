r"""Gaussian basis: bumps around centres, for a function of any shape.

Model       f(x) = sum_k w_k exp(-(x - c_k)^2 / (2 s^2))
Step        near a centre its bump speaks, far away none does: f is linear in w, so least squares
            (or ridge) fits it. s about the spacing of the centres: smaller leaves holes between the
            bumps, larger makes neighbours nearly parallel. Wide networks of radial units are this
            with centres that move.
Cost        n K.
The fast version places the centres at quantiles, column by column.
"""

import numpy as np


def gaussian_basis(x: np.ndarray, centres: np.ndarray, s: float) -> np.ndarray:
    """(n, K)."""
    return np.exp(-((x[:, None] - centres) ** 2) / (2 * s**2))
