r"""Convolution: the same small set of weights looks at every place of an image.

Model       z[i, j] = sum_uv f[i + u, j + v] k[u, v], then the largest value of each tile (pooling)
Step        a pattern is the same pattern everywhere, so share its weights: few parameters, and a
            shifted image gives shifted values. Back, with d = d loss/dz: each d[i, j] reaches what
            it was made from, so d loss/dk[u, v] = sum_ij d[i, j] f[i + u, j + v] (again a
            convolution) and d loss/df is d spread out by k. The largest of a tile hands its
            derivative to the place it came from.
Cost        pixels times weights.
The fast version runs many channels and images at once, in PyTorch.
"""

import numpy as np


def convolution(f: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Where the kernel lies inside the image."""
    a, b = f.shape[0] - k.shape[0] + 1, f.shape[1] - k.shape[1] + 1
    z = np.zeros((a, b))
    for u in range(k.shape[0]):
        for v in range(k.shape[1]):
            z += k[u, v] * f[u : u + a, v : v + b]
    return z


def backward(f: np.ndarray, k: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """d loss/df and d loss/dk from d = d loss/dz."""
    df = np.zeros_like(f)
    for u in range(k.shape[0]):
        for v in range(k.shape[1]):
            df[u : u + d.shape[0], v : v + d.shape[1]] += k[u, v] * d
    return df, convolution(f, d)


def pooling(f: np.ndarray, size: int) -> np.ndarray:
    """The largest value of each tile; what is left over at the edges is cut off."""
    h, w = f.shape[0] // size, f.shape[1] // size
    return f[: h * size, : w * size].reshape(h, size, w, size).max(axis=(1, 3))
