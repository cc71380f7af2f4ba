r"""Random features: a Gaussian kernel as a mean of cosines.

Given       k(x, z) = exp(-|x - z|^2 / (2 s^2))
Solve       phi(x) = sqrt(2 / D) cos(W'x + c), W_ij ~ N(0, 1 / s^2), c uniform on (0, 2 pi)
Step        a kernel of x - z is the Fourier transform of a distribution (Bochner), the Gaussian's
            of a Gaussian: k = E cos(w'(x - z)). As 2 E cos(u + c) cos(v + c) = cos(u - v),
            phi(x)'phi(z) is a mean of D draws with expectation k, wrong by about 1 / sqrt(D).
Cost        p D per row, whatever n is.
The fast version has the Laplacian kernel too, and maps rows in blocks.
"""

from typing import NamedTuple

import numpy as np


class Map(NamedTuple):
    W: np.ndarray  # (p, D)
    c: np.ndarray  # (D,)


def random_features(p: int, D: int, s: float, rng: np.random.Generator) -> Map:
    """Draw the map."""
    return Map(rng.normal(size=(p, D)) / s, rng.uniform(0, 2 * np.pi, size=D))


def features(drawn: Map, X: np.ndarray) -> np.ndarray:
    return np.sqrt(2 / len(drawn.c)) * np.cos(X @ drawn.W + drawn.c)
