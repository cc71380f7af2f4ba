r"""Transformer layer: attention in several heads, then a small network at every position.

Model       n(x) = (x - mean) / sqrt(variance + e) * c + b over the numbers of one position;
            y = x + [head_1 .. head_H] W_o,  head_h = attention of n(x)W_q, n(x)W_k, n(x)W_v cut to
            d / H columns;   out = y + max(0, n(y) W_1 + b_1) W_2 + b_2
Step        heads look for different likenesses at the same cost as one wide head. x + .. passes
            slopes straight through, so many layers can be stacked; n keeps the size of the numbers
            whatever the layers before did.
Cost        T^2 d + T d^2.
The fast version trains many layers with dropout, in PyTorch.
"""

from typing import NamedTuple

import numpy as np


class Layer(NamedTuple):
    W_q: np.ndarray  # (d, d), and so on
    W_k: np.ndarray
    W_v: np.ndarray
    W_o: np.ndarray
    W_1: np.ndarray  # (d, wide)
    b_1: np.ndarray
    W_2: np.ndarray  # (wide, d)
    b_2: np.ndarray


def normalise(x: np.ndarray, e: float = 1e-5) -> np.ndarray:
    """Each position by itself, with scale 1 and shift 0."""
    m, v = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
    return (x - m) / np.sqrt(v + e)


def heads(n: np.ndarray, layer: Layer, H: int) -> np.ndarray:
    """The outputs of H heads, side by side."""
    parts = []
    for q, k, v in zip(
        *(np.split(n @ W, H, axis=1) for W in (layer.W_q, layer.W_k, layer.W_v)), strict=True
    ):
        scores = q @ k.T / np.sqrt(q.shape[1])
        w = np.exp(scores - scores.max(axis=1, keepdims=True))
        parts.append(w / w.sum(axis=1, keepdims=True) @ v)
    return np.hstack(parts)


def transformer_layer(x: np.ndarray, layer: Layer, H: int) -> np.ndarray:
    """x (T, d) to (T, d)."""
    y = x + heads(normalise(x), layer, H) @ layer.W_o
    hidden = np.maximum(0, normalise(y) @ layer.W_1 + layer.b_1)
    return y + hidden @ layer.W_2 + layer.b_2
