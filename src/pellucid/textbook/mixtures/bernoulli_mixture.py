r"""Bernoulli mixture by EM: groups of yes-no rows. Any other component differs in two lines.

Model       p(x) = sum_k w_k prod_j t_kj^x_j (1 - t_kj)^(1 - x_j),  x_j in {0, 1}
Step        E: q_ik = p(k | x_i) by Bayes' rule, whatever the component;
            M: w_k = mean_i q_ik, and t_k = argmax sum_i q_ik log f(x_i; t): weighted maximum
            likelihood, here the weighted mean. As in every EM the log-likelihood never falls.
Cost        n k p per round.
The fast version mixes any components: Bernoulli, categories, counts, waiting times, yours.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import xlogy


class State(NamedTuple):
    w: np.ndarray  # (k,)
    t: np.ndarray  # (k, p) chance of a 1
    q: np.ndarray  # (n, k)
    log_likelihood: float


def rounds(X: np.ndarray, w: np.ndarray, t: np.ndarray, tol: float = 1e-10) -> Iterator[State]:
    """The start, then the parameters after each round."""
    before = -np.inf
    while True:
        cells = xlogy(X[:, None], t) + xlogy(1 - X[:, None], 1 - t)  # (n, k, p), 0 log 0 is 0
        joint = np.log(w) + cells.sum(axis=2)
        log_p = np.logaddexp.reduce(joint, axis=1)
        q = np.exp(joint - log_p[:, None])
        total = log_p.sum()
        yield State(w, t, q, total)
        if total - before < tol * len(X):
            return
        w, t, before = q.mean(axis=0), q.T @ X / q.sum(axis=0)[:, None], total


def bernoulli_mixture(X: np.ndarray, w: np.ndarray, t: np.ndarray) -> State:
    """The local maximum that the start leads to."""
    *_, last = rounds(X, w, t)
    return last
