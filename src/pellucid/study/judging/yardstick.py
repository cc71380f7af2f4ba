r"""What a model must beat: guessing; for rows in time what was seen last, for groups their mean.

    guessing          the commonest class or the mean of the learning rows
    the last value    y_{t-1}: the target of the moment before; where a moment has several rows,
                      their mean or commonest class
    its group         the mean, or the commonest class, of the learning rows of the same group,
                      where new rows are of known groups; a new group has no mean to know
    a season ago      y_{t-s}: 24 hours, 7 days, 52 weeks, 12 months or 4 quarters before, by the
                      usual step of the time column

Where probabilities are judged, the last class, or that of a season ago, says the shares of the
classes that followed it among the learning rows, and a group those of its learning rows; one row of
the overall shares is added to each.

The strongest on the judging rows of the folds is the yardstick of the study; the test rows have no
say in it. Those of time are known only to someone who hears of every target before the next moment
is asked for: the verdict names them.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.study.candidates.training import Outcome, Workshop
from pellucid.study.columns.lags import one_per_moment, seasons
from pellucid.study.judging.gain import Judged, Told, told_by
from pellucid.study.reading.profiles import read_column
from pellucid.study.reading.target_arrays import CLASSES
from pellucid.study.records import SplitRecord

MOMENTS = ("moment", "second", "minute", "hour", "day", "week", "month", "quarter", "year")


class Yardstick(NamedTuple):
    """What is said of every row of the table, and its name."""

    name: str
    said: Any  # None: guessing, by the fitted model
    sources: Any = None  # what it goes by: a group, or an earlier label; codes of all rows


def time_yardsticks(y: Any, rows: IntArray, times: pl.Series) -> list[Yardstick]:
    """The last value and that of a season ago, for ``rows`` in order of time.

    >>> y, times = np.array([1.0, 2.0, 4.0, 7.0]), pl.Series([1, 2, 3, 4])
    >>> [one.said.tolist() for one in time_yardsticks(y, np.arange(4), times)]
    [[1.0, 1.0, 2.0, 4.0]]
    """
    column = read_column(times)
    if np.ndim(y) != 1 or column.numbers is None or not np.isfinite(column.numbers[rows]).all():
        return []
    numbers = np.asarray(y).dtype.kind == "f"
    if one_per_moment(column, rows):
        found = [Yardstick("the last value", _before(y, rows, 1))]
        found += [Yardstick(name, _before(y, rows, lag)) for lag, name in seasons(column, rows)]
    else:
        what = "mean" if numbers else "commonest class"
        said = _moment_before(y, rows, column.numbers[rows], classes=not numbers)
        found = [Yardstick(f"the {what} of {_moment(times.name)}", said)]
    if numbers:
        return found
    return [one._replace(sources=np.unique(one.said, return_inverse=True)[1]) for one in found]


def _moment(name: str) -> str:
    """
    >>> _moment("week"), _moment("admitted")
    ('the week before', 'the moment before (admitted)')
    """
    word = name.lower().removesuffix("s") or "moment"
    return f"the {word} before" if word in MOMENTS else f"the moment before ({name})"


def _before(y: Any, rows: IntArray, lag: int) -> Any:
    """The target ``lag`` rows earlier; the first rows take the first one."""
    said = y.copy()
    said[rows] = y[rows[np.maximum(np.arange(len(rows)) - lag, 0)]]
    return said


def _moment_before(y: Any, rows: IntArray, times: Array, *, classes: bool) -> Any:
    """The mean or commonest class of the moment before; the first moment says its own.

    >>> y, times = np.array([1.0, 3.0, 5.0, 6.0]), np.array([1.0, 1.0, 2.0, 3.0])
    >>> _moment_before(y, np.arange(4), times, classes=False)
    array([2., 2., 2., 5.])
    """
    moment = np.unique(times, return_inverse=True)[1]
    said = y.copy()
    said[rows] = _group_values(y[rows], moment, np.maximum(moment - 1, 0), classes=classes)
    return said


def group_yardstick(shop: Workshop, codes: IntArray, name: str, split: SplitRecord) -> Yardstick:
    """The mean or commonest class of a row's group, among the rows that learn for the row.

    ``codes`` has the number of its group for every row of the table. A group of which no row was
    learned from gets what all rows say.
    """
    classes = shop.scorer.task.kind in CLASSES
    said = np.array(shop.y)
    for learn, judge in (*shop.folds, (split.train, split.test)):
        said[judge] = _group_values(shop.y[learn], codes[learn], codes[judge], classes=classes)
    return Yardstick(f"the {'commonest class' if classes else 'mean'} of its {name}", said, codes)


def _group_values(y: Any, groups: IntArray, asked: IntArray, *, classes: bool) -> Any:
    """
    >>> y, groups, asked = np.array([1.0, 3.0, 8.0]), np.array([0, 0, 1]), np.array([0, 1, 2])
    >>> _group_values(y, groups, asked, classes=False)
    array([2., 8., 4.])
    """
    size = int(max(groups.max(), asked.max())) + 1
    if not classes:
        n = np.bincount(groups, minlength=size)
        mean = np.bincount(groups, y, size) / np.maximum(n, 1)
        return np.where(n > 0, mean, y.mean())[asked]
    labels, codes = np.unique(y, return_inverse=True)
    table = np.zeros((size, len(labels)), dtype=np.intp)
    np.add.at(table, (groups, codes), 1)
    table[table.sum(axis=1) == 0] = np.bincount(codes)
    return labels[table.argmax(axis=1)][asked]


def followed_shares(y: IntArray, sources: IntArray, asked: IntArray, n_classes: int) -> Array:
    """The shares of the classes among rows of the same source, one row of all shares added.

    >>> y, sources = np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])
    >>> followed_shares(y, sources, np.array([0, 1, 2]), 2)
    array([[0.625, 0.375],
           [0.25 , 0.75 ],
           [0.5  , 0.5  ]])
    """
    every = (np.bincount(y, minlength=n_classes) + 0.5) / (len(y) + 0.5 * n_classes)
    table = np.zeros((int(max(sources.max(), asked.max())) + 1, n_classes))
    np.add.at(table, (sources, y), 1.0)
    table += every
    return (table / table.sum(axis=1, keepdims=True))[asked]


def with_shares(shop: Workshop, one: Yardstick, split: SplitRecord) -> Yardstick:
    """A yardstick of labels that says probabilities, each from the rows that learn for a row."""
    classes = np.asarray(shop.scorer.task.classes)
    codes = np.searchsorted(classes, shop.y)
    P = np.full((len(shop.y), len(classes)), 1 / len(classes))
    for learn, judge in (*shop.folds, (split.train, split.test)):
        at = one.sources[learn], one.sources[judge]
        P[judge] = followed_shares(codes[learn], *at, len(classes))
    return one._replace(said=P)


def fold_values(shop: Workshop, yardstick: Yardstick) -> list[float]:
    """The measure of a yardstick on the judging rows of every score; NaN where it has none."""

    def value(judge: IntArray) -> float:
        every, told = np.arange(len(judge)), told_of(shop, yardstick, judge)
        try:
            return Judged(shop.y[judge], every).value(shop.scorer, told, every)
        except ValueError:  # a deviance of a value that is not above 0
            return math.nan

    return [value(judge) for _, judge in shop.judged()]


def told_of(shop: Workshop, yardstick: Yardstick, rows: IntArray, guess: Any = None) -> Told:
    """What the yardstick says of these rows, in the form the measure needs."""
    if yardstick.said is None:
        return told_by(shop.scorer, guess, shop.frame[rows])
    said, task = yardstick.said[rows], shop.scorer.task
    if shop.scorer.metric.needs in ("labels", "probabilities"):
        return Told(said, np.asarray(task.classes) if task.classes else None)
    classes = np.asarray(task.classes)
    sure = (said[:, None] == classes).astype(np.float64)
    return Told((said == task.positive) * 1.0 if task.kind == "binary" else sure, classes)


def told_in_folds(shop: Workshop, outcome: Outcome) -> Told | None:
    """What the models of the folds say of their judging rows; None where classes differ."""
    parts = [
        told_by(shop.scorer, model, shop.outer_part(i, outcome.tried.features).Z_judge)
        for i, model in enumerate(outcome.models)
    ]
    labels = parts[0].labels
    if labels is not None and any(not np.array_equal(labels, part.labels) for part in parts):
        return None
    return Told(np.concatenate([np.asarray(part.said) for part in parts]), labels)


def strongest(shop: Workshop, guess: Outcome, others: list[Yardstick]) -> tuple[Yardstick, Any]:
    """The yardstick to beat and its scores in the folds."""
    sign = shop.scorer.sign
    best, scores = Yardstick("guessing", None), guess.scores
    for one in others:
        values = np.array(fold_values(shop, one))
        if np.isfinite(values).all() and sign * (values.mean() - scores.mean()) > 0:
            best, scores = one, values
    return best, scores
