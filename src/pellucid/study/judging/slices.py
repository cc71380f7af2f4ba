"""Where the model is wrong most: test rows by the levels and quarters of every column.

A slice is a level of a column of categories, a quarter of a column of numbers (one of its values
where it has few), or its missing cells. Its error is the share of wrong answers or the mean
absolute error, with an interval (Wilson, Student) that holds for all slices looked at together
(95 %, Bonferroni); those whose interval lies above the error of all rows come first.
"""

from typing import Any

import numpy as np
import polars as pl

from pellucid.core.arrays.typing import Array, BoolArray
from pellucid.core.figures import figures
from pellucid.evaluation.intervals.intervals import Interval, mean_interval, proportion_interval

LEAST, LEVELS, MOST = 8, 12, 6  # rows of a slice, levels of a column, slices kept
FEW = 6  # values of a column of numbers that are slices by themselves
QUARTERS = ("lowest", "second", "third", "highest")


def error_slices(
    frame: pl.DataFrame, kinds: dict[str, str], errors: Array, *, wrong: bool, apart: bool = True
) -> list[dict[str, Any]]:
    """The slices of most error: {column, slice, n, error, low, high, beyond}.

    ``errors`` holds one number per row of ``frame``, 0 or 1 where ``wrong``; ``beyond`` says
    whether a slice is worse than all rows together beyond chance, None where the rows hang
    together (not ``apart``) and cannot say that.

    >>> frame = pl.DataFrame({"c": ["a"] * 20 + ["b"] * 20})
    >>> found = error_slices(frame, {"c": "category"}, np.repeat([1.0, 0.0], 20), wrong=True)
    >>> found[0]["slice"], found[0]["beyond"]
    ('a', True)
    """
    found = [
        (name, label, rows)
        for name, kind in kinds.items()
        if name in frame.columns
        for label, rows in _slices(frame[name], kind)
        if LEAST <= int(rows.sum()) <= len(errors) - LEAST
    ]
    overall, told = float(errors.mean()), list[dict[str, Any]]()
    for name, label, rows in found:
        part = errors[rows]
        if part.mean() <= overall:
            continue
        i = _interval(part, wrong, 1 - 0.05 / len(found))
        told.append(
            {
                "column": name,
                "slice": label,
                "n": len(part),
                "error": i.estimate,
                "low": i.low,
                "high": i.high,
                "beyond": bool(i.low > overall) if apart else None,
            }
        )
    told.sort(key=lambda one: (not one["beyond"], -one["low"]))
    return told[:MOST]


def _interval(part: Array, wrong: bool, confidence: float) -> Interval:
    if wrong:
        return proportion_interval(int(part.sum()), len(part), confidence=confidence)
    found = mean_interval(part, confidence=confidence)
    return found._replace(low=max(found.low, 0.0))


def _said(value: float) -> str:
    return figures(float(value), 4, whole=(1e3, 1e15), commas=1e4)


def _slices(cells: pl.Series, kind: str) -> list[tuple[str, BoolArray]]:
    gaps = cells.is_null().to_numpy()
    found = [("missing", gaps)] if gaps.any() else []
    if kind in ("number", "whole") and cells.dtype.is_numeric():
        x = cells.cast(pl.Float64).fill_null(float("nan")).to_numpy()
        known = x[np.isfinite(x)]
        values = np.unique(known)
        if len(values) <= FEW:
            return found + [(_said(value), x == value) for value in values]
        cuts = np.unique(np.quantile(known, [0.25, 0.5, 0.75])) if len(known) else known
        if len(cuts) == 3:
            quarter = np.searchsorted(cuts, x, "left")
            ends = [known.min(), *cuts, known.max()]
            for q, name in enumerate(QUARTERS):
                low, high = (_said(end) for end in ends[q : q + 2])
                label = f"{name} quarter ({low} to {high})"
                found.append((label, (quarter == q) & np.isfinite(x)))
    elif kind in ("category", "truth") and cells.n_unique() <= LEVELS:
        text = cells.cast(pl.String)
        levels = text.drop_nulls().unique().sort().to_list()
        found += [(level, (text == level).fill_null(False).to_numpy()) for level in levels]
    return found
