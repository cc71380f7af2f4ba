r"""Ordinal logistic regression: ordered classes as one score cut at thresholds.

Model       P(y <= k | x) = s(t_k - x'w),  t_1 < ... < t_{K-1}: one slope for all cuts
Maximise    l = sum_i log(s(u_i) - s(v_i)),  u = t_y - x'w and v = t_{y-1} - x'w, the cuts around y
Step        with f = s(1 - s): dl/du = f(u) / P and dl/dv = -f(v) / P, P = s(u) - s(v).
            u and v are linear in (t, w), so gradient and Hessian follow by the chain rule;
            l is concave (Pratt): Newton, with steps halved so that the thresholds stay in order.
Cost        n (p + K)^2 per step.
The fast version has two other links and sees classes that a score separates.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    t: np.ndarray  # (K - 1,)
    w: np.ndarray
    log_likelihood: float


def sigmoid(z: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-z))


def newton_steps(X: np.ndarray, y: np.ndarray) -> Iterator[State]:
    """From the shares of the classes until nothing is gained; y holds 0, ..., K - 1."""
    n, p = X.shape
    K = int(y.max()) + 1
    upper, lower = np.eye(K, K - 1)[y], np.eye(K, K - 1, k=-1)[y]  # which cut is u, which is v
    A, C = np.hstack([upper, -X]), np.hstack([lower, -X])  # u = A b, v = C b
    first, last = (y == 0)[:, None], (y == K - 1)[:, None]

    def parts(b: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        su = np.where(last[:, 0], 1, sigmoid(A @ b))
        sv = np.where(first[:, 0], 0, sigmoid(C @ b))
        P, fu, fv = su - sv, su * (1 - su), sv * (1 - sv)
        G = (fu / P)[:, None] * A - (fv / P)[:, None] * C  # (n, q): gradient by row
        curved_u, curved_v = fu * (1 - 2 * su) / P, fv * (1 - 2 * sv) / P
        H = A.T @ (curved_u[:, None] * A) - C.T @ (curved_v[:, None] * C) - G.T @ G
        value = np.log(P).sum() if P.min() > 0 else -np.inf
        return value, G.sum(axis=0), H

    shares = np.cumsum(np.bincount(y))[:-1] / n
    b = np.concatenate([np.log(shares / (1 - shares)), np.zeros(p)])
    value, g, H = parts(b)
    while True:
        yield State(b[: K - 1], b[K - 1 :], value)
        step = -np.linalg.solve(H, g)
        if np.abs(g).max() < 1e-9 * n:
            return
        with np.errstate(all="ignore"):
            while not parts(b + step)[0] > value - 1e-12 * abs(value):
                step = step / 2
        b = b + step
        value, g, H = parts(b)


def ordinal_logistic_regression(X: np.ndarray, y: np.ndarray) -> State:
    """Maximum likelihood."""
    *_, last = newton_steps(X, y)
    return last
