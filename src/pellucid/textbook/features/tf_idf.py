r"""Tf-idf: words that are rare elsewhere say most about a text.

Given       counts tf[d, t] of term t in text d; n texts, n_t of them with t
Step        weight x[d, t] = tf[d, t] (log((1 + n) / (1 + n_t)) + 1). If a term falls on texts at
            random, seeing it in one of n_t texts carries log(n / n_t) of information about which
            text it is; a term that is everywhere carries none (the + 1 keeps it). Rows to length 1,
            so that long texts are not larger, and products of rows are cosines.
Cost        the number of counts that are not 0.
The fast version keeps the counts sparse.
"""

import numpy as np


def tf_idf(counts: np.ndarray) -> np.ndarray:
    n, n_t = len(counts), (counts > 0).sum(axis=0)
    X = counts * (np.log((1 + n) / (1 + n_t)) + 1)
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(length > 0, length, 1)
