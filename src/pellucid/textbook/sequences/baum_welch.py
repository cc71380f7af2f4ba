r"""Baum-Welch: the parameters of a hidden Markov model, by EM.

Maximise    sum over sequences of log p(x), over pi, A and the tables E_kc = P(x_t = c | z_t = k)
Step        E: forward-backward gives p(z_t | x) and the expected number of moves j -> k;
            M: shares of expected counts: of first states, of moves out of j, of symbols seen in k.
            Each M-step maximises the bound that the E-step made tight, so log p(x) never falls.
Cost        T K^2 per round.
The fast version also knows normal emissions, several starts and weights of sequences.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    pi: np.ndarray  # (K,)
    A: np.ndarray  # (K, K)
    E: np.ndarray  # (K, symbols)
    log_likelihood: float  # of these parameters


def beliefs(x: np.ndarray, pi: np.ndarray, A: np.ndarray, E: np.ndarray) -> tuple:
    """p(z_t | x), expected moves, log p(x) of one sequence of symbol numbers."""
    B = E[:, x].T  # (T, K)
    a, b, c = np.empty(B.shape), np.ones(B.shape), np.empty(len(x))
    for t in range(len(x)):
        a[t] = (pi if t == 0 else a[t - 1] @ A) * B[t]
        c[t] = a[t].sum()
        a[t] /= c[t]
    for t in range(len(x) - 2, -1, -1):
        b[t] = A @ (B[t + 1] * b[t + 1]) / c[t + 1]
    moves = A * (a[:-1].T @ (B[1:] * b[1:] / c[1:, None]))
    return a * b, moves, np.log(c).sum()


def rounds(
    sequences: list[np.ndarray], pi: np.ndarray, A: np.ndarray, E: np.ndarray, tol: float = 1e-10
) -> Iterator[State]:
    """The start, then the parameters after each round."""
    before = -np.inf
    while True:
        found = [beliefs(x, pi, A, E) for x in sequences]
        value = sum(log_p for _, _, log_p in found)
        yield State(pi, A, E, value)
        if value - before < tol:
            return
        before = value
        pi = np.sum([g[0] for g, _, _ in found], axis=0)
        A = np.sum([moves for _, moves, _ in found], axis=0)
        symbols = np.eye(E.shape[1])
        E = np.sum(
            [g.T @ symbols[x] for x, (g, _, _) in zip(sequences, found, strict=True)], axis=0
        )
        pi, A, E = (table / table.sum(axis=-1, keepdims=True) for table in (pi, A, E))


def baum_welch(sequences: list[np.ndarray], pi: np.ndarray, A: np.ndarray, E: np.ndarray) -> State:
    """The local maximum that the start leads to."""
    *_, last = rounds(sequences, pi, A, E)
    return last
