"""A table without a target as numbers: what ``cluster``, ``reduce`` and ``anomalies`` work on."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from pellucid.core.arrays.columns import frame_columns
from pellucid.core.arrays.typing import Array, BoolArray
from pellucid.data import load
from pellucid.data.loader import known_columns
from pellucid.study import TableFeatures, audit
from pellucid.study.errors import OptionError, TaskError
from pellucid.study.reading.cell_values import numbers
from pellucid.study.reading.profiles import read_columns, typed_frame
from pellucid.study.reading.refusals import extreme_cell

USELESS = {"PEL102": "it does not vary", "PEL105": "it names the rows"}
LEAST_ROWS = 5


class Inputs(NamedTuple):
    """The columns that count, as a matrix, and what was left out."""

    frame: Any  # the columns used
    features: TableFeatures  # fitted
    Z: Array  # (n, p)
    plain: Array  # (n, p) the same features in the units of the table
    names: tuple[str, ...]  # of the features
    kinds: dict[str, str]
    left_out: dict[str, str]

    @property
    def is_number(self) -> list[bool]:
        """Which features are numbers in units of their own: columns, parts of dates; not 0 or 1."""
        flags = ((self.plain == 0) | (self.plain == 1)).all(axis=0)
        own = (self.kinds.get(name) in ("number", "whole") for name in self.names)
        return [number or not flag for number, flag in zip(own, flags.tolist(), strict=True)]

    @property
    def gaps(self) -> BoolArray:
        """Which numbers stand for an empty cell of the table, (n, p)."""
        there = set(self.frame.columns)
        none = np.zeros(len(self.Z), dtype=bool)
        return np.column_stack([self._empty(n) if n in there else none for n in self.names])

    def _empty(self, name: str) -> BoolArray:
        """Cells that hold nothing; in a column of numbers also what is no number."""
        if self.kinds[name] not in ("number", "whole"):
            return np.asarray(self.frame[name].is_null().to_numpy())
        return np.isnan(numbers(frame_columns(self.frame.select(name))[0], name))

    def about(self, source: str, seed: int) -> dict[str, Any]:
        """What a record says of its table: ``source`` names it, ``seed`` is the one used."""
        return {
            "source": source,
            "rows": len(self.Z),
            "columns": list(self.frame.columns),
            "features": list(self.names),
            "left_out": self.left_out,
            "seed": seed,
            "command": "",
        }


def open_inputs(
    frame: pl.DataFrame, *, drop: Sequence[str] = (), scale: bool = True, reference: bool = False
) -> Inputs:
    """Leave out identifiers and constants, turn the rest into numbers."""
    if frame.height < LEAST_ROWS:
        raise TaskError(f"{frame.height} rows are too few; at least {LEAST_ROWS} are needed")
    if extreme := extreme_cell(frame, drop):
        raise TaskError(extreme)
    seen = audit(frame)
    frame = typed_frame(frame, read_columns(frame))
    left_out = dict.fromkeys(drop, "dropped on request")
    for found in seen.findings:
        if found.code in USELESS:
            left_out |= {name: USELESS[found.code] for name in found.where if name not in left_out}
    kinds = {c.name: c.kind for c in seen.columns if c.name not in left_out and c.kind != "empty"}
    if not kinds:
        raise TaskError("no column is left: every one is constant, names the rows or dropped")
    used = frame.select(list(kinds))
    features = TableFeatures(kinds, scale=scale, reference=reference).fit(used)
    Z = np.ascontiguousarray(features.transform(used))
    if Z.shape[1] == 0:
        raise TaskError("no column varies: there is nothing to look at")
    plain = TableFeatures(kinds, scale=False, reference=reference).fit_transform(used)
    names = tuple(map(str, features.get_feature_names_out()))
    return Inputs(used, features, Z, np.asarray(plain), names, kinds, left_out)


def load_table(data: object, drop: Sequence[str]) -> pl.DataFrame:
    """Whatever ``pellucid.data.load`` reads, as a frame that has the columns of ``drop``."""
    frame = load(data)
    known_columns(drop, dict.fromkeys(frame.columns), "the table")
    return frame


def known_method(name: str, ready: Sequence[str]) -> str:
    """The ``name`` itself where it is among the methods that are ``ready``."""
    if name not in ready:
        raise OptionError(
            f"the method {name!r} is not in this version of Pellucid; there are: {', '.join(ready)}"
        )
    return name
