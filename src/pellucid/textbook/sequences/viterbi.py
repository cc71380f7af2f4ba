r"""Viterbi: the most probable path of hidden states.

Maximise    log P(z_1..T, x_1..T) over paths z
Step        let v_t(k) be the best value of a path that ends in state k at time t. Its last move
            comes from the best place to have been: v_t(k) = max_j [v_{t-1}(j) + log A_jk] + log
            B_tk. Remember each argmax, and walk back from the best end (dynamic programming).
Cost        T K^2, for K^T paths.
The fast version runs many sequences at once. It is the best path, not the best state at each time.
"""

import numpy as np


def viterbi(pi: np.ndarray, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """States (T,) from pi (K,), A (K, K) and B (T, K) = p(x_t | z_t = k)."""
    T, K = B.shape
    with np.errstate(divide="ignore"):  # log 0 = -inf: such a path never wins
        log_pi, log_A, log_B = np.log(pi), np.log(A), np.log(B)
    v, come_from = log_pi + log_B[0], np.zeros((T, K), dtype=int)
    for t in range(1, T):
        via = v[:, None] + log_A  # (from, to)
        come_from[t] = via.argmax(axis=0)
        v = via.max(axis=0) + log_B[t]
    path = np.empty(T, dtype=int)
    path[-1] = v.argmax()
    for t in range(T - 1, 0, -1):
        path[t - 1] = come_from[t, path[t]]
    return path
