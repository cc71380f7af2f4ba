r"""Gated recurrent unit: one gate decides between keeping the state and renewing it.

Model       r, z = sigmoid of two linear functions of (x_t, h_(t-1)),
            n = tanh(x_t U_n + b_n + r (h_(t-1) W_n + c_n)),   h_t = (1 - z) n + z h_(t-1)
Step        h_t is a mean of the old state and the new one: with z near 1 it stays, and slopes pass
            back unchanged, as in the LSTM, with one state and one gate fewer.
            r lets the new state forget the old one.
Cost        T H^2, three times that of the plain network.
The fast version runs many sequences at once, in both directions, in PyTorch.
"""

import numpy as np


def gated_recurrent_unit(
    x: np.ndarray, U: np.ndarray, W: np.ndarray, b: np.ndarray, c: np.ndarray
) -> np.ndarray:
    """h (T, H) of x (T, inputs); U (inputs, 3 H), W (H, 3 H), b, c (3 H,) hold r, z, n."""
    H = len(b) // 3
    h = np.zeros((len(x) + 1, H))  # the last one is h_0
    for t in range(len(x)):
        from_x, from_h = x[t] @ U + b, h[t - 1] @ W + c
        r, z = 1 / (1 + np.exp(-(from_x + from_h)[: 2 * H].reshape(2, H)))
        n = np.tanh(from_x[2 * H :] + r * from_h[2 * H :])
        h[t] = (1 - z) * n + z * h[t - 1]
    return h[:-1]
