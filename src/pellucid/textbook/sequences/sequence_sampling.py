r"""Sequence sampling: draw hidden states and what they show, one after the other.

Model       P(z_1 = k) = pi_k,  P(z_t = k | z_{t-1} = j) = A_jk,  P(x_t = c | z_t = k) = E_kc
Step        ancestral sampling: the joint probability is a product in the order of time, so draw
            z_1, then each z_t given the state before, then each x_t given its state. In the long
            run state k holds the share w_k of the time, w the solution of w = wA, sum 1.
Cost        T draws.
The fast version draws many sequences at once, and normal observations too.
"""

from typing import NamedTuple

import numpy as np


class Sequence(NamedTuple):
    states: np.ndarray  # (T,)
    symbols: np.ndarray  # (T,)


def sequence_sampling(
    pi: np.ndarray, A: np.ndarray, E: np.ndarray, T: int, rng: np.random.Generator
) -> Sequence:
    states = [rng.choice(len(pi), p=pi)]
    while len(states) < T:
        states.append(rng.choice(len(pi), p=A[states[-1]]))
    symbols = [rng.choice(E.shape[1], p=E[z]) for z in states]
    return Sequence(np.array(states), np.array(symbols))


def stationary(A: np.ndarray) -> np.ndarray:
    """w = wA with sum 1: the last equation of the singular system is replaced by the sum."""
    M = np.eye(len(A)) - A.T
    M[-1] = 1
    return np.linalg.solve(M, np.eye(len(A))[-1])
