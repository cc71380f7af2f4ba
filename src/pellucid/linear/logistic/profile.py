r"""Profile-likelihood intervals of a logistic fit: what the data do not reject.

    2 (l(t^) - max over t_j = z of l(t)) <= cut^2,      l(t) = sum_i w_i log P(y_i | x_i, t)

for the K - 1 log-odds against the first class. The steps are those of ``glm/profile.py``; columns
are centred and scaled here, so that the curvature is well conditioned.

References: Venzon & Moolgavkar (1988); R's ``confint.glm``.
"""

from functools import partial

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.linear.glm.profile import Hill, profile_ends
from pellucid.linear.logistic.outcome import inverse_of, log_softmax


def log_odds_hill(D: Array, codes: IntArray, w: Array, theta: Array) -> Hill:
    """l, its slope and inverse curvature at theta ((K - 1) q,)."""
    q = D.shape[1]
    T = theta.reshape(-1, q)
    with np.errstate(over="ignore", invalid="ignore"):
        eta = np.column_stack([np.zeros(len(D)), D @ T.T])
        log_p = log_softmax(eta)
    value = float(w @ log_p[np.arange(len(D)), codes])
    if not np.isfinite(value):
        return Hill(theta, -np.inf, 0 * theta, np.eye(len(theta)))
    P = np.exp(log_p[:, 1:])
    Y = codes[:, None] == np.arange(1, len(T) + 1)
    score = ((Y - P) * w[:, None]).T @ D  # (K - 1, q)
    K = len(T)
    H = np.empty((K, q, K, q))
    for k in range(K):
        for m in range(K):
            h = w * P[:, k] * ((k == m) - P[:, m])
            H[k, :, m, :] = (D * h[:, None]).T @ D
    return Hill(theta, value, score.ravel(), inverse_of(H.reshape(K * q, K * q)))


def logistic_profile(
    X: Array, codes: IntArray, w: Array, T: Array, cut: float, *, intercept: bool
) -> Array:
    """Ends (K - 1, q, 2) about the parameters T (K - 1, q), the intercept first if there is one."""
    shift = X.mean(axis=0) if intercept else np.zeros(X.shape[1])
    scale = np.std(X, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    D = (X - shift) / scale
    A = np.diag(1 / scale)  # parameters = A @ those of D
    start = T * scale if not intercept else np.empty_like(T)
    if intercept:
        D = np.column_stack([np.ones(len(D)), D])
        A = np.block([[np.ones((1, 1)), -(shift / scale)[None]], [np.zeros((len(scale), 1)), A]])
        start[:, 0], start[:, 1:] = T[:, 0] + T[:, 1:] @ shift, T[:, 1:] * scale
    C = np.kron(np.eye(len(T)), A).astype(np.float64)
    ends = profile_ends(partial(log_odds_hill, D, codes, w), start.ravel(), C, 0.5 * cut**2)
    return ends.reshape(*T.shape, 2)
