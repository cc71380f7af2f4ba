"""Tables of the catalogue's examples, and random ones."""

import numpy as np

TWO_X = np.array(
    [(0, 0), (1, 0), (0, 1), (1, 2), (3, 3), (4, 3), (3, 5), (5, 4), (4, 4), (6, 5)], dtype=float
)
TWO_Y = np.array([0] * 4 + [1] * 6)
THREE_X = np.array(
    [
        (0, 0),
        (1, 0),
        (0, 1),
        (1, 1),
        (4, 0),
        (5, 0),
        (4, 1),
        (5, 1),
        (2, 4),
        (3, 4),
        (2, 5),
        (4, 6),
    ],
    dtype=float,
)
THREE_Y = np.repeat([0, 1, 2], 4)


def blobs():
    """Example 14: legacy seed 42."""
    rng = np.random.RandomState(42)
    spots = [((1, 1), 0.4), ((3, 2), 0.5), ((2, 4), 0.3)]
    return np.vstack([rng.normal(c, s, (100, 2)) for c, s in spots]), np.repeat([0, 1, 2], 100)


def mixed(n=240, p=4, K=3, seed=0, labels=None):
    """Correlated columns, a covariance and a mean of its own for each class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(K, size=n)
    roots = rng.normal(size=(K, p, p))
    X = np.einsum("np,npq->nq", rng.normal(size=(n, p)), roots[y])
    X += 1.5 * rng.normal(size=(K, p))[y]
    return X, y if labels is None else np.array(labels)[y]
