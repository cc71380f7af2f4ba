r"""Positional encoding: where a token stands, as numbers that attention can use.

Model       P[t, 2k] = sin(t w_k),  P[t, 2k + 1] = cos(t w_k),  w_k = 10000^(-2k / d)
Step        attention alone does not know order: permuted tokens give permuted outputs. Add P[t]. By
            the addition theorems P[t + s] is a fixed rotation of P[t], the same for all t, so a
            linear layer can look "s steps back"; wavelengths from 2 pi to
            10000 2 pi tell near and far.
Cost        T d.
The fast version is the same table, in PyTorch.
"""

import numpy as np


def positional_encoding(T: int, d: int) -> np.ndarray:
    """(T, d)."""
    w = 10000.0 ** (-np.arange(0, d, 2) / d)
    angle = np.arange(T)[:, None] * w
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(T, -1)[:, :d]
