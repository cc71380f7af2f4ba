r"""Normal-inverse-Wishart: mean vector and covariance of normal rows, both unknown.

Model       S ~ InverseWishart(v, B), density ~ |S|^(-(v+p+1)/2) exp(-tr(B S^-1) / 2),
            t | S ~ N(m, S / k),  rows x_i ~ N(t, S)
Step        as in one dimension, with outer products in the place of squares:
            k' = k + n, v' = v + n, m' = (k m + n mean) / k',
            B' = B + sum (x_i - mean)(x_i - mean)' + (k n / k') (mean - m)(mean - m)'
Cost        n p^2.
The fast version gives the evidence, the law of the next row and draws of the pair.
"""

from typing import NamedTuple

import numpy as np


class Belief(NamedTuple):
    m: np.ndarray  # (p,)
    k: float
    v: float
    B: np.ndarray  # (p, p); S has mean B / (v - p - 1)


def normal_inverse_wishart(
    X: np.ndarray, m: np.ndarray, k: float, v: float, B: np.ndarray
) -> Belief:
    n, mean = len(X), X.mean(axis=0)
    scatter = (X - mean).T @ (X - mean)
    pull = k * n / (k + n) * np.outer(mean - m, mean - m)
    return Belief((k * m + n * mean) / (k + n), k + n, v + n, B + scatter + pull)
