"""Groups of rows that the tests of mixtures share."""

import numpy as np

TEN = np.array([8.2075, 9.8171, 0.1442, 8.8333, 9.4084, 9.0987, 0.7269, 1.0454, -0.1108, 9.4905])


def three_groups():
    r = np.random.RandomState(42)
    groups = (((1, 1), 0.4), ((3, 2), 0.5), ((2, 4), 0.3))
    return np.vstack([r.normal(c, s, (100, 2)) for c, s in groups])
