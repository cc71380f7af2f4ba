r"""Is the target the time between two moments of the row? Arithmetic tells, whatever a model says.

With d the days between two columns and y the target, e = y - c d is what their difference leaves,
with c the usual units (days, hours, years, ...) either way round, or the slope of least squares.
The target is the difference if

    rounding   in 99 of 100 rows e lies in a band of two steps of y, as where each end was rounded
               by itself; y is written in steps: whole numbers, tenths, every five minutes
    it tells   the spread of e in the band is at most a quarter of that of y

Moments are dates, numbers that count from 1970 (``clock_unit``) and, beside one of these, whole
years. Rows in which one of the three is missing are not asked; half of them must be left.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.study.checks.leaks import average_ranks
from pellucid.study.reading.profiles import CLOCKS, NUMBERS, Column, clock_unit

DAY = 86_400e6  # microseconds
YEAR = 365.2425  # days
UNITS = {
    "days": 1.0,
    "hours": 1 / 24,
    "minutes": 1 / 1440,
    "seconds": 1 / 86_400,
    "weeks": 7.0,
    "months": YEAR / 12,
    "years": YEAR,
}
YEARS = (1800, 2200)  # whole numbers in between may be years
LEAST = 20  # rows
MOSTLY = 0.99  # of the rows must lie in the band
BAND, SLACK, TINY = 2, 0.05, 1e-6  # steps; of a step, for leap days; of the range, for rounding
TELLS = 0.25  # of the spread of the target may be left


class Moments(NamedTuple):
    """A column as days since 1970."""

    name: str
    days: Array
    years: bool  # whole years only


class Difference(NamedTuple):
    """Two columns whose difference is the target, and how it is said."""

    names: tuple[str, str]
    clause: str  # "y is the difference of a and b in days, up to rounding"


def time_difference(columns: Sequence[Column], y: Array, target: str) -> Difference | None:
    """The two columns whose difference is nearest to the target; None where no difference is it.

    >>> import datetime, polars as pl
    >>> from pellucid.study.reading.profiles import read_columns
    >>> stay = np.random.default_rng(0).integers(1, 30, 50)
    >>> begun = [datetime.date(2024, 1, 1) + datetime.timedelta(days=11 * i) for i in range(50)]
    >>> over = [a + datetime.timedelta(days=int(n)) for a, n in zip(begun, stay)]
    >>> columns = read_columns(pl.DataFrame({"begun": begun, "over": over}))
    >>> time_difference(list(columns.values()), stay * 1.0, "stay").clause
    'stay is the difference of begun and over in days'
    """
    moments = [one for column in columns if (one := _moments(column)) is not None]
    pairs = [(a, b) for a, b in combinations(moments, 2) if not (a.years and b.years)]
    if not pairs:
        return None
    step = step_of(y)
    found = [(*told, a, b) for a, b in pairs if (told := _told(b.days - a.days, y, step))]
    if not found:
        return None
    _, unit, tail, a, b = min(found, key=lambda one: one[0])
    names = (a.name, b.name)
    return Difference(names, f"{target} is the difference of {a.name} and {b.name} {unit}{tail}")


def _moments(column: Column) -> Moments | None:
    if column.numbers is None or column.order is None or column.distinct < 2:
        return None
    if column.kind == "date":
        return Moments(column.name, column.numbers / DAY, False)
    if column.kind not in NUMBERS or column.order.n == 0:
        return None
    low, high = column.order.low, column.order.high
    if unit := clock_unit(low, high):
        return Moments(column.name, column.numbers / (dict(CLOCKS)[unit] * 86_400), False)
    if column.kind == "whole" and YEARS[0] <= low <= high <= YEARS[1]:
        return Moments(column.name, (column.numbers - 1970) * YEAR, True)
    return None


def step_of(y: Array) -> float:
    """The step in which numbers are written: all of them lie so far apart, or a multiple; 0: none.

    >>> step_of(np.array([1.5, 2.25])), step_of(np.array([10.0, 25.0, 40.0])), step_of(np.ones(3))
    (0.75, 15.0, 0.0)
    """
    for unit in (1.0, 0.1, 0.01, 0.001, 0.0001):
        counts = (y - y.min()) / unit
        if np.abs(counts - np.round(counts)).max() < 1e-6:
            return float(np.gcd.reduce(np.round(counts).astype(np.int64)) * unit)
    return 0.0


def _told(d: Array, y: Array, step: float) -> tuple[float, str, str] | None:
    """What is left of y, the unit of the difference and what to say behind; None: y is no such."""
    seen = np.isfinite(d) & np.isfinite(y)
    d, y = d[seen], y[seen]
    if len(y) < max(LEAST, len(seen) / 2) or np.ptp(d) == 0 or np.ptp(y) == 0:
        return None
    slope = float(np.cov(d, y)[0, 1] / d.var(ddof=1))
    way = np.cov(average_ranks(d), average_ranks(y))[0, 1]  # which one wrong date does not turn
    units = [(f"in {name}", np.copysign(1 / days, way)) for name, days in UNITS.items()]
    for unit, c in [*units, (f"in days, times {abs(slope):.4g}", slope)]:
        e = y - c * d
        tiny = TINY * float(np.ptp(y))
        room = (1 + SLACK) * step + tiny
        low, high = _shortest_band(e)
        within = (e >= low) & (e <= high)
        if high - low > BAND * room or e[within].std() > TELLS * y[within].std():
            continue
        rounded = high - low > tiny
        said = ["a constant"] if max(-low, high) > (room if rounded else tiny) else []
        said += ["rounding"] if rounded else []
        tail = f", up to {' and '.join(said)}" if said else ""
        tail += ", in 99 of 100 rows" if np.ptp(e) > BAND * room else ""
        return float(e[within].std()), unit, tail
    return None


def _shortest_band(e: Array) -> tuple[float, float]:
    """The ends of the shortest band with 99 of 100 numbers.

    >>> _shortest_band(np.r_[-9.0, np.linspace(0, 1, 198), 7.0])
    (0.0, 1.0)
    """
    e = np.sort(e)
    k = int(np.ceil(MOSTLY * len(e)))
    i = int((e[k - 1 :] - e[: len(e) - k + 1]).argmin())
    return float(e[i]), float(e[i + k - 1])
