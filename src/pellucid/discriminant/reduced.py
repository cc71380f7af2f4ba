r"""Discriminant coordinates: the directions in which the class means differ most.

    max a'Ba / a'Wa,    B = sum_k n_k (m_k - m)(m_k - m)'/(K - 1),  W the covariance within classes

Sphere with T (T'WT = I); the means become points of an ordinary space, and the answers are their
principal components. With V the right singular vectors of the rows sqrt(n_k/(K - 1)) (m_k - m)'T,
the coordinates are A = T V: A'WA = I and the eigenvalues of W^-1 B are the squared singular values.
At most K - 1 of them are above zero. Nearest mean in the first L coordinates, corrected by the
priors, is LDA with means restricted to the best L-dimensional plane; L = K - 1 is LDA itself.

References: Fisher (1936); Rao (1948); Hastie, Tibshirani, Friedman, ESL, section 4.3.3.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from pellucid.core.arrays.typing import Array
from pellucid.core.readable import readable


@readable
class Scatter(NamedTuple):
    """Sums of squares and products: total = within + between.

    >>> Scatter(np.eye(1), np.zeros((1, 1)), np.eye(1)).total
    array([[1.]])
    """

    within: Array  # (p, p)  sum_i w_i (x_i - m_k)(x_i - m_k)'
    between: Array  # (p, p)  sum_k W_k (m_k - m)(m_k - m)'
    total: Array  # (p, p)


class Coordinates(NamedTuple):
    """Discriminant directions, W-orthonormal, best first."""

    scalings: Array  # (p, L)
    eigenvalues: Array  # of W^-1 B, as many as asked for
    ratio: Array  # shares of the sum of all of them


def sphered_means(T: Array, means: Array, center: Array, weight: Array, tol: float) -> Coordinates:
    """Principal components of the sphered means; ``weight`` is n_k/(K - 1)."""
    Z = np.sqrt(weight)[:, None] * ((means - center) @ T)
    _, s, Vt = np.linalg.svd(Z, full_matrices=False)
    keep = (s > tol * s[0]) & (s > 0)
    return Coordinates(positive_signs(T @ Vt[keep].T), s**2, shares(s**2))


def scatter_directions(T: Array, B: Array, scale: float) -> Coordinates:
    """All solutions of B a = l W a in the span of T; eigenvalues times ``scale``."""
    eigenvalues, V = eigh(T.T @ B @ T)
    eigenvalues = eigenvalues[::-1]
    scalings = positive_signs(T @ V[:, ::-1])
    return Coordinates(scalings, eigenvalues * scale, shares(eigenvalues))


def shares(values: Array) -> Array:
    """Values divided by their sum; 0 where all are 0.

    >>> shares(np.array([3.0, 1.0]))
    array([0.75, 0.25])
    """
    total = values.sum()
    return values / total if total != 0 else np.zeros_like(values)


def positive_signs(A: Array) -> Array:
    """The largest entry of each column made positive, so that a direction has one sign.

    >>> positive_signs(np.array([[1.0], [-2.0]])).ravel()
    array([-1.,  2.])
    """
    if A.shape[1] == 0:
        return A
    largest = np.abs(A).argmax(axis=0)
    return A * np.where(A[largest, np.arange(A.shape[1])] < 0, -1.0, 1.0)
