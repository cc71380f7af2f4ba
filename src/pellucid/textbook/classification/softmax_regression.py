r"""Softmax regression: logistic regression with more than two classes.

Model       P(y = k | x) = exp(d'b_k) / sum_l exp(d'b_l),  d = (1, x)
Minimise    L(B) = -sum_i log P(y_i | x_i) + (alpha / 2) |W|^2, convex; B = (b_1, ..., b_K)
Step        gradient of b_k: D'(p_k - [y = k]) + alpha w_k; second derivatives of b_k and b_l:
            D' diag(p_k ([k = l] - p_l)) D. One Newton step for all classes at once. Adding a
            constant to all intercepts changes nothing: take the solution of least norm.
Cost        n p^2 K^2 + (p K)^3 per step.
The fast version halves steps, uses L-BFGS when p K is large, and has an L1 penalty too.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    B: np.ndarray  # (p + 1, K), intercepts in the first row
    L: float


def softmax(Z: np.ndarray) -> np.ndarray:
    E = np.exp(Z - Z.max(axis=1, keepdims=True))  # the largest is 1: no overflow
    return E / E.sum(axis=1, keepdims=True)


def newton_steps(X: np.ndarray, y: np.ndarray, alpha: float) -> Iterator[State]:
    """From 0 until the gradient vanishes; y holds 0, ..., K - 1."""
    D = np.column_stack([np.ones(len(X)), X])
    q, K = D.shape[1], int(y.max()) + 1
    Y = np.eye(K)[y]  # (n, K) one-hot
    shrunk = alpha * np.diag([0.0] + [1.0] * (q - 1))
    B = np.zeros((q, K))
    while True:
        P = softmax(D @ B)
        G = D.T @ (P - Y) + shrunk @ B
        yield State(B, -np.log((P * Y).sum(axis=1)).sum() + (shrunk * (B @ B.T)).sum() / 2)
        if np.abs(G).max() < 1e-10 * len(y):
            return
        H = np.zeros((K, q, K, q))
        for k in range(K):
            for l_ in range(K):
                weight = P[:, k] * ((k == l_) - P[:, l_])
                H[k, :, l_] = D.T @ (weight[:, None] * D) + (k == l_) * shrunk
        step = np.linalg.lstsq(H.reshape(K * q, K * q), G.T.ravel(), rcond=1e-12)[0]
        B = B - step.reshape(K, q).T


def softmax_regression(X: np.ndarray, y: np.ndarray, alpha: float = 1.0) -> State:
    """The minimiser."""
    *_, last = newton_steps(X, y, alpha)
    return last
