r"""Network EM: tables from rows with missing cells, or with a variable nobody saw.

Maximise    sum over rows of log p(what was seen), over the tables
Step        E: expected counts, E[N_jk] = sum over rows of P(x_v = k, parents = j | what was seen);
            M: tables as shares of them, as if they were real. By Jensen the likelihood of what was
            seen never falls (see Gaussian mixtures by EM). Complete rows count themselves.
Cost        rows times the joint states of their missing cells, as written here.
The fast version asks a clique tree, once for all rows with the same seen cells, and knows priors.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    tables: list[np.ndarray]
    log_likelihood: float  # of these tables


def completions(row: np.ndarray, states: list[int]) -> Iterator[list[int]]:
    """All complete rows that agree with what was seen; -1 is missing."""
    options = (range(r) if x < 0 else [x] for x, r in zip(row, states, strict=True))
    yield from map(list, product(*options))


def rounds(
    X: np.ndarray, parents: list[list[int]], tables: list[np.ndarray], n_rounds: int
) -> Iterator[State]:
    """The start, then the tables after each round."""
    states = [table.shape[-1] for table in tables]
    families = [[*parents[v], v] for v in range(len(parents))]
    for step in range(n_rounds + 1):
        counts, total = [np.zeros(table.shape) for table in tables], 0.0
        for row in X:
            rows = np.array(list(completions(row, states)))
            cells = [tuple(rows[:, family].T) for family in families]
            p = np.prod([t[cell] for t, cell in zip(tables, cells, strict=True)], axis=0)
            total += np.log(p.sum())
            for count, cell in zip(counts, cells, strict=True):
                np.add.at(count, cell, p / p.sum())
        yield State(tables, total)
        if step < n_rounds:
            tables = [count / count.sum(axis=-1, keepdims=True) for count in counts]


def network_em(
    X: np.ndarray, parents: list[list[int]], tables: list[np.ndarray], n_rounds: int = 20
) -> State:
    """Tables after ``n_rounds`` rounds from the given ones; -1 in X is missing."""
    *_, last = rounds(X, parents, tables, n_rounds)
    return last
