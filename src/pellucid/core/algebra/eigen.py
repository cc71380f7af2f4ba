"""The largest eigenpairs of a symmetric matrix, also where very many of them are equal."""

import numpy as np
from scipy.linalg import eigh

from pellucid.core.arrays.typing import Array


def largest_pairs(A: Array, k: int) -> tuple[Array, Array]:
    """The k largest eigenvalues in rising order, and their vectors as columns.

    LAPACK's method for a part of them gives up where nearly all are equal, as for rows that are all
    the same; divide and conquer, which finds them all, does not.

    >>> largest_pairs(np.diag([3.0, 1.0, 2.0]), 2)[0]
    array([2., 3.])
    """
    n = len(A)
    try:
        values, V = eigh(A, subset_by_index=[n - k, n - 1])
    except np.linalg.LinAlgError:
        values, V = eigh(A, driver="evd")
        values, V = values[n - k :], V[:, n - k :]
    return values, V
