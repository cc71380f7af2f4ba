"""Numbers and lists as people write them."""

import math
from collections.abc import Sequence

from pellucid.core.figures import figures, places_short_of_one, told_apart


def number(value: object, digits: int = 3) -> str:
    """A figure for reading: three significant digits, a dash for nothing.

    Thousands are set apart from 10,000 on, so that a year stays a year.

    >>> number(0.98432), number(12345.6), number(1e-7), number(None), number(0.5), number(2007)
    ('0.984', '12,346', '1e-07', '–', '0.5', '2007')
    >>> number(610.4), number(61.04), number(5.0)
    ('610', '61', '5')
    """
    size = (10.0 ** (digits - 1), 1e15)
    return figures(value, digits, whole=size, commas=1e4, missing="–", infinite="–")


def fixed(value: float | None, places: int = 3) -> str:
    """A figure in a column: the same number of places in every row.

    >>> fixed(0.5), fixed(None), fixed(15234.7)
    ('0.500', '–', '15,235')
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    if abs(value) < 1000:
        return f"{value:.{places}f}"
    return figures(value, whole=(1e3, math.inf), commas=1e4)


def places_for(
    values: Sequence[float | None],
    digits: int = 3,
    ranges: Sequence[tuple[float | None, float | None]] = (),
) -> int:
    """Places after the point that show ``digits`` figures of the largest value.

    A much smaller value still has two figures, with at most two places: 0.95 beside 186. A share
    just short of 1 shows what it lacks, and ``ranges`` that have a width show it, in at most six
    places.

    >>> places_for([0.91, 0.4]), places_for([12.3, 45.0]), places_for([1200.0])
    (3, 1, 0)
    >>> places_for([0.95, 186.0]), places_for([0.99994, 0.9])
    (2, 5)
    >>> places_for([0.4123], ranges=[(0.41201, 0.41234), (0.5, 0.5)])
    4
    """
    finite = [abs(v) for v in values if v is not None and math.isfinite(v)]
    least = min((v for v in finite if v > 0), default=1000.0)
    largest = max(finite, default=1.0)
    short = min(6, places_short_of_one(largest))
    places = max(_places(largest, digits), min(2, _places(least, 2)), short)
    wide = [(low, high) for low, high in ranges if None not in (low, high) and low != high]
    while places < 6 and any(fixed(low, places) == fixed(high, places) for low, high in wide):
        places += 1
    return places


def _places(size: float, digits: int) -> int:
    """Places after the point that give ``digits`` figures; shares count theirs from the point."""
    if size < 0.1:
        return digits if size == 0 else min(8, digits - 1 - math.floor(math.log10(size)))
    return digits if size < 1 else max(0, digits - 1 - math.floor(math.log10(size)))


def ends(
    low: float | None, high: float | None, *, places: int | None = None, joint: str = " to "
) -> str:
    """An interval with as many figures as tell its ends apart; a dash where there is none.

    ``places`` after the point are those of a column, where they suffice.

    >>> ends(0.41201, 0.41234), ends(None, None), ends(2.0, 2.0)
    ('0.412 to 0.4123', '–', '2 to 2')
    >>> ends(0.4, 0.5, places=2, joint=" – "), ends(0.41201, 0.41234, places=2, joint=" – ")
    ('0.40 – 0.50', '0.412 – 0.4123')
    """
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return "–"
    if places is not None:
        columns = fixed(low, places), fixed(high, places)
        if low == high or columns[0] != columns[1]:
            return joint.join(columns)
    return joint.join(told_apart(low, high, number))


def cells(low: float | None, high: float | None) -> tuple[float | str | None, float | str | None]:
    """The ends of an interval as two cells of a table, which shows three figures of a number.

    >>> cells(0.4, 0.5), cells(0.41201, 0.41234), cells(None, None)
    ((0.4, 0.5), ('0.412', '0.4123'), (None, None))
    """
    equal = low is not None and high is not None and number(low) == number(high)
    return told_apart(low, high, number) if equal and low != high else (low, high)


def p_value(value: float | None) -> str:
    """A p-value with a leading zero, and no more figures than it deserves.

    >>> p_value(0.0004), p_value(0.0312), p_value(0.48), p_value(None)
    ('< 0.001', '0.031', '0.48', '–')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if value < 0.001:
        return "< 0.001"
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def duration(seconds: float | None) -> str:
    """
    >>> duration(0.034), duration(4.21), duration(75)
    ('0.03 s', '4.2 s', '1 min 15 s')
    """
    if seconds is None:
        return "–"
    if seconds < 1:
        return f"{seconds:.2f} s"
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
