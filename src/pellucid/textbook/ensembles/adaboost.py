r"""AdaBoost: weak rules in turn, each on the rows the earlier ones got wrong.

Minimise    L = sum_i exp(-y_i F(x_i)),  F = sum_t a_t f_t,  y and f = -1 or +1
Step        with the earlier rules fixed, row i weighs d_i ~ exp(-y_i F(x_i)); adding a f gives
            L ~ (1 - e) exp(-a) + e exp(a), e the weighted error of f. Take the rule with small e;
            dL/da = 0 at a = ln((1 - e) / e) / 2. Then d_i <- d_i exp(-a y_i f(x_i)) / Z, and the
            training error is at most the product of the Z = 2 sqrt(e (1 - e)).
Cost        one weighted fit per round; a stump n p log n.
The fast version takes any classifier and more than two classes (SAMME).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class Stump(NamedTuple):
    feature: int
    threshold: float
    low: float  # the answer for x <= threshold
    high: float

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return np.where(X[:, self.feature] <= self.threshold, self.low, self.high)


class State(NamedTuple):
    stump: Stump
    e: float
    a: float
    Z: float
    d: np.ndarray  # the weights after the round


def best_stump(X: np.ndarray, y: np.ndarray, d: np.ndarray) -> Stump:
    """The question that leaves least weighted gini; both sides say their heavier class."""
    best, found = np.inf, Stump(0, np.inf, 1.0, 1.0)
    for j, x in enumerate(X.T):
        values = np.unique(x)
        for t in (values[:-1] + values[1:]) / 2:
            low, left, answers = x <= t, 0.0, []
            for side in (low, ~low):
                up, down = d[side & (y > 0)].sum(), d[side & (y < 0)].sum()
                left += 2 * up * down / (up + down)
                answers.append(1.0 if up > down else -1.0)
            if left < best - 1e-12:
                best, found = left, Stump(j, t, *answers)
    return found


def rounds(X: np.ndarray, y: np.ndarray) -> Iterator[State]:
    """One stump each, until one is perfect or no better than chance."""
    d = np.full(len(y), 1 / len(y))
    while True:
        stump = best_stump(X, y, d)
        e = float(d[stump(X) != y].sum())
        if e <= 0 or e >= 0.5:
            return
        a = np.log((1 - e) / e) / 2
        d = d * np.exp(-a * y * stump(X))
        Z = float(d.sum())
        d = d / Z
        yield State(stump, e, a, Z, d)


def adaboost(X: np.ndarray, y: np.ndarray, T: int) -> list[State]:
    """The first T rounds; the answer is the sign of ``score``."""
    return [state for state, _ in zip(rounds(X, y), range(T), strict=False)]


def score(states: list[State], X: np.ndarray) -> np.ndarray:
    return np.asarray(sum(state.a * state.stump(X) for state in states))
