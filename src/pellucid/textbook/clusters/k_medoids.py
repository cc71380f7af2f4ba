r"""k-medoids (PAM): the centres are rows, so any distance will do.

Minimise    J(m) = sum_i min_j D[i, m_j]  over k row numbers m_1..m_k
Build       first the row with the least total distance, then always the row that saves most.
Step        among all pairs (medoid, other row) make the exchange that lowers J most; J falls and
            there are finitely many sets of k rows, so it ends where no single exchange helps.
Cost        n^2 k^2 per swap as written here.
The fast version finds the change of all k exchanges of a row in one pass and swaps at once
(FasterPAM), so it may end in another local optimum; neither can be improved by one swap.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    medoids: np.ndarray  # (k,) row numbers
    labels: np.ndarray  # (n,) which medoid is nearest
    J: float


def state_of(D: np.ndarray, medoids: list[int]) -> State:
    to_medoids = D[:, medoids]  # (n, k)
    return State(np.array(medoids), to_medoids.argmin(axis=1), to_medoids.min(axis=1).sum())


def build(D: np.ndarray, k: int) -> list[int]:
    """The greedy start."""
    medoids: list[int] = []
    for _ in range(k):
        J = [
            state_of(D, [*medoids, row]).J if row not in medoids else np.inf
            for row in range(len(D))
        ]
        medoids.append(int(np.argmin(J)))
    return medoids


def swaps(D: np.ndarray, k: int) -> Iterator[State]:
    """The greedy start, then the state after each best exchange."""
    state = state_of(D, build(D, k))
    while True:
        yield state
        tries = [
            state_of(D, [*state.medoids[:j], row, *state.medoids[j + 1 :]])
            for j in range(k)
            for row in range(len(D))
            if row not in state.medoids
        ]
        best = min(tries, key=lambda other: other.J)
        if best.J >= state.J:
            return
        state = best


def k_medoids(D: np.ndarray, k: int) -> State:
    """Medoids that no single exchange improves, from distances D of shape (n, n)."""
    *_, last = swaps(D, k)
    return last
