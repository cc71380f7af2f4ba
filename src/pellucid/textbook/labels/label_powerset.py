r"""Label powerset: every set of labels that occurs is a class of its own.

Model       P(S | x) over the sets of labels seen in training
Solve       one classifier of many classes
Step        nothing is assumed about how labels go together. The chance of one label is the sum over
            the sets that hold it: P(l | x) = sum_{S with l} P(S | x).
Cost        one fit with up to 2^L classes; sets never seen cannot be predicted.
The fast version wraps any classifier and picks a given number of labels if asked.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Scorer = Callable[[np.ndarray], np.ndarray]
Learner = Callable[[np.ndarray, np.ndarray], Scorer]  # gives P(k | x), one column per class


class Powerset(NamedTuple):
    sets: np.ndarray  # (classes, L), the sets that occur
    score: Scorer

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """The most probable set."""
        return np.asarray(self.sets[self.score(rows).argmax(axis=1)])

    def marginals(self, rows: np.ndarray) -> np.ndarray:
        """P(l | x) of every label."""
        return self.score(rows) @ self.sets


def label_powerset(learn: Learner, X: np.ndarray, Y: np.ndarray) -> Powerset:
    """Y is (n, L) of 0 and 1."""
    sets, code = np.unique(Y, axis=0, return_inverse=True)
    return Powerset(sets, learn(X, code.ravel()))
