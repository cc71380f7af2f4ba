r"""One-vs-one: K classes by a question for every pair of them.

Given       a learner of two classes that gives P(1 | x)
Solve       one fit for every pair, on the rows of the two classes only; the class with most votes
Step        the most probable class beats every other in its pair, so with right pairs it gets all
            K - 1 votes. Equal votes: the larger sum of scores, from each pair's threshold 1/2.
Cost        K (K - 1) / 2 fits on about 2 n / K rows each: cheaper than one-versus-rest for
            learners whose cost grows faster than n.
The fast version fits in parallel.
"""

from collections.abc import Callable
from itertools import combinations

import numpy as np

Scorer = Callable[[np.ndarray], np.ndarray]
Learner = Callable[[np.ndarray, np.ndarray], Scorer]


def one_vs_one(learn: Learner, X: np.ndarray, y: np.ndarray) -> Scorer:
    """A scorer with one column per class: votes, and less than half a vote of confidence."""
    K = int(y.max()) + 1
    scorers = {}
    for i, j in combinations(range(K), 2):
        pair = (y == i) | (y == j)
        scorers[i, j] = learn(X[pair], (y[pair] == j).astype(int))

    def score(rows: np.ndarray) -> np.ndarray:
        votes, trust = np.zeros((len(rows), K)), np.zeros((len(rows), K))
        for (i, j), of_pair in scorers.items():
            c = of_pair(rows) - 0.5  # for j if positive
            votes[:, j] += c > 0
            votes[:, i] += c <= 0
            trust[:, j] += c
            trust[:, i] -= c
        return votes + trust / (3 * (np.abs(trust) + 1))

    return score
