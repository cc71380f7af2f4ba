r"""Stepwise selection: one column in or out at a time, while AIC falls.

Minimise    AIC = n ln(RSS / n) + 2 (k + 1) over subsets of k columns, greedily
Step        try every column that may enter and every one that may leave; take the best move.
            It ends, since AIC falls with every move, and may miss the best subset.
            Standard errors afterwards are too small: the same data chose the columns.
Cost        p fits per move instead of 2^p in all.
The fast version updates one factorisation, and has F and z rules too.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    columns: frozenset[int]
    aic: float


Criterion = Callable[[np.ndarray, np.ndarray, frozenset[int]], float]


def aic(X: np.ndarray, y: np.ndarray, columns: frozenset[int]) -> float:
    D = np.column_stack([np.ones(len(y)), X[:, sorted(columns)]])
    r = y - D @ np.linalg.lstsq(D, y, rcond=None)[0]
    return float(len(y) * np.log(r @ r / len(y)) + 2 * D.shape[1])


def moves(X: np.ndarray, y: np.ndarray, criterion: Criterion) -> Iterator[State]:
    """From no column on, until every move would raise AIC."""
    everything = frozenset(range(X.shape[1]))
    now = State(frozenset(), criterion(X, y, frozenset()))
    while True:
        yield now
        tries = [now.columns | {j} for j in everything - now.columns]
        tries += [now.columns - {j} for j in now.columns]
        best = min((State(c, criterion(X, y, c)) for c in tries), key=lambda state: state.aic)
        if best.aic >= now.aic:
            return
        now = best


def stepwise(X: np.ndarray, y: np.ndarray, criterion: Criterion = aic) -> State:
    """The last set of columns; another criterion, such as that of a logistic fit, works as well."""
    *_, last = moves(X, y, criterion)
    return last
