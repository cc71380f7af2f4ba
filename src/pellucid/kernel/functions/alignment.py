r"""How well a kernel fits a target: the cosine between two Gram matrices.

    A(K, T) = <K, T>/(|K| |T|),   <K, T> = sum_ij K_ij T_ij,   T = y y' for labels y = -1, +1

Centred: K and T are replaced by H K H with H = I - 11'/n, so that a constant in the kernel, or
classes of different size, do not count.

References: Cristianini et al. (2001); Cortes, Mohri & Rostamizadeh (2012).
"""

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike


def centre(K: Array) -> Array:
    """H K H.

    >>> centre(np.array([[1.0, 0.0], [0.0, 1.0]]))
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    return np.asarray(K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean())


def kernel_alignment(K: ArrayLike, target: ArrayLike, *, centered: bool = True) -> float:
    """The cosine between a Gram matrix and a target.

    Parameters
    ----------
    K : array (n, n)
        The Gram matrix.
    target : array (n, n), or labels -1 and +1 of shape (n,)
        What the kernel should look like; labels y stand for y y'.
    centered : bool, default=True
        Centre both matrices first.

    Examples
    --------
    >>> kernel_alignment([[1.0, -1.0], [-1.0, 1.0]], [1, -1])
    1.0
    """
    check.boolean(centered=centered)
    K, T = np.asarray(K, dtype=np.float64), np.asarray(target, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or T.shape not in ((len(K),), K.shape):
        raise ValueError(f"K must be square and target (n,) or (n, n), got {K.shape} and {T.shape}")
    if not (np.isfinite(K).all() and np.isfinite(T).all()):
        raise ValueError("kernel_alignment needs finite numbers")
    if T.ndim == 1:
        if not np.isin(T, (-1.0, 1.0)).all():
            raise ValueError("labels of a target must be -1 and +1")
        T = np.outer(T, T)
    if centered:
        K, T = centre(K), centre(T)
    size = float(np.linalg.norm(K) * np.linalg.norm(T))
    if size == 0:
        raise ValueError("the alignment of a matrix without spread is not defined")
    return float((K * T).sum()) / size
