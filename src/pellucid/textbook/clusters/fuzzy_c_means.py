r"""Fuzzy c-means: every row belongs to every group, a little.

Minimise    J(u, v) = sum_ik u_ik^m D_ik,  D_ik = |x_i - v_k|^2,  sum_k u_ik = 1,  m > 1
Step        with v fixed, Lagrange's m u_ik^(m-1) D_ik = l_i gives u_ik ~ D_ik^(-1/(m-1));
            with u fixed, v_k = sum_i u_ik^m x_i / sum_i u_ik^m. Neither half-step can raise J.
            m -> 1 is k-means, m -> infinity makes all memberships equal.
Cost        n k p per round.
The fast version works with logarithms, so that m = 1.05 does not overflow, and takes any start.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    membership: np.ndarray  # (n, k), rows sum to 1
    centres: np.ndarray  # (k, p)
    J: float


def memberships(X: np.ndarray, centres: np.ndarray, m: float) -> tuple[np.ndarray, np.ndarray]:
    D = ((X[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)  # (n, k)
    D = np.maximum(D, 1e-300)  # a row on a centre belongs to it alone
    share = (D.min(axis=1, keepdims=True) / D) ** (1 / (m - 1))
    return share / share.sum(axis=1, keepdims=True), D


def rounds(
    X: np.ndarray, centres: np.ndarray, m: float = 2.0, tol: float = 1e-10
) -> Iterator[State]:
    """Both half-steps per state, until no coordinate of a centre moves by tol."""
    while True:
        u, D = memberships(X, centres, m)
        yield State(u, centres, (u**m * D).sum())
        moved = (u**m).T @ X / (u**m).sum(axis=0)[:, None]
        if np.abs(moved - centres).max() < tol:
            return
        centres = moved


def fuzzy_c_means(X: np.ndarray, centres: np.ndarray, m: float = 2.0) -> State:
    """The local minimum that these centres lead to."""
    *_, last = rounds(X, centres, m)
    return last
