r"""Voting: several classifiers, one answer.

Given       probabilities P_m(k | x) of M classifiers, weights w_m
Solve       soft: the class with the largest sum_m w_m P_m(k | x);
            hard: the class with the largest sum of the weights of those who say it
Step        the soft vote is the mean of the probabilities, so a doubtful member counts less; the
            hard one asks only for labels. Ties go to the lowest class.
Cost        M predictions.
The fast version fits the members in parallel and reports how far they agree.
"""

import numpy as np


def voting(P: np.ndarray, w: np.ndarray | None = None, hard: bool = False) -> np.ndarray:
    """The class of every row from probabilities (M, n, K)."""
    if hard:
        P = np.eye(P.shape[2])[P.argmax(axis=2)]
    weight = np.ones(len(P)) if w is None else np.asarray(w)
    return np.asarray(np.tensordot(weight, P, axes=1).argmax(axis=1))
