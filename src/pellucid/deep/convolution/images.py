r"""The two operations of a convolutional network, on one image.

Filter   (f * k)[i, j] = sum_uv f[i + u, j + v] k[u, v]      cross-correlation, valid part
Pool     the largest or the mean value of each size x size tile; rows and columns left over are cut
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike

KINDS = ("max", "mean")


def convolve(image: ArrayLike, kernel: ArrayLike) -> Array:
    """Cross-correlation of an ``image`` with a ``kernel``, where the kernel lies inside.

    Parameters
    ----------
    image : array (h, w)
    kernel : array (a, b), a <= h, b <= w

    Returns
    -------
    array (h - a + 1, w - b + 1)

    Examples
    --------
    >>> from pellucid.deep import convolve
    >>> convolve([[1, 2, 3], [4, 5, 6]], [[1, -1]])
    array([[-1., -1.],
           [-1., -1.]])
    """
    f, k = _matrix(image, "image"), _matrix(kernel, "kernel")
    if k.shape[0] > f.shape[0] or k.shape[1] > f.shape[1]:
        raise ValueError(f"the kernel {k.shape} must not be larger than the image {f.shape}")
    return np.einsum("ijuv,uv->ij", sliding_window_view(f, k.shape), k)


def pool(image: ArrayLike, size: int = 2, kind: str = "max") -> Array:
    """The largest or the mean value (``kind``) of each tile of ``image``.

    Parameters
    ----------
    image : array (h, w)
    size : int, default=2
        Side of a tile, at most h and w.
    kind : {"max", "mean"}, default="max"

    Examples
    --------
    >>> from pellucid.deep import pool
    >>> pool([[1, 2, 3, 4], [5, 6, 7, 8]], 2), pool([[1, 2, 3, 4], [5, 6, 7, 8]], 2, "mean")
    (array([[6., 8.]]), array([[3.5, 5.5]]))
    """
    f = _matrix(image, "image")
    check.whole(size=size)
    check.one_of(KINDS, kind=kind)
    h, w = f.shape[0] // size, f.shape[1] // size
    if not h or not w:
        raise ValueError(f"size={size} is larger than the image {f.shape}")
    tiles = f[: h * size, : w * size].reshape(h, size, w, size)
    return tiles.max(axis=(1, 3)) if kind == "max" else tiles.mean(axis=(1, 3))


def _matrix(values: object, name: str) -> Array:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or not array.size or not np.isfinite(array).all():
        raise ValueError(f"{name} must be a matrix of finite numbers, got shape {array.shape}")
    return array
