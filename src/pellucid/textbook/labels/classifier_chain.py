r"""Classifier chain: several labels, each told what the earlier ones are.

Model       P(y_1, ..., y_L | x) = prod_k P(y_k | x, y_1, ..., y_{k-1}): exact, in any order
Solve       one classifier per label, with the earlier labels as further columns
Step        in training the earlier labels are known; in prediction the answers stand for them, one
            after the other (greedy: the best set of labels would need 2^L tries).
Cost        L fits.
The fast version can train on out-of-fold answers, which are as uncertain as later ones.
"""

from collections.abc import Callable

import numpy as np

Scorer = Callable[[np.ndarray], np.ndarray]
Learner = Callable[[np.ndarray, np.ndarray], Scorer]


def classifier_chain(learn: Learner, X: np.ndarray, Y: np.ndarray) -> Scorer:
    """From rows to labels; Y is (n, L) of 0 and 1, ``learn`` gives P(1 | x)."""
    links = [learn(np.hstack([X, Y[:, :k]]), Y[:, k]) for k in range(Y.shape[1])]

    def predict(rows: np.ndarray) -> np.ndarray:
        known = rows
        for link in links:
            answer = (link(known) > 0.5).astype(int)
            known = np.column_stack([known, answer])
        return known[:, rows.shape[1] :].astype(int)

    return predict
