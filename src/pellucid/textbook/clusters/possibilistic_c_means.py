r"""Possibilistic c-means: how typical each row is of each group, whatever the other groups say.

Minimise    J(t, v) = sum_ik t_ik^m D_ik + sum_k eta_k sum_i (1 - t_ik)^m,  D_ik = |x_i - v_k|^2
Step        with v fixed, dJ/dt = 0 gives t_ik = 1 / (1 + (D_ik / eta_k)^(1/(m-1))): one half at the
            distance sqrt(eta_k), near 0 far away, so an outlier belongs nowhere and pulls nothing;
            with t fixed, v_k = sum_i t_ik^m x_i / sum_i t_ik^m. Neither half-step can raise J.
Cost        n k p per round.
The fast version takes eta from a fuzzy fit, and says when two centres have met in one place.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    typicality: np.ndarray  # (n, k), rows need not sum to 1
    centres: np.ndarray  # (k, p)
    J: float


def rounds(
    X: np.ndarray, centres: np.ndarray, eta: np.ndarray, m: float = 2.0, tol: float = 1e-10
) -> Iterator[State]:
    """Both half-steps per state, until no coordinate of a centre moves by tol."""
    while True:
        D = ((X[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)  # (n, k)
        t = 1 / (1 + (D / eta) ** (1 / (m - 1)))
        yield State(t, centres, (t**m * D + eta * (1 - t) ** m).sum())
        moved = (t**m).T @ X / (t**m).sum(axis=0)[:, None]
        if np.abs(moved - centres).max() < tol:
            return
        centres = moved


def possibilistic_c_means(
    X: np.ndarray, centres: np.ndarray, eta: np.ndarray, m: float = 2.0
) -> State:
    """The local minimum that these centres lead to; eta_k is a squared distance."""
    *_, last = rounds(X, centres, eta, m)
    return last
