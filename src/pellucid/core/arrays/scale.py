"""Bring numbers of any size near 1 by a power of two, which changes no digit.

A method that is equivariant to scale (k-means, least squares, splines) squares and adds its
numbers; 1e300 squared is infinity and 1e-300 squared is zero. Divided by ``2**unit_exponent(x)``
the largest number lies in [1/2, 1), whatever the unit of the data was.
"""

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike

SAFE = 500  # squares of numbers between 2**-500 and 2**500 neither overflow nor vanish


def unit_exponent(values: ArrayLike) -> int:
    """The e for which ``max |values| / 2**e`` lies in [1/2, 1); 0 where all values are zero.

    >>> unit_exponent([0.25, -3.0]), unit_exponent([1e300]), unit_exponent([0.0])
    (2, 997, 0)
    """
    array = np.asarray(values)
    if not array.size:
        return 0
    largest = max(abs(float(array.min())), abs(float(array.max())))
    return int(np.frexp(largest)[1]) if np.isfinite(largest) else 0


def scaled(values: ArrayLike, exponent: int) -> Array:
    """``values / 2**exponent``: exact unless a result is too small for all of its digits.

    >>> scaled([2.0, 3.0], 1)
    array([1. , 1.5])
    """
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.ldexp(np.asarray(values, dtype=np.float64), -exponent))


def is_extreme(exponent: int) -> bool:
    """Whether numbers of this size must be scaled before they are squared."""
    return abs(exponent) > SAFE
