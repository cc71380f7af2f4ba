r"""The minimum of a convex function along a line, from its slope and bend there.

Newton's method on the slope, t <- t - F'(t)/F''(t), kept between the points where the slope is
known to be negative and positive: a step that leaves the bracket is replaced by its middle (by
doubling while nothing is known above). F need not be twice differentiable: of a piecewise quadratic
the pieces are few and the method ends in the right one.

Reference: Press et al., Numerical Recipes, section 9.4 (rtsafe).
"""

from collections.abc import Callable

import numpy as np


def line_minimum(
    slopes: Callable[[float], tuple[float, float]], flat: float, *, most: int = 60
) -> float:
    """The t > 0 with |F'(t)| <= ``flat``; ``slopes(t)`` is (F'(t), F''(t)), F'(0) < 0.

    >>> line_minimum(lambda t: (4 * (t - 3) ** 3, 12 * (t - 3) ** 2), 1e-6) - 3 < 0.01
    True
    """
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(most):
        slope, bend = slopes(t)
        if abs(slope) <= flat:
            break
        low, high = (t, high) if slope < 0 else (low, t)
        t = t - slope / bend if bend > 0 else np.inf
        if not low < t < high:
            t = 0.5 * (low + high) if np.isfinite(high) else 2.0 * low
    return t
