r"""Grid posterior: a density of one or two unknowns, evaluated everywhere.

Given       log f(t), the logarithm of an unnormalised density, and a box that holds its mass
Solve       Z = integral of f, then mean, variance, anything: E h = integral h f / Z
Step        the trapezoid rule: sum of f on a grid, the borders with half weight. For a smooth
            density that dies at the borders its error falls faster than any power of the spacing.
            Subtract the largest log f first, or exp underflows.
Cost        (points per axis)^d.
The fast version works for up to four unknowns, finds quantiles, and warns of mass at the border.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Posterior(NamedTuple):
    points: np.ndarray  # (N, d)
    p: np.ndarray  # (N,) shares of the mass
    log_evidence: float

    @property
    def mean(self) -> np.ndarray:
        return self.p @ self.points


def grid_posterior(
    log_f: Callable[[np.ndarray], float], low: np.ndarray, high: np.ndarray, n: int = 201
) -> Posterior:
    axes = [np.linspace(a, b, n) for a, b in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    edge = np.ones(n)
    edge[[0, -1]] = 0.5
    weight = np.array(1.0)
    for axis in axes:  # the product of the weights of all axes
        weight = np.multiply.outer(weight, edge * (axis[1] - axis[0]))
    values = np.array([log_f(t) for t in points])
    mass = weight.ravel() * np.exp(values - values.max())
    return Posterior(points, mass / mass.sum(), float(np.log(mass.sum()) + values.max()))
