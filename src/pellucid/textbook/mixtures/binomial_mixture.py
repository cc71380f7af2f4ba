r"""Binomial mixture by EM: which coin was tossed? Counts of successes in N tries, several kinds.

Model       p(x) = sum_k w_k C(N, x) t_k^x (1 - t_k)^(N - x),  x in 0..N
Step        E: q_ik = p(k | x_i); C(N, x) is the same for every k and cancels;
            M: w_k = mean_i q_ik, t_k = sum_i q_ik x_i / (N sum_i q_ik): the expected share of
            successes. N = 1 cannot be told apart into coins; K coins need N >= 2 K - 1.
Cost        n k per round.
The fast version takes several columns, each with its own N, and prior counts on both outcomes.

Reference: Do & Batzoglou, What is the expectation maximization algorithm? (2008).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln


class State(NamedTuple):
    w: np.ndarray  # (k,)
    t: np.ndarray  # (k,) chance of a success
    q: np.ndarray  # (n, k)
    log_likelihood: float


def rounds(
    x: np.ndarray, N: int, w: np.ndarray, t: np.ndarray, tol: float = 1e-12
) -> Iterator[State]:
    """The start, then the parameters after each round."""
    ways = gammaln(N + 1) - gammaln(x + 1) - gammaln(N - x + 1)  # log C(N, x)
    before = -np.inf
    while True:
        joint = np.log(w) + np.outer(x, np.log(t)) + np.outer(N - x, np.log(1 - t))  # (n, k)
        log_p = np.logaddexp.reduce(joint, axis=1)
        q = np.exp(joint - log_p[:, None])
        total = (log_p + ways).sum()
        yield State(w, t, q, total)
        if total - before < tol * len(x):
            return
        w, t, before = q.mean(axis=0), x @ q / (N * q.sum(axis=0)), total


def binomial_mixture(x: np.ndarray, N: int, w: np.ndarray, t: np.ndarray) -> State:
    """The local maximum that the start leads to."""
    *_, last = rounds(x, N, w, t)
    return last
