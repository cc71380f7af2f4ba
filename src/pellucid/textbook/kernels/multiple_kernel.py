r"""Multiple kernel learning: which kernels, and how much of each.

Minimise    over b >= 0, sum_k b_k = 1:  J(b) = max_a sum a - (a y)'(sum_k b_k K_k)(a y) / 2,
            the SVM's optimum with the mixed kernel
Step        J is convex in b. In the primal, |w|^2 / 2 becomes sum_k |w_k|^2 / (2 b_k): for given
            parts w_k = b_k (a y)-combination of kernel k, the best b_k is |w_k| / sum_l |w_l|.
            Solve the SVM, update b, repeat: both halves lower the same objective.
            The sum constraint is an L1 norm: useless kernels fall to 0.
Cost        one SVM per round.
The fast version keeps the multipliers between rounds and ends by a duality gap.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

Solver = Callable[[np.ndarray], np.ndarray]  # Gram matrix to a * y of the SVM


class State(NamedTuple):
    b: np.ndarray  # (kernels,)
    J: float


def rounds(Ks: list[np.ndarray], y: np.ndarray, solve: Solver) -> Iterator[State]:
    """SVM, then weights, until J stays."""
    b, last = np.full(len(Ks), 1 / len(Ks)), np.inf
    while True:
        K = sum(weight * gram for weight, gram in zip(b, Ks, strict=True))
        ay = solve(np.asarray(K))
        J = float(ay @ y - ay @ K @ ay / 2)
        yield State(b, J)
        if last - J <= 1e-12 * abs(J):
            return
        last = J
        length = b * np.sqrt([ay @ gram @ ay for gram in Ks])  # |w_k|
        b = length / length.sum()


def multiple_kernel(Ks: list[np.ndarray], y: np.ndarray, solve: Solver) -> State:
    """The weights of the kernels; y holds -1 and +1."""
    *_, last = rounds(Ks, y, solve)
    return last
