"""The one formatter of numbers; who shows numbers chooses its options."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

ROUNDING = 1e-12  # of the sums that make a share
MOST = 17  # figures, which tell any two floats apart


def figures(
    value: Any,
    digits: int = 6,
    *,
    whole: tuple[float, float] = (math.inf, math.inf),
    commas: float = math.inf,
    plain: bool = False,
    missing: str = "-",
    infinite: str | None = None,
    minus: str = "-",
) -> str:
    """A number with ``digits`` significant figures; what is no number as ``str`` has it.

    Numbers from ``whole[0]`` up to ``whole[1]``, and every int below ``whole[1]``, are written to
    the unit, with ``commas`` between thousands from that size on. ``plain`` rounds to ``digits``
    and never writes a power of ten. ``missing`` stands for None and NaN, ``infinite`` for both
    infinities where it is given. A share just short of 1 shows what it lacks: 0.99994, not 1.

    >>> figures(3.14159265), figures(None), figures(12), figures(-1e-7, 3, minus="−")
    ('3.14159', '-', '12', '−1e−07')
    >>> figures(12345.6, 3), figures(12345.6, 3, whole=(100, 1e15), commas=1e4)
    ('1.23e+04', '12,346')
    >>> figures(1234567.0, 3, plain=True, commas=1000), figures(1.23e-5, 3, plain=True)
    ('1,230,000', '0.0000123')
    >>> figures(0.99994, 3), figures(1.00004, 3), figures(1 - 1e-15, 3)
    ('0.99994', '1', '1')
    """
    if value is None:
        return missing
    if isinstance(value, bool) or not isinstance(value, int | float | np.floating):
        return str(value)
    size: Any = abs(value)
    if size != size:
        return missing
    if size == math.inf and infinite is not None:
        return infinite
    digits = max(digits, places_short_of_one(size))
    mark = "," if size >= commas else ""
    if isinstance(value, int) and size < whole[1]:
        text = f"{value:{mark}d}"
    elif whole[0] <= size < whole[1]:
        text = f"{value:{mark}.0f}"
    elif plain and 0 < size < math.inf:
        places = max(0, digits - 1 - math.floor(math.log10(size)))
        rounded = float(f"{value:.{digits}g}")
        text = f"{rounded:{',' if abs(rounded) >= commas else ''}.{places}f}"
        text = text.rstrip("0").rstrip(".") if places else text
    else:
        text = f"{value:.{digits}g}"
    return text.replace("-", minus)


def places_short_of_one(size: float) -> int:
    """Places after the point that tell a number below 1 from 1; 0 for numbers far from it.

    A smaller difference than ``ROUNDING`` came from the sums that made the number.

    >>> places_short_of_one(0.99994), places_short_of_one(0.998), places_short_of_one(0.3)
    (5, 3, 0)
    """
    gap = 1.0 - size
    return -math.floor(math.log10(gap)) if ROUNDING < gap < 0.1 else 0


def told_apart(
    low: float | None, high: float | None, told: Callable[[Any, int], str], digits: int = 3
) -> tuple[str, str]:
    """Both ends of an interval, ``told(end, digits)``, with as many digits as tell them apart.

    >>> told_apart(0.41201, 0.41234, figures), told_apart(2.0, 2.0, figures)
    (('0.412', '0.4123'), ('2', '2'))
    >>> told_apart(0.00208117, 0.00208117 + 1e-12, figures)
    ('0.00208117', '0.002081170001')
    """
    wide = low is not None and high is not None and low < high
    while wide and digits < MOST and told(low, digits) == told(high, digits):
        digits += 1
    return told(low, digits), told(high, digits)
