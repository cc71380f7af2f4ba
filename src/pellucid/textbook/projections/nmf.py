r"""NMF: a non-negative table as a sum of non-negative parts.

Minimise    |X - W H|^2 over W, H >= 0
Step        the gradient in W is W HH' - XH', a difference of two non-negative tables. Dividing one
            by the other, W <- W * XH' / (W HH'), is a step down the gradient of a length that never
            crosses zero, and the objective never rises (Lee & Seung); H likewise
Cost        4 n p k a round.
The fast version descends by coordinates, has other divergences, penalties and sparse tables.
"""

from typing import NamedTuple

import numpy as np


class Parts(NamedTuple):
    W: np.ndarray  # (n, k)
    H: np.ndarray  # (k, p)


def nmf(X: np.ndarray, W: np.ndarray, H: np.ndarray, rounds: int) -> Parts:
    """Multiplicative updates from a start without zeros."""
    for _ in range(rounds):
        W = W * (X @ H.T) / (W @ (H @ H.T))
        H = H * (W.T @ X) / (W.T @ W @ H)
    return Parts(W, H)
