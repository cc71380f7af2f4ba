r"""Recurrent network: a state that is carried along a sequence.

Model       h_t = tanh(x_t U + h_(t-1) W + b),  h_0 = 0
Minimise    any loss of the states, given d_t = d loss/dh_t from outside
Step        back through time: h_t acts through h_(t+1) too, so e_t = d_t + s_(t+1) W' with
            s_t = e_t * (1 - h_t^2), from the last step back; then dU = sum x_t's_t, dW = sum
            h_(t-1)'s_t, db = sum s_t. Through many steps s is multiplied by W' again and again: it
            dies or explodes, which gates (``long_short_term_memory``) are made against.
Cost        T H^2.
The fast version runs many sequences at once, in both directions, in PyTorch.
"""

from typing import NamedTuple

import numpy as np


class Gradient(NamedTuple):
    U: np.ndarray
    W: np.ndarray
    b: np.ndarray


def recurrent_network(x: np.ndarray, U: np.ndarray, W: np.ndarray, b: np.ndarray) -> np.ndarray:
    """States (T, H) of one sequence x (T, inputs)."""
    h = np.zeros((len(x) + 1, len(b)))  # the last one is h_0
    for t in range(len(x)):
        h[t] = np.tanh(x[t] @ U + h[t - 1] @ W + b)
    return h[:-1]


def backward(x: np.ndarray, h: np.ndarray, W: np.ndarray, d: np.ndarray) -> Gradient:
    """The gradient from d (T, H), d loss/dh_t as seen from outside."""
    s = np.zeros_like(h)
    for t in range(len(x) - 1, -1, -1):
        ahead = s[t + 1] @ W.T if t + 1 < len(x) else 0.0
        s[t] = (d[t] + ahead) * (1 - h[t] ** 2)
    before = np.vstack([np.zeros(h.shape[1]), h[:-1]])
    return Gradient(x.T @ s, before.T @ s, s.sum(axis=0))
