"""Tables of two columns and a class with which the pages of classifiers open."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Rng
from pellucid.data import make_moons, make_rings
from pellucid.lab.page import LabData, hold_out

DECIMALS = 3  # few, so that the rows can be written down exactly


def labelled(X: np.ndarray, y: np.ndarray, names: tuple[str, str] = ("x1", "x2")) -> LabData:
    """Rows with a third of them held out."""
    X, y = np.round(X, DECIMALS) + 0.0, np.asarray(y, int)
    return LabData(X, y, hold_out(len(X), 0), names)


def moons(rng: Rng, n: int = 90, noise: float = 0.25) -> LabData:
    """Two half circles that reach into each other."""
    return labelled(*make_moons(n, noise=noise, random_state=rng))


def blobs(rng: Rng, n: int = 80, centers: Any = ((0, 0), (2.4, 1.6)), spread: Any = 0.8) -> LabData:
    """Round clouds, one a class; ``spread`` a number or one per column."""
    centers = np.asarray(centers, float)
    y = np.arange(n) % len(centers)
    return labelled(centers[y] + spread * rng.normal(size=(n, 2)), y)


def rings(rng: Rng, n: int = 80, noise: float = 0.25) -> LabData:
    """A disc inside a ring."""
    return labelled(*make_rings(n, radii=(0.7, 2.2), noise=noise, random_state=rng))


def xor(rng: Rng, n: int = 100) -> LabData:
    """Four corners, the opposite ones of one class."""
    X = rng.uniform(-1.0, 1.0, size=(n, 2))
    return labelled(X, (X[:, 0] > 0) != (X[:, 1] > 0))


def flipped(data: LabData, share: float, rng: Rng) -> LabData:
    """The same rows, a share of the training rows with the other of two labels."""
    train = np.flatnonzero(~data.held_out)
    wrong = rng.permutation(train)[: round(share * len(train))]
    y = data.y.copy()
    y[wrong] = 1 - y[wrong]
    return data._replace(y=y)
