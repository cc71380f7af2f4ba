r"""The one backtracking search: shorten a step until the value falls enough.

From a point of value F along a direction of slope m <= 0, try t = start, start factor, ... until

    F(t) <= F + c t m + noise                                                    (Armijo)

``noise`` being what rounding may add to a value; m = 0 asks only that the value does not rise
(step halving). Near a minimum a difference of values is all rounding while slopes still tell: given
the slope m(t) at a tried point, a step is also enough where

    F(t) <= F + noise  and  m(t) <= (2 c - 1) m                         (Hager and Zhang)

which for quadratics says the same. Every damped Newton method and line search of the library asks
here; ``fell`` is the same question for many searches at once.

References: Armijo (1966); Nocedal & Wright, Numerical Optimization, section 3.1; Hager & Zhang
(2005), A new conjugate gradient method with guaranteed descent.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, BoolArray


class Accepted(NamedTuple):
    """The length taken, what the attempt returned there, and how often it was shortened."""

    t: float
    point: Any
    shortened: int


def backtrack(
    attempt: Callable[[float], tuple[Any, float]],
    value: float,
    slope: float,
    *,
    start: float = 1.0,
    factor: float = 0.5,
    c: float = 1e-4,
    most: int = 60,
    noise: float = 0.0,
    slope_at: Callable[[Any], float] | None = None,
) -> Accepted | None:
    """The first t whose value falls enough, or None after ``most`` attempts.

    ``attempt(t)`` returns the point (anything) and its value; NaN is never accepted.
    ``slope_at(point)``, the slope along the direction, adds the test of Hager and Zhang; ``noise``
    then counts there alone.

    >>> found = backtrack(lambda t: (1 - 3 * t, (1 - 3 * t) ** 2), 1.0, -6.0)
    >>> found.t, found.point
    (0.5, -0.5)
    """
    t = start
    for shortened in range(most):
        point, new = attempt(t)
        if new <= value + c * t * slope + (noise if slope_at is None else 0.0):
            return Accepted(t, point, shortened)
        if slope_at is not None and new <= value + noise and slope_at(point) <= (2 * c - 1) * slope:
            return Accepted(t, point, shortened)
        t *= factor
    return None


def halved(
    attempt: Callable[[float], tuple[Any, float]], value: float, *, most: int, noise: float
) -> Accepted:
    """The first of 1, 1/2, 1/4, ... whose value does not rise, or the shortest step tried.

    For methods that judge by something else than the value whether they have arrived.

    >>> halved(lambda t: (1 - 3 * t, (1 - 3 * t) ** 2), 1.0, most=40, noise=0.0).t
    0.5
    """
    tried: list[Any] = [None]

    def kept(t: float) -> tuple[Any, float]:
        tried[0], new = attempt(t)
        return tried[0], new

    found = backtrack(kept, value, 0.0, most=most, noise=noise)
    return Accepted(0.5 ** (most - 1), tried[0], most - 1) if found is None else found


def fell(new: Array, old: Array, noise: float) -> BoolArray:
    """Where values did not rise by more than ``noise`` times their size; NaN and inf never.

    One search per entry, all tried in one pass.

    >>> fell(np.array([1.0, 3.0, np.nan]), np.array([2.0, 2.0, 2.0]), 0.0)
    array([ True, False, False])
    """
    with np.errstate(invalid="ignore"):
        return np.asarray(np.isfinite(new) & (new <= old + noise * np.abs(old)))
