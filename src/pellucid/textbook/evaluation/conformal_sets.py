r"""Conformal sets: as many labels as it takes to be right often enough.

Given       probabilities P(k | x) of a classifier, and n rows with labels that it has not seen
Solve       all labels whose strangeness is at most q, the ceil((n + 1) c)-th smallest of the n
            rows'
Step        strangeness 1 - P(y | x): the smallest sets on average (lac); or the sum of the
            probabilities of the labels at least as likely as y: larger sets where the classifier is
            unsure (aps). The new row's strangeness takes each place among n + 1 with equal
            probability: its true label is in the set with probability at least c, however wrong P
            is.
Cost        n K.
The fast version also gives every class its own q, so that rare ones are covered.
"""

import numpy as np


def strangeness(P: np.ndarray, aps: bool) -> np.ndarray:
    """Of every label of every row, (n, K)."""
    if not aps:
        return 1 - P
    as_likely = P[:, None, :] >= P[:, :, None]  # (n, label, other)
    return np.asarray((as_likely * P[:, None, :]).sum(axis=2))


def conformal_sets(
    P: np.ndarray, y: np.ndarray, P_new: np.ndarray, c: float = 0.95, aps: bool = False
) -> np.ndarray:
    """Which labels are in the set of every new row, (m, K) of booleans."""
    scores = strangeness(P, aps)[np.arange(len(y)), y]
    k = int(np.ceil((len(y) + 1) * c - 1e-9))
    q = np.sort(scores)[k - 1] if k <= len(y) else np.inf
    inside = np.asarray(strangeness(P_new, aps) <= q + 1e-12)
    if aps:
        inside[np.arange(len(P_new)), P_new.argmax(axis=1)] = True  # no set is empty
    return inside
