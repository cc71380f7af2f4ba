r"""Minimum covariance determinant: mean and covariance of the half that lies closest together.

Minimise    det S(H) over all sets H of h rows, S(H) their covariance
Step        take the h rows with the smallest (x - m(H))'S(H)^-1(x - m(H)). Their mean distance is
            at most p, that of H; so det cannot rise, and it is equal only if nothing changed
            (Rousseeuw & Van Driessen, 1999). Start from many sets of p + 1 rows: keep the best end.
Cost        n p^2 per step, and hundreds of starts.
The fast version also exchanges single rows at the end, then scales and reweights for normal data.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    rows: np.ndarray  # the set H, sorted
    m: np.ndarray  # (p,)
    S: np.ndarray  # (p, p)
    determinant: float


def state_of(X: np.ndarray, rows: np.ndarray) -> State:
    H = X[rows]
    S = (H - H.mean(axis=0)).T @ (H - H.mean(axis=0)) / len(H)
    return State(np.sort(rows), H.mean(axis=0), S, np.linalg.det(S))


def steps(X: np.ndarray, h: int, rows: np.ndarray) -> Iterator[State]:
    """Concentration steps from a first set, until the determinant no longer falls."""
    state = state_of(X, rows)
    while True:
        d = X - state.m
        distance = (d * np.linalg.solve(state.S, d.T).T).sum(axis=1)
        new = state_of(X, np.argsort(distance)[:h])
        if len(state.rows) == h and new.determinant >= state.determinant:
            return
        state = new
        yield state


def minimum_covariance_determinant(
    X: np.ndarray, h: int, rng: np.random.Generator, n_starts: int = 200
) -> State:
    """The best end of ``n_starts`` random starts."""
    best = None
    for _ in range(n_starts):
        *_, end = steps(X, h, rng.choice(len(X), size=X.shape[1] + 2, replace=False))
        if best is None or end.determinant < best.determinant:
            best = end
    assert best is not None
    return best
