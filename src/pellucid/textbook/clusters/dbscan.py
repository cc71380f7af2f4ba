r"""DBSCAN: groups are regions where rows lie densely; rows elsewhere are noise.

Define      a core row has at least m rows within eps, itself included; two core rows within eps of
            each other are in the same group, and so is what a chain of such rows connects;
            a row that is not core but within eps of a core row joins a group on its border.
Step        start from any core row without a group and walk to all that it reaches.
Cost        n^2 p for the distances.
The fast version asks a kd-tree for the neighbours and joins core rows by disjoint sets.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    labels: np.ndarray  # (n,) -1: noise, or not reached yet
    core: np.ndarray  # (n,) bool


def walks(X: np.ndarray, eps: float, m: int) -> Iterator[State]:
    """The labels after each group is complete."""
    near = np.linalg.norm(X[:, None, :] - X[None, :, :], axis=2) <= eps  # (n, n)
    core = near.sum(axis=1) >= m
    labels = np.full(len(X), -1)
    group = 0
    for start in np.flatnonzero(core):
        if labels[start] >= 0:
            continue
        front = [start]
        while front:
            i = front.pop()
            labels[i] = group
            if core[i]:  # a border row is reached, but leads nowhere
                reached = np.flatnonzero(near[i] & (labels < 0))
                labels[reached] = group
                front.extend(reached)
        yield State(labels.copy(), core)
        group += 1
    if group == 0:
        yield State(labels, core)


def dbscan(X: np.ndarray, eps: float, m: int = 5) -> State:
    """Groups in the order of their first core row; -1 is noise."""
    *_, last = walks(X, eps, m)
    return last
