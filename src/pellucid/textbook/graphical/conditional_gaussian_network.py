r"""Conditional Gaussian network: a category decides which normal law a number follows.

Model       k ~ p_k;  x | k ~ N(m_k, S_k): a discrete parent of a normal vector
Solve       P(k | x_e) from some of the numbers, and the law of the others
Step        given k everything is normal; so Bayes' rule over k with the densities of the numbers
            seen, P(k | x_e) ~ p_k N(x_e; m_ke, S_kee), and the others follow a mixture of the
            conditioned normals, with mean sum_k P(k | x_e) m_k' and covariance sum_k P(k | x_e)
            (S_k' + m_k' m_k'') - mean mean'. Only the mixture is exact, not one normal.
Cost        K d^3.
The fast version takes any graph in which no number has a discrete child.
"""

from typing import NamedTuple

import numpy as np


class Answer(NamedTuple):
    p: np.ndarray  # (K,) P(k | seen)
    mean: np.ndarray  # of the numbers q
    covariance: np.ndarray


def conditional_gaussian_network(
    p: np.ndarray, m: np.ndarray, S: np.ndarray, q: list[int], evidence: dict[int, float]
) -> Answer:
    """p (K,), m (K, d), S (K, d, d)."""
    e, x = list(evidence), np.array(list(evidence.values()))
    log_p, means, parts = np.log(p), [], []
    for k in range(len(p)):
        S_ee, S_eq = S[k][np.ix_(e, e)], S[k][np.ix_(e, q)]
        d = x - m[k, e]
        log_p[k] -= (np.linalg.slogdet(2 * np.pi * S_ee)[1] + d @ np.linalg.solve(S_ee, d)) / 2
        K = np.linalg.solve(S_ee, S_eq).T
        means.append(m[k, q] + K @ d)
        parts.append(S[k][np.ix_(q, q)] - K @ S_eq)
    w = np.exp(log_p - np.logaddexp.reduce(log_p))
    M = np.array(means)
    mean = w @ M
    covariance = np.einsum("k,kij->ij", w, np.array(parts)) + (w * (M - mean).T) @ (M - mean)
    return Answer(w, mean, covariance)
