r"""Forward-backward: what the hidden states were, given everything seen.

Model       P(z_1 = k) = pi_k,  P(z_t = k | z_{t-1} = j) = A_jk,  p(x_t | z_t = k) = B_tk
Solve       filter p(z_t | x_1..t), smooth p(z_t | x_1..T), likelihood p(x_1..T)
Step        forwards  a_t = (a_{t-1} A) * B_t, divided by its sum c_t = p(x_t | x_1..t-1);
            backwards b_t = A (B_{t+1} * b_{t+1}) / c_{t+1}, from ones.
            Past and future are independent given z_t, so p(z_t | all) = a_t * b_t.
Cost        T K^2, where the sum over all paths has K^T terms.
The fast version runs many sequences at once, and sums out missing observations.
"""

from typing import NamedTuple

import numpy as np


class Beliefs(NamedTuple):
    filtered: np.ndarray  # (T, K)
    smoothed: np.ndarray  # (T, K)
    moves: np.ndarray  # (K, K) expected number of moves j -> k
    log_likelihood: float


def forward_backward(pi: np.ndarray, A: np.ndarray, B: np.ndarray) -> Beliefs:
    """pi (K,), A (K, K), B (T, K) = p(x_t | z_t = k)."""
    T, K = B.shape
    a, b, c = np.empty((T, K)), np.ones((T, K)), np.empty(T)
    for t in range(T):
        a[t] = (pi if t == 0 else a[t - 1] @ A) * B[t]
        c[t] = a[t].sum()  # dividing by it keeps a from vanishing
        a[t] /= c[t]
    for t in range(T - 2, -1, -1):
        b[t] = A @ (B[t + 1] * b[t + 1]) / c[t + 1]
    ahead = B[1:] * b[1:] / c[1:, None]
    return Beliefs(a, a * b, A * (a[:-1].T @ ahead), float(np.log(c).sum()))
