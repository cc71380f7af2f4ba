r"""One-vs-rest: K classes by K questions "this one, or another?".

Given       a learner of two classes that gives scores
Solve       s_k: class k against all others; the answer is the class with the largest s_k
Step        if s_k(x) rises with P(k | x) in the same way for every k, the largest score is the
            most probable class. Probabilities: P_k / sum_l P_l.
Cost        K fits on all n rows.
The fast version fits in parallel, and takes tables of several labels.
"""

from collections.abc import Callable

import numpy as np

Scorer = Callable[[np.ndarray], np.ndarray]  # rows to scores
Learner = Callable[[np.ndarray, np.ndarray], Scorer]  # rows and 0/1 to a scorer


def one_vs_rest(learn: Learner, X: np.ndarray, y: np.ndarray) -> Scorer:
    """A scorer with one column per class; y holds 0, ..., K - 1."""
    scorers = [learn(X, (y == k).astype(int)) for k in range(int(y.max()) + 1)]
    return lambda rows: np.column_stack([score(rows) for score in scorers])
