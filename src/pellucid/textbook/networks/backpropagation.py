r"""Back-propagation: the gradient of a network, layer by layer from the output back.

Model       a_0 = x,  z_l = a_(l-1) W_l + b_l,  a_l = tanh z_l (the last layer: a = z)
Minimise    mean over rows of |a_L - t|^2
Step        chain rule with d_l = d loss/dz_l: d_L = 2 (a_L - t) / n; one layer back,
            d_(l-1) = (d_l W_l') * (1 - a_(l-1)^2). Then d loss/dW_l = a_(l-1)'d_l and
            d loss/db_l = sum over rows of d_l. Descend.
Cost        twice the forward pass.
The fast version has other units, losses and layers, trains by Adam or L-BFGS, and stops early.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    W: list[np.ndarray]
    b: list[np.ndarray]
    loss: float


def forward(X: np.ndarray, W: list[np.ndarray], b: list[np.ndarray]) -> list[np.ndarray]:
    """a_0, .., a_L."""
    a = [X]
    for k in range(len(W)):
        z = a[-1] @ W[k] + b[k]
        a.append(z if k == len(W) - 1 else np.tanh(z))
    return a


def backpropagation(
    X: np.ndarray, T: np.ndarray, W: list[np.ndarray], b: list[np.ndarray]
) -> tuple[float, list[np.ndarray], list[np.ndarray]]:
    """The loss, and its gradient by every W and b."""
    a = forward(X, W, b)
    d = 2 * (a[-1] - T) / len(X)
    dW, db = list[np.ndarray](), list[np.ndarray]()
    for k in range(len(W) - 1, -1, -1):
        dW.insert(0, a[k].T @ d)
        db.insert(0, d.sum(axis=0))
        d = (d @ W[k].T) * (1 - a[k] ** 2)  # of no use below the first layer
    return float(((a[-1] - T) ** 2).sum() / len(X)), dW, db


def training(
    X: np.ndarray, T: np.ndarray, W: list[np.ndarray], b: list[np.ndarray], rate: float
) -> Iterator[State]:
    """Gradient descent without end."""
    while True:
        loss, dW, db = backpropagation(X, T, W, b)
        yield State(W, b, loss)
        W = [w - rate * dw for w, dw in zip(W, dW, strict=True)]
        b = [c - rate * dc for c, dc in zip(b, db, strict=True)]
