"""The other measures of the final table, where test rows hang together.

Rows of one group, copies of a row and neighbours in time err alike: taken one by one they would
give every measure an interval that is too narrow. So each gets that of its blocks (``jackknife``),
as the study's own has; one that blocks leave open, or whose rows cannot be taken apart, has none.
"""

import math
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.arrays.typing import IntArray
from pellucid.evaluation.intervals.intervals import Interval
from pellucid.evaluation.metrics.registry import METRICS
from pellucid.study.judging.gain import EXTREME, NO_BOUNDS, Judged, in_codes, told_by
from pellucid.study.judging.jackknife import bootstrap, scale_of, scaled_interval
from pellucid.study.judging.measure import BOUNDS, make_scorer
from pellucid.study.records import Task

SAME = {"f_beta": "f1"}  # the table's name, and that of the measure
MEDIAN = "median_ae"  # the jackknife does not see how it varies


def blocked_intervals(
    task: Task, rows: Judged, table: Any, model: BaseEstimator, X: Any, *, own: bool = False
) -> dict[str, Interval]:
    """Every measure of the table, with the interval and the standard error of its blocks.

    The study's ``own`` has another on the test rows, and is among them only when asked for.
    """
    found = {}
    for name, known in table.items():
        if name == task.metric and not own:
            continue
        one = _blocked(task, rows, SAME.get(name, name), known, model, X)
        if one is None:
            one = known._replace(low=math.nan, high=math.nan, standard_error=math.nan)
        found[name] = one._replace(estimate=known.estimate, method="blocks", n=known.n)
    return found


def _blocked(
    task: Task, rows: Judged, name: str, known: Interval, model: BaseEstimator, X: Any
) -> Interval | None:
    if name == MEDIAN:
        return _median(np.abs(np.asarray(model.predict(X)) - rows.y), rows.blocks)
    if name not in METRICS or name in (*EXTREME, "mean_cost"):
        return None
    scorer = make_scorer(task._replace(metric=name), None)
    scorer, rows, (told,) = in_codes(scorer, rows, told_by(scorer, model, X))
    bounds = BOUNDS.get(name, NO_BOUNDS)
    one = scaled_interval(lambda at: rows.value(scorer, told, at), rows.blocks, bounds)
    same = one is not None and math.isclose(one.estimate, known.estimate, rel_tol=1e-6)
    return one if same else None


def _median(error: Any, blocks: IntArray) -> Interval | None:
    there, back = scale_of((0.0, math.inf))
    if np.median(error) == 0:
        return None
    found = bootstrap(lambda at: there(float(np.median(error[at]))), blocks)
    low, high = (back(end) for end in found.limits())
    plain = (back(found.estimate + found.error) - back(found.estimate - found.error)) / 2
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    return Interval(back(found.estimate), low, high, plain, "blocks", len(blocks))


def blocked_recall(by_class: Any, said: Any, y: Any, blocks: IntArray) -> list[dict[str, Any]]:
    """The share found of each class, with the interval of its blocks."""
    right, words = np.asarray(said) == np.asarray(y), np.asarray(y).astype(str)
    found = []
    for one in by_class:
        rows = np.flatnonzero(words == str(one["label"]))
        ends = {"recall_low": math.nan, "recall_high": math.nan}
        if len(rows):
            some = right[rows]
            place = np.unique(blocks[rows], return_inverse=True)[1]
            interval = scaled_interval(lambda at: float(some[at].mean()), place, (0.0, 1.0))  # noqa: B023
            if interval is not None:
                ends = {"recall_low": interval.low, "recall_high": interval.high}
        found.append(one | ends)
    return found
