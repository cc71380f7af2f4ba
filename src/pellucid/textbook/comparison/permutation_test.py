r"""Permutation test of a score: would a model do as well on a target that means nothing?

Null        y has nothing to do with X: then every order of y was as likely as the true one
Step        shuffle y, score the model again, count how often it is at least as good as before
Answer      p = (1 + count) / (1 + shuffles): the true order is one of those compared, so p > 0
Cost        one cross-validation per shuffle.
The fast version shuffles within groups if asked, and runs several at a time.
"""

from collections.abc import Callable

import numpy as np


def permutation_test(
    score: Callable[[np.ndarray], float], y: np.ndarray, orders: list[np.ndarray]
) -> float:
    """The p-value of ``score(y)``; ``orders`` are random orders of the rows."""
    true = score(y)
    as_good = sum(score(y[order]) >= true for order in orders)
    return (1 + as_good) / (1 + len(orders))
