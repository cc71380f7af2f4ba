r"""Regression on one input, by hand.

    slope = (n Sxy - Sx Sy)/(n Sxx - Sx^2) = Cov(x, y)/Var(x),    intercept = (Sy - slope Sx)/n

The raw sums are what one adds up on paper; the difference of large numbers in them loses digits, so
the computation is the centred one. One parameter given, the best other one is

    intercept = (Sy - slope Sx)/n,        slope = (Sxy - intercept Sx)/Sxx,

the two steps of coordinate descent on RSS.
"""

from typing import NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike


class RawSums(NamedTuple):
    """n, Sx, Sy, Sxx, Sxy, Syy and the parameters as the textbook forms them."""

    n: int
    x: float
    y: float
    xx: float
    xy: float
    yy: float

    @property
    def slope(self) -> float:
        """(n Sxy - Sx Sy)/(n Sxx - Sx^2)."""
        return (self.n * self.xy - self.x * self.y) / (self.n * self.xx - self.x**2)

    @property
    def intercept(self) -> float:
        """(Sy - slope Sx)/n."""
        return (self.y - self.slope * self.x) / self.n


class SimpleRegression(NamedTuple):
    """The line y = intercept + slope x, its residual sum of squares, and the raw sums."""

    slope: float
    intercept: float
    rss: float
    sums: RawSums


def simple_regression(
    x: ArrayLike, y: ArrayLike, *, slope: float | None = None, intercept: float | None = None
) -> SimpleRegression:
    """Least-squares line of one input; with ``slope`` or ``intercept`` given, the best other one.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        The input and the target.
    slope, intercept : float, optional
        At most one of them: it is kept, and the other fitted.

    Examples
    --------
    >>> from pellucid.linear import simple_regression
    >>> line = simple_regression([0, 1, 2], [1, 2, 4])
    >>> round(line.slope, 6), round(line.intercept, 6), line.sums.xy
    (1.5, 0.833333, 10.0)
    >>> round(simple_regression([0, 1, 2], [1, 2, 4], intercept=0.0).slope, 6)
    2.0
    """
    x, y = _column(x, "x"), _column(y, "y")
    if len(x) != len(y):
        raise ValueError(f"x and y need the same number of values, got {len(x)} and {len(y)}")
    if slope is not None and intercept is not None:
        raise ValueError("give slope or intercept (the other is fitted), not both")
    sums = RawSums(len(x), *(float(v) for v in (x.sum(), y.sum(), x @ x, x @ y, y @ y)))
    x_mean, y_mean = x[0] + (x - x[0]).mean(), y[0] + (y - y[0]).mean()
    u, v = x - x_mean, y - y_mean
    if intercept is not None:
        _finite(intercept=intercept)
        if not x.any():
            raise ValueError("x is zero everywhere: no slope through a given intercept is best")
        b, a = float(x @ (y - intercept) / (x @ x)), float(intercept)
    else:
        if slope is None and not u.any():
            raise ValueError(f"x is constant ({x[0]:g}): it determines no slope")
        if slope is not None:
            _finite(slope=slope)
        b = float(u @ v / (u @ u)) if slope is None else float(slope)
        a = float(y_mean - b * x_mean)
    residuals = (y - a) - b * x
    return SimpleRegression(b, a, float(residuals @ residuals), sums)


def _column(values: ArrayLike, name: str) -> Array:
    column = np.asarray(values, dtype=np.float64)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1 or not len(column):
        raise ValueError(f"{name} must be one column of numbers, got shape {column.shape}")
    if not np.isfinite(column).all():
        row = int(np.argmin(np.isfinite(column)))
        raise ValueError(f"{name} contains {column[row]} in row {row}; finite numbers only")
    return column


def _finite(**values: float) -> None:
    for name, value in values.items():
        if not np.isfinite(value):
            raise ValueError(f"{name} must be a finite number, got {value!r}")
