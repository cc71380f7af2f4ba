r"""Folds for rows that are not exchangeable: groups stay together, nobody learns from the future.

``compare`` and ``sweep`` split as ``pellucid learn`` does: by groups named or found, by time, or by
the date column in whose order the rows lie. The unit of a row (its group, or the rank of its
moment) travels with the rows in a column of its own, so that tuning inside a fold divides them the
same way.

    groups      whole groups judge; the classes are balanced where there are any
    sequential  k steps forward; a step learns from all rows before it and judges the next
                n / (k + 1), its edges moved to the nearest change of moment
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

from pellucid.core.arrays.typing import IntArray
from pellucid.study.errors import OptionError, TaskError, UnfitOptionError
from pellucid.study.splits.split import nearest_change, row_units

if TYPE_CHECKING:
    from pellucid.study.learning import Study

UNIT = "\x00unit"  # no column of a table has this name
Splits = list[tuple[IntArray, IntArray]]


class Arrangement(NamedTuple):
    """How the rows hang together, and why it is thought so."""

    kind: str  # "free", "groups", "sequential"
    rows: IntArray  # of the table, in the order of time where there is one
    units: IntArray  # of these rows
    reason: str


FREE = ("random", "stratified")


def arrange(study: "Study", rows: IntArray) -> Arrangement:
    """The arrangement a study of the same table finds; ``rows`` are those with a target."""
    split = study.split()
    if split.kind in FREE:
        return Arrangement("free", rows, np.arange(len(rows)), "")
    plan = study.plan._replace(groups=split.groups)
    units = row_units(study.frame, study.task, plan, rows)
    if split.kind == "groups":
        reason = f"Rows with the same {split.groups} are on one side of every fold."
        return Arrangement("groups", rows, units, reason)
    order = np.argsort(units, kind="stable")
    reason = "The rows have an order in time: every fold learns from the past of what it judges."
    return Arrangement("sequential", rows[order], units[order], reason)


def make_folds(
    found: Arrangement, y: Any, cv: int, repeats: int, *, classifies: bool, seed: int
) -> Splits:
    """The folds of a command; one sentence where the rows allow none."""
    if found.kind == "sequential":
        if repeats > 1:
            raise OptionError("--repeats deals the rows anew, which their order forbids")
        return forward_folds(found.units, cv)
    m = len(np.unique(found.units))
    if m < 2:
        raise UnfitOptionError("--groups names a column with one group only; two are needed")
    folds: Splits = []
    for run in range(repeats):
        folds += group_folds(found.units, y, min(cv, m), classifies=classifies, seed=seed + run)
    return folds


def group_folds(units: IntArray, y: Any, k: int, *, classifies: bool, seed: int) -> Splits:
    """Whole groups dealt to k folds."""
    kind = StratifiedGroupKFold if classifies else GroupKFold
    splitter = kind(k, shuffle=True, random_state=seed)
    return [(a, b) for a, b in splitter.split(units, y, units) if len(a) and len(b)]


def forward_folds(moments: IntArray, k: int) -> Splits:
    """Steps forward over rows in the order of their moments.

    >>> [(len(a), b.tolist()) for a, b in forward_folds(np.array([0, 0, 1, 1, 1, 2, 3, 3]), 3)]
    [(2, [2, 3, 4]), (5, [5]), (6, [6, 7])]
    """
    n = len(moments)
    edges = [nearest_change(moments, round(n * (i + 1) / (k + 1))) for i in range(k)]
    starts = sorted({edge for edge in edges if edge is not None})
    if not starts:
        raise TaskError("all rows are of one moment: there is no before and after")
    rows = np.arange(n)
    return [(rows[:a], rows[a:b]) for a, b in zip(starts, [*starts[1:], n], strict=True)]


class UnitFolds(BaseEstimator):
    """A splitter for tuning inside a fold: it reads the units from their column of the rows."""

    def __init__(self, kind: str, k: int, classifies: bool, seed: int) -> None:
        self.kind, self.k, self.classifies, self.seed = kind, k, classifies, seed

    def split(self, X: pl.DataFrame, y: Any = None, groups: object = None) -> Splits:
        units = X[UNIT].to_numpy()
        if self.kind == "sequential":
            return forward_folds(units, self.k)
        k = min(self.k, len(np.unique(units)))
        if k < 2:
            raise ValueError("the rows of a fold are of one group: they cannot be divided to tune")
        return group_folds(units, y, k, classifies=self.classifies, seed=self.seed)

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        return self.k
