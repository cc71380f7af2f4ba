"""How far two covariance matrices are apart."""

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike


def covariance_error(
    given: ArrayLike, found: Array, norm: str, scaling: bool, squared: bool
) -> float:
    """The Frobenius or spectral size of the difference, squared and per column where asked.

    >>> round(covariance_error(np.eye(2), 3 * np.eye(2), "frobenius", True, True), 12)
    4.0
    """
    error = np.asarray(given, dtype=np.float64) - found
    size = float(np.linalg.norm(error, "fro" if norm == "frobenius" else 2)) ** 2
    size = size / len(error) if scaling else size
    return size if squared else float(np.sqrt(size))
