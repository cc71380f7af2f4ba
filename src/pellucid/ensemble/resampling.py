"""The arithmetic of drawing rows with replacement."""

from typing import Any

import numpy as np

from pellucid.core import check


def expected_unique_fraction(n: Any) -> float:
    """The expected share of distinct rows in n draws from n rows: 1 - (1 - 1/n)^n.

    It falls from 1 to 1 - 1/e = 0.632: about a third of the rows is left out of every draw, which
    is what out-of-bag estimates live on.

    >>> round(expected_unique_fraction(10), 10), round(expected_unique_fraction(1000), 10)
    (0.6513215599, 0.6323045752)
    """
    check.whole(n=n)
    return float(-np.expm1(n * np.log1p(-1 / n))) if n > 1 else 1.0
