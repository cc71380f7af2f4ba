r"""Self-training: a classifier that labels the rows it is sure of, and learns again.

Given       rows with a label, rows without, and a learner that gives P(k | x)
Solve       repeat: fit on the labelled rows; rows with max_k P(k | x) > t get their likeliest label
Step        labels given the model, then the model given the labels: as k-means does with groups,
            except that a label once given stays. Right where classes form groups with few rows
            between them; an early mistake is never taken back.
Cost        one fit per round.
The fast version can take the k surest rows instead, and keeps the round of every label.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

Scorer = Callable[[np.ndarray], np.ndarray]
Learner = Callable[[np.ndarray, np.ndarray], Scorer]


class State(NamedTuple):
    labels: np.ndarray  # (n,), -1 where still unknown
    score: Scorer


def rounds(learn: Learner, X: np.ndarray, y: np.ndarray, t: float) -> Iterator[State]:
    """One fit each, until no row is left or none is sure; -1 in y is a missing label."""
    y = y.copy()
    while True:
        known = y >= 0
        score = learn(X[known], y[known])
        yield State(y.copy(), score)
        if known.all():
            return
        P = score(X)
        sure = ~known & (P.max(axis=1) > t)
        if not sure.any():
            return
        y[sure] = P[sure].argmax(axis=1)


def self_training(learn: Learner, X: np.ndarray, y: np.ndarray, t: float = 0.75) -> State:
    """After the last round."""
    *_, last = rounds(learn, X, y, t)
    return last
