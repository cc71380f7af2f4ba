r"""Perceptron: correct the plane by every row that it gets wrong.

Solve       y_i (b + w'x_i) > 0 for all rows, y = -1 or +1
Step        a wrong row moves the plane: w += y x, b += y; its own y (b + w'x) grows by |x|^2 + 1.
            If some plane of norm 1 has y f >= g for all rows and |(1, x)| <= R, every correction
            brings w at least g closer along it while |w|^2 grows by at most R^2:
            no more than (R / g)^2 corrections (Novikoff). Else it never ends.
Cost        n p per epoch.
The fast version shuffles, stops on lack of progress, and has batch, pocket and averaged rules.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    b: float
    w: np.ndarray
    row: int  # the one that was wrong


def corrections(X: np.ndarray, y: np.ndarray) -> Iterator[State]:
    """Every correction in the order of the rows, until an epoch has none."""
    b, w = 0.0, np.zeros(X.shape[1])
    wrong = True
    while wrong:
        wrong = False
        for i, (x, sign) in enumerate(zip(X, y, strict=True)):
            if sign * (b + w @ x) <= 0:
                b, w, wrong = b + sign, w + sign * x, True
                yield State(b, w, i)


def perceptron(X: np.ndarray, y: np.ndarray) -> State:
    """A plane that separates; does not end if there is none."""
    *_, last = corrections(X, y)
    return last
