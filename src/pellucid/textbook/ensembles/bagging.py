r"""Bagging: the mean of models that each saw another draw of the rows.

Model       f(x) = (1 / B) sum_b f_b(x), f_b learned from n rows drawn with replacement
Step        each f_b has the same bias as one model; the variance of the mean is r s^2 +
            (1 - r) s^2 / B for members with variance s^2 and correlation r. Unstable learners, such
            as deep trees, gain most. A draw leaves out a share (1 - 1/n)^n ~ 0.37 of the rows:
            the members that have not seen a row predict it as if it were new (out of bag).
Cost        B fits.
The fast version grows trees in parallel, and shares their sorted columns.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Predictor = Callable[[np.ndarray], np.ndarray]
Learner = Callable[[np.ndarray, np.ndarray], Predictor]


class Bag(NamedTuple):
    members: list[Predictor]
    rows: list[np.ndarray]  # what each member saw, with repetitions

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(np.mean([member(X) for member in self.members], axis=0))

    def out_of_bag(self, X: np.ndarray) -> np.ndarray:
        """The mean of the members that have not seen a row; X are the training rows."""
        unseen = np.array([~np.isin(np.arange(len(X)), rows) for rows in self.rows])  # (B, n)
        answers = np.array([member(X) for member in self.members])
        return np.asarray((unseen * answers).sum(axis=0) / unseen.sum(axis=0))


def draw(n: int, B: int, rng: np.random.Generator) -> list[np.ndarray]:
    """B bootstrap samples of row numbers."""
    return [rng.integers(n, size=n) for _ in range(B)]


def bagging(learn: Learner, X: np.ndarray, y: np.ndarray, rows: list[np.ndarray]) -> Bag:
    """One member for every sample of rows."""
    return Bag([learn(X[sample], y[sample]) for sample in rows], rows)
