r"""Mixture discriminant analysis: Bayes' rule with a mixture of normal densities in each class.

Model       p(x | c) = sum_k w_ck N(x; m_ck, S_ck),  P(c | x) ~ P(c) p(x | c)
Step        EM on the rows of each class alone raises the likelihood of that class; the posterior
            of the class follows by Bayes' rule. One component per class gives quadratic
            discriminant analysis; several make a class of any shape.
Cost        that of EM for every class.
The fast version starts EM with k-means, restarts, and adds a little to the variances.
"""

from typing import NamedTuple

import numpy as np


class ClassMixture(NamedTuple):
    w: np.ndarray  # (k,)
    m: np.ndarray  # (k, p)
    S: np.ndarray  # (k, p, p)


def log_joint(X: np.ndarray, mixture: ClassMixture) -> np.ndarray:
    d = X[:, None, :] - mixture.m
    squares = np.einsum("nki,kij,nkj->nk", d, np.linalg.inv(mixture.S), d)
    return np.log(mixture.w) - (squares + np.linalg.slogdet(2 * np.pi * mixture.S)[1]) / 2


def em(X: np.ndarray, centres: np.ndarray, n_rounds: int) -> ClassMixture:
    """EM that starts with each row in the group of its nearest centre."""
    q = np.eye(len(centres))[((X[:, None, :] - centres) ** 2).sum(axis=2).argmin(axis=1)]
    for _ in range(n_rounds):
        N = q.sum(axis=0)
        m = q.T @ X / N[:, None]
        d = X[:, None, :] - m
        S = np.einsum("nk,nki,nkj->kij", q, d, d) / N[:, None, None]
        mixture = ClassMixture(N / len(X), m, S)
        joint = log_joint(X, mixture)
        q = np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])
    return mixture


def mixture_discriminant(
    X: np.ndarray, y: np.ndarray, centres: list[np.ndarray], X_new: np.ndarray, n_rounds: int = 100
) -> np.ndarray:
    """P(c | x) of new rows, shape (rows, classes); ``centres[c]`` (k, p) starts class c."""
    columns = []
    for c, start in enumerate(centres):
        mixture = em(X[y == c], start, n_rounds)
        log_density = np.logaddexp.reduce(log_joint(X_new, mixture), axis=1)
        columns.append(np.log(np.mean(y == c)) + log_density)
    joint = np.column_stack(columns)
    return np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])
