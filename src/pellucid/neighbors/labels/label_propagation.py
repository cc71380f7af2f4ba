r"""Label propagation: labels walk along a graph of similar rows; known ones never change.

Graph        W_ij >= 0, the similarity of rows i and j;  P = D^-1 W, a random walk
Objective    the smoothest labels that agree with the known ones:  min 1/2 sum_ij W_ij |f_i - f_j|^2
             = tr F'(D - W)F,  F fixed on the labelled rows (W symmetric)
Algorithm    F <- P F;  rows scaled to sum 1;  labelled rows set back.    O(edges x classes) a round
             Its fixed point is the harmonic function: f_i is the mean of its neighbours, which is
             also the probability that a walk from i meets a label of the class first.

Reference: Zhu & Ghahramani (2002).
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.neighbors.labels.label_model import LabelModel, Rounds, walk_matrix


class LabelPropagation(LabelModel):
    """Labels for all rows from a few, along a graph of similar rows.

    Parameters
    ----------
    kernel : {"rbf", "knn"} or callable, default="rbf"
        Weights exp(-gamma |x - x'|^2); ones for the nearest rows; or ``kernel(A, B)`` that
        returns the weights of all pairs.
    gamma : float, default=20
        Of "rbf".
    n_neighbors : int, default=7
        Of "knn"; a row counts as its own neighbour.
    max_iter : int, default=1000
        Largest number of rounds.
    tol : float, default=1e-3
        Stop when all changes of a round together are below it.
    n_jobs : int or None, default=None
        Threads.

    Attributes
    ----------
    label_distributions_ : ndarray of shape (n_samples, n_classes)
    transduction_ : ndarray of shape (n_samples,)
        The label of every training row; -1 where no labelled row can be reached.
    unreachable_ : ndarray
        The numbers of those rows.
    classes_, X_, n_iter_, history_
        The objective of ``history_`` is tr F'(D - W)F.

    Examples
    --------
    >>> from pellucid import LabelPropagation
    >>> X = [[0.0], [0.2], [0.4], [2.0], [2.2], [2.4]]
    >>> model = LabelPropagation().fit(X, [0, -1, -1, 1, -1, -1])
    >>> model.transduction_, model.predict([[0.6], [1.9]])
    (array([0, 0, 0, 1, 1, 1]), array([0, 1]))
    """

    def __init__(
        self,
        kernel: str | Callable[..., Any] = "rbf",
        *,
        gamma: float = 20,
        n_neighbors: int = 7,
        max_iter: int = 1000,
        tol: float = 1e-3,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs

    def _rounds(self, W: np.ndarray, Y: Array) -> tuple[Any, Any, Any]:
        degree = np.asarray(W.sum(axis=1), dtype=np.float64).ravel()
        rounds = Rounds(walk_matrix(W), Y, -1.0)
        return rounds.start(), rounds.step, partial(rounds.energy, degree)

    def _words(self) -> tuple[str, str]:
        return (
            "differences along the edges, tr F'(D - W)F, with the known labels fixed",
            "F <- D^-1 W F, rows scaled to sum 1, known labels set back",
        )
