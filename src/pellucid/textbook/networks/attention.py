r"""Attention: every position takes a weighted mean of all others, the weights by likeness.

Model       weights = softmax(QK' / sqrt(d)) row by row,  output = weights V
            query q_i asks, key k_j offers, value v_j is what is handed over
Step        softmax turns scores into a distribution, so that the output is a mean; q.k of
            independent entries of variance 1 has variance d, so divide by sqrt(d), or the softmax
            is nearly one-hot and its slope nearly 0. A mask sets scores to -infinity: position i
            must not look at what comes after it when it is to predict it.
Cost        T^2 d for T positions.
The fast version has several heads side by side, in PyTorch.
"""

import numpy as np


def softmax(z: np.ndarray) -> np.ndarray:
    p = np.exp(z - z.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


def attention(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, causal: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Output (queries, d_v) and weights (queries, keys)."""
    scores = Q @ K.T / np.sqrt(Q.shape[1])
    if causal:
        scores = np.where(np.tri(*scores.shape) > 0, scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights


def backward(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, weights: np.ndarray, d: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """d loss/dQ, dK, dV from d = d loss/d output."""
    dw = d @ V.T
    ds = weights * (dw - (weights * dw).sum(axis=1, keepdims=True)) / np.sqrt(Q.shape[1])
    return ds @ K, ds.T @ Q, weights.T @ d
