"""Sums of floats that are rounded once, so that they do not depend on order or grouping.

A sum is kept as a few floats that do not overlap and add up to it exactly; two such sums make a
third. What can be had at the end is the nearest float, whatever was added to what first.

References: Shewchuk (1997).
"""

import math
from collections.abc import Iterable
from typing import TypeAlias

Parts: TypeAlias = tuple[float, ...]


def exact_parts(values: Iterable[float]) -> Parts:
    """Few floats with exactly the same sum.

    >>> exact_parts([1.0, 1e100, 1.0, -1e100])
    (2.0,)
    """
    parts: list[float] = []
    plain = 0.0
    for value in values:
        x = float(value)
        plain += x
        kept = []
        for y in parts:
            if abs(x) < abs(y):
                x, y = y, x
            high = x + y
            low = y - (high - x)
            if low:
                kept.append(low)
            x = high
        parts = [*kept, x] if x else kept
    if not all(map(math.isfinite, parts)):
        return (plain,)
    return tuple(parts)


def exact_sum(values: Iterable[float]) -> float:
    """The sum, rounded once; infinite or NaN where plain addition is.

    >>> exact_sum([1e308, 1e308, -1e308]), exact_sum([0.1] * 10)
    (inf, 1.0)
    """
    numbers = list(values)
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):  # an overflow on the way, or inf - inf
        return float(sum(numbers))
