r"""Label spreading: like propagation, but known labels may give way to their neighbours.

Graph        S = D^-1/2 W D^-1/2 with a diagonal of 0
Objective    1/2 sum_ij W_ij |f_i/sqrt(d_i) - f_j/sqrt(d_j)|^2 + (1/alpha - 1) sum_i |f_i - y_i|^2
             = tr F'(I - S)F + (1/alpha - 1)|F - Y|^2,   smooth, and near the labels
Algorithm    F <- alpha S F + (1 - alpha) Y: a gradient step, so the objective never rises
             (W symmetric); the error shrinks by alpha each round.    O(edges x classes) a round
Limit        F = (1 - alpha)(I - alpha S)^-1 Y

Reference: Zhou, Bousquet, Lal, Weston & Schoelkopf (2004), Learning with local and global
consistency.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.neighbors.labels.label_model import LabelModel, Rounds, Spread, spread_matrix


class LabelSpreading(LabelModel):
    """Labels for all rows from a few, some of which may be wrong.

    Parameters
    ----------
    alpha : float, default=0.2
        Between 0 and 1: how much a row takes from its neighbours, against its own label.
    max_iter : int, default=30
        Largest number of rounds.
    kernel : {"rbf", "knn"} or callable, default="rbf"
        Weights exp(-gamma |x - x'|^2); ones for the nearest rows; or ``kernel(A, B)`` that
        returns the weights of all pairs.
    gamma : float, default=20
        Of "rbf".
    n_neighbors : int, default=7
        Of "knn".
    tol : float, default=1e-3
        Stop when all changes of a round together are below it.
    n_jobs : int or None, default=None
        Threads.

    Attributes
    ----------
    label_distributions_, transduction_, unreachable_, classes_, X_, n_iter_, history_
        As in ``LabelPropagation``; ``objective`` never rises for symmetric weights.

    Examples
    --------
    >>> from pellucid import LabelSpreading
    >>> X = [[0.0], [0.2], [0.4], [2.0], [2.2], [2.4]]
    >>> LabelSpreading().fit(X, [0, -1, -1, 1, -1, -1]).transduction_
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(
        self,
        kernel: str | Callable[..., Any] = "rbf",
        *,
        gamma: float = 20,
        n_neighbors: int = 7,
        alpha: float = 0.2,
        max_iter: int = 30,
        tol: float = 1e-3,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs

    def _rounds(self, W: np.ndarray, Y: Array) -> tuple[Any, Any, Any]:
        check.fraction(alpha=self.alpha)
        alpha, ones = float(self.alpha), np.ones(len(Y))
        rounds = Rounds(spread_matrix(W), Y, alpha)

        def objective(state: Spread) -> float:
            off = float(((state.F - Y) ** 2).sum())
            return rounds.energy(ones, state) + (1 / alpha - 1) * off

        return rounds.start(), rounds.step, objective

    def _words(self) -> tuple[str, str]:
        return (
            f"differences along the edges + {1 / self.alpha - 1:g} |F - Y|^2",
            f"F <- {self.alpha:g} S F + {1 - self.alpha:g} Y, S = D^-1/2 W D^-1/2",
        )
