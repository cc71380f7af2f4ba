r"""Average marginal effects: how the probabilities move per unit of a column.

    effect_kj = mean_i P_ik (w_kj - sum_l P_il w_lj),       two classes: mean_i P_i (1 - P_i) w_j

Standard errors are by the delta method: with J the derivative of the effects in the parameters,
Cov(effects) = J Cov(t) J'.

    d effect_kj / d t_mr = mean_i [ P_k ([k = m] - P_m) (w_kj - w-_j) - P_k P_m (w_mj - w-_j) ] d_r
                           + [r is column j] mean_i P_k ([k = m] - P_m),      w-_j = sum_l P_l w_lj
"""

from typing import NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.linear.least_squares.inference import tail


class MarginalEffects(NamedTuple):
    """Effects on P(classes_[1]), arrays (p,); for K > 2 classes (K, p)."""

    names: tuple[str, ...]
    effect: Array
    standard_error: Array
    statistic: Array
    p_value: Array
    low: Array
    high: Array


def effect_jacobian(D: Array, P: Array, T: Array, k: int, m: int, *, intercept: bool) -> Array:
    """d effect_k / d t_m, shape (p, q)."""
    W = T[:, 1:] if intercept else T  # (K, p)
    mean = P @ W  # (n, p)
    same = float(k == m)
    slope = P[:, k] * (same - P[:, m])  # (n,)
    M = slope[:, None] * (W[k] - mean) - (P[:, k] * P[:, m])[:, None] * (W[m] - mean)
    J = M.T @ D / len(D)
    j = np.arange(W.shape[1])
    J[j, j + intercept] += slope.mean()
    return J


def average_effects(
    D: Array,
    P: Array,
    T: Array,
    covariance: Array,
    width: float,
    names: tuple[str, ...],
    *,
    intercept: bool,
) -> MarginalEffects:
    """Effects over the rows of the design D (n, q); T (K, q), covariance of classes 1..K-1."""
    K, W = len(T), T[:, 1:] if intercept else T
    mean = P @ W
    shown = [1] if K == 2 else list(range(K))
    effect = np.array([(P[:, k][:, None] * (W[k] - mean)).mean(axis=0) for k in shown])
    errors = []
    for k in shown:
        J = np.hstack([effect_jacobian(D, P, T, k, m, intercept=intercept) for m in range(1, K)])
        errors.append(np.sqrt(np.maximum(np.einsum("ja,ab,jb->j", J, covariance, J), 0.0)))
    se = np.array(errors)
    if K == 2:
        effect, se = effect[0], se[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        z = effect / se
    return MarginalEffects(
        names, effect, se, z, tail(z, np.inf, "normal"), effect - width * se, effect + width * se
    )
