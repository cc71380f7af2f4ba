r"""The one backtracking search: shorten a step until the value falls enough (Armijo).

From a point of value F along a direction of slope m < 0, try t = start, start factor, ... until

    F(t) <= F + c t m + noise,

``noise`` being what rounding may add to a value. Every damped Newton method and line search of the
library that asks for a sufficient decrease asks here.

Reference: Armijo (1966); Nocedal & Wright, Numerical Optimization, section 3.1.
"""

from collections.abc import Callable
from typing import Any, NamedTuple


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
) -> Accepted | None:
    """The first t whose value falls enough, or None after ``most`` attempts.

    ``attempt(t)`` returns the point (anything) and its value; NaN is never accepted.

    >>> found = backtrack(lambda t: (1 - 3 * t, (1 - 3 * t) ** 2), 1.0, -6.0)
    >>> found.t, found.point
    (0.5, -0.5)
    """
    t = start
    for shortened in range(most):
        point, new = attempt(t)
        if new <= value + c * t * slope + noise:
            return Accepted(t, point, shortened)
        t *= factor
    return None
