r"""Isolation forest: odd rows are alone after few random questions.

Given       trees on m rows each: a random column, a threshold uniform between its extremes, until a
            row is alone or the depth is log2 m
Solve       score(x) = 2^(-E[h(x)] / c(m)), h the depth at which x ends
Step        a row far from the others is cut off by most thresholds in its empty range: short path.
            c(n) = 2 H(n-1) - 2 (n-1) / n is the mean depth of an unsuccessful search in a random
            binary tree of n rows: it scales h, and is added where a leaf still holds n rows.
            Scores near 1 are odd, well below 1/2 ordinary.
Cost        trees times m log m, whatever n is.
The fast version is compiled, takes missing cells, and gives p-values.
"""

import numpy as np


def mean_depth(n: int) -> float:
    """c(n)."""
    if n <= 2:
        return float(n == 2)
    return float(2 * (np.log(n - 1) + np.euler_gamma) - 2 * (n - 1) / n)


def path_length(
    X: np.ndarray, Q: np.ndarray, depth: int, limit: int, rng: np.random.Generator
) -> np.ndarray:
    """h of every row of Q in one random tree of the rows X."""
    spread = np.flatnonzero(np.ptp(X, axis=0) > 0) if len(X) > 1 else np.array([], dtype=int)
    if depth == limit or len(spread) == 0:
        return np.full(len(Q), depth + mean_depth(len(X)))
    j = rng.choice(spread)
    t = rng.uniform(X[:, j].min(), X[:, j].max())
    h = np.empty(len(Q))
    for side in (np.less_equal, np.greater):
        h[side(Q[:, j], t)] = path_length(
            X[side(X[:, j], t)], Q[side(Q[:, j], t)], depth + 1, limit, rng
        )
    return h


def isolation_forest(
    X: np.ndarray, Q: np.ndarray, trees: int, m: int, rng: np.random.Generator
) -> np.ndarray:
    """The score of every row of Q."""
    limit = int(np.ceil(np.log2(m)))
    samples = [X[rng.permutation(len(X))[:m]] for _ in range(trees)]
    h = np.mean([path_length(sample, Q, 0, limit, rng) for sample in samples], axis=0)
    return np.asarray(2 ** (-h / mean_depth(m)))
