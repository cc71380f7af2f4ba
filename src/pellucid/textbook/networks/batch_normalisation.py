r"""Batch normalisation: standardise each unit over its batch, then let it choose scale and place.

Model       m = mean_i x_i,  v = mean_i (x_i - m)^2,  h = (x - m) / sqrt(v + e),  y = c h + b
Step        back through m and v: both depend on every row, so with d = d loss/dy
            d loss/dx = c / sqrt(v + e) (d - mean d - h mean(d h)): what would only shift or stretch
            the whole batch has no effect and is taken out. d loss/dc = sum d h, d loss/db = sum d.
Cost        n per unit.
The fast version keeps running means of m and v, with which single rows are predicted.
"""

import numpy as np


def batch_normalisation(
    x: np.ndarray, c: np.ndarray, b: np.ndarray, e: float = 1e-5
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """y (n, p), and h and sqrt(v + e) for the way back."""
    m = x.mean(axis=0)
    root = np.sqrt(((x - m) ** 2).mean(axis=0) + e)
    h = (x - m) / root
    return c * h + b, h, root


def backward(
    d: np.ndarray, c: np.ndarray, h: np.ndarray, root: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """d loss/dx, d loss/dc, d loss/db from d = d loss/dy."""
    dx = c / root * (d - d.mean(axis=0) - h * (d * h).mean(axis=0))
    return dx, (d * h).sum(axis=0), d.sum(axis=0)
