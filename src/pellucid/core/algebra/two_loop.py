r"""The two-loop recursion of L-BFGS: an inverse Hessian from the last few steps.

Every step s with the change y of the slope along it updates the inverse H of BFGS,

    H <- (I - r s y') H (I - r y s') + r s s',     r = 1 / s'y,

from H_0 = the inverse of a matrix that is easy to apply. Only products H g are needed: the
recursion forms them from the pairs (s, y) in 4 m d operations. Rescaled, H_0 is multiplied by
s'y / y'H_0 y of the newest pair, the curvature along it.

References: Nocedal (1980); Liu & Nocedal (1989); Nocedal & Wright, algorithm 7.4.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array

LEAST = 1e-300  # s'y: a pair without curvature is not remembered


class Pair(NamedTuple):
    """A step, the change of the slope along it, and their product."""

    s: Array
    y: Array
    sy: float


def remember(pairs: tuple[Pair, ...], s: Array, y: Array, most: int) -> tuple[Pair, ...]:
    """The pairs with a new one, oldest first, at most ``most``; one that curves down is left out.

    >>> len(remember((), np.ones(1), -np.ones(1), 5)), len(remember((), np.ones(1), np.ones(1), 5))
    (0, 1)
    """
    sy = float(np.vdot(s, y))
    return (*pairs, Pair(s, y, sy))[-most:] if sy > LEAST else pairs


def two_loop(
    g: Array, pairs: tuple[Pair, ...], initial: Callable[[Array], Array], *, rescale: bool = True
) -> Array:
    """H g, from H_0 = ``initial`` and the pairs, oldest first; arrays of any one shape.

    >>> bend = np.diag([1.0, 4.0])  # two steps tell all of a quadratic in two dimensions
    >>> pairs = tuple(Pair(s, bend @ s, s @ bend @ s) for s in np.eye(2))
    >>> two_loop(np.array([1.0, 4.0]), pairs, lambda v: v)
    array([1., 1.])
    """
    q, factors = g.copy(), []
    for s, y, sy in reversed(pairs):
        a = np.vdot(s, q) / sy
        factors.append(a)
        q -= a * y
    r = initial(q)
    if pairs and rescale:
        _, y, sy = pairs[-1]
        r = r * (sy / np.vdot(y, initial(y)))
    for (s, y, sy), a in zip(pairs, reversed(factors), strict=True):
        r += s * (a - np.vdot(y, r) / sy)
    return np.asarray(r)
