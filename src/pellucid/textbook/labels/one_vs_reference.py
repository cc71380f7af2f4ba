r"""One-vs-reference: the log-odds of every class against one of them.

Model       log P(k | x) / P(r | x) = f_k(x), with f_r = 0 for the reference r
Solve       K - 1 fits of class k against r, on the rows of these two classes only
Step        among the rows of k and r, P(k | x, k or r) = s(f_k(x)): logistic regression of two
            classes is right for each pair. Then P(k | x) = exp(f_k) / sum_l exp(f_l).
            Separate fits use less of the data than the joint one, and depend on r.
Cost        K - 1 small fits.
The fast version fits in parallel and takes any classifier with probabilities.
"""

from collections.abc import Callable

import numpy as np

Scorer = Callable[[np.ndarray], np.ndarray]
Learner = Callable[[np.ndarray, np.ndarray], Scorer]


def one_vs_reference(learn: Learner, X: np.ndarray, y: np.ndarray) -> Scorer:
    """P(k | x), one column per class; the last class is the reference. ``learn`` gives P(1 | x)."""
    r = int(y.max())
    scorers = []
    for k in range(r):
        pair = (y == k) | (y == r)
        scorers.append(learn(X[pair], (y[pair] == k).astype(int)))

    def probabilities(rows: np.ndarray) -> np.ndarray:
        odds = [p / (1 - p) for p in (score(rows) for score in scorers)]
        odds.append(np.ones(len(rows)))
        return np.asarray(np.column_stack(odds) / np.sum(odds, axis=0)[:, None])

    return probabilities
