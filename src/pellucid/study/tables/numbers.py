"""A table without a target as numbers: what ``cluster``, ``reduce`` and ``anomalies`` work on."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.columns import frame_columns
from pellucid.core.arrays.typing import Array, BoolArray
from pellucid.study import TableFeatures, audit
from pellucid.study.errors import TaskError
from pellucid.study.reading.cell_values import numbers
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
        return np.isnan(numbers(frame_columns(self.frame.select(name))[0], name, comma=True))


def open_inputs(
    frame: Any, *, drop: Sequence[str] = (), scale: bool = True, reference: bool = False
) -> Inputs:
    """Leave out identifiers and constants, turn the rest into numbers."""
    if frame.height < LEAST_ROWS:
        raise TaskError(f"{frame.height} rows are too few; at least {LEAST_ROWS} are needed")
    if extreme := extreme_cell(frame, drop):
        raise TaskError(extreme)
    seen = audit(frame)
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


def about(data: str, inputs: Inputs, seed: int) -> dict[str, Any]:
    """What a record says of its table."""
    return {
        "source": data if "://" not in data else "a database",
        "rows": len(inputs.Z),
        "columns": list(inputs.frame.columns),
        "features": list(inputs.names),
        "left_out": inputs.left_out,
        "seed": seed,
    }
