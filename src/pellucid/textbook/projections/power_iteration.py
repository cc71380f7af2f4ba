r"""Power iteration: the first principal direction by multiplying again and again.

Solve       Su = l u for the largest l, S symmetric with eigenvalues l_1 > l_2 >= .. >= 0
Step        u = sum_j c_j v_j in eigenvectors, so S^t u = sum_j c_j l_j^t v_j: all but the first
            part die like (l_2 / l_1)^t. Multiply by S, scale to length 1.
            For the next direction take the first out of S (deflation): S - l u u'.
Cost        p^2 per product.
The fast version finds all directions at once by an eigendecomposition, or many by random products.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    u: np.ndarray  # (p,) of length 1
    value: float  # u'Su, the variance along u


def products(S: np.ndarray, tol: float = 1e-14) -> Iterator[State]:
    """The direction after each product, until it stays."""
    u = np.ones(len(S)) / np.sqrt(len(S))
    while True:
        yield State(u, float(u @ S @ u))
        new = S @ u
        new = new / np.linalg.norm(new)
        if np.abs(new - u).max() < tol:
            return
        u = new


def power_iteration(S: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
    """The d largest eigenvalues and their eigenvectors as rows, largest entry positive."""
    values, vectors = [], []
    for _ in range(d):
        *_, (u, value) = products(S)
        values.append(value)
        vectors.append(u * np.sign(u[np.abs(u).argmax()]))
        S = S - value * np.outer(u, u)
    return np.array(values), np.array(vectors)
