r"""PCA: the directions along which the rows vary most.

Maximise    u'Su over unit vectors u orthogonal to those before, S = Xc'Xc / (n - 1), Xc centred;
            equally, minimise the squared distance of the rows to the plane of the first d.
Step        by Lagrange Su = l u: an eigenvector, and the variance along it is l. With Xc = U D V',
            S = V (D^2 / (n - 1)) V': the directions are the rows of V', no S is needed, and by
            Eckart and Young what d directions miss is the sum of the other D^2.
Cost        n p min(n, p).
The fast version reads the rows once, in blocks, and finds few directions of many at random.
"""

from typing import NamedTuple

import numpy as np


class Components(NamedTuple):
    mean: np.ndarray  # (p,)
    directions: np.ndarray  # (d, p) orthonormal rows
    variances: np.ndarray  # (d,) falling
    lost: float  # sum of squared distances of the rows to the plane


def pca(X: np.ndarray, d: int) -> Components:
    mean = X.mean(axis=0)
    _, D, Vt = np.linalg.svd(X - mean, full_matrices=False)
    largest = np.abs(Vt).argmax(axis=1)
    Vt = Vt * np.sign(Vt[np.arange(len(Vt)), largest])[:, None]  # a sign is free: largest entry > 0
    return Components(mean, Vt[:d], D[:d] ** 2 / (len(X) - 1), float((D[d:] ** 2).sum()))


def scores(X: np.ndarray, found: Components) -> np.ndarray:
    """Coordinates along the directions, shape (n, d)."""
    return (X - found.mean) @ found.directions.T


def rebuild(Z: np.ndarray, found: Components) -> np.ndarray:
    """The points of the plane with coordinates Z."""
    return found.mean + Z @ found.directions
