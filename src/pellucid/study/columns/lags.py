r"""Lags: what was known at the moment before, as columns.

    y_{t-1}                       the last value of the target
    y_{t-k} - y_{t-k-1}           its last changes (k = 1, 2) and that of a season before (k = s)
    y_{t-s} - y_{t-1}             a season before, against the last value (``seasons``)
    mean - y_{t-1}                the mean of the last 3 values, and of the last season, likewise
    x_t - x_{t-1}                 the change of every numeric column until now
    y_{t-1}, y_{t-2}, y_{t-s}     of classes, the last ones

Changes and differences, since a series may rise to heights that no learning row has seen.

Row t sees moments before t alone, whatever comes later: shuffle the future, and its lags stay. The
first rows have no past and empty cells. A series has one row per moment, and t counts its rows.

A saved model keeps the end of the series it learned from (``Tail``). New rows are put behind it in
the order of their times; where the target of a moment is not known yet, the last known one stands
for it, and it is counted how many steps ahead of that a row is (``series_model``).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.study.reading.profiles import Column, read_column

DAY = 86_400e6  # microseconds
SEASONS = (  # usual step in days, rows of a season, how it is said
    (1 / 24, 24, "the value 24 hours before"),
    (1.0, 7, "the value a week before"),
    (7.0, 52, "the value 52 weeks before"),
    (30.44, 12, "the value 12 months before"),
    (91.3, 4, "the value 4 quarters before"),
)
NEAR = 0.1  # a step may differ from the usual one by this share
LEAST = 40  # rows below which nothing is learned from the past
WINDOW = 3
MOST_SOURCES = 10


def seasons(times: Column, rows: IntArray) -> list[tuple[int, str]]:
    """(rows of a season, how it is said) for rows in order of time."""
    step = np.diff(times.numbers[rows])  # type: ignore[index]
    if times.kind != "date" or not len(step):
        return []
    days = float(np.median(step)) / DAY
    return [
        (lag, name)
        for usual, lag, name in SEASONS
        if abs(days / usual - 1) < NEAR and len(rows) > 2 * lag
    ]


def one_per_moment(times: Column, rows: IntArray) -> bool:
    """Whether every row has a moment of its own, later than that of the row before."""
    return times.numbers is not None and bool((np.diff(times.numbers[rows]) > 0).all())


class Lags(NamedTuple):
    """Which values of the past become columns.

    >>> Lags("day", "y", ("x",), (), False).names()[:3]
    ['y 1 before', 'change of y 1 before', 'change of y 2 before']
    >>> Lags("day", "y", (), (7,), True).names()
    ['y 1 before', 'y 2 before', 'y 7 before']
    """

    time: str
    target: str
    sources: tuple[str, ...]  # numeric columns
    seasons: tuple[int, ...]  # rows of a season
    classes: bool  # are the targets labels?

    def names(self) -> list[str]:
        return list(self.kinds())

    def kinds(self) -> dict[str, str]:
        """The columns and their kinds; the last value comes first."""
        y, s = self.target, self.seasons
        changes = [f"change of {name}" for name in self.sources]
        if self.classes:
            labels = [f"{y} {k} before" for k in (1, 2, *s)]
            return dict.fromkeys(labels, "category") | dict.fromkeys(changes, "number")
        own = [f"{y} 1 before", *(f"change of {y} {k} before" for k in (1, 2, *s))]
        own += [f"{y} {k} before, less the last" for k in s]
        own += [f"mean of the last {w} {y}, less the last" for w in (WINDOW, *s)]
        return dict.fromkeys([*own, *changes], "number")

    def longest(self) -> int:
        """How many rows back the lags look."""
        return max(WINDOW, *(k + 1 for k in self.seasons), 3)


def find_lags(
    times: pl.Series, target: str, rows: IntArray, sources: Sequence[str], *, classes: bool
) -> Lags | None:
    """The lags of a series; None where rows share a moment or are few."""
    column = read_column(times)
    if len(rows) < LEAST or not one_per_moment(column, rows):
        return None
    season = tuple(lag for lag, _ in seasons(column, rows) if len(rows) >= 4 * lag)
    return Lags(times.name, target, tuple(sources[:MOST_SOURCES]), season, classes)


def lag_columns(lags: Lags, series: pl.DataFrame, ahead: int = 1) -> pl.DataFrame:
    """The lags of every row of a series, in order of time.

    Targets are known until ``ahead`` rows before each row; that one stands for those after it.

    >>> series = pl.DataFrame({"y": [1.0, 2.0, 4.0, 7.0]})
    >>> [round(v, 3) for v in lag_columns(Lags("day", "y", (), (), False), series).rows()[3]]
    [4.0, 2.0, 1.0, -1.667]
    """
    y, s = series[lags.target].forward_fill(), lags.seasons  # not known yet: the last that was

    def back(k: int) -> pl.Series:
        return y.shift(max(k, ahead))

    last = back(1)
    if lags.classes:
        found = [back(k) for k in (1, 2, *s)]
    else:
        found = [last, *(back(k) - back(k + 1) for k in (1, 2, *s))]
        found += [back(k) - last for k in s]
        found += [_mean_back(y, w, ahead) - last for w in (WINDOW, *s)]
    found += [series[name] - series[name].shift(1) for name in lags.sources]
    return pl.DataFrame([one.rename(name) for name, one in zip(lags.names(), found, strict=True)])


def _mean_back(y: pl.Series, w: int, ahead: int) -> pl.Series:
    """The mean of the last w values, of which ``ahead`` - 1 are not known yet.

    >>> y = pl.Series([1.0, 2.0, 4.0, 7.0, 11.0])
    >>> _mean_back(y, 3, 1)[4], _mean_back(y, 3, 2)[4], _mean_back(y, 3, 9)[4]
    (4.333333333333333, 3.333333333333333, None)
    """
    known = max(w - ahead + 1, 1)  # values; the last of them stands for the others
    mean = y.shift(ahead).rolling_mean(known)
    return (known * mean + (w - known) * y.shift(ahead)) / w if known < w else mean


def table_lags(
    lags: Lags, cells: pl.DataFrame, y: Any, rows: IntArray, *, ahead: int = 1
) -> pl.DataFrame:
    """The lags of every row of a table; ``rows`` are those of the series, in order of time."""
    found = lag_columns(lags, make_series(lags, cells, y, rows), ahead)
    place = np.full(cells.height, len(rows), dtype=np.intp)
    place[rows] = np.arange(len(rows))
    empty = pl.DataFrame({name: [None] for name in found.columns}, schema=found.schema)
    return pl.concat([found, empty])[place]


def make_series(lags: Lags, cells: pl.DataFrame, y: Any, rows: IntArray) -> pl.DataFrame:
    """Target and numeric columns of these rows."""
    own = {lags.target: pl.Series(np.asarray(y)[rows])}
    return pl.DataFrame(own | {name: _numbers(cells[name])[rows] for name in lags.sources})


def _numbers(column: pl.Series) -> pl.Series:
    return column.cast(pl.Float64, strict=False).fill_nan(None)


class Tail(NamedTuple):
    """The end of a series: what the next rows need to know."""

    times: Array
    target: Any
    sources: Array  # (rows, sources); NaN where missing
    gap: float = np.inf  # the longest time from one row of the series to the next


def make_tail(lags: Lags, cells: pl.DataFrame, y: Any, rows: IntArray) -> Tail:
    """The last rows of a series, as many as the longest lag looks back."""
    moments = read_column(cells[lags.time]).numbers
    assert moments is not None
    order = rows[np.argsort(moments[rows], kind="stable")]
    last, gap = order[-lags.longest() :], float(np.diff(moments[order]).max())
    X = [_numbers(cells[name])[last].fill_null(np.nan).to_numpy() for name in lags.sources]
    sources = np.column_stack(X) if X else np.empty((len(last), 0))
    return Tail(np.asarray(moments[last], dtype=np.float64), np.asarray(y)[last], sources, gap)


def new_lags(lags: Lags, tail: Tail, table: pl.DataFrame) -> tuple[pl.DataFrame, Array]:
    """The lags of new rows, and how many steps ahead of the last known target they are.

    ``table`` has the time and the sources; the target where it is known. Several rows of a moment
    share their lags; a row without a time has none, and is infinitely far. Where more time has
    passed since the row before than ever in the series, as many steps have as such times fit in.
    """
    moments = read_column(table[lags.time]).numbers
    if moments is None:
        raise ValueError(f"{lags.time!r} must hold dates or numbers, by which the rows follow")
    kind, before = pl.Series(tail.target).dtype, np.reshape(tail.sources, (len(tail.times), -1))
    told = table[lags.target] if lags.target in table.columns else pl.Series([None] * table.height)
    told = told.cast(pl.Float64, strict=False).fill_nan(None) if kind.is_numeric() else told
    at = pl.Series("at", np.asarray(moments, dtype=np.float64)).fill_nan(None)
    own = {lags.target: told.cast(kind, strict=False)}
    new = pl.DataFrame({"at": at} | own | {n: _numbers(table[n]) for n in lags.sources})
    old = pl.DataFrame(
        {"at": tail.times, lags.target: pl.Series(tail.target)}
        | {name: pl.Series(before[:, j]) for j, name in enumerate(lags.sources)}
    ).with_columns(pl.col(n).fill_nan(None) for n in lags.sources)
    first = [pl.col(name).drop_nulls().first() for name in new.columns if name != "at"]
    series = pl.concat([new.drop_nulls("at"), old]).group_by("at").agg(first).sort("at")
    ahead = steps_ahead(series["at"].to_numpy(), series[lags.target].is_not_null(), tail.gap)
    found = lag_columns(lags, series).with_columns(series["at"], ahead=ahead)
    joined = new.select("at").join(found, on="at", how="left", maintain_order="left")
    return joined.select(lags.names()), joined["ahead"].fill_null(np.inf).to_numpy()


def steps_ahead(at: Array, known: Any, gap: float) -> Array:
    """Steps from the last known target before each row; a longer time than ``gap`` is several.

    >>> steps_ahead(np.array([1.0, 2.0, 3.0, 9.0]), np.array([True, False, False, True]), 2.0)
    array([inf,  1.,  2.,  5.])
    """
    time = np.concatenate([[0.0], np.cumsum(np.maximum(np.ceil(np.diff(at) / gap), 1.0))])
    last = np.where(np.asarray(known), time, -np.inf)
    before = np.concatenate([[-np.inf], np.maximum.accumulate(last)[:-1]])
    return np.asarray(time - before)
